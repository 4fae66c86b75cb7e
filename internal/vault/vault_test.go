package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// Machines meet in a vault: the phrase lets one in, another adds one, and each reads all that the others published.
func TestMeeting(t *testing.T) {
	t.Parallel()
	s, ms, _ := calm(t, "laptop", "desk")
	third := newMachine(t, "attic", s.newView("attic"))
	if err := third.open(); scrollback.CodeOf(err) != scrollback.Refused ||
		!strings.Contains(err.Error(), third.recipient()) {
		t.Fatalf("a stranger: %v", err)
	}
	if len(third.view.(*view).wrote) > 0 {
		t.Error("a stranger wrote something")
	}
	ms[0].look()
	if err := ms[0].v.Add(t.Context(), third.recipient(), "attic"); err != nil {
		t.Fatal(err)
	}
	s.settle()
	third.mustOpen()
	ms = append(ms, third)
	for _, m := range ms {
		m.strict = true
	}
	for round := range 5 {
		for i, m := range ms {
			m.look()
			m.read()
			m.publish(m.batches(100*round+1, 5000*i, 200_000*round)...)
			s.settle()
		}
	}
	s.meet(ms...)
	for _, m := range ms {
		m.mustHold(true, ms...)
		if news := m.look(); len(news.Writers)+len(news.Refused)+len(news.Ignored)+news.ToCome+len(news.Lost) > 0 ||
			news.AllLost || news.Another {
			t.Errorf("%s: %+v", m.name, news)
		}
		var names []string
		for _, other := range m.v.Machines() {
			names = append(names, other.Name)
			if other.This != (other.Name == m.name) {
				t.Errorf("%s: %+v", m.name, other)
			}
		}
		if !slices.Equal(names, []string{"attic", "desk", "laptop"}) {
			t.Errorf("%s knows %v", m.name, names)
		}
	}
}

// Where nothing is new, a look is one list and one small object a machine, and nothing is written, however much has
// been published.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	s, ms, _ := calm(t, "a", "b", "c")
	for range 150 {
		for _, m := range ms {
			m.publish(m.batches(10, 20)...)
		}
	}
	s.meet(ms...)
	for _, m := range ms {
		view := m.view.(*view)
		view.reads = nil
		view.lists = 0
		view.changes = 0
		m.mustOpen()
		m.look()
		m.read()
		m.publish()
		for _, key := range view.reads {
			if n := len(view.has[key]); n > 64<<10 || strings.HasPrefix(key, "d/") {
				t.Errorf("%s of %d bytes was read", key, n)
			}
		}
		if view.lists != 1 || view.changes != 0 || len(view.reads) > len(ms)+2 { // the marker and the own key list
			t.Errorf("%d lists, %d changes, read: %q", view.lists, view.changes, view.reads)
		}
		m.mustHold(true, ms...)
	}
}

// What is there is of few sizes, and no more than a fifth over what was published.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 10, 1000, 30_000, 300_000, 700_000, 3_000_000} {
		s, ms, _ := calm(t, "a", "b")
		before := len(ms[0].view.(*view).has)
		sent := 0
		var texts []string
		for sent < 1_200_000 {
			batch := ms[0].batches(n)
			sent += len(batch[0])
			texts = append(texts, batch...)
		}
		ms[0].look()
		ms[0].publish(texts...)
		s.settle()
		total := 0
		for key, content := range ms[0].view.(*view).has {
			p, ok := parseKey(key)
			if ok && p.kind != listKind && !slices.Contains(classes[:], len(content)) {
				t.Errorf("%s has %d bytes", key, len(content))
			}
			if p.kind != listKind {
				total += len(content)
			}
		}
		t.Logf("batches of %d: %d bytes in %d objects for %d", n, total, len(ms[0].view.(*view).has)-before, sent)
		if total > sent+sent/5+64<<10 {
			t.Errorf("batches of %d: %d bytes for %d", n, total, sent)
		}
		ms[1].look()
		if got := ms[1].read(); !slices.Equal(got, texts) {
			t.Errorf("%d of %d batches", len(got), len(texts))
		}
	}
}

// What a thief sees of the folder has nothing of what is in it, of the names of machines, or of the order of things.
func TestNothingInClear(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(name string) *machine {
		o, err := NewFolder(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		return newMachine(t, name, o)
	}
	a := open("grandmas-laptop")
	b := open("secret-desk")
	phrase := a.init()
	b.join(phrase)
	a.look()
	a.publish(append(a.batches(50, 5000, 70_000), strings.Repeat("0", 200_000))...)
	large := strings.Repeat("artifact ", 90_000)
	if err := a.v.PutArtifact(t.Context(), "sha256-of-artifact", strings.NewReader(large)); err != nil {
		t.Fatal(err)
	}
	if err := a.v.PutArtifact(t.Context(), "small", strings.NewReader("artifact of nine words")); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.read()
	b.publish(b.batches(10)...)
	b.mustHold(true, a)
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", name, info.Mode())
		}
		all := append([]byte(name+"\n"), content...)
		for _, plain := range []string{"grandma", "laptop", "secret", "desk", "words", "plain", "artifact", "small",
			"000000000000", a.recipient(), b.recipient(), phrase, strings.ReplaceAll(phrase, "-", ""), "sizes", "members"} {
			if bytes.Contains(bytes.ToLower(all), []byte(plain)) {
				t.Errorf("%s has %q", name, plain)
			}
		}
		if name == markerName {
			var m map[string]any
			if json.Unmarshal(content, &m) != nil || m["protocol"] != 1.0 || len(m) != 3 {
				t.Errorf("the marker is %s", content)
			}
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files, %v", files, err)
	}
}

// A wrong phrase, one with a typing error, and none: nothing is written, and it is said what is wrong.
func TestPhrase(t *testing.T) {
	t.Parallel()
	s, ms, phrase := calm(t, "a")
	m := newMachine(t, "b", s.newView("b"))
	join := func(text string) error {
		v, err := Join(t.Context(), m.view, m.keys, "b", text, m.save)
		if err == nil {
			m.v = v
		}
		return err
	}
	for i := range phrase {
		if phrase[i] == '-' {
			continue
		}
		wrong := []byte(phrase)
		wrong[i] = phraseLetters[(strings.IndexByte(phraseLetters, phrase[i])+1)%32]
		if err := join(string(wrong)); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for _, text := range []string{"", "hello", phrase[:len(phrase)-1], phrase + "a"} {
		if err := join(text); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := join(makePhrase()); scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("another phrase: %v", err)
	}
	if n := len(m.view.(*view).wrote); n > 0 {
		t.Errorf("%d objects were written", n)
	}
	if _, err := Join(t.Context(), m.view, m.keys, "a", phrase, nil); scrollback.CodeOf(err) != scrollback.Conflict {
		t.Errorf("a name that is taken: %v", err)
	}
	typed := strings.ToUpper(strings.NewReplacer("-", " ", "0", "O", "1", "l").Replace(phrase))
	if err := join(typed + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := join(phrase); err != nil { // again changes nothing
		t.Fatal(err)
	}
	s.settle()
	ms[0].mustOpen()
	next, err := ms[0].v.NewPhrase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.settle()
	c := newMachine(t, "c", s.newView("c"))
	if _, err := Join(t.Context(), c.view, c.keys, "c", phrase, c.save); err == nil {
		t.Error("the old phrase lets a machine in that can write")
	}
	c.join(next)
	s.settle()
	m.mustOpen()
	m.publish(m.batches(10)...)
	s.settle()
	c.mustOpen()
	c.look()
	c.read()
	c.mustHold(true, m)
}

// Init changes nothing where a vault is; a missing marker and a missing folder are said, and nothing is made.
func TestMarker(t *testing.T) {
	t.Parallel()
	s, ms, _ := calm(t, "a")
	b := newMachine(t, "b", s.newView("b"))
	if _, _, err := Init(t.Context(), b.view, b.keys, "b", nil); scrollback.CodeOf(err) != scrollback.Refused ||
		!strings.Contains(err.Error(), b.recipient()) || len(b.view.(*view).wrote) > 0 {
		t.Errorf("a vault is there: %v", err)
	}
	there := ms[0].view.(*view)
	marked := there.has[markerName]
	const later = "protocol 2, and this program protocol 1"
	for text, want := range map[string]string{
		`{"scrollback":"vault","protocol":2,"vault":"` + strings.Repeat("a", 32) + `"}`: later,
		"":  "damaged",
		"{": "damaged",
		`{"scrollback":"vault","protocol":1,"vault":"` + strings.Repeat("a", 32) + `"}`: "another remote",
	} {
		there.has[markerName] = []byte(text)
		there.changes = 0
		if err := ms[0].open(); scrollback.CodeOf(err) != scrollback.Refused || !strings.Contains(err.Error(), want) ||
			there.changes > 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
	delete(there.has, markerName)
	if err := ms[0].open(); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("no marker: %v", err)
	}
	clear(there.has)
	if err := ms[0].open(); scrollback.CodeOf(err) != scrollback.Unavailable || there.changes > 0 {
		t.Errorf("emptied: %v", err)
	}
	there.has[markerName] = marked
	if err := ms[0].open(); err != nil { // its own key list comes back with the next that it publishes
		t.Error(err)
	}
	empty := newMachine(t, "c", (&sea{t: t}).newView("c"))
	if err := empty.open(); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("nothing was ever there: %v", err)
	}
	ms[0].mustOpen()
	ms[0].look()
	delete(there.has, markerName)
	if _, err := ms[0].v.Look(t.Context()); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("the marker goes while a program runs: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "missing")
	_, err := NewFolder(dir, 0)
	if scrollback.CodeOf(err) != scrollback.Unavailable || !strings.Contains(err.Error(), dir) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
}

// A machine that was removed reads nothing that is written later, writes nothing, and is not believed.
func TestRemove(t *testing.T) {
	t.Parallel()
	s, ms, _ := calm(t, "a", "b", "c")
	for _, m := range ms {
		m.look()
		m.publish(m.batches(10)...)
	}
	s.meet(ms...)
	a, b, c := ms[0], ms[1], ms[2] //nolint:form // three names of one list
	if err := a.v.Remove(t.Context(), "a"); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("itself: %v", err)
	}
	if err := a.v.Remove(t.Context(), "d"); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("nobody: %v", err)
	}
	if err := a.v.Remove(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	kept := c.kept
	// It goes on without having heard of it.
	c.look()
	c.publish(c.batches(10)...)
	late := c.made[1]
	c.made = c.made[:1]
	s.settle()
	a.publish(a.batches(10)...)
	s.settle()
	b.look()
	b.read()
	b.publish(b.batches(10)...)
	s.settle()
	a.look()
	a.read()
	b.look()
	b.read()
	for _, m := range []*machine{a, b} {
		m.mustHold(true, a, b, c)
		news := m.look()
		if m.applied[late] > 0 || len(news.Refused) != 1 || !strings.Contains(news.Refused[0].Err.Error(), "removed") {
			t.Errorf("%s has what came late: %d, %v", m.name, m.applied[late], news.Refused)
		}
		if got := m.v.Machines(); len(got) != 2 {
			t.Errorf("%s: %+v", m.name, got)
		}
	}
	for _, state := range [][]byte{kept, c.kept} { // with all it ever knew
		c.kept = state
		if err := c.open(); err == nil {
			c.look()
			for _, text := range c.read() {
				if text == a.made[1] || text == b.made[1] {
					t.Errorf("it reads %q", text)
				}
			}
			if err := c.v.Publish(t.Context(), seq(c.batches(1))); scrollback.CodeOf(err) != scrollback.Refused {
				t.Errorf("it writes: %v", err)
			}
			if err := c.v.Add(t.Context(), c.recipient(), "c2"); scrollback.CodeOf(err) != scrollback.Refused {
				t.Errorf("it adds itself: %v", err)
			}
		}
	}
	c.kept = nil
	if err := c.open(); err == nil {
		c.look()
		c.read()
		if c.applied[a.made[1]]+c.applied[b.made[1]] > 0 {
			t.Error("it reads what came later")
		}
	}
	// It lets itself in with a key list that nobody made but it.
	forged := c.v.roster.clone()
	forged.Members = append(forged.Members, newMember("c again", c.recipient()))
	object, err := sealRoster(forged, c.keys)
	if err != nil {
		t.Fatal(err)
	}
	key := listKey(c.v.writer.id, nameOf(object))
	for _, m := range []*machine{a, b} {
		m.view.(*view).has[key] = object
		m.mustOpen()
		m.look()
		if len(m.v.Machines()) != 2 {
			t.Errorf("%s believes it: %+v", m.name, m.v.Machines())
		}
		if k, ok := m.v.roster.key(); !ok || slices.ContainsFunc(c.v.roster.Keys, func(o epochKey) bool {
			return bytes.Equal(o.Key, k.Key)
		}) {
			t.Errorf("%s writes by a key that it knows", m.name)
		}
	}
	// It may come back.
	if err := a.v.Add(t.Context(), c.recipient(), "c"); err != nil {
		t.Fatal(err)
	}
	s.settle()
	c.mustOpen()
	s.meet(a, b, c)
	c.mustHold(false, a, b)
}

// Two machines with one key folder have ids of their own, and one entry in the list.
func TestCopiedKeys(t *testing.T) {
	t.Parallel()
	s, ms, _ := calm(t, "a", "b")
	twin := newMachine(t, "b2", s.newView("b2"))
	twin.keys = ms[1].keys
	twin.mustOpen()
	ms = append(ms, twin)
	for range 5 {
		for _, m := range ms {
			m.look()
			m.read()
			m.publish(m.batches(10)...)
		}
	}
	s.meet(ms...)
	for _, m := range ms {
		m.mustHold(true, ms...)
		if len(m.v.Machines()) != 2 {
			t.Errorf("%+v", m.v.Machines())
		}
		if news := m.look(); news.Another {
			t.Errorf("%s takes another id", m.name)
		}
	}
}

// A data folder that was copied, and one that was restored from a backup, take another id as soon as they meet their
// own, and nothing that either wrote is lost.
func TestCopiedStore(t *testing.T) {
	t.Parallel()
	for _, both := range []bool{false, true} {
		s, ms, _ := calm(t, "a", "b")
		b := ms[1]
		b.look()
		b.publish(b.batches(10, 20)...)
		s.meet(ms...)
		twin := newMachine(t, "b'", s.newView("b'"))
		twin.keys = b.keys
		twin.kept = slices.Clone(b.kept)
		twin.made = slices.Clone(b.made)
		twin.n = 1000
		twin.mustOpen()
		b.look()
		twin.look()
		b.publish(b.batches(30)...)
		if !both {
			s.settle()
		}
		twin.look()
		twin.publish(twin.batches(40)...)
		ms = append(ms, twin)
		for range 3 {
			s.settle()
			for _, m := range ms {
				m.mustOpen()
				m.look()
				m.read()
				m.publish(m.batches(10)...)
			}
		}
		s.meet(ms...)
		s.meet(ms...)
		for _, m := range ms {
			for _, o := range ms {
				for _, text := range o.made {
					if m != o && m.applied[text] == 0 && !slices.Contains(m.made, text) {
						t.Errorf("both %v: %s lacks %.40q", both, m.name, text)
					}
				}
			}
			if news := m.look(); news.Another || news.AllLost || len(news.Lost) > 0 || len(news.Refused) > 0 {
				t.Errorf("both %v: %s: %+v", both, m.name, news)
			}
		}
		if twin.v.writer.id == b.v.writer.id {
			t.Error("they still write below one id")
		}
		// What the old id has goes for good when its former owners say so.
		if len(twin.v.state.Former) == 0 {
			t.Fatal("it had no id before")
		}
		if err := twin.v.Replace(t.Context(), seq(twin.made)); err != nil {
			t.Fatal(err)
		}
		old := twin.v.state.Former[0]
		if err := twin.v.Retire(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.meet(ms...)
		for key := range s.views[0].has {
			if p, ok := parseKey(key); ok && p.writer == old && p.kind != listKind {
				t.Errorf("%s is still there", key)
			}
		}
		ms[0].mustHold(false, b, twin)
	}
}

// Artifacts are there once, whoever wrote them, and whole.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	s, ms, _ := calm(t, "a", "b", "c")
	want := map[string]string{}
	for i, n := range []int{0, 1, 5000, 262_000, 300_000, 1 << 20, 3_500_000} {
		id := fmt.Sprint("artifact ", i)
		want[id] = strings.Repeat(fmt.Sprint(i), n)
		before := 0
		for _, content := range s.views[i%3].has {
			before += len(content)
		}
		m := ms[i%3]
		m.look()
		if has, err := m.v.HasArtifact(t.Context(), id); has || err != nil {
			t.Errorf("%s is there: %v", id, err)
		}
		if _, _, err := m.v.OpenArtifact(t.Context(), id); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%s can be opened: %v", id, err)
		}
		if err := m.v.PutArtifact(t.Context(), id, strings.NewReader(want[id])); err != nil {
			t.Fatal(err)
		}
		s.settle()
		after := 0
		for _, content := range s.views[i%3].has {
			after += len(content)
		}
		if after-before > n+n/5+64<<10 {
			t.Errorf("%d bytes for %d", after-before, n)
		}
		m.look()
	}
	if err := ms[0].v.Remove(t.Context(), "c"); err != nil { // by another key, they are still found
		t.Fatal(err)
	}
	s.settle()
	for _, m := range ms[:2] {
		m.look()
		for id, text := range want {
			changes := m.view.(*view).changes
			if err := m.v.PutArtifact(t.Context(), id, strings.NewReader(text)); err != nil ||
				m.view.(*view).changes != changes {
				t.Errorf("%s is written again: %v", id, err)
			}
			r, size, err := m.v.OpenArtifact(t.Context(), id)
			if err != nil || size != int64(len(text)) {
				t.Fatalf("%s: %d, %v", id, size, err)
			}
			var got bytes.Buffer
			if _, err := got.ReadFrom(r); err != nil || got.String() != text {
				t.Errorf("%s: %d of %d bytes, %v", id, got.Len(), len(text), err)
			}
		}
	}
	// Each object of one that is damaged or missing is refused, or to come.
	id := "artifact 6"
	keyed := artifactName(ms[1].v.roster.Keys[0], id)
	for key, content := range s.views[1].has {
		if p, _ := parseKey(key); p.keyed != keyed {
			continue
		}
		for what, lie := range map[string][]byte{"changed": flip(content, len(content)/2), "missing": nil,
			"cut": content[:len(content)-1], "emptied": {}} {
			if lie == nil {
				delete(s.views[1].has, key)
			} else {
				s.views[1].has[key] = lie
			}
			ms[1].look()
			r, _, err := ms[1].v.OpenArtifact(t.Context(), id)
			if err == nil {
				_, err = new(bytes.Buffer).ReadFrom(r)
			}
			if err == nil {
				t.Errorf("%s was %s, and nobody noticed", key, what)
			}
			s.views[1].has[key] = content
		}
	}
	ms[0].look()
	if err := ms[0].v.DropArtifact(t.Context(), "artifact 3"); err != nil {
		t.Fatal(err)
	}
	s.settle()
	ms[1].look()
	if has, err := ms[1].v.HasArtifact(t.Context(), "artifact 3"); has || err != nil {
		t.Errorf("it is still there: %v", err)
	}
}

// flip returns content with a bit changed.
func flip(content []byte, at int) []byte {
	out := bytes.Clone(content)
	out[at] ^= 4
	return out
}

// What was purged is gone from the objects that are there, others do not read again what they have, and a new machine
// reads what was put in its place.
func TestRewrite(t *testing.T) {
	t.Parallel()
	s, ms, phrase := calm(t, "a", "b")
	a, b := ms[0], ms[1] //nolint:form // two names of one list
	for i := range 120 {
		a.publish(a.batches(10, 3000*(i%7), 100)...)
	}
	s.meet(a, b)
	before := map[string]bool{}
	for key := range s.views[0].has {
		before[key] = true
	}
	var want []string
	err := a.v.Rewrite(t.Context(), func(n uint64, text []byte) ([]byte, error) {
		if string(text) != a.made[n-1] {
			t.Errorf("%d is %.30q", n, text)
		}
		switch n % 40 {
		case 7:
			return nil, nil
		case 8:
			text = []byte("instead")
		}
		want = append(want, string(text))
		return text, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for key := range s.views[0].has {
		if p, _ := parseKey(key); before[key] && p.kind == dataKind {
			kept++
		}
	}
	if kept < 90 {
		t.Errorf("of 120 runs, %d were left as they were", kept)
	}
	heads := 0
	for key := range s.views[0].has {
		if p, _ := parseKey(key); p.kind == headKind && p.writer == a.v.writer.id {
			heads++
		}
	}
	if heads > 2 {
		t.Errorf("%d heads are there", heads)
	}
	s.settle()
	b.look()
	if got := b.read(); len(got) != 0 {
		t.Errorf("it reads %d batches again", len(got))
	}
	c := newMachine(t, "c", s.newView("c"))
	c.join(phrase)
	c.look()
	if got := c.read(); !slices.Equal(got, want) {
		t.Errorf("%d of %d batches", len(got), len(want))
	}
	if news := a.look(); len(news.Lost) > 0 || news.AllLost || news.Another {
		t.Errorf("%+v", news)
	}
	a.publish(a.batches(50)...)
	s.settle()
	b.look()
	if got := b.read(); len(got) != 1 {
		t.Errorf("%d batches after it", len(got))
	}
	if err := a.v.Replace(t.Context(), seq([]string{"one", "two"})); err != nil {
		t.Fatal(err)
	}
	for key := range s.views[0].has {
		if p, _ := parseKey(key); before[key] && p.kind == dataKind && p.writer == a.v.writer.id {
			t.Errorf("%s is still there", key)
		}
	}
	s.settle()
	for _, m := range []*machine{b, c} {
		m.look()
		if got := m.read(); !slices.Equal(got[max(0, len(got)-2):], []string{"one", "two"}) {
			t.Errorf("%s reads %.30q", m.name, got)
		}
		if news := m.look(); news.ToCome+len(news.Writers)+len(news.Refused) > 0 {
			t.Errorf("%s: %+v", m.name, news)
		}
	}
	a.mustOpen()
	if news := a.look(); len(news.Lost) > 0 || news.AllLost || news.Another {
		t.Errorf("%+v", news)
	}
}
