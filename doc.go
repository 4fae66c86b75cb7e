// Package scrollback holds the words of the product: what a conversation, a
// message, a part, a segment, a ref, a window and an event are, and the errors
// that every room returns.
//
// The idea is one immutable log and views over it. A [Message] is written once,
// finished, and never changes. Compacting, trimming, clearing, forking and
// rewinding choose what a request shows of the log; none of them edits it.
//
// The words:
//
//   - conversation: the stored thread, append-only
//   - branch, path: seqs are 1, 2, 3 … along a path of branches
//   - message, part: one entry by one role, and what it consists of
//   - turn, step: from a user message to its answer; one model call within it
//   - window, item, budget: what one step sends, and what may fit
//   - compaction, fold: how a window comes under its budget, for people; and the
//     code's verb for what happens to a run of messages
//   - segment, placeholder, ref: a folded run of messages, the text that stands
//     for it, and the pointer that always leads back to the originals
//
// Invariants: ids, times and randomness arrive as arguments; a [Part], an
// [Event] and an [ItemKind] are closed sets; clients rely on the JSON names, which
// are only ever added to.
//
// The package uses only the standard library. It knows nothing about SQL, HTTP or
// another product's JSON.
package scrollback
