// Package openwebui reads the conversations of Open WebUI: its exports, which are lists in
// JSON, and its database, webui.db, of the versions that keep a conversation whole in the
// table chat and of those that also have a row a message.
//
// Words it adds: history (a conversation's messages by id, each with its parent and
// children), details (HTML in an answer's text, which older versions keep reasoning and
// calls in).
//
// Invariants: the current path is that above currentId; the answers of several models to one
// message are branches. What an answer put out is taken from its output where it has one,
// else from its text. Of a message that is in both tables the row counts. Only what is said
// is read from the database: no users, keys, settings or documents.
//
// It may not know the store or the network.
package openwebui

import (
	"context"
	"encoding/json"
	"iter"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "open-webui"
	metaKey = "open_webui"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements transcript.Tool.
func (Tool) Name() string { return Name }

// Homes implements transcript.Tool: where the program keeps its database if it is told so,
// or as its guide says.
func (Tool) Homes(m transcript.Machine) []string {
	var out []string
	if data := m.Getenv("DATA_DIR"); path.IsAbs(strings.ReplaceAll(data, `\`, "/")) {
		out = append(out, data+"/"+database)
	}
	if m.Home != "" {
		out = append(out, m.Home+"/.open-webui/"+database)
	}
	return out
}

// Sniff implements transcript.Tool: the database has its name, and an exported conversation
// has a chat.
func (Tool) Sniff(name string, head []byte) bool {
	if strings.HasPrefix(string(head), "SQLite format 3\x00") {
		return name == database
	}
	seen := transcript.ItemHeadFields(head)
	return seen["chat"] && (seen["user_id"] || seen["title"] || len(seen) == 1)
}

var format = exported.Format{Depth: 4, Sniff: Tool{}.Sniff, Talk: readTalk}

// Sessions implements transcript.Tool: each file of an export is one, and each conversation of
// a database.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		for _, name := range listDatabases(p) {
			for s, err := range listChats(ctx, p, name) {
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
		if path.Ext(p.Name) == ".db" {
			return
		}
		for s, err := range format.Sessions(ctx, p) {
			if !yield(s, err) {
				return
			}
		}
	}
}

// Read implements transcript.Tool.
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	if path.Ext(s.Name) == ".db" {
		return readRow(ctx, p, s)
	}
	return format.Read(ctx, p, s)
}

// conversation is an item of an export.
type conversation struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	Chat      chat    `json:"chat"`
	CreatedAt float64 `json:"created_at"`
	UpdatedAt float64 `json:"updated_at"`
	Current   string  `json:"current_message_id"`
	Archived  bool    `json:"archived"`
	Pinned    bool    `json:"pinned"`
	Folder    string  `json:"folder_id"`
}

// chat is a conversation as the page keeps it.
type chat struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Models  []string `json:"models"`
	System  string   `json:"system"`
	At      float64  `json:"timestamp"`
	History struct {
		Messages map[string]message `json:"messages"`
		Current  string             `json:"currentId"`
	} `json:"history"`
	Messages []message `json:"messages"` // the current path; of old versions all there is
	Params   struct {
		System string `json:"system"`
	} `json:"params"`
}

// readTalk implements exported.Format.
func readTalk(assets *exported.Assets, raw json.RawMessage) (*exported.Talk, error) {
	var c conversation
	if err := exported.DecodeJSON(raw, &c); err != nil {
		return nil, err
	}
	return c.makeTalk(assets, false)
}

// makeTalk makes a talk. With live, answers that are being written are held back.
func (c *conversation) makeTalk(assets *exported.Assets, live bool) (*exported.Talk, error) {
	messages := c.Chat.History.Messages
	if len(messages) == 0 {
		messages = c.linkChain()
	}
	if c.ID == "" {
		c.ID = c.Chat.ID
	}
	if c.ID == "" && len(messages) == 0 {
		return nil, exported.ErrOther
	}
	t := &exported.Talk{ID: c.ID, Leaf: firstNonEmpty(c.Current, c.Chat.History.Current)}
	if t.ID == "" {
		t.ID = exported.HashValues(c.Title, c.Chat.Title, c.Chat.At)
	}
	r := &talkReader{talk: t, assets: assets, live: live}
	r.makeNodes(messages)
	if _, known := messages[t.Leaf]; !known || t.Held {
		t.Leaf = r.findCurrent(messages)
	}
	t.About = scrollback.Conversation{Title: firstNonEmpty(c.Title, c.Chat.Title), Model: r.model,
		CreatedAt: exported.SecondsToMillis(c.CreatedAt), UpdatedAt: exported.SecondsToMillis(c.UpdatedAt)}
	if len(c.Chat.Models) > 0 {
		t.About.Model = firstNonEmpty(c.Chat.Models[0], r.model)
	}
	if t.About.CreatedAt == 0 {
		t.About.CreatedAt = exported.SecondsToMillis(c.Chat.At)
	}
	t.About.Meta = exported.KeepMeta(metaKey, struct {
		Archived bool   `json:"archived,omitempty"`
		Pinned   bool   `json:"pinned,omitempty"`
		Folder   string `json:"folder_id,omitempty"`
		System   string `json:"system,omitempty"`
	}{c.Archived, c.Pinned, c.Folder, firstNonEmpty(c.Chat.System, c.Chat.Params.System)})
	return t, nil
}

// findCurrent returns where the current path ends if the file's own answer is not there or is held
// back: above the latter, or at the newest.
func (r *talkReader) findCurrent(messages map[string]message) string {
	leaf := r.talk.Leaf
	for range len(messages) {
		m, known := messages[leaf]
		if !known || !r.held[leaf] {
			break
		}
		leaf = m.Parent
	}
	if _, known := messages[leaf]; known {
		return leaf
	}
	return exported.NewestLeaf(r.talk.Nodes)
}

// linkChain returns the messages of an old version, each below the one before.
func (c *conversation) linkChain() map[string]message {
	out := map[string]message{}
	above := ""
	for i, m := range c.Chat.Messages {
		if m.ID == "" {
			m.ID = exported.HashValues(i, m.Role, string(m.Content), m.At)
		}
		if m.Parent == "" {
			m.Parent = above
		}
		out[m.ID] = m
		above = m.ID
	}
	return out
}

func firstNonEmpty(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
