package codex

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// result takes the result of a call. Where the model saw less than the command wrote, what it
// wrote takes the place of what is cut.
func (t *teller) result(l *line, it item) {
	t.close()
	text, pieces, failed := t.output(it.Output)
	failed = failed || it.Status == "failed"
	call := it.CallID
	if call == "" {
		call = l.id()
	}
	name := t.tools.names[call]
	n := l.message(it.ID, scrollback.RoleTool, nil)
	if r, ran := t.tools.runs[call]; ran {
		text = r.whole(text)
		if r.ExitCode != nil {
			failed = *r.ExitCode != 0
			n.note("exit_code", *r.ExitCode)
		}
		if ms := r.Duration.Secs*1000 + r.Duration.Nanos/1e6; ms > 0 {
			n.note("duration_ms", ms)
		}
		delete(t.tools.runs, call)
	}
	t.tools.results[call] = true
	n.add(piece{Part: scrollback.ToolResult{CallID: call, Name: name, Text: text, IsError: failed}})
	for _, p := range pieces {
		n.add(p)
	}
	t.add(n)
	t.last = -1
	if name == "spawn_agent" {
		var v struct {
			Agent string `json:"agent_id"`
		}
		if json.Unmarshal([]byte(text), &v) == nil {
			t.tools.spawned(v.Agent, call)
		}
	}
}

// output reads an output: a text, JSON in a text with how it ended, or a list of contents.
func (t *teller) output(raw json.RawMessage) (text string, pieces []piece, failed bool) {
	if json.Unmarshal(raw, &text) == nil {
		text, failed = ended(text)
		return text, nil, failed
	}
	var v struct {
		Content json.RawMessage `json:"content"`
		Success *bool           `json:"success"`
	}
	if json.Unmarshal(raw, &v) == nil && v.Content != nil {
		failed = v.Success != nil && !*v.Success
		if json.Unmarshal(v.Content, &text) == nil {
			return text, nil, failed
		}
		raw = v.Content
	}
	var texts []string
	for _, p := range t.content(raw, nil) {
		if one, is := p.Part.(scrollback.Text); is {
			texts = append(texts, one.Text)
			continue
		}
		pieces = append(pieces, p)
	}
	if texts == nil && pieces == nil {
		return string(raw), nil, failed
	}
	return strings.Join(texts, "\n"), pieces, failed
}

// exited is how a result says that a command ended, in its first lines.
var exited = regexp.MustCompile(`(?m)\A(?:[A-Z][^\n]*\n){0,4}?(?:Exit code: |Process exited with code )(-?\d+)$`)

// ended reads how a command ended from its result.
func ended(text string) (string, bool) {
	if strings.HasPrefix(text, "{") {
		var v struct {
			Output   *string `json:"output"`
			Metadata *struct {
				ExitCode *int64 `json:"exit_code"`
			} `json:"metadata"`
		}
		if json.Unmarshal([]byte(text), &v) == nil && v.Output != nil && v.Metadata != nil {
			return *v.Output, v.Metadata.ExitCode != nil && *v.Metadata.ExitCode != 0
		}
	}
	if m := exited.FindStringSubmatch(text[:min(len(text), 400)]); m != nil {
		code, err := strconv.Atoi(m[1])
		return text, err == nil && code != 0
	}
	return text, false
}

// whole is a result with all of its output, where the model saw a part of it.
func (r run) whole(text string) string {
	at := strings.Index(text, "\nOutput:\n")
	if at < 0 {
		return text
	}
	at += len("\nOutput:\n")
	if shown := text[at:]; len(r.Output) > len(shown) || cut(shown) && len(r.Output)+notice > len(shown) {
		return text[:at] + r.Output
	}
	return text
}

// notice is about how long an output says that it is cut.
const notice = 120

// cut reports whether an output says that it is not whole.
func cut(shown string) bool {
	return strings.HasPrefix(shown, "Warning: truncated output") || strings.HasPrefix(shown, "Total output lines: ") ||
		strings.Contains(shown, " tokens truncated…") || strings.Contains(shown, " chars truncated…")
}
