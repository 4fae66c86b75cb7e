package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var keptTable = table[scrollback.Kept]{columns: []column[scrollback.Kept]{
	{"conversation_id", func(k *scrollback.Kept) any { return &k.Conversation }},
	{"id", func(k *scrollback.Kept) any { return &k.ID }},
	{"change", func(k *scrollback.Kept) any { return &k.Change }},
	{"branch", func(k *scrollback.Kept) any { return &k.Branch }},
	{"seq", func(k *scrollback.Kept) any { return &k.Seq }},
	{"message_id", func(k *scrollback.Kept) any { return &k.Message }},
	{"role", func(k *scrollback.Kept) any { return &k.Role }},
	{"kind", func(k *scrollback.Kept) any { return &k.Kind }},
	{"text", func(k *scrollback.Kept) any { return &k.Text }},
	{"kept_by", func(k *scrollback.Kept) any { return &k.By }},
	{"said_by", func(k *scrollback.Kept) any { return &k.SaidBy }},
	{"state", func(k *scrollback.Kept) any { return &k.State }},
	{"created_at", func(k *scrollback.Kept) any { return &k.CreatedAt }},
}}

// KeptColumns are those of kept.
var KeptColumns = keptTable.columnList()

// selectKept reads what is kept of the messages on a path, in the order of the columns.
var selectKept = Path + ` SELECT k.` + strings.ReplaceAll(KeptColumns, ", ", ", k.") + ` FROM path p
	JOIN kept k ON k.branch = p.branch AND k.seq >= p.first AND k.seq <= p.last`

// selectRuled is the same of what rules keep, the newest first. CROSS JOIN reads the path first: without it SQLite
// reads the rows of all conversations. All rows between the two seqs are read and sorted, whatever the limit is.
var selectRuled = strings.Replace(selectKept, "JOIN kept k ON", "CROSS JOIN kept k WHERE", 1) +
	` AND k.change = '' ORDER BY k.seq DESC, k.id DESC LIMIT $4`

// placeKept returns what is kept of a message where that is.
func placeKept(k scrollback.Kept, m *scrollback.Message) scrollback.Kept {
	k.Message = m.ID
	k.Conversation = m.ConversationID
	k.Branch = m.Branch
	k.Seq = m.Seq
	return k
}

func (w *writeTx) insertKept(ctx context.Context, k scrollback.Kept) error {
	values, err := keptTable.values(&k)
	if err != nil {
		return err
	}
	return w.tx.Queue(ctx, `INSERT INTO kept `+keptTable.insertClause()+` ON CONFLICT DO NOTHING`, values...)
}

// ReadKept implements [driver.Log].
func (db log) ReadKept(ctx context.Context, q driver.KeptQuery) ([]scrollback.Kept, error) {
	const op = "sqlstore.ReadKept"
	var out []scrollback.Kept
	if !q.Changes {
		var err error
		if out, err = db.readRuled(ctx, q); err != nil {
			return nil, db.wrapError(op, err)
		}
	}
	var changes []scrollback.Kept
	for _, id := range q.Conversations {
		err := db.Readers.Query(ctx, keptTable.appendTo(&changes),
			selectKept+` WHERE k.conversation_id = $4 AND k.change <> '' ORDER BY k.created_at DESC, k.change DESC LIMIT $5`,
			q.Branch, 1, q.To, id, q.Limit)
		if err != nil {
			return nil, db.wrapError(op, err)
		}
	}
	slices.SortFunc(changes, func(a, b scrollback.Kept) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Change, b.Change))
	})
	return append(out, changes[max(0, len(changes)-q.Limit):]...), nil
}

// Bounds of the runs of a path in which the newest rows of rules are looked for: the first one has a quarter as many
// messages as rows are wanted, and at least leastKeptRun; each other one is at most keptRunGrowth times as long as what
// was looked through before it.
const (
	leastKeptRun  = 256
	keptRunGrowth = 8
)

// readRuled reads the newest rows of rules, ascending: run by run from the end of the path, until there are enough. So
// what is read depends on how many are wanted, and hardly on how many there are.
func (db log) readRuled(ctx context.Context, q driver.KeptQuery) (out []scrollback.Kept, err error) {
	run := max(int64(q.Limit)/4, leastKeptRun)
	end := q.To
	for end > 0 && len(out) < q.Limit {
		from := max(1, end-run+1)
		err := db.Readers.Query(ctx, keptTable.appendTo(&out), selectRuled, q.Branch, from, end, q.Limit-len(out))
		if err != nil {
			return nil, err
		}
		end = from - 1
		seen := q.To - end
		run = keptRunGrowth * seen
		if n := int64(len(out)); n > 0 { // as many as the rest has if it is like this
			run = min(run, seen/n*(int64(q.Limit)-n)+leastKeptRun)
		}
		run = max(run, leastKeptRun) // also where the end is beyond all numbers
	}
	slices.Reverse(out)
	return out, nil
}

// ChangeKept implements [driver.Log].
func (db log) ChangeKept(ctx context.Context, c driver.KeptChange) error {
	const op = "sqlstore.ChangeKept"
	return db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		var of conversationRow
		if err := w.holdKnownConversation(ctx, c.Row.Conversation, &of); err != nil {
			return err
		}
		var b scrollback.Branch
		if err := w.holdBranch(ctx, c.Row.Branch, &b); err != nil {
			return err
		}
		if of.DeletedAt != 0 {
			return noConversation(of.ID)
		}
		if err := checkInherits(op, of.Conversation, b.Conversation); err != nil {
			return err
		}
		var m scrollback.Message
		err := QueryRow(ctx, w.tx, scanMessage(&m), selectMessage, c.Row.Branch, c.Row.Seq)
		if err != nil || m.ID != c.Row.Message {
			return scrollback.Errorf(scrollback.NotFound, op, i18n.PathHasNoMessage, c.Row.Branch, c.Row.Seq)
		}
		if err := w.insertKept(ctx, c.Row); err != nil {
			return err
		}
		return w.storeConversation(ctx, &of, c.Now)
	})
}
