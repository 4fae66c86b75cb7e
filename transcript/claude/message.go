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

// talkReader makes the messages of one conversation.
type talkReader struct {
	talk   *exported.Talk
	assets *exported.Assets
	model  string // of the newest answer
	raw    json.RawMessage
	again  [][]json.RawMessage // the blocks of each message, once they are asked for
}

// messagePieces are the messages that one of the file becomes.
type messagePieces struct {
	exported.Pieces
	*talkReader
	m  *message
	at int // of the message in the list
}

// makeMessages makes the messages of one of the file.
func (r *talkReader) makeMessages(at int, m *message) []transcript.Entry {
	p := &messagePieces{talkReader: r, m: m, at: at}
	p.Pieces = exported.Pieces{ID: m.UUID, Role: scrollback.RoleAssistant, At: exported.ParseMoment(m.CreatedAt)}
	if m.Sender == "human" || m.Sender == "user" {
		p.Role = scrollback.RoleUser
	}
	for i := range m.Content {
		p.addBlock(i, &m.Content[i])
	}
	if len(p.Entries) == 0 {
		p.addText(m.Text)
	}
	for _, a := range m.Attachments {
		p.addAttachment(a)
	}
	seen := map[file]bool{}
	for _, f := range append(m.Files, m.FilesV2...) {
		if !seen[f] {
			p.addFile(f)
		}
		seen[f] = true
	}
	if len(p.Entries) == 0 {
		r.talk.CountLeft("empty")
	}
	p.finishMessage()
	return p.Entries
}

// unsupported is what older exports have instead of blocks that they do not show.
const unsupported = "This block is not supported on your current device yet."

// addText adds a text, without what stands in it for blocks that the export does not show.
func (p *messagePieces) addText(s string) {
	if n := strings.Count(s, unsupported); n > 0 {
		for range n {
			p.talk.CountLeft("unsupported block")
		}
		s = strings.ReplaceAll(s, "```\n"+unsupported+"\n```", "")
		s = strings.TrimSpace(strings.ReplaceAll(s, unsupported, ""))
	}
	p.AddText(s)
}

// addBlock adds one block.
func (p *messagePieces) addBlock(i int, b *block) {
	switch b.Type {
	case "text":
		p.addText(b.Text)
	case "thinking":
		p.AddReasoning(cmp.Or(b.Thinking, b.Text))
	case "tool_use":
		p.AddCall(b.ID, b.Name, exported.CallArguments(b.Input, "input"))
	case "tool_result":
		p.AddResult(b.CallID, b.Name, resultText(b.Content), b.IsError)
	case "voice_note":
		p.addText(strings.TrimSpace(b.Title + "\n" + b.Text))
	case "token_budget", "flag", "redacted_thinking":
		p.talk.CountLeft(b.Type)
	default:
		kind := strings.ToValidUTF8(b.Type[:min(len(b.Type), 40)], "")
		p.talk.CountLeft("block of type " + cmp.Or(kind, "no type"))
		if b.Text != "" {
			p.addText(b.Text)
		} else if raw := exported.CompactJSON(p.blockAt(i)); raw != nil && b.Type != "" {
			p.addText("[" + kind + "]\n" + string(raw))
		}
	}
}

// blockAt returns a block as it stands in the file.
func (p *messagePieces) blockAt(i int) json.RawMessage {
	if p.again == nil { // it is read once more
		var c struct {
			Messages []struct {
				Content []json.RawMessage `json:"content"`
			} `json:"chat_messages"`
		}
		_ = exported.DecodeJSON(p.raw, &c) // it was read before
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

// resultText returns what a result says: a text, or a list of pieces that have one.
func resultText(raw json.RawMessage) string {
	var text string
	if exported.DecodeField(raw, &text) {
		return text
	}
	var list []json.RawMessage
	if !exported.DecodeField(raw, &list) {
		if s := string(exported.CompactJSON(raw)); s != "null" {
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
		switch _ = exported.DecodeJSON(raw, &b); {
		case b.Text != "":
			out = append(out, strings.TrimSpace(strings.TrimSpace(b.Title+"\n"+b.URL)+"\n\n"+b.Text))
		case b.Type == "image":
			out = append(out, "[image: "+exported.NotThere+"]")
		default:
			out = append(out, string(exported.CompactJSON(raw)))
		}
	}
	return strings.Join(out, "\n")
}

// addAttachment adds the text of a file that was sent along.
func (p *messagePieces) addAttachment(a attachment) {
	switch {
	case strings.TrimSpace(a.Content) == "":
		exported.MentionMissing(p.OwnEntry(), "file", a.Name, exported.NotThere)
	case a.Name == "":
		p.AddText(a.Content)
	default:
		p.AddText("[file " + a.Name + "]\n" + a.Content)
	}
}

// addFile adds a file that was sent along, if the export has it.
func (p *messagePieces) addFile(f file) {
	kind := "file"
	if f.Kind == "image" {
		kind = "image"
	}
	if f.Name != "" || f.UUID != "" {
		p.EncloseFile(p.assets, kind, f.UUID, cmp.Or(f.Name, f.UUID))
	}
}

// finishMessage adds what holds of all of a message.
func (p *messagePieces) finishMessage() {
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
	p.FinishMessage(p.m.Model, status, exported.KeepMeta(metaKey, struct {
		Stop      string `json:"stop_reason,omitempty"`
		Truncated bool   `json:"truncated,omitempty"`
	}{reason, p.m.Truncated}))
}
