package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// Commands, as text files with input and expected output together.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SCROLLBACK_DATA", e.WorkDir+"/data")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "id": latestID,
			"branch": someBranch,
			"ref":    newestRef, "keptid": keptID},
		// The longest begin with [!full] skip: the short length leaves them out.
		Condition: func(name string) (bool, error) {
			if name != "full" {
				return false, fmt.Errorf("no condition is named %s", name)
			}
			return testlength.Choose(false, true, true), nil
		},
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
		says = args[n-1]
		args = args[:n-2]
	}
	for i, a := range args {
		if strings.HasSuffix(a, ".jsonl") || strings.HasSuffix(a, ".txt") || strings.HasSuffix(a, ".bundle") {
			args[i] = ts.MkAbs(a)
		}
	}
	var out, errs bytes.Buffer
	args = append([]string{"--data", ts.Getenv("SCROLLBACK_DATA")}, args...)
	if got := runProgram(context.Background(), args, strings.NewReader(""), &out, &errs); got != want ||
		!strings.Contains(errs.String(), says) {
		ts.Fatalf("scrollback %s: exit %d, want %d about %q\n%s%s", strings.Join(args, " "), got, want, says, out.String(),
			errs.String())
	}
}

// latestID puts the id of the conversation that changed last into a variable: id
// NAME.
func latestID(ts *testscript.TestScript, _ bool, args []string) {
	var page struct{ Conversations []struct{ ID string } }
	asked(ts, &page, "list", "--max", "1")
	ts.Setenv(args[0], page.Conversations[0].ID)
}

// someBranch puts the id of a branch of the latest conversation into a variable:
// branch NAME NUMBER.
func someBranch(ts *testscript.TestScript, _ bool, args []string) {
	var list struct{ Branches []struct{ ID string } }
	asked(ts, &list, "branches", "latest")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Setenv(args[0], list.Branches[n].ID)
}

// newestRef puts the newest ref of a conversation into a variable: ref NAME ID.
func newestRef(ts *testscript.TestScript, _ bool, args []string) {
	var list struct{ Refs []struct{ Ref string } }
	asked(ts, &list, "context", "list", args[1])
	ts.Setenv(args[0], list.Refs[0].Ref)
}

// keptID puts the id of a kept sentence of the latest conversation into a variable: keptid NAME SENTENCE.
func keptID(ts *testscript.TestScript, _ bool, args []string) {
	var list struct{ Kept []struct{ ID, Text string } }
	asked(ts, &list, "kept", "latest")
	for _, k := range list.Kept {
		if k.Text == args[1] {
			ts.Setenv(args[0], k.ID)
			return
		}
	}
	ts.Fatalf("nothing is kept of %q: %v", args[1], list.Kept)
}

// asked reads what a command answers as JSON.
func asked(ts *testscript.TestScript, into any, args ...string) {
	var out, errs bytes.Buffer
	args = append([]string{"--data", ts.Getenv("SCROLLBACK_DATA"), "--json"}, args...)
	runProgram(context.Background(), args, strings.NewReader(""), &out, &errs)
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		ts.Fatalf("scrollback %s: %v %s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
}
