package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// messageTable has the columns in the order in which they are hashed, which never changes.
var messageTable = table[scrollback.Message]{columns: []column[scrollback.Message]{
	{"id", func(m *scrollback.Message) any { return &m.ID }},
	{"conversation_id", func(m *scrollback.Message) any { return &m.ConversationID }},
	{"branch", func(m *scrollback.Message) any { return &m.Branch }},
	{"seq", func(m *scrollback.Message) any { return &m.Seq }},
	{"turn_id", func(m *scrollback.Message) any { return &m.TurnID }},
	{"role", func(m *scrollback.Message) any { return &m.Role }},
	{"name", func(m *scrollback.Message) any { return &m.Name }},
	{"parts", func(m *scrollback.Message) any { return asJSON(&m.Parts) }},
	{"model", func(m *scrollback.Message) any { return &m.Model }},
	{"usage", func(m *scrollback.Message) any { return asJSON(&m.Usage) }},
	{"tokens", func(m *scrollback.Message) any { return &m.Tokens }},
	{"own_tokens", func(m *scrollback.Message) any { return &m.Weight.Tokens }},
	{"own_bytes", func(m *scrollback.Message) any { return &m.Weight.Bytes }},
	{"own_images", func(m *scrollback.Message) any { return &m.Weight.Images }},
	{"sum_tokens", func(m *scrollback.Message) any { return &m.Sum.Tokens }},
	{"sum_bytes", func(m *scrollback.Message) any { return &m.Sum.Bytes }},
	{"sum_images", func(m *scrollback.Message) any { return &m.Sum.Images }},
	{"status", func(m *scrollback.Message) any { return &m.Status }},
	{"created_at", func(m *scrollback.Message) any { return &m.CreatedAt }},
	{"meta", func(m *scrollback.Message) any { return asText(&m.Meta) }},
}}

// MessageColumns are those of messages; StoredColumns has the hash of a row behind them.
var (
	MessageColumns = messageTable.columnList()
	StoredColumns  = MessageColumns + `, hash`
)

// MessageColumnsOf are those of messages, each with the name of a table before it.
func MessageColumnsOf(name string) string { return ColumnsOf(name, MessageColumns) }

var selectMessage = `SELECT ` + MessageColumns + ` FROM messages WHERE branch = $1 AND seq = $2`

func scanMessage(m *scrollback.Message) func(Row) error {
	return func(r Row) error {
		*m = scrollback.Message{}
		return messageTable.scan(m, r)
	}
}

// preparedEntry is an entry with what can be made of it before the transaction: one goroutine
// writes, and many wait for it.
type preparedEntry struct {
	driver.Entry
	values []any // of its columns; those that say where it is follow
	body   bodyHash
}

func prepareEntries(entries []driver.Entry) ([]preparedEntry, error) {
	out := make([]preparedEntry, len(entries))
	for i, e := range entries {
		values, err := messageTable.values(&e.Message)
		if err != nil {
			return nil, err
		}
		body, err := hashBody(values)
		if err != nil {
			return nil, err
		}
		out[i] = preparedEntry{e, values, body}
	}
	return out, nil
}

// messagePlace are the columns of a message that are known in the transaction which stores it.
var messagePlace = messageTable.subset("conversation_id", "branch", "seq", "sum_tokens", "sum_bytes", "sum_images")

var messagePlaces = messageTable.columnIndexes(messagePlace)

// insertMessage inserts an entry at the place that m has.
func (w *writeTx) insertMessage(ctx context.Context, e preparedEntry, m *scrollback.Message) error {
	values := make([]any, len(e.values), len(e.values)+1)
	copy(values, e.values)
	place, err := messagePlace.values(m)
	if err != nil {
		return err
	}
	for i, at := range messagePlaces {
		values[at] = place[i]
	}
	hash, err := e.body.at(values)
	if err != nil {
		return err
	}
	w.noteWritten(m.ConversationID)
	known := scrollback.Errorf(scrollback.Conflict, "sqlstore", i18n.MessageExists, m.ID)
	err = w.tx.QueueOne(ctx, known, w.Dialect.InsertMessage, append(values, hash)...)
	if err != nil && w.Dialect.Taken(err) {
		return known
	}
	return err
}

// Path begins a statement that reads the path of branch $1 from seq $2 to $3. A branch owns
// what is after at_seq, and its parent what is before that; a path only goes down, so that
// even a damaged one ends.
const Path = `WITH RECURSIVE path (branch, parent, at_seq, first, last) AS (
		SELECT id, parent_branch, at_seq, CASE WHEN at_seq < $2 THEN $2 ELSE at_seq + 1 END, CASE WHEN head_seq < $3 THEN head_seq ELSE $3 END
		FROM branches WHERE id = $1
		UNION ALL
		SELECT b.id, b.parent_branch, b.at_seq, CASE WHEN b.at_seq < $2 THEN $2 ELSE b.at_seq + 1 END, CASE WHEN p.at_seq < $3 THEN p.at_seq ELSE $3 END
		FROM path p JOIN branches b ON b.id = p.parent WHERE p.at_seq >= $2 AND b.at_seq < p.at_seq
	)`

// ReadMessages implements [driver.Log].
func (db log) ReadMessages(ctx context.Context, q driver.MessageQuery) ([]scrollback.Message, error) {
	out, err := db.readPath(ctx, db.Readers, q)
	return out, db.wrapError("sqlstore.ReadMessages", err)
}

// readPath reads a run of the path of a branch. Where only some are wanted, it looks at
// nothing but the parts first: that is a tenth of reading a message.
func (db *database) readPath(ctx context.Context, r Reader, q driver.MessageQuery) ([]scrollback.Message, error) {
	query := db.Dialect.MessagesOnPath
	args := []any{q.Branch, q.From, q.To}
	if q.Wanted != nil {
		seqs, err := db.wantedSeqs(ctx, r, q)
		if err != nil || len(seqs) == 0 {
			return nil, err
		}
		list, err := encodeJSON(seqs)
		if err != nil {
			return nil, err
		}
		query = db.Dialect.MessagesOnPathListed
		args = append(args, list)
	}
	var out []scrollback.Message
	err := r.Query(ctx, messageTable.appendTo(&out), query, args...)
	if err != nil {
		return nil, err
	}
	// branch by branch until here
	slices.SortFunc(out, func(a, b scrollback.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

// wantedSeqs lists the messages of a run that are wanted.
func (db *database) wantedSeqs(ctx context.Context, r Reader, q driver.MessageQuery) (seqs []int64, err error) {
	var seq int64
	var parts []byte
	err = r.Query(ctx, func(r Row) error {
		if err := r.Scan(&seq, &parts); err != nil {
			return err
		}
		if q.Wanted(parts) {
			seqs = append(seqs, seq)
		}
		return nil
	}, db.Dialect.PartsOnPath, q.Branch, q.From, q.To)
	return seqs, err
}

// ReadShape implements [driver.Log].
func (db log) ReadShape(ctx context.Context, q driver.ShapeQuery) ([]scrollback.ShapeBin, error) {
	var out []scrollback.ShapeBin
	err := db.Readers.Query(ctx, func(r Row) error {
		var b scrollback.ShapeBin
		var n int64
		err := r.Scan(&b.FirstSeq, &n, &b.At, &b.Bytes, &b.User, &b.Assistant)
		b.LastSeq = b.FirstSeq + n - 1
		out = append(out, b)
		return err
	}, db.Dialect.ShapeOfPath, q.Branch, 1, q.Head, q.Bins)
	return out, db.wrapError("sqlstore.ReadShape", err)
}
