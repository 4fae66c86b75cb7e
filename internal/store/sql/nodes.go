package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"
)

// selectNode reads the newest id of this store, and where it was made.
const selectNode = `SELECT id, place, since FROM nodes WHERE since = (SELECT max(since) FROM nodes)`

// nodeRow is a row of nodes.
type nodeRow struct {
	id, place string
	since     int64
}

func findNode(ctx context.Context, r Reader) (n nodeRow, err error) {
	err = QueryRow(ctx, r, scanInto(&n.id, &n.place, &n.since), selectNode)
	return n, err
}

// CheckNode gives a database that has an id, and is not where that was made, another one: it is a copy of the one that
// goes on with it. A database without an id gets one when it needs it.
func CheckNode(ctx context.Context, d Database) error {
	n, err := findNode(ctx, d.Readers)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	db := &database{Database: d, committed: make(chan struct{}, 1)}
	if err != nil {
		return db.wrapError("sqlstore.CheckNode", err)
	}
	place, err := db.findPlace(ctx)
	if err != nil || place == n.place {
		return err
	}
	return db.write(ctx, "sqlstore.CheckNode", func(ctx context.Context, w *writeTx) error {
		_, err := w.nodeAt(ctx, place, db.now())
		return err
	})
}

// Node implements [driver.Log].
func (db log) Node(ctx context.Context) (id string, err error) {
	const op = "sqlstore.Node"
	n, err := findNode(ctx, db.Readers)
	if err == nil {
		return n.id, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return "", db.wrapError(op, err)
	}
	err = db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		id, err = w.node(ctx, db.now())
		return err
	})
	return id, err
}

// findPlace returns where the database is.
func (db *database) findPlace(ctx context.Context) (string, error) {
	if db.Place == nil {
		return "", nil
	}
	return db.Place(ctx)
}

// node returns the id of this store. It was compared with the place when the database was opened.
func (w *writeTx) node(ctx context.Context, now int64) (string, error) {
	n, err := findNode(ctx, w.tx)
	if !errors.Is(err, sql.ErrNoRows) {
		return n.id, err
	}
	place, err := w.findPlace(ctx)
	if err != nil {
		return "", err
	}
	return w.nodeAt(ctx, place, now)
}

// nodeAt returns the id that this store has at a place, which is made if the newest is of another. Of several processes
// that ask for one at once, one makes it.
func (w *writeTx) nodeAt(ctx context.Context, place string, now int64) (string, error) {
	if err := w.holdName(ctx, "node"); err != nil {
		return "", err
	}
	n, err := findNode(ctx, w.tx)
	if err == nil && n.place == place {
		return n.id, nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	id := uuid.NewString()
	return id, w.tx.Queue(ctx, `INSERT INTO nodes (since, id, place) VALUES ($1, $2, $3)`, max(now, n.since+1), id, place)
}
