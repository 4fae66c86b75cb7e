//go:build unix

package registered_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/collect/registered"
	"github.com/scrollback-ai/scrollback/transcript"
)

// What is no file where settings should be is a problem, and holds nobody up.
func TestSettingsThatAreNoFile(t *testing.T) {
	t.Parallel()
	for what, make := range map[string]func(name string) error{
		"a pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"a folder": func(name string) error { return os.Mkdir(name, 0o700) },
		"a device": func(name string) error { return os.Symlink("/dev/zero", name) },
	} {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, ".codex"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := make(filepath.Join(home, ".codex", "config.toml")); err != nil {
			t.Fatal(err)
		}
		m := transcript.Machine{System: "linux", Home: home, Getenv: func(string) string { return "" }}
		r, ok := registered.Find("codex", m, "")
		if !ok || r.Registered || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "config.toml") {
			t.Errorf("%s: %+v", what, r)
		}
	}
}
