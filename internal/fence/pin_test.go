package fence

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var libc = regexp.MustCompile(`(?m)^\s*(?:require\s+)?modernc\.org/libc\s+(v\S+)`)

func pinned(t *testing.T, gomod string) string {
	t.Helper()
	text, err := os.ReadFile(gomod)
	if err != nil {
		t.Fatal(err)
	}
	m := libc.FindStringSubmatch(string(text))
	if m == nil {
		t.Fatalf("%s requires no modernc.org/libc", gomod)
	}
	return m[1]
}

// modernc.org/sqlite is made and tested with exactly one version of its libc; any
// other corrupts memory in ways no test of ours finds.
func TestLibcIsSQLites(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("this needs the go command on the PATH, to find sqlite in the module cache")
	}
	cmd := exec.Command(goTool, "list", "-m", "-f", "{{.GoMod}}", "modernc.org/sqlite")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	theirs := pinned(t, strings.TrimSpace(string(out)))
	for _, file := range []string{"go.mod", "bench/go.mod"} {
		if ours := pinned(t, filepath.Join(root, file)); ours != theirs {
			t.Errorf("%s has modernc.org/libc %s, but sqlite requires %s", file, ours, theirs)
		}
	}
}
