package compact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Memory remembers what was found in runs of messages, which never change: it makes the same
// fold again, for a request that is only a little heavier, for much less. It is for one
// caller at a time, and for one conversation. A nil one remembers nothing.
type Memory struct {
	heard   *heard
	extract map[string][]line
	said    map[string][]carried
	hashes  map[string][]string
}

// remembered bounds how many runs are remembered.
const remembered = 64

// NewMemory makes an empty memory.
func NewMemory() *Memory {
	return &Memory{heard: &heard{is: map[string]bool{}}, extract: map[string][]line{}, said: map[string][]carried{}, hashes: map[string][]string{}}
}

// remember returns what was made for a key before, or makes it.
func remember[T any](of map[string][]T, key string, make func() []T) []T {
	out, ok := of[key]
	if !ok {
		if len(of) >= remembered {
			clear(of)
		}
		out = make()
		of[key] = out
	}
	return slices.Clone(out)
}

// keyOf is a key for messages.
func keyOf(lists ...[]scrollback.Message) string {
	var b strings.Builder
	for _, ms := range lists {
		for i := range ms {
			fmt.Fprint(&b, ms[i].ID, ms[i].Seq, " ")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// instruction reports whether a sentence is an instruction to be kept to.
func (m *Memory) instruction(sentence string) bool {
	if m == nil {
		return (*heard)(nil).instruction(sentence)
	}
	return m.heard.instruction(sentence)
}

// lines are the extract of some messages.
func (m *Memory) lines(ms []scrollback.Message) []line {
	if m == nil {
		return extract(ms, nil)
	}
	return remember(m.extract, keyOf(ms), func() []line { return extract(ms, m.heard) })
}

// carried are the lines that may be carried of a record.
func (m *Memory) carried(r *record) []carried {
	if m == nil {
		return r.said()
	}
	key := fmt.Sprint(keyOf(r.released, r.run), r.told, r.pinned, r.passed, r.previous)
	return remember(m.said, key, r.said)
}

// hash is [scrollback.HashMessages] of some messages.
func (m *Memory) hash(ms []scrollback.Message) (string, error) {
	if m == nil {
		return scrollback.HashMessages(ms)
	}
	var err error
	out := remember(m.hashes, keyOf(ms), func() []string {
		var hash string
		hash, err = scrollback.HashMessages(ms)
		return []string{hash}
	})
	return out[0], err
}
