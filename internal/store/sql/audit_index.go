package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// auditedSegment is a segment of the search index as its row says.
type auditedSegment struct {
	id, documents, terms int64
	places               []byte
	parsed               *postings.Places
}

// auditIndex reads every segment of the search index that is searched, and looks for rows that
// are of none.
func (a *auditor) auditIndex(ctx context.Context) error {
	states := 0
	err := a.readRows(ctx, "the search index", func(r Row) error { states++; return r.Scan(new(int64)) },
		`SELECT watermark FROM index_state WHERE id = 1`)
	if err == nil && states == 0 {
		err = a.reportFlaw(driver.Flaw{Kind: driver.FlawIndex, Where: "the search index", Detail: "how far it reaches is lost"})
	}
	for _, table := range []string{"index_blocks", "index_marks"} {
		if err != nil {
			return err
		}
		err = a.readRows(ctx, "the search index", func(r Row) error {
			var id int64
			if err := r.Scan(&id); err != nil {
				return err
			}
			return a.reportUnsound(id, errors.New("rows of "+table+" are of no segment"))
		}, `SELECT DISTINCT segment FROM `+table+` WHERE segment NOT IN (SELECT id FROM index_segments)`)
	}
	if err != nil {
		return err
	}
	err = auditPages(ctx, a, int64(0), auditedTable[auditedSegment, int64]{what: "segments of the search index",
		query: `SELECT id, documents, terms, places FROM index_segments WHERE id > $1 AND state = 1 ORDER BY id LIMIT $2`,
		scan:  func(g *auditedSegment, r Row) error { return r.Scan(&g.id, &g.documents, &g.terms, &g.places) },
		key:   func(g auditedSegment) (int64, bool) { return g.id, g.id > 0 },
		name:  func(g auditedSegment) string { return fmt.Sprintf("segment %d of the search index", g.id) },
		each:  func(g auditedSegment) error { return a.auditIndexSegment(ctx, g) }})
	if err != nil {
		return err
	}
	slices.SortFunc(a.runs, func(x, y documentRun) int { return cmp.Compare(x.First, y.First) })
	for i, r := range a.runs {
		if i > 0 && r.First <= a.runs[i-1].Last {
			return a.reportUnsound(r.segment, fmt.Errorf("segment %d has some of its documents too", a.runs[i-1].segment))
		}
	}
	return nil
}

// documentRun is a run of documents of a segment.
type documentRun struct {
	postings.Run
	segment int64
}

// reportUnsound reports what is wrong with a segment.
func (a *auditor) reportUnsound(id int64, err error) error {
	return a.reportFlaw(driver.Flaw{Kind: driver.FlawIndex, Where: fmt.Sprintf("segment %d of the search index", id),
		Detail: err.Error()})
}

// errUnsound is for rows of a segment that do not belong together.
var errUnsound = errors.New("its rows do not belong together")

// auditIndexSegment checks one segment; the first thing that is wrong with it is enough.
func (a *auditor) auditIndexSegment(ctx context.Context, g auditedSegment) error {
	var err error
	if g.parsed, err = postings.ParsePlaces(g.places); err == nil && int64(g.parsed.Len()) != g.documents {
		err = errUnsound
	}
	for _, check := range []func(context.Context, auditedSegment) error{a.readBlocks, a.readMarks, a.checkPlaces} {
		if err == nil {
			err = check(ctx, g)
		}
	}
	if errors.Is(err, postings.ErrDamaged) || errors.Is(err, errUnsound) || errors.Is(err, errGone) {
		return a.reportUnsound(g.id, err)
	}
	return err
}

// readBlocks reads all lists of a segment.
func (a *auditor) readBlocks(ctx context.Context, g auditedSegment) error {
	var last string
	var ordinals []uint32
	var counts []uint8
	total := int64(0)
	var wrong error
	err := a.readRows(ctx, fmt.Sprintf("segment %d of the search index", g.id), func(r Row) error {
		var b postings.Block
		if err := r.Scan(&b.Term, &b.Start, &b.Data); err != nil || wrong != nil {
			return err
		}
		if err := b.Each(func(term []byte, l postings.List) bool {
			if string(term) < last || string(term) == last && !l.Part {
				wrong = errUnsound
				return false
			}
			if last = string(term); wrong == nil {
				ordinals, counts, wrong = l.Decode(ordinals[:0], counts[:0])
			}
			if n := len(ordinals); wrong == nil && int64(ordinals[n-1]) >= g.documents {
				wrong = errUnsound
			}
			for _, n := range counts {
				total += int64(n)
			}
			return wrong == nil
		}); err != nil {
			wrong = err
		}
		return nil
	}, `SELECT first_term, start, data FROM index_blocks WHERE segment = $1 ORDER BY first_term, start`, g.id)
	if err == nil {
		err = wrong
	}
	if err == nil && (total > g.terms || total == 0 && g.terms > 0) {
		err = errUnsound // a count of 255 may stand for more
	}
	return err
}

// readMarks reads all marks of a segment.
func (a *auditor) readMarks(ctx context.Context, g auditedSegment) error {
	var documents, terms int64
	var wrong error
	err := a.readRows(ctx, fmt.Sprintf("segment %d of the search index", g.id), func(r Row) error {
		var start int64
		var data []byte
		if err := r.Scan(&start, &data); err != nil || wrong != nil {
			return err
		}
		m, err := postings.ParseMarks(data)
		var all []postings.Mark
		if err == nil {
			all, err = m.Append(nil)
		}
		if err == nil && start != documents {
			err = errUnsound
		}
		wrong = err
		for _, one := range all {
			documents += 1
			terms += int64(one.Length)
		}
		return nil
	}, `SELECT start, data FROM index_marks WHERE segment = $1 ORDER BY start`, g.id)
	if err == nil {
		err = wrong
	}
	if err == nil && (documents != g.documents || terms != g.terms) {
		err = errUnsound
	}
	return err
}

var errGone = errors.New("it has documents that are of no message, and were not purged")

// checkPlaces looks for a message at each place that was not purged since.
func (a *auditor) checkPlaces(ctx context.Context, g auditedSegment) error {
	var purged []postings.Run
	err := a.readRows(ctx, "the search index", func(r Row) error {
		var branch, seq int64
		err := r.Scan(&branch, &seq)
		purged = append(purged, postings.Run{First: uint64(driver.NewPlace(branch, seq)),
			Last: uint64(driver.NewPlace(branch, math.MaxUint32))})
		return err
	},
		`SELECT branch, min(first_seq) FROM index_dropped WHERE n > (SELECT clean FROM index_segments WHERE id = $1) GROUP BY branch ORDER BY branch`, g.id)
	if err != nil {
		return err
	}
	return g.parsed.Runs(purged, func(run postings.Run) error {
		a.runs = append(a.runs, documentRun{run, g.id})
		first := driver.Place(run.First)
		last := driver.Place(run.Last)
		n := last.Seq() - first.Seq() + 1
		err := a.readRows(ctx, "messages", scanInto(&n),
			`SELECT count(*) FROM messages WHERE branch = (SELECT b.id FROM branches b WHERE b.n = $1) AND seq BETWEEN $2 AND $3`,
			first.Branch(), first.Seq(), last.Seq())
		if err == nil && n != last.Seq()-first.Seq()+1 {
			err = errGone
		}
		return err
	})
}
