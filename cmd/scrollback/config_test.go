package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Without anything said there are defaults; the user's own file is found.
func TestConfigFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux takes the config folder from XDG_CONFIG_HOME")
	}
	t.Setenv("SCROLLBACK_CONFIG", "")
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	var g globals
	if err := g.readConfig(); err != nil || g.set.Model != "offline" || g.set.Addr != "127.0.0.1:7077" ||
		g.set.DefaultLimit != 0 {
		t.Errorf("nothing said: %+v %v", g.set, err)
	}
	if err := os.Mkdir(filepath.Join(home, "scrollback"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "scrollback", "config.toml"), []byte("limit = 9000"))
	if err := g.readConfig(); err != nil || g.set.DefaultLimit != 9000 || g.set.Limit != 0 {
		t.Errorf("the user's own: %+v %v", g.set, err)
	}
}

// A file that is named has to be there.
func TestConfigMissing(t *testing.T) {
	var out, errs bytes.Buffer
	code := runProgram(context.Background(), []string{"--config", filepath.Join(t.TempDir(), "none.toml"), "list"},
		strings.NewReader(""), &out,
		&errs)
	if code != 2 || !strings.Contains(errs.String(), "none.toml") {
		t.Errorf("a file that is not there: exit %d: %s", code, errs.String())
	}
}

// What the file says of a model is what the program takes it to be.
func TestConfigModel(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "config.toml")
	write(t, file, []byte("[models.offline]\nlimit = 5000\nmax_output = 500\n"))
	for _, args := range [][]string{{"run", "hello"}, {"context", "latest"}} {
		code, out, errs := inside(t, data, append([]string{"--config", file}, args...)...)
		if code != 0 || args[0] == "context" && !strings.Contains(out, "of 4,500 tokens of the budget") {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
		}
	}
}
