// Package summary is the form of what a compaction writes in place of messages, and how an answer
// is judged by it: the summary that a model writes, with its headings in each language, and the
// line of what tools did, which can be read back and added up:
//
//	Tools: read_file ×4 (a.go, b.go, …), bash ×3 (2 failed; go test ./... failed: "undefined: x", ls) · wrote: x.go, y.go
//
// Words it adds: form (the headings in their order, and the words that go with them), canonical (as
// the form writes it: "## " headings and lines that begin with "- "), subject (what calls of a tool
// were about: a path, a command).
//
// Invariants: a summary that is accepted is canonical, and is accepted again as it is; it has each
// heading of the form once, and no more tokens than its criteria allow and a twentieth. A line of tools has one line
// and no more tokens than there is room for; read back, it has the calls and failures that it was
// written with.
//
// It may not know where summaries are kept, when they are asked for, or who writes them.
package summary
