package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
)

// OpenSide opens the file at path as [Open] does, to be copied from or to. Name is what people
// are told it is.
func OpenSide(ctx context.Context, path, name string, o *Options) (*move.Side, error) {
	d, err := openDatabase(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return &move.Side{Database: d, Name: name, Watch: watchStatements(), Refuse: refuseStatements,
		Reopen: reopenStatements(),
		Forget: append(reopenStatements(), forgetStatements()...), Receive: makeUsageIndex, Leave: dropUsageIndex,
		HoldRun: move.SelectRun, HoldNote: move.SelectNote,
		Usage: "move_usage", Fill: func(ctx context.Context) error {
			return fillUsageIndex(ctx,
				d)
		}, Insert: insertMessages}, nil
}

var changeKinds = []string{"INSERT", "UPDATE", "DELETE"}

// makeUsageIndex makes what finds usage by its conversation, which only copying needs. An index would
// be made at once, and writers wait for minutes where there is much; this is filled in steps.
var makeUsageIndex = []string{
	`CREATE TABLE IF NOT EXISTS move_usage (conversation_id TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (conversation_id, n)) WITHOUT ROWID`,
	`CREATE TRIGGER IF NOT EXISTS move_usage_insert AFTER INSERT ON usage_records BEGIN
		INSERT INTO move_usage (conversation_id, n) SELECT NEW.conversation_id, NEW.n
			WHERE NOT EXISTS (SELECT 1 FROM move_usage WHERE conversation_id = NEW.conversation_id AND n = NEW.n);
	END`,
	`CREATE TRIGGER IF NOT EXISTS move_usage_delete AFTER DELETE ON usage_records BEGIN
		DELETE FROM move_usage WHERE conversation_id = OLD.conversation_id AND n = OLD.n;
	END`}

var dropUsageIndex = []string{`DROP TRIGGER IF EXISTS move_usage_insert`, `DROP TRIGGER IF EXISTS move_usage_delete`,
	`DROP TABLE IF EXISTS move_usage`}

// usageBatch is how many records of usage are noted in one transaction.
const usageBatch = 10_000

// fillUsageIndex notes the records that were there before.
func fillUsageIndex(ctx context.Context, d sqlstore.Database) error {
	for after, last := int64(0), int64(1); after < last; after += usageBatch {
		err := d.Writer.Write(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
			scan := func(r sqlstore.Row) error { return r.Scan(&last) }
			if err := tx.Query(ctx, scan, `SELECT coalesce(max(n), 0) FROM usage_records`); err != nil {
				return err
			}
			return tx.Queue(ctx, `INSERT INTO move_usage (conversation_id, n) SELECT conversation_id, n FROM usage_records
				WHERE n > $1 AND n <= $2 ON CONFLICT DO NOTHING`, after, after+usageBatch)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// watchStatements returns [move.Side]'s Watch. Each change increments its mark, so that a mark that was read is
// told from one that was left since.
func watchStatements() []string {
	out := []string{
		`CREATE TABLE IF NOT EXISTS move_state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
		`CREATE TABLE IF NOT EXISTS move_marks (kind TEXT NOT NULL, key TEXT NOT NULL, k INTEGER NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID`}
	out = append(out, makeUsageIndex...)
	for _, t := range move.NotedTables() {
		for _, change := range changeKinds {
			kind := "t"
			key := "'" + t.Table + "'"
			if t.Of != "" {
				kind = "c"
				key = map[bool]string{true: "OLD.", false: "NEW."}[change == "DELETE"] + t.Of
			}
			// No upsert: its clause would give way to that of the statement which changes the table.
			out = append(out, fmt.Sprintf(`CREATE TRIGGER IF NOT EXISTS move_%[1]s_%[2]s AFTER %[3]s ON %[1]s BEGIN
				UPDATE move_marks SET k = k + 1 WHERE kind = '%[4]s' AND key = %[5]s;
				INSERT INTO move_marks (kind, key, k) SELECT '%[4]s', %[5]s, random() >> 1
					WHERE NOT EXISTS (SELECT 1 FROM move_marks WHERE kind = '%[4]s' AND key = %[5]s);
			END`, t.Table, strings.ToLower(change), change, kind, key))
		}
	}
	return out
}

// closedMark begins the error that a closed database gives for any change.
const closedMark = "scrollback: "

// findMoveTarget implements [sqlstore.Dialect]'s Moving.
func findMoveTarget(err error) string {
	var e *modernc.Error
	if !errors.As(err, &e) || e.Code() != sqlite3.SQLITE_CONSTRAINT_TRIGGER {
		return ""
	}
	_, to, _ := strings.Cut(e.Error(), closedMark+move.Closed)
	return strings.TrimSuffix(to, fmt.Sprintf(" (%d)", e.Code()))
}

func refuseStatements(why string) (out []string) {
	// A mark of a parameter in it would be taken for one.
	why = strings.NewReplacer("'", "''", "$", "%24").Replace(closedMark + why)
	for _, t := range move.NotedTables() {
		for _, change := range changeKinds {
			out = append(out,
				fmt.Sprintf(`CREATE TRIGGER IF NOT EXISTS move_closed_%s_%s BEFORE %s ON %s BEGIN SELECT RAISE(ABORT, '%s'); END`,
					t.Table, strings.ToLower(change), change, t.Table, why))
		}
	}
	// Who asks whether the database can be written to is told as well.
	return append(out,
		fmt.Sprintf(`CREATE TRIGGER IF NOT EXISTS move_closed_probe BEFORE UPDATE ON numbers WHEN NEW.name = 'branch' `+
			`BEGIN SELECT RAISE(ABORT, '%s'); END`, why))
}

func reopenStatements() []string {
	return append(dropTriggers("move_closed_"), `DROP TRIGGER IF EXISTS move_closed_probe`)
}

func forgetStatements() []string {
	return append(append(dropTriggers("move_"), dropUsageIndex...), `DROP TABLE IF EXISTS move_marks`,
		`DROP TABLE IF EXISTS move_state`)
}

// dropTriggers returns statements that remove triggers of all tables.
func dropTriggers(prefix string) (out []string) {
	for _, t := range move.NotedTables() {
		for _, change := range changeKinds {
			out = append(out, `DROP TRIGGER IF EXISTS `+prefix+t.Table+`_`+strings.ToLower(change))
		}
	}
	return out
}

func insertMessages(ctx context.Context, tx sqlstore.Tx, rows [][]any) error {
	for _, row := range rows {
		if err := tx.Queue(ctx, statements.InsertMessage, row...); err != nil {
			return err
		}
	}
	return nil
}
