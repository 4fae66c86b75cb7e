package vectors

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
)

// newLog returns vectors of a database with conversations of as many messages: "0", "1" and so on.
func newLog(t *testing.T, lengths ...int) *Vectors {
	t.Helper()
	d := oracle.New()
	for i, n := range lengths {
		id := scrollback.ConversationID(fmt.Sprint("c", i))
		b := scrollback.Branch{ID: scrollback.BranchID(fmt.Sprint("b", i)), Conversation: id}
		_, _, err := d.Log.CreateConversation(t.Context(), scrollback.Conversation{ID: id, Branch: b.ID, Version: 1}, b)
		if err != nil {
			t.Fatal(err)
		}
		var entries []driver.Entry
		for k := range n {
			entries = append(entries, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(i, "-", k)),
				Role: scrollback.RoleUser, Parts: scrollback.Say(fmt.Sprint(k))}})
		}
		_, err = d.Log.AppendEntries(t.Context(), driver.Append{Conversation: id, IfHead: -1, Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
	}
	return New(d.Index)
}

// fill makes the vectors of all, each of which points the more to one side the greater the number is.
func fill(t *testing.T, x *Vectors) (batches int) {
	t.Helper()
	for done := false; !done; batches++ {
		var err error
		if done, err = x.FillStep(t.Context(), "m", func(_ context.Context, texts []Text) (out [][]float32, _ error) {
			for _, text := range texts {
				var n float32
				fmt.Sscan(text.Text, &n)
				v := make([]float32, 64)
				v[0] = n
				v[1] = 100
				out = append(out, v)
			}
			return out, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return batches
}

// all lets everything through.
func all(_ context.Context, places []driver.Place) ([]driver.Place, error) { return places, nil }

// nearest returns the places that are nearest to where great numbers point.
func nearest(t *testing.T, x *Vectors, q driver.PostingQuery,
	keep func(context.Context, []driver.Place) ([]driver.Place, error)) []driver.Place {
	t.Helper()
	v := make([]float32, 64)
	v[0] = 1
	l, err := x.NewLookup(t.Context(), "m", v)
	if err != nil || l == nil {
		t.Fatalf("%v, %v", l, err)
	}
	out, err := l.FindNearest(t.Context(), q, keep)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	nearness, err := l.Compare(t.Context(), out)
	if err != nil || len(nearness) != len(out) {
		t.Fatalf("%d of %d are compared, %v", len(nearness), len(out), err)
	}
	for _, p := range out {
		n := float64(p.Seq() - 1)
		if want := n / math.Hypot(n, 100); math.Abs(nearness[p]-want) > 0.02 {
			t.Errorf("%d is near by %.2f, want %.2f", p.Seq(), nearness[p], want)
		}
	}
	return out
}

// Of many a tenth is nearest, of few some, as far as they are let through, however deep these are.
func TestFindNearest(t *testing.T) {
	x := newLog(t, 700, 30)
	if n := fill(t, x); n != 1+12+1 {
		t.Errorf("it took %d steps", n)
	}
	got := nearest(t, x, driver.PostingQuery{}, all)
	if len(got) != 73 || slices.ContainsFunc(got, func(p driver.Place) bool { return p.Branch() != 1 || p.Seq() < 300 }) {
		t.Errorf("of all, %d are nearest: %v", len(got), got)
	}
	small := driver.PostingQuery{Within: []driver.PlaceRun{{First: driver.NewPlace(2, 1), Last: driver.NewPlace(2, 99)}}}
	if got := nearest(t, x, small, all); len(got) != 5 || got[0].Seq() < 10 {
		t.Errorf("of thirty, nearest are %v", got)
	}
	only := func(_ context.Context, places []driver.Place) ([]driver.Place, error) {
		return slices.DeleteFunc(slices.Clone(places), func(p driver.Place) bool { return p.Seq()%100 != 0 }), nil
	}
	if got := nearest(t, x, driver.PostingQuery{}, only); len(got) < 2 || len(got) > 7 {
		t.Errorf("of those that are let through, nearest are %v", got)
	}
	if got := nearest(t, x, driver.PostingQuery{Role: scrollback.RoleAssistant}, all); len(got) > 0 {
		t.Errorf("of nobody, nearest are %v", got)
	}
}

// Where there are too many to be looked through, only what is narrowed to runs of places is, and only if these are few.
func TestTooMany(t *testing.T) {
	x := newLog(t, 300, 30)
	fill(t, x)
	x.most = 200
	if got := nearest(t, x, driver.PostingQuery{}, all); len(got) > 0 {
		t.Errorf("of too many, nearest are %v", got)
	}
	run := func(branch int64) []driver.PlaceRun {
		return []driver.PlaceRun{{First: driver.NewPlace(branch, 1), Last: driver.NewPlace(branch, 999)}}
	}
	if got := nearest(t, x, driver.PostingQuery{Within: run(1)}, all); len(got) > 0 {
		t.Errorf("of too many in one branch, nearest are %v", got)
	}
	if got := nearest(t, x, driver.PostingQuery{Within: run(2)}, all); len(got) != 5 {
		t.Errorf("in a small branch, nearest are %v", got)
	}
	if got := nearest(t, x, driver.PostingQuery{Within: slices.Repeat(run(2), mostRuns+1)}, all); len(got) > 0 {
		t.Errorf("of too many runs, nearest are %v", got)
	}
	if err := x.Load(t.Context()); err != nil || len(x.cache.all.marks) > 0 {
		t.Errorf("in memory are %d, %v", len(x.cache.all.marks), err)
	}
}

// What is looked up is of the same model and dimension, or there is nothing to look up.
func TestNewLookup(t *testing.T) {
	x := newLog(t, 3)
	for _, c := range []struct {
		model string
		n     int
		want  bool
	}{{"m", 64, false}, {"m", 64, true}, {"other", 64, false}, {"m", 63, false}, {"m", 0, false}} {
		v := make([]float32, c.n)
		for i := range v {
			v[i] = 1
		}
		l, err := x.NewLookup(t.Context(), c.model, v)
		if err != nil || (l != nil) != c.want {
			t.Errorf("%+v: %v, %v", c, l, err)
		}
		fill(t, x)
	}
}

// Batches are bounded by characters, and what nothing can be made of has no vector and does not stop the rest.
func TestBatches(t *testing.T) {
	d := oracle.New()
	b := scrollback.Branch{ID: "b", Conversation: "c"}
	_, _, err := d.Log.CreateConversation(t.Context(), scrollback.Conversation{ID: "c", Branch: "b", Version: 1}, b)
	var entries []driver.Entry
	for k := range 30 {
		entries = append(entries, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(k)),
			Role: scrollback.RoleUser, Parts: scrollback.Say(strings.Repeat("long ", 2000))}})
	}
	if err == nil {
		_, err = d.Log.AppendEntries(t.Context(), driver.Append{Conversation: "c", IfHead: -1, Entries: entries})
	}
	if err != nil {
		t.Fatal(err)
	}
	x := New(d.Index)
	var sizes []int
	for done := false; !done; {
		if done, err = x.FillStep(t.Context(), "m", func(_ context.Context, texts []Text) ([][]float32, error) {
			sizes = append(sizes, len(texts))
			out := make([][]float32, len(texts))
			for i := range out[1:] {
				out[1+i] = []float32{1, 2}
			}
			return out, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(sizes, []int{12, 12, 6}) {
		t.Errorf("batches of %v", sizes)
	}
	if s, err := x.ReadState(t.Context()); err != nil || s.Vectors != 27 || s.Watermark != s.Newest || s.Dimension != 2 {
		t.Errorf("the state is %+v, %v", s, err)
	}
}
