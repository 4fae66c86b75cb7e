package window_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata")

const pictureMark = "== window\n"

// Each case is a conversation, written compactly, followed by a picture of its window:
//
//	instructions TEXT · tools NAME… · dialect NAME · prompt SEQ
//	segment ID FIRST-LAST TOKENS: PLACEHOLDER
//	#SEQ ROLE[/STATUS] [@MODEL]: PART | PART …
//	web QUERY: TITLE | URL | TEXT
//
// where a part is a text, or begins with call ID NAME ARGUMENTS, result ID NAME
// TEXT, think, image, file. A part that ends in ^X has the opaque payload "X". A
// message weighs ten tokens a part. The window passes the lint of its dialect,
// and in the other dialects of theirs.
func TestCases(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d cases, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			story, want, _ := strings.Cut(string(b), pictureMark)
			in := parseCase(t, story)
			found := parseWeb(story)
			assemble := func() scrollback.Window {
				w := window.Assemble(in)
				if len(found.Results) > 0 {
					w = window.AppendParts(w, scrollback.Say(window.WebResults(found, 40)), scrollback.Weight{Tokens: 50}, in.Dialect)
				}
				return w
			}
			got := picture(assemble(), in.Dialect)
			if *update {
				if err := os.WriteFile(name, []byte(story+pictureMark+got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("the picture is\n%s\nnot\n%s", got, want)
			}
			if !strings.Contains(got, "\nlint: ok\n") {
				t.Errorf("the window does not pass its lint:\n%s", got)
			}
			for _, d := range window.Dialects() {
				in.Dialect = d
				if err := window.Lint(assemble(), d); err != nil {
					t.Errorf("%s: %v", d.Name, err)
				}
			}
		})
	}
}

func parseCase(t *testing.T, story string) window.Input {
	t.Helper()
	var in window.Input
	for line := range strings.SplitSeq(story, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch {
		case line == "" || word == "--" || word == "web":
		case word == "instructions":
			in.Instructions = rest
			in.InstructionsWeight = scrollback.Weight{Tokens: 5}
		case word == "tools":
			for name := range strings.FieldsSeq(rest) {
				in.Tools = append(in.Tools, scrollback.Tool{Name: name, Parameters: json.RawMessage(`{}`)})
			}
			in.ToolsWeight = scrollback.Weight{Tokens: 7}
		case word == "dialect":
			if in.Dialect = dialect(rest); in.Dialect.Name != rest {
				t.Fatalf("no dialect is %q", rest)
			}
		case word == "prompt":
			_, err = fmt.Sscan(rest, &in.PromptSeq)
		case word == "segment":
			var s scrollback.Segment
			head, text, _ := strings.Cut(rest, ": ")
			_, err = fmt.Sscanf(head, "%s %d-%d %d", &s.ID, &s.FirstSeq, &s.LastSeq, &s.TokensAfter)
			s.Placeholder = strings.ReplaceAll(text, `\n`, "\n")
			in.Segments = append(in.Segments, s)
		case strings.HasPrefix(word, "#"):
			in.Live = append(in.Live, parseMessage(t, line))
		default:
			t.Fatalf("what is %q?", line)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return in
}

// parseWeb returns what the lines of a case say that a search of the web found.
func parseWeb(story string) (s scrollback.Search) {
	for line := range strings.SplitSeq(story, "\n") {
		if rest, ok := strings.CutPrefix(line, "web "); ok {
			query, page, _ := strings.Cut(strings.ReplaceAll(rest, `\u202e`, "\u202e"), ": ")
			f := append(strings.SplitN(page, " | ", 3), "", "")
			s.Query = query
			s.Results = append(s.Results, scrollback.Source{Title: f[0], URL: f[1], Text: f[2]})
		}
	}
	return window.SanitizeSearch(s)
}

func dialect(name string) scrollback.Dialect {
	for _, d := range window.Dialects() {
		if d.Name == name {
			return d
		}
	}
	return scrollback.Dialect{}
}

func parseMessage(t *testing.T, line string) scrollback.Message {
	t.Helper()
	m := scrollback.Message{Status: scrollback.StatusComplete}
	head, text, ok := strings.Cut(line, ":")
	fields := strings.Fields(head)
	if _, err := fmt.Sscanf(fields[0], "#%d", &m.Seq); err != nil || !ok {
		t.Fatalf("%q is not a message", line)
	}
	role, status, ok := strings.Cut(fields[1], "/")
	if m.Role = scrollback.Role(role); ok {
		m.Status = scrollback.Status(status)
	}
	if len(fields) > 2 {
		m.Model = strings.TrimPrefix(fields[2], "@")
	}
	for piece := range strings.SplitSeq(text, " | ") {
		if p := parsePart(strings.TrimPrefix(piece, " ")); p != nil {
			m.Parts = append(m.Parts, p)
		}
	}
	m.Weight = scrollback.Weight{Tokens: int64(10 * len(m.Parts)), Bytes: int64(len(text))}
	return m
}

func parsePart(s string) scrollback.Part {
	s, mark, ok := strings.Cut(s, "^")
	var opaque json.RawMessage
	if ok {
		opaque = json.RawMessage(`"` + mark + `"`)
	}
	s = strings.ReplaceAll(strings.TrimRight(s, " "), `\n`, "\n")
	word, rest, _ := strings.Cut(s, " ")
	f := append(strings.SplitN(rest, " ", 3), "", "")
	switch word {
	case "":
		return nil
	case "call":
		return scrollback.ToolCall{ID: strings.TrimPrefix(f[0], "-"), Name: f[1], Arguments: json.RawMessage(f[2]),
			Opaque: opaque}
	case "result":
		return scrollback.ToolResult{CallID: f[0], Name: f[1], Text: f[2], Opaque: opaque}
	case "think":
		return scrollback.Reasoning{Text: rest, Opaque: opaque}
	case "image":
		return scrollback.Image{Artifact: "a1", MediaType: "image/png", Name: rest, Size: 9, Opaque: opaque}
	case "file":
		return scrollback.File{Artifact: "f1", MediaType: "text/plain", Name: rest, Opaque: opaque}
	case "empty":
		return scrollback.Text{}
	}
	return scrollback.Text{Text: s, Opaque: opaque}
}

// picture shows a window: a line for each item and each part, what is left out, sums.
func picture(w scrollback.Window, d scrollback.Dialect) string {
	var b strings.Builder
	for _, it := range w.Items {
		fmt.Fprintf(&b, "%-12s %s %s", it.Layer, it.Kind, it.Role)
		if it.Seq != 0 {
			fmt.Fprintf(&b, " #%d", it.Seq)
		}
		if it.Model != "" {
			b.WriteString(" @" + it.Model)
		}
		fmt.Fprintf(&b, " %d\n", it.Weight.Tokens)
		for _, p := range it.Parts {
			b.WriteString("    " + strings.ReplaceAll(showPart(p), "\n", "\n    | ") + "\n")
		}
	}
	for _, e := range w.Excluded {
		fmt.Fprintf(&b, "out #%d-#%d %s", e.FirstSeq, e.LastSeq, e.Reason)
		if e.Ref != nil {
			b.WriteString(" " + string(*e.Ref))
		}
		b.WriteByte('\n')
	}
	for _, l := range window.BuildManifest(w).Layers {
		if l.Tokens > 0 {
			fmt.Fprintf(&b, "%s %d, ", l.Name, l.Tokens)
		}
	}
	fmt.Fprintf(&b, "in all %d\n", w.Weight.Tokens)
	verdict := "ok"
	if err := window.Lint(w, d); err != nil {
		verdict = err.Error()
	}
	return b.String() + "lint: " + verdict + "\n"
}

func showPart(p scrollback.Part) string {
	mark := func(s string, o scrollback.Opaque) string {
		if o != nil {
			s += " ^" + strings.Trim(string(o), `"`)
		}
		return s
	}
	switch p := p.(type) {
	case scrollback.Text:
		return mark(strings.ReplaceAll(p.Text, "\u200b", "<zero width>"), p.Opaque)
	case scrollback.ToolCall:
		return mark("call "+p.ID+" "+p.Name+" "+string(p.Arguments), p.Opaque)
	case scrollback.ToolResult:
		s := "result " + p.CallID + " " + p.Name + " " + p.Text
		if p.IsError {
			s = "failed " + s
		}
		return mark(s, p.Opaque)
	case scrollback.Reasoning:
		return mark("think "+p.Text, p.Opaque)
	case scrollback.Image:
		return mark("image "+p.Name, p.Opaque)
	case scrollback.File:
		return mark("file "+p.Name, p.Opaque)
	}
	return "?"
}
