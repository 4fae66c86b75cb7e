package codex

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// takeResult takes the result of a call. Where the model saw less than the command wrote, what it
// wrote takes the place of what is cut.
func (t *threadBuilder) takeResult(l *line, it item) {
	t.closeAnswer()
	text, pieces, failed := t.readOutput(it.Output)
	failed = failed || it.Status == "failed"
	call := it.CallID
	if call == "" {
		call = l.messageID()
	}
	name := t.tools.names[call]
	n := l.newMessage(it.ID, scrollback.RoleTool, nil)
	if r, ran := t.tools.runs[call]; ran {
		text = r.wholeOutput(text)
		if r.ExitCode != nil {
			failed = *r.ExitCode != 0
			n.setMeta("exit_code", *r.ExitCode)
		}
		if ms := r.Duration.Secs*1000 + r.Duration.Nanos/1e6; ms > 0 {
			n.setMeta("duration_ms", ms)
		}
		delete(t.tools.runs, call)
	}
	t.tools.results[call] = true
	n.addPiece(messagePiece{Part: scrollback.ToolResult{CallID: call, Name: name, Text: text, IsError: failed}})
	for _, p := range pieces {
		n.addPiece(p)
	}
	t.addNode(n)
	t.last = -1
	if name == "spawn_agent" {
		var v struct {
			Agent string `json:"agent_id"`
		}
		if json.Unmarshal([]byte(text), &v) == nil {
			t.tools.noteSpawn(v.Agent, call)
		}
	}
}

// readOutput reads an output: a text, JSON in a text with how it ended, or a list of contents.
func (t *threadBuilder) readOutput(raw json.RawMessage) (text string, pieces []messagePiece, failed bool) {
	if json.Unmarshal(raw, &text) == nil {
		text, failed = parseExit(text)
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
	for _, p := range t.readContent(raw, nil) {
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
var exited = lazyregexp.New(`(?m)\A(?:[A-Z][^\n]*\n){0,4}?(?:Exit code: |Process exited with code )(-?\d+)$`)

// parseExit reads how a command ended from its result.
func parseExit(text string) (string, bool) {
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
	if m := exited().FindStringSubmatch(text[:min(len(text), 400)]); m != nil {
		code, err := strconv.Atoi(m[1])
		return text, err == nil && code != 0
	}
	return text, false
}

// wholeOutput returns a result with all of its output, where the model saw a part of it.
func (r commandRun) wholeOutput(text string) string {
	at := strings.Index(text, "\nOutput:\n")
	if at < 0 {
		return text
	}
	at += len("\nOutput:\n")
	if shown := text[at:]; len(r.Output) > len(shown) || isCut(shown) && len(r.Output)+notice > len(shown) {
		return text[:at] + r.Output
	}
	return text
}

// notice is about how long an output says that it is cut.
const notice = 120

// isCut reports whether an output says that it is not whole.
func isCut(shown string) bool {
	return strings.HasPrefix(shown, "Warning: truncated output") || strings.HasPrefix(shown, "Total output lines: ") ||
		strings.Contains(shown, " tokens truncated…") || strings.Contains(shown, " chars truncated…")
}
