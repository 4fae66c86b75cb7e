// Package stamp says when, and in which store, what may change was changed last, so that stores which meet agree on
// what counts.
//
// Words it adds: stamp (a time that only grows, with its author), clock (the stamp of one field), owner (whose fields
// they are), stone (what is left of a conversation that was purged), rule (whether a field travels between stores).
//
// Invariants: what wins does not depend on who compares, or in which order; the author of a stamp decides nothing.
//
// It may not know the wall clock, SQL, how ids are made, or what stores say to each other.
package stamp

import (
	"cmp"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
)

// Stamp is when something was changed, in Unix ms by a hybrid logical clock, and the id of the store that did it, its
// node. By is empty where that is not known.
type Stamp struct {
	At int64  `json:"at"`
	By string `json:"by,omitempty"`
}

// Bound is how far ahead of the wall clock the stamp of a field or a stone may be.
const Bound = 24 * time.Hour

// Compare compares the times of two stamps: -1 if s is older than other, 1 if it is newer. Of equal times the values
// decide; see [Wins].
func (s Stamp) Compare(other Stamp) int { return cmp.Compare(s.At, other.At) }

// IsAhead reports whether a stamp is too far ahead of the wall clock, in Unix ms, to be taken.
func (s Stamp) IsAhead(wall int64) bool { return s.At > addTo(wall, Bound.Milliseconds()) }

// Wins reports whether a value that was set at a stamp takes the place of another: it is newer, or as old and greater.
func Wins(at Stamp, value string, other Stamp, instead string) bool {
	return cmp.Or(at.Compare(other), cmp.Compare(value, instead)) > 0
}

// Next returns the time of a new stamp: that of the wall clock, in Unix ms, or one more than the newest of some times
// that are known.
func Next(wall int64, newest ...int64) int64 {
	for _, at := range newest {
		wall = max(wall, addTo(at, 1))
	}
	return wall
}

// addTo returns a time that is n ms later, or the last one that there is.
func addTo(at, n int64) int64 {
	if at > math.MaxInt64-n {
		return math.MaxInt64
	}
	return at + n
}

// Clock is the stamp of one field of an owner. Value is the field's as JSON where the owner has no other place for it,
// else empty.
type Clock struct {
	Owner string `json:"owner"`
	Field string `json:"field"`
	Stamp
	Value string `json:"value,omitempty"`
}

// OfConversation returns the owner of the fields of a conversation.
func OfConversation(id scrollback.ConversationID) string { return string(id) }

// OfProject returns the owner of the fields of a project.
func OfProject(name string) string { return "project:" + name }

// Stone is what is left of a conversation that was purged.
type Stone struct {
	ID      scrollback.ConversationID `json:"id"`
	Project string                    `json:"project"`
	Stamp
}

// Beats reports whether a stone takes the place of another of the same conversation.
func (s Stone) Beats(other Stone) bool { return Wins(s.Stamp, s.Project, other.Stamp, other.Project) }

// AgainID returns the id under which a conversation comes back that has a stone: the same in every store, whoever
// purged it and whenever. If that one is purged too, it comes back under the id that follows from it.
func AgainID(id scrollback.ConversationID) scrollback.ConversationID {
	return scrollback.ConversationID(uuid.NewSHA1(uuid.NameSpaceOID, []byte("again\x00"+id)).String())
}

// TitleRank returns how much a title counts by who gave it: a person's more than a tool's, that more than a model's,
// and that more than one made from a prompt. Only of one rank does the stamp decide.
func TitleRank(by scrollback.TitleState, title string) int {
	switch {
	case title == "":
		return 0
	case by == scrollback.TitleGiven:
		return 4
	case by == scrollback.TitleTool:
		return 3
	case by == scrollback.TitleModel:
		return 2
	}
	return 1
}
