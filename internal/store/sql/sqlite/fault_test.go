package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// testDB is a database with what is behind its driver.
type testDB struct {
	*driver.Driver
	writer  *writer
	readers *sql.DB
	read    *readers
}

func openDB(t *testing.T, path string) *testDB {
	t.Helper()
	// After each batch, what the writer keeps is what a fresh read returns.
	d, err := openDatabase(t.Context(), path, &Options{checkBatch: func(ctx context.Context, tx sqlstore.Tx) error {
		return tx.Cache().Check(ctx, tx)
	}})
	if err != nil {
		t.Fatal(err)
	}
	db := &testDB{sqlstore.New(d), d.Writer.(*writer), d.Readers.(*readers).db, d.Readers.(*readers)}
	t.Cleanup(func() { db.Close() })
	return db
}

// addConversation creates a conversation with one message.
func addConversation(t *testing.T, db *testDB, id scrollback.ConversationID) {
	t.Helper()
	b := scrollback.Branch{ID: scrollback.BranchID("branch of " + id), Conversation: id}
	_, _, err := db.Log.CreateConversation(t.Context(), scrollback.Conversation{ID: id, Version: 1}, b)
	if err == nil {
		m := scrollback.Message{ID: scrollback.MessageID("message of " + id),
			Parts: scrollback.Parts{scrollback.Text{Text: "word"}}}
		_, err = db.Log.AppendEntries(t.Context(),
			driver.Append{Conversation: id, IfHead: 0, Entries: []driver.Entry{{Message: m}}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A start that was killed after the file became ours and before it had a table
// is taken up by the next.
func TestKilledFirstStart(t *testing.T) {
	t.Parallel()
	for _, done := range [][]string{
		{},
		{"PRAGMA journal_mode = WAL"},
		{"PRAGMA journal_mode = WAL", fmt.Sprint("PRAGMA application_id = ", applicationID)},
		{"PRAGMA journal_mode = WAL", fmt.Sprint("PRAGMA application_id = ", applicationID),
			"CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, " +
				"tstamp TIMESTAMP DEFAULT (datetime('now')))",
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)"},
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		raw, err := sql.Open("sqlite", fileDSN(path, "rwc", 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range done {
			if _, err := raw.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
		db := openDB(t, path)
		addConversation(t, db, "0")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		drivertest.CheckInvariants(t, openDB(t, path).Driver)
	}
}

// What may pass is unavailable, and what the caller ended canceled; a fault of
// ours, or of the file's contents, is internal.
func TestClassify(t *testing.T) {
	t.Parallel()
	var wrong map[string]int
	for _, c := range []struct {
		err  error
		want scrollback.Code
	}{
		{context.Canceled, scrollback.Canceled},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), scrollback.Unavailable},
		{sql.ErrConnDone, scrollback.Unavailable},
		{&fs.PathError{Op: "open", Path: "p", Err: fs.ErrPermission}, scrollback.Unavailable},
		{json.Unmarshal([]byte("{"), &wrong), scrollback.Internal},
		{errors.New("sql: Scan error on column index 0"), scrollback.Internal},
		{io.ErrUnexpectedEOF, scrollback.Internal},
	} {
		if got := classifyError(c.err); got != c.want {
			t.Errorf("%v is %s, want %s", c.err, got, c.want)
		}
	}
}

// A damaged column is said to be a fault of ours, in whichever table it is.
func TestDamagedColumn(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	addConversation(t, db, "0")
	for _, damage := range []struct {
		statement string
		read      func() error
	}{
		{"DROP TRIGGER messages_append_only", nil},
		{"UPDATE messages SET parts = '{'", func() error {
			_, err := db.Log.ReadMessages(t.Context(), driver.MessageQuery{Branch: "branch of 0", From: 1, To: 9})
			return err
		}},
		{"UPDATE messages SET created_at = 'soon'", func() error {
			_, err := db.Index.ReadMessagesAt(t.Context(), []driver.Place{driver.NewPlace(1, 1)})
			return err
		}},
		{"UPDATE branches SET view = '['", func() error { _, err := db.Log.FindBranch(t.Context(), "branch of 0"); return err }},
		{"UPDATE conversations SET roots = '7'", func() error {
			_, err := db.Log.PatchConversation(t.Context(), "0", 1, func(*scrollback.Conversation) error { return nil })
			return err
		}},
	} {
		damageRows(t, db, damage.statement)
		if damage.read == nil {
			continue
		}
		if err := damage.read(); scrollback.CodeOf(err) != scrollback.Internal {
			t.Errorf("after %s: %v (%s)", damage.statement, err, scrollback.CodeOf(err))
		}
	}
}

// A transaction that was left open is undone, and the next batch goes through.
func TestTransactionLeftOpen(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	addConversation(t, db, "0")
	for _, statement := range []string{"BEGIN IMMEDIATE", "UPDATE conversations SET title = 'half'"} {
		if err := db.writer.tx.Queue(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	addConversation(t, db, "1")
	h, err := db.Log.ReadHead(t.Context(), "0")
	if err != nil || h.Title != "" {
		t.Errorf("title %q, %v", h.Title, err)
	}
	drivertest.CheckInvariants(t, db.Driver)
}

// A job that fails keeps its reason to itself.
func TestBatchSpoiled(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	mine := scrollback.Errorf(scrollback.NotFound, "test", "mine")
	spoiler := job{ctx: t.Context(), done: make(chan error, 1), fn: func(ctx context.Context, tx sqlstore.Tx) error {
		if err := tx.Queue(ctx, "COMMIT"); err != nil { // nothing is left to roll back to
			t.Error(err)
		}
		return mine
	}}
	var errs [2]chan error
	neighbour := func(i int) job {
		errs[i] = make(chan error, 1)
		return job{ctx: t.Context(), done: errs[i], fn: func(context.Context, sqlstore.Tx) error { return nil }}
	}
	db.writer.runBatch([]job{neighbour(0), spoiler, neighbour(1)})
	for i := range errs {
		if err := <-errs[i]; classifyError(err) != scrollback.Internal {
			t.Errorf("neighbour %d: %v (%s)", i, err, classifyError(err))
		}
	}
	if err := <-spoiler.done; !errors.Is(err, mine) {
		t.Errorf("spoiler: %v", err)
	}
	addConversation(t, db, "0")
}
