// Package claude reads the export of claude.ai: a zip, the folder that was unpacked from it,
// its conversations.json (or .jsonl), or one conversation as tools in a browser save it.
//
// Words it adds: block (a piece of a message's content), piece (a run of blocks that makes
// one message of ours).
//
// Invariants: messages stand in one flat list; each hangs below its parent, below the one
// before it if the file knows no parents, and at the root if its parent is not there. The
// current path ends with the leaf that the file names, else with the newest. An answer with
// results in it becomes several messages: the first has its id, the others that with a number.
// The users.json of an export is never opened.
//
// It may not know the store or the network.
package claude

import (
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
	Name    = "claude"
	metaKey = "claude"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements transcript.Tool.
func (Tool) Name() string { return Name }

// Homes implements transcript.Tool: an export may lie anywhere.
func (Tool) Homes(transcript.Machine) []string { return nil }

// Sniff implements transcript.Tool: a conversation has chat_messages.
func (Tool) Sniff(name string, head []byte) bool {
	if isPersonal(name) {
		return false
	}
	seen := transcript.ItemHeadFields(head)
	return seen["chat_messages"] || strings.HasPrefix(name, "conversations") && seen["uuid"] && seen["name"] &&
		seen["created_at"]
}

// isPersonal reports whether a file says who somebody is, and has no conversations.
func isPersonal(base string) bool { return base == "users.json" }

func isConversations(base string) bool {
	return strings.HasPrefix(base, "conversations") &&
		(strings.HasSuffix(base, ".json") || strings.HasSuffix(base, ".jsonl"))
}

var format = exported.Format{Depth: 2, Sniff: Tool{}.Sniff, Named: isConversations, Never: isPersonal, Talk: readTalk}

// Sessions implements transcript.Tool: each file is one.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements transcript.Tool.
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// conversation is an item of a file.
type conversation struct {
	UUID      string    `json:"uuid"`
	Name      string    `json:"name"`
	Model     string    `json:"model"`
	CreatedAt string    `json:"created_at"`
	UpdatedAt string    `json:"updated_at"`
	Leaf      string    `json:"current_leaf_message_uuid"`
	Messages  []message `json:"chat_messages"`
	Project   struct {
		Name string `json:"name"`
	} `json:"project"`
	Summary string `json:"summary"`
	Starred bool   `json:"is_starred"`
}

type message struct {
	UUID        string       `json:"uuid"`
	Sender      string       `json:"sender"`
	Text        string       `json:"text"`
	Content     []block      `json:"content"`
	CreatedAt   string       `json:"created_at"`
	Parent      *string      `json:"parent_message_uuid"`
	Model       string       `json:"model"`
	StopReason  string       `json:"stop_reason"`
	Truncated   bool         `json:"truncated"`
	Attachments []attachment `json:"attachments"`
	Files       []file       `json:"files"`
	FilesV2     []file       `json:"files_v2"`
}

type attachment struct {
	Name    string `json:"file_name"`
	Content string `json:"extracted_content"`
}

type file struct {
	Name string `json:"file_name"`
	UUID string `json:"file_uuid"`
	Kind string `json:"file_kind"`
}

// readTalk implements exported.Format.
func readTalk(assets *exported.Assets, raw json.RawMessage) (*exported.Talk, error) {
	var c conversation
	if err := exported.DecodeJSON(raw, &c); err != nil {
		return nil, err
	}
	if c.UUID == "" && len(c.Messages) == 0 {
		return nil, exported.ErrOther
	}
	t := &exported.Talk{ID: c.UUID, Leaf: c.Leaf}
	if t.ID == "" {
		t.ID = exported.HashValues(c.Name, c.CreatedAt)
	}
	linked := false
	for _, m := range c.Messages {
		linked = linked || m.Parent != nil
	}
	r := &talkReader{talk: t, assets: assets, raw: raw}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.UUID == "" {
			m.UUID = exported.HashValues(i, m.Sender, m.Text, m.CreatedAt)
		}
		n := tree.Node{ID: m.UUID}
		switch {
		case m.Parent != nil:
			n.Parent = *m.Parent
		case !linked && i > 0:
			n.Parent = c.Messages[i-1].UUID
		}
		n.Entries = r.makeMessages(i, m)
		t.Nodes = append(t.Nodes, n)
	}
	if !r.hasMessage(t.Leaf) {
		t.Leaf = exported.NewestLeaf(t.Nodes)
	}
	t.About = scrollback.Conversation{Title: c.Name, Model: c.Model, CreatedAt: exported.ParseMoment(c.CreatedAt),
		UpdatedAt: exported.ParseMoment(c.UpdatedAt)}
	if t.About.Model == "" {
		t.About.Model = r.model
	}
	t.About.Meta = exported.KeepMeta(metaKey, struct {
		Project string `json:"project,omitempty"`
		Starred bool   `json:"is_starred,omitempty"`
		Summary string `json:"summary,omitempty"`
	}{c.Project.Name, c.Starred, c.Summary})
	return t, nil
}

// hasMessage reports whether a conversation has a message of this id.
func (r *talkReader) hasMessage(id string) bool {
	for _, n := range r.talk.Nodes {
		if n.ID == id {
			return true
		}
	}
	return false
}
