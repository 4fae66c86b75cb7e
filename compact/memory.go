package compact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
)

// Memory remembers what was found in runs of messages, which never change: it makes the same
// fold again, for a request that is only a little heavier, for much less. It is for one
// conversation, and safe for concurrent use. A nil one remembers nothing.
type Memory struct {
	mu      sync.Mutex // of the maps
	heard   *heard
	extract map[string][]line
	said    map[string][]carried
	hashes  map[string][]string
	files   map[string][]file
}

// file is the size and hash of a leaf's file.
type file struct {
	bytes  int64
	sha256 string
}

// remembered bounds how many runs are remembered.
const remembered = 64

// NewMemory makes an empty memory.
func NewMemory() *Memory {
	return &Memory{heard: &heard{is: map[string]bool{}}, extract: map[string][]line{}, said: map[string][]carried{},
		hashes: map[string][]string{}, files: map[string][]file{}}
}

// remember returns what was made for a key before, or makes it; an error is not remembered.
func remember[T any](m *Memory, of map[string][]T, key string, make func() ([]T, error)) ([]T, error) {
	m.mu.Lock()
	out, ok := of[key]
	m.mu.Unlock()
	if ok {
		return slices.Clone(out), nil
	}
	out, err := make()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(of) >= remembered {
		clear(of)
	}
	of[key] = out
	return slices.Clone(out), nil
}

// keyOf is a key for messages.
func keyOf(lists ...[]scrollback.Message) string {
	var b strings.Builder
	for _, ms := range lists {
		for i := range ms {
			b.WriteString(string(ms[i].ID) + " " + strconv.FormatInt(ms[i].Seq, 10) + " ")
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
	out, _ := remember(m, m.extract, keyOf(ms), func() ([]line, error) { return extract(ms, m.heard), nil })
	return out
}

// carried are the lines that may be carried of a record.
func (m *Memory) carried(r *record) []carried {
	if m == nil {
		return r.said()
	}
	key := fmt.Sprint(keyOf(r.released, r.run), r.told, r.pinned, r.passed, r.previous)
	out, _ := remember(m, m.said, key, func() ([]carried, error) { return r.said(), nil })
	return out
}

// hash is [scrollback.HashMessages] of some messages.
func (m *Memory) hash(ms []scrollback.Message) (string, error) {
	if m == nil {
		return scrollback.HashMessages(ms)
	}
	out, err := remember(m, m.hashes, keyOf(ms), func() ([]string, error) {
		hash, err := scrollback.HashMessages(ms)
		return []string{hash}, err
	})
	return append(out, "")[0], err
}

// measure is what of returns for a leaf and its messages.
func (m *Memory) measure(s scrollback.Segment, ms []scrollback.Message,
	of func(scrollback.Segment, []scrollback.Message) (int64, string, error)) (int64, string, error) {
	if m == nil {
		return of(s, ms)
	}
	out, err := remember(m, m.files, string(s.ID)+" "+keyOf(ms), func() ([]file, error) {
		bytes, sha256, err := of(s, ms)
		return []file{{bytes, sha256}}, err
	})
	f := append(out, file{})[0]
	return f.bytes, f.sha256, err
}
