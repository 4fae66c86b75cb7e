// Package request is what a request to a model is: its settings resolved, its window fitted,
// compacted and laid out, and all of it accounted for.
//
// A [Resolver] finds the [Settings] of a request: which model, which limit, which policy, how much
// room that leaves, and what the model costs. What a request asks for goes first, then what its
// conversation says, what is stored of its project, what the configuration says of the project, the
// rest of the configuration, and last what is known about the model. What a server has taught about
// a model applies everywhere. A resolver keeps none of it: what another process stores holds for the
// next request.
//
// A [Compactor] makes the window of a request fit: it decides when a fold is wanted, has package
// compact make one, and commits it. Two folds of one conversation never run at once in a process,
// never ask models at once on several servers that hear of each other, and never both commit; what
// summaries cost is entered even if their fold comes too late; every loop has a bound.
//
// A [Previewer] shows requests: the next one, one with a draft, and those that the steps of a turn
// sent. What a step sent is stored as an account without text ([scrollback.SentRequest]): from which
// messages, segments and texts its window was laid out, what it came to, and a hash of it. From
// that, the log and the stored texts, the same window is laid out again; where the hash is another
// one, because something that it was made from is not known any more, the manifest is partial. A
// preview writes nothing, and no model is asked for it; the items of a request are what the model is
// sent, in the same order, byte by byte.
//
// Words it adds: layout (a request as it was laid out, and from what).
//
// It may not know turns or callers: the caller's access was checked before. What it needs of the engine is a
// [Host].
package request
