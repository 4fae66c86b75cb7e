package codex

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Write implements transcript.Exporter: a rollout that the tool resumes by the conversation's
// id. Reasoning is shown there, and not sent; what the tool has no item for is a text.
func (Tool) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	out := &rolloutWriter{w: bufio.NewWriterSize(w, 64<<10), at: c.CreatedAt, names: map[string]string{},
		said: map[string]string{}, id: string(c.ID)}
	out.writeHeader(c)
	out.flushLines()
	for e, err := range entries {
		if err != nil {
			return err
		}
		if e.Conversation == nil && e.Bad == nil && e.End == nil && e.Rewind == nil {
			out.writeMessage(e)
		}
	}
	if out.err != nil {
		return out.err
	}
	return out.w.Flush()
}

type rolloutWriter struct {
	w     *bufio.Writer
	err   error
	id    string
	at    int64 // of the newest line
	cwd   string
	model string
	total callUsage
	names map[string]string // of calls that are not functions, by id
	said  map[string]string // what calls are named where they are read, by id
	calls int
	group []written
}

// written is a line that is ready.
type written struct {
	kind    string
	payload fields
}

// addLine gets a line ready.
func (w *rolloutWriter) addLine(kind string, payload fields) {
	w.group = append(w.group, written{kind, payload})
}

// flushLines writes the lines that are ready.
func (w *rolloutWriter) flushLines() {
	for _, l := range w.group {
		raw := transcript.MarshalObject(struct {
			Timestamp string `json:"timestamp"`
			Type      string `json:"type"`
			Payload   any    `json:"payload"`
		}{formatTime(w.at), l.kind, l.payload})
		if raw == nil && w.err == nil {
			w.err = fmt.Errorf("codex: a %s cannot be written", l.kind)
		}
		if w.err == nil {
			_, w.err = w.w.Write(append(raw, '\n'))
		}
	}
	w.group = nil
}

// addWhole puts a message beside its items, if they do not say it as it is.
func (w *rolloutWriter) addWhole(e transcript.Entry) {
	var lines []line
	first := -1
	for i, l := range w.group {
		lines = append(lines, line{n: i + 2, thread: w.id, pos: i + 2, at: w.at, ordinal: -1, kind: l.kind,
			payload: transcript.MarshalObject(l.payload)})
		if first < 0 && l.kind == "response_item" {
			first = i
		}
	}
	if w.readsAs(lines, e) {
		return
	}
	e.Message.Parts = transcript.WithoutStoreFields(e.Message.Parts)
	content, err := transcript.EncodeParts(e)
	if err != nil {
		w.err = err
		return
	}
	if first < 0 { // it has no item: one that says nothing to a model
		w.group = append([]written{{"response_item", fields{"type": "ghost_snapshot", "ghost_commit": fields{"id": "0",
			"preexisting_untracked_files": []string{}, "preexisting_untracked_dirs": []string{}}}}}, w.group...)
		first = 0
	}
	m := e.Message
	for i, l := range w.group {
		switch {
		case i == first:
			l.payload["scrollback"] = ownFields{Message: &message{m.Role, m.Name, content, m.Model, m.Status}}
		case l.kind == "response_item":
			l.payload["scrollback"] = ownFields{Part: true}
		}
	}
}

func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

type fields = map[string]any

// keptMeta is what an import has left in meta.
type keptMeta struct {
	Cwd        string            `json:"cwd"`
	GitBranch  string            `json:"git_branch"`
	GitCommit  string            `json:"git_commit"`
	Provider   string            `json:"provider"`
	Version    string            `json:"version"`
	Kinds      map[string]string `json:"kinds"`
	Namespaces map[string]string `json:"namespaces"`
	Phase      string            `json:"phase"`
}

func readKept(meta json.RawMessage) keptMeta {
	var all map[string]json.RawMessage
	var own keptMeta
	// A meta of another shape holds nothing of ours.
	_ = json.Unmarshal(meta, &all)
	_ = json.Unmarshal(all[Name], &own)
	return own
}

// summarizes reports whether a message is the summary of a compaction, of whichever tool.
func summarizes(m scrollback.Message) bool {
	var all map[string]json.RawMessage
	if m.Role != scrollback.RoleUser || len(m.Parts.Text()) == 0 || json.Unmarshal(m.Meta, &all) != nil {
		return false
	}
	for _, raw := range all {
		var v struct {
			Compaction bool `json:"compaction"`
		}
		if json.Unmarshal(raw, &v) == nil && v.Compaction {
			return true
		}
	}
	return false
}

// writeHeader writes what the rollout says about its thread.
func (w *rolloutWriter) writeHeader(c scrollback.Conversation) {
	k := readKept(c.Meta)
	w.cwd = k.Cwd
	if len(c.Roots) > 0 {
		w.cwd = cmp.Or(w.cwd, c.Roots[0])
	}
	w.cwd = cmp.Or(w.cwd, "/")
	head := fields{"id": string(c.ID), "timestamp": formatTime(c.CreatedAt), "cwd": w.cwd, "originator": originator,
		"cli_version": cmp.Or(k.Version, "0.0.0"), "source": "cli", "instructions": nil}
	if k.Provider != "" {
		head["model_provider"] = k.Provider
	}
	if k.GitBranch != "" || k.GitCommit != "" {
		git := fields{}
		if k.GitCommit != "" {
			git["commit_hash"] = k.GitCommit
		}
		if k.GitBranch != "" {
			git["branch"] = k.GitBranch
		}
		head["git"] = git
	}
	w.addLine("session_meta", head)
	if c.Title != "" {
		w.addLine("event_msg", fields{"type": "thread_name_updated", "thread_id": string(c.ID), "thread_name": c.Title})
	}
}

// writeMessage writes a message.
func (w *rolloutWriter) writeMessage(e transcript.Entry) {
	m := e.Message
	if m.CreatedAt != 0 {
		w.at = m.CreatedAt
	}
	k := readKept(m.Meta)
	summary := summarizes(m)
	defer w.flushLines()
	switch {
	case summary:
		w.addLine("compacted", fields{"message": m.Parts.Text()})
	case m.Role == scrollback.RoleSystem:
		w.writeItem("message", fields{"role": "developer", "content": w.contentElements(e, "input_text")})
	case m.Role == scrollback.RoleUser && len(m.Parts.Results()) == 0:
		w.writeUser(e)
	case m.Role == scrollback.RoleAssistant:
		w.writeAnswer(e, k)
	default:
		w.writeResults(e)
	}
	if !summary {
		w.addWhole(e)
	}
	for _, c := range m.Parts.Calls() {
		w.said[c.ID] = c.Name
	}
}

func (w *rolloutWriter) writeItem(kind string, f fields) {
	f["type"] = kind
	w.addLine("response_item", f)
}

func (w *rolloutWriter) writeUser(e transcript.Entry) {
	w.writeItem("message", fields{"role": "user", "content": w.contentElements(e, "input_text")})
	w.addLine("event_msg", fields{"type": "user_message", "message": e.Message.Parts.Text(), "images": []string{}})
}

// writeAnswer writes what a model said: its texts and calls in their order.
func (w *rolloutWriter) writeAnswer(e transcript.Entry, k keptMeta) {
	m := e.Message
	if m.Model != "" && m.Model != w.model {
		w.model = m.Model
		w.addLine("turn_context", fields{"cwd": w.cwd, "approval_policy": "on-request",
			"sandbox_policy": fields{"type": "read-only"},
			"model":          m.Model, "summary": "auto"})
	}
	var thought []string
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Reasoning:
			thought = append(thought, p.Text)
		case scrollback.ToolCall:
			w.writeCall(p, k)
		default:
			list := w.partElements(e, i, "output_text")
			f := fields{"role": "assistant", "content": list}
			if k.Phase != "" {
				f["phase"] = k.Phase
			}
			if len(list) > 0 {
				w.writeItem("message", f)
				w.addLine("event_msg", fields{"type": "agent_message", "message": joinFields(list)})
			}
		}
	}
	if len(thought) > 0 {
		w.addLine("event_msg", fields{"type": "agent_reasoning", "text": strings.Join(thought, "\n\n")})
	}
	if m.Status == scrollback.StatusInterrupted {
		w.addLine("event_msg", fields{"type": "turn_aborted", "reason": "interrupted"})
	}
	w.writeUsage(m.Usage)
}

func joinFields(list []fields) string {
	var texts []string
	for _, f := range list {
		if text, is := f["text"].(string); is {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// writeUsage writes what a call has used, and what all have.
func (w *rolloutWriter) writeUsage(u *scrollback.Usage) {
	if u == nil || u.InputTokens <= 0 && u.OutputTokens <= 0 {
		w.addLine("event_msg", fields{"type": "token_count", "rate_limits": nil, "info": nil})
		return
	}
	last := callUsage{u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens, u.TotalTokens}
	w.total = callUsage{w.total.Input + last.Input, w.total.Cached + last.Cached, w.total.Written + last.Written,
		w.total.Output + last.Output, w.total.Reasoning + last.Reasoning, w.total.Total + last.Total}
	w.addLine("event_msg", fields{"type": "token_count", "rate_limits": nil,
		"info": fields{"total_token_usage": w.total, "last_token_usage": last, "model_context_window": nil}})
}

// writeCall writes a call as what it was, or as that of a function.
func (w *rolloutWriter) writeCall(c scrollback.ToolCall, k keptMeta) {
	w.calls++
	id := cmp.Or(c.ID, fmt.Sprintf("call_%d", w.calls))
	w.names[id] = k.Kinds[c.ID]
	switch k.Kinds[c.ID] {
	case "custom_tool_call":
		var v struct {
			Input json.RawMessage `json:"input"`
		}
		if json.Unmarshal(c.Arguments, &v) == nil && len(v.Input) > 0 && v.Input[0] == '"' {
			w.writeItem("custom_tool_call", fields{"status": "completed", "call_id": id, "name": c.Name, "input": v.Input})
			return
		}
	case "local_shell_call":
		w.writeItem("local_shell_call", fields{"status": "completed", "call_id": id, "action": c.Arguments})
		return
	case "web_search_call":
		w.writeItem("web_search_call", fields{"id": id, "status": "completed", "action": c.Arguments})
		return
	}
	w.names[id] = ""
	f := fields{"name": spellName(c.Name), "arguments": string(c.Arguments), "call_id": id}
	if space := k.Namespaces[c.ID]; space != "" {
		f["namespace"] = space
	}
	w.writeItem("function_call", f)
}

// spellName returns a name as the tool's models take it: of 1 to 64 ASCII letters, digits, _ and -.
func spellName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(name[:min(len(name), 64)], "unknown")
}

// writeResults writes the results of calls, and what else is in their message, with the last one.
func (w *rolloutWriter) writeResults(e transcript.Entry) {
	var more []fields
	last := -1
	for i, p := range e.Message.Parts {
		if _, is := p.(scrollback.ToolResult); is {
			last = i
			continue
		}
		more = append(more, w.partElements(e, i, "input_text")...)
	}
	for i, p := range e.Message.Parts {
		r, is := p.(scrollback.ToolResult)
		if !is {
			continue
		}
		kind := "function_call_output"
		if w.names[r.CallID] == "custom_tool_call" {
			kind = "custom_tool_call_output"
		}
		var output any = r.Text
		if i == last && len(more) > 0 {
			output = append([]fields{{"type": "input_text", "text": r.Text}}, more...)
		}
		f := fields{"call_id": r.CallID, "output": output}
		if _, told := parseExit(r.Text); r.IsError && !told {
			f["status"] = "failed" // the tool reads over it
		}
		w.writeItem(kind, f)
	}
}

// contentElements returns what a message says, element by element.
func (w *rolloutWriter) contentElements(e transcript.Entry, kind string) []fields {
	out := []fields{}
	for i := range e.Message.Parts {
		out = append(out, w.partElements(e, i, kind)...)
	}
	return out
}

// maxFile is the largest file that is written as text.
const maxFile = 256 << 10

// partElements returns one part as elements of content.
func (w *rolloutWriter) partElements(e transcript.Entry, i int, kind string) []fields {
	text := func(s string) []fields { return []fields{{"type": kind, "text": s}} }
	switch p := e.Message.Parts[i].(type) {
	case scrollback.Text:
		return text(p.Text)
	case scrollback.Reasoning:
		return nil
	case scrollback.Image:
		url := p.URL
		if data := e.Bytes[i]; len(data) > 0 {
			url = "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(data)
		}
		if url == "" || kind == "output_text" {
			return text("[image " + p.Name + "]")
		}
		open := "<image>"
		if p.Name != "" && !strings.ContainsAny(p.Name, "[]>\"") {
			open = "<image name=[" + p.Name + "]>"
		}
		return []fields{{"type": kind, "text": open}, {"type": "input_image", "image_url": url},
			{"type": kind, "text": "</image>"}}
	case scrollback.File:
		data := e.Bytes[i]
		if len(data) > maxFile || len(data) == 0 || !utf8.Valid(data) {
			return text(fmt.Sprintf("[file %s, %d bytes]", p.Name, max(p.Size, int64(len(data)))))
		}
		return text(fmt.Sprintf("[file %s]\n%s", p.Name, data))
	}
	return nil
}
