package chatgpt

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// walker makes the messages of one conversation.
type walker struct {
	talk   *exported.Talk
	assets *exported.Assets
	nodes  map[string]node
	steps  map[string]*walkStep
	model  string // of the newest answer
	at     int64  // when that was

	raw       json.RawMessage            // the conversation
	originals map[string]json.RawMessage // contents by node, once they are asked for
}

// walkStep is a node and what it says to those below it.
type walkStep struct {
	up       *walkStep
	call     string // the tool that its message calls, or empty
	callID   string
	answered string // the call whose result it is, or empty
	user     bool
}

// makeNodes makes the nodes, in the order of the page.
func (w *walker) makeNodes() []tree.Node {
	linked := make([]exported.Linked, 0, len(w.nodes))
	for id, n := range w.nodes {
		l := exported.Linked{Node: tree.Node{ID: id, Parent: n.Parent}, Children: n.Children}
		if m := n.Message; m != nil {
			l.At = exported.SecondsToMillis(m.CreateTime)
			if _, known := w.nodes[n.Parent]; !known && m.Metadata.ParentID != id {
				l.Parent = m.Metadata.ParentID
			}
		}
		linked = append(linked, l)
	}
	nodes := exported.OrderNodes(linked)
	for i, n := range nodes {
		s := &walkStep{up: w.steps[n.Parent]} // a parent comes first, but in a circle
		w.steps[n.ID] = s
		if m := w.nodes[n.ID].Message; m != nil {
			if e, ok := w.makeMessage(s, m, n.ID); ok {
				nodes[i].Entries = []transcript.Entry{e}
			}
		}
	}
	return nodes
}

// makeMessage makes the message of a node; ok is false for what is left out.
func (w *walker) makeMessage(s *walkStep, m *message, id string) (e transcript.Entry, ok bool) {
	kind := m.Content.Type
	switch {
	case m.Author.Role == "system":
		w.talk.CountLeft("system")
		return e, false
	case kind == "user_editable_context" || kind == "model_editable_context":
		w.talk.CountLeft("context")
		return e, false
	case m.Metadata.Hidden || m.Weight != nil && *m.Weight == 0:
		w.talk.CountLeft("hidden")
		return e, false
	case kind == "reasoning_recap":
		w.talk.CountLeft("recap")
		return e, false
	}
	e.Message = scrollback.Message{ID: scrollback.MessageID(firstNonEmpty(m.ID, id)),
		CreatedAt: exported.SecondsToMillis(m.CreateTime)}
	switch m.Author.Role {
	case "user":
		s.user = true
		e.Message.Role = scrollback.RoleUser
		w.addContent(&e, m)
	case "tool":
		w.makeTool(s, &e, m)
	default:
		w.makeAssistant(s, &e, m)
	}
	if len(e.Message.Parts) == 0 {
		w.talk.CountLeft("empty")
		s.user = false
		s.call = ""
		return e, false
	}
	e.Message.Meta = exported.KeepMeta(metaKey, w.keptMeta(id, m))
	return e, true
}

// keptMeta returns what meta keeps of a message.
func (w *walker) keptMeta(id string, m *message) any {
	out := struct {
		Channel string `json:"channel,omitempty"`
		Tool    string `json:"tool,omitempty"`
		Finish  string `json:"finish,omitempty"`
		Content any    `json:"content,omitempty"`
	}{}
	if out.Channel = m.Channel; out.Channel == "final" {
		out.Channel = ""
	}
	if m.Author.Role == "tool" {
		out.Tool = m.Author.Name
	}
	if f := m.Metadata.Finish.Type; f != "stop" {
		out.Finish = f
	}
	if raw := w.unknownContent(id, &m.Content); raw != nil {
		out.Content = raw
	}
	return out
}

// makeAssistant makes what the model wrote: a call if it is for a tool.
func (w *walker) makeAssistant(s *walkStep, e *transcript.Entry, m *message) {
	e.Message.Role = scrollback.RoleAssistant
	e.Message.Model = m.Metadata.Model
	if e.Message.Model != "" && e.Message.CreatedAt >= w.at {
		w.model = e.Message.Model
		w.at = e.Message.CreatedAt
	}
	if m.Status == "in_progress" || m.Metadata.Finish.Type == "interrupted" {
		e.Message.Status = scrollback.StatusInterrupted
	}
	if m.Recipient == "" || m.Recipient == "all" {
		w.addContent(e, m)
		return
	}
	text := m.Content.callText()
	if strings.TrimSpace(text) == "" {
		return
	}
	s.call = m.Recipient
	s.callID = string(e.Message.ID)
	name := "input"
	if m.Content.Type == "code" {
		name = "code"
	}
	e.Message.Parts = scrollback.Parts{scrollback.ToolCall{ID: s.callID, Name: s.call,
		Arguments: exported.CallArguments([]byte(text), name)}}
}

// makeTool makes what a tool wrote: the result of a call, and images beside it.
func (w *walker) makeTool(s *walkStep, e *transcript.Entry, m *message) {
	w.addContent(e, m)
	call := s.openCall(m.Author.Name)
	if len(e.Message.Parts) == 0 && call == nil {
		return
	}
	if call == nil { // nobody called it, or it goes on
		e.Message.Role = scrollback.RoleAssistant
		return
	}
	e.Message.Role = scrollback.RoleTool
	s.answered = call.callID
	result := scrollback.ToolResult{CallID: call.callID, Name: call.call, Text: e.Message.Parts.Text(),
		IsError: m.Content.Type == "system_error" || strings.HasPrefix(m.Metadata.Ran.Status, "failed")}
	parts := scrollback.Parts{result}
	bytes := map[int][]byte{}
	for i, p := range e.Message.Parts {
		if _, said := p.(scrollback.Text); said {
			continue
		}
		if b, has := e.Bytes[i]; has {
			bytes[len(parts)] = b
		}
		parts = append(parts, p)
	}
	if e.Message.Parts = parts; len(bytes) == 0 {
		bytes = nil
	}
	e.Bytes = bytes
}

// maxAbove bounds how far above a result its call is looked for.
const maxAbove = 200

// openCall returns the nearest call above that has no result yet and is of a tool, up to what the
// user said.
func (s *walkStep) openCall(tool string) *walkStep {
	answered := map[string]bool{}
	for at, n := s.up, 0; at != nil && !at.user && n < maxAbove; at, n = at.up, n+1 {
		if at.answered != "" {
			answered[at.answered] = true
		}
		if at.call != "" && !answered[at.callID] && toolFamily(at.call) == toolFamily(tool) {
			return at
		}
	}
	return nil
}

// toolFamily returns a tool without the name of its function: web for web.run.
func toolFamily(tool string) string {
	name, _, _ := strings.Cut(tool, ".")
	return name
}
