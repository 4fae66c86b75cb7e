package index

import (
	"context"
	"runtime"
	"sort"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Snapshot is what can be found at one moment. It is for one goroutine at a time. The Documents
// and Terms of State count what is behind the index too; of a scan, as far as it has come.
type Snapshot struct {
	*Index
	State driver.IndexState

	at   driver.IndexState // of the index alone, when the snapshot was taken
	tail []*document       // by place
	scan *scan             // instead of the tail
}

// tries bounds how often a snapshot reads again because the index has moved on.
const tries = 4

// shareFrom is from how many messages behind it an index counts as incomplete.
const shareFrom = mostMessages

// TakeSnapshot reads how far the index reaches, and what is behind it.
func (x *Index) TakeSnapshot(ctx context.Context) (*Snapshot, error) {
	s, err := x.ReadState(ctx)
	if err != nil {
		return nil, err
	}
	if s.Newest-s.Watermark >= batchMessages { // another process may have written it
		x.mu.Lock()
		x.lags = true
		x.mu.Unlock()
		x.wake()
	}
	l := &Snapshot{Index: x}
	return l, l.beginAt(ctx, s)
}

// TakeSnapshotOfIndex is TakeSnapshot for who cannot wait: of what is behind the index it has at most some messages, or
// else nothing.
func (x *Index) TakeSnapshotOfIndex(ctx context.Context, most int64) (*Snapshot, error) {
	s, err := x.ReadState(ctx)
	if err != nil {
		return nil, err
	}
	l := &Snapshot{Index: x}
	if s.Cut == x.version && s.Newest-s.Watermark > most {
		l.at = s
		l.State = s
		return l, nil
	}
	return l, l.beginAt(ctx, s)
}

// beginAt puts the snapshot at a state.
func (l *Snapshot) beginAt(ctx context.Context, s driver.IndexState) error {
	if s.Cut != l.version { // all of it is the tail
		s = driver.IndexState{Cut: l.version, Newest: s.Newest}
	}
	l.at = s
	l.State = s
	l.tail = nil
	if s.Newest-s.Watermark <= tailMessages {
		docs, fits, err := l.Index.tail.readByPlace(ctx, l.Index, s, runtime.GOMAXPROCS(0))
		if err != nil {
			return err
		}
		if l.tail = docs; fits {
			l.scan = nil
			for _, d := range docs {
				l.addLength(d.Length)
			}
			return nil
		}
	}
	l.scan = newScan(l.scan, s)
	return nil
}

// addLength counts a document of the tail.
func (l *Snapshot) addLength(length int) {
	if length > 0 {
		l.State.Documents++
		l.State.Terms += int64(length)
	}
}

// IndexedShare says what share of the log the index has, 0 to 1, and whether that is as good as
// all of it.
func (l *Snapshot) IndexedShare() (share float64, whole bool) {
	behind := l.at.Newest - l.at.Watermark
	if behind < shareFrom {
		return 1, true
	}
	return float64(l.at.Documents) / float64(l.at.Documents+behind), false
}

// Stopped reports whether the tail was too big to be read to its end in time.
func (l *Snapshot) Stopped() bool { return l.scan != nil && l.scan.stopped }

// Postings are those of the index and of what is behind it.
func (l *Snapshot) Postings(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	if l.scan != nil {
		if err := l.scan.scanTerms(ctx, l, q.Terms); err != nil {
			return nil, err
		}
	}
	before := l.at
	var out []driver.Postings
	for try := 1; ; try++ {
		if before.Watermark == 0 {
			out = make([]driver.Postings, len(q.Terms))
			break
		}
		var err error
		if out, err = l.Index.Index.FindPostings(ctx, q); err != nil {
			return nil, err
		}
		after, err := l.Index.Index.ReadState(ctx)
		if err != nil {
			return nil, err
		}
		if after.Cut == before.Cut && after.Watermark == before.Watermark || try == tries {
			break
		}
		if after.Cut != l.at.Cut || after.Watermark < l.at.Watermark { // it was reset
			if err := l.beginAt(ctx, after); err != nil {
				return nil, err
			}
			if l.scan != nil {
				if err := l.scan.scanTerms(ctx, l, q.Terms); err != nil {
					return nil, err
				}
			}
			after = l.at
		}
		before = after
	}
	for i, term := range q.Terms {
		out[i] = mergePostings(out[i], l.findInTail(term, q, before.Watermark), q.Most)
	}
	return out, nil
}

// findInTail returns where a term is in the tail, after a number.
func (l *Snapshot) findInTail(term string, q driver.PostingQuery, after int64) driver.Postings {
	if l.scan != nil {
		return l.scan.findPostings(term, q, after)
	}
	var out driver.Postings
	for _, d := range l.tail {
		if d.number <= after {
			continue
		}
		n := d.countTerm(term)
		if n == 0 {
			continue
		}
		if out.Holding++; q.Matches(d.Mark) {
			out.Places = append(out.Places, d.Place)
			out.Counts = append(out.Counts, uint8(min(n, 255)))
		}
	}
	return out
}

// mergePostings joins postings. A document of both is there once.
func mergePostings(a, b driver.Postings, most int) driver.Postings {
	out := driver.Postings{Holding: a.Holding + b.Holding}
	if most > 0 && out.Holding > int64(most) {
		return out
	}
	if len(b.Places) == 0 {
		out.Places = a.Places
		out.Counts = a.Counts
		return out
	}
	out.Places = make([]driver.Place, 0, len(a.Places)+len(b.Places))
	out.Counts = make([]uint8, 0, len(a.Places)+len(b.Places))
	for len(a.Places) > 0 || len(b.Places) > 0 {
		from := &a
		if len(a.Places) == 0 || len(b.Places) > 0 && b.Places[0] < a.Places[0] {
			from = &b
		}
		if n := len(out.Places); n > 0 && out.Places[n-1] == from.Places[0] {
			out.Holding--
		} else {
			out.Places = append(out.Places, from.Places[0])
			out.Counts = append(out.Counts, from.Counts[0])
		}
		from.Places = from.Places[1:]
		from.Counts = from.Counts[1:]
	}
	return out
}

// Marks are those of the index and of what is behind it.
func (l *Snapshot) Marks(ctx context.Context, places []driver.Place) ([]driver.Mark, error) {
	known := make(map[driver.Place]driver.Mark, len(places))
	var rest []driver.Place
	for _, p := range places {
		if m, ok := l.findTailMark(p); ok {
			known[p] = m
		} else {
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 && l.at.Watermark > 0 {
		got, err := l.Index.Index.ReadMarks(ctx, rest)
		if err != nil {
			return nil, err
		}
		for _, m := range got {
			known[m.Place] = m
		}
	}
	if l.scan != nil {
		if err := l.scan.addMarks(ctx, l, rest, known); err != nil {
			return nil, err
		}
	}
	out := make([]driver.Mark, 0, len(known))
	for i, p := range places {
		if m, ok := known[p]; ok && (i == 0 || p != places[i-1]) {
			out = append(out, m)
		}
	}
	return out, nil
}

// findTailMark returns that of a document of the tail.
func (l *Snapshot) findTailMark(p driver.Place) (driver.Mark, bool) {
	if l.scan != nil {
		if m := l.scan.marks[p]; m != nil {
			return *m, true
		}
		return driver.Mark{}, false
	}
	i := sort.Search(len(l.tail), func(i int) bool { return l.tail[i].Place >= p })
	if i == len(l.tail) || l.tail[i].Place != p || l.tail[i].Length == 0 {
		return driver.Mark{}, false
	}
	return l.tail[i].Mark, true
}
