package opencode

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// writer makes entries of stored sessions.
type writer struct {
	yield func(transcript.Entry, error) bool
	gone  bool
	live  bool
	side  func(noted string) (string, bool) // the whole of an output
}

func (w *writer) emit(e transcript.Entry) {
	if !w.gone && !w.yield(e, nil) {
		w.gone = true
	}
}

// calls are the calls that started sub-agents, by what they are.
type calls map[string]string

// write tells a conversation and then its sub-agents. Those whose call is held back wait.
func (w *writer) write(all []*stored) {
	started, waits, told := calls{}, false, map[string]bool{}
	for i, s := range all {
		if w.gone {
			return
		}
		kept, held := s.kept(w.live)
		waits = waits || held
		_, known := started[s.ID]
		if i > 0 && (!told[s.ParentID] || waits && !known) {
			continue
		}
		told[s.ID] = true
		for _, m := range kept {
			for _, p := range m.parts {
				if id := p.State.Metadata.SessionID; p.Type == "tool" && id != "" {
					started[id] = p.call()
				}
			}
		}
		var of *transcript.AgentOf
		if i > 0 {
			of = &transcript.AgentOf{Source: s.ParentID, CallID: started[s.ID]}
		}
		w.session(s, kept, held, of)
	}
}

// kept are the messages that are complete, as far as the session's end can tell: while it is
// live, an answer that is not finished waits, and so does a question that nothing follows.
func (s *stored) kept(live bool) (kept []*message, held bool) {
	kept = s.messages
	if !live {
		return kept, false
	}
	answered := false
	for i, m := range slices.Backward(s.messages) {
		switch {
		case m.removed > 0, m.Role == "user" && answered, m.finished() && m.Role != "user":
			return kept, held
		}
		answered = answered || m.Role != "user"
		kept, held = s.messages[:i], true
	}
	return kept, held
}

// session tells one conversation.
func (w *writer) session(s *stored, kept []*message, held bool, of *transcript.AgentOf) {
	c := &scrollback.Conversation{Title: s.Title, Model: s.Model.ID, CreatedAt: int64(s.Time.Created), UpdatedAt: int64(s.Time.Updated)}
	c.Meta = object(map[string]any{metaKey: struct {
		Folder   string `json:"directory,omitempty"`
		Version  string `json:"version,omitempty"`
		Slug     string `json:"slug,omitempty"`
		Project  string `json:"project_id,omitempty"`
		Agent    string `json:"agent,omitempty"`
		Provider string `json:"provider,omitempty"`
		Archived millis `json:"archived,omitempty"`
		ForkOf   string `json:"fork_of,omitempty"`
	}{s.Directory, s.Version, s.Slug, s.ProjectID, s.Agent, s.Model.Provider, s.Time.Archived, s.forkOf}})
	for _, m := range kept {
		if m.ModelID != "" && s.Model.ID == "" {
			c.Model = m.ModelID
		}
	}
	w.emit(transcript.Entry{Source: s.ID, Conversation: c, Agent: of, Origin: &scrollback.Origin{ID: s.ID, Folder: s.Directory}})
	for _, reason := range s.bad {
		w.emit(transcript.Entry{Source: s.ID, Bad: &transcript.Bad{Reason: reason}})
	}
	left := map[string]int{}
	nodes := make([]tree.Node, 0, len(kept))
	for _, m := range kept {
		t := &teller{m: m, side: w.side, left: left, folder: s.Directory}
		nodes = append(nodes, tree.Node{ID: m.ID, Parent: parentOf(m, nodes, kept), Entries: t.entries()})
	}
	for e := range tree.Entries(s.ID, nodes, s.leaf(kept)) {
		if w.emit(e); w.gone {
			return
		}
	}
	w.emit(transcript.Entry{Source: s.ID, End: &transcript.End{Held: held, Left: left}})
}

// parentOf is the message that came before m when it was said: the nearest earlier one
// that was not removed by then. Nodes are those before it.
func parentOf(m *message, nodes []tree.Node, kept []*message) string {
	for i := range slices.Backward(nodes) {
		if before := kept[i]; before.removed == 0 || m.begun > 0 && m.begun < before.removed {
			return before.ID
		}
	}
	return ""
}

// leaf is where the current path ends: before the message that the session went back to, or
// at the last one that is there. Empty is the last of all.
func (s *stored) leaf(kept []*message) string {
	end := ""
	for _, m := range kept {
		if s.Revert != nil && s.Revert.MessageID == m.ID {
			if s.Revert.PartID != "" {
				return m.ID // only its later parts were taken back
			}
			return end
		}
		if m.removed == 0 {
			end = m.ID
		}
	}
	return end
}

// call is how a tool part's call is known.
func (p *part) call() string { return cmp.Or(p.CallID, p.ID, "call") }

// teller makes entries of one message.
type teller struct {
	m      *message
	side   func(string) (string, bool)
	left   map[string]int
	folder string
}

func (t *teller) entries() []transcript.Entry {
	if t.m.Role == "user" {
		return t.user()
	}
	return t.assistant()
}

// said is an entry that is being filled.
type said struct {
	parts scrollback.Parts
	bytes map[int][]byte
}

// attach adds a file, if its bytes or its address are there.
func (s *said) attach(p part) bool {
	image := strings.HasPrefix(p.Mime, "image/") && p.Mime != "image/svg+xml"
	b, mime, ok := dataURL(p.URL)
	switch {
	case !ok && image && (strings.HasPrefix(p.URL, "https://") || strings.HasPrefix(p.URL, "http://")):
		s.parts = append(s.parts, scrollback.Image{URL: p.URL, MediaType: p.Mime, Name: p.Filename})
		return true
	case !ok:
		return false
	}
	if s.bytes == nil {
		s.bytes = map[int][]byte{}
	}
	s.bytes[len(s.parts)] = b
	if mime = cmp.Or(p.Mime, mime, "application/octet-stream"); image {
		s.parts = append(s.parts, scrollback.Image{MediaType: mime, Name: p.Filename, Size: int64(len(b))})
	} else {
		s.parts = append(s.parts, scrollback.File{MediaType: mime, Name: p.Filename, Size: int64(len(b))})
	}
	return true
}

// dataURL is what a data URL holds.
func dataURL(s string) (b []byte, mime string, ok bool) {
	rest, ok := strings.CutPrefix(s, "data:")
	head, body, comma := strings.Cut(rest, ",")
	if !ok || !comma {
		return nil, "", false
	}
	mime, _, _ = strings.Cut(head, ";")
	if !strings.HasSuffix(head, ";base64") {
		text, err := url.PathUnescape(body)
		return []byte(text), mime, err == nil && text != ""
	}
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(body))
	return b, mime, err == nil && len(b) > 0
}

// user tells what a user said. Texts that the tool made of files are not what was said.
func (t *teller) user() []transcript.Entry {
	var s said
	for _, p := range t.m.parts {
		switch {
		case p.Type == "text" && (p.Synthetic || p.Ignored):
			t.left["expanded file"]++
		case p.Type == "text" && p.Text != "":
			s.parts = append(s.parts, scrollback.Text{Text: p.Text})
		case p.Type == "subtask" && p.Prompt != "":
			s.parts = append(s.parts, scrollback.Text{Text: p.Prompt})
		case p.Type == "file":
			if !s.attach(p) {
				t.left["file reference"]++
			}
		default:
			t.left[cmp.Or(p.Type, "part")]++
		}
	}
	return t.entry(scrollback.Message{Role: scrollback.RoleUser, Parts: s.parts}, s)
}

// entry is a message, if there is anything in it.
func (t *teller) entry(m scrollback.Message, s said) []transcript.Entry {
	if len(s.parts) == 0 {
		if t.m.Role == "user" && len(t.m.parts) > 0 {
			return nil // its parts were counted
		}
		t.left["empty message"]++
		return nil
	}
	m.ID, m.CreatedAt = scrollback.MessageID(t.m.ID), int64(t.m.Time.Created)
	return []transcript.Entry{{Message: m, Bytes: s.bytes}}
}

// assistant tells what a model call brought, and then what its tools returned.
func (t *teller) assistant() []transcript.Entry {
	var s, results said
	ended := t.m.Time.Created
	for _, p := range t.m.parts {
		switch {
		case p.Type == "text" && p.Synthetic:
			t.left["synthetic text"]++
		case p.Type == "text" && p.Text != "":
			s.parts = append(s.parts, scrollback.Text{Text: p.Text})
		case p.Type == "reasoning" && p.Text != "":
			s.parts = append(s.parts, scrollback.Reasoning{Text: p.Text})
		case p.Type == "file":
			if !s.attach(p) {
				t.left["file reference"]++
			}
		case p.Type == "tool":
			name := cmp.Or(p.Tool, "unknown")
			s.parts = append(s.parts, scrollback.ToolCall{ID: p.call(), Name: name, Arguments: arguments(p.State.Input)})
			if r, done := t.result(p, name); done {
				results.parts = append(results.parts, r)
				ended = max(ended, p.State.Time.End)
				for _, a := range p.State.Attachments {
					if !results.attach(a) {
						t.left["file reference"]++
					}
				}
			}
		default:
			t.left[cmp.Or(p.Type, "part")]++
		}
	}
	m := scrollback.Message{Role: scrollback.RoleAssistant, Parts: s.parts, Model: t.m.ModelID, Usage: t.usage()}
	m.Status, m.Meta = t.ending()
	if len(s.parts) == 0 && t.m.Error != nil {
		t.left["error without an answer"]++
		return nil
	}
	out := t.entry(m, s)
	if len(results.parts) > 0 {
		out = append(out, transcript.Entry{Bytes: results.bytes, Message: scrollback.Message{ID: scrollback.MessageID(t.m.ID + "#results"),
			Role: scrollback.RoleTool, Parts: results.parts, CreatedAt: int64(ended)}})
	}
	return out
}

// result is what a tool returned. A command that failed is an error, whatever the tool calls it.
func (t *teller) result(p part, name string) (scrollback.ToolResult, bool) {
	r := scrollback.ToolResult{CallID: p.call(), Name: name, Text: p.State.Output}
	switch p.State.Status {
	case "completed":
		r.IsError = p.State.Metadata.Exit != 0
		if noted := p.State.Metadata.OutputPath; noted != "" {
			if whole, ok := t.side(noted); ok {
				r.Text = whole
			}
		}
	case "error":
		r.IsError, r.Text = true, cmp.Or(p.State.Error, p.State.Output)
	default:
		return r, false
	}
	return r, true
}

// arguments is JSON as it is stored everywhere, without spaces.
func arguments(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return json.RawMessage("{}")
	}
	return b.Bytes()
}

// ending is how an answer ended.
func (t *teller) ending() (status scrollback.Status, meta json.RawMessage) {
	m := t.m
	kept := struct {
		Compaction  bool   `json:"compaction,omitempty"`
		Interrupted bool   `json:"interrupted,omitempty"`
		Error       string `json:"error,omitempty"`
		Finish      string `json:"finish,omitempty"`
		Cwd         string `json:"cwd,omitempty"`
	}{Compaction: m.summary()}
	status = scrollback.StatusComplete
	switch {
	case m.Error != nil && m.Error.Name == "MessageAbortedError", !m.finished():
		status, kept.Interrupted = scrollback.StatusInterrupted, true
	case m.Error != nil:
		status = scrollback.StatusFailed
		kept.Error = strings.TrimPrefix(m.Error.Name+": "+m.Error.Data.Message, ": ")
	}
	if m.Finish != "stop" && m.Finish != "tool-calls" {
		kept.Finish = m.Finish
	}
	if m.Path.Cwd != t.folder {
		kept.Cwd = m.Path.Cwd
	}
	if meta = object(map[string]any{metaKey: kept}); string(meta) == `{"`+metaKey+`":{}}` {
		return status, nil
	}
	return status, meta
}

// usage is that of a model call: what the tool calls input is without what was cached, and
// its output is without the reasoning.
func (t *teller) usage() *scrollback.Usage {
	n := func(f float64) int64 {
		if !(f > 0) {
			return 0
		}
		return int64(math.Min(f, scrollback.MaxCallTokens))
	}
	k := t.m.Tokens
	u := scrollback.Usage{
		InputTokens: n(k.Input) + n(k.Cache.Read) + n(k.Cache.Write), CachedTokens: n(k.Cache.Read), CacheWriteTokens: n(k.Cache.Write),
		OutputTokens: n(k.Output) + n(k.Reasoning), ReasoningTokens: n(k.Reasoning), Cost: t.m.Cost,
	}
	if u.Cost > 0 {
		u.Currency = "USD"
	}
	if u == (scrollback.Usage{}) {
		return nil
	}
	u, _ = u.Checked()
	return &u
}
