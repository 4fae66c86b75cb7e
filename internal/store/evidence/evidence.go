// Package evidence finds what of earlier conversations answers a prompt, for programs that were not asked: it says
// nothing unless it is sure. Conversations are ranked first, by all words of the prompt and the rare ones most; then
// one or two messages of the best are chosen, answers before questions.
//
// Words it adds: place (the folders whose conversations may speak), facts (what is known about how well a conversation
// fits), weight (of a word: how much it says, by how few conversations have it).
//
// Invariants: nothing of the asking session, of what it was forked from or of its sub-agents is found; nothing that a
// tool returned; nothing that was told already; it reads, and writes nothing. Whether to speak is a function of facts
// alone ([Judge]).
//
// It may not know agents, hooks, SQL or the clock.
package evidence

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/index"
	"github.com/scrollback-ai/scrollback/internal/store/search"
)

// Store is a store that is asked in passing.
type Store struct {
	d     *driver.Driver
	index *index.Index
}

// New makes one over a driver, which it closes.
func New(d *driver.Driver) *Store {
	text := func(_ context.Context, m scrollback.Message) (string, error) { return search.IndexedText(m.Parts), nil }
	return &Store{d: d, index: index.New(d.Index, text)}
}

// Close ends the store.
func (s *Store) Close() error { return s.d.Close() }

// Place is whose conversations may speak: those that were held in Folders or below, as far as Has says of their folder
// that it is of the place. An empty folder stands for all that have one.
type Place struct {
	Folders []string
	Has     func(folder string) bool // asked about each different folder once
	Exclude func(tool, folder string) bool
	Without []string // projects whose conversations may not speak
}

// Session is who asks.
type Session struct{ Tool, ID string }

// Seen is a message that was told.
type Seen struct {
	Conversation scrollback.ConversationID
	Seq          int64
}

// Found is a message that answers.
type Found struct {
	Conversation scrollback.ConversationID
	Seq          int64
	At           int64 // Unix ms
	Tool         string
	Role         scrollback.Role
	Text         string
	Kind         string // todo or kept, or empty
}

// branch is a branch of a conversation that may speak.
type branch struct {
	driver.IndexedBranch
	at    int64
	agent bool
}

// scope are the branches that may speak, by number.
type scope map[int64]branch

// listScope lists the branches of a place that may speak to a session.
func (s *Store) listScope(ctx context.Context, p Place, own map[scrollback.ConversationID]bool) (scope, error) {
	worked, err := s.d.Index.FindWorkedBranches(ctx, driver.FolderQuery{Folders: p.Folders})
	if err != nil {
		return nil, err
	}
	strange, err := s.listStrange(ctx, p)
	if err != nil {
		return nil, err
	}
	out := scope{}
	for _, w := range worked {
		if !own[w.Conversation] && !strange[w.Conversation] && w.Current && !slices.Contains(p.Without, w.Project) {
			out[w.Number] = branch{w.IndexedBranch, w.At, w.Agent}
		}
	}
	return out, nil
}

// listStrange lists the conversations that were held in a folder below the place's which is of another, or that is left
// out.
func (s *Store) listStrange(ctx context.Context, p Place) (map[scrollback.ConversationID]bool, error) {
	judged := map[[2]string]bool{}
	home := map[scrollback.ConversationID]bool{}
	strange := map[scrollback.ConversationID]bool{}
	for _, folder := range p.Folders {
		for q := (driver.OriginQuery{Folder: folder, Limit: 10_000}); ; {
			all, err := s.d.Log.ListOrigins(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, o := range all {
				key := [2]string{o.Tool, o.Folder}
				in, known := judged[key]
				if !known {
					in = (p.Has == nil || p.Has(o.Folder)) && (p.Exclude == nil || !p.Exclude(o.Tool, o.Folder))
					judged[key] = in
				}
				if in {
					home[o.Conversation] = true
				} else {
					strange[o.Conversation] = true
				}
			}
			if len(all) < q.PageSize() {
				break
			}
			q.After = all[len(all)-1]
		}
	}
	for id := range home {
		delete(strange, id)
	}
	return strange, nil
}

// listOwn lists the conversations of a session: its own, what they were forked from, and what worked for them.
func (s *Store) listOwn(ctx context.Context, of Session) (map[scrollback.ConversationID]bool, error) {
	out := map[scrollback.ConversationID]bool{}
	if of.ID == "" {
		return out, nil
	}
	all, err := s.d.Log.ListOrigins(ctx, driver.OriginQuery{Tool: of.Tool, ID: of.ID, Trash: true})
	if err != nil {
		return nil, err
	}
	var ids []scrollback.ConversationID
	for _, o := range all {
		h, err := s.d.Log.ReadHead(ctx, o.Conversation)
		if err != nil {
			return nil, err
		}
		ids = append(append(ids, h.ID), h.Ancestors...)
		if h.Parent != nil {
			ids = append(ids, h.Parent.ID)
		}
	}
	for _, id := range ids {
		out[id] = true
	}
	if len(ids) == 0 {
		return out, nil
	}
	agents, err := s.d.Log.ListConversations(ctx, driver.ListQuery{AgentOf: ids, Limit: 1000})
	for _, c := range agents {
		out[c.ID] = true
	}
	return out, err
}

// isProgram reports whether a program held a conversation with an agent, and no person.
func isProgram(c scrollback.Conversation) bool {
	var meta map[string]json.RawMessage
	if json.Unmarshal(c.Meta, &meta) != nil {
		return false
	}
	for _, value := range meta {
		var of struct {
			Entrypoint string `json:"entrypoint"`
		}
		if json.Unmarshal(value, &of) == nil && slices.Contains([]string{"sdk-ts", "sdk-py"}, of.Entrypoint) {
			return true
		}
	}
	return false
}

// toolOf returns the tool that a conversation was held in; empty for this program.
func (s *Store) toolOf(ctx context.Context, id scrollback.ConversationID) (string, error) {
	all, err := s.d.Log.ListOrigins(ctx, driver.OriginQuery{Conversations: []scrollback.ConversationID{id}, Limit: 1})
	if err != nil || len(all) == 0 {
		return "", err
	}
	return all[0].Tool, nil
}
