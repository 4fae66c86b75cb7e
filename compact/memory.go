package compact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/kept"
)

// Memory remembers what was found in runs of messages, which never change: it makes the same
// fold again, for a request that is only a little heavier, for much less. It is for one
// conversation, and safe for concurrent use. A nil one remembers nothing.
type Memory struct {
	mu      sync.Mutex // of the maps
	heard   *judgements
	extract map[string][]extractLine
	said    map[string][]carriedLine
	hashes  map[string][]string
	files   map[string][]leafFile
	texts   map[scrollback.Ref]string // that summaries name
	settler *kept.Settler
	ends    map[scrollback.MessageID][]scrollback.Kept // what of messages may end something
	lines   map[lineKey]*readLine
	counts  map[string]int64 // tokens of lines, with the break before them
}

// lineKey names a line by what its reading depends on.
type lineKey struct {
	by, text string
	todo     bool
}

// readLine is what a line says.
type readLine struct {
	key     string
	clauses []string
	vital   bool
}

// maxLines bounds how many lines are remembered; a block is chosen from some thousands of them.
const maxLines = 8192

// leafFile is the size and hash of a leaf's file.
type leafFile struct {
	bytes  int64
	sha256 string
}

// maxRemembered bounds how many runs are remembered.
const maxRemembered = 64

// NewMemory makes an empty memory.
func NewMemory() *Memory {
	return &Memory{heard: &judgements{of: map[spoken]judgement{}}, extract: map[string][]extractLine{},
		said:   map[string][]carriedLine{},
		hashes: map[string][]string{}, files: map[string][]leafFile{}, texts: map[scrollback.Ref]string{},
		settler: kept.NewSettler(), ends: map[scrollback.MessageID][]scrollback.Kept{},
		lines: map[lineKey]*readLine{}, counts: map[string]int64{}}
}

// settleEnds is [kept.Settler.SettleEnds].
func (m *Memory) settleEnds(rows []scrollback.Kept) (entries, ends []scrollback.Kept) {
	if m == nil {
		return (*kept.Settler)(nil).SettleEnds(rows)
	}
	return m.settler.SettleEnds(rows)
}

// memoize returns what was made for a key before, or makes it; an error is not remembered.
func memoize[T any](m *Memory, of map[string][]T, key string, make func() ([]T, error)) ([]T, error) {
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
	if len(of) >= maxRemembered {
		clear(of)
	}
	of[key] = out
	return slices.Clone(out), nil
}

// messagesKey returns a key for messages.
func messagesKey(lists ...[]scrollback.Message) string {
	var b strings.Builder
	for _, ms := range lists {
		for i := range ms {
			b.WriteString(string(ms[i].ID) + " " + strconv.FormatInt(ms[i].Seq, 10) + " ")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// rowsKey returns a key for rows of what is kept, which are only ever added.
func rowsKey(rows []scrollback.Kept) string {
	if len(rows) == 0 {
		return ""
	}
	last := rows[len(rows)-1]
	return fmt.Sprint(len(rows), last.ID, last.Change, rows[0].ID)
}

// keepApart remembers a text that a summary names by its ref, and returns the ref.
func (m *Memory) keepApart(text string) scrollback.Ref {
	sum := sha256.Sum256([]byte(text))
	ref := scrollback.ArtifactRef(scrollback.ArtifactID(hex.EncodeToString(sum[:])))
	if m == nil {
		return ref
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.texts) >= maxRemembered {
		clear(m.texts)
	}
	m.texts[ref] = text
	return ref
}

// listApart lists the texts that a summary names.
func (m *Memory) listApart(summary string) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for ref, text := range m.texts {
		if strings.Contains(summary, string(ref)) {
			out = append(out, text)
		}
	}
	return out
}

// extractLines returns the extract of some messages.
func (m *Memory) extractLines(ms []scrollback.Message) []extractLine {
	if m == nil {
		return extractLines(ms, nil)
	}
	out, _ := memoize(m, m.extract, messagesKey(ms),
		func() ([]extractLine, error) { return extractLines(ms, m.heard), nil })
	return out
}

// carriedLines returns the lines that may be carried of a record.
func (m *Memory) carriedLines(r *summaryRecord) []carriedLine {
	if m == nil {
		return r.listCarried()
	}
	key := fmt.Sprint(messagesKey(r.released, r.run), r.told, r.pinned, r.leftOut, r.end, rowsKey(r.rows), r.previous)
	out, _ := memoize(m, m.said, key, func() ([]carriedLine, error) { return r.listCarried(), nil })
	return out
}

// listEndRows is [kept.ListEndRows].
func (m *Memory) listEndRows(of *scrollback.Message) []scrollback.Kept {
	if of.ID == "" {
		return kept.ListEndRows(of)
	}
	m.mu.Lock()
	out, ok := m.ends[of.ID]
	m.mu.Unlock()
	if ok {
		return out
	}
	out = kept.ListEndRows(of)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ends) >= maxLines {
		clear(m.ends)
	}
	m.ends[of.ID] = out
	return out
}

// readLine returns what a line says.
func (m *Memory) readLine(k lineKey) *readLine {
	if m == nil {
		return k.read()
	}
	m.mu.Lock()
	out := m.lines[k]
	m.mu.Unlock()
	if out != nil {
		return out
	}
	out = k.read()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lines) >= maxLines {
		clear(m.lines)
	}
	m.lines[k] = out
	return out
}

// countLine returns the tokens of a line with the break before it.
func (m *Memory) countLine(line string, count func(string) int) int64 {
	if m == nil {
		return int64(count("\n" + line))
	}
	m.mu.Lock()
	n, ok := m.counts[line]
	m.mu.Unlock()
	if ok {
		return n
	}
	n = int64(count("\n" + line))
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.counts) >= maxLines {
		clear(m.counts)
	}
	m.counts[line] = n
	return n
}

// hashMessages is [scrollback.HashMessages] of some messages.
func (m *Memory) hashMessages(ms []scrollback.Message) (string, error) {
	if m == nil {
		return scrollback.HashMessages(ms)
	}
	out, err := memoize(m, m.hashes, messagesKey(ms), func() ([]string, error) {
		hash, err := scrollback.HashMessages(ms)
		return []string{hash}, err
	})
	return append(out, "")[0], err
}

// measureLeaf returns what of returns for a leaf and its messages.
func (m *Memory) measureLeaf(s scrollback.Segment, ms []scrollback.Message,
	of func(scrollback.Segment, []scrollback.Message) (int64, string, error)) (int64, string, error) {
	if m == nil {
		return of(s, ms)
	}
	out, err := memoize(m, m.files, string(s.ID)+" "+messagesKey(ms), func() ([]leafFile, error) {
		bytes, sha256, err := of(s, ms)
		return []leafFile{{bytes, sha256}}, err
	})
	f := append(out, leafFile{})[0]
	return f.bytes, f.sha256, err
}
