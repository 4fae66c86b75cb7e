package scrollback

import "slices"

// Environment is what a conversation's model is told of where it works. Text is
// frozen when the conversation first needs it, so that every request begins with
// the same bytes; First is the state that it tells. Told is the state that the
// model was told last: First, or that with the newest change; it is zero when nobody
// knows which of the changes the path holds. Changed says that some path holds one.
type Environment struct {
	Text    string           `json:"text"`
	First   EnvironmentState `json:"first"`
	Told    EnvironmentState `json:"told"`
	Changed bool             `json:"changed,omitempty"`
}

// EnvironmentState is what may change of an environment. Date is YYYY-MM-DD in the
// person's zone; Roots are folders.
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

// Equal says whether two states would be told alike.
func (s EnvironmentState) Equal(o EnvironmentState) bool {
	return s.Date == o.Date && slices.Equal(s.Roots, o.Roots) && slices.Equal(s.Memory, o.Memory)
}

// EnvironmentName is the name of the messages that tell of a changed environment.
const EnvironmentName = "environment"

// RetellEnvironment makes the next turn tell again how the environment differs from
// the first: a path that was left may have been where it was told, and the one that is
// gone over to may end with a change that no longer holds.
func (c *Conversation) RetellEnvironment() {
	if c.Environment == nil || !c.Environment.Changed && c.Environment.Told.Equal(c.Environment.First) {
		return
	}
	env := *c.Environment
	env.Told, env.Changed = EnvironmentState{}, true
	c.Environment = &env
}

// WithoutRoots is an environment as it travels to another machine: what the model was
// told stays, which folders it may read does not.
func (e *Environment) WithoutRoots() *Environment {
	if e == nil {
		return nil
	}
	out := *e
	out.First.Roots, out.Told.Roots = nil, nil
	return &out
}
