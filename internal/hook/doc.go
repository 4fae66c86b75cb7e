// Package hook answers what other agents ask before they work: at the start of a session, at a prompt, around
// their own compaction and when they stop. It reads what an agent hands in, decides whether anything is to be
// said, and writes the answer in the form that this agent takes.
//
// Words it adds: hook (a program that an agent runs at an event), envelope (the form in which an agent takes a
// text), item (one quoted sentence of an earlier conversation), ledger (what was told to whom).
//
// Invariants: an answer is at most one value on standard output; its text has three lines, the one between is
// JSON without angle brackets, and no text of an old conversation stands outside it; the same session is told
// nothing twice; without certainty nothing is said.
//
// It may not know databases, HTTP, models or the environment.
package hook

// Event is what an agent does when it runs a hook.
type Event string

// The events.
const (
	SessionStart Event = "session-start"
	Prompt       Event = "prompt"
	PreCompact   Event = "pre-compact"
	Stop         Event = "stop"
)

// Events are all events, in the order of a session.
var Events = []Event{SessionStart, Prompt, PreCompact, Stop}
