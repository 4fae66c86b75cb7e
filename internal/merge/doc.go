// Package merge makes one history of what several stores hold: records in, records out.
//
// A store compares digests with another ([Tree]), asks for the inventories of the conversations that differ
// ([Inventory], [Differences]), hands over the records that are missing there, and decides with [Merge] what of the
// arrived records it writes. None of these steps needs more of a store than it asks for by [Held], so that a
// conversation of a million messages is merged by the few that are missing.
//
// Words it adds: record (what travels of a row), stamp (when and by whom something was changed), stone (what is left of
// a purged conversation), key (of a message: what makes two imports of it one), claim (the branch that a message was
// written to), run (messages that follow each other under one label), label (the branch that a message is shown on),
// tally (the sums of a conversation that its digest is made of).
//
// Invariants: a merge is commutative, associative and idempotent; what is held is only added to, but by stones and by
// fields with a newer stamp; a record that does not fit is left out and named, and changes nothing.
//
// It may not know a database, an engine, a network or a clock: the wall clock is an argument.
package merge
