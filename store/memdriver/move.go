package memdriver

import (
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Adopt implements [driver.Move]. Unlike the other writes it judges as it goes, and
// puts everything back when it fails.
func (db move) Adopt(ctx context.Context, a driver.Adopt) error {
	const op = "memdriver.Adopt"
	end, err := db.write(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	back := db.keepsake()
	j := &adopting{database: db.database, a: adoption(a), op: op, grown: map[scrollback.BranchID]bool{}}
	for _, step := range []func() error{j.conversation, j.grow, j.keepSegments, j.show, j.enterFolds, j.end} {
		if err := step(); err != nil {
			back()
			return err
		}
	}
	return nil
}

// adoption copies the rows of an adoption; its functions stay.
func adoption(a driver.Adopt) driver.Adopt {
	a.Conversation, a.Segments, a.Mentions, a.Folds = clone(a.Conversation), cloneAll(a.Segments), cloneAll(a.Mentions), cloneAll(a.Folds)
	a.Branches, a.Views = cloneAll(a.Branches), cloneAll(a.Views)
	return a
}

// keepsake remembers everything that an adoption may change.
func (db move) keepsake() (back func()) {
	was := database{threads: maps.Clone(db.threads), branches: maps.Clone(db.branches), turns: maps.Clone(db.turns),
		segments: maps.Clone(db.segments), artifacts: maps.Clone(db.artifacts), rows: slices.Clip(db.rows)}
	for id, th := range db.threads {
		db.threads[id] = new(*th)
		db.threads[id].receipts = nil
		for _, r := range th.receipts {
			db.threads[id].receipts = append(db.threads[id].receipts, new(*r))
		}
		db.threads[id].segments, db.threads[id].mentions = slices.Clip(th.segments), slices.Clip(th.mentions)
	}
	for id, b := range db.branches {
		db.branches[id] = new(*b)
		db.branches[id].rows = slices.Clip(b.rows)
	}
	db.rows = slices.Clip(db.rows)
	return func() {
		db.threads, db.branches, db.turns, db.segments, db.artifacts, db.rows = was.threads, was.branches, was.turns, was.segments, was.artifacts, was.rows
	}
}

// Folds implements [driver.Move].
func (db move) Folds(ctx context.Context, id scrollback.ConversationID, skip, limit int) ([]scrollback.StoredReceipt, error) {
	end, err := db.read(ctx, "memdriver.Folds")
	defer end()
	th := db.threads[id]
	if err != nil || th == nil {
		return nil, err
	}
	var out []scrollback.StoredReceipt
	for _, r := range th.receipts[min(skip, len(th.receipts)):min(skip+limit, len(th.receipts))] {
		out = append(out, scrollback.StoredReceipt{Branch: r.branch, Receipt: clone(r.Receipt), Before: clone(r.before), Folded: r.folded, Undone: r.undone})
	}
	return out, nil
}

// Taken implements [driver.Move].
func (db move) Taken(ctx context.Context, ids []scrollback.MessageID) (scrollback.MessageID, error) {
	end, err := db.read(ctx, "memdriver.Taken")
	defer end()
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		if slices.ContainsFunc(db.rows, func(r *row) bool { return r.ID == id }) {
			return id, nil
		}
	}
	return "", nil
}
