package claude

import (
	"cmp"
	"encoding/json"
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
	exported.Pieces
	*reader
	m  *message
	at int // of the message in the list
}

// message makes the messages of one of the file.
func (r *reader) message(at int, m *message) []transcript.Entry {
	p := &pieces{reader: r, m: m, at: at}
	p.Pieces = exported.Pieces{ID: m.UUID, Role: scrollback.RoleAssistant, At: exported.Moment(m.CreatedAt)}
	if m.Sender == "human" || m.Sender == "user" {
		p.Role = scrollback.RoleUser
	}
	for i := range m.Content {
		p.block(i, &m.Content[i])
	}
	if len(p.Entries) == 0 {
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
	if len(p.Entries) == 0 {
		r.talk.Count("empty")
	}
	p.finish()
	return p.Entries
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
	p.Say(s)
}

// block adds one block.
func (p *pieces) block(i int, b *block) {
	switch b.Type {
	case "text":
		p.text(b.Text)
	case "thinking":
		p.Think(cmp.Or(b.Thinking, b.Text))
	case "tool_use":
		p.Call(b.ID, b.Name, exported.Arguments(b.Input, "input"))
	case "tool_result":
		p.Result(b.CallID, b.Name, resultText(b.Content), b.IsError)
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
		exported.Mention(p.Own(), "file", a.Name, exported.NotThere)
	case a.Name == "":
		p.Say(a.Content)
	default:
		p.Say("[file " + a.Name + "]\n" + a.Content)
	}
}

// file adds a file that was sent along, if the export has it.
func (p *pieces) file(f file) {
	kind := "file"
	if f.Kind == "image" {
		kind = "image"
	}
	if f.Name != "" || f.UUID != "" {
		p.Enclose(p.assets, kind, f.UUID, cmp.Or(f.Name, f.UUID))
	}
}

// finish adds what holds of all of a message.
func (p *pieces) finish() {
	if p.Role != scrollback.RoleAssistant {
		return
	}
	p.model = cmp.Or(p.m.Model, p.model)
	status := scrollback.Status("")
	reason := p.m.StopReason
	switch reason {
	case "user_canceled":
		status = scrollback.StatusInterrupted
	case "stop_sequence", "end_turn":
		reason = ""
	}
	p.Finish(p.m.Model, status, exported.Meta(metaKey, struct {
		Stop      string `json:"stop_reason,omitempty"`
		Truncated bool   `json:"truncated,omitempty"`
	}{reason, p.m.Truncated}))
}
