// Package chatgpt reads the export of ChatGPT: a zip, the folder that was unpacked from it,
// or one of its files of conversations, conversations.json or conversations-000.json and so on.
//
// Words it adds: node (an element of a conversation's mapping, with at most one message),
// step (a node with what it says).
//
// Invariants: the current path is that above current_node, and what is beside it are other
// branches, in the order of children. What the page does not show (roots, hidden messages,
// those of weight 0, empty ones) is left out, and what is below it moves up. What a tool
// wrote is the result of the call above it that has none yet and is of that tool; else it
// is said by the assistant. An attachment is a file beside whose name begins with its id.
//
// It may not know the store or the network.
package chatgpt

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "chatgpt"
	metaKey = "chatgpt"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements transcript.Tool.
func (Tool) Name() string { return Name }

// Homes implements transcript.Tool: an export may lie anywhere.
func (Tool) Homes(transcript.Machine) []string { return nil }

// Sniff implements transcript.Tool: a conversation has a mapping.
func (Tool) Sniff(name string, head []byte) bool {
	seen := transcript.ItemHeadFields(head)
	if transcript.IsForeign(head) {
		return false
	}
	return seen["mapping"] || isConversations(name) && seen["title"] && seen["create_time"] && !seen["uuid"]
}

// isConversations reports whether the file of an export has conversations, by its name.
func isConversations(base string) bool {
	return strings.HasPrefix(base, "conversations") && strings.HasSuffix(base, ".json")
}

var format = exported.Format{Depth: 2, Sniff: Tool{}.Sniff, Named: isConversations, Talk: readTalk}

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
	ID             string          `json:"id"`
	ConversationID string          `json:"conversation_id"`
	Title          string          `json:"title"`
	CreateTime     float64         `json:"create_time"`
	UpdateTime     float64         `json:"update_time"`
	Mapping        map[string]node `json:"mapping"`
	CurrentNode    string          `json:"current_node"`
	Model          string          `json:"default_model_slug"`
	aboutMeta
}

// aboutMeta is what meta keeps of a conversation.
type aboutMeta struct {
	Gizmo    string `json:"gizmo_id,omitempty"`
	Archived bool   `json:"is_archived,omitempty"`
	Starred  bool   `json:"is_starred,omitempty"`
	Origin   string `json:"conversation_origin,omitempty"`
}

type node struct {
	ID       string   `json:"id"`
	Parent   string   `json:"parent"`
	Children []string `json:"children"`
	Message  *message `json:"message"`
}

type message struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	CreateTime float64  `json:"create_time"`
	Content    content  `json:"content"`
	Status     string   `json:"status"`
	Weight     *float64 `json:"weight"`
	Recipient  string   `json:"recipient"`
	Channel    string   `json:"channel"`
	Metadata   metadata `json:"metadata"`
}

type metadata struct {
	Model       string       `json:"model_slug"`
	Hidden      bool         `json:"is_visually_hidden_from_conversation"`
	ParentID    string       `json:"parent_id"`
	Attachments []attachment `json:"attachments"`
	Finish      struct {
		Type string `json:"type"`
	} `json:"finish_details"`
	Ran struct {
		Status string `json:"status"`
	} `json:"aggregate_result"`
}

type attachment struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// readTalk implements exported.Format.
func readTalk(assets *exported.Assets, raw json.RawMessage) (*exported.Talk, error) {
	var c conversation
	if err := exported.DecodeJSON(raw, &c); err != nil {
		return nil, err
	}
	if len(c.Mapping) == 0 {
		return nil, errors.New("a conversation without messages")
	}
	t := &exported.Talk{ID: firstNonEmpty(c.ConversationID, c.ID), Leaf: c.CurrentNode}
	if t.ID == "" {
		t.ID = exported.HashValues(c.Title, c.CreateTime)
	}
	w := &walker{talk: t, assets: assets, nodes: c.Mapping, steps: map[string]*walkStep{}, raw: raw}
	t.Nodes = w.makeNodes()
	if _, known := c.Mapping[t.Leaf]; !known {
		t.Leaf = exported.NewestLeaf(t.Nodes)
	}
	t.About = scrollback.Conversation{Title: c.Title, Model: firstNonEmpty(c.Model, w.model),
		CreatedAt: exported.SecondsToMillis(c.CreateTime), UpdatedAt: exported.SecondsToMillis(c.UpdateTime),
		Meta: exported.KeepMeta(metaKey, c.aboutMeta)}
	return t, nil
}

func firstNonEmpty(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
