package ledger

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func openTest(t *testing.T) (*Ledger, string) {
	t.Helper()
	dir := t.TempDir()
	l, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, dir
}

func begin(t *testing.T, l *Ledger, k Key, w Where, at time.Time) Memory {
	t.Helper()
	m, err := l.Begin(t.Context(), k, w, at)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func note(t *testing.T, l *Ledger, e Entry) {
	t.Helper()
	if err := l.Note(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

// What a session was told is known to it alone, until it is compacted.
func TestTold(t *testing.T) {
	l, _ := openTest(t)
	one := Told{"c1", 4}
	start := "the start"
	note(t, l, Entry{At: noon, Agent: "codex", Session: "s", Event: "prompt", Told: []Told{one}, Notes: 1, Start: &start})
	note(t, l, Entry{At: noon, Agent: "codex", Session: "s", Event: "prompt"})
	m := begin(t, l, Key{"codex", "s", "prompt", "a"}, Where{}, noon)
	if !m.Told[one] || m.Since != 1 || m.Start != start || m.Owed != "" {
		t.Errorf("known: %+v", m)
	}
	for _, k := range []Key{{"codex", "other", "prompt", "a"}, {"pi", "s", "prompt", "a"}} {
		if m := begin(t, l, k, Where{}, noon); len(m.Told) > 0 || m.Since != -1 || m.Start != "" {
			t.Errorf("%v knows %+v", k, m)
		}
	}
	later := noon.Add(time.Minute)
	two := Told{"c2", 9}
	owed := "owed"
	note(t, l, Entry{At: later, Agent: "codex", Session: "s", Event: "session-start", Compacted: true, Told: []Told{two},
		Owed: &owed})
	m = begin(t, l, Key{"codex", "s", "prompt", "b"}, Where{}, later)
	if m.Told[one] || !m.Told[two] || m.Owed != owed || m.Start != start {
		t.Errorf("after a compaction: %+v", m)
	}
}

// Of an event that is run twice at once, one run is answered; ten seconds later it is another event.
func TestAnsweredOnce(t *testing.T) {
	l, dir := openTest(t)
	k := Key{"claude-code", "s", "prompt", "p1"}
	var answered atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		other, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		all.Go(func() {
			if m, err := other.Begin(t.Context(), k, Where{}, noon); err == nil && !m.Repeated {
				answered.Add(1)
			}
		})
	}
	all.Wait()
	if answered.Load() != 1 {
		t.Errorf("%d were answered", answered.Load())
	}
	if !begin(t, l, k, Where{}, noon.Add(9*time.Second)).Repeated {
		t.Error("answered again after 9 s")
	}
	if begin(t, l, k, Where{}, noon.Add(11*time.Second)).Repeated {
		t.Error("not answered after 11 s")
	}
	k.ID = "p2"
	if begin(t, l, k, Where{}, noon).Repeated {
		t.Error("another prompt counts as the same")
	}
}

func TestOff(t *testing.T) {
	l, _ := openTest(t)
	w := Where{Place: "/shop/.git", Folder: "/shop/src",
		Silenced: [][2]string{{OffAgent, "pi"}, {OffFolder, "/shop/.git"}}}
	if changed, err := l.SetOff(t.Context(), OffFolder, "/shop/.git", true, noon); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if changed, err := l.SetOff(t.Context(), OffFolder, "/shop/.git", true, noon); err != nil || changed {
		t.Error("silenced twice", err)
	}
	m := begin(t, l, Key{"pi", "s", "prompt", "1"}, w, noon)
	if !m.Off || !reflect.DeepEqual(m.Folders, []string{"/shop/src"}) {
		t.Errorf("known: %+v", m)
	}
	if list, err := l.ListOff(t.Context()); err != nil || len(list) != 1 || list[0].Name != "/shop/.git" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := l.SetOff(t.Context(), OffFolder, "/shop/.git", false, noon); err != nil {
		t.Fatal(err)
	}
	if begin(t, l, Key{"pi", "s", "prompt", "2"}, w, noon).Off {
		t.Error("still silenced")
	}
}

func TestListAndForget(t *testing.T) {
	l, _ := openTest(t)
	note(t, l, Entry{At: noon.Add(-Age - time.Hour), Agent: "pi", Session: "old", Event: "prompt", Notes: 1,
		Told: []Told{{"c", 1}}})
	note(t, l, Entry{At: noon, Agent: "pi", Session: "s", Event: "prompt", Folder: "/shop", Took: 41500 * time.Microsecond,
		Told: []Told{{"c", 2}, {"c", 3}}, Notes: 2, Why: "fits", Terms: "crane leas"})
	rows, err := l.List(t.Context(), 10)
	want := Row{At: noon.UnixMilli(), Agent: "pi", Session: "s", Event: "prompt", Folder: "/shop", MS: 41.5, Notes: 2,
		Told: []Told{{"c", 2}, {"c", 3}}, Why: "fits", Terms: "crane leas"}
	if err != nil || len(rows) != 2 || !reflect.DeepEqual(rows[0], want) {
		t.Errorf("%+v, %v", rows, err)
	}
	if err := l.Forget(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	if rows, err := l.List(t.Context(), 10); err != nil || len(rows) != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
	s, err := l.Sum(t.Context(), "pi", 40*time.Millisecond)
	if err != nil || s != (HookRuns{1, 1, noon.UnixMilli(), 41.5, 1}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// A ledger that another program made newer, or that is none, is not used; its file is its owner's alone.
func TestOpen(t *testing.T) {
	_, dir := openTest(t)
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if l, err := OpenExisting(t.Context(), t.TempDir()); l != nil || err != nil {
		t.Error(l, err)
	}
	broken := t.TempDir()
	text := []byte("this is no database at all, only text")
	if err := os.WriteFile(filepath.Join(broken, FileName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), broken); err == nil {
		t.Error("a text was opened")
	}
	if _, err := Open(t.Context(), filepath.Join(broken, "missing")); err == nil {
		t.Error("a folder that is not there was made")
	}
}
