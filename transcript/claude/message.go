package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// block is a piece of a message's content.
type block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Title    string          `json:"title"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	CallID   string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	IsError  bool            `json:"is_error"`
}

// reader makes the messages of one conversation.
type reader struct {
	talk   *exported.Talk
	assets *exported.Assets
	model  string // of the newest answer
	raw    json.RawMessage
	again  [][]json.RawMessage // the blocks of each message, once they are asked for
}

// pieces are the messages that one of the file becomes.
type pieces struct {
	*reader
	m     *message
	at    int // of the message in the list
	out   []transcript.Entry
	calls []call // of the message, in order
}

type call struct {
	id, name string
	answered bool
}

// message makes the messages of one of the file.
func (r *reader) message(at int, m *message) []transcript.Entry {
	p := &pieces{reader: r, m: m, at: at}
	for i := range m.Content {
		p.block(i, &m.Content[i])
	}
	if len(p.out) == 0 {
		p.text(m.Text)
	}
	for _, a := range m.Attachments {
		p.attachment(a)
	}
	seen := map[file]bool{}
	for _, f := range append(m.Files, m.FilesV2...) {
		if !seen[f] {
			p.file(f)
		}
		seen[f] = true
	}
	if len(p.out) == 0 {
		r.talk.Count("empty")
		return nil
	}
	p.finish()
	return p.out
}

// on is the message that the next part belongs to: the last one if it is of that role.
func (p *pieces) on(role scrollback.Role) *transcript.Entry {
	if n := len(p.out); n > 0 && p.out[n-1].Message.Role == role {
		return &p.out[n-1]
	}
	id := p.m.UUID
	if n := len(p.out); n > 0 {
		id = fmt.Sprintf("%s#%d", id, n+1)
	}
	p.out = append(p.out, transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(id), Role: role,
		CreatedAt: exported.Moment(p.m.CreatedAt)}})
	return &p.out[len(p.out)-1]
}

// speaker is who says what is no result.
func (p *pieces) speaker() scrollback.Role {
	if p.m.Sender == "human" || p.m.Sender == "user" {
		return scrollback.RoleUser
	}
	return scrollback.RoleAssistant
}

func (p *pieces) add(part scrollback.Part) {
	e := p.on(p.speaker())
	e.Message.Parts = append(e.Message.Parts, part)
}

// unsupported is what older exports have instead of blocks that they do not show.
const unsupported = "This block is not supported on your current device yet."

// text adds a text, without what stands in it for blocks that the export does not show.
func (p *pieces) text(s string) {
	if n := strings.Count(s, unsupported); n > 0 {
		for range n {
			p.talk.Count("unsupported block")
		}
		s = strings.ReplaceAll(s, "```\n"+unsupported+"\n```", "")
		s = strings.TrimSpace(strings.ReplaceAll(s, unsupported, ""))
	}
	if strings.TrimSpace(s) != "" {
		p.add(scrollback.Text{Text: s})
	}
}

// block adds one block.
func (p *pieces) block(i int, b *block) {
	switch b.Type {
	case "text":
		p.text(b.Text)
	case "thinking":
		if s := cmp.Or(b.Thinking, b.Text); strings.TrimSpace(s) != "" {
			p.add(scrollback.Reasoning{Text: s})
		}
	case "tool_use":
		c := call{id: b.ID, name: cmp.Or(b.Name, "tool")}
		if c.id == "" {
			c.id = fmt.Sprintf("%s#call%d", p.m.UUID, len(p.calls)+1)
		}
		p.calls = append(p.calls, c)
		p.add(scrollback.ToolCall{ID: c.id, Name: c.name, Arguments: exported.Arguments(b.Input, "input")})
	case "tool_result":
		p.result(b)
	case "voice_note":
		p.text(strings.TrimSpace(b.Title + "\n" + b.Text))
	case "token_budget", "flag", "redacted_thinking":
		p.talk.Count(b.Type)
	default:
		kind := strings.ToValidUTF8(b.Type[:min(len(b.Type), 40)], "")
		p.talk.Count("block of type " + cmp.Or(kind, "no type"))
		if b.Text != "" {
			p.text(b.Text)
		} else if raw := exported.Raw(p.blockAt(i)); raw != nil && b.Type != "" {
			p.text("[" + kind + "]\n" + string(raw))
		}
	}
}

// blockAt is a block as it stands in the file.
func (p *pieces) blockAt(i int) json.RawMessage {
	if p.again == nil { // it is read once more
		var c struct {
			Messages []struct {
				Content []json.RawMessage `json:"content"`
			} `json:"chat_messages"`
		}
		_ = exported.Decode(p.raw, &c) // it was read before
		p.again = make([][]json.RawMessage, 0, len(c.Messages))
		for _, m := range c.Messages {
			p.again = append(p.again, m.Content)
		}
	}
	if p.at < len(p.again) && i < len(p.again[p.at]) {
		return p.again[p.at][i]
	}
	return nil
}

// result adds what a tool returned: to the call that it names, else to the first one of
// that tool, else to the first without a result. One without a call is what the assistant says.
func (p *pieces) result(b *block) {
	text := resultText(b.Content)
	found := p.find(func(c call) bool { return b.CallID != "" && c.id == b.CallID })
	if found == nil && b.CallID == "" {
		if found = p.find(func(c call) bool { return !c.answered && c.name == b.Name }); found == nil {
			found = p.find(func(c call) bool { return !c.answered })
		}
	}
	if found == nil || found.answered {
		p.text(text)
		return
	}
	found.answered = true
	e := p.on(scrollback.RoleTool)
	e.Message.Parts = append(e.Message.Parts, scrollback.ToolResult{CallID: found.id, Name: found.name, Text: text, IsError: b.IsError})
}

func (p *pieces) find(is func(call) bool) *call {
	for i := range p.calls {
		if is(p.calls[i]) {
			return &p.calls[i]
		}
	}
	return nil
}

// resultText is what a result says: a text, or a list of pieces that have one.
func resultText(raw json.RawMessage) string {
	var text string
	if exported.Field(raw, &text) {
		return text
	}
	var list []json.RawMessage
	if !exported.Field(raw, &list) {
		if s := string(exported.Raw(raw)); s != "null" {
			return s
		}
		return ""
	}
	var out []string
	for _, raw := range list {
		var b struct {
			Type  string `json:"type"`
			Text  string `json:"text"`
			Title string `json:"title"`
			URL   string `json:"url"`
		}
		switch _ = exported.Decode(raw, &b); {
		case b.Text != "":
			out = append(out, strings.TrimSpace(strings.TrimSpace(b.Title+"\n"+b.URL)+"\n\n"+b.Text))
		case b.Type == "image":
			out = append(out, "[image: "+exported.NotThere+"]")
		default:
			out = append(out, string(exported.Raw(raw)))
		}
	}
	return strings.Join(out, "\n")
}

// attachment adds the text of a file that was sent along.
func (p *pieces) attachment(a attachment) {
	switch {
	case strings.TrimSpace(a.Content) == "":
		e := p.on(p.speaker())
		exported.Mention(e, "file", a.Name, exported.NotThere)
	case a.Name == "":
		p.add(scrollback.Text{Text: a.Content})
	default:
		p.add(scrollback.Text{Text: "[file " + a.Name + "]\n" + a.Content})
	}
}

// file adds a file that was sent along, if the export has it.
func (p *pieces) file(f file) {
	if f.Name == "" && f.UUID == "" {
		return
	}
	e, kind := p.on(p.speaker()), "file"
	if f.Kind == "image" {
		kind = "image"
	}
	base, b, there := p.assets.Find(f.UUID)
	switch {
	case !there:
		exported.Mention(e, kind, cmp.Or(f.Name, f.UUID), exported.NotThere)
	case b == nil:
		exported.Mention(e, kind, cmp.Or(f.Name, base), exported.TooLarge)
	default:
		exported.Attach(e, cmp.Or(f.Name, base), b)
	}
}

// finish adds what holds of all of a message.
func (p *pieces) finish() {
	if p.speaker() != scrollback.RoleAssistant {
		return
	}
	if p.m.Model != "" {
		p.model = p.m.Model
	}
	for i := range p.out {
		if m := &p.out[i].Message; m.Role == scrollback.RoleAssistant {
			m.Model = p.m.Model
		}
	}
	last := &p.out[len(p.out)-1].Message
	if p.m.StopReason == "user_canceled" && last.Role == scrollback.RoleAssistant {
		last.Status = scrollback.StatusInterrupted
	}
	reason := p.m.StopReason
	if reason == "stop_sequence" || reason == "end_turn" {
		reason = ""
	}
	last.Meta = exported.Meta(metaKey, struct {
		Stop      string `json:"stop_reason,omitempty"`
		Truncated bool   `json:"truncated,omitempty"`
	}{reason, p.m.Truncated})
}
