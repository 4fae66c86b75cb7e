package openwebui

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// message is one of a history.
type message struct {
	ID       string            `json:"id"`
	Parent   string            `json:"parentId"`
	Children []string          `json:"childrenIds"`
	Role     string            `json:"role"`
	Content  json.RawMessage   `json:"content"`
	Output   []json.RawMessage `json:"output"`
	Model    string            `json:"model"`
	At       float64           `json:"timestamp"`
	Done     *bool             `json:"done"`
	Error    json.RawMessage   `json:"error"`
	Files    []file            `json:"files"`
	Usage    json.RawMessage   `json:"usage"`
	Info     struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"info"`
}

type file struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
	URL  string `json:"url"`
	File struct {
		ID   string `json:"id"`
		Name string `json:"filename"`
		Data struct {
			Content string `json:"content"`
		} `json:"data"`
	} `json:"file"`
}

// talkReader makes the messages of one conversation.
type talkReader struct {
	talk   *exported.Talk
	assets *exported.Assets
	live   bool
	model  string // of the newest answer
	at     int64  // when that was
	held   map[string]bool
}

// makeNodes makes the nodes of a history, in the order of the page.
func (r *talkReader) makeNodes(messages map[string]message) {
	linked := make([]exported.Linked, 0, len(messages))
	r.held = map[string]bool{}
	messages = relinkMessages(messages)
	for id, m := range messages {
		if r.live && m.isUnfinished() && len(m.Children) == 0 {
			r.held[id] = true
			r.talk.Held = true
			continue
		}
		linked = append(linked, exported.Linked{Node: tree.Node{ID: id, Parent: m.Parent}, Children: m.Children,
			At: exported.SecondsToMillis(m.At)})
	}
	r.talk.Nodes = exported.OrderNodes(linked)
	for i, n := range r.talk.Nodes {
		m := messages[n.ID]
		r.talk.Nodes[i].Entries = r.makeMessages(n.ID, &m)
	}
}

// isUnfinished reports whether an answer is still being written, or was when it broke off.
func (m *message) isUnfinished() bool { return m.Role == "assistant" && m.Done != nil && !*m.Done }

// messagePieces are the messages that one of a history becomes.
type messagePieces struct {
	exported.Pieces
	*talkReader
}

// makeMessages makes the messages of one of a history.
func (r *talkReader) makeMessages(id string, m *message) []transcript.Entry {
	p := &messagePieces{talkReader: r, Pieces: exported.Pieces{ID: id, Role: scrollback.RoleAssistant,
		At: exported.SecondsToMillis(m.At)}}
	switch m.Role {
	case "user":
		p.Role = scrollback.RoleUser
	case "system":
		r.talk.CountLeft("system")
		return nil
	}
	for _, raw := range m.Output {
		p.addOutput(raw)
	}
	if len(p.Entries) == 0 {
		p.addContent(m.Content)
	}
	for _, f := range m.Files {
		p.addFile(f)
	}
	failure := errorText(m.Error)
	if len(p.Entries) == 0 {
		p.AddText(failure)
	}
	if len(p.Entries) == 0 {
		r.talk.CountLeft("empty")
		return nil
	}
	if p.Role == scrollback.RoleAssistant {
		r.finishAnswer(p, m, failure)
	}
	return p.Entries
}

// finishAnswer adds what holds of all of an answer.
func (r *talkReader) finishAnswer(p *messagePieces, m *message, failure string) {
	if m.Model != "" && p.At >= r.at {
		r.model = m.Model
		r.at = p.At
	}
	status := scrollback.Status("")
	switch {
	case failure != "":
		status = scrollback.StatusFailed
	case m.isUnfinished():
		status = scrollback.StatusInterrupted
	}
	p.FinishMessage(m.Model, status, exported.KeepMeta(metaKey, struct {
		Error string `json:"error,omitempty"`
	}{failure}))
	u := readUsage(m.Usage)
	if u == nil {
		u = readUsage(m.Info.Usage)
	}
	for i := range p.Entries {
		if last := &p.Entries[len(p.Entries)-1-i].Message; last.Role == scrollback.RoleAssistant {
			last.Usage = u
			return
		}
	}
}

// errorText returns what an answer's error says.
func errorText(raw json.RawMessage) string {
	var text string
	var object struct {
		Content string `json:"content"`
		Message string `json:"message"`
		Detail  string `json:"detail"`
	}
	switch {
	case len(raw) == 0 || string(raw) == "null" || string(raw) == "false":
		return ""
	case exported.DecodeField(raw, &text):
		return text
	case exported.DecodeField(raw, &object) && firstNonEmpty(object.Content, object.Message, object.Detail) != "":
		return firstNonEmpty(object.Content, object.Message, object.Detail)
	}
	return "the answer failed"
}

// readUsage returns what an answer has cost, by the names of OpenAI, newer ones, or Ollama's.
func readUsage(raw json.RawMessage) *scrollback.Usage {
	var u struct {
		Input      float64 `json:"input_tokens"`
		Output     float64 `json:"output_tokens"`
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
		Total      float64 `json:"total_tokens"`
		Evaluated  float64 `json:"prompt_eval_count"`
		Generated  float64 `json:"eval_count"`
		In         struct {
			Cached float64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning float64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if !exported.DecodeField(raw, &u) {
		return nil
	}
	whole := func(n float64) int64 { return int64(min(max(n, 0), scrollback.MaxCallTokens)) }
	out := scrollback.Usage{InputTokens: whole(max(u.Input, u.Prompt, u.Evaluated)),
		OutputTokens: whole(max(u.Output, u.Completion, u.Generated)),
		TotalTokens:  whole(u.Total), CachedTokens: whole(u.In.Cached), ReasoningTokens: whole(u.Out.Reasoning)}
	if out == (scrollback.Usage{}) {
		return nil
	}
	return &out
}

// addContent adds what a message says: a text, or a list of pieces.
func (p *messagePieces) addContent(raw json.RawMessage) {
	var text string
	if exported.DecodeField(raw, &text) {
		if p.Role == scrollback.RoleAssistant {
			p.addDetails(text)
		} else {
			p.AddText(text)
		}
		return
	}
	var list []json.RawMessage
	_ = exported.DecodeList(raw, &list) // nothing, if it is not a list
	for _, raw := range list {
		p.addPiece(raw)
	}
}

// addPiece adds a piece of a message's content.
func (p *messagePieces) addPiece(raw json.RawMessage) {
	var b struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if exported.DecodeJSON(raw, &b) != nil {
		return
	}
	switch {
	case b.Image.URL != "":
		p.addFile(file{Type: "image", URL: b.Image.URL})
	case b.Text != "":
		p.AddText(b.Text)
	default:
		p.talk.CountLeft("part of type " + clipType(b.Type))
	}
}

// clipType returns a type as it may be shown.
func clipType(kind string) string {
	if kind == "" {
		return "no type"
	}
	return strings.ToValidUTF8(kind[:min(len(kind), 40)], "")
}

// addFile adds what was sent along, or came with an answer.
func (p *messagePieces) addFile(f file) {
	name := firstNonEmpty(f.Name, f.File.Name)
	id := firstNonEmpty(f.File.ID, f.ID, addressID(f.URL))
	kind := "file"
	if f.Type == "image" {
		kind = "image"
	}
	b, inside := exported.DecodeDataURL(f.URL)
	switch {
	case f.Type == "collection" || f.Type == "web_search" || f.Type == "note" || f.Type == "chat":
		p.talk.CountLeft(f.Type)
	case inside:
		exported.AttachFile(p.OwnEntry(), name, b)
	case strings.TrimSpace(f.File.Data.Content) != "":
		p.AddText(strings.TrimSpace("[file "+name) + "]\n" + f.File.Data.Content)
	case name == "" && id == "" && f.URL == "":
	default:
		p.EncloseFile(p.assets, kind, id, firstNonEmpty(name, id, f.URL[:min(len(f.URL), 200)]))
	}
}

// addressID returns the id in the address of a file, which is its last piece but for "content".
func addressID(address string) string {
	if strings.HasPrefix(address, "data:") {
		return ""
	}
	address = strings.TrimSuffix(address, "/content")
	return address[strings.LastIndexByte(address, '/')+1:]
}
