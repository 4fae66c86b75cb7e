package index_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/index"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// bench is a log with an index behind it, and what was said in it.
type bench struct {
	*index.Index
	t    *testing.T
	d    *driver.Driver
	said []scrollback.Message
	cuts atomic.Int64 // texts that were read

	numbers map[scrollback.ConversationID]int64 // of branches
}

func newBench(t *testing.T, wrap func(driver.Index) driver.Index) *bench {
	b := &bench{t: t, d: oracle.New()}
	at := b.d.Index
	if wrap != nil {
		at = wrap(at)
	}
	b.Index = index.New(at, func(_ context.Context, m scrollback.Message) (string, error) {
		b.cuts.Add(1)
		return m.Parts[0].(scrollback.Text).Text, nil
	})
	t.Cleanup(func() { b.d.Close() })
	return b
}

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// say says texts in a conversation, which is made for the first.
func (b *bench) say(in scrollback.ConversationID, texts ...string) {
	b.t.Helper()
	c := scrollback.Conversation{ID: in, Branch: "b" + scrollback.BranchID(in), Version: 1}
	_, _, err := b.d.Log.CreateConversation(b.t.Context(), c, scrollback.Branch{ID: c.Branch, Conversation: c.ID})
	b.ok(err)
	var entries []driver.Entry
	for i, text := range texts {
		n := len(b.said) + i
		entries = append(entries, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint("m", n)),
			CreatedAt: int64(n),
			Role:      []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[n%2],
			Parts:     scrollback.Parts{scrollback.Text{Text: text}},
			Weight:    scrollback.Weight{Bytes: int64(len(text))}}})
	}
	got, err := b.d.Log.AppendEntries(b.t.Context(),
		driver.Append{Conversation: in, IfHead: -1, Entries: entries, Now: int64(len(b.said))})
	b.ok(err)
	b.said = append(b.said, got.Messages...)
}

// fill says n messages of a few words each, in three conversations.
func (b *bench) fill(n int) {
	b.t.Helper()
	words := []string{"red", "redder", "blue", "数据库", "running", "7077", "café"}
	texts := map[scrollback.ConversationID][]string{}
	for i := range n {
		text := words[i%7] + " " + words[i*i%5] + " " + words[(i+i/3)%6]
		if i%11 == 0 {
			text = "" // nothing to find it by
		}
		in := scrollback.ConversationID(fmt.Sprint(i % 3))
		texts[in] = append(texts[in], text)
	}
	for _, in := range []scrollback.ConversationID{"2", "0", "1"} {
		b.say(in, texts[in]...)
	}
}

// catchUp indexes that number of batches.
func (b *bench) catchUp(batches int) {
	b.t.Helper()
	for range batches {
		_, err := b.CatchUp(b.t.Context())
		b.ok(err)
	}
}

func (b *bench) look() *index.Snapshot {
	b.t.Helper()
	l, err := b.TakeSnapshot(b.t.Context())
	b.ok(err)
	return l
}

var known = map[string][]string{}

// cut are the terms of a message.
func cut(m scrollback.Message) []string {
	text := m.Parts[0].(scrollback.Text).Text
	if known[text] == nil {
		known[text] = terms.SplitTerms(text)
	}
	return known[text]
}

var queries = []driver.PostingQuery{
	{Terms: []string{"red", "run", "7077", "none", "café"}},
	{Terms: []string{"re*", "数据", "库*", "red*"}},
	{Terms: []string{"red", "blue"}, Role: scrollback.RoleUser},
	{Terms: []string{"red", "blue"}, From: 20, To: 90},
	{Terms: []string{"blue"}, Within: []driver.PlaceRun{{First: driver.NewPlace(2, 3), Last: driver.NewPlace(2, 40)}}},
	{Terms: []string{"red", "run", "none"}, Most: 40},
}

// check wants a look to find each message once, with what is marked of it, and right counts.
func (b *bench) check(what string, l *index.Snapshot) {
	b.t.Helper()
	b.checkPostings(what, l)
	documents := int64(0)
	length := int64(0)
	for _, m := range b.said {
		if n := int64(len(cut(m))); n > 0 {
			documents += 1
			length += n
		}
	}
	if l.State.Documents != documents || l.State.Terms != length {
		b.t.Fatalf("%s: %d documents with %d terms, want %d with %d", what, l.State.Documents, l.State.Terms, documents,
			length)
	}
	var places []driver.Place
	for n := range int64(5) {
		for seq := range int64(30) {
			places = append(places, driver.NewPlace(n, seq))
		}
	}
	got, err := l.Marks(b.t.Context(), places)
	b.ok(err)
	var want []driver.Mark
	for _, p := range places {
		for _, m := range b.said {
			if n := len(cut(m)); b.place(l, m) == p && n > 0 {
				want = append(want, driver.Mark{Place: p, Role: m.Role, CreatedAt: m.CreatedAt, Length: n})
			}
		}
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("%s: marks %v, want %v", what, got, want)
	}
}

// place is where a message stands.
func (b *bench) place(l *index.Snapshot, m scrollback.Message) driver.Place {
	b.t.Helper()
	if b.numbers == nil {
		b.numbers = map[scrollback.ConversationID]int64{}
		lines, err := l.ListBranchesOf(b.t.Context(), []scrollback.ConversationID{"0", "1", "2"})
		b.ok(err)
		for _, line := range lines {
			b.numbers[line.Conversation] = line.Number
		}
	}
	return driver.NewPlace(b.numbers[m.ConversationID], m.Seq)
}

// want is what a query has to find.
func (b *bench) want(l *index.Snapshot, q driver.PostingQuery) []driver.Postings {
	out := make([]driver.Postings, len(q.Terms))
	for i, term := range q.Terms {
		begin, prefix := strings.CutSuffix(term, "*")
		type at struct {
			p driver.Place
			n uint8
		}
		var all []at
		for _, m := range b.said {
			n := 0
			for _, t := range cut(m) {
				if t == term || prefix && strings.HasPrefix(t, begin) {
					n++
				}
			}
			if n == 0 {
				continue
			}
			out[i].Holding++
			if q.Matches(driver.Mark{Place: b.place(l, m), Role: m.Role, CreatedAt: m.CreatedAt}) {
				all = append(all, at{b.place(l, m), uint8(n)})
			}
		}
		if q.Most > 0 && out[i].Holding > int64(q.Most) {
			continue
		}
		slices.SortFunc(all, func(a, b at) int { return int(a.p>>1) - int(b.p>>1) + int(a.p&1) - int(b.p&1) })
		for _, one := range all {
			out[i].Places = append(out[i].Places, one.p)
			out[i].Counts = append(out[i].Counts, one.n)
		}
	}
	return out
}

// However far the index has come, the same is found; also where its tail is too big to be
// cut whole.
func TestLookFindsAll(t *testing.T) {
	for _, n := range []int{0, 1, 200, index.TailMessages + 700} {
		b := newBench(t, nil)
		b.fill(n)
		b.check(fmt.Sprint("nothing of ", n), b.look())
		b.catchUp(1) // sets the version
		for more, i := true, 0; more; i++ {
			if n < 1000 || i%4 == 0 {
				b.check(fmt.Sprint(i, " batches of ", n), b.look())
			}
			var err error
			more, err = b.CatchUp(t.Context())
			b.ok(err)
		}
		l := b.look()
		b.check(fmt.Sprint("all of ", n), l)
		if share, whole := l.IndexedShare(); share != 1 || !whole || l.Stopped() {
			t.Errorf("of %d messages %v are indexed, %v", n, share, whole)
		}
	}
}

// A look says what share is indexed.
func TestIndexed(t *testing.T) {
	b := newBench(t, nil)
	b.fill(4 * index.MostMessages)
	b.catchUp(2)
	share, whole := b.look().IndexedShare()
	if whole || share < 0.2 || share > 0.3 {
		t.Errorf("of four batches, one indexed: %v, %v", share, whole)
	}
}

// between calls something before and after an index is read.
type between struct {
	driver.Index
	do func()
}

func (x *between) FindPostings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	x.do()
	defer x.do()
	return x.Index.FindPostings(ctx, q)
}

func (x *between) ReadMarks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	x.do()
	return x.Index.ReadMarks(ctx, places)
}

// What somebody else does to the index while a look reads it neither hides messages nor
// shows them twice.
func TestLookWhileTheIndexMoves(t *testing.T) {
	for _, n := range []int{300, index.TailMessages + 1500} {
		x := &between{do: func() {}}
		b := newBench(t, func(d driver.Index) driver.Index { x.Index = d; return x })
		b.fill(n)
		other := index.New(b.d.Index, func(_ context.Context, m scrollback.Message) (string, error) {
			return m.Parts[0].(scrollback.Text).Text, nil
		})
		step := func(max int) func() {
			return func() {
				s, err := other.ReadState(t.Context())
				b.ok(err)
				batch, err := other.ReadUnindexed(t.Context(), driver.UnindexedQuery{After: s.Watermark, Limit: max})
				b.ok(err)
				if len(batch) == 0 {
					return
				}
				d := driver.DocumentBatch{Cut: s.Cut, From: s.Watermark, To: batch[len(batch)-1].Number}
				for _, m := range batch {
					if all := cut(m.Message); len(all) > 0 {
						mark := driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt, Length: len(all)}
						d.All = append(d.All, driver.Document{Terms: all, Mark: mark})
					}
				}
				_, err = other.PutDocuments(t.Context(), d)
				b.ok(err)
			}
		}
		b.ok(other.Reset(t.Context(), terms.Version))
		step(n / 10)()
		calls := 0
		for name, do := range map[string]func(){
			"batches": func() {
				if calls++; calls%8 < 3 {
					step(n / 40)()
				}
			},
			"a batch now and then": func() {
				if calls++; calls%5 == 0 {
					step(n / 9)()
				}
			},
			"a reset": func() {
				if calls++; calls%7 == 3 {
					b.ok(other.Reset(t.Context(), terms.Version))
					step(n / 3)()
				}
			},
		} {
			x.do = func() {}
			for range 3 {
				l := b.look()
				x.do = do
				b.checkPostings(name, l)
			}
		}
	}
}

// checkPostings is check without what counts documents and marks.
func (b *bench) checkPostings(what string, l *index.Snapshot) {
	b.t.Helper()
	for _, q := range queries {
		got, err := l.Postings(b.t.Context(), q)
		b.ok(err)
		for i, want := range b.want(l, q) {
			if fmt.Sprint(got[i]) != fmt.Sprint(want) {
				b.t.Fatalf("%s: %q of %+v: %v, want %v", what, q.Terms[i], q, got[i], want)
			}
		}
	}
}

// The second search behind the same tail reads nothing again, nor does indexing it; what a
// purge removes leaves the memory.
func TestTailIsCutOnce(t *testing.T) {
	b := newBench(t, nil)
	b.fill(150)
	b.ok(b.Reset(t.Context(), terms.Version))
	for range 3 {
		b.check("behind one tail", b.look())
	}
	b.say("0", "red again")
	b.check("with one more", b.look())
	if n := b.cuts.Load(); n != 151 {
		t.Errorf("%d texts were read of 151", n)
	}
	b.catchUp(1)
	b.check("indexed", b.look())
	if n := b.cuts.Load(); n != 151 {
		t.Errorf("%d texts were read to index 151", n)
	}
	b.say("1", "red")
	b.look()
	b.NotePurged()
	b.look()
	if n := b.cuts.Load(); n != 153 {
		t.Errorf("%d texts were read, want those of the tail again", n-152)
	}
}

// A call that fails is an error, and the next look finds everything; whichever call of
// indexing fails, or is done and its result lost, everything is indexed once.
func TestFaults(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for i := int64(0); ; i++ {
			f := &drivertest.Faulty{At: i, Lost: lost, Index: true}
			b := newBench(t, func(d driver.Index) driver.Index { return f.Wrap(&driver.Driver{Index: d}).Index })
			b.fill(600)
			failed := 0
			for more := true; more; {
				var err error
				if more, err = b.CatchUp(t.Context()); err != nil {
					failed += 1
					more = true
				}
				if !more {
					if more, err = b.Maintain(t.Context()); err != nil {
						failed += 1
						more = true
					}
				}
			}
			l, err := b.TakeSnapshot(t.Context())
			if err != nil {
				failed++
				l = b.look()
			}
			if f.Calls() <= i {
				break
			}
			if failed == 0 { // it was the reading that failed
				t.Fatalf("call %d failed, and nobody heard of it", i)
			}
			b.check(fmt.Sprint("after a fault of call ", i), l)
			if s, err := b.ReadState(t.Context()); err != nil || s.Watermark != s.Newest {
				t.Fatalf("%+v, %v", s, err)
			}
		}
	}
}

// An index of an older cut is made again; one of a newer program is left alone, and
// everything is found behind it.
func TestVersions(t *testing.T) {
	b := newBench(t, nil)
	b.fill(700)
	b.Version(5)
	b.catchUp(3)
	b.check("version 5", b.look())
	b.Version(4)
	b.catchUp(1)
	if s, err := b.ReadState(t.Context()); err != nil || s.Cut != 5 || s.Watermark != s.Newest {
		t.Errorf("a newer index was changed: %+v, %v", s, err)
	}
	b.check("an older program", b.look())
	b.Version(6)
	b.check("a newer program", b.look())
	b.catchUp(1)
	if s, err := b.ReadState(t.Context()); err != nil || s.Cut != 6 || s.Watermark != 0 {
		t.Errorf("an older index was not reset: %+v, %v", s, err)
	}
	b.catchUp(1)
	b.check("on the way", b.look())
	b.catchUp(2)
	b.check("made again", b.look())
}

// A scan that has no time left says so; one whose caller has gone ends.
func TestScanStops(t *testing.T) {
	b := newBench(t, nil)
	b.fill(index.TailMessages + 100)
	b.ScanTime(0)
	l := b.look()
	_, err := l.Postings(t.Context(), queries[0])
	if err != nil || !l.Stopped() {
		t.Errorf("without time: stopped %v, %v", l.Stopped(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l = b.look()
	cancel()
	if _, err := l.Postings(ctx, queries[0]); scrollback.CodeOf(err) != scrollback.Canceled {
		t.Errorf("for a caller who has gone: %v", err)
	}
}
