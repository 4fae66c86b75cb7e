package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// service runs the watch of a service to its end, and returns its exit code with what it says.
func (k *keeper) service(args ...string) (code int, said string) {
	k.Helper()
	env := append(k.env(), "SCROLLBACK_SERVICE_PAUSE=1ms", "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=")
	cmd := command(k.T, k.data, env, append([]string{"watch"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		k.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

// A service that can never start gives up after five tries, with 0, and doctor says why; once it can start, that is
// forgotten. A watch that a person starts fails at once.
func TestServiceGivesUp(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.says("one", "apples")
	db := filepath.Join(k.data, "scrollback.db")
	write(t, db, bytes.Repeat([]byte("this is not a database. "), 1000))
	if code, said := k.service(); code == 0 {
		t.Errorf("a person's watch over a damaged store ends with 0: %s", said)
	}
	if _, err := os.Stat(filepath.Join(k.data, gaveUpFile)); err == nil {
		t.Error("a person's watch is noted as a service")
	}
	code, said := k.service("--service")
	if code != 0 || strings.Count(said, "scrollback: ") != serviceTries+1 || !strings.Contains(said, "tried 5 times and gives up") {
		t.Errorf("it ends with %d, and says %s", code, said)
	}
	doctor := func() string {
		out, _ := command(t, k.data, k.env(), "doctor", "agents").CombinedOutput() // the store is damaged
		return string(out)
	}
	if out := doctor(); strings.Contains(out, "gave up") {
		t.Errorf("there is no service, and doctor says %s", out)
	}
	out, err := command(t, k.data, append(k.env(), "XDG_CONFIG_HOME="), "install", "--here", "--watch", "--agent", "crush").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out := doctor(); !strings.Contains(out, "watch: set up: a service that keeps collecting") ||
		!strings.Contains(out, "watch: the service could not start, and gave up at 20") {
		t.Errorf("doctor says %s", out)
	}
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	cmd := k.watch("--service")
	if out := doctor(); strings.Contains(out, "gave up") {
		t.Errorf("it runs, and doctor says %s", out)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code is that of an interruption
}

// Where the data folder cannot be, and where the configuration cannot be read, the service gives up too.
func TestServiceWithoutFolder(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.data = filepath.Join(k.home, "file")
	write(t, k.data, []byte("in the way"))
	noted := filepath.Join(k.home, ".cache", "scrollback", gaveUpFile)
	if code, said := k.service("--service"); code != 0 || !strings.Contains(said, "gives up") {
		t.Errorf("it ends with %d, and says %s", code, said)
	}
	text, err := os.ReadFile(noted)
	if err != nil || !strings.Contains(string(text), `"tries":5`) {
		t.Errorf("noted is %s, %v", text, err)
	}
	config := filepath.Join(k.home, "config.toml")
	write(t, config, []byte("limit = [\n"))
	began := time.Now()
	if code, said := k.service("--service", "--config", config); code != 0 || !strings.Contains(said, "config.toml") {
		t.Errorf("with a broken configuration it ends with %d, and says %s", code, said)
	}
	if info, err := os.Stat(noted); err != nil || info.ModTime().Before(began.Add(-2*time.Second)) {
		t.Errorf("it is not noted: %v", err)
	}
}
