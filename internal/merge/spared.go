package merge

import (
	"iter"

	"github.com/scrollback-ai/scrollback"
)

// Spared returns the messages of purged conversations that stay, because the paths of living forks use them. Links are
// the messages of other conversations that living ones go on from: their parents, and the predecessors of their
// messages.
func Spared(links iter.Seq[scrollback.MessageID], gone func(scrollback.ConversationID) bool,
	message func(scrollback.MessageID) (Message, scrollback.ConversationID, bool)) map[scrollback.MessageID]bool {
	spared := map[scrollback.MessageID]bool{}
	for id := range links {
		for id != "" {
			m, of, ok := message(id)
			// What a living conversation goes on from is among the links.
			if !ok || !gone(of) || spared[m.ID] {
				break
			}
			spared[m.ID] = true
			id = m.Prev
		}
	}
	return spared
}
