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

// What the statements about rows of rules on a path read of kept, as k.
var (
	RuledColumns = "k." + strings.ReplaceAll(KeptColumns, ", ", ", k.")
	RuledPlaces  = "k.conversation_id, k.id, k.branch, k.seq"
)

// selectKept reads what is kept of the messages on a path, in the order of the columns.
var selectKept = Path + ` SELECT ` + RuledColumns + ` FROM path p
	JOIN kept k ON k.branch = p.branch AND k.seq >= p.first AND k.seq <= p.last`

// keptPlace is which row of rules one is, and where on a path.
type keptPlace struct {
	conversation scrollback.ConversationID
	id           scrollback.KeptID
	branch       scrollback.BranchID
	seq          int64
}

func placeOfKept(k *scrollback.Kept) keptPlace {
	return keptPlace{k.Conversation, k.ID, k.Branch, k.Seq}
}

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
	if k.Change != "" { // what a rule keeps each store finds itself
		w.noteWritten(k.Conversation)
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

// readRuled reads the newest rows of rules, ascending.
func (db log) readRuled(ctx context.Context, q driver.KeptQuery) ([]scrollback.Kept, error) {
	if len(q.Known) > 0 {
		return db.completeRuled(ctx, q)
	}
	var out []scrollback.Kept
	err := eachKeptRun(q, func(from, to int64) (int, error) {
		err := db.Readers.Query(ctx, keptTable.appendTo(&out), db.Dialect.RuledOnPath, q.Branch, from, to, q.Limit-len(out))
		return len(out), err
	})
	slices.Reverse(out)
	return out, err
}

// completeRuled is readRuled where some rows are known: it reads the others, and what stands between them.
func (db log) completeRuled(ctx context.Context, q driver.KeptQuery) ([]scrollback.Kept, error) {
	var places []keptPlace
	err := eachKeptRun(q, func(from, to int64) (int, error) {
		err := db.Readers.Query(ctx, func(r Row) error {
			var p keptPlace
			err := r.Scan(&p.conversation, &p.id, &p.branch, &p.seq)
			places = append(places, p)
			return err
		}, db.Dialect.RuledPlacesOnPath, q.Branch, from, to, q.Limit-len(places))
		return len(places), err
	})
	if err != nil {
		return nil, err
	}
	known := make(map[keptPlace]*scrollback.Kept, len(q.Known))
	for i := range q.Known {
		if k := &q.Known[i]; k.Change == "" {
			known[placeOfKept(k)] = k
		}
	}
	from := q.To + 1
	for _, p := range places {
		if known[p] == nil {
			from = min(from, p.seq)
		}
	}
	var others []scrollback.Kept
	if from <= q.To {
		err := db.Readers.Query(ctx, keptTable.appendTo(&others), db.Dialect.RuledOnPath, q.Branch, from, q.To, q.Limit)
		if err != nil {
			return nil, err
		}
	}
	for i := range others {
		known[placeOfKept(&others[i])] = &others[i]
	}
	out := make([]scrollback.Kept, 0, len(places))
	for _, p := range slices.Backward(places) {
		if k := known[p]; k != nil { // else it was purged meanwhile
			out = append(out, *k)
		}
	}
	return out, nil
}

// Bounds of the runs of a path in which the newest rows of rules are looked for: the first one has a quarter as many
// messages as rows are wanted, and at least leastKeptRun; each other one is at most keptRunGrowth times as long as what
// was looked through before it.
const (
	leastKeptRun  = 256
	keptRunGrowth = 8
)

// eachKeptRun calls read with runs of a path, from its end, until as many rows were read as are wanted; read returns
// how many those are in all. So what is looked at depends on how many are wanted, and hardly on how many there are.
func eachKeptRun(q driver.KeptQuery, read func(from, to int64) (int, error)) error {
	run := max(int64(q.Limit)/4, leastKeptRun)
	for end := q.To; end > 0; {
		from := max(1, end-run+1)
		n, err := read(from, end)
		if err != nil || n >= q.Limit {
			return err
		}
		end = from - 1
		seen := q.To - end
		run = keptRunGrowth * seen
		if n := int64(n); n > 0 { // as many as the rest has if it is like this
			run = min(run, seen/n*(int64(q.Limit)-n)+leastKeptRun)
		}
		run = max(run, leastKeptRun) // also where the end is beyond all numbers
	}
	return nil
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
