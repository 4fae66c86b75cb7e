package drivertest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// index moves the index on: a batch, a step of tending, or now and then from the beginning.
func (w *walk) index() {
	switch {
	case w.cut == 0 || w.often(5):
		w.cut = 1 + w.rng.IntN(2)
		errand(w, fmt.Sprint("reset the index to ", w.cut),
			func(d *driver.Driver) error { return d.Index.Reset(w.ctx, w.cut) })
	case w.often(20):
		errand(w, "tend", func(d *driver.Driver) error { _, err := d.Index.Maintain(w.ctx); return err })
	}
	limit := 1 + w.rng.IntN(40)
	cut := w.cut - w.rng.IntN(10)/9
	type answer struct {
		Put    bool
		Behind []scrollback.Message
	}
	both(w, fmt.Sprint("index ", limit), func(d *driver.Driver) (out answer, err error) {
		s, err := d.Index.ReadState(w.ctx)
		if err != nil {
			return out, err
		}
		batch, err := d.Index.ReadUnindexed(w.ctx, driver.UnindexedQuery{After: s.Watermark, Limit: limit})
		if err != nil || len(batch) == 0 {
			return out, err
		}
		for _, m := range batch {
			out.Behind = append(out.Behind, m.Message)
		}
		out.Put, err = d.Index.PutDocuments(w.ctx, documents(cut, s, batch))
		return out, err
	})
}

// cutParts are the terms of parts of the walk.
func cutParts(parts scrollback.Parts) []string {
	var out []string
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			out = append(out, strings.Fields(strings.Trim(p.Text, "<>"))...)
		case scrollback.ToolResult:
			out = append(out, strings.Fields(p.Text)...)
		}
	}
	return out
}

// looked is what a look finds of a term: the messages that are still there, how often it is in
// each, and what is marked of them.
type looked struct {
	Messages []scrollback.Message
	Counts   []uint8
	Marks    []driver.Mark
	Lines    []driver.IndexedBranch
}

// look looks random terms up, in random branches. What was purged may be found until the
// index was tended, and counts as gone.
func (w *walk) look() {
	q := driver.PostingQuery{Role: some(w, "", "", scrollback.RoleUser)}
	for range 1 + w.rng.IntN(3) {
		q.Terms = append(q.Terms, some(w, words...)+some(w, "", "", "*"))
	}
	if w.often(30) {
		q.From = w.now - int64(w.rng.IntN(2000))
		q.To = w.now - int64(w.rng.IntN(500))
	}
	lines := driver.IndexedBranchQuery{Projects: some(w, nil, nil, []string{"one"}, []string{"one", "none"}),
		Trash: w.often(30)}
	var only []scrollback.ConversationID
	if w.often(30) {
		only = []scrollback.ConversationID{w.conversation().ID, w.conversation().ID}
	}
	both(w, fmt.Sprintf("look for %+v in %v %+v", q, only, lines),
		func(d *driver.Driver) ([]looked, error) { return lookup{q, lines, only}.in(w.ctx, d) })
	if w.often(20) { // nothing purged counts any more
		both(w, fmt.Sprint("counts of ", q.Terms), func(d *driver.Driver) ([]int64, error) {
			for more := true; more; {
				var err error
				if more, err = d.Index.Maintain(w.ctx); err != nil {
					return nil, err
				}
			}
			s, err := d.Index.ReadState(w.ctx)
			if err != nil {
				return nil, err
			}
			got, err := d.Index.FindPostings(w.ctx, driver.PostingQuery{Terms: q.Terms, Most: 1})
			out := []int64{s.Documents, s.Terms}
			for _, p := range got {
				out = append(out, p.Holding)
			}
			return out, err
		})
	}
}

// lookup is what is looked for: in lines, of only some conversations if they are not nil.
type lookup struct {
	driver.PostingQuery
	lines driver.IndexedBranchQuery
	only  []scrollback.ConversationID
}

// in looks in one driver.
func (l lookup) in(ctx context.Context, d *driver.Driver) ([]looked, error) {
	q := l.PostingQuery
	in := l.lines
	only := l.only
	if only != nil {
		lines, err := d.Index.ListBranchesOf(ctx, only)
		if err != nil {
			return nil, err
		}
		q.Within = []driver.PlaceRun{}
		for _, l := range lines {
			q.Within = append(q.Within, driver.PlaceRun{First: driver.NewPlace(l.Number, l.First),
				Last: driver.NewPlace(l.Number, l.Head)})
		}
	}
	got, err := d.Index.FindPostings(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]looked, len(got))
	for i, p := range got {
		if !slices.IsSorted(p.Places) {
			return nil, scrollback.Errorf(scrollback.Internal, "drivertest.Walk", "places do not ascend: %v", p.Places)
		}
		if out[i], err = readAt(ctx, d, p, in); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readAt reads what is at places, with numbers of branches as they are in no database.
func readAt(ctx context.Context, d *driver.Driver, p driver.Postings, in driver.IndexedBranchQuery) (out looked,
	err error) {
	for i, place := range p.Places {
		ms, err := d.Index.ReadMessagesAt(ctx, []driver.Place{place})
		if err != nil {
			return out, err
		}
		if len(ms) == 0 {
			continue
		}
		marks, err := d.Index.ReadMarks(ctx, []driver.Place{place})
		if err != nil {
			return out, err
		}
		for i := range marks {
			marks[i].Place = driver.Place(marks[i].Place.Seq())
		}
		in.Numbers = []int64{place.Branch()}
		lines, err := d.Index.FindBranches(ctx, in)
		if err != nil {
			return out, err
		}
		for _, l := range lines {
			l.Number = 0
			l.Parent = min(l.Parent, 1)
			out.Lines = append(out.Lines, l)
		}
		out.Messages = append(out.Messages, ms...)
		out.Counts = append(out.Counts, p.Counts[i])
		out.Marks = append(out.Marks, marks...)
	}
	return out, nil
}

// search moves the index on, and looks something up.
func (w *walk) search() {
	w.index()
	w.look()
}
