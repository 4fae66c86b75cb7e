package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
