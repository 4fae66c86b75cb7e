package index_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/claims"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/index"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// heard tells of each batch that is put, and of each step of tending.
type heard struct {
	driver.Index
	put    chan driver.DocumentBatch
	tended chan bool
	hold   chan struct{} // if it is set, a Put waits for it or for the end of its context
}

func hear(b **heard) func(driver.Index) driver.Index {
	return func(d driver.Index) driver.Index {
		*b = &heard{Index: d, put: make(chan driver.DocumentBatch, 1000), tended: make(chan bool, 1000)}
		return *b
	}
}

func (h *heard) PutDocuments(ctx context.Context, d driver.DocumentBatch) (bool, error) {
	if h.hold != nil {
		h.put <- d
		select {
		case <-h.hold:
		case <-ctx.Done():
			return false, scrollback.Wrap(scrollback.Canceled, "heard", ctx.Err())
		}
	}
	ok, err := h.Index.PutDocuments(ctx, d)
	if h.hold == nil && ok {
		h.put <- d
	}
	return ok, err
}

func (h *heard) Maintain(ctx context.Context) (bool, error) {
	more, err := h.Index.Maintain(ctx)
	h.tended <- more
	return more, err
}

// wrote says n messages and tells the index.
func (b *bench) wrote(n int) {
	b.t.Helper()
	for i := range n {
		b.say(scrollback.ConversationID(fmt.Sprint(i%3)), "red")
	}
	b.NoteWritten(n, int64(3*n))
}

// Whole batches are indexed as they come, and nothing smaller.
func TestFollow(t *testing.T) {
	var h *heard
	b := newBench(t, hear(&h))
	b.wrote(200)
	b.Follow()
	b.Follow() // again changes nothing
	defer b.Close()
	if d := <-h.put; len(d.All) != 200 {
		t.Fatalf("a batch of %d", len(d.All))
	}
	b.wrote(index.BatchMessages - 1)
	b.wrote(1)
	if d := <-h.put; len(d.All) != index.BatchMessages {
		t.Fatalf("a batch of %d", len(d.All))
	}
	b.say("big", fmt.Sprint("blue ", make([]int, 150_000))) // much text is enough
	b.NoteWritten(1, 300_000)
	if d := <-h.put; len(d.All) != 1 {
		t.Fatalf("a batch of %d", len(d.All))
	}
	b.wrote(1)
	l := b.look()
	got, err := l.Postings(t.Context(), driver.PostingQuery{Terms: []string{"red", "blue"}})
	b.ok(err)
	if got[0].Holding != 200+index.BatchMessages+1 || got[1].Holding != 1 {
		t.Errorf("%d and %d messages are found", got[0].Holding, got[1].Holding)
	}
}

// What other processes wrote is indexed when this one looks.
func TestFollowOthers(t *testing.T) {
	var h *heard
	b := newBench(t, hear(&h))
	b.ok(b.Reset(t.Context(), terms.Version))
	b.Follow()
	defer b.Close()
	<-h.tended // it has looked for the first time
	b.fill(100)
	b.look()
	if d := <-h.put; d.To != b.look().State.Newest {
		t.Errorf("up to %d was put", d.To)
	}
}

// Of servers that share a database one keeps the index at a time; when it is gone, another does.
func TestFollowInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *heard
		b := newBench(t, hear(&h))
		b.d.Clock = time.Now
		var n atomic.Int64
		id := func() string { return fmt.Sprint(n.Add(1)) }
		desk := claims.New(b.d.Turns, func() int64 { return time.Now().UnixMilli() }, id, 15*time.Second)
		other, err := desk.ClaimWork(t.Context(), "", "index")
		b.ok(err)
		b.ShareWork(b.d, desk)
		b.wrote(200)
		b.Follow()
		defer b.Close()
		select {
		case <-h.put:
			t.Error("two keep the index")
		case <-time.After(time.Minute):
		}
		other.Release()
		if d := <-h.put; len(d.All) != 200 {
			t.Errorf("a batch of %d", len(d.All))
		}
	})
}

// A process that is over before anybody follows leaves a batch indexed that it came across.
func TestFollowLeavesABatch(t *testing.T) {
	b := newBench(t, nil)
	b.fill(index.BatchMessages)
	for looked, want := range []int64{0, index.BatchMessages} {
		x := index.New(b.d.Index, func(context.Context, scrollback.Message) (string, error) { return "red", nil })
		x.Follow()
		if looked == 1 {
			_, err := x.TakeSnapshot(t.Context())
			b.ok(err)
		}
		x.Close()
		s, err := x.ReadState(t.Context())
		if b.ok(err); s.Documents != want {
			t.Errorf("looked %d times: %d documents, want %d", looked, s.Documents, want)
		}
	}
}

// What was purged is forgotten.
func TestFollowPurges(t *testing.T) {
	var h *heard
	b := newBench(t, hear(&h))
	b.wrote(90)
	b.Follow()
	<-h.put
	for <-h.tended {
	}
	_, err := b.d.Log.PurgeConversation(t.Context(), driver.Purge{Conversation: "1", Limit: 1000})
	b.ok(err)
	b.NotePurged()
	for s, err := b.ReadState(t.Context()); s.Documents != 60; s, err = b.ReadState(t.Context()) {
		b.ok(err)
		<-h.tended // or it still had something else to do
	}
	b.Close()

	_, err = b.d.Log.PurgeConversation(t.Context(), driver.Purge{Conversation: "2", Limit: 1000})
	b.ok(err)
	again := index.New(b.d.Index, nil)
	again.Follow()
	again.NotePurged()
	again.Close() // before it has looked
	if s, err := b.ReadState(t.Context()); err != nil || s.Documents != 30 {
		t.Errorf("after Close: %+v, %v", s, err)
	}
}

// Close indexes a whole batch of what was written, once, and no smaller one; it waits for
// nobody, and Close without Follow does nothing.
func TestFollowEnds(t *testing.T) {
	for n, want := range map[int]int64{index.BatchMessages - 1: 0, index.BatchMessages: index.BatchMessages} {
		var h *heard
		b := newBench(t, hear(&h))
		b.ok(b.Reset(t.Context(), terms.Version))
		b.Close()
		b.Follow()
		b.wrote(n)
		b.Close()
		b.Close()
		if s, err := b.ReadState(t.Context()); err != nil || s.Documents != want {
			t.Errorf("of %d messages %d are indexed, %v", n, s.Documents, err)
		}
	}
	var h *heard
	b := newBench(t, hear(&h))
	h.hold = make(chan struct{})
	b.wrote(100)
	b.Follow()
	<-h.put // it hangs
	b.Close()
	if s, err := b.ReadState(t.Context()); err != nil || s.Documents != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// refusing is an index that may only be read.
type refusing struct{ driver.Index }

func (refusing) Reset(context.Context, int) error {
	return scrollback.Errorf(scrollback.Refused, "refusing", "it may only be read")
}

// Where nothing may be written, everything is found.
func TestFollowRefused(t *testing.T) {
	b := newBench(t, func(d driver.Index) driver.Index { return refusing{d} })
	b.fill(300)
	b.Follow()
	b.check("read-only", b.look())
	b.Close()
	b.check("read-only, after Close", b.look())
}

// A check finds what is missing, what is otherwise than it was said, and what is too much;
// making the index again mends it, and says how far it is.
func TestCheckAndRemake(t *testing.T) {
	b := newBench(t, nil)
	b.fill(700)
	check := func(what string, flaws int, left int64) {
		t.Helper()
		var found []scrollback.MessageID
		gone, err := b.Check(t.Context(), func(int64, int64) {}, func(m scrollback.Message, detail string) error {
			found = append(found, m.ID)
			return nil
		})
		b.ok(err)
		slices.Sort(found)
		if len(slices.Compact(found)) != flaws || gone != left {
			t.Errorf("%s: %d flaws, want %d; %d left over, want %d", what, len(found), flaws, gone, left)
		}
	}
	check("no index yet", 0, 0)
	remake := func() {
		t.Helper()
		last := int64(-1)
		b.ok(b.Rebuild(t.Context(), func(done, total int64) {
			if done < last || done > total {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		}))
		check("made again", 0, 0)
		b.check("made again", b.look())
	}
	remake()
	b.ok(b.Reset(t.Context(), terms.Version))
	all, err := b.ReadUnindexed(t.Context(), driver.UnindexedQuery{Limit: 700})
	b.ok(err)
	d := driver.DocumentBatch{Cut: terms.Version, To: all[699].Number}
	i := 0
	for _, m := range all {
		words := cut(m.Message)
		one := driver.Document{Terms: words, Mark: driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt,
			Length: len(words)}}
		switch {
		case len(words) == 0:
			continue
		case i == 400: // missing
			i++
			continue
		case i == 410:
			one.Role = "nobody"
		case i == 420:
			one.Length++
		case i == 430:
			one.Terms = append(slices.Clone(words[1:]), "other")
		}
		d.All = append(d.All, one)
		i++
	}
	d.All = append(d.All, driver.Document{Terms: []string{"red"},
		Mark: driver.Mark{Place: driver.NewPlace(1, 5000), Length: 1}})
	if put, err := b.PutDocuments(t.Context(), d); !put || err != nil {
		t.Fatal(put, err)
	}
	check("spoilt", 4, 1)
	remake()
}

// While turns are written, the index waits for a moment without any: within a bound of time, and until a batch is full.
// What was just said is found meanwhile, in another process as well.
func TestFollowMakesWayForTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *heard
		b := newBench(t, hear(&h))
		b.ok(b.Reset(t.Context(), terms.Version))
		b.Follow()
		defer b.Close()
		<-h.tended // it has looked for the first time
		other := index.New(b.d.Index, func(_ context.Context, m scrollback.Message) (string, error) {
			return m.Parts[0].(scrollback.Text).Text, nil
		})
		found := func(x *index.Index) int64 {
			t.Helper()
			l, err := x.TakeSnapshot(t.Context())
			b.ok(err)
			got, err := l.Postings(t.Context(), driver.PostingQuery{Terms: []string{"red"}})
			b.ok(err)
			return got[0].Holding
		}
		busy, stop := context.WithCancel(t.Context())
		b.NoteTurn()
		go func() { // turn after turn
			for every := time.NewTicker(index.QuietTime / 2); ; {
				select {
				case <-every.C:
					b.NoteTurn()
				case <-busy.Done():
					every.Stop()
					return
				}
			}
		}()

		wrote := time.Now()
		b.wrote(index.BatchMessages)
		if n, far := found(b.Index), found(other); n != int64(index.BatchMessages) || far != n {
			t.Errorf("%d and %d messages are found, want %d", n, far, index.BatchMessages)
		}
		if d := <-h.put; len(d.All) != index.BatchMessages || time.Since(wrote) != index.YieldTime {
			t.Errorf("a batch of %d was put after %s, want after %s", len(d.All), time.Since(wrote), index.YieldTime)
		}
		synctest.Wait()

		wrote = time.Now()
		b.wrote(index.MostMessages)
		if d := <-h.put; len(d.All) != index.MostMessages || time.Since(wrote) > index.QuietTime {
			t.Errorf("a full batch of %d was put after %s", len(d.All), time.Since(wrote))
		}
		synctest.Wait()

		stop()
		wrote = time.Now()
		b.NoteTurn()
		b.wrote(index.BatchMessages)
		if d := <-h.put; len(d.All) != index.BatchMessages || time.Since(wrote) != index.QuietTime {
			t.Errorf("a batch of %d was put %s after the last turn, want %s", len(d.All), time.Since(wrote),
				index.QuietTime)
		}
	})
}
