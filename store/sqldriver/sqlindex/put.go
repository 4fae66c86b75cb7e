package sqlindex

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// stepBytes bounds what one transaction writes of a segment.
const stepBytes = 64 << 10

// claimed is for how long a segment that is being built belongs to its builder, in
// milliseconds; each step renews it.
const claimed = 60_000

// until is when a claim ends that is made now, in milliseconds.
func until(db Index) int64 { return db.Clock().UnixMilli() + claimed }

// draft is a segment to be written: its rows, besides those that are written already.
type draft struct {
	id     int64 // 0 until it has a row
	clean  int64
	blocks []postings.Block
	marks  []marked
	bytes  int
}

// marked is a row of index_marks.
type marked struct {
	start    int
	from, to int64
	data     []byte
}

// mark adds the marks of documents, in the order of their places, and returns how many terms
// those have.
func (d *draft) mark(marks []postings.Mark) (terms int64) {
	for start := 0; start < len(marks); start += marksEach {
		some := marks[start:min(start+marksEach, len(marks))]
		m := marked{start: start, from: some[0].Time, to: some[0].Time, data: postings.AppendMarks(nil, some)}
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

// take adds a block.
func (d *draft) take(b postings.Block) {
	d.blocks = append(d.blocks, b)
	d.bytes += len(b.Data)
}

// insert writes the rows that were taken.
func (d *draft) insert(ctx context.Context, tx *sqlrow.Session) error {
	for _, b := range d.blocks {
		if err := tx.Run(ctx, `INSERT INTO index_blocks (segment, first_term, start, data) VALUES ($1, $2, $3, $4)`, d.id,
			b.Term, b.Start, b.Data); err != nil {
			return err
		}
	}
	for _, m := range d.marks {
		if err := tx.Run(ctx,
			`INSERT INTO index_marks (segment, start, from_time, to_time, data) VALUES ($1, $2, $3, $4, $5)`,
			d.id, m.start, m.from, m.to, m.data); err != nil {
			return err
		}
	}
	return nil
}

// written forgets the rows that are.
func (d *draft) written() {
	d.blocks = nil
	d.marks = nil
	d.bytes = 0
}

// begin makes the row of a segment, which nobody reads yet.
func (d *draft) begin(ctx context.Context, tx *sqlrow.Session, until int64) error {
	err := tx.Run(ctx, `UPDATE index_state SET segment = segment + 1 WHERE id = 1`)
	if err == nil {
		err = tx.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&d.id) },
			`SELECT segment FROM index_state WHERE id = 1`)
	}
	if err == nil {
		err = tx.Run(ctx, `INSERT INTO index_segments (id, state, tier, documents, terms, clean, into_segment, until, places)
			VALUES ($1, 0, 0, 0, 0, $2, 0, $3, '')`, d.id, d.clean, until)
	}
	return err
}

// renew reports whether the segment is still its builder's.
func (d *draft) renew(ctx context.Context, tx *sqlrow.Session, until int64) (bool, error) {
	n, err := changed(ctx, tx, `UPDATE index_segments SET until = $2 WHERE id = $1 AND state = 0`, d.id, until)
	return n == 1, err
}

// changed runs a statement and returns how many rows it changed.
func changed(ctx context.Context, tx *sqlrow.Session, query string, args ...any) (int64, error) {
	res, err := tx.Exec(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// publish completes the row of a segment, which is read from then on.
func (d *draft) publish(ctx context.Context, tx *sqlrow.Session, places *postings.Places, terms int64) error {
	return tx.Run(ctx,
		`UPDATE index_segments SET state = 1, tier = $2, documents = $3, terms = $4, until = 0, places = $5 WHERE id = $1 AND state = 0`,
		d.id, tierOf(places.Len()), places.Len(), terms, places.Append(nil))
}

// errLost is for a segment that is no longer its builder's.
var errLost = scrollback.Errorf(scrollback.Conflict, "sqldriver", "the segment of the index was given up")

// step writes what was taken of a segment that is too large for one transaction.
func (db Index) step(ctx context.Context, op string, d *draft) error {
	id := d.id
	mine := true
	err := db.Write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) (err error) {
		if d.id = id; id == 0 {
			err = d.begin(ctx, tx, until(db))
		} else {
			mine, err = d.renew(ctx, tx, until(db))
		}
		if err == nil && mine {
			err = d.insert(ctx, tx)
		}
		return err
	})
	if err == nil && !mine {
		err = errLost
	}
	d.written()
	return err
}

// ahead writes what is too much for the transaction that publishes the segment.
func (db Index) ahead(ctx context.Context, op string, d *draft) error {
	rest := d.blocks
	for d.bytes > stepBytes && len(rest) > 0 {
		some := draft{id: d.id, clean: d.clean}
		for len(rest) > 0 && some.bytes < stepBytes {
			some.take(rest[0])
			rest = rest[1:]
		}
		d.bytes -= some.bytes
		if err := db.step(ctx, op, &some); err != nil {
			return err
		}
		d.id = some.id
	}
	d.blocks = rest
	return nil
}

// Put implements [driver.Index].
func (db Index) Put(ctx context.Context, d driver.Documents) (bool, error) {
	const op = "sqldriver.IndexPut"
	docs := slices.Clone(d.All)
	slices.SortStableFunc(docs, func(a, b driver.Document) int { return cmp.Compare(a.Place, b.Place) })
	for {
		s, err := loadState(ctx, db.Read)
		if err != nil || s.cut != d.Cut || s.watermark != d.From {
			return false, db.Wrap(op, err)
		}
		there, err := db.there(ctx, s, docs, d.To)
		if err != nil {
			return false, db.Wrap(op, err)
		}
		put, again, err := db.put(ctx, op, d, s, there)
		if !again {
			return put, err
		}
	}
}

// there are the documents whose messages have not been purged meanwhile. Nothing was, as long
// as no run was dropped.
func (db Index) there(ctx context.Context, s state, docs []driver.Document, to int64) ([]driver.Document, error) {
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
		err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
			var seq int64
			err := r.Scan(&seq)
			seqs[seq] = true
			return err
		},
			`SELECT seq FROM messages WHERE branch = (SELECT b.id FROM branches b WHERE b.n = $1) AND seq BETWEEN $2 AND $3 AND `+Early,
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

// put writes a segment for documents that were there when the state was s. again says that
// somebody was faster, which may not be about these documents.
func (db Index) put(ctx context.Context, op string, d driver.Documents, s state,
	docs []driver.Document) (put, again bool, err error) {
	g := draft{clean: s.dropped}
	places, terms, err := g.encode(docs)
	if err != nil {
		return false, false, scrollback.Wrap(scrollback.Internal, op, err)
	}
	if err := db.ahead(ctx, op, &g); err != nil {
		return false, errors.Is(err, errLost), err
	}
	id := g.id
	err = db.Write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) (err error) {
		if g.id, put = id, true; id != 0 {
			put, err = g.renew(ctx, tx, until(db))
		}
		if err == nil && put {
			var n int64
			n, err = changed(ctx, tx,
				`UPDATE index_state SET watermark = $1 WHERE id = 1 AND cut = $2 AND watermark = $3 AND forgotten <= $4`,
				d.To, d.Cut, d.From, s.dropped)
			put = n == 1
		}
		if again = err == nil && !put; err != nil || again || places.Len() == 0 {
			return err
		}
		if id == 0 {
			err = g.begin(ctx, tx, until(db))
		}
		if err == nil {
			err = g.insert(ctx, tx)
		}
		if err == nil {
			err = g.publish(ctx, tx, places, terms)
		}
		return err
	})
	if id != 0 && (err != nil || again) {
		db.abandon(ctx, op, id)
	}
	return put && err == nil, again, err
}

// abandon gives a segment up, so that it is removed when the index is next tended; if that
// fails, it is when its claim has run out.
func (db Index) abandon(ctx context.Context, op string, id int64) {
	_ = db.Write(context.WithoutCancel(ctx), op, func(ctx context.Context, tx *sqlrow.Session) error {
		return tx.Run(ctx, `UPDATE index_segments SET until = 0 WHERE id = $1 AND state = 0`, id)
	})
}

// encode makes rows of documents, whose places ascend.
func (d *draft) encode(docs []driver.Document) (*postings.Places, int64, error) {
	in := make([]postings.Document, 0, len(docs))
	marks := make([]postings.Mark, 0, len(docs))
	for i, one := range docs {
		if i+1 < len(docs) && docs[i+1].Place == one.Place {
			continue
		}
		in = append(in, postings.Document{Place: uint64(one.Place), Terms: one.Terms})
		marks = append(marks, postings.Mark{Kind: string(one.Role), Time: one.CreatedAt, Length: one.Length})
	}
	places, err := postings.Build(in, blockSize, func(b postings.Block) error { d.take(b); return nil })
	return places, d.mark(marks), err
}
