//go:build linux

package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
)

// postings is the store's own index.
type postings struct {
	db   *driver.Driver
	conn *pgx.Conn
	to   int64
}

func openPostings(ctx context.Context, dsn string) (way, error) {
	db, err := postgres.Open(ctx, dsn, nil)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s, err := db.Index.ReadState(ctx)
	return &postings{db, conn, s.Watermark}, err
}

func (p *postings) wayName() string { return "own postings" }

func (p *postings) listTables() []string {
	return []string{"index_state", "index_segments", "index_blocks", "index_marks", "index_dropped"}
}

func (p *postings) closeWay() {
	_ = errors.Join(p.conn.Close(context.Background()), p.db.Close()) // the database is thrown away
}

func (p *postings) putBatch(ctx context.Context, batch []driver.Document) error {
	d := driver.DocumentBatch{From: p.to, To: p.to + int64(len(batch)), All: batch}
	put, err := p.db.Index.PutDocuments(ctx, d)
	if err != nil {
		return err
	}
	if p.to = d.To; !put {
		return errors.New("somebody else put documents")
	}
	return p.cleanUp(ctx)
}

func (p *postings) findDocuments(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error) {
	return p.db.Index.FindPostings(ctx, q)
}

// hideBranches writes what a purge does to the index, which has no messages here.
func (p *postings) hideBranches(ctx context.Context, branches []int64) error {
	tx, err := p.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	for _, b := range branches {
		if _, err := tx.Exec(ctx, `UPDATE index_state SET dropped = dropped + 1 WHERE id = 1`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx,
			`INSERT INTO index_dropped (branch, first_seq, n) SELECT $1, 1, dropped FROM index_state WHERE id = 1`,
			b); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

func (p *postings) cleanUp(ctx context.Context) error {
	for {
		if more, err := p.db.Index.Maintain(ctx); !more || err != nil {
			return err
		}
	}
}
