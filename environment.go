package scrollback

import "slices"

// Environment describes to the model of a conversation where it works. Text is
// frozen when the conversation first needs it, so that every request begins with
// the same bytes; First is the state it describes. Told is the state that the
// model was told last: First, or that with the newest change; it is zero if it is
// unknown which of the changes are on the path. Changed says that some path has one.
type Environment struct {
	Text    string           `json:"text"`
	First   EnvironmentState `json:"first"`
	Told    EnvironmentState `json:"told"`
	Changed bool             `json:"changed,omitempty"`

	// Kept has what its caller said in other conversations of the project, where that is wanted. It stays behind
	// when the conversation travels.
	Kept string `json:"kept,omitempty"`
}

// WholeText returns what a model is told: where it works, and what was said in other conversations.
func (e *Environment) WholeText() string {
	if e.Text == "" || e.Kept == "" {
		return e.Text + e.Kept
	}
	return e.Text + "\n\n" + e.Kept
}

// EnvironmentState is the part of an environment that can change. Date is YYYY-MM-DD in
// the person's time zone; Roots are folders.
type EnvironmentState struct {
	Date   string       `json:"date"`
	Roots  []string     `json:"roots,omitempty"`
	Memory []MemoryFile `json:"memory,omitempty"`
}

// MemoryFile is one version of a file that tells a model what to remember. SHA256,
// in hex, is of the whole file up to a megabyte; of a bigger one it is of its first
// megabyte and its size.
type MemoryFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Equal reports whether two states would be described in the same words.
func (s EnvironmentState) Equal(o EnvironmentState) bool {
	return s.Date == o.Date && slices.Equal(s.Roots, o.Roots) && slices.Equal(s.Memory, o.Memory)
}

// EnvironmentName is the name of the messages that report a changed environment.
const EnvironmentName = "environment"

// RepeatEnvironment makes the next turn report again how the environment differs from the
// first: the report may be on the path that was left, and the path that is taken up may
// end with a change that no longer holds.
func (c *Conversation) RepeatEnvironment() {
	if c.Environment == nil || !c.Environment.Changed && c.Environment.Told.Equal(c.Environment.First) {
		return
	}
	env := *c.Environment
	env.Told = EnvironmentState{}
	env.Changed = true
	c.Environment = &env
}

// WithoutRoots returns an environment as it travels to another machine: what the model was
// told of its place stays, but neither the folders that it may read, nor what was said in other conversations.
func (e *Environment) WithoutRoots() *Environment {
	if e == nil {
		return nil
	}
	out := *e
	out.First.Roots = nil
	out.Told.Roots = nil
	out.Kept = ""
	return &out
}
