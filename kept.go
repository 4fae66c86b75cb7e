package scrollback

// KeptKind is what kind of sentence a person wants kept, whatever is compacted.
type KeptKind string

// The kinds of what is kept.
const (
	// KeptTrait is what is so about a person: what they prefer, avoid, cannot stand, have or usually do.
	KeptTrait KeptKind = "trait"
	// KeptInstruction is how to answer and work from now on, what was decided, and what is to be remembered.
	KeptInstruction KeptKind = "instruction"
	// KeptTodo is what remains to be done, until somebody says that it is.
	KeptTodo KeptKind = "todo"
)
