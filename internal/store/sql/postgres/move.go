package postgres

import (
	"context"
	"fmt"
	"strings"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
)

// transactionMark is a number that no two transactions share within days: of when it began, and who
// runs it.
const transactionMark = `mod(CAST(floor(extract(epoch FROM transaction_timestamp()) * 1000000) AS BIGINT), 1099511627776) * 4194304
	+ mod(pg_backend_pid(), 4194304)`

// watchStatements returns [move.Side]'s Watch. Each transaction leaves a mark of its own: two never wait for each
// other's, and one that ends late leaves a mark that nobody has read. Making a trigger waits for
// all transactions that have changed its table.
func watchStatements() []string {
	out := []string{
		`CREATE TABLE IF NOT EXISTS move_state (name TEXT COLLATE "C" PRIMARY KEY, value TEXT COLLATE "C" NOT NULL)`,
		`CREATE TABLE IF NOT EXISTS move_marks (kind TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, k BIGINT NOT NULL)`,
		`CREATE INDEX IF NOT EXISTS move_marks_key ON move_marks (kind, key, k)`}
	for name, with := range map[string]string{"id": "c id", "conversation_id": "c conversation_id", "table": "t"} {
		kind, column, _ := strings.Cut(with, " ")
		key := `CASE WHEN TG_OP = 'DELETE' THEN OLD.` + column + ` ELSE NEW.` + column + ` END`
		if column == "" {
			key = `TG_TABLE_NAME`
		}
		out = append(out, fmt.Sprintf(`CREATE OR REPLACE FUNCTION move_note_%s() RETURNS trigger LANGUAGE plpgsql AS $$
			DECLARE which text := %s; number bigint := %s;
			BEGIN
				INSERT INTO move_marks (kind, key, k) SELECT '%[4]s', which, number
					WHERE NOT EXISTS (SELECT 1 FROM move_marks m WHERE m.kind = '%[4]s' AND m.key = which AND m.k = number);
				RETURN NULL;
			END $$`, name, key, transactionMark, kind))
	}
	for _, t := range move.NotedTables() {
		does := `ROW EXECUTE FUNCTION move_note_` + t.Of
		if t.Of == "" {
			does = `STATEMENT EXECUTE FUNCTION move_note_table`
		}
		out = append(out, createTriggerOnce("move_"+t.Table, t.Table,
			`AFTER INSERT OR UPDATE OR DELETE ON `+t.Table+` FOR EACH `+does+`()`))
	}
	return out
}

// createTriggerOnce makes a trigger, unless it is there: making it again would wait for the table again.
func createTriggerOnce(name, table, what string) string {
	return fmt.Sprintf(`DO $$ BEGIN
		IF NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgname = '%[1]s' AND tgrelid = CAST('%[2]s' AS regclass)) THEN
			CREATE TRIGGER %[1]s %[3]s;
		END IF;
	END $$`, name, table, what)
}

// What stays as it is until a transaction ends; see [move.Side].
const (
	holdRun  = move.SelectRun + ` FOR SHARE`
	holdNote = move.SelectNote + ` FOR UPDATE`
)

// codeClosed is the SQLSTATE of a database that was closed to be moved elsewhere.
const codeClosed = "SB001"

// refuseStatements returns [move.Side]'s Refuse. A trigger may be there since an earlier time, when the table was let
// go again: even then, a transaction that is changing the table is waited for.
func refuseStatements(why string) []string {
	out := []string{closedFunction(fmt.Sprintf(`RAISE EXCEPTION USING MESSAGE = '%s', ERRCODE = '%s'`,
		strings.NewReplacer("'", "''", "$", "%24").Replace(why), codeClosed))}
	for _, t := range move.NotedTables() {
		out = append(out, `LOCK TABLE `+t.Table+` IN SHARE ROW EXCLUSIVE MODE`, createTriggerOnce("move_closed_"+t.Table, t.Table,
			`BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON `+t.Table+` FOR EACH STATEMENT EXECUTE FUNCTION move_closed()`))
	}
	// Who asks whether the database can be written to is told as well.
	return append(out, createTriggerOnce("move_closed_probe", "numbers",
		`AFTER UPDATE ON numbers FOR EACH ROW WHEN (NEW.name = 'probe') EXECUTE FUNCTION move_closed()`))
}

// closedFunction makes what the triggers of a closed database do.
func closedFunction(does string) string {
	return `CREATE OR REPLACE FUNCTION move_closed() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			` + does + `;
		END $$`
}

// reopenStatements returns [move.Side]'s Reopen. The triggers stay, and do nothing: to drop one, everybody who reads
// its table would have to be waited for, a dump of an hour too.
func reopenStatements() []string { return []string{closedFunction(`RETURN NULL`)} }

// forgetStatements returns [move.Side]'s Forget.
func forgetStatements() []string {
	out := append(append(reopenStatements(), dropTriggers("move_closed_")...), dropTriggers("move_")...)
	out = append(out, `DROP TRIGGER IF EXISTS move_closed_probe ON numbers`)
	for _, name := range []string{"closed", "note_id", "note_conversation_id", "note_table"} {
		out = append(out, `DROP FUNCTION IF EXISTS move_`+name+`()`)
	}
	return append(out, `DROP TABLE IF EXISTS move_marks`, `DROP TABLE IF EXISTS move_state`)
}

// dropTriggers returns statements that remove triggers of all tables.
func dropTriggers(prefix string) (out []string) {
	for _, t := range move.NotedTables() {
		out = append(out, `DROP TRIGGER IF EXISTS `+prefix+t.Table+` ON `+t.Table)
	}
	return out
}

// messagesPerInsert is how many messages a statement inserts.
const messagesPerInsert = 50

// insertMessages inserts messages of a branch, and leaves them to be numbered together: those of a
// statement are a run.
func insertMessages(ctx context.Context, tx sqlstore.Tx, rows [][]any) error {
	for len(rows) > 0 {
		n := 1
		if len(rows) >= messagesPerInsert {
			n = messagesPerInsert
		}
		var b strings.Builder
		var args []any
		for i, row := range rows[:n] {
			b.WriteString([]string{", (", "("}[map[bool]int{true: 1}[i == 0]])
			for c := range row {
				if c > 0 {
					b.WriteString(", ")
				}
				fmt.Fprintf(&b, "$%d", len(args)+c+1)
			}
			b.WriteString(")")
			args = append(args, row...)
		}
		err := tx.Queue(ctx, `WITH added AS (INSERT INTO messages (`+sqlstore.StoredColumns+`) VALUES `+b.String()+`
			RETURNING conversation_id, branch, seq)
			INSERT INTO pending_messages (conversation_id, branch, seq, k) SELECT conversation_id, branch, seq,
			CAST(floor(extract(epoch FROM statement_timestamp()) * 1000000) AS BIGINT) FROM added`, args...)
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
