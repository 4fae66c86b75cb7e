package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/postings"
)

const opTend = "sqlstore.IndexTend"

// rowsRemoved is how many rows of blocks one transaction removes.
const rowsRemoved = 64

// Maintain implements [driver.Index]. A step removes what a crash or a join has left, joins
// segments, writes one without what was purged, or forgets that it was.
func (db index) Maintain(ctx context.Context) (bool, error) {
	for _, step := range []func(context.Context) (bool, error){db.releaseSegments, db.removeSegment,
		db.joinSegments, db.rewritePurged, db.forgetPurged} {
		did, err := step(ctx)
		if errors.Is(err, errLost) {
			return false, nil // somebody else is at it
		}
		if did || err != nil {
			return did, db.wrapError(opTend, err)
		}
	}
	return false, nil
}

// listIDs reads numbers.
func (db index) listIDs(ctx context.Context, query string, args ...any) (out []int64, err error) {
	err = db.Readers.Query(ctx, listInto(&out), query, args...)
	return out, err
}

// releaseSegments gives up segments whose builders are gone.
func (db index) releaseSegments(ctx context.Context) (bool, error) {
	late, err := db.listIDs(ctx, `SELECT id FROM index_segments WHERE state = 0 AND until < $1 ORDER BY id LIMIT 1`,
		db.now())
	if err != nil || len(late) == 0 {
		return false, err
	}
	return true, db.write(ctx, opTend, func(ctx context.Context, w *writeTx) error {
		n, err := w.tx.Exec(ctx, `UPDATE index_segments SET state = 2 WHERE id = $1 AND state = 0 AND until < $2`, late[0],
			db.now())
		if err == nil && n == 1 {
			err = w.tx.Queue(ctx, `UPDATE index_segments SET into_segment = 0 WHERE state = 1 AND into_segment = $1`, late[0])
		}
		return err
	})
}

// removeSegment removes rows of a segment that nobody reads any more, and then the segment.
func (db index) removeSegment(ctx context.Context) (bool, error) {
	all, err := db.listIDs(ctx, `SELECT id FROM index_segments WHERE state = 2 ORDER BY id LIMIT 1`)
	if err != nil || len(all) == 0 {
		return false, err
	}
	return true, db.write(ctx, opTend, func(ctx context.Context, w *writeTx) error {
		return removeSome(ctx, w.tx, all[0])
	})
}

func removeSome(ctx context.Context, tx Tx, id int64) error {
	var term string
	var start int64
	err := QueryRow(ctx, tx, scanInto(&term, &start),
		`SELECT first_term, start FROM index_blocks WHERE segment = $1 ORDER BY first_term, start LIMIT 1 OFFSET $2`, id,
		rowsRemoved)
	if err == nil {
		return tx.Queue(ctx, `DELETE FROM index_blocks WHERE segment = $1 AND (first_term, start) < ($2, $3)`, id, term, start)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for _, statement := range []string{`DELETE FROM index_blocks WHERE segment = $1`,
		`DELETE FROM index_marks WHERE segment = $1`,
		`DELETE FROM index_segments WHERE id = $1 AND state = 2`} {
		if err := tx.Queue(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}

// listFree returns the segments that nobody joins, by tier, the oldest first.
func (db index) listFree(ctx context.Context) (map[int][]int64, error) {
	out := map[int][]int64{}
	return out, db.Readers.Query(ctx, func(r Row) error {
		var id int64
		var tier int
		err := r.Scan(&id, &tier)
		out[tier] = append(out[tier], id)
		return err
	}, `SELECT id, tier FROM index_segments WHERE state = 1 AND into_segment = 0 ORDER BY id`)
}

// joinSegments joins segments of one tier, the oldest first.
func (db index) joinSegments(ctx context.Context) (bool, error) {
	free, err := db.listFree(ctx)
	for tier := 0; err == nil && tier < tierOf(largest); tier++ {
		if ids := free[tier]; len(ids) >= fanIn {
			return true, db.rebuildSegments(ctx, ids[:fanIn])
		}
	}
	return false, err
}

// rewritePurged writes a segment again that holds something that was purged.
func (db index) rewritePurged(ctx context.Context) (bool, error) {
	s, err := loadIndexState(ctx, db.Readers)
	if err != nil || s.dropped == s.forgotten {
		return false, err
	}
	free, err := db.listFree(ctx)
	if err != nil {
		return false, err
	}
	var id int64
	err = db.readSnapshot(ctx, func(s *indexSnapshot) error {
		for _, g := range s.segments {
			if len(g.gone) > 0 && slices.Contains(free[g.tier], g.id) {
				id = g.id
			}
		}
		return nil
	})
	if err != nil || id == 0 {
		return false, err
	}
	return true, db.rebuildSegments(ctx, []int64{id})
}

// forgetPurged forgets runs that no segment holds any more.
func (db index) forgetPurged(ctx context.Context) (bool, error) {
	s, err := loadIndexState(ctx, db.Readers)
	if err != nil || s.dropped == s.forgotten {
		return false, err
	}
	var clean []int64
	err = db.readSnapshot(ctx, func(seen *indexSnapshot) error {
		s = seen.indexState
		for _, g := range seen.segments {
			if len(g.gone) == 0 && g.clean < s.dropped {
				clean = append(clean, g.id)
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	did := false
	err = db.write(ctx, opTend, func(ctx context.Context, w *writeTx) error {
		for _, id := range clean {
			if err := w.tx.Queue(ctx, `UPDATE index_segments SET clean = $2 WHERE id = $1 AND state = 1 AND clean < $2`, id,
				s.dropped); err != nil {
				return err
			}
		}
		// Segments are begun under the same lock: none comes between that is not so clean.
		upTo := s.dropped
		err := lockRows(ctx, w.tx, w.Dialect.HoldIndexState)
		if err != nil {
			return err
		}
		err = QueryRow(ctx, w.tx, scanInto(&upTo),
			`SELECT coalesce((SELECT min(clean) FROM index_segments WHERE state IN (0, 1) AND clean < $1), $1)`, s.dropped)
		if err != nil {
			return err
		}
		n, err := w.tx.Exec(ctx, `UPDATE index_state SET forgotten = $1 WHERE id = 1 AND forgotten < $1`, upTo)
		if did = n > 0; err != nil || !did {
			return err
		}
		return w.tx.Queue(ctx, `DELETE FROM index_dropped WHERE n <= $1`, upTo)
	})
	return did, err
}

// rebuildSegments writes segments as one, without what was purged, in their place.
func (db index) rebuildSegments(ctx context.Context, ids []int64) error {
	r := segmentRebuild{index: db}
	err := db.readSnapshot(ctx, func(s *indexSnapshot) error {
		r.draft.clean = s.dropped
		for _, g := range s.segments {
			for _, id := range ids {
				if g.id == id {
					r.parts = append(r.parts, g)
				}
			}
		}
		return nil
	})
	if err == nil && len(r.parts) != len(ids) {
		err = errLost
	}
	if err == nil {
		err = claimParts(ctx, &r)
	}
	if err != nil {
		return err
	}
	err = r.writeRows(ctx)
	if err == nil {
		err = r.replaceParts(ctx)
	}
	if err != nil {
		db.abandonSegment(ctx, opTend, r.draft.id)
	}
	return err
}

// segmentRebuild is a segment that is being made of others.
type segmentRebuild struct {
	index
	parts  []*indexSegment
	draft  segmentDraft
	joined postings.Joined
	terms  int64
}

// claimParts makes the new segment, and marks the parts as going into it.
func claimParts(ctx context.Context, r *segmentRebuild) error {
	return r.write(ctx, opTend, func(ctx context.Context, w *writeTx) error {
		if err := r.draft.insertSegment(ctx, w.tx, r.claimUntil()); err != nil {
			return err
		}
		for _, p := range r.parts {
			n, err := w.tx.Exec(ctx,
				`UPDATE index_segments SET into_segment = $2 WHERE id = $1 AND state = 1 AND into_segment = 0`, p.id, r.draft.id)
			if err == nil && n != 1 {
				err = errLost
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// writeRows computes the rows, and writes all but the last of them.
func (r *segmentRebuild) writeRows(ctx context.Context) error {
	sources := make([]postings.Source, len(r.parts))
	for i, p := range r.parts {
		sources[i] = postings.Source{Places: p.places, Dropped: p.dropped, Next: r.readBlocks(ctx, p.id)}
	}
	r.joined = postings.Join(sources)
	marks := make([]postings.Mark, r.joined.Places.Len())
	for i, p := range r.parts {
		if err := r.readMarks(ctx, p, r.joined.Kept[i], marks); err != nil {
			return err
		}
	}
	r.terms = r.draft.addMarks(marks)
	return postings.Merge(sources, r.joined, blockSize, func(b postings.Block) error {
		if r.draft.addBlock(b); r.draft.bytes < stepBytes {
			return nil
		}
		return r.writeStep(ctx, opTend, &r.draft)
	})
}

// readBlocks reads those of a segment, a few at a time. Nobody changes them.
func (r *segmentRebuild) readBlocks(ctx context.Context, id int64) func() (postings.Block, error) {
	var page []postings.Block
	term := ""
	start := int64(-1)
	ended := false
	return func() (postings.Block, error) {
		if len(page) == 0 && !ended {
			err := r.Readers.Query(ctx, func(row Row) error {
				page = append(page, postings.Block{})
				b := &page[len(page)-1]
				err := row.Scan(&b.Term, &b.Start, &b.Data)
				term = b.Term
				start = int64(b.Start)
				return err
			},
				`SELECT first_term, start, data FROM index_blocks WHERE segment = $1 AND (first_term, start) > ($2, $3) ORDER BY first_term, start LIMIT 8`, id, term, start)
			if err != nil {
				return postings.Block{}, err
			}
		}
		if len(page) == 0 {
			ended = true
			return postings.Block{}, io.EOF
		}
		b := page[0]
		page = page[1:]
		return b, nil
	}
}

// readMarks reads those of a part to where they are kept.
func (r *segmentRebuild) readMarks(ctx context.Context, p *indexSegment, kept []uint32, to []postings.Mark) error {
	at := 0
	var some []postings.Mark
	err := r.Readers.Query(ctx, func(row Row) error {
		var data []byte
		var start int
		if err := row.Scan(&start, &data); err != nil {
			return err
		}
		all, err := postings.ParseMarks(data)
		if err == nil {
			some, err = all.Append(some[:0])
		}
		if err != nil || start != at || at+len(some) > len(kept) {
			return postings.ErrDamaged
		}
		for i, m := range some {
			if k := kept[at+i]; k != postings.Gone {
				to[k] = m
			}
		}
		at += len(some)
		return nil
	}, `SELECT start, data FROM index_marks WHERE segment = $1 ORDER BY start`, p.id)
	if err == nil && at != len(kept) {
		err = postings.ErrDamaged
	}
	return err
}

// replaceParts publishes the new segment instead of its parts.
func (r *segmentRebuild) replaceParts(ctx context.Context) error {
	return r.write(ctx, opTend, func(ctx context.Context, w *writeTx) error {
		mine, err := r.draft.renewClaim(ctx, w.tx, r.claimUntil())
		if err == nil && !mine {
			return errLost
		}
		var n int64
		if err == nil {
			n, err = w.tx.Exec(ctx,
				`UPDATE index_segments SET state = 2, into_segment = 0 WHERE state = 1 AND into_segment = $1`, r.draft.id)
		}
		if err == nil && int(n) != len(r.parts) {
			err = errLost
		}
		if err == nil {
			err = r.draft.insertRows(ctx, w.tx)
		}
		if err == nil && r.joined.Places.Len() == 0 {
			return w.tx.Queue(ctx, `UPDATE index_segments SET state = 2 WHERE id = $1`, r.draft.id)
		}
		if err == nil {
			err = r.draft.publish(ctx, w.tx, r.joined.Places, r.terms)
		}
		return err
	})
}
