package merge

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Report is the digest of a whole store with that of each conversation and stone, by id.
type Report struct {
	Digest        Hash      `json:"digest"`
	Conversations []Summary `json:"conversations"`
}

// NewReport makes the report of a store of the digests of all its conversations, in any order, and of the sum of
// everything else (see [Head]).
func NewReport(all []Summary, rest Sum) Report {
	head := NewTree(all).Head()
	head.Rest = rest
	list := slices.SortedFunc(slices.Values(all), func(a, b Summary) int { return cmp.Compare(a.ID, b.ID) })
	if list == nil {
		list = []Summary{}
	}
	return Report{Digest: head.Digest(), Conversations: list}
}

// ShownID returns the id under which a message is shown: the smallest of all that it has, which are its own, its key
// and those of its aliases.
func ShownID(m Message, aliases []Alias) scrollback.MessageID {
	shown := min(m.ID, m.Key())
	for _, a := range aliases {
		if a.Of == m.Key() {
			shown = min(shown, a.ID)
		}
	}
	return shown
}

// MostPurges is how many conversations that are not in the trash here one meeting may purge unasked.
const MostPurges = 10

// HoldPurges takes the stones out of what arrived, if they would purge more than [MostPurges] conversations that
// are here and that isTrashed says are not in the trash, and returns which conversations those are. All else of the
// set goes on: a stone that is held back stops nothing.
func HoldPurges(held Held, arrived *Set, isTrashed func(scrollback.ConversationID) bool) []scrollback.ConversationID {
	purged := map[scrollback.ConversationID]bool{}
	for _, s := range arrived.Stones {
		_, gone := held.Stone(s.ID)
		if !gone && held.Conversation(s.ID) != nil && !isTrashed(s.ID) {
			purged[s.ID] = true
		}
	}
	if len(purged) <= MostPurges {
		return nil
	}
	arrived.Stones = slices.DeleteFunc(slices.Clone(arrived.Stones), func(s Stone) bool { return purged[s.ID] })
	var out []scrollback.ConversationID
	for id := range purged {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
