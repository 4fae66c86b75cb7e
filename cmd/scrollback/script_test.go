package main

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Commands, as text files with input and expected output together.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SCROLLBACK_DATA", e.WorkDir+"/data")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// exits runs the program and wants an exit code: exits CODE WORDS… Its standard
// error must hold what stands after a "--says" argument.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args = args[1:]
	says := ""
	if n := len(args); n > 2 && args[n-2] == "--says" {
		says, args = args[n-1], args[:n-2]
	}
	for i, a := range args {
		if strings.HasSuffix(a, ".jsonl") {
			args[i] = ts.MkAbs(a)
		}
	}
	var out, errs bytes.Buffer
	args = append([]string{"--data", ts.Getenv("SCROLLBACK_DATA")}, args...)
	if got := run(context.Background(), args, strings.NewReader(""), &out, &errs); got != want || !strings.Contains(errs.String(), says) {
		ts.Fatalf("scrollback %s: exit %d, want %d about %q\n%s%s", strings.Join(args, " "), got, want, says, out.String(), errs.String())
	}
}
