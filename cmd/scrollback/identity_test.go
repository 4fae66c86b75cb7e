package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/cloud/backup"
	"github.com/scrollback-ai/scrollback/internal/identity"
)

// A person writes encrypted files, reads them without saying so, and is told plainly where the identity is missing.
func TestEncrypt(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine.txt")
	t.Setenv("SCROLLBACK_IDENTITY", mine)
	data := filepath.Join(dir, "data")
	output(t, data, "--data", data, "run", "The key is under the third stone.")
	file := filepath.Join(dir, "b.backup")
	runs := func(code int, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if got := runProgram(context.Background(), args, strings.NewReader(""), &stdout, &stderr); got != code {
			t.Errorf("%v: exit %d, %s", args, got, stderr.String())
		}
		return stdout.String() + stderr.String()
	}
	if said := runs(3, "--data", data, "backup", "create", file, "--encrypt"); !strings.Contains(said, mine) {
		t.Errorf("without the identity that was named: %s", said)
	}
	var own identity.Own
	if err := json.Unmarshal([]byte(output(t, data, "identity", "--json")), &own); err != nil || own.File != mine ||
		!own.Made {
		t.Errorf("%+v, %v", own, err)
	}
	if said := runs(0, "identity"); !strings.Contains(said, own.Recipient) || strings.Contains(said, "SECRET") {
		t.Errorf("the identity is shown as %s", said)
	}

	bundle := filepath.Join(dir, "talk.bundle")
	full := filepath.Join(dir, "talk.json.age")
	shelf := filepath.Join(dir, "shelf")
	if err := os.Mkdir(shelf, 0o700); err != nil {
		t.Fatal(err)
	}
	runs(0, "--data", data, "backup", "create", file, "--encrypt")
	runs(0, "--data", data, "backup", "create", shelf, "--encrypt", "--keep", "3d")
	runs(0, "--data", data, "export", "latest", "--encrypt", "-o", bundle)
	runs(0, "--data", data, "archive", "latest", "--encrypt", "-o", full)
	var list struct{ Backups []backup.Entry }
	decodeOutput(t, &list, data, "backup", "list", shelf, "--json")
	if len(list.Backups) != 1 || !list.Backups[0].Encrypted || !strings.HasSuffix(list.Backups[0].Name, ".backup.age") {
		t.Fatalf("listed %+v", list)
	}
	onShelf := filepath.Join(shelf, list.Backups[0].Name)
	for _, name := range []string{file, onShelf, bundle, full} {
		text, err := os.ReadFile(name)
		info, _ := os.Stat(name)
		if err != nil || !identity.Sniff(text) || bytes.Contains(text, []byte("third stone")) || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is not encrypted for its owner: %v, %v", name, info.Mode(), err)
		}
	}
	for i, name := range []string{file, onShelf} {
		runs(0, "backup", "verify", name)
		other := filepath.Join(dir, []string{"first", "second"}[i])
		runs(0, "--data", other, "backup", "restore", name)
		if said := output(t, other, "--data", other, "show", "latest"); !strings.Contains(said, "third stone") {
			t.Errorf("restored: %s", said)
		}
	}
	for i, name := range []string{bundle, full} {
		other := filepath.Join(dir, []string{"third", "fourth"}[i])
		runs(0, "--data", other, "import", name, "--dry-run")
		runs(0, "--data", other, "import", name)
		if said := output(t, other, "--data", other, "show", "latest"); !strings.Contains(said, "third stone") {
			t.Errorf("imported: %s", said)
		}
	}

	for _, c := range []struct {
		code int
		args []string
	}{{2, []string{"export", "latest", "--encrypt", "--format", "jsonl"}}, {2, []string{"archive", "latest", "--encrypt"}}} {
		runs(c.code, append([]string{"--data", data}, c.args...)...)
	}
	t.Setenv("SCROLLBACK_IDENTITY", filepath.Join(dir, "another.txt"))
	runs(0, "identity")
	for _, args := range [][]string{{"backup", "verify", file}, {"import", bundle}, {"import", full},
		{"backup", "restore", file}} {
		said := runs(1, append([]string{"--data", filepath.Join(dir, "fifth")}, args...)...)
		if !strings.Contains(said, "no identity here opens it") {
			t.Errorf("%v: %s", args, said)
		}
	}
}

// The first encrypted backup makes the identity, in the folder of the configuration, and says where it is.
func TestIdentityIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("AppData", filepath.Join(dir, "config"))
	data := filepath.Join(dir, "data")
	output(t, data, "--data", data, "run", "Hello.")
	for i, want := range []bool{true, false} {
		var stdout, stderr bytes.Buffer
		args := []string{"--data", data, "backup", "create", filepath.Join(dir, []string{"a", "b"}[i]), "--encrypt"}
		code := runProgram(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
		if code != 0 || strings.Contains(stderr.String(), "age1") != want {
			t.Errorf("%d, %s", code, stderr.String())
		}
	}
}
