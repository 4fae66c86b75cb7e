package tooltest

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// ReadEntries returns those of all sessions of a place that was given, at rest; an error fails
// the test.
func ReadEntries(t *testing.T, tool transcript.Tool, files fs.FS) []transcript.Entry {
	t.Helper()
	v := variant{Case: Case{Tool: tool, FS: files}}
	r := v.readPlace(transcript.Place{FS: files, Name: ".", Now: written + day}, false)
	if r.err != nil {
		t.Fatal(r.err)
	}
	for i, err := range r.errs {
		if err != nil {
			t.Fatalf("session %s: %v", r.sessions[i].ID, err)
		}
	}
	return slices.Concat(r.entries...)
}

// ScriptLines returns entries as short lines: who says what, calls, results, rewinds and ends.
func ScriptLines(entries []transcript.Entry) []string {
	var out []string
	for _, e := range entries {
		switch {
		case e.Bad != nil:
			out = append(out, fmt.Sprintf("bad %d: %s", e.Bad.Line, e.Bad.Reason))
		case e.Conversation != nil:
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s: %s", e.Source, e.Conversation.Title)))
		case e.Rewind != nil:
			out = append(out, fmt.Sprintf("back to %d", *e.Rewind))
		case e.End != nil:
			end := "end"
			if e.End.Held {
				end += " held"
			}
			if len(e.End.Left) > 0 {
				end += strings.TrimPrefix(fmt.Sprint(e.End.Left), "map")
			}
			out = append(out, end)
		default:
			out = append(out, messageLine(e.Message))
		}
	}
	return out
}

// messageLine returns a message on one line.
func messageLine(m scrollback.Message) string {
	var b strings.Builder
	b.WriteString(string(m.Role))
	if m.Status != "" && m.Status != scrollback.StatusComplete {
		b.WriteString(" (" + string(m.Status) + ")")
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			fmt.Fprintf(&b, " | %s", p.Text)
		case scrollback.Reasoning:
			fmt.Fprintf(&b, " | thinks %s", p.Text)
		case scrollback.ToolCall:
			fmt.Fprintf(&b, " | calls %s %s %s", p.ID, p.Name, p.Arguments)
		case scrollback.ToolResult:
			fmt.Fprintf(&b, " | %s of %s %s: %s", map[bool]string{false: "result", true: "error"}[p.IsError], p.CallID, p.Name,
				p.Text)
		case scrollback.Image:
			fmt.Fprintf(&b, " | image %s %s", p.MediaType, path.Base(p.Name))
		case scrollback.File:
			fmt.Fprintf(&b, " | file %s %s", p.MediaType, path.Base(p.Name))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", "⏎")
}
