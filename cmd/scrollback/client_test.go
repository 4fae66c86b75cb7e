package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asClient makes this test binary a client that is started by run-with, and says where it writes what it was given.
const asClient = "SCROLLBACK_TEST_AS_CLIENT"

// given is what a client was started with, and what became of its request.
type given struct {
	Args   []string
	Env    []string
	Stdin  string
	Status int
	Signal string
	// a program that is started by the client dies of a pipe that nobody reads
	Pipes bool
}

// env returns a variable.
func (g given) env(name string) string {
	for _, line := range slices.Backward(g.Env) {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			return v
		}
	}
	return ""
}

// fakeClient is a client: it says what it was given, asks its provider, and ends with 7. With the argument "wait" it
// asks only after a signal has come.
func fakeClient(out string) int {
	g := given{Args: os.Args[1:], Env: os.Environ(), Pipes: !signal.Ignored(syscall.SIGPIPE)}
	came := make(chan os.Signal, 1)
	signal.Notify(came, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if slices.Contains(g.Args, "wait") {
		fmt.Println("waiting")
		g.Signal = (<-came).String()
		<-time.After(200 * time.Millisecond) // a server that ended with the signal would be gone by now
	}
	in, err := io.ReadAll(os.Stdin)
	g.Stdin = string(in)
	body := `{"model": "none", "max_tokens": 100, "messages": [{"role": "user", "content": "The quince is ripe."}]}`
	if err == nil {
		var resp *http.Response
		resp, err = http.Post(g.env("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", strings.NewReader(body))
		if err == nil {
			g.Status = resp.StatusCode
			_, err = io.Copy(io.Discard, resp.Body)
		}
	}
	text, jsonErr := json.Marshal(g)
	if err := errors.Join(err, jsonErr, os.WriteFile(filepath.Join(out, "given.json"), text, 0o600)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	fmt.Println("said by the client")
	return 7
}

// launchTest is a machine with a client on it.
type launchTest struct {
	t         *testing.T
	data, out string
	home      string
	env       []string
}

func newLaunchTest(t *testing.T, program string) *launchTest {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &launchTest{t: t, data: t.TempDir(), out: t.TempDir(), home: t.TempDir()}
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nexport %s=\nexport %s='%s'\nexec '%s' \"$@\"\n", asProgram, asClient, l.out, exe)
	if err := os.WriteFile(filepath.Join(bin, program), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	l.env = []string{"HOME=" + l.home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "ANTHROPIC_API_KEY=", "ANTHROPIC_AUTH_TOKEN=",
		"SCROLLBACK_ADDR=127.0.0.1:1", "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	return l
}

// command returns run-with as a process of its own.
func (l *launchTest) command(args ...string) *exec.Cmd {
	return command(l.t, l.data, l.env, append([]string{"run-with"}, args...)...)
}

// run runs it to its end and returns what the client was given.
func (l *launchTest) run(stdin string, args ...string) (g given, out string, code int) {
	l.t.Helper()
	cmd := l.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	var said, errs bytes.Buffer
	cmd.Stdout = &said
	cmd.Stderr = &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatal(err)
	}
	if errs.Len() > 0 {
		l.t.Errorf("it says %q", errs.String())
	}
	return l.given(), said.String(), cmd.ProcessState.ExitCode()
}

func (l *launchTest) given() (g given) {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.out, "given.json"))
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return g
}
