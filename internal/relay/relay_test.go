package relay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/identity"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/relay"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/vault"
	"github.com/scrollback-ai/scrollback/local"
)

// machine is a store of a person, with what it keeps of one remote.
type machine struct {
	t    *testing.T
	name string
	*local.Scrollback
	place relay.Place
	keys  identity.Keys
}

func openMachine(t *testing.T, name string) *machine {
	t.Helper()
	dir := t.TempDir()
	sb, err := local.Open(t.Context(), dir, &local.Options{Model: "offline", Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sb.Close() })
	return &machine{t, name, sb, relay.Place{Dir: filepath.Join(dir, "sync", "remote")},
		identity.Keys{File: filepath.Join(dir, "identity.txt")}}
}

func (m *machine) side() exchange.Side { return exchange.Side{Store: m.Store, Archive: m.Archive} }

// join makes the machine a member of the vault in a folder, of which the first one makes it.
func (m *machine) join(dir, phrase string) string {
	m.t.Helper()
	o, err := vault.NewFolder(dir, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	save := func(s vault.State) error { return m.place.Write(relay.State{Vault: s}) }
	if phrase == "" {
		_, phrase, err = vault.Init(m.t.Context(), o, m.keys, m.name, save)
	} else {
		_, err = vault.Join(m.t.Context(), o, m.keys, m.name, phrase, save)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return phrase
}

// meet opens the vault and meets the others there, as a process of its own.
func (m *machine) meet(dir string, o relay.Options) relay.Result {
	m.t.Helper()
	got, err := m.tryMeet(dir, o)
	if err != nil {
		m.t.Fatalf("%s: %v", m.name, err)
	}
	return got
}

func (m *machine) tryMeet(dir string, o relay.Options) (relay.Result, error) {
	objects, err := vault.NewFolder(dir, 0)
	if err != nil {
		return relay.Result{}, err
	}
	return m.meetThrough(objects, o)
}

func (m *machine) meetThrough(objects vault.Objects, o relay.Options) (relay.Result, error) {
	state, err := m.place.Read()
	if err != nil {
		return relay.Result{}, err
	}
	v, err := vault.Open(m.t.Context(), objects, m.keys, state.Vault, func(s vault.State) error {
		state.Vault = s
		return m.place.Write(state)
	})
	if err != nil {
		return relay.Result{}, err
	}
	o.Now = m.Store.Now
	meeting := &relay.Meeting{Vault: v, Ours: m.side().Peer(merge.Access{}), Place: m.place, State: &state}
	return meeting.Meet(m.t.Context(), o)
}

var both = relay.Options{Pull: true, Push: true, Terms: merge.Terms{Purges: true}}

func (m *machine) digest() exchange.Digest {
	m.t.Helper()
	d, err := m.side().Digest(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return d
}

func (m *machine) say(id scrollback.ConversationID, text string) {
	m.t.Helper()
	for _, err := range m.Turn(m.t.Context(), engine.TurnRequest{Conversation: id, Message: scrollback.Say(text)}) {
		if err != nil {
			m.t.Fatalf("%s: %v", m.name, err)
		}
	}
}

func (m *machine) create() scrollback.ConversationID {
	m.t.Helper()
	c, _, err := m.Create(m.t.Context(), scrollback.Conversation{})
	if err != nil {
		m.t.Fatal(err)
	}
	return c.ID
}

func wantEqual(t *testing.T, all ...*machine) {
	t.Helper()
	want := all[0].digest()
	for _, m := range all[1:] {
		if got := m.digest(); got.Digest != want.Digest {
			for _, pair := range [][2]*machine{{all[0], m}, {m, all[0]}} {
				to := pair[0].side().Peer(merge.Access{})
				from := pair[1].side().Peer(merge.Access{})
				wanted, err := merge.Missing(t.Context(), to, from)
				if err != nil {
					t.Fatal(err)
				}
				set, err := from.Records(t.Context(), wanted)
				text, _ := json.Marshal(set)
				t.Errorf("%s lacks %+v of %s: %s, %v", pair[0].name, wanted, pair[1].name, text, err)
			}
			t.Fatalf("%s and %s differ", all[0].name, m.name)
		}
	}
}

// TestMeet: two machines that never see each other have one history, bytes included, and nothing new writes nothing.
func TestMeet(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := t.TempDir()
	a := openMachine(t, "a")
	b := openMachine(t, "b")
	b.join(dir, a.join(dir, ""))
	id := a.create()
	for i := range 20 {
		a.say(id, fmt.Sprint(i, strings.Repeat(" words", 400)))
	}
	art, err := a.Upload(ctx, id, strings.NewReader("\x00\x01 bytes"), "n.bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range a.Turn(ctx, engine.TurnRequest{Conversation: id,
		Message: scrollback.Parts{scrollback.Text{Text: "see"}, scrollback.File{Artifact: art.ID}}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Compact(ctx, id, engine.CompactRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := a.meet(dir, both); got.Pushed.Messages != 42 {
		t.Errorf("%+v", got)
	}
	if got := b.meet(dir, both); got.Pulled.Messages != 42 || got.Pushed.Messages != 0 || got.ToCome != 0 {
		t.Errorf("%+v", got)
	}
	wantEqual(t, a, b)
	for _, m := range []*machine{a, b, a} {
		if got := m.meet(dir, both); got.Pushed.Bytes != 0 || got.Pulled.Messages != 0 {
			t.Errorf("nothing is new, and %s moves %+v", m.name, got)
		}
	}
	b.say(id, "on the other machine")
	if got := b.meet(dir, both); got.Pushed.Messages != 2 {
		t.Errorf("%+v", got)
	}
	a.meet(dir, both)
	wantEqual(t, a, b)
	for _, m := range []*machine{a, b} {
		if found, err := doctor.Check(ctx, m.Store, m.Archive, nil); err != nil || !found.OK {
			t.Errorf("%s: %+v, %v", m.name, found, err)
		}
	}
}

// mortal is objects of a process that is killed after some writes: it does nothing more.
type mortal struct {
	vault.Objects
	left int
}

var errKilled = errors.New("killed")

func (m *mortal) Put(ctx context.Context, key string, content []byte) error {
	if m.left <= 0 {
		return errKilled
	}
	m.left--
	return m.Objects.Put(ctx, key, content)
}

func (m *mortal) Delete(ctx context.Context, key string) error {
	if m.left <= 0 {
		return errKilled
	}
	m.left--
	return m.Objects.Delete(ctx, key)
}

func (m *mortal) List(ctx context.Context) iter.Seq2[vault.Object, error] { return m.Objects.List(ctx) }

func (m *mortal) Read(ctx context.Context, key string, limit int64) ([]byte, error) {
	return m.Objects.Read(ctx, key, limit)
}

// TestKilledWhilePublishing: a sync that is killed between any two writes has given the old or the new state, and the
// next one ends it; a purge takes what was said out of the folder for good, also then.
func TestKilledWhilePublishing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	killed := 0
	for n := 0; ; n += testlength.Choose(3, 1, 1) {
		dir := t.TempDir()
		a := openMachine(t, "a")
		b := openMachine(t, "b")
		b.join(dir, a.join(dir, ""))
		folder, err := vault.NewFolder(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		alive := true
		through := func() { // a process that may die, and then one that does not
			if _, err := a.meetThrough(&mortal{folder, n}, both); err != nil {
				alive = false
				killed++
			}
			b.meet(dir, both)
			a.meet(dir, both)
			b.meet(dir, both)
			wantEqual(t, a, b)
		}
		id := a.create()
		a.say(id, "about plums")
		if _, err := a.Upload(ctx, id, strings.NewReader("\x00\x01 bytes"), "n.bin"); err != nil {
			t.Fatal(err)
		}
		gone := a.create()
		a.say(gone, "not for long")
		through()
		if _, err := a.Purge(ctx, gone); err != nil {
			t.Fatal(err)
		}
		a.say(id, "and about pears")
		through()
		if _, err := b.Get(ctx, gone); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("after %d writes, what was purged is there: %v", n, err)
		}
		if got := a.meet(dir, both); got.Pushed.Bytes > 0 || got.Pulled.Messages > 0 {
			t.Errorf("after %d writes, something is new: %+v", n, got)
		}
		if alive {
			break
		}
	}
	if killed < 4 {
		t.Errorf("killed only %d times", killed)
	}
}

// TestMachines: whatever people do on several machines, and whenever these meet, all end with the same.
func TestMachines(t *testing.T) {
	t.Parallel()
	for seed := range testlength.Choose(2, 6, 50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 36))
			dir := t.TempDir()
			var all []*machine
			phrase := ""
			for _, name := range []string{"a", "b", "c"} {
				m := openMachine(t, name)
				phrase = m.join(dir, phrase)
				all = append(all, m)
			}
			w := &walk{t: t, rng: rng, all: all, dir: dir}
			for range testlength.Choose(40, 120, 300) {
				w.step()
			}
			for range 3 {
				for _, m := range all {
					if got := m.meet(dir, both); len(got.Pulled.Refused) > 0 || got.ToCome > 0 {
						t.Logf("%s: %+v", m.name, got)
					}
				}
			}
			wantEqual(t, all...)
			for _, m := range all {
				if got := m.meet(dir, both); got.Pushed.Bytes > 0 || got.Pulled.Conversations > 0 || got.ToCome > 0 {
					t.Errorf("meeting again: %+v", got)
				}
				if found, err := doctor.Check(t.Context(), m.Store, m.Archive, nil); err != nil || !found.OK {
					t.Errorf("%s: %+v, %v", m.name, found, err)
				}
			}
		})
	}
}

// walk is what people do.
type walk struct {
	t     *testing.T
	rng   *rand.Rand
	all   []*machine
	dir   string
	talks []scrollback.ConversationID
	n     int
}

func (w *walk) step() {
	w.t.Helper()
	ctx := w.t.Context()
	m := w.all[w.rng.IntN(len(w.all))]
	if len(w.talks) == 0 || w.rng.IntN(12) == 0 {
		w.talks = append(w.talks, m.create())
		return
	}
	id := w.talks[w.rng.IntN(len(w.talks))]
	c, err := m.Get(ctx, id)
	if scrollback.CodeOf(err) == scrollback.NotFound || w.rng.IntN(4) == 0 {
		o := both
		switch w.rng.IntN(8) {
		case 0:
			o.Pull = false
		case 1:
			o.Push = false
		}
		m.meet(w.dir, o)
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.n++
	text := fmt.Sprintf("word%d of %s", w.n, m.name)
	switch k := w.rng.IntN(11); {
	case c.DeletedAt != 0:
		_, err = m.Restore(ctx, id)
	case k < 5:
		m.say(id, text)
	case k == 5 && c.Messages > 0:
		seq := w.rng.Int64N(c.Messages + 1)
		_, err = m.Branches().Rewind(ctx, id, engine.Point{Seq: &seq})
	case k == 6 && c.Messages > 0:
		seq := 1 + w.rng.Int64N(c.Messages)
		var f scrollback.Conversation
		f, err = m.Branches().Fork(ctx, id, engine.Point{Seq: &seq}, "")
		w.talks = append(w.talks, f.ID)
	case k == 7:
		_, err = m.Patch(ctx, id, 0, func(c *scrollback.Conversation) error { c.Title = text; return nil })
	case k == 8 && c.Messages > 0:
		pins := []int64{1 + w.rng.Int64N(c.Messages)}
		_, err = m.Patch(ctx, id, 0, func(c *scrollback.Conversation) error { c.PinnedSeqs = pins; return nil })
	case k == 9 && w.rng.IntN(2) == 0:
		_, err = m.Trash(ctx, id)
	case k == 10 && w.rng.IntN(4) == 0:
		_, err = m.Purge(ctx, id)
	}
	if err != nil {
		w.t.Fatalf("%s: %v", m.name, err)
	}
}
