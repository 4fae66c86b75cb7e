package vault

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// walker has machines do things in random order while objects arrive in any.
type walker struct {
	t        *testing.T
	random   *rand.Rand
	sea      *sea
	phrase   string
	machines []*machine
	attempts []attempt       // publications that were cut off
	dropped  map[string]bool // by a rewrite
	late     map[string]bool // published by a machine after its removal, or not seen by then
	artifact map[string]string
}

// attempt is a publication that may or may not have succeeded.
type attempt struct {
	by    *machine
	texts []string
}

func (w *walker) oneOf() *machine { return w.machines[w.random.IntN(len(w.machines))] }

// killed runs what a machine does, which is killed before one of its next writes; it starts again with what it kept.
func (w *walker) killed(m *machine, do func() error) (cut bool) {
	m.view.(*view).writes = w.random.IntN(12)
	err := do()
	m.view.(*view).writes = -1
	if err != nil && !errors.Is(err, errKilled) && scrollback.CodeOf(err) != scrollback.Refused &&
		scrollback.CodeOf(err) != scrollback.Unavailable && scrollback.CodeOf(err) != scrollback.Conflict {
		w.t.Fatalf("%s: %v", m.name, err)
	}
	if err != nil {
		w.open(m)
	}
	return err != nil
}

// open has a machine start again. What it needs may be under way for a while.
func (w *walker) open(m *machine) {
	if err := m.open(); err != nil {
		m.v = nil
	}
}

// look has a machine look, and checks that nothing is found that delays and kills cannot bring about.
func (w *walker) look(m *machine) bool {
	if m.v == nil {
		w.open(m)
	}
	if m.v == nil {
		return false
	}
	news, err := m.v.Look(w.t.Context())
	if err != nil {
		w.open(m)
		return false
	}
	if news.Another || news.AllLost || len(news.Lost) > 0 || len(news.Ignored) > 0 {
		w.t.Fatalf("%s: %+v", m.name, news)
	}
	for _, r := range news.Refused {
		text := r.Err.Error()
		if len(w.late) == 0 || !strings.Contains(text, "removed") && !strings.Contains(text, "not one of this remote") {
			w.t.Fatalf("%s: %v", m.name, r.Err)
		}
	}
	return true
}

func (w *walker) sizes() (out []int) {
	for range w.random.IntN(4) + 1 {
		out = append(out, []int{1, 3000, 60_000, 300_000, 1_100_000}[min(w.random.IntN(9), w.random.IntN(9), 4)])
	}
	return out
}

// publish has a machine publish, or be killed while it does.
func (w *walker) publish(m *machine) {
	if !w.look(m) {
		return
	}
	texts := m.batches(w.sizes()...)
	var err error
	do := func() error {
		err = m.v.Publish(w.t.Context(), seq(texts))
		return err
	}
	if w.random.IntN(3) > 0 {
		if err := do(); err != nil {
			return // its keys are not here yet
		}
	} else if w.killed(m, do); err != nil {
		w.attempts = append(w.attempts, attempt{m, texts})
		return
	}
	m.made = append(m.made, texts...)
}

// rewrite has a machine drop a batch.
func (w *walker) rewrite(m *machine) {
	if !w.look(m) {
		return
	}
	n := w.random.Uint64N(m.v.Published() + 1)
	for _, m := range w.machines {
		m.strict = false
	}
	w.killed(m, func() error {
		return m.v.Rewrite(w.t.Context(), func(number uint64, text []byte) ([]byte, error) {
			if text == nil {
				w.t.Errorf("%s lost %d", m.name, number)
			}
			if number != n {
				return text, nil
			}
			w.dropped[string(text)] = true
			return nil, nil
		})
	})
}

func (w *walker) putArtifact(m *machine) {
	if !w.look(m) {
		return
	}
	id := fmt.Sprint("artifact ", len(w.artifact))
	text := strings.Repeat(id, w.random.IntN(100_000))
	var err error
	w.killed(m, func() error {
		err = m.v.PutArtifact(w.t.Context(), id, strings.NewReader(text))
		return err
	})
	if err == nil {
		w.artifact[id] = text
	}
}

func (w *walker) step() {
	m := w.oneOf()
	switch w.random.IntN(12) {
	case 0, 1, 2:
		m.view.(*view).deliver(w.random, false)
	case 3, 4, 5:
		if w.look(m) {
			m.read()
		}
	case 6, 7, 8:
		w.publish(m)
	case 9:
		w.open(m)
	case 10:
		if w.random.IntN(3) == 0 {
			w.rewrite(m)
		}
	case 11:
		w.putArtifact(m)
	}
}

// settle lets all arrive, and all machines read all.
func (w *walker) settle() {
	for round := range 5 {
		for _, m := range w.machines {
			w.sea.settle()
			if !w.look(m) {
				w.t.Fatalf("%s cannot look when all has arrived: %v", m.name, m.open())
			}
			m.read()
			if err := m.v.Publish(w.t.Context(), seq(nil)); err != nil && round > 1 {
				w.t.Fatalf("%s: %v", m.name, err)
			}
		}
	}
	w.sea.settle()
}

// check compares what all have with what was published.
func (w *walker) check() {
	for _, m := range w.machines {
		for _, o := range w.machines {
			if o == m {
				continue
			}
			for _, text := range o.made {
				n := m.applied[text]
				if n == 0 && !w.dropped[text] || n > 1 {
					w.t.Errorf("%s has %.40q of %s %d times", m.name, text, o.name, n)
				}
			}
		}
		for _, a := range w.attempts {
			if a.by == m {
				continue
			}
			has := 0
			left := 0
			for _, text := range a.texts {
				if w.dropped[text] {
					continue
				}
				left++
				has += min(m.applied[text], 1)
			}
			if has != 0 && has != left {
				w.t.Errorf("%s has %d of %d batches of a publication that was cut off", m.name, has, left)
			}
		}
		news := m.look()
		if news.ToCome+len(news.Writers) > 0 {
			w.t.Errorf("%s: when all has arrived, %+v", m.name, news)
		}
		for id, text := range w.artifact {
			r, size, err := m.v.OpenArtifact(w.t.Context(), id)
			if err != nil || size != int64(len(text)) {
				w.t.Errorf("%s: %s: %d of %d, %v", m.name, id, size, len(text), err)
				continue
			}
			if got, err := readAtMost(r, size); err != nil || string(got) != text {
				w.t.Errorf("%s: %s: %v", m.name, id, err)
			}
		}
	}
	for _, m := range w.machines { // nothing is left lying about
		if !slices.Equal(slices.Sorted(maps.Keys(m.view.(*view).has)), slices.Sorted(maps.Keys(w.sea.views[0].has))) {
			w.t.Errorf("%s sees something else than others", m.name)
		}
		if m.v.state.Writing || len(m.v.litter) > 0 {
			w.t.Errorf("%s has left something", m.name)
		}
	}
}

func newWalker(t *testing.T, seed uint64, n int) *walker {
	w := &walker{t: t, random: rand.New(rand.NewPCG(seed, 7)), sea: &sea{t: t}, dropped: map[string]bool{},
		late: map[string]bool{}, artifact: map[string]string{}}
	for i := range n {
		name := string(rune('a' + i))
		m := newMachine(t, name, w.sea.newView(name))
		m.strict = true
		w.machines = append(w.machines, m)
		if i == 0 {
			w.phrase = m.init()
			w.sea.settle()
			continue
		}
		w.join(m)
	}
	return w
}

// join lets a machine in: by the phrase, or by another. Some of what is there has not arrived at it.
func (w *walker) join(m *machine) {
	m.view.(*view).deliver(w.random, false)
	if w.random.IntN(2) == 0 {
		w.sea.settle() // else it may not see who is there
		m.join(w.phrase)
		return
	}
	by := w.machines[0]
	if !w.look(by) {
		return
	}
	if err := by.v.Add(w.t.Context(), m.recipient(), m.name); err != nil &&
		scrollback.CodeOf(err) != scrollback.Unavailable && scrollback.CodeOf(err) != scrollback.Refused {
		w.t.Fatal(err)
	}
	w.open(m)
}

// Whatever is delayed and whoever is killed, each machine gets all that was published, once and in order, and a
// publication that is cut off is there as a whole or not at all.
func TestWalk(t *testing.T) {
	t.Parallel()
	for seed := range testlength.Choose[uint64](5, 40, 2000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWalker(t, seed, 3+int(seed%3))
			for range 120 {
				w.step()
				if t.Failed() {
					return
				}
			}
			w.settle()
			w.check()
		})
	}
}

// Machines are added and removed while others publish, and nothing has arrived everywhere: a removed one reads nothing
// that was written by those who know of it, and the rest goes on.
func TestWalkOfMembers(t *testing.T) {
	t.Parallel()
	for seed := range testlength.Choose[uint64](5, 40, 2000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWalker(t, seed, 4)
			for range 40 {
				w.step()
			}
			w.settle()
			gone := w.machines[3]
			by := w.machines[w.random.IntN(3)]
			other := w.machines[(slices.Index(w.machines, by)+1)%3]
			fifth := newMachine(t, "e", w.sea.newView("e"))
			w.late["all"] = true
			// At the same time, one removes a machine and another adds one.
			if !w.look(by) || !w.look(other) {
				t.Fatal("they cannot look")
			}
			if err := by.v.Remove(t.Context(), gone.name); err != nil {
				t.Fatal(err)
			}
			if err := other.v.Add(t.Context(), fifth.recipient(), fifth.name); err != nil {
				t.Fatal(err)
			}
			before := len(gone.made)
			cuts := len(w.attempts)
			w.machines = append(w.machines, fifth)
			for range 60 {
				w.step()
			}
			gone.made = gone.made[:before] // what it published since is not believed
			w.attempts = slices.Concat(w.attempts[:cuts:cuts],
				slices.DeleteFunc(w.attempts[cuts:], func(a attempt) bool { return a.by == gone }))
			w.machines = slices.DeleteFunc(slices.Clone(w.machines), func(m *machine) bool { return m == gone })
			w.settle()
			secret := by.batches(100, 200)
			by.look()
			by.publish(secret...)
			w.settle()
			w.check()
			w.sea.settle()
			if err := gone.open(); err == nil {
				if _, err := gone.v.Look(t.Context()); err == nil {
					gone.read()
				}
			}
			for _, text := range secret {
				if gone.applied[text] > 0 {
					t.Errorf("what was removed reads %q", text)
				}
			}
			for _, m := range w.machines {
				if got := m.v.Machines(); len(got) != 4 {
					t.Errorf("%s knows %+v", m.name, got)
				}
			}
		})
	}
}
