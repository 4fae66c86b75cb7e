// Package evidence finds what of earlier conversations answers a prompt, for programs that were not asked: it says
// nothing unless it is sure. Conversations are ranked first, by all words of the prompt and the rare ones most. Whether
// the best one fits well enough, and which one or two of its messages are told, is judged by features with learned
// weights: answers before questions, and what a person decided behind a proposal.
//
// Words it adds: place (the folders whose conversations may speak), stretch (a few messages that have words of a
// prompt), facts (what is known about how well a stretch fits), weight (of a word: how much it says, by how few
// conversations have it; of a feature: what it counts for).
//
// Invariants: nothing of the asking session, of what it was forked from or of its sub-agents is found; nothing that a
// tool returned; nothing that was told already; it reads, and writes nothing. Whether to speak is a function of facts
// and weights alone ([Judge]); what is read does not grow with a conversation's length.
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

// scope are the branches of what was worked on in a place. Whether a conversation may speak is asked of the few that
// are read.
type scope struct {
	bits  []uint64 // by number
	count int
}

// has reports whether a branch is in the scope.
func (s *scope) has(number int64) bool {
	return number>>6 < int64(len(s.bits)) && s.bits[number>>6]>>(number&63)&1 == 1
}

// listScope lists the branches of a place.
func (s *Store) listScope(ctx context.Context, p Place) (scope, error) {
	numbers, err := s.d.Index.ListWorkedNumbers(ctx, driver.FolderQuery{Folders: p.Folders})
	if err != nil || len(numbers) == 0 {
		return scope{}, err
	}
	out := scope{bits: make([]uint64, numbers[len(numbers)-1]>>6+1), count: len(numbers)}
	for _, n := range numbers {
		out.bits[n>>6] |= 1 << (n & 63)
	}
	return out, nil
}

// admission says which conversations may speak.
type admission struct {
	*Store
	place  Place
	own    map[scrollback.ConversationID]bool
	judged map[[2]string]bool // tools and folders
}

// newAdmission returns which conversations may speak to a session.
func (s *Store) newAdmission(ctx context.Context, p Place, of Session) (*admission, error) {
	own, err := s.listOwn(ctx, of)
	return &admission{s, p, own, map[[2]string]bool{}}, err
}

// admit reports whether a conversation may speak, and the tool that it was held in; empty for this program. One may
// not that is in the trash, that a program held, and of which every folder is another place's: a repository may lie
// in another.
func (a *admission) admit(ctx context.Context, c scrollback.Conversation) (tool string, ok bool, err error) {
	if a.own[c.ID] || c.DeletedAt != 0 || slices.Contains(a.place.Without, c.Project) || isProgram(c) {
		return "", false, nil
	}
	origins, err := a.d.Log.ListOrigins(ctx, driver.OriginQuery{Conversations: []scrollback.ConversationID{c.ID}})
	if err != nil {
		return "", false, err
	}
	if len(origins) == 0 { // its own folders are of the place, or those of whom it works for
		return "", len(c.Roots) == 0 || slices.ContainsFunc(c.Roots, func(r string) bool { return a.isHere("", r) }), nil
	}
	known := false // by its repository, whatever its folder is called on the machine that it comes from
	for _, o := range origins {
		if o.Tool == scrollback.OriginRepository {
			known = known || a.place.Has == nil || a.place.Has(o.Folder)
			continue
		}
		if a.isHere(o.Tool, o.Folder) {
			return o.Tool, true, nil
		}
		if a.place.Exclude != nil && a.place.Exclude(o.Tool, o.Folder) {
			return "", false, nil
		}
		tool = o.Tool
	}
	return tool, known, nil
}

// isHere reports whether a folder in which a tool worked is of the place.
func (a *admission) isHere(tool, folder string) bool {
	key := [2]string{tool, folder}
	in, known := a.judged[key]
	if !known {
		in = (a.place.Has == nil || a.place.Has(folder)) && (a.place.Exclude == nil || !a.place.Exclude(tool, folder))
		a.judged[key] = in
	}
	return in
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
