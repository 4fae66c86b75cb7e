// Package threading finds the conversation that a client's request goes on with. Most clients
// send their whole history with every request, many without an id, and change it on the way:
// they rewrite arguments, move reminders, drop tool rounds, compact, fork and go back.
//
// [Matcher.Match] compares a [Request] with what an [Index] knows and returns a [Match]: which
// thread it belongs to, after which place its path goes on, which atoms are new, and what the
// request is for. [Match.Begin] and [Match.Finish] turn that and the answer into the rows that a
// store keeps; [Memory] keeps them in memory.
//
// Words it adds:
//
//   - thread: what will be a conversation, a tree of atoms.
//   - atom: a piece of a history that is compared as one: a text, a call, a result, an image or an
//     opaque item, with its role. Texts are compared in their normal form: composed (NFC), white
//     space as one blank, without the reminders inside. Text of the assistant that was cut into
//     parts is one atom; borders of messages do not count.
//   - context: what a client sends beside the history and sends otherwise the next time: system
//     and developer text, reminders, descriptions of the environment. It is stored beside the
//     message it came with and is no atom; neither is thinking.
//   - anchor: a hash by which an atom is looked up: its content, its call id (ids are made by us
//     and unique, so that where both sides have one it decides alone), or the beginning of
//     an answer, by which one is found where a transcript quotes it.
//   - place: where an atom is: a branch, and how many atoms lead to it from the root. The atoms of
//     a path are numbered through, across branches and forks.
//   - rolling hash: a hash of all atoms up to one. Two histories with the same one are the same,
//     so that a history of any length is recognised by one look-up.
//   - lane: one of the threads that an id has named. Sub-agents, reviews and new beginnings
//     come with their parent's id; which lane is meant is found by content.
//   - side call: a request that is not a turn of a conversation: a title, a summary, a classifier.
//     [Table] recognises them; it is a file, and another can replace it.
//   - leaf: a turn beside the path that was no turn of the path itself, such as a side call that
//     nobody recognised.
//   - purpose and course: what a request is for (a turn, a tool step, a retry …), and how its path
//     goes on (it continues, branches, forks, was compacted by the client …).
//
// Invariants: threads of two scopes never meet; only an explicit name reaches across the callers
// of a project. What was stored is never stored again, and nothing is left out. What Match asks
// of the index has bounds that do not depend on the length of the history when the newest request
// of a thread goes on; otherwise it asks for anchors in batches, from the newest atom back, and
// stops where the path is known.
//
// It may not know storage, HTTP, or a provider; the decoders of the wire's dialects are in
// threading/dialect. Ids and times are arguments.
package threading
