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

// Memory remembers what was found in messages and sentences, which never change: the next fold of
// the conversation, or the same one for a request that is only a little heavier, costs much less. It is for
// one conversation, and safe for concurrent use. A nil one remembers nothing.
type Memory struct {
	mu      sync.Mutex // of the maps
	heard   *judgements
	extract map[string][]extractLine
	said    map[string][]carriedLine
	hashes  map[string][]string
	files   map[string][]leafFile
	texts   map[scrollback.Ref]string // that summaries name
	settler *kept.Settler
	ends    remembered[scrollback.MessageID, []scrollback.Kept] // what of messages may end something
	lines   remembered[lineKey, readLine]
	parsed  remembered[string, []extractLine] // lines of placeholders
	counts  remembered[string, int64]         // tokens of lines, with the break before them
	counted countedTexts
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

// leafFile is the size and hash of a leaf's file.
type leafFile struct {
	bytes  int64
	sha256 string
}

// Bounds of the runs that are remembered, and of what was found in all of them. With more, all are forgotten.
const (
	maxRemembered      = 64
	maxRememberedFinds = 32 << 10
)

// NewMemory makes an empty memory.
func NewMemory() *Memory {
	return &Memory{heard: &judgements{}, extract: map[string][]extractLine{}, said: map[string][]carriedLine{},
		hashes: map[string][]string{}, files: map[string][]leafFile{}, texts: map[scrollback.Ref]string{},
		settler: kept.NewSettler()}
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
	finds := len(out)
	for _, other := range of {
		finds += len(other)
	}
	if len(of) >= maxRemembered || finds > maxRememberedFinds {
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

// apartRef returns the ref by which a summary names a text.
func apartRef[T string | []byte](text T) scrollback.Ref {
	sum := sha256.Sum256([]byte(text))
	return scrollback.ArtifactRef(scrollback.ArtifactID(hex.EncodeToString(sum[:])))
}

// keepApart remembers a text that a summary names by its ref.
func (m *Memory) keepApart(text string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.texts) >= maxRemembered {
		clear(m.texts)
	}
	m.texts[apartRef(text)] = text
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
	return m.ends.find(of.ID, func() []scrollback.Kept { return kept.ListEndRows(of) })
}

// readLine returns what a line says.
func (m *Memory) readLine(k lineKey) readLine {
	if m == nil {
		return k.read()
	}
	return m.lines.find(k, k.read)
}

// parseLines returns the lines of a placeholder, which are not to be changed.
func (m *Memory) parseLines(placeholder string) []extractLine {
	if m == nil {
		return parseLines(placeholder)
	}
	return m.parsed.find(placeholder, func() []extractLine { return parseLines(placeholder) })
}

// countedTexts are the tokens of texts.
type countedTexts struct {
	mu    sync.Mutex
	of    map[string]int
	bytes int // of all of them
}

// Bounds of the texts whose tokens are remembered, in bytes: of one, and of all. With one more, all are forgotten.
const (
	maxCountedText  = 8 << 10
	maxCountedTexts = 512 << 10
)

// rememberCounts returns a function that counts the tokens of a text as another does, and the same text once.
func (m *Memory) rememberCounts(count func(string) int) func(string) int {
	c := &m.counted
	return func(text string) int {
		if len(text) > maxCountedText {
			return count(text)
		}
		c.mu.Lock()
		n, known := c.of[text]
		c.mu.Unlock()
		if known {
			return n
		}
		n = count(text)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.bytes += len(text); c.of == nil || c.bytes > maxCountedTexts {
			c.of = map[string]int{}
			c.bytes = len(text)
		}
		c.of[text] = n
		return n
	}
}

// countLine returns the tokens of a line with the break before it.
func (m *Memory) countLine(line string, count func(string) int) int64 {
	tokens := func() int64 { return int64(count("\n" + line)) }
	if m == nil {
		return tokens()
	}
	return m.counts.find(line, tokens)
}

// remembered are values that were made of keys, some thousands at most: a block is chosen from as many lines. The zero
// value is ready, and safe for concurrent use. Nil remembers nothing.
type remembered[K comparable, V any] struct {
	mu       sync.Mutex
	of, last map[K]V // last is what of was when it was full
}

// maxRememberedValues bounds how many there are in either part; with one more, those are forgotten that were not needed
// since the last time.
const maxRememberedValues = 8192

// find returns the value of a key, which it makes if it is not known. Two callers may make the same one.
func (r *remembered[K, V]) find(key K, make func() V) V {
	if r == nil {
		return make()
	}
	r.mu.Lock()
	v, known := r.of[key]
	recent := known
	if !known {
		v, known = r.last[key]
	}
	r.mu.Unlock()
	if recent {
		return v
	}
	if !known {
		v = make()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.of) >= maxRememberedValues {
		r.last = r.of
		r.of = nil
	}
	if r.of == nil {
		r.of = map[K]V{}
	}
	r.of[key] = v
	return v
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
