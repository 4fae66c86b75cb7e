//go:build linux

package main

import (
	"context"

	"github.com/scrollback-ai/scrollback/store/driver"
)

// way keeps an index of documents in a database.
type way interface {
	name() string
	// put adds a batch, and does what is due after it.
	put(ctx context.Context, batch []driver.Document) error
	// find returns what [driver.Index.Postings] does.
	find(ctx context.Context, q driver.PostingQuery) ([]driver.Postings, error)
	// hide deletes what is on some branches, so that it is not found; clean then removes it.
	hide(ctx context.Context, branches []int64) error
	clean(ctx context.Context) error
	// tables are all of its own.
	tables() []string
	close()
}
