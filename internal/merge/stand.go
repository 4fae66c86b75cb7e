package merge

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Place is where a store stands in a conversation before something arrives. At is the newest message of its current
// branch, empty if that has none. Rewound says that somebody went back here, and has said nothing since.
type Place struct {
	Known   bool // the store had the conversation
	At      scrollback.MessageID
	Rewound bool
}

// End is a message that none goes on from, on the path of what arrived.
type End struct {
	ID        scrollback.MessageID
	CreatedAt int64
}

// Stand returns the message that a store stands at when something has arrived: the newest end that goes on from where
// it stood, unless somebody went back here. A store that never had the conversation stands at the newest end. follows
// reports whether the path of a message leads over another one, which may be empty: the beginning.
func Stand(here Place, arrived []End, follows func(end, of scrollback.MessageID) bool) scrollback.MessageID {
	if here.Rewound && here.Known {
		return here.At
	}
	newest := slices.SortedFunc(slices.Values(arrived), func(a, b End) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	for _, end := range newest {
		if !here.Known || follows(end.ID, here.At) {
			return end.ID
		}
	}
	return here.At
}
