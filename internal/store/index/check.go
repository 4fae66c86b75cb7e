package index

import (
	"context"
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// checkTerms is how many terms of a page of messages are looked up when an index is checked.
const checkTerms = 64

// Check holds the index against the log: each message that the watermark has passed is in
// it, as it would be cut now, and nothing else is. flaw is called for a message that is not.
// It looks up a sample of terms. progress gets how many messages
// were held against the index, and of about how many. left are documents of messages that
// were purged, which tending removes. Of an index that is cut in another way, or reset
// meanwhile, nothing is known.
func (x *Index) Check(ctx context.Context, progress func(done, total int64),
	flaw func(m scrollback.Message, detail string) error) (left int64, err error) {
	s, err := x.ReadState(ctx)
	if err != nil || s.Cut != x.version {
		return 0, err
	}
	c := indexCheck{x: x, at: s, flaw: flaw}
	for after := int64(0); after < s.Watermark; {
		page, err := x.ReadUnindexed(ctx, driver.UnindexedQuery{After: after, Limit: tailPage, Bytes: mostBytes})
		if err != nil || len(page) == 0 {
			return 0, err
		}
		after = page[len(page)-1].Number
		page = slices.DeleteFunc(page, func(m driver.NumberedMessage) bool { return m.Number > s.Watermark })
		if moved, err := c.checkPage(ctx, page); err != nil || moved {
			return 0, err
		}
		progress(c.done, s.Documents)
	}
	return max(0, s.Documents-c.documents), nil
}

// indexCheck is a check under way.
type indexCheck struct {
	x               *Index
	at              driver.IndexState
	flaw            func(scrollback.Message, string) error
	done, documents int64
}

// checkPage checks some messages; moved says that the index was reset meanwhile.
func (c *indexCheck) checkPage(ctx context.Context, page []driver.NumberedMessage) (moved bool, err error) {
	docs := c.x.cutAll(ctx, page, runtime.GOMAXPROCS(0))
	for i, d := range docs {
		docs[i] = d.sortTerms()
	}
	byPlace := map[driver.Place]*document{}
	of := map[driver.Place]scrollback.Message{}
	var places []driver.Place
	for i, d := range docs {
		byPlace[d.Place] = d
		of[d.Place] = page[i].Message
		places = append(places, d.Place)
	}
	slices.Sort(places)
	marks, err := c.x.ReadMarks(ctx, places)
	if err != nil {
		return false, err
	}
	wrong := map[driver.Place]string{}
	marked := map[driver.Place]driver.Mark{}
	for _, m := range marks {
		marked[m.Place] = m
	}
	for _, d := range docs {
		m, there := marked[d.Place]
		switch {
		case !there && d.Length > 0:
			wrong[d.Place] = "search does not find it"
		case there && d.whole && m != d.Mark:
			wrong[d.Place] = fmt.Sprintf("search takes it for %+v; it is %+v", m, d.Mark)
		}
		if there {
			c.documents++
		}
	}
	if err := c.lookUpTerms(ctx, places, byPlace, wrong); err != nil {
		return false, err
	}
	c.done += int64(len(page))
	return c.reportWrong(ctx, of, wrong)
}

// lookUpTerms looks some terms up among the places of a page.
func (c *indexCheck) lookUpTerms(ctx context.Context, places []driver.Place, docs map[driver.Place]*document,
	wrong map[driver.Place]string) error {
	type ranked struct {
		term string
		hash uint64
	}
	var all []ranked
	for _, d := range docs {
		for _, t := range d.terms {
			h := fnv.New64a()
			_, _ = h.Write([]byte(t))
			all = append(all, ranked{t, h.Sum64()})
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return 0
	})
	all = slices.Compact(all)
	q := driver.PostingQuery{}
	for _, r := range all[:min(checkTerms, len(all))] {
		q.Terms = append(q.Terms, r.term)
	}
	for _, p := range places {
		q.Within = append(q.Within, driver.PlaceRun{First: p, Last: p})
	}
	got, err := c.x.Index.FindPostings(ctx, q)
	if err != nil {
		return err
	}
	for i, term := range q.Terms {
		counts := map[driver.Place]int{}
		for j, p := range got[i].Places {
			counts[p] = int(got[i].Counts[j])
		}
		for _, p := range places {
			if d := docs[p]; d.whole && counts[p] != min(d.countTerm(term), 255) && wrong[p] == "" {
				wrong[p] = "search does not find it by all of its words"
			}
		}
	}
	return nil
}

// reportWrong hands on what is wrong with messages that are still there.
func (c *indexCheck) reportWrong(ctx context.Context, of map[driver.Place]scrollback.Message,
	wrong map[driver.Place]string) (moved bool, err error) {
	if len(wrong) == 0 {
		return false, nil
	}
	s, err := c.x.ReadState(ctx)
	if err != nil || s.Cut != c.at.Cut || s.Watermark < c.at.Watermark {
		return true, err
	}
	var places []driver.Place
	for p := range wrong {
		places = append(places, p)
	}
	slices.Sort(places)
	there, err := c.x.ReadMessagesAt(ctx, places)
	if err != nil {
		return false, err
	}
	for _, p := range places {
		if slices.ContainsFunc(there, func(m scrollback.Message) bool { return m.ID == of[p].ID }) {
			if err := c.flaw(of[p], wrong[p]); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// Rebuild empties the index and fills it again while it is in use. progress gets how
// many messages are in it, and about how many there are.
func (x *Index) Rebuild(ctx context.Context, progress func(done, total int64)) error {
	if err := x.Reset(ctx, x.version); err != nil {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = x.CatchUp(ctx); err != nil {
			return err
		}
		s, err := x.ReadState(ctx)
		if err != nil {
			return err
		}
		progress(s.Watermark, s.Newest)
	}
	return x.MaintainAll(ctx)
}

// MaintainAll maintains the index until there is no more to do.
func (x *Index) MaintainAll(ctx context.Context) error {
	for {
		if more, err := x.Maintain(ctx); err != nil || !more {
			return err
		}
	}
}
