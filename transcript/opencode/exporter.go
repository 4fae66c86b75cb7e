package opencode

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// written is the version of the tool whose exports ours are written as.
const written = "1.18.33"

// SessionID returns what the tool calls a conversation that is written for it.
func SessionID(id scrollback.ConversationID) string {
	return "ses_" + strings.ReplaceAll(string(id), "-", "")
}

// ourSession is the id of a session that was written here.
var ourSession = lazyregexp.New(`^ses_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$`)

// sourceOf returns what a session is known by: of one that was written here, its conversation.
func sourceOf(session string) string {
	if m := ourSession().FindStringSubmatch(session); m != nil {
		return strings.Join(m[1:], "-")
	}
	return session
}

// Write implements [transcript.Exporter]: what "opencode import" takes. A call and its result are one part there; what
// a system message says stands before the next question, where the tool shows it to nobody but the model. Reasoning is
// not sent to another model, so it stands only beside the answer.
func (Tool) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	out := &exportWriter{w: bufio.NewWriterSize(w, 64<<10), c: c, session: SessionID(c.ID)}
	out.writeHead()
	for e, err := range entries {
		if err != nil {
			return err
		}
		if e.Conversation == nil && e.Bad == nil && e.End == nil && e.Rewind == nil {
			out.addEntry(e)
		}
	}
	out.writeAnswer()
	out.writeText("\n]}\n")
	if out.err != nil {
		return out.err
	}
	return out.w.Flush()
}

// exportWriter is an export while it is written.
type exportWriter struct {
	w       *bufio.Writer
	err     error
	c       scrollback.Conversation
	session string
	folder  string
	model   exportedModel
	n       int    // messages so far
	any     bool   // a message was written
	asked   string // the id of the last question
	system  []transcript.Entry
	answer  *exportedMessage // that waits for its results
	results int              // messages of results that answer has
	latest  int64            // when something was said so far, in Unix ms
}

type exportedModel struct {
	Provider string `json:"providerID"`
	ID       string `json:"modelID"`
}

type exportedMessage struct {
	Info  map[string]any   `json:"info"`
	Parts []map[string]any `json:"parts"`

	id    string
	calls map[string]map[string]any // states of calls without a result, by their ids
}

func (x *exportWriter) writeText(s string) {
	if x.err == nil {
		_, x.err = x.w.WriteString(s)
	}
}

func (x *exportWriter) writeJSON(v any) {
	b, err := json.Marshal(v)
	x.err = cmp.Or(x.err, err)
	x.writeText(string(b))
}

// splitModel returns the provider and the id in a model's name.
func splitModel(name string) exportedModel {
	provider, id, found := strings.Cut(name, "/")
	if !found {
		return exportedModel{"unknown", cmp.Or(name, "unknown")}
	}
	return exportedModel{provider, id}
}

func (x *exportWriter) writeHead() {
	x.folder = "/"
	if len(x.c.Roots) > 0 {
		x.folder = x.c.Roots[0]
	}
	x.model = splitModel(x.c.Model)
	x.writeText(`{"info":`)
	x.writeJSON(orderedInfo{ID: x.session, Slug: "scrollback", Project: "global", Folder: x.folder,
		Title: cmp.Or(x.c.Title, "scrollback"), Version: written,
		Time: map[string]int64{"created": x.c.CreatedAt, "updated": x.c.UpdatedAt}})
	x.writeText(`,"messages":[`)
}

// orderedInfo describes a session. Its id comes first: by it an export is recognised.
type orderedInfo struct {
	ID      string           `json:"id"`
	Slug    string           `json:"slug"`
	Project string           `json:"projectID"`
	Folder  string           `json:"directory"`
	Title   string           `json:"title"`
	Version string           `json:"version"`
	Time    map[string]int64 `json:"time"`
}

// newID returns an id as the tool makes them: it is ordered by the time in it, of which 48 bits stay.
func (x *exportWriter) newID(kind string, n int) string {
	at := (uint64(x.c.UpdatedAt)-1<<20)<<12 + uint64(n)
	sum := sha256.Sum256(fmt.Append(nil, x.session, kind, n))
	return fmt.Sprintf("%s_%012x%s", kind, at&(1<<48-1), hex.EncodeToString(sum[:7]))
}

// nextIDs are how many ids a message may have before the next one's.
const nextIDs = 1 << 10

func (x *exportWriter) newMessage(role string, at int64) *exportedMessage {
	x.n++
	m := &exportedMessage{id: x.newID("msg", x.n*nextIDs), calls: map[string]map[string]any{}}
	x.latest = max(x.latest, at) // the tool sorts by it
	m.Info = map[string]any{"id": m.id, "sessionID": x.session, "role": role, "agent": "build",
		"time": map[string]int64{"created": x.latest}}
	return m
}

func (x *exportWriter) addPart(m *exportedMessage, part map[string]any) {
	part["id"] = x.newID("prt", x.n*nextIDs+min(len(m.Parts), nextIDs-1))
	part["sessionID"] = x.session
	part["messageID"] = m.id
	m.Parts = append(m.Parts, part)
}

func (x *exportWriter) addEntry(e transcript.Entry) {
	m := &e.Message
	switch m.Role {
	case scrollback.RoleTool:
		x.addResults(e)
	case scrollback.RoleAssistant:
		x.writeAnswer()
		x.beginAnswer(e)
	case scrollback.RoleSystem:
		x.system = append(x.system, e)
	default:
		x.writeAnswer()
		x.writeQuestion(e)
	}
}

func (x *exportWriter) writeQuestion(e transcript.Entry) {
	m := x.newMessage("user", e.Message.CreatedAt)
	m.Info["model"] = x.model
	for _, s := range x.system {
		x.addPart(m, map[string]any{"type": "text", "text": s.Message.Parts.Text(), "synthetic": true,
			"metadata": ownFields(&own{At: s.Message.CreatedAt, Own: sessionlog.Own{Role: s.Message.Role,
				Name: s.Message.Name}})})
	}
	x.system = nil
	said := len(m.Parts)
	for i, p := range e.Message.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				x.addPart(m, map[string]any{"type": "text", "text": p.Text})
			}
		case scrollback.Image:
			x.addFile(m, p.MediaType, p.Name, p.URL, e.Bytes[i])
		case scrollback.File:
			x.addFile(m, p.MediaType, p.Name, "", e.Bytes[i])
		case scrollback.ToolResult: // that answers nothing here
			x.addPart(m, map[string]any{"type": "text", "text": p.Text})
		}
	}
	if o := x.besideOf(e, m.Parts[said:], "user", 0); o != nil {
		x.addPart(m, map[string]any{"type": "text", "text": "", "synthetic": true, "ignored": true,
			"metadata": ownFields(o)})
	}
	if len(m.Parts) == 0 {
		x.n--
		return
	}
	x.asked = m.id
	x.writeMessage(m)
}

// addFile adds a file with its bytes, or an image at an address.
func (x *exportWriter) addFile(m *exportedMessage, media, name, url string, bytes []byte) {
	media = cmp.Or(media, "application/octet-stream")
	if bytes != nil {
		url = "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(bytes)
	}
	if url != "" {
		x.addPart(m, map[string]any{"type": "file", "mime": media, "filename": name, "url": url})
	}
}

func (x *exportWriter) beginAnswer(e transcript.Entry) {
	at := e.Message.CreatedAt
	m := x.newMessage("assistant", at)
	by := x.model
	if e.Message.Model != "" {
		by = splitModel(e.Message.Model)
	}
	var used scrollback.Usage
	if u := e.Message.Usage; u != nil {
		used = *u
	}
	m.Info["parentID"] = cmp.Or(x.asked, m.id)
	m.Info["mode"] = "build"
	m.Info["path"] = map[string]string{"cwd": x.folder, "root": x.folder}
	m.Info["cost"] = used.Cost
	m.Info["tokens"] = map[string]any{"input": max(used.InputTokens-used.CachedTokens-used.CacheWriteTokens, 0),
		"output": max(used.OutputTokens-used.ReasoningTokens, 0), "reasoning": used.ReasoningTokens,
		"cache": map[string]int64{"read": used.CachedTokens, "write": used.CacheWriteTokens}}
	m.Info["modelID"] = by.ID
	m.Info["providerID"] = by.Provider
	m.Info["time"] = map[string]int64{"created": x.latest, "completed": x.latest}
	m.Info["finish"] = "stop"
	switch e.Message.Status {
	case scrollback.StatusInterrupted:
		m.Info["error"] = map[string]any{"name": "MessageAbortedError", "data": map[string]string{"message": "Aborted"}}
	case scrollback.StatusFailed: // it is shown, and not sent
		m.Info["error"] = map[string]any{"name": "UnknownError", "data": map[string]string{"message": "Failed"}}
	case scrollback.StatusComplete:
	}
	for _, p := range e.Message.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Text != "" {
				x.addPart(m, map[string]any{"type": "text", "text": p.Text, "time": map[string]int64{"start": at, "end": at}})
			}
		case scrollback.ToolCall:
			m.Info["finish"] = "tool-calls"
			input := map[string]any{}
			if json.Unmarshal(p.Arguments, &input) != nil {
				input = map[string]any{"arguments": string(p.Arguments)}
			}
			state := map[string]any{"status": "error", "input": input, "error": "Tool execution aborted",
				"time": map[string]int64{"start": at, "end": at}}
			m.calls[p.ID] = state
			x.addPart(m, map[string]any{"type": "tool", "tool": p.Name, "callID": p.ID, "state": state})
		}
	}
	if o := x.besideOf(e, m.Parts, "assistant", 0); o != nil {
		x.noteBeside(m, o, at)
	}
	x.answer = m
	x.results = 0
}

// besideOf returns what has to stand beside the parts of a message; nil if they are read as it is. Of a message of
// results it is the second, behind the answer with their calls.
func (x *exportWriter) besideOf(e transcript.Entry, parts []map[string]any, role string, nth int) *own {
	raw, err := json.Marshal(map[string]any{"role": role, "modelID": splitModel(e.Message.Model).ID, "finish": "stop"})
	x.err = cmp.Or(x.err, err)
	m := &message{}
	x.err = cmp.Or(x.err, json.Unmarshal(raw, m))
	if raw, err = json.Marshal(parts); err == nil {
		err = json.Unmarshal(raw, &m.parts)
	}
	x.err = cmp.Or(x.err, err)
	if e.Message.Status == scrollback.StatusInterrupted || e.Message.Status == scrollback.StatusFailed {
		m.Error = &messageError{Name: "MessageAbortedError"}
		if e.Message.Status == scrollback.StatusFailed {
			m.Error.Name = "UnknownError"
		}
	}
	b := &messageBuilder{m: m, left: map[string]int{}, side: func(string) (string, bool) { return "", false }}
	var got transcript.Entry
	if all := b.makeEntries(); len(all) > nth {
		got = all[nth]
	}
	if got.Message.Status == scrollback.StatusComplete {
		got.Message.Status = ""
	}
	o, err := sessionlog.NewOwn(e, got)
	x.err = cmp.Or(x.err, err)
	out := own{}
	if o != nil {
		out.Own = *o
	}
	if at := e.Message.CreatedAt; at < x.latest {
		out.Said = at
	}
	if o == nil && out.Said == 0 {
		return nil
	}
	return &out
}

// ownFields is what stands beside a part, where the tool keeps what it knows nothing of.
func ownFields(o *own) map[string]any { return map[string]any{"scrollback": o} }

// noteBeside puts what stands beside an answer where it is sent to nobody.
func (x *exportWriter) noteBeside(m *exportedMessage, o *own, at int64) {
	for _, p := range m.Parts {
		if p["type"] == "tool" || p["type"] == "text" {
			p["metadata"] = ownFields(o)
			return
		}
	}
	x.addPart(m, map[string]any{"type": "reasoning", "text": "", "metadata": ownFields(o),
		"time": map[string]int64{"start": at, "end": at}})
}

// addResults fills in what tools returned.
func (x *exportWriter) addResults(e transcript.Entry) {
	var done []map[string]any // parts with the calls that are answered
	var states []map[string]any
	for _, r := range e.Message.Parts.Results() {
		var state map[string]any
		if x.answer != nil {
			state = x.answer.calls[r.CallID]
		}
		if state == nil {
			continue
		}
		delete(x.answer.calls, r.CallID)
		states = append(states, state)
		for _, p := range x.answer.Parts {
			if p["callID"] == r.CallID {
				done = append(done, map[string]any{"type": "tool", "tool": p["tool"], "callID": r.CallID, "state": state})
			}
		}
		state["metadata"] = map[string]any{}
		delete(state, "error")
		state["time"] = map[string]int64{"start": e.Message.CreatedAt, "end": e.Message.CreatedAt}
		if r.IsError {
			state["error"] = r.Text
			continue
		}
		state["status"] = "completed"
		state["output"] = r.Text
		state["title"] = r.Name
	}
	if len(states) == 0 { // it answers nothing
		x.writeAnswer()
		x.writeQuestion(e)
		return
	}
	o := x.besideOf(e, done, "assistant", 1)
	for i, state := range states {
		mark := &own{Message: x.results}
		if o != nil && i == 0 {
			mark.Own = o.Own
			mark.Said = o.Said
		}
		if x.results > 0 || mark.Role != "" || mark.Said > 0 {
			state["metadata"] = ownFields(mark)
		}
	}
	x.results++
}

// writeAnswer writes the answer that waited for its results.
func (x *exportWriter) writeAnswer() {
	m := x.answer
	x.answer = nil
	if m == nil || len(m.Parts) == 0 {
		return
	}
	x.writeMessage(m)
}

func (x *exportWriter) writeMessage(m *exportedMessage) {
	if x.any {
		x.writeText(",")
	}
	x.any = true
	x.writeText("\n")
	x.writeJSON(m)
}
