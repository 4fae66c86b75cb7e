package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/migrate"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/usage"
)

var updateLines = flag.Bool("update-lines", false, "write what is read of lines again")

// Lines are read as they always were: which command, its fields, those of the program; or what is wrong.
func TestLines(t *testing.T) {
	t.Parallel()
	const name = "testdata/lines.txt"
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for text := range strings.Lines(string(want)) {
		words, isLine := strings.CutPrefix(strings.TrimSpace(text), "$")
		if !isLine {
			continue
		}
		fmt.Fprintf(&got, "$%s\n", words)
		var c commands
		root := line.Read(&c, "scrollback")
		l, err := root.Trace(strings.Fields(words))
		if err == nil && !l.Help && !c.Version {
			err = l.Check()
		}
		switch n := l.Selected(); {
		case err != nil:
			fmt.Fprintf(&got, "  error: %v\n", err)
		case n == nil:
			fmt.Fprintf(&got, "  help=%v version=%v\n", l.Help, c.Version)
		default:
			fields := strings.Join(strings.Fields(fmt.Sprintf("%+v", n.Command())), " ")
			if at, isPlace := n.Command().(*rewindCmd); isPlace && at.Seq != nil { // not its address
				fields = fmt.Sprint(at.Conversation, " ", *at.Seq)
			}
			fmt.Fprintf(&got, "  %s %s help=%v data=%q json=%v limit=%d root=%q\n", usage.Name(n), fields, l.Help, c.Data, c.JSON,
				c.Limit, c.Root)
		}
	}
	if *updateLines {
		err = os.WriteFile(name, []byte(got.String()), 0o600)
	} else if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Error(d)
	}
	if err != nil {
		t.Error(err)
	}
}

// Every command can be run.
func TestCommandsRun(t *testing.T) {
	t.Parallel()
	var c commands
	for _, n := range line.Read(&c, "scrollback").Leaves(false) {
		switch n.Command().(type) {
		case interface{ Run(g *globals) error }, *migrate.Migrate, interface {
			Run(g *globals, l *line.Line) error
		}:
		default:
			t.Errorf("%s has no Run that the program calls", usage.Name(n))
		}
	}
}
