package merge

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Terms say how a store takes records that arrive.
type Terms struct {
	Look   bool `json:"look,omitempty"`   // nothing is written; the outcome says what would be
	Purges bool `json:"purges,omitempty"` // all of them are taken, however many (see [HoldPurges])
}

// Outcome is what came of records that a store was given. Refused were left out and say why. Of Waiting nothing can be
// written yet: a turn of theirs is being answered, or what they go on from, or the bytes of an artifact, have not
// arrived. Held are purges that were not taken because they were too many at once.
type Outcome struct {
	Conversations int                         `json:"conversations"` // that were new, or have more than before
	New           int                         `json:"new"`           // of these, those that were not here
	Messages      int64                       `json:"messages"`
	Purged        int                         `json:"purged"` // in a look: that would be
	Refused       []Refused                   `json:"refused,omitempty"`
	Waiting       []scrollback.ConversationID `json:"waiting,omitempty"`
	Held          []scrollback.ConversationID `json:"held,omitempty"`
	Denied        Denied                      `json:"denied,omitzero"`

	// Changed are the conversations that are counted. A sum of several outcomes counts each once, and does not list them.
	Changed []scrollback.ConversationID `json:"changed,omitempty"`
}

// Denied counts what the other store may not bring.
type Denied struct {
	Conversations int `json:"conversations,omitempty"`
	Purges        int `json:"purges,omitempty"`
	Projects      int `json:"projects,omitempty"` // what is stored of them
}

// Total is how many it is in all.
func (d Denied) Total() int { return d.Conversations + d.Purges + d.Projects }

// Add adds another outcome to a sum, but for Waiting: what waits may have been taken since. Conversations that are in
// counted were counted before; those of o are put there.
func (s *Outcome) Add(o Outcome, counted map[scrollback.ConversationID]bool) {
	s.Conversations += o.Conversations
	for _, id := range o.Changed {
		if counted[id] {
			s.Conversations--
		}
		counted[id] = true
	}
	s.New += o.New
	s.Messages += o.Messages
	s.Purged += o.Purged
	for _, r := range o.Refused {
		if !slices.Contains(s.Refused, r) {
			s.Refused = append(s.Refused, r)
		}
	}
	for _, id := range o.Held {
		if !slices.Contains(s.Held, id) {
			s.Held = append(s.Held, id)
		}
	}
	s.Denied.Conversations += o.Denied.Conversations
	s.Denied.Purges += o.Denied.Purges
	s.Denied.Projects += o.Denied.Projects
}

// Access is what a store lets the one that asks it do; the zero value is everything.
type Access struct {
	Projects []string `json:"projects,omitempty"` // empty: all
	ReadOnly bool     `json:"read_only,omitempty"`
	NoPurges bool     `json:"no_purges,omitempty"` // neither purges nor what is stored of projects are taken
}

// Sees reports whether a project is one of those.
func (a Access) Sees(project string) bool {
	return len(a.Projects) == 0 || slices.Contains(a.Projects, project)
}
