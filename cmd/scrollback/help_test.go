package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/usage"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// Every example of the help runs, in the order a reader meets them, on a folder
// where nothing was before.
func TestExamples(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir()) // where other tools are looked for
	data := t.TempDir()
	t.Setenv("SCROLLBACK_DATA", data)
	word := regexp.MustCompile(`"[^"]*"|\S+`)
	first := func(pattern string, args ...string) string {
		_, out, _ := inside(t, data, args...)
		found := regexp.MustCompile(pattern).FindString(out)
		if found == "" {
			t.Fatalf("%v shows no %s:\n%s", args, pattern, out)
		}
		return found
	}
	inside(t, data, "run", "Something to go on with")
	for _, g := range usage.Groups {
		for _, e := range g.Commands {
			line := e.Line
			if strings.Contains(line, " REF") {
				inside(t, data, "clear", "latest")
				line = strings.ReplaceAll(line, "REF", first(`history:\S+`, "context", "list", "latest"))
			}
			if strings.Contains(line, " ID") {
				where := []string{"list", "--json"}
				if e.Command == "restore" {
					where = append(where, "--trash")
				}
				line = strings.ReplaceAll(line, "ID", first(`"id":"[^"]+`, where...)[6:])
			}
			args := word.FindAllString(line, -1)[1:]
			for i := range args {
				args[i] = strings.Trim(args[i], `"`)
			}
			t.Run(e.Command, func(t *testing.T) {
				if !strings.HasPrefix(strings.Join(args, " "), e.Command) && e.Command != "context show" {
					t.Errorf("the example of %s is %s", e.Command, e.Line)
				}
				if e.Command == "serve" {
					args[len(args)-1] = "127.0.0.1:0"
					goingOn(t, args, "http://127.0.0.1:")
					return
				}
				if e.Command == "health" {
					args[len(args)-1] = strings.TrimPrefix(serve(t, data, nil).url, "http://")
				}
				if e.Command == "migrate" { // a copy that leaves the store as it is
					args = []string{"migrate", "--from", sqliteURL(data), "--to", sqliteURL(t.TempDir())}
				}
				if e.Command == "run-with" {
					if g, _, code := newLaunchTest(t, "claude").run("", args[1:]...); code != 7 || len(g.Args) != 2 {
						t.Errorf("%s: exit %d, the client got %q", e.Line, code, g.Args)
					}
					return
				}
				if e.Command == "watch" {
					goingOn(t, args, "following")
					return
				}
				var out, errs bytes.Buffer
				if code := runProgram(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
					t.Errorf("%s: exit %d\n%s%s", e.Line, code, out.String(), errs.String())
				}
				silent := strings.HasPrefix(e.Command, "hook ") && e.Command != "hook log" // nobody was asked for anything yet
				if out.Len() == 0 && e.Command != "export" && e.Command != "chat" && e.Command != "mcp" && !silent {
					t.Errorf("%s printed nothing", e.Line)
				}
			})
		}
	}
}

// goingOn runs what does not end by itself until it says something.
func goingOn(t *testing.T, args []string, says string) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r, w := io.Pipe()
	go func() {
		defer stop()
		var said strings.Builder
		for buf := make([]byte, 200); !strings.Contains(said.String(), says); {
			n, err := r.Read(buf)
			if said.Write(buf[:n]); err != nil {
				t.Errorf("it says %q", said.String())
				return
			}
		}
		stop()
		io.Copy(io.Discard, r)
	}()
	code := runProgram(ctx, args, strings.NewReader(""), w, os.Stderr)
	w.Close()
	if code != 0 {
		t.Errorf("%v: exit %d", args, code)
	}
}

// The help names every tool and format that is read, and no list is left out.
func TestHelpNamesFormats(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	runProgram(context.Background(), []string{"import", "--help"}, strings.NewReader(""), &out, io.Discard)
	said := strings.ReplaceAll(strings.Join(strings.Fields(out.String()), " "), "- ", "-") // names are broken at hyphens
	lists := helpLists()
	for _, name := range append(lists["keepers"], lists["formats"]...) {
		if !strings.Contains(said, name) {
			t.Errorf("the help does not name %s", name)
		}
	}
	if !slices.Contains(lists["keepers"], "crush") || !slices.Contains(lists["formats"], "jsonl") ||
		strings.Contains(said, "{") {
		t.Errorf("%v in\n%s", lists, said)
	}
}

// The overview and the examples hold every command there is, and no other.
func TestHelpIsWhole(t *testing.T) {
	t.Parallel()
	var c commands
	root := line.Read(&c, "scrollback")
	var there, told []string
	for _, n := range root.Leaves(true) {
		there = append(there, usage.Name(n))
	}
	for _, g := range usage.Groups {
		for _, e := range g.Commands {
			told = append(told, e.Command)
		}
	}
	told = slices.DeleteFunc(told, func(s string) bool { // those that stand for their defaults
		return s == "context" || s == "notebook" || s == "projects" || s == "keys" || s == "doctor"
	})
	slices.Sort(there)
	slices.Sort(told)
	if !slices.Equal(there, told) {
		t.Errorf("there are\n%v\nthe help tells of\n%v", there, told)
	}
	for _, args := range [][]string{nil, {"help"}, {"--help"}} {
		var out, errs bytes.Buffer
		if code := runProgram(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 || errs.Len() > 0 {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
		for _, want := range []string{"Start with", "Chat\n  chat ", "Care\n", "--data=DIR ", "SCROLLBACK_DATA "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v lacks %q:\n%s", args, want, out.String())
			}
		}
	}
	for _, name := range there {
		var asked, flagged, errs bytes.Buffer
		code := runProgram(context.Background(), append([]string{"help"}, strings.Fields(name)...), strings.NewReader(""),
			&asked,
			&errs)
		runProgram(context.Background(), append(strings.Fields(name), "--help"), strings.NewReader(""), &flagged, &errs)
		if code != 0 || asked.String() != flagged.String() || !strings.Contains(asked.String(), "\nExample:\n  scrollback ") {
			t.Errorf("help %s: exit %d\n%s%s", name, code, asked.String(), errs.String())
		}
	}
}

// What is misspelt is answered with what is near.
func TestNearest(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"lst"}, {"serch", "x"}, {"help", "docter"}, {"list", "--projct", "x"}} {
		code, _, errs := inside(t, t.TempDir(), args...)
		if code != 2 || !strings.Contains(errs, "did you mean") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

// Every command, flag and argument is explained in Chinese, in rows that fit.
func TestHelpInChinese(t *testing.T) {
	var c commands
	root := line.Read(&c, "scrollback")
	var walk func(n *line.Node)
	walk = func(n *line.Node) {
		if n.Parent != nil && !usage.Known(n.Help) {
			t.Errorf("%s: no Chinese for %q", n.Name, n.Help)
		}
		for _, f := range n.Flags {
			if f.Name != "help" && !usage.Known(f.Help) {
				t.Errorf("--%s: no Chinese for %q", f.Name, f.Help)
			}
		}
		for _, a := range n.Positional {
			if !usage.Known(a.Help) {
				t.Errorf("%s: no Chinese for %q", a.Name, a.Help)
			}
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(root)
	t.Setenv("LC_ALL", "zh_CN.UTF-8")
	for _, n := range append(root.Leaves(true), root) {
		var out, errs bytes.Buffer
		args := append(strings.Fields(usage.Name(n)), "--help")
		if code := runProgram(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Errorf("%s --help: exit %d: %s", usage.Name(n), code, errs.String())
		}
		for line := range strings.Lines(out.String()) {
			if w := columns.TextWidth(strings.TrimSuffix(line, "\n")); w > 80 && !strings.Contains(line, "scrollback ") {
				t.Errorf("%s --help: a row of %d columns: %s", usage.Name(n), w, line)
			}
		}
	}
	var out, errs bytes.Buffer
	code := runProgram(context.Background(), []string{"lst"}, strings.NewReader(""), &out, &errs)
	if code != 2 || !strings.Contains(errs.String(), "您是指") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}

// A release's manual page is the same whenever it is made.
func TestManualOfARelease(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	if _, out, _ := inside(t, t.TempDir(), "man"); !strings.Contains(out, ` "2023-11-14" `) {
		t.Errorf("%.200s", out)
	}
}
