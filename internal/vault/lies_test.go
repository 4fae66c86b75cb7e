package vault

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/identity"
)

// harbor is a calm sea with two machines that have published, a veteran that has read all, and what a newcomer needs.
type harbor struct {
	t      *testing.T
	sea    *sea
	a, b   *machine
	phrase string
	early  map[string][]byte // what was there when half of it had been published
	late   map[string][]byte
}

func newHarbor(t *testing.T) *harbor {
	s, ms, phrase := calm(t, "a", "b")
	h := &harbor{t: t, sea: s, a: ms[0], b: ms[1], phrase: phrase}
	for i := range 4 {
		if i == 2 {
			h.early = maps.Clone(s.views[0].has)
		}
		for _, m := range ms {
			m.look()
			m.read()
			m.publish(m.batches(10, 70_000*(i%2), 3000)...)
			s.settle()
		}
	}
	s.meet(ms...)
	h.late = maps.Clone(s.views[0].has)
	return h
}

// viewOf is what a machine sees that is alone with some objects.
func viewOf(t testing.TB, name string, has map[string][]byte) *view {
	v := (&sea{t: t}).newView(name)
	v.has = maps.Clone(has)
	return v
}

// newcomer is a machine that joined and has read nothing, which sees has.
func (h *harbor) newcomer(has map[string][]byte) *machine {
	m := newMachine(h.t, "c", viewOf(h.t, "c", has))
	m.join(h.phrase)
	return m
}

// again is a machine as a copy, which sees has.
func again(m *machine, has map[string][]byte) *machine {
	out := newMachine(m.t, m.name, viewOf(m.t, m.name, has))
	out.keys = m.keys
	out.kept = slices.Clone(m.kept)
	out.made = slices.Clone(m.made)
	return out
}

// lacks returns how many of a machine's batches another has not got, and fails at any that nobody made.
func (h *harbor) lacks(m, of *machine) (n int) {
	for _, text := range of.made {
		if m.applied[text] == 0 {
			n++
		}
	}
	for text := range m.applied {
		if !slices.Contains(h.a.made, text) && !slices.Contains(h.b.made, text) {
			h.t.Errorf("%s has read %.40q, which nobody wrote", m.name, text)
		}
	}
	return n
}

// lies are what may be in an object's place.
func (h *harbor) lies(key string) map[string][]byte {
	right := h.late[key]
	out := map[string][]byte{"missing": nil, "emptied": {}, "cut": right[:len(right)-1], "half": right[:len(right)/2],
		"longer": append(bytes.Clone(right), 0)}
	for _, at := range []int{0, 1, 12, 20, 60, 500, len(right) / 2, len(right) - 1} {
		if at < len(right) {
			out[fmt.Sprint("changed at ", at)] = flip(right, at)
		}
	}
	p, _ := parseKey(key)
	for other, content := range h.late {
		o, _ := parseKey(other)
		if other == key || o.kind != p.kind {
			continue
		}
		if o.writer == p.writer {
			out["another of its own"] = content
		} else {
			out["another's"] = content
		}
	}
	return out
}

// Whatever is done to one object, a newcomer reads only what was written, says what is wrong by name, goes on with all
// that does not need it, and has everything once it is right again.
func TestLiesToNewcomer(t *testing.T) {
	t.Parallel()
	h := newHarbor(t)
	joined := h.newcomer(h.late)
	kept := joined.kept
	has := joined.view.(*view).has
	for _, key := range slices.Sorted(maps.Keys(h.late)) {
		p, _ := parseKey(key)
		for what, lie := range h.lies(key) {
			m := again(joined, has)
			m.kept = kept
			see := m.view.(*view).has
			if lie == nil {
				delete(see, key)
			} else {
				see[key] = lie
			}
			if err := m.open(); err != nil {
				if key != markerName {
					t.Errorf("%s is %s: %v", key, what, err)
				}
				continue
			}
			if key == markerName {
				t.Errorf("the marker is %s, and nobody noticed", what)
			}
			m.look()
			m.read()
			lacksA := h.lacks(m, h.a)
			lacksB := h.lacks(m, h.b)
			news := m.v.News()
			named := slices.ContainsFunc(news.Refused, func(r Refusal) bool {
				return r.Key == key && scrollback.CodeOf(r.Err) == scrollback.Refused && strings.Contains(r.Err.Error(), key)
			})
			if lacksA > 0 && lacksB > 0 {
				t.Errorf("%s is %s: of both something is missing", key, what)
			}
			switch {
			case what == "missing" && p.kind == dataKind && (lacksA+lacksB == 0 || news.ToCome == 0):
				t.Errorf("%s is missing: %d and %d lack, %+v", key, lacksA, lacksB, news)
			case what != "missing" && p.kind == dataKind && (lacksA+lacksB == 0 || !named):
				t.Errorf("%s is %s: %d and %d lack, %+v", key, what, lacksA, lacksB, news)
			case lacksA+lacksB > 4:
				t.Errorf("%s is %s: %d and %d lack", key, what, lacksA, lacksB)
			}
			see[key] = h.late[key]
			m.look()
			m.read()
			if n := h.lacks(m, h.a) + h.lacks(m, h.b); n > 0 {
				t.Errorf("%s was %s: %d are still missing", key, what, n)
			}
		}
	}
}

// A machine that is a member and has kept its state is told, and brings back what it had written.
func TestLiesToVeteran(t *testing.T) {
	t.Parallel()
	h := newHarbor(t)
	for _, key := range slices.Sorted(maps.Keys(h.late)) {
		if key == markerName {
			continue
		}
		p, _ := parseKey(key)
		for what, lie := range h.lies(key) {
			a := again(h.a, h.late)
			see := a.view.(*view).has
			if lie == nil {
				delete(see, key)
			} else {
				see[key] = lie
			}
			a.mustOpen()
			news := a.look()
			if news.Another {
				t.Fatalf("%s is %s: it takes another id", key, what)
			}
			if got := a.read(); len(got) > 0 {
				t.Errorf("%s is %s: it reads %d batches again", key, what, len(got))
			}
			own := p.writer == a.v.writer.id
			wrong := !slices.Contains(classes[:], len(lie))
			switch {
			case own && p.kind == headKind && p.name == a.v.state.Own.Head && !news.AllLost,
				own && p.kind == dataKind && wrong && len(news.Lost) == 0,
				!own && (news.AllLost || len(news.Lost) > 0):
				t.Errorf("%s is %s: %+v", key, what, news)
			}
			if news.AllLost || len(news.Lost) > 0 {
				if err := a.v.Replace(t.Context(), seq(a.made)); err != nil {
					t.Fatal(err)
				}
			} else if err := a.v.Publish(t.Context(), seq(a.batches(1))); err != nil && p.kind != listKind {
				t.Fatal(err)
			}
			if !own || p.kind == dataKind && !wrong { // that is told to those who read it
				continue
			}
			news = a.look()
			if news.AllLost || len(news.Lost) > 0 || news.Another {
				t.Errorf("%s was %s, and it was written again: %+v", key, what, news)
			}
			c := h.newcomer(see)
			c.look()
			c.read()
			for _, text := range a.made {
				if c.applied[text] == 0 {
					t.Errorf("%s was %s: %.40q did not come back", key, what, text)
				}
			}
		}
	}
}

// An older state of the whole is told once, is not believed, and is made complete by those who wrote it.
func TestOlderState(t *testing.T) {
	t.Parallel()
	h := newHarbor(t)
	a := again(h.a, h.early)
	a.mustOpen()
	news := a.look()
	if len(news.Writers) != 1 || !news.Writers[0].Older || news.Writers[0].Name != "b" || !news.AllLost || news.Another ||
		len(news.Refused) > 0 {
		t.Fatalf("%+v", news)
	}
	if got := a.read(); len(got) > 0 {
		t.Errorf("%d batches are read again", len(got))
	}
	if err := a.v.Publish(t.Context(), seq(a.batches(1))); scrollback.CodeOf(err) != scrollback.Conflict {
		t.Errorf("it goes on: %v", err)
	}
	if err := a.v.Replace(t.Context(), seq(a.made)); err != nil {
		t.Fatal(err)
	}
	a.mustOpen()
	if news := a.look(); len(news.Writers) > 0 || news.AllLost || len(news.Lost) > 0 || news.ToCome > 0 {
		t.Errorf("it is told again: %+v", news)
	}
	b := again(h.b, a.view.(*view).has)
	b.mustOpen()
	if news := b.look(); !news.AllLost || news.Another {
		t.Errorf("%+v", news)
	}
	b.read()
	if err := b.v.Replace(t.Context(), seq(b.made)); err != nil {
		t.Fatal(err)
	}
	c := h.newcomer(b.view.(*view).has)
	c.look()
	c.read()
	if n := h.lacks(c, h.a) + h.lacks(c, h.b); n > 0 {
		t.Errorf("%d batches did not come back", n)
	}
	// All that a machine reads the second time is what was published again.
	a = again(a, b.view.(*view).has)
	a.mustOpen()
	if news := a.look(); news.AllLost || news.Another {
		t.Errorf("%+v", news)
	}
	if got := a.read(); len(got) != len(h.b.made) {
		t.Errorf("%d of %d", len(got), len(h.b.made))
	}
}

// Old objects that are put back beside the new ones change nothing, one by one or all of them.
func TestPutBack(t *testing.T) {
	t.Parallel()
	h := newHarbor(t)
	all := maps.Clone(h.late)
	old := 0
	for _, key := range slices.Sorted(maps.Keys(h.early)) {
		if _, ok := h.late[key]; ok {
			continue
		}
		old++
		all[key] = h.early[key]
		for _, has := range []map[string][]byte{{key: h.early[key]}, all} {
			merged := maps.Clone(h.late)
			maps.Copy(merged, has)
			for _, m := range []*machine{again(h.a, merged), again(h.b, merged), h.newcomer(merged)} {
				m.mustOpen()
				if news := m.look(); news.Another || news.AllLost || len(news.Lost) > 0 || len(news.Refused) > 0 {
					t.Errorf("%s for %s: %+v", key, m.name, news)
				}
				m.read()
				m.publish(m.batches(1)...)
				m.look()
			}
		}
	}
	if old == 0 {
		t.Error("nothing was removed meanwhile: there is nothing to put back")
	}
}

// What others leave in the folder is listed and ignored; another person's vault copied into it is refused by name.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	h := newHarbor(t)
	other := newHarbor(t)
	see := maps.Clone(h.late)
	var want []string
	junk := func(key string, content []byte) {
		see[key] = content
		want = append(want, key)
	}
	for key, content := range h.late {
		dir, name := filepath.Split(key)
		junk(key+" (conflicted copy)", content)
		junk(key+" (2)", content)
		junk(key+".sync-conflict-20260101-120000-ABCDEFG", content)
		junk(dir+".#"+name, content)
		junk(dir+strings.ToUpper(name), content)
		junk(key+".tmp", content[:1])
		junk(dir+"~syncthing~"+name+".tmp", content)
	}
	for _, key := range []string{".DS_Store", ".stfolder/x", "Thumbs.db", "m/.DS_Store", "desktop.ini", "notes.txt",
		"d/" + h.a.v.writer.id + "/.DS_Store", "m/" + h.a.v.writer.id + "/h1-x", "x/y/z"} {
		junk(key, []byte("junk"))
	}
	slices.Sort(want)
	for _, m := range []*machine{again(h.a, see), h.newcomer(see)} {
		m.mustOpen()
		news := m.look()
		m.read()
		if !slices.Equal(slices.Compact(news.Ignored), slices.Compact(slices.Clone(want))) {
			t.Errorf("%s ignores %d of %d names", m.name, len(news.Ignored), len(want))
		}
		if len(news.Refused) > 0 || news.ToCome > 0 || news.Another || news.AllLost || len(news.Lost) > 0 {
			t.Errorf("%s: %+v", m.name, news)
		}
		m.publish(m.batches(1)...)
		if m.name == "c" && h.lacks(m, h.a)+h.lacks(m, h.b) > 0 {
			t.Error("something is missing")
		}
	}
	see = maps.Clone(h.late)
	for key, content := range other.late {
		if key != markerName {
			see[key] = content
		}
	}
	for _, m := range []*machine{again(h.a, see), h.newcomer(see)} {
		m.mustOpen()
		news := m.look()
		m.read()
		if len(news.Refused) == 0 || news.ToCome > 0 || news.Another || news.AllLost {
			t.Errorf("%s: %+v", m.name, news)
		}
		for _, r := range news.Refused {
			if p, _ := parseKey(r.Key); p.writer != other.a.v.writer.id && p.writer != other.b.v.writer.id {
				t.Errorf("%v", r.Err)
			}
		}
		m.publish(m.batches(1)...)
		if m.name == "c" && h.lacks(m, h.a)+h.lacks(m, h.b) > 0 {
			t.Error("something is missing")
		}
	}
	maps.Copy(see, other.late)
	for _, has := range []map[string][]byte{see, other.late} {
		m := again(h.a, has)
		if err := m.open(); scrollback.CodeOf(err) != scrollback.Refused || m.view.(*view).changes > 0 {
			t.Errorf("another person's vault: %v", err)
		}
		stranger := again(h.a, has)
		stranger.kept = nil
		stranger.keys = identity.Keys{File: filepath.Join(t.TempDir(), "other")}
		if err := stranger.open(); scrollback.CodeOf(err) != scrollback.Refused || stranger.view.(*view).changes > 0 {
			t.Errorf("another person's vault: %v", err)
		}
	}
}

// What cannot be read yet is waited for, and holds up nothing else.
func TestNotHereYet(t *testing.T) {
	t.Parallel()
	h := newHarbor(t)
	joined := h.newcomer(h.late)
	for key := range h.late {
		if key == markerName {
			continue
		}
		m := again(joined, joined.view.(*view).has)
		m.view.(*view).broken = map[string]error{key: ErrNotHere}
		m.mustOpen()
		m.look()
		m.read()
		news := m.v.News()
		a := h.lacks(m, h.a)
		b := h.lacks(m, h.b)
		if a > 0 && b > 0 || a+b > 0 && news.ToCome == 0 || len(news.Refused) > 0 {
			t.Errorf("%s: %d and %d lack, %+v", key, a, b, news)
		}
		m.view.(*view).broken = nil
		m.look()
		m.read()
		if h.lacks(m, h.a)+h.lacks(m, h.b) > 0 {
			t.Errorf("%s came, and something is missing", key)
		}
	}
}
