package typescript

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	imported = regexp.MustCompile(`(?m)^(?:import|export)\b[^'\n]*\bfrom '([^']+)'|\bimport\('([^']+)'\)`)
	built    = regexp.MustCompile(`\brequire\(|\bprocess\.|\b(?:document|window|localStorage|navigator)\.`)
)

// A module knows the others only, and no one environment that it runs in.
func TestModulesStandAlone(t *testing.T) {
	names, err := fs.Glob(Modules, "*.js")
	if err != nil || len(names) < 5 {
		t.Fatalf("there are only %v (%v)", names, err)
	}
	for _, name := range names {
		text := read(t, name)
		for _, m := range imported.FindAllStringSubmatch(text, -1) {
			to, ok := strings.CutPrefix(m[1]+m[2], "./")
			if !ok || !slices.Contains(names, to) {
				t.Errorf("%s imports %s", name, m[1]+m[2])
			}
		}
		if found := built.FindString(text); found != "" {
			t.Errorf("%s uses %s", name, found)
		}
	}
}

// The package has what its modules and their users need, and nothing that it depends on.
func TestPackage(t *testing.T) {
	raw := read(t, "package.json")
	var of struct {
		License, Type, Types string
		Files                []string
	}
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(raw), &of); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(raw), &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if strings.HasSuffix(strings.ToLower(name), "dependencies") || name == "scripts" {
			t.Errorf("package.json has %s", name)
		}
	}
	if of.License != "Apache-2.0" || of.Type != "module" || of.Types != "./index.d.ts" {
		t.Errorf("package.json says %q, %q, %q", of.License, of.Type, of.Types)
	}
	if read(t, "LICENSE") != read(t, "../../LICENSE") {
		t.Error("LICENSE is not that of the project")
	}
	modules, err := fs.Glob(Modules, "*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range modules {
		declared := strings.TrimSuffix(module, ".js") + ".d.ts"
		if _, err := os.Stat(declared); err != nil {
			t.Errorf("%s has no %s: .ci/typescript -update writes it", module, declared)
		}
		for _, name := range []string{module, declared} {
			packed := slices.ContainsFunc(of.Files, func(pattern string) bool {
				ok, err := path.Match(pattern, name)
				return err == nil && ok
			})
			if !packed {
				t.Errorf("%s is not packed", name)
			}
		}
	}
}
