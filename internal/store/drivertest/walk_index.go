package drivertest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// advanceIndex moves the index on: a batch, a step of tending, or now and then from the beginning.
func (w *randomWalk) advanceIndex() {
	switch {
	case w.cut == 0 || w.chance(5):
		w.cut = 1 + w.rng.IntN(2)
		callBothError(w, fmt.Sprint("reset the index to ", w.cut),
			func(d *driver.Driver) error { return d.Index.Reset(w.ctx, w.cut) })
	case w.chance(20):
		callBothError(w, "tend", func(d *driver.Driver) error { _, err := d.Index.Maintain(w.ctx); return err })
	}
	limit := 1 + w.rng.IntN(40)
	cut := w.cut - w.rng.IntN(10)/9
	type answer struct {
		Put    bool
		Behind []scrollback.Message
	}
	callBoth(w, fmt.Sprint("index ", limit), func(d *driver.Driver) (out answer, err error) {
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
		out.Put, err = d.Index.PutDocuments(w.ctx, makeDocuments(cut, s, batch))
		return out, err
	})
}

// cutParts returns the terms of parts of the walk.
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

// lookupResult is a message in which a term was found, how often it is in it, and what is marked of it.
type lookupResult struct {
	Message scrollback.Message
	Count   uint8
	Marks   []driver.Mark
	Lines   []driver.IndexedBranch
}

// lookUpTerms looks random terms up, in random branches. What was purged may be found until the
// index was maintained, and counts as gone.
func (w *randomWalk) lookUpTerms() {
	q := driver.PostingQuery{Role: pickOne(w, "", "", scrollback.RoleUser)}
	for range 1 + w.rng.IntN(3) {
		q.Terms = append(q.Terms, pickOne(w, walkWords...)+pickOne(w, "", "", "*"))
	}
	if w.chance(30) {
		q.From = w.now - int64(w.rng.IntN(2000))
		q.To = w.now - int64(w.rng.IntN(500))
	}
	lines := driver.IndexedBranchQuery{Projects: pickOne(w, nil, nil, []string{"one"}, []string{"one", "none"}),
		Trash: w.chance(30)}
	var only []scrollback.ConversationID
	if w.chance(30) {
		only = []scrollback.ConversationID{w.pickConversation().ID, w.pickConversation().ID}
	}
	callBoth(w, fmt.Sprintf("look for %+v in %v %+v", q, only, lines),
		func(d *driver.Driver) ([][]lookupResult, error) { return indexLookup{q, lines, only}.runOn(w.ctx, d) })
	if w.chance(20) { // nothing purged counts any more
		callBoth(w, fmt.Sprint("counts of ", q.Terms), func(d *driver.Driver) ([]int64, error) {
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

// indexLookup is what is looked for: in lines, of only some conversations if they are not nil.
type indexLookup struct {
	driver.PostingQuery
	lines driver.IndexedBranchQuery
	only  []scrollback.ConversationID
}

// runOn looks in one driver, and returns what it finds of each term.
func (l indexLookup) runOn(ctx context.Context, d *driver.Driver) ([][]lookupResult, error) {
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
	out := make([][]lookupResult, len(got))
	for i, p := range got {
		if !slices.IsSorted(p.Places) {
			return nil, scrollback.Errorf(scrollback.Internal, "drivertest.RunWalk", "places do not ascend: %v", p.Places)
		}
		if out[i], err = readAt(ctx, d, p, in); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readAt reads what is still there at places, by the ids of messages: the numbers of branches, and the order that
// they give, are each database's own, and each server's of one.
func readAt(ctx context.Context, d *driver.Driver, p driver.Postings,
	in driver.IndexedBranchQuery) (out []lookupResult, err error) {
	for i, place := range p.Places {
		ms, err := d.Index.ReadMessagesAt(ctx, []driver.Place{place})
		if err != nil {
			return out, err
		}
		if len(ms) == 0 {
			continue
		}
		found := lookupResult{Message: ms[0], Count: p.Counts[i]}
		if found.Marks, err = d.Index.ReadMarks(ctx, []driver.Place{place}); err != nil {
			return out, err
		}
		for i := range found.Marks {
			found.Marks[i].Place = driver.Place(found.Marks[i].Place.Seq())
		}
		in.Numbers = []int64{place.Branch()}
		lines, err := d.Index.FindBranches(ctx, in)
		if err != nil {
			return out, err
		}
		for _, l := range lines {
			l.Number = 0
			l.Parent = min(l.Parent, 1)
			found.Lines = append(found.Lines, l)
		}
		out = append(out, found)
	}
	slices.SortFunc(out, func(a, b lookupResult) int { return cmp.Compare(a.Message.ID, b.Message.ID) })
	return out, nil
}

// searchIndex moves the index on, and looks something up.
func (w *randomWalk) searchIndex() {
	w.advanceIndex()
	if w.chance(30) {
		w.advanceVectors()
	}
	if w.chance(30) {
		w.enterImported()
	}
	w.lookUpTerms()
}
