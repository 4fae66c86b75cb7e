package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// selectVectorState reads the row of vector_state.
const selectVectorState = `SELECT model, dimension, watermark, vectors, purged FROM vector_state WHERE id = 1`

func scanVectorState(s *driver.VectorState) func(Row) error {
	return scanInto(&s.Model, &s.Dimension, &s.Watermark, &s.Vectors, &s.Purged)
}

// ReadVectorState implements [driver.Index].
func (db index) ReadVectorState(ctx context.Context) (driver.VectorState, error) {
	const op = "sqlstore.ReadVectorState"
	var s driver.VectorState
	if err := db.numberCommits(ctx); err != nil {
		return s, db.wrapError(op, err)
	}
	err := QueryRow(ctx, db.Readers, scanVectorState(&s), selectVectorState)
	if err == nil { // last, so that no watermark is beyond it
		err = QueryRow(ctx, db.Readers, scanInto(&s.Newest), db.Dialect.NewestMessage)
	}
	return s, db.wrapError(op, err)
}

// PutVectors implements [driver.Index]. A purge holds the state too: what it takes away is gone before its
// messages are looked for here, or what is put here is there before it takes vectors away.
func (db index) PutVectors(ctx context.Context, b driver.VectorBatch) (put bool, err error) {
	err = db.write(ctx, "sqlstore.PutVectors", func(ctx context.Context, w *writeTx) error {
		put = false
		if err := lockRows(ctx, w.tx, w.Dialect.HoldVectorState); err != nil {
			return err
		}
		var s driver.VectorState
		if err := QueryRow(ctx, w.tx, scanVectorState(&s), selectVectorState); err != nil {
			return err
		}
		if s.Model != b.Model || s.Watermark != b.From || s.Vectors > 0 && s.Dimension != b.Dimension && len(b.All) > 0 {
			return nil
		}
		if len(b.All) == 0 {
			b.Dimension = s.Dimension
		}
		for _, v := range b.All {
			if err := w.insertVector(ctx, v); err != nil {
				return err
			}
		}
		var added int64
		err := QueryRow(ctx, w.tx, scanInto(&added), `SELECT count(*) FROM vectors WHERE n > $1 AND n <= $2`, b.From, b.To)
		if err != nil {
			return err
		}
		put = true
		return w.tx.Queue(ctx, `UPDATE vector_state SET dimension = $1, watermark = $2, vectors = vectors + $3 WHERE id = 1`,
			b.Dimension, b.To, added)
	})
	return put && err == nil, err
}

// insertVector inserts a vector, if its message is still there.
func (w *writeTx) insertVector(ctx context.Context, v driver.MessageVector) error {
	return w.tx.Queue(ctx, `INSERT INTO vectors (n, branch, seq, role, created_at, sketch, scale, data)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE EXISTS (SELECT 1 FROM messages m
			WHERE m.branch = (SELECT b.id FROM branches b WHERE b.n = $2) AND m.seq = $3)`,
		v.Number, v.Place.Branch(), v.Place.Seq(), v.Role, v.CreatedAt, v.Bits, v.Scale, v.Data)
}

// ResetVectors implements [driver.Index].
func (db index) ResetVectors(ctx context.Context, model string) error {
	return db.write(ctx, "sqlstore.ResetVectors", func(ctx context.Context, w *writeTx) error {
		err := lockRows(ctx, w.tx, w.Dialect.HoldVectorState)
		if err == nil {
			err = w.tx.Queue(ctx, `DELETE FROM vectors`)
		}
		if err == nil {
			err = w.tx.Queue(ctx, `UPDATE vector_state SET model = $1, dimension = 0, watermark = 0, vectors = 0,
				purged = purged + 1 WHERE id = 1`, model)
		}
		return err
	})
}

// dropVectors removes those of the messages of a branch from a seq on.
func (w *writeTx) dropVectors(ctx context.Context, branch scrollback.BranchID, from int64) error {
	if err := lockRows(ctx, w.tx, w.Dialect.HoldVectorState); err != nil {
		return err
	}
	n, err := w.tx.Exec(ctx, `DELETE FROM vectors WHERE branch = (SELECT b.n FROM branches b WHERE b.id = $1) AND seq >= $2`,
		branch, from)
	if err != nil || n == 0 {
		return err
	}
	return w.tx.Queue(ctx, `UPDATE vector_state SET vectors = vectors - $1, purged = purged + 1 WHERE id = 1`, n)
}

// sweepVectors removes those of a branch whose messages are missing, and counts the rest.
func (w *writeTx) sweepVectors(ctx context.Context, branch int64) error {
	err := lockRows(ctx, w.tx, w.Dialect.HoldVectorState)
	if err == nil {
		err = w.tx.Queue(ctx, `DELETE FROM vectors WHERE branch = $1 AND NOT EXISTS (SELECT 1 FROM messages m
			WHERE m.branch = (SELECT b.id FROM branches b WHERE b.n = vectors.branch) AND m.seq = vectors.seq)`, branch)
	}
	if err == nil {
		err = w.tx.Queue(ctx, `UPDATE vector_state SET vectors = (SELECT count(*) FROM vectors), purged = purged + 1
			WHERE id = 1`)
	}
	return err
}

// ReadSketches implements [driver.Index].
func (db index) ReadSketches(ctx context.Context, q driver.SketchQuery) ([]driver.Sketch, error) {
	const columns = `SELECT n, branch, seq, role, created_at, sketch FROM vectors`
	var out []driver.Sketch
	scan := func(r Row) error {
		var s driver.Sketch
		var branch, seq int64
		err := r.Scan(&s.Number, &branch, &seq, &s.Role, &s.CreatedAt, &s.Bits)
		s.Place = driver.NewPlace(branch, seq)
		out = append(out, s)
		return err
	}
	var err error
	if q.Within == nil {
		err = db.Readers.Query(ctx, scan, columns+` WHERE n > $1 ORDER BY n LIMIT $2`, q.After, q.Limit)
	}
	for _, run := range q.Within {
		if err == nil && len(out) < q.Limit {
			err = db.Readers.Query(ctx, scan, columns+` WHERE branch = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $4`,
				run.First.Branch(), run.First.Seq(), run.Last.Seq(), q.Limit-len(out))
		}
	}
	return out, db.wrapError("sqlstore.ReadSketches", err)
}

// ReadVectors implements [driver.Index].
func (db index) ReadVectors(ctx context.Context, places []driver.Place) ([]driver.MessageVector, error) {
	var out []driver.MessageVector
	for some := range slices.Chunk(places, locatedOnce) {
		list, err := encodeJSON(some)
		if err == nil {
			err = db.Readers.Query(ctx, func(r Row) error {
				var v driver.MessageVector
				var branch, seq int64
				err := r.Scan(&branch, &seq, &v.Scale, &v.Data)
				v.Place = driver.NewPlace(branch, seq)
				out = append(out, v)
				return err
			}, db.Dialect.VectorsAtPlaces, list)
		}
		if err != nil {
			return nil, db.wrapError("sqlstore.ReadVectors", err)
		}
	}
	slices.SortFunc(out, func(a, b driver.MessageVector) int { return cmp.Compare(a.Place, b.Place) })
	return out, nil
}
