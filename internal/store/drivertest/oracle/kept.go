package oracle

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// addKept adds rows of kept sentences, without those that are there.
func (db *database) addKept(rows ...scrollback.Kept) {
	for _, k := range rows {
		if !slices.ContainsFunc(db.kept, func(o scrollback.Kept) bool {
			return o.Conversation == k.Conversation && o.ID == k.ID && o.Change == k.Change
		}) {
			db.kept = append(db.kept, k)
			if k.Change != "" {
				db.changes.noteWritten(string(k.Conversation))
			}
		}
	}
}

// ReadKept implements [driver.Log].
func (db log) ReadKept(ctx context.Context, q driver.KeptQuery) ([]scrollback.Kept, error) {
	end, err := db.beginRead(ctx, "oracle.ReadKept")
	defer end()
	if err != nil {
		return nil, err
	}
	var rules, people []scrollback.Kept
	for b, to := db.branches[q.Branch], q.To; b != nil; b, to = db.branches[b.Parent], min(to, b.AtSeq) {
		for _, k := range db.kept {
			switch {
			case k.Branch != b.ID || k.Seq > to || k.Seq > b.HeadSeq:
			case k.Change == "" && q.Changes:
			case k.Change == "":
				rules = append(rules, k)
			case slices.Contains(q.Conversations, k.Conversation):
				people = append(people, k)
			}
		}
	}
	slices.SortFunc(rules, func(a, b scrollback.Kept) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(people, func(a, b scrollback.Kept) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Change, b.Change))
	})
	return slices.Concat(rules[max(0, len(rules)-q.Limit):], people[max(0, len(people)-q.Limit):]), nil
}

// FillKept implements [driver.Admin]. There are no older messages.
func (db admin) FillKept(ctx context.Context, _ int, _ driver.KeptFinder) (driver.FillResult, error) {
	end, err := db.beginRead(ctx, "oracle.FillKept")
	defer end()
	return driver.FillResult{Done: err == nil}, err
}

// ChangeKept implements [driver.Log].
func (db log) ChangeKept(ctx context.Context, c driver.KeptChange) error {
	const op = "oracle.ChangeKept"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	th, err := db.findLive(op, c.Row.Conversation)
	if err != nil {
		return err
	}
	b, err := db.findBranch(op, c.Row.Branch)
	if err == nil {
		err = checkInherited(op, th, b.Conversation)
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(b.rows, func(r *messageRow) bool { return r.Seq == c.Row.Seq && r.ID == c.Row.Message }) {
		return scrollback.Errorf(scrollback.NotFound, op, "branch %s has no message %d", b.ID, c.Row.Seq)
	}
	db.addKept(c.Row)
	th.news.Kinds |= driver.KindEdited
	db.changes.touchConversation(th, c.Now)
	return nil
}
