package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// Whatever is done, what the writer keeps is what is stored: openDB compares them after
// each batch.
func TestKeptWalk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		drivertest.RunWalk(t, 100+seed, 250, oracle.New(), openDB(t, filepath.Join(t.TempDir(), "s.db")).Driver)
	}
}

// The comparison finds what a statement changed that nobody told the cache about.
func TestStaleIsFound(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	addConversation(t, db, "0")
	change := func(ctx context.Context, tx sqlstore.Tx) error {
		return tx.Queue(ctx, `UPDATE branches SET head_seq = 7`)
	}
	if err := db.writer.Write(t.Context(), change); err == nil {
		t.Error("a row is kept as it is not stored, and nobody noticed")
	}
	err := db.writer.Write(t.Context(), func(ctx context.Context, tx sqlstore.Tx) error {
		tx.Cache().Clear()
		return change(ctx, tx)
	})
	if err != nil {
		t.Errorf("who says so may change it: %v", err)
	}
}

// newCountingJob adds one to a number, beside a message that shows how often.
func newCountingJob(t *testing.T, model string, fail func(ctx context.Context, tx sqlstore.Tx) error) job {
	return job{ctx: t.Context(), done: make(chan error, 1), fn: func(ctx context.Context, tx sqlstore.Tx) error {
		factor := 0.0
		err := tx.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&factor) },
			`SELECT factor FROM models_learned WHERE model = $1`, model)
		if err != nil {
			return err
		}
		err = tx.Queue(ctx, `INSERT INTO models_learned (model, factor, facts) VALUES ($1, $2, '')
			ON CONFLICT (model) DO UPDATE SET factor = excluded.factor`, model, factor+1)
		if err != nil {
			return err
		}
		return fail(ctx, tx)
	}}
}

// In batches where some jobs fail, before they wrote, after, or by an error of the
// database, each of the others happens once.
func TestBatchesWithFailures(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	rng := rand.New(rand.NewPCG(7, 7))
	refused := scrollback.Errorf(scrollback.Conflict, "test", "no")
	want := map[string]int{}
	for range 60 {
		var batch []job
		var wrong []bool
		for range 1 + rng.IntN(12) {
			model := fmt.Sprint("m", rng.IntN(3))
			end := func(context.Context, sqlstore.Tx) error { return nil }
			fails := rng.IntN(4) == 0
			switch {
			case !fails:
				want[model]++
			case rng.IntN(2) == 0:
				end = func(context.Context, sqlstore.Tx) error { return refused }
			default:
				end = func(ctx context.Context, tx sqlstore.Tx) error {
					return tx.Queue(ctx, `INSERT INTO models_learned (model) VALUES (NULL)`)
				}
			}
			j := newCountingJob(t, model, end)
			if fails && rng.IntN(3) == 0 { // before it writes
				j.fn = func(context.Context, sqlstore.Tx) error { return refused }
			}
			batch = append(batch, j)
			wrong = append(wrong, fails)
		}
		db.writer.runBatch(batch)
		for i, j := range batch {
			if err := <-j.done; (err != nil) != wrong[i] {
				t.Fatalf("job %d of %d: %v", i, len(batch), err)
			}
		}
		for model, n := range want {
			if known, err := db.Turns.ReadLearned(t.Context(), model); err != nil || known.Factor != float64(n) {
				t.Fatalf("%s counts %v, want %d, %v", model, known.Factor, n, err)
			}
		}
	}
	if len(want) != 3 {
		t.Errorf("%v", want)
	}
}

// Two that write to one file in turns each see what the other wrote.
func TestKeptAcrossConnections(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	both := [2]*testDB{openDB(t, path), openDB(t, path)}
	addConversation(t, both[0], "0")
	for n := range 30 {
		db := both[n/(1+n%3)%2]
		_, err := db.Log.AppendEntries(t.Context(),
			driver.Append{Conversation: "0", IfHead: int64(n + 1), Entries: []driver.Entry{
				{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint("more ", n)),
					Parts: scrollback.Parts{scrollback.Text{Text: "x"}}}}}})
		if err != nil {
			t.Fatalf("message %d: %v", n, err)
		}
	}
	drivertest.CheckInvariants(t, both[1].Driver)
}

// The marks of a statement stand for its arguments, in any order and more than once.
func TestMarks(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	read := func(s sqlstore.Reader) (got string, err error) {
		err = s.Query(t.Context(), func(r sqlstore.Row) error { return r.Scan(&got) },
			`SELECT $2 || $1 || $2 || $11 || $10`, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k")
		return got, err
	}
	for _, s := range []sqlstore.Reader{db.writer.tx, db.read} {
		if got, err := read(s); err != nil || got != "babkj" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := db.writer.tx.Queue(t.Context(), `SELECT $2`, "a"); err == nil {
		t.Error("an argument is missing, and nothing is said")
	}
}

// A column is scanned as database/sql does it, also one that holds something else.
func TestScanLikeDatabaseSQL(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	into := func() []any {
		return []any{new(string), new(int64), new(int), new(bool), new(float64), new([]byte), new(uint8),
			new(scrollback.MessageID),
			new(scrollback.Role), new(driver.ChangeKinds), new(sql.NullString), new(scrollback.TitleState)}
	}
	compared := 0
	for _, column := range []string{`'text'`, `''`, `'12'`, `'1'`, `7`, `1`, `0`, `-3`, `300`, `9223372036854775807`,
		`1.5`, `2.0`, `1e300`,
		`NULL`, `x'6162'`, `x''`} {
		query := `SELECT ` + column
		for i := range into() {
			want := into()[i]
			direct := into()[i]
			pooled := into()[i]
			wantErr := db.readers.QueryRow(query).Scan(want)
			scan := func(dest any) func(sqlstore.Row) error {
				return func(r sqlstore.Row) error { return r.Scan(dest) }
			}
			errs := []error{db.writer.tx.Query(t.Context(), scan(direct), query),
				db.read.Query(t.Context(), scan(pooled), query)}
			for n, got := range []any{direct, pooled} {
				if (errs[n] != nil) != (wantErr != nil) {
					t.Errorf("%s into %T: %v, want %v", column, want, errs[n], wantErr)
				}
				if wantErr == nil && !reflect.DeepEqual(got, want) {
					t.Errorf("%s into %T: %v, want %v", column, want, reflect.ValueOf(got).Elem(), reflect.ValueOf(want).Elem())
				}
			}
			compared++
		}
	}
	if compared < 190 {
		t.Errorf("%d compared", compared)
	}
}

// The accounts of steps are in order wherever they stand, and go with their conversation.
func TestAccountsOfSteps(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	addConversation(t, db, "0")
	turn := scrollback.Turn{ID: "t", Conversation: "0", Owner: "o", LeaseUntil: 99}
	if _, err := db.Turns.Begin(t.Context(), driver.BeginRequest{Turn: turn, Now: 1}); err != nil {
		t.Fatal(err)
	}
	finish := func(step int, hash string) {
		_, err := db.Turns.FinishStep(t.Context(),
			driver.FinishedStep{Turn: "t", Owner: "o", Now: 2, LeaseUntil: 99, State: scrollback.TurnOpen,
				Sent: &scrollback.SentRequest{Step: step, Hash: hash, Runs: []scrollback.SentRun{}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	// What an older program stored of the first step gives way.
	err := db.writer.Write(t.Context(), func(ctx context.Context, tx sqlstore.Tx) error {
		return tx.Queue(ctx,
			`INSERT INTO turn_steps (turn_id, step, conversation_id, sent) VALUES ('t', 1, '0', '{"hash":"older"}')`)
	})
	if err != nil {
		t.Fatal(err)
	}
	hashes := func() string {
		steps, err := db.Turns.ReadSteps(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range steps {
			all = append(all, fmt.Sprint(s.Step, s.Hash))
		}
		return strings.Join(all, " ")
	}
	if got := hashes(); got != "1older" {
		t.Error(got)
	}
	for _, s := range []struct {
		step int
		hash string
	}{{3, "c"}, {1, "a"}, {2, "b"}, {1, "again"}, {3, "d"}} {
		finish(s.step, s.hash)
	}
	if got := hashes(); got != "1again 2b 3d" {
		t.Error(got)
	}
	if p, err := db.Log.PurgeConversation(t.Context(),
		driver.Purge{Conversation: "0", Now: 1000, Limit: 99}); err != nil || !p.Done {
		t.Fatal(p, err)
	}
	var left int
	err = sqlstore.QueryRow(t.Context(), db.read, func(r sqlstore.Row) error { return r.Scan(&left) },
		`SELECT count(*) FROM turn_steps`)
	if err != nil || left != 0 || hashes() != "" {
		t.Errorf("%d accounts are left, %q, %v", left, hashes(), err)
	}
}
