package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/identity"
)

// sea is a place where objects take their time: what one machine writes or removes is seen by another when it has been
// delivered there, in any order.
type sea struct {
	t     testing.TB
	views []*view
}

// view is the sea as one machine sees it.
type view struct {
	sea     *sea
	name    string
	has     map[string][]byte
	wrote   map[string]bool   // keys that this machine wrote
	pending map[string][]byte // what has not been delivered here: nil is a removal
	writes  int               // how many more succeed; negative is all
	reads   []string
	lists   int
	changes int
	broken  map[string]error // what reading an object gives
}

var errKilled = errors.New("killed")

func (s *sea) newView(name string) *view {
	v := &view{sea: s, name: name, has: map[string][]byte{}, wrote: map[string]bool{}, pending: map[string][]byte{},
		writes: -1, broken: map[string]error{}}
	if len(s.views) > 0 {
		maps.Copy(v.has, s.views[0].has)
		maps.Copy(v.pending, s.views[0].pending)
	}
	s.views = append(s.views, v)
	return v
}

func (v *view) List(context.Context) iter.Seq2[Object, error] {
	v.lists++
	return func(yield func(Object, error) bool) {
		for key, content := range v.has {
			if !yield(Object{key, int64(len(content))}, nil) {
				return
			}
		}
	}
}

func (v *view) Read(_ context.Context, key string, limit int64) ([]byte, error) {
	v.reads = append(v.reads, key)
	if err := v.broken[key]; err != nil {
		return nil, err
	}
	content, ok := v.has[key]
	if !ok {
		return nil, fmt.Errorf("%w: %s", blob.ErrMissing, key)
	}
	if int64(len(content)) > limit {
		return nil, errTooLong
	}
	return content, nil
}

// spend counts a change, and fails if the machine is to be killed before it.
func (v *view) spend() error {
	if v.writes == 0 {
		return errKilled
	}
	v.writes--
	v.changes++
	return nil
}

func (v *view) Put(_ context.Context, key string, content []byte) error {
	if err := v.spend(); err != nil {
		return err
	}
	p, ours := parseKey(key)
	if !ours && key != markerName {
		v.sea.t.Errorf("%s is written under a name that is not ours: %s", v.name, key)
	}
	if ours && nameOf(content) != p.name {
		v.sea.t.Errorf("%s is not named by its content", key)
	}
	if old, ok := v.has[key]; ok && !bytes.Equal(old, content) {
		v.sea.t.Errorf("%s writes over %s", v.name, key)
	}
	if ours {
		for _, other := range v.sea.views {
			if other == v {
				continue
			}
			for theirs := range other.wrote {
				if t, _ := parseKey(theirs); t.writer == p.writer && v.sea.views != nil && !other.twin(v) {
					v.sea.t.Errorf("%s writes below the id of %s: %s", v.name, other.name, key)
				}
			}
		}
	}
	v.wrote[key] = true
	v.has[key] = bytes.Clone(content)
	for _, other := range v.sea.views {
		if other != v {
			other.pending[key] = v.has[key]
		}
	}
	return nil
}

// twin reports whether two views are of copies of one machine.
func (v *view) twin(o *view) bool {
	a, _, _ := strings.Cut(v.name, "'")
	b, _, _ := strings.Cut(o.name, "'")
	return a == b
}

func (v *view) Delete(_ context.Context, key string) error {
	if err := v.spend(); err != nil {
		return err
	}
	delete(v.has, key)
	for _, other := range v.sea.views {
		if other != v {
			other.pending[key] = nil
		}
	}
	return nil
}

// deliver brings some of what is under way.
func (v *view) deliver(random *rand.Rand, all bool) {
	for _, key := range slices.Sorted(maps.Keys(v.pending)) {
		if !all && random.IntN(3) > 0 {
			continue
		}
		if content := v.pending[key]; content != nil {
			v.has[key] = content
		} else {
			delete(v.has, key)
		}
		delete(v.pending, key)
	}
}

// machine is one that uses a vault, with what it has kept.
type machine struct {
	t    testing.TB
	name string
	keys identity.Keys
	view Objects
	kept []byte // its state, as JSON
	v    *Vault

	applied map[string]int             // batches by text
	order   map[string]map[uint64]bool // which were read, by writer
	strict  bool                       // nothing is ever dropped or restored
	made    []string
	n       int
}

func newMachine(t testing.TB, name string, o Objects) *machine {
	return &machine{t: t, name: name, view: o, keys: identity.Keys{File: filepath.Join(t.TempDir(), identity.FileName)},
		applied: map[string]int{}, order: map[string]map[uint64]bool{}}
}

func (m *machine) save(s State) error {
	if w, ok := m.view.(*view); ok && w.writes >= 0 { // it may be killed here, too
		if err := w.spend(); err != nil {
			return err
		}
	}
	text, err := json.Marshal(s)
	m.kept = text
	return err
}

func (m *machine) recipient() string {
	own, err := m.keys.Own()
	if err != nil {
		m.t.Fatal(err)
	}
	return own.Recipient
}

func (m *machine) state() (s State) {
	if len(m.kept) > 0 {
		if err := json.Unmarshal(m.kept, &s); err != nil {
			m.t.Fatal(err)
		}
	}
	return s
}

// open opens the vault as a program that starts does.
func (m *machine) open() error {
	v, err := Open(m.t.Context(), m.view, m.keys, m.state(), m.save)
	m.v = v
	return err
}

func (m *machine) mustOpen() {
	m.t.Helper()
	if err := m.open(); err != nil {
		m.t.Fatalf("%s: %v", m.name, err)
	}
}

func (m *machine) init() string {
	m.t.Helper()
	v, phrase, err := Init(m.t.Context(), m.view, m.keys, m.name, m.save)
	if err != nil {
		m.t.Fatal(err)
	}
	m.v = v
	return phrase
}

func (m *machine) join(phrase string) {
	m.t.Helper()
	v, err := Join(m.t.Context(), m.view, m.keys, m.name, phrase, m.save)
	if err != nil {
		m.t.Fatal(err)
	}
	m.v = v
}

func (m *machine) look() News {
	m.t.Helper()
	news, err := m.v.Look(m.t.Context())
	if err != nil {
		m.t.Fatalf("%s looks: %v", m.name, err)
	}
	return news
}

// read applies all that can be read, and returns the texts.
func (m *machine) read() (out []string) {
	m.t.Helper()
	var last Batch
	for b, err := range m.v.Read(m.t.Context()) {
		if err != nil {
			m.t.Fatalf("%s reads: %v", m.name, err)
		}
		out = append(out, string(b.Bytes))
		m.applied[string(b.Bytes)]++
		m.noteOrder(b, last)
		last = b
		m.v.Applied(b)
	}
	if err := m.v.Keep(); err != nil && !errors.Is(err, errKilled) {
		m.t.Fatal(err)
	}
	return out
}

// noteOrder checks that a batch comes behind those before it, or says that one is missing.
func (m *machine) noteOrder(b, last Batch) {
	if b.line == last.line && b.Number <= last.Number {
		m.t.Errorf("%s reads %d of %s behind %d", m.name, b.Number, b.Writer, last.Number)
	}
	if m.order[b.Writer] == nil {
		m.order[b.Writer] = map[uint64]bool{}
	}
	m.order[b.Writer][b.Number] = true
	for n := uint64(1); n < b.Number && m.strict && !b.Gap; n++ {
		if !m.order[b.Writer][n] {
			m.t.Errorf("%s reads %d of %s before %d, and nothing says so", m.name, b.Number, b.Writer, n)
		}
	}
}

// batches makes texts that no other machine makes.
func (m *machine) batches(sizes ...int) (out []string) {
	for _, size := range sizes {
		m.n++
		var text strings.Builder
		fmt.Fprintf(&text, "the secret words of %s, %d: ", m.name, m.n)
		for text.Len() < size {
			fmt.Fprintf(&text, "%d plain words ", text.Len())
		}
		out = append(out, text.String())
	}
	return out
}

func seq(texts []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, text := range texts {
			if !yield([]byte(text), nil) {
				return
			}
		}
	}
}

func (m *machine) publish(texts ...string) {
	m.t.Helper()
	if err := m.v.Publish(m.t.Context(), seq(texts)); err != nil {
		m.t.Fatalf("%s publishes: %v", m.name, err)
	}
	m.made = append(m.made, texts...)
}

// calm is a sea without delays with some machines that are members of its vault.
func calm(t testing.TB, names ...string) (*sea, []*machine, string) {
	t.Helper()
	s := &sea{t: t}
	var out []*machine
	var phrase string
	for i, name := range names {
		m := newMachine(t, name, s.newView(name))
		out = append(out, m)
		if i == 0 {
			phrase = m.init()
		} else {
			m.join(phrase)
		}
		s.settle()
	}
	return s, out, phrase
}

// settle delivers everything.
func (s *sea) settle() {
	for _, v := range s.views {
		v.deliver(nil, true)
	}
}

// meet has each machine look, read and publish nothing, until all has arrived everywhere.
func (s *sea) meet(machines ...*machine) {
	s.t.Helper()
	for range 3 {
		for _, m := range machines {
			s.settle()
			m.look()
			m.read()
			m.publish()
		}
	}
	s.settle()
}

// mustHold fails unless a machine has all that others published, each once if so.
func (m *machine) mustHold(once bool, others ...*machine) {
	m.t.Helper()
	for _, o := range others {
		if o == m {
			continue
		}
		for _, text := range o.made {
			if n := m.applied[text]; n == 0 || once && n != 1 {
				m.t.Errorf("%s has %.40q… %d times", m.name, text, n)
			}
		}
	}
}
