// Package librechat reads conversations that LibreChat exported as JSON: their messages in a
// flat list, or as a tree of children.
//
// Invariants: a message hangs below its parent, which is the one that it names or that it is
// a child of; the export does not say which path is the current one, so that it is the one
// with the newest message. An answer with results in it becomes several messages.
//
// It may not know the store or the network.
package librechat

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "librechat"
	metaKey = "librechat"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements transcript.Tool.
func (Tool) Name() string { return Name }

// Homes implements transcript.Tool: an export may lie anywhere.
func (Tool) Homes(transcript.Machine) []string { return nil }

// Sniff implements transcript.Tool: an object with the id of a conversation, before its messages.
func (Tool) Sniff(_ string, head []byte) bool {
	seen := transcript.ItemHeadFields(head)
	return seen["conversationId"] && (seen["messages"] || seen["messagesTree"] || seen["exportAt"])
}

var format = exported.Format{Depth: 2, Lists: []string{"messages", "messagesTree"}, Sniff: Tool{}.Sniff, Talk: readTalk}

// Sessions implements transcript.Tool: each file is one.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements transcript.Tool.
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// conversation is a file, or an item of one.
type conversation struct {
	ID        string          `json:"conversationId"`
	Title     string          `json:"title"`
	Endpoint  string          `json:"endpoint"`
	CreatedAt string          `json:"createdAt"`
	UpdatedAt string          `json:"updatedAt"`
	Messages  json.RawMessage `json:"messages"` // a list, or one with children
	Tree      json.RawMessage `json:"messagesTree"`
	Options   struct {
		Model  string `json:"model"`
		Prompt string `json:"promptPrefix"`
		Agent  string `json:"agent_id"`
	} `json:"options"`
}

type message struct {
	ID         string            `json:"messageId"`
	Parent     *string           `json:"parentMessageId"`
	Children   []message         `json:"children"`
	ByUser     *bool             `json:"isCreatedByUser"`
	Sender     string            `json:"sender"`
	Text       string            `json:"text"`
	Content    []json.RawMessage `json:"content"`
	Model      string            `json:"model"`
	CreatedAt  string            `json:"createdAt"`
	Unfinished bool              `json:"unfinished"`
	Error      bool              `json:"error"`
	Finish     string            `json:"finish_reason"`
	Files      []file            `json:"files"`
	Attached   []file            `json:"attachments"`
}

type file struct {
	ID   string `json:"file_id"`
	Name string `json:"filename"`
	Type string `json:"type"`
	Path string `json:"filepath"`
}

// talkReader makes the messages of one conversation.
type talkReader struct {
	talk   *exported.Talk
	assets *exported.Assets
	model  string // of the newest answer
	first  int64  // when the first message was
	last   int64
}

// readTalk implements exported.Format.
func readTalk(assets *exported.Assets, raw json.RawMessage) (*exported.Talk, error) {
	var c conversation
	if err := exported.DecodeJSON(raw, &c); err != nil {
		return nil, err
	}
	messages := readList(c.Tree)
	if len(messages) == 0 {
		messages = readList(c.Messages)
	}
	if c.ID == "" && len(messages) == 0 {
		return nil, exported.ErrOther
	}
	t := &exported.Talk{ID: c.ID}
	if t.ID == "" {
		t.ID = exported.HashValues(c.Title, messages[0].ID)
	}
	r := &talkReader{talk: t, assets: assets}
	r.addMessages(messages, "", !isLinked(messages))
	t.Leaf = exported.NewestLeaf(t.Nodes)
	t.About = scrollback.Conversation{Title: c.Title, Model: cmp.Or(c.Options.Model, r.model),
		CreatedAt: cmp.Or(exported.ParseMoment(c.CreatedAt), r.first),
		UpdatedAt: cmp.Or(exported.ParseMoment(c.UpdatedAt), r.last)}
	t.About.Meta = exported.KeepMeta(metaKey, struct {
		Endpoint string `json:"endpoint,omitempty"`
		Prompt   string `json:"prompt_prefix,omitempty"`
		Agent    string `json:"agent_id,omitempty"`
	}{c.Endpoint, c.Options.Prompt, c.Options.Agent})
	return t, nil
}

// readList returns a list of messages, or one by itself.
func readList(raw json.RawMessage) (out []message) {
	var one message
	switch {
	case len(raw) == 0:
	case raw[0] == '[':
		_ = exported.DecodeList(raw, &out) // what is of another type is not there
	case exported.DecodeJSON(raw, &one) == nil && (one.ID != "" || len(one.Children) > 0):
		out = []message{one}
	}
	return out
}

// isLinked reports whether messages name their parents, or have children.
func isLinked(messages []message) bool {
	for _, m := range messages {
		if m.Parent != nil || len(m.Children) > 0 {
			return true
		}
	}
	return len(messages) < 2
}

// addMessages makes the nodes of messages and of what is below them. Those of a chain follow each
// other.
func (r *talkReader) addMessages(messages []message, parent string, chain bool) {
	for i := range messages {
		m := &messages[i]
		if m.ID == "" {
			m.ID = exported.HashValues(parent, len(r.talk.Nodes), m.Sender, m.Text, m.CreatedAt)
		}
		n := tree.Node{ID: m.ID, Parent: parent}
		if parent == "" && m.Parent != nil {
			n.Parent = *m.Parent
		}
		n.Entries = r.makeMessages(m)
		r.talk.Nodes = append(r.talk.Nodes, n)
		if chain {
			parent = m.ID
		}
		r.addMessages(m.Children, m.ID, false)
	}
}

// isByUser reports whether a person wrote a message.
func (m *message) isByUser() bool {
	if m.ByUser != nil {
		return *m.ByUser
	}
	return strings.EqualFold(m.Sender, "user")
}
