package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// maxPrunedAsked bounds how many old rows of thread_asked one new one removes.
const maxPrunedAsked = 8

// nextRow returns a number above those that this process gave before, with the time in it.
func (db *database) nextRow() int64 {
	for {
		last := db.threadRows.Load()
		next := max(last+1, db.now()<<20)
		if db.threadRows.CompareAndSwap(last, next) {
			return next
		}
	}
}

// WriteThread implements [driver.Threads].
func (db threads) WriteThread(ctx context.Context, rows threading.Rows) error {
	return db.write(ctx, "sqlstore.WriteThread", func(ctx context.Context, w *writeTx) error {
		return w.writeThread(ctx, &rows)
	})
}

// writeThread writes rows of a thread, if there are any.
func (w *writeTx) writeThread(ctx context.Context, rows *threading.Rows) error {
	if rows == nil {
		return nil
	}
	if rows.Thread != nil {
		err := upsertRow(ctx, w, threadTable, &threadRow{ThreadRow: *rows.Thread}, "threads", "conversation_id")
		if err != nil {
			return err
		}
	}
	scopes, err := w.readScopes(ctx, rows)
	if err != nil {
		return err
	}
	if err := w.insertAtoms(ctx, rows.Atoms, scopes); err != nil {
		return err
	}
	if rows.Request != nil {
		if err := w.writeRequest(ctx, *rows.Request); err != nil {
			return err
		}
	}
	if r := rows.Name; r != nil {
		err := w.tx.Queue(ctx, `INSERT INTO thread_names (conversation_id, scope, name, n) VALUES ($1, $2, $3, $4)
			ON CONFLICT (conversation_id, scope, name) DO NOTHING`, r.Thread, hashScope(r.Scope), r.Name, w.nextRow())
		if err != nil {
			return err
		}
	}
	if rows.Summary != nil {
		row := &summaryRow{SummaryRow: *rows.Summary, n: w.nextRow()}
		err := upsertRow(ctx, w, summaryTable, row, "thread_summaries", "conversation_id", "request_id", "n")
		if err != nil {
			return err
		}
	}
	if rows.Answer != nil {
		row := &answerRow{AnswerRow: *rows.Answer, n: w.nextRow()}
		if err := upsertRow(ctx, w, answerTable, row, "thread_answers", "conversation_id", "scope", "id"); err != nil {
			return err
		}
	}
	for _, id := range rows.Leaves {
		if err := w.tx.Queue(ctx, `UPDATE thread_requests SET leaf = 1 WHERE id = $1`, id); err != nil {
			return err
		}
	}
	return nil
}

// upsertRow stores a row in place of the one that has its key; a column n that is named behind the key stays what it
// was.
func upsertRow[T any](ctx context.Context, w *writeTx, t table[T], row *T, name string, key ...string) error {
	values, err := t.values(row)
	if err != nil {
		return err
	}
	conflict := key
	if last := len(key) - 1; key[last] == "n" {
		conflict = key[:last]
	}
	return w.tx.Queue(ctx, `INSERT INTO `+name+` `+t.insertClause()+` ON CONFLICT (`+strings.Join(conflict, ", ")+`)
		DO UPDATE SET `+t.upsertClause(key...), values...)
}

// writeRequest stores a request. One that is there keeps its number, and stays a leaf.
func (w *writeTx) writeRequest(ctx context.Context, r threading.RequestRow) error {
	values, err := requestTable.values(&requestRow{RequestRow: r, n: w.nextRow()})
	if err != nil {
		return err
	}
	return w.tx.Queue(ctx, `INSERT INTO thread_requests `+requestTable.insertClause()+`
		ON CONFLICT (conversation_id, id) DO UPDATE SET `+
		requestTable.upsertClause("conversation_id", "id", "n", "leaf")+`,
		leaf = CASE WHEN excluded.leaf = 1 THEN 1 ELSE thread_requests.leaf END`, values...)
}

// insertAtoms inserts atoms; one whose place is taken is conflict.
func (w *writeTx) insertAtoms(ctx context.Context, atoms []threading.AtomRow,
	scopes map[threading.ThreadID][]byte) error {
	for _, a := range atoms {
		values, err := atomTable.values(&atomRow{AtomRow: a, n: w.nextRow(), scope: scopes[a.Thread]})
		if err != nil {
			return err
		}
		for i, v := range values {
			if b, isBytes := v.([]byte); isBytes && b == nil {
				values[i] = nil
			}
		}
		taken := scrollback.Errorf(scrollback.Conflict, "sqlstore.WriteThread", i18n.ThreadPlaceTaken, a.Place.Seq,
			string(a.Place.Branch))
		if err := w.tx.QueueOne(ctx, taken, insertAtom, values...); err != nil {
			if w.Dialect.Taken(err) {
				return taken
			}
			return err
		}
	}
	return nil
}

// insertAtom changes no row where the place is taken, by whichever thread.
var insertAtom = `INSERT INTO thread_atoms (` + ThreadAtomColumns + `) SELECT ` + parameters(len(atomTable.columns)) + `
	WHERE NOT EXISTS (SELECT 1 FROM thread_atoms WHERE branch = $2 AND seq = $3) ON CONFLICT DO NOTHING`

// readScopes returns the hashes of the scopes of the threads that rows are of; one that is not there is not_found.
func (w *writeTx) readScopes(ctx context.Context, rows *threading.Rows) (map[threading.ThreadID][]byte, error) {
	out := map[threading.ThreadID][]byte{}
	if rows.Thread != nil {
		out[rows.Thread.ID] = hashScope(rows.Thread.Scope)
	}
	for _, id := range rows.Others() {
		var t threadRow
		err := QueryRow(ctx, w.tx, func(r Row) error { return threadTable.scan(&t, r) },
			`SELECT `+ThreadColumns+` FROM threads WHERE conversation_id = $1`, id)
		if errors.Is(err, sql.ErrNoRows) {
			err = noConversation(scrollback.ConversationID(id))
		}
		if err != nil {
			return nil, err
		}
		out[id] = hashScope(t.Scope)
	}
	return out, nil
}

// CountAsked implements [driver.Threads].
func (db threads) CountAsked(ctx context.Context, scope threading.Scope, body threading.Hash, now int64) error {
	return db.write(ctx, "sqlstore.CountAsked", func(ctx context.Context, w *writeTx) error {
		err := w.tx.Queue(ctx, `INSERT INTO thread_asked (scope, body, n, at) VALUES ($1, $2, $3, $4)`, hashScope(scope),
			body[:], w.nextRow(), now)
		if err != nil {
			return err
		}
		return w.tx.Queue(ctx, `DELETE FROM thread_asked WHERE (scope, body, n) IN (SELECT scope, body, n FROM thread_asked
			WHERE at <= $1 ORDER BY at LIMIT $2)`, now-driver.AskedKept, maxPrunedAsked)
	})
}

// threadTables are the tables with rows of a thread. What it is found by, and the thread itself, is about as much as
// a conversation has turns; atoms are many more.
var threadTables = []string{"threads", "thread_names", "thread_requests", "thread_summaries", "thread_answers",
	threadAtoms}

const threadAtoms = "thread_atoms"

// hideThread removes all rows of the thread of a conversation but its atoms, by which alone no thread is found.
func (j *purgeTx) hideThread(ctx context.Context) error {
	for _, name := range threadTables {
		if name == threadAtoms {
			continue
		}
		if err := j.tx.Queue(ctx, `DELETE FROM `+name+` WHERE conversation_id = $1`, j.c.ID); err != nil {
			return err
		}
	}
	return nil
}

// deleteAtoms removes atoms of the thread of a conversation, at most as many as this step may still remove.
func (j *purgeTx) deleteAtoms(ctx context.Context) error {
	if j.left <= 0 {
		return nil
	}
	n, err := j.tx.Exec(ctx, `DELETE FROM thread_atoms WHERE conversation_id = $1 AND (branch, seq) IN
		(SELECT branch, seq FROM thread_atoms WHERE conversation_id = $1 LIMIT $2)`, j.c.ID, j.left)
	j.left -= int(n)
	return err
}

// sweepThread removes the rows of the thread of a conversation that is gone.
func (w *writeTx) sweepThread(ctx context.Context, id scrollback.ConversationID) error {
	for _, name := range threadTables {
		err := w.tx.Queue(ctx, `DELETE FROM `+name+` WHERE conversation_id = $1
			AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = `+name+`.conversation_id)`, id)
		if err != nil {
			return err
		}
	}
	return nil
}
