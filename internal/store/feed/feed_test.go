package feed_test

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/feed"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
)

func all(string) bool { return true }

func only(names ...string) func(string) bool {
	return func(project string) bool { return slices.Contains(names, project) }
}

func create(t *testing.T, d *driver.Driver, id, project string) {
	t.Helper()
	c := scrollback.Conversation{ID: scrollback.ConversationID(id), Project: project, Title: "title of " + id, Version: 1}
	c.Branch = scrollback.BranchID("b" + id)
	if _, _, err := d.Log.CreateConversation(context.Background(), c,
		scrollback.Branch{ID: c.Branch, Conversation: c.ID}); err != nil {
		t.Fatal(err)
	}
}

func patch(t *testing.T, d *driver.Driver, id string, edit func(*scrollback.Conversation)) {
	t.Helper()
	change := func(c *scrollback.Conversation) error { edit(c); return nil }
	if _, err := d.Log.PatchConversation(context.Background(), scrollback.ConversationID(id), 1, change); err != nil {
		t.Fatal(err)
	}
}

// reader pulls what a follower is told, as text.
type reader struct {
	t    *testing.T
	pull func() (scrollback.Change, error, bool)
}

func follow(t *testing.T, f *feed.Feed, after int64, sees func(string) bool) *reader {
	t.Helper()
	next, stop := iter.Pull2(f.Follow(t.Context(), after, sees))
	t.Cleanup(stop)
	return &reader{t, next}
}

// want checks what comes next: a number, a type, an id, a project, a title, and whether it
// is gone.
func (r *reader) want(lines ...string) {
	r.t.Helper()
	for _, want := range lines {
		c, err, ok := r.pull()
		got := fmt.Sprintf("%d %s %s %s", c.N, c.Type, c.Conversation, c.Project)
		if c.ChangedHead != nil {
			got += " " + c.Title
		}
		if c.Gone {
			got += " gone"
		}
		if err != nil || !ok || strings.TrimSpace(got) != want {
			r.t.Fatalf("told %q (%v, %v), want %q", got, err, ok, want)
		}
	}
}

// What happens is told as it happens, what happened before when it is asked for, and what
// is not kept any more, or was never told, is a reset.
func TestFollow(t *testing.T) {
	d := oracle.New()
	f := feed.New(d)
	create(t, d, "1", "a")
	create(t, d, "2", "a")
	fresh := follow(t, f, feed.FromNow, all)
	resumed := follow(t, f, 1, all)
	fresh.want("2")
	resumed.want("1", "2 conversation 2 a title of 2")
	create(t, d, "3", "a")
	fresh.want("3 conversation 3 a title of 3")
	resumed.want("3 conversation 3 a title of 3")
	follow(t, f, 3, all).want("3")
	follow(t, f, 4, all).want("3 reset")
	for range 2*driver.ChangesKept + 10 {
		patch(t, d, "1", func(*scrollback.Conversation) {})
	}
	follow(t, f, 3, all).want(fmt.Sprint(2*driver.ChangesKept+13, " reset"))
	fresh.want(fmt.Sprint(2*driver.ChangesKept+13, " reset")) // it was too slow
	create(t, d, "4", "a")
	fresh.want(fmt.Sprint(2*driver.ChangesKept+14, " conversation 4 a title of 4"))
}

// A follower who is behind what is in memory reads the rest from the database, without a
// gap and nothing twice.
func TestBehind(t *testing.T) {
	d := oracle.New()
	f := feed.New(d)
	slow := follow(t, f, 0, all)
	quick := follow(t, f, 0, all)
	slow.want("0")
	quick.want("0")
	create(t, d, "1", "a")
	const n = 10_000
	for i := range n - 1 {
		patch(t, d, "1", func(c *scrollback.Conversation) { c.Title = fmt.Sprint(i) })
	}
	for _, r := range []*reader{quick, slow} {
		for i := range n {
			if c, err, _ := r.pull(); err != nil || c.N != int64(i+1) {
				t.Fatalf("change %d is %d, %v", i+1, c.N, err)
			}
		}
	}
}

// What one process does, another tells.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	var both [2]*driver.Driver
	for i := range both {
		var err error
		if both[i], err = sqlite.Open(t.Context(), path, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { both[i].Close() })
	}
	here := follow(t, feed.New(both[0]), feed.FromNow, all)
	here.want("0")
	create(t, both[1], "1", "a")
	here.want("1 conversation 1 a title of 1")
	create(t, both[0], "2", "a")
	here.want("2 conversation 2 a title of 2")
}

// Of another's project nothing is told, before a conversation comes from there and after it
// goes there; that it goes is told without where to.
func TestOthersProjects(t *testing.T) {
	d := oracle.New()
	f := feed.New(d)
	to := func(project string) func(*scrollback.Conversation) {
		return func(c *scrollback.Conversation) {
			c.Project = project
			c.Title = "in " + project
		}
	}
	mine := follow(t, f, 0, only("mine", "my other"))
	theirs := follow(t, f, 0, only("theirs"))
	mine.want("0")
	theirs.want("0")
	create(t, d, "1", "mine")
	mine.want("1 conversation 1 mine title of 1")
	theirs.want("1")
	patch(t, d, "1", to("my other"))
	mine.want("2 conversation 1 my other in my other")
	patch(t, d, "1", to("theirs"))
	mine.want("3 conversation 1 my other gone")
	follow(t, feed.New(d), 0, all).want("0", "1 conversation 1 theirs in theirs",
		"2 conversation 1 theirs in theirs", "3 conversation 1 theirs in theirs")
	patch(t, d, "1", func(c *scrollback.Conversation) { c.DeletedAt = 7 })
	mine.want("4")
	if _, err := d.Log.PurgeConversation(t.Context(), driver.Purge{Conversation: "1", Now: 9, Limit: 10}); err != nil {
		t.Fatal(err)
	}
	mine.want("5")
	// A client that comes back learns nothing of what has gone where they see nothing.
	follow(t, feed.New(d), 0, only("mine")).want("0", "2 conversation 1 mine gone", "5")
	follow(t, feed.New(d), 0, only("theirs")).want("0", "5 trash 1 theirs gone")
}

// Several things that one transaction did are told one by one, and only the last says that
// all are told.
func TestTold(t *testing.T) {
	head := &scrollback.ChangedHead{Title: "t", Version: 3, In: "a"}
	c := driver.Change{N: 7, Conversation: "c", Project: "a", Turn: "u", State: scrollback.TurnOpen, FirstSeq: 2,
		LastSeq: 3,
		Ref:     "history:x", Now: head,
		Kinds: driver.KindEdited | driver.KindGrown | driver.KindTurned | driver.KindFolded | driver.KindUndone}
	about := func(kind scrollback.ChangeType) scrollback.Change {
		return scrollback.Change{Type: kind, Conversation: "c", Project: "a", ChangedHead: head}
	}
	want := []scrollback.Change{about(scrollback.ChangeConversation), about(scrollback.ChangeMessage),
		about(scrollback.ChangeTurn),
		about(scrollback.ChangeCompaction)}
	want[1].TurnID = "u"
	want[1].FirstSeq = 2
	want[1].LastSeq = 3
	want[2].TurnID = "u"
	want[2].State = scrollback.TurnOpen
	want[3].FirstSeq = 2
	want[3].LastSeq = 3
	want[3].Ref = "history:x"
	want[3].Undone = true
	if got := feed.VisibleChanges(c, all); !reflect.DeepEqual(got, want) {
		t.Errorf("told %+v", got)
	}
}

// Nobody reads the database while nobody follows, and when it is closed followers end.
func TestNobodyFollows(t *testing.T) {
	d := oracle.New()
	looked := &counting{Log: d.Log}
	d.Log = looked
	f := feed.New(d)
	next, stop := iter.Pull2(f.Follow(t.Context(), feed.FromNow, all))
	if _, err, _ := next(); err != nil {
		t.Fatal(err)
	}
	stop()
	before := looked.n.Load()
	for i := range 100 {
		create(t, d, fmt.Sprint(i), "a")
	}
	if n := looked.n.Load() - before; n > 1 { // one may have been under way
		t.Errorf("%d looks at the database for nobody", n)
	}
	last := follow(t, f, feed.FromNow, all)
	last.want("100")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err, _ := last.pull(); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("after it was closed: %v", err)
	}
}

// counting counts what is read.
type counting struct {
	driver.Log
	n atomic.Int64
}

func (c *counting) ListChanges(ctx context.Context, after int64, limit int) ([]driver.Change, error) {
	c.n.Add(1)
	return c.Log.ListChanges(ctx, after, limit)
}

// A follower is told when changes cannot be read, whichever read it is, and follows
// again from where it was.
func TestUnreadable(t *testing.T) {
	for at := range int64(4) {
		mem := oracle.New()
		create(t, mem, "c", "a")
		faulty := &drivertest.Faulty{At: at}
		f := feed.New(faulty.Wrap(mem))
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		var err error
		for _, err = range f.Follow(ctx, 0, all) {
			if err == nil && faulty.Calls() > at { // nothing else would be read
				patch(t, mem, "c", func(c *scrollback.Conversation) { c.Title += "x" })
			}
		}
		if scrollback.CodeOf(err) != scrollback.Unavailable || faulty.Calls() <= at {
			t.Errorf("call %d: it ended with %v after %d", at, err, faulty.Calls())
		}
		for change, err := range f.Follow(ctx, 0, all) {
			if err != nil {
				t.Fatalf("call %d, again: %v", at, err)
			}
			if change.Conversation == "c" {
				break
			}
		}
	}
}
