package intake

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
)

// A hint names the tool, its argument, and what the text is.
func TestHint(t *testing.T) {
	many := func(line string, n int) string { return strings.Repeat(line+"\n", n) }
	for _, c := range []struct{ tool, arguments, text, want string }{
		{"bash", `{"command":"go test ./..."}`, many("=== RUN   TestTide", 809) +
			"    --- FAIL: TestTide/low (0.1s)\n--- FAIL: TestTide (0.1s)\nFAIL\ta\t0.1s",
			`output of bash "go test ./..." · Go test log, 812 lines, 2 FAIL`},
		{"bash", `{"command":"pytest"}`, "==== test session starts ====\n" + many("a.py ....", 9) +
			"=== 2 failed, 10 passed in 0.12s ===\n",
			`output of bash "pytest" · test log, 11 lines, 2 failed, 10 passed in 0.12s`},
		{"fetch", `{"url":"https://x.org/a"}`, `{"total": 3, "items": [{"a": 1}], "next": null}`,
			`output of fetch "https://x.org/a" · JSON, 1 line, keys total, items, next`},
		{"fetch", `{}`, `[{"id": 1, "name": "x"}, {"id": 2}]`,
			`output of fetch · JSON, 1 line, a list of objects with keys id, name`},
		{"fetch", `{}`, many(`{"at": 1, "tide": "low"}`, 30), `output of fetch · JSON lines, 30 lines, keys at, tide`},
		{"fetch", `{}`, `{"big": [` + strings.Repeat("1, ", 200_000) + `1]}`, `output of fetch · text, 1 line: "{"big": [` +
			strings.Repeat("1, ", 23) + `1,…"`},
		{"fetch", `{}`, `{"first": 1, "big": [` + strings.Repeat("1, ", 200_000) + `1]}`,
			`output of fetch · JSON, 1 line, keys first, big`},
		{"query", `{"query":"SELECT 1"}`, "id,name,height\n" + many("1,Ada,3", 40),
			`output of query "SELECT 1" · CSV, 41 lines, columns id, name, height`},
		{"git", `{"command":"git diff"}`,
			"diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n+++ b/y.md\n@@ -1 +1 @@\n",
			`output of git "git diff" · diff, 8 lines, of x.go, y.md`},
		{"WebFetch", `{"url":"https://x.org"}`, "<!DOCTYPE html>\n<html><head>\n<title>Tides &\n more</title>",
			`output of WebFetch "https://x.org" · HTML page "Tides & more", 4 lines`},
		{"read", `{"file_path":"/var/log/a.log"}`,
			many("2026-01-05 10:00:00 INFO tide", 20) + "2026-01-05 10:00:01 ERROR flood\n",
			`output of read "/var/log/a.log" · log, 21 lines, 1 with errors`},
		{"Read", `{"file_path":"/s/a.go"}`, "     1→package a\n     2→\n     3→func f() {}\n",
			`output of Read "/s/a.go" · Go source, 3 lines`},
		{"cat", `{}`, "#!/usr/bin/env python\nimport os\n", `output of cat · Python source, 2 lines`},
		{"Grep", `{"pattern":"tide"}`, "a.go:3: tide\na.go:9: tide()\nb/c.go:1: // tide\n",
			`output of Grep "tide" · matches, 3 lines in a.go, b/c.go`},
		{"ls", `{"path":"src"}`, "src/a.go\nsrc/b.go\nsrc/c/d.go\n",
			`output of ls "src" · list of paths, 3 lines, the first src/a.go`},
		{"read", `{"path":"README.md"}`, "# Tides\n\ntext\n\n## Use\n\nmore\n",
			`output of read "README.md" · Markdown "Tides", 7 lines`},
		{"ask", `{}`, "\n  The tide\tis high.\nReally.\n", `output of ask · text, 3 lines: "The tide is high."`},
		{"ask", `{}`, "潮汐表在第三个系缆柱下面。\n真的。", `output of ask · text, 2 lines: "潮汐表在第三个系缆柱下面。"`},
		{"ask", `{}`, "     1→\n     2→\n", `output of ask · only white space, 2 lines`},
		{"ask", `{}`, "\n\n\n", `output of ask · only white space, 1 line`},
		{"", `{}`, "x", `output of a tool · text, 1 line: "x"`},
	} {
		a := admission{room: Room{Calls: []scrollback.ToolCall{{ID: "1", Name: "older",
			Arguments: json.RawMessage(`{"command":"old"}`)},
			{ID: "1", Name: c.tool, Arguments: json.RawMessage(c.arguments)}}}}
		if got := makeHint(a.describeCall(scrollback.ToolResult{CallID: "1"}), c.text); got != c.want {
			t.Errorf("the hint is\n%s\nwant\n%s", got, c.want)
		}
	}
	if got := (&admission{}).describeCall(scrollback.ToolResult{CallID: "1", Name: "look"}); got != "output of look" {
		t.Errorf("without its call: %s", got)
	}
}

// Whatever a text is, its hint is one short line.
func FuzzHint(f *testing.F) {
	for _, s := range []string{"", "{", `{"a":`, "[", "[{", "a,b\nc,d\ne,f", "\xff\xfe\x00", "+++ b/x\n@@", "<html>",
		"# a\n# b",
		"a/b\na/b\na/b", `{"a":1}x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := makeHint(fmt.Sprintf("output of %s", clip.JoinLines(s)), s)
		if utf8.RuneCountInString(got) > hintRunes+1 || strings.ContainsAny(got, "\n\r\x00") || !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}
