package opencode

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// messageBuilder makes entries of one message.
type messageBuilder struct {
	key    string // of the tool's fields in meta
	m      *message
	side   func(string) (string, bool)
	left   map[string]int
	folder string
}

func (t *messageBuilder) makeEntries() []transcript.Entry {
	if t.m.Role == "user" {
		return t.userEntries()
	}
	return t.assistantEntries()
}

// messageDraft is an entry that is being filled.
type messageDraft struct {
	parts scrollback.Parts
	bytes map[int][]byte
}

// attachFile adds a file, if its bytes or its address are there.
func (s *messageDraft) attachFile(p part) bool {
	image := strings.HasPrefix(p.Mime, "image/") && p.Mime != "image/svg+xml"
	b, mime, ok := decodeDataURL(p.URL)
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

// decodeDataURL returns what a data URL holds.
func decodeDataURL(s string) (b []byte, mime string, ok bool) {
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

// userEntries tells what a user said. Texts that the tool made of files are not what was said.
func (t *messageBuilder) userEntries() []transcript.Entry {
	var s messageDraft
	var before []transcript.Entry
	var beside *own
	for _, p := range t.m.parts {
		switch o := p.Metadata.Own; {
		case o != nil && o.At != 0:
			e := transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(p.ID), CreatedAt: o.At,
				Parts: scrollback.Parts{scrollback.Text{Text: p.Text}}}}
			o.Restore(&e)
			before = append(before, e)
		case o != nil && p.Synthetic:
			beside = o
		case p.Type == "text" && (p.Synthetic || p.Ignored):
			t.left["expanded file"]++
		case p.Type == "text" && p.Text != "":
			s.parts = append(s.parts, scrollback.Text{Text: p.Text})
		case p.Type == "subtask" && p.Prompt != "":
			s.parts = append(s.parts, scrollback.Text{Text: p.Prompt})
		case p.Type == "file":
			if !s.attachFile(p) {
				t.left["file reference"]++
			}
		default:
			t.left[cmp.Or(p.Type, "part")]++
		}
	}
	return append(before, t.restore(beside, t.makeEntry(scrollback.Message{Role: scrollback.RoleUser, Parts: s.parts},
		s))...)
}

// restore makes the message of entries, if there is one, what stands beside it.
func (t *messageBuilder) restore(o *own, entries []transcript.Entry) []transcript.Entry {
	if o == nil {
		return entries
	}
	if len(entries) == 0 {
		entries = []transcript.Entry{{Message: scrollback.Message{ID: scrollback.MessageID(t.m.ID),
			CreatedAt: int64(t.m.Time.Created)}}}
	}
	o.Restore(&entries[0])
	if len(entries[0].Message.Parts) == 0 {
		return nil
	}
	if o.Said > 0 {
		entries[0].Message.CreatedAt = o.Said
	}
	return entries
}

// makeEntry returns a message, if there is anything in it.
func (t *messageBuilder) makeEntry(m scrollback.Message, s messageDraft) []transcript.Entry {
	if len(s.parts) == 0 {
		if t.m.Role == "user" && len(t.m.parts) > 0 {
			return nil // its parts were counted
		}
		t.left["empty message"]++
		return nil
	}
	m.ID = scrollback.MessageID(t.m.ID)
	m.CreatedAt = int64(t.m.Time.Created)
	return []transcript.Entry{{Message: m, Bytes: s.bytes}}
}

// assistantEntries tells what a model call brought, and then what its tools returned.
func (t *messageBuilder) assistantEntries() []transcript.Entry {
	var s messageDraft
	var beside *own
	var results []*resultsDraft
	for _, p := range t.m.parts {
		if p.Metadata.Own != nil {
			beside = p.Metadata.Own
		}
		switch {
		case p.Type == "text" && p.Synthetic:
			t.left["synthetic text"]++
		case p.Type == "text" && p.Text != "":
			s.parts = append(s.parts, scrollback.Text{Text: p.Text})
		case p.Type == "reasoning" && p.Text != "":
			s.parts = append(s.parts, scrollback.Reasoning{Text: p.Text})
		case p.Type == "file":
			if !s.attachFile(p) {
				t.left["file reference"]++
			}
		case p.Type == "tool":
			name := cmp.Or(p.Tool, "unknown")
			s.parts = append(s.parts, scrollback.ToolCall{ID: p.callKey(), Name: name,
				Arguments: compactArguments(p.State.Input)})
			if r, done := t.makeResult(p, name); done {
				results = t.addResult(results, p, r)
			}
		case p.Type == "reasoning" && p.Metadata.Own != nil:
		default:
			t.left[cmp.Or(p.Type, "part")]++
		}
	}
	m := scrollback.Message{Role: scrollback.RoleAssistant, Parts: s.parts, Model: t.m.ModelID, Usage: t.callUsage()}
	m.Status, m.Meta = t.endStatus()
	if len(s.parts) == 0 && t.m.Error != nil && beside == nil {
		t.left["error without an answer"]++
		return nil
	}
	var out []transcript.Entry
	if len(s.parts) > 0 || beside == nil {
		out = t.makeEntry(m, s)
	} else {
		out = []transcript.Entry{{Message: m}}
		out[0].Message.ID = scrollback.MessageID(t.m.ID)
		out[0].Message.CreatedAt = int64(t.m.Time.Created)
	}
	out = t.restore(beside, out)
	for i, r := range results {
		e := transcript.Entry{Bytes: r.bytes, Message: scrollback.Message{ID: scrollback.MessageID(t.m.ID + "#results"),
			Role: scrollback.RoleTool, Parts: r.parts, CreatedAt: int64(r.ended)}}
		if i > 0 {
			e.Message.ID = scrollback.MessageID(fmt.Sprintf("%s#results%d", t.m.ID, i+1))
		}
		if r.beside != nil {
			r.beside.Restore(&e)
			if r.beside.Said > 0 {
				e.Message.CreatedAt = r.beside.Said
			}
		}
		out = append(out, e)
	}
	return out
}

// resultsDraft is a message of results that is being filled.
type resultsDraft struct {
	messageDraft
	message int
	ended   millis
	beside  *own
}

// addResult adds a result to the message that it stood in, or to the only one.
func (t *messageBuilder) addResult(to []*resultsDraft, p part, r scrollback.ToolResult) []*resultsDraft {
	o := p.State.Metadata.Own
	message := 0
	if o != nil {
		message = o.Message
	}
	i := slices.IndexFunc(to, func(d *resultsDraft) bool { return d.message == message })
	if i < 0 {
		i = len(to)
		to = append(to, &resultsDraft{message: message, ended: t.m.Time.Created})
	}
	d := to[i]
	d.parts = append(d.parts, r)
	d.ended = max(d.ended, p.State.Time.End)
	if o != nil && (o.Role != "" || o.Said > 0) {
		d.beside = o
	}
	for _, a := range p.State.Attachments {
		if !d.attachFile(a) {
			t.left["file reference"]++
		}
	}
	slices.SortStableFunc(to, func(a, b *resultsDraft) int { return cmp.Compare(a.message, b.message) })
	return to
}

// makeResult returns what a tool returned. A command that failed is an error, whatever the tool calls it.
func (t *messageBuilder) makeResult(p part, name string) (scrollback.ToolResult, bool) {
	r := scrollback.ToolResult{CallID: p.callKey(), Name: name, Text: p.State.Output}
	switch p.State.Status {
	case "completed":
		r.IsError = p.State.Metadata.Exit != 0
		if noted := p.State.Metadata.OutputPath; noted != "" {
			if whole, ok := t.side(noted); ok {
				r.Text = whole
			}
		}
	case "error":
		r.IsError = true
		r.Text = cmp.Or(p.State.Error, p.State.Output)
	default:
		return r, false
	}
	return r, true
}

// compactArguments is JSON as it is stored everywhere, without spaces.
func compactArguments(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return json.RawMessage("{}")
	}
	return b.Bytes()
}

// endStatus returns how an answer ended.
func (t *messageBuilder) endStatus() (status scrollback.Status, meta json.RawMessage) {
	m := t.m
	kept := struct {
		Compaction  bool   `json:"compaction,omitempty"`
		Interrupted bool   `json:"interrupted,omitempty"`
		Error       string `json:"error,omitempty"`
		Finish      string `json:"finish,omitempty"`
		Cwd         string `json:"cwd,omitempty"`
	}{Compaction: m.isSummary()}
	status = scrollback.StatusComplete
	switch {
	case m.Error != nil && m.Error.Name == "MessageAbortedError", !m.isFinished():
		status = scrollback.StatusInterrupted
		kept.Interrupted = true
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
	if meta = transcript.MarshalObject(map[string]any{t.key: kept}); string(meta) == `{"`+t.key+`":{}}` {
		return status, nil
	}
	return status, meta
}

// callUsage returns that of a model call: what the tool calls input is without what was cached, and
// its output is without the reasoning.
func (t *messageBuilder) callUsage() *scrollback.Usage {
	n := func(f float64) int64 {
		if !(f > 0) {
			return 0
		}
		return int64(math.Min(f, scrollback.MaxCallTokens))
	}
	k := t.m.Tokens
	u := scrollback.Usage{
		InputTokens: n(k.Input) + n(k.Cache.Read) + n(k.Cache.Write), CachedTokens: n(k.Cache.Read),
		CacheWriteTokens: n(k.Cache.Write),
		OutputTokens:     n(k.Output) + n(k.Reasoning), ReasoningTokens: n(k.Reasoning), Cost: t.m.Cost,
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
