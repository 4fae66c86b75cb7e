package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// stepBytes bounds what one transaction writes of a segment.
const stepBytes = 64 << 10

// claimTime is for how long a segment that is being built belongs to its builder, in
// milliseconds; each step renews it.
const claimTime = 60_000

// claimUntil is when a claim ends that is made now, in Unix ms.
func (db index) claimUntil() int64 { return db.now() + claimTime }

// segmentDraft is a segment to be written: its rows, besides those that are written already.
type segmentDraft struct {
	id     int64 // 0 until it has a row
	clean  int64
	blocks []postings.Block
	marks  []markRow
	bytes  int
}

// markRow is a row of index_marks.
type markRow struct {
	start    int
	from, to int64
	data     []byte
}

// addMarks adds the marks of documents, in the order of their places, and returns how many terms
// those have.
func (d *segmentDraft) addMarks(marks []postings.Mark) (terms int64) {
	for start := 0; start < len(marks); start += marksEach {
		some := marks[start:min(start+marksEach, len(marks))]
		m := markRow{start: start, from: some[0].Time, to: some[0].Time, data: postings.AppendMarks(nil, some)}
		for _, one := range some {
			m.from = min(m.from, one.Time)
			m.to = max(m.to, one.Time)
			terms += int64(one.Length)
		}
		d.marks = append(d.marks, m)
		d.bytes += len(m.data)
	}
	return terms
}

// addBlock adds a block.
func (d *segmentDraft) addBlock(b postings.Block) {
	d.blocks = append(d.blocks, b)
	d.bytes += len(b.Data)
}

// insertRows writes the rows that were taken.
func (d *segmentDraft) insertRows(ctx context.Context, tx Tx) error {
	for _, b := range d.blocks {
		if err := tx.Queue(ctx, `INSERT INTO index_blocks (segment, first_term, start, data) VALUES ($1, $2, $3, $4)`, d.id,
			b.Term, b.Start, b.Data); err != nil {
			return err
		}
	}
	for _, m := range d.marks {
		if err := tx.Queue(ctx,
			`INSERT INTO index_marks (segment, start, from_time, to_time, data) VALUES ($1, $2, $3, $4, $5)`,
			d.id, m.start, m.from, m.to, m.data); err != nil {
			return err
		}
	}
	return nil
}

// clearRows forgets the rows that are.
func (d *segmentDraft) clearRows() {
	d.blocks = nil
	d.marks = nil
	d.bytes = 0
}

// insertSegment makes the row of a segment, which nobody reads yet.
func (d *segmentDraft) insertSegment(ctx context.Context, tx Tx, until int64) error {
	err := tx.Queue(ctx, `UPDATE index_state SET segment = segment + 1 WHERE id = 1`)
	if err == nil {
		err = QueryRow(ctx, tx, scanInto(&d.id),
			`SELECT segment FROM index_state WHERE id = 1`)
	}
	if err == nil {
		err = tx.Queue(ctx, `INSERT INTO index_segments (id, state, tier, documents, terms, clean, into_segment, until, places)
			VALUES ($1, 0, 0, 0, 0, $2, 0, $3, '')`, d.id, d.clean, until)
	}
	return err
}

// renewClaim reports whether the segment is still its builder's.
func (d *segmentDraft) renewClaim(ctx context.Context, tx Tx, until int64) (bool, error) {
	n, err := tx.Exec(ctx, `UPDATE index_segments SET until = $2 WHERE id = $1 AND state = 0`, d.id, until)
	return n == 1, err
}

// publish completes the row of a segment, which is read from then on.
func (d *segmentDraft) publish(ctx context.Context, tx Tx, places *postings.Places, terms int64) error {
	return tx.Queue(ctx,
		`UPDATE index_segments SET state = 1, tier = $2, documents = $3, terms = $4, until = 0, places = $5 WHERE id = $1 AND state = 0`,
		d.id, tierOf(places.Len()), places.Len(), terms, places.Append(nil))
}

// errLost is for a segment that is no longer its builder's.
var errLost = scrollback.Errorf(scrollback.Conflict, "sqlstore", i18n.IndexSegmentGivenUp)

// writeStep writes what was taken of a segment that is too large for one transaction.
func (db index) writeStep(ctx context.Context, op string, d *segmentDraft) error {
	id := d.id
	mine := true
	err := db.write(ctx, op, func(ctx context.Context, w *writeTx) (err error) {
		if d.id = id; id == 0 {
			err = d.insertSegment(ctx, w.tx, db.claimUntil())
		} else {
			mine, err = d.renewClaim(ctx, w.tx, db.claimUntil())
		}
		if err == nil && mine {
			err = d.insertRows(ctx, w.tx)
		}
		return err
	})
	if err == nil && !mine {
		err = errLost
	}
	d.clearRows()
	return err
}

// writeAhead writes what is too much for the transaction that publishes the segment.
func (db index) writeAhead(ctx context.Context, op string, d *segmentDraft) error {
	rest := d.blocks
	for d.bytes > stepBytes && len(rest) > 0 {
		some := segmentDraft{id: d.id, clean: d.clean}
		for len(rest) > 0 && some.bytes < stepBytes {
			some.addBlock(rest[0])
			rest = rest[1:]
		}
		d.bytes -= some.bytes
		if err := db.writeStep(ctx, op, &some); err != nil {
			return err
		}
		d.id = some.id
	}
	d.blocks = rest
	return nil
}

// PutDocuments implements [driver.Index].
func (db index) PutDocuments(ctx context.Context, d driver.DocumentBatch) (bool, error) {
	const op = "sqlstore.PutDocuments"
	docs := slices.Clone(d.All)
	slices.SortStableFunc(docs, func(a, b driver.Document) int { return cmp.Compare(a.Place, b.Place) })
	for {
		s, err := loadIndexState(ctx, db.Readers)
		if err != nil || s.cut != d.Cut || s.watermark != d.From {
			return false, db.wrapError(op, err)
		}
		there, err := db.keepPresent(ctx, s, docs, d.To)
		if err != nil {
			return false, db.wrapError(op, err)
		}
		put, again, err := db.putSegment(ctx, op, d, s, there)
		if !again {
			return put, err
		}
	}
}

// keepPresent returns the documents whose messages have not been purged meanwhile. Nothing was, as long
// as no run was dropped.
func (db index) keepPresent(ctx context.Context, s indexState, docs []driver.Document,
	to int64) ([]driver.Document, error) {
	if s.dropped == 0 {
		return docs, nil
	}
	var out []driver.Document
	for i := 0; i < len(docs); {
		first := i
		for i < len(docs) && docs[i].Place.Branch() == docs[first].Place.Branch() {
			i++
		}
		seqs := map[int64]bool{}
		err := db.Readers.Query(ctx, func(r Row) error {
			var seq int64
			err := r.Scan(&seq)
			seqs[seq] = true
			return err
		},
			db.Dialect.SeqsBehind,
			docs[first].Place.Branch(), docs[first].Place.Seq(), docs[i-1].Place.Seq(), to)
		if err != nil {
			return nil, err
		}
		for _, d := range docs[first:i] {
			if seqs[d.Place.Seq()] {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// putSegment writes a segment for documents that were there when the state was s. again says that
// somebody was faster, which may not be about these documents.
func (db index) putSegment(ctx context.Context, op string, d driver.DocumentBatch, s indexState,
	docs []driver.Document) (put, again bool, err error) {
	g := segmentDraft{clean: s.dropped}
	places, terms, err := g.encodeDocuments(docs)
	if err != nil {
		return false, false, scrollback.Wrap(scrollback.Internal, op, err)
	}
	if err := db.writeAhead(ctx, op, &g); err != nil {
		return false, errors.Is(err, errLost), err
	}
	id := g.id
	err = db.write(ctx, op, func(ctx context.Context, w *writeTx) (err error) {
		if g.id, put = id, true; id != 0 {
			put, err = g.renewClaim(ctx, w.tx, db.claimUntil())
		}
		if err == nil && put {
			var n int64
			n, err = w.tx.Exec(ctx,
				`UPDATE index_state SET watermark = $1 WHERE id = 1 AND cut = $2 AND watermark = $3 AND forgotten <= $4`,
				d.To, d.Cut, d.From, s.dropped)
			put = n == 1
		}
		if again = err == nil && !put; err != nil || again || places.Len() == 0 {
			return err
		}
		if id == 0 {
			err = g.insertSegment(ctx, w.tx, db.claimUntil())
		}
		if err == nil {
			err = g.insertRows(ctx, w.tx)
		}
		if err == nil {
			err = g.publish(ctx, w.tx, places, terms)
		}
		return err
	})
	if id != 0 && (err != nil || again) {
		db.abandonSegment(ctx, op, id)
	}
	return put && err == nil, again, err
}

// abandonSegment gives a segment up, so that it is removed when the index is next maintained; if that
// fails, it is when its claim has run out.
func (db index) abandonSegment(ctx context.Context, op string, id int64) {
	_ = db.write(context.WithoutCancel(ctx), op, func(ctx context.Context, w *writeTx) error {
		return w.tx.Queue(ctx, `UPDATE index_segments SET until = 0 WHERE id = $1 AND state = 0`, id)
	})
}

// encodeDocuments makes rows of documents, whose places ascend.
func (d *segmentDraft) encodeDocuments(docs []driver.Document) (*postings.Places, int64, error) {
	in := make([]postings.Document, 0, len(docs))
	marks := make([]postings.Mark, 0, len(docs))
	for i, one := range docs {
		if i+1 < len(docs) && docs[i+1].Place == one.Place {
			continue
		}
		in = append(in, postings.Document{Place: uint64(one.Place), Terms: one.Terms, Counts: one.Counts})
		marks = append(marks, postings.Mark{Kind: string(one.Role), Time: one.CreatedAt, Length: one.Length})
	}
	places, err := postings.Build(in, blockSize, func(b postings.Block) error { d.addBlock(b); return nil })
	return places, d.addMarks(marks), err
}
