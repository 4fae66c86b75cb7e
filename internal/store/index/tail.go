package index

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Bounds of a tail that is cut whole and kept in memory.
const (
	tailMessages = 4096
	tailWeight   = 16 << 20
	tailPage     = 256
)

// tail are the documents behind the watermark, cut once for all snapshots of a process.
type tail struct {
	lock     chan struct{} // held by who reads or changes what follows
	from, to int64         // docs are those with numbers after from, up to to
	docs     []*document   // by number; a slice of them that was handed out stays valid
	byPlace  []*document   // the same
	weight   int
}

// lockTail takes the lock.
func (t *tail) lockTail(ctx context.Context) error {
	select {
	case t.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return scrollback.Wrap(scrollback.Canceled, "index.Look", ctx.Err())
	}
}

func (t *tail) unlockTail() { <-t.lock }

// dropAll drops all documents: some of them may have been purged.
func (t *tail) dropAll() {
	t.lock <- struct{}{}
	defer t.unlockTail()
	t.reset(0)
}

func (t *tail) reset(from int64) {
	t.from = from
	t.to = from
	t.docs = nil
	t.byPlace = nil
	t.weight = 0
}

// readByNumber brings the tail up to a state and returns its documents by number, or false if they
// are too many.
func (t *tail) readByNumber(ctx context.Context, x *Index, s driver.IndexState, workers int) ([]*document, bool,
	error) {
	if err := t.lockTail(ctx); err != nil {
		return nil, false, err
	}
	defer t.unlockTail()
	fits, err := t.loadNew(ctx, x, s, workers)
	i := t.indexAfter(s.Watermark)
	return t.docs[i:], fits, err
}

// readByPlace is readByNumber, with the documents by place.
func (t *tail) readByPlace(ctx context.Context, x *Index, s driver.IndexState, workers int) ([]*document, bool, error) {
	if err := t.lockTail(ctx); err != nil {
		return nil, false, err
	}
	defer t.unlockTail()
	fits, err := t.loadNew(ctx, x, s, workers)
	if err != nil || !fits {
		return nil, false, err
	}
	if t.byPlace == nil {
		t.docs = slices.Clone(t.docs) // those that were handed out stay as they are
		for i, d := range t.docs {
			t.docs[i] = d.sortTerms()
		}
		t.byPlace = slices.Clone(t.docs)
		slices.SortFunc(t.byPlace, func(a, b *document) int { return cmp.Compare(a.Place, b.Place) })
	}
	return t.byPlace, true, nil
}

// indexAfter is where the documents after a number begin.
func (t *tail) indexAfter(number int64) int {
	return sort.Search(len(t.docs), func(i int) bool { return t.docs[i].number > number })
}

// loadNew reads and cuts what is new behind the watermark, and drops what it has passed. An
// older state than the last changes nothing; one from before a reset begins again.
func (t *tail) loadNew(ctx context.Context, x *Index, s driver.IndexState, workers int) (fits bool, err error) {
	switch {
	case s.Watermark < t.from || s.Watermark > t.to:
		t.reset(s.Watermark)
	case s.Watermark > t.from:
		i := t.indexAfter(s.Watermark)
		for _, d := range t.docs[:i] {
			t.weight -= d.sizeBytes()
		}
		t.from = s.Watermark
		t.docs = slices.Clone(t.docs[i:])
		t.byPlace = nil
	}
	for i, d := range t.docs { // what could not be read may be readable now
		if !d.whole {
			t.dropFrom(i)
			break
		}
	}
	for t.to < s.Newest {
		page, err := x.ReadUnindexed(ctx, driver.UnindexedQuery{After: t.to, Limit: tailPage, Bytes: mostBytes,
			Known: x.recent.take})
		if err != nil {
			return false, err
		}
		if len(page) == 0 { // the newest was purged meanwhile
			break
		}
		docs := x.cutAll(ctx, page, workers)
		if err := ctx.Err(); err != nil {
			return false, scrollback.Wrap(scrollback.Canceled, "index.Look", err)
		}
		for _, d := range docs {
			t.weight += d.sizeBytes()
		}
		t.docs = append(t.docs[:len(t.docs):len(t.docs)], docs...)
		t.byPlace = nil
		t.to = page[len(page)-1].Number
		if t.weight > tailWeight || len(t.docs) > tailMessages {
			t.reset(s.Watermark)
			return false, nil
		}
	}
	return true, nil
}

// dropFrom drops the documents from one on.
func (t *tail) dropFrom(i int) {
	for _, d := range t.docs[i:] {
		t.weight -= d.sizeBytes()
	}
	t.docs = t.docs[:i:i]
	t.byPlace = nil
	t.to = t.from
	if i > 0 {
		t.to = t.docs[i-1].number
	}
}
