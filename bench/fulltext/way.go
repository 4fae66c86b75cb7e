//go:build linux

package main

import (
	"context"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// way keeps an index of documents in a database.
type way interface {
	wayName() string
	// putBatch adds a batch, and does what is due after it.
	putBatch(ctx context.Context, batch []driver.Document) error
	// findDocuments returns what [driver.Index.FindPostings] does.
	findDocuments(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error)
	// hideBranches deletes what is on some branches, so that it is not found; clean then removes it.
	hideBranches(ctx context.Context, branches []int64) error
	cleanUp(ctx context.Context) error
	// listTables are all of its own.
	listTables() []string
	closeWay()
}
