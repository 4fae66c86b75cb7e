package index

import (
	"context"
	"runtime"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Bounds of a scan.
const (
	scanTime   = 10 * time.Second
	scanNumber = 256     // of messages, that one goroutine reads at a time
	scanPlaces = 1 << 14 // of one term: in more messages, the newest are found
)

// scan reads a tail, newest first, and keeps only where the terms of a snapshot are in it.
type scan struct {
	at    driver.IndexState
	ends  time.Time
	terms map[string]*hits
	marks map[driver.Place]*driver.Mark // of messages with any of the terms

	counted bool // the snapshot knows how many messages there are
	stopped bool // it was not read to its end
}

// hits are the messages with a term.
type hits struct {
	holding int64
	all     []hit
	ordered bool
}

// hit is a message with a term.
type hit struct {
	mark   *driver.Mark
	number int64
	count  uint8
}

// newScan makes a scan of the tail at a state, in what is left of the time of the last one.
func newScan(last *scan, at driver.IndexState) *scan {
	s := &scan{at: at, terms: map[string]*hits{}, marks: map[driver.Place]*driver.Mark{}}
	if last != nil {
		s.ends = last.ends
	}
	return s
}

// scanTerms looks for those terms that it has not looked for before.
func (s *scan) scanTerms(ctx context.Context, l *Snapshot, want []string) error {
	var fresh []string
	for _, t := range want {
		if s.terms[t] == nil {
			s.terms[t] = &hits{}
			fresh = append(fresh, t)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if s.ends.IsZero() {
		s.ends = time.Now().Add(l.scanTime)
	}
	timed, cancel := context.WithDeadline(ctx, s.ends)
	defer cancel()
	r := &tailReader{s: s, l: l, want: fresh, next: s.at.Newest}
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() { r.readPieces(timed) })
	}
	all.Wait()
	s.counted = true
	switch {
	case ctx.Err() != nil:
		return scrollback.Wrap(scrollback.Canceled, "index.Look", ctx.Err())
	case timed.Err() != nil:
		s.stopped = true
		return nil
	}
	return r.err
}

// tailReader is a scan under way, by several goroutines.
type tailReader struct {
	s    *scan
	l    *Snapshot
	want []string

	mu   sync.Mutex
	next int64 // what is up to this number nobody reads yet
	err  error
}

// readPieces reads pieces of the tail until there are no more, or ctx ends.
func (r *tailReader) readPieces(ctx context.Context) {
	for ctx.Err() == nil {
		r.mu.Lock()
		to := r.next
		failed := r.err != nil
		from := max(to-scanNumber, r.s.at.Watermark)
		r.next = from
		r.mu.Unlock()
		if failed || from >= to {
			return
		}
		for from < to {
			var err error
			if from, err = r.readPiece(ctx, from, to); err != nil {
				r.mu.Lock()
				r.err = err
				r.mu.Unlock()
				return
			}
		}
	}
}

// messageTerms is what one message holds.
type messageTerms struct {
	mark   driver.Mark
	number int64
	counts []int
}

// readPiece reads messages after a number, up to another one, and says how far it came.
func (r *tailReader) readPiece(ctx context.Context, from, to int64) (int64, error) {
	ms, err := r.l.ReadUnindexed(ctx, driver.UnindexedQuery{After: from, Limit: int(to - from), Bytes: mostBytes})
	if err != nil || len(ms) == 0 {
		return to, err
	}
	from = ms[len(ms)-1].Number
	var all []messageTerms
	for _, m := range ms {
		if m.Number > to {
			break
		}
		if err := ctx.Err(); err != nil {
			return to, nil // judged by who has begun it
		}
		places, n := terms.TermPlaces(r.l.ReadText(ctx, m.Message), r.want, MaxTerms)
		f := messageTerms{number: m.Number, counts: make([]int, len(places)),
			mark: driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt, Length: n}}
		for i, at := range places {
			f.counts[i] = len(at)
		}
		all = append(all, f)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range slices.Backward(all) {
		r.addHit(f)
	}
	return from, nil
}

// addHit notes what one message holds.
func (r *tailReader) addHit(f messageTerms) {
	s := r.s
	if !s.counted {
		r.l.addLength(f.mark.Length)
	}
	for i, n := range f.counts {
		if n == 0 {
			continue
		}
		h := s.terms[r.want[i]]
		if h.holding++; len(h.all) == scanPlaces {
			continue
		}
		m := s.marks[f.mark.Place]
		if m == nil {
			m = &f.mark
			s.marks[m.Place] = m
		}
		h.all = append(h.all, hit{m, f.number, uint8(min(n, 255))})
	}
}

// findPostings returns where a term is, after a number.
func (s *scan) findPostings(term string, q driver.PostingQuery, after int64) driver.Postings {
	h := s.terms[term]
	if !h.ordered {
		sort.Slice(h.all, func(i, j int) bool { return h.all[i].mark.Place < h.all[j].mark.Place })
		h.ordered = true
	}
	out := driver.Postings{Holding: h.holding}
	for _, one := range h.all {
		if one.number <= after { // indexed since
			out.Holding--
			continue
		}
		if q.Matches(*one.mark) {
			out.Places = append(out.Places, one.mark.Place)
			out.Counts = append(out.Counts, one.count)
		}
	}
	return out
}

// addMarks adds the marks of messages of the tail that hold none of the terms.
func (s *scan) addMarks(ctx context.Context, l *Snapshot, places []driver.Place,
	known map[driver.Place]driver.Mark) error {
	var rest []driver.Place
	for _, p := range places {
		if _, ok := known[p]; !ok {
			rest = append(rest, p)
		}
	}
	for part := range slices.Chunk(rest, tailPage) {
		numbers := make([]int64, len(part))
		for i, p := range part {
			numbers[i] = p.Branch()
		}
		lines, err := l.FindBranches(ctx, driver.IndexedBranchQuery{Numbers: slices.Compact(numbers), Trash: true})
		if err != nil {
			return err
		}
		ms, err := l.ReadMessagesAt(ctx, part)
		if err != nil {
			return err
		}
		for _, p := range part { // of which some may be gone
			if len(ms) == 0 || ms[0].Seq != p.Seq() || ms[0].Branch != lines[p.Branch()].Branch {
				continue
			}
			m := ms[0]
			ms = ms[1:]
			if _, n := terms.TermPlaces(l.ReadText(ctx, m), nil, MaxTerms); n > 0 {
				known[p] = driver.Mark{Place: p, Role: m.Role, CreatedAt: m.CreatedAt, Length: n}
			}
		}
	}
	return nil
}
