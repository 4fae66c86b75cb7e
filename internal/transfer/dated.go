package transfer

import (
	"iter"

	"github.com/scrollback-ai/scrollback/transcript"
)

// maxUndated bounds how many messages wait for the first of a conversation that has a time.
const maxUndated = 256

// fillDates gives the messages that a conversation begins with, and that have no time, that of the
// first one which has: it is the nearest that is known. They wait for it in order.
//
//nolint:gocognit // a state machine of two states over a stream
func fillDates(entries iter.Seq2[transcript.Entry, error]) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		known := map[string]bool{} // conversations with a time, or that were waited for long enough
		var waiting []transcript.Entry
		var source string
		pass := func(at int64) bool {
			for _, e := range waiting {
				if isMessage(e) && e.Source == source && e.Message.CreatedAt == 0 {
					e.Near = at
				}
				if !yield(e, nil) {
					return false
				}
			}
			waiting = nil
			known[source] = true
			return true
		}
		for e, err := range entries {
			said := err == nil && isMessage(e)
			if len(waiting) > 0 {
				switch {
				case err != nil, said && e.Source != source, len(waiting) == maxUndated:
					if !pass(0) {
						return
					}
				case said && e.Message.CreatedAt != 0:
					if !pass(e.Message.CreatedAt) {
						return
					}
				default:
					waiting = append(waiting, e)
					continue
				}
			}
			switch {
			case err == nil && e.Conversation != nil && e.Conversation.CreatedAt != 0, said && e.Message.CreatedAt != 0:
				known[e.Source] = true
			case said && !known[e.Source]:
				waiting = append(waiting, e)
				source = e.Source
				continue
			}
			if !yield(e, err) {
				return
			}
		}
		if len(waiting) > 0 {
			pass(0)
		}
	}
}

// isMessage reports whether an entry is a message.
func isMessage(e transcript.Entry) bool {
	return e.Conversation == nil && e.Rewind == nil && e.Without == nil && e.End == nil && e.Bad == nil
}
