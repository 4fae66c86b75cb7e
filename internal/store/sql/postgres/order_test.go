package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
)

// While there is no database, nobody waits for the attempts of all who asked before, and who has
// no more time waits for none.
func TestSettlingFailsForAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newCommitOrder(nil, "", slog.New(slog.DiscardHandler))
		o.Close()
		down := errors.New("there is no database")
		o.retry = func(ctx context.Context, _ func(context.Context) error) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("numbering may take for ever")
			}
			time.Sleep(maxConnectWait)
			return down
		}
		began := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := o.NumberCommits(t.Context()); !errors.Is(err, down) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := o.NumberCommits(hurried); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) > maxConnectWait/2 {
			t.Errorf("who had a second got %v after %v", err, time.Since(began))
		}
		all.Wait()
		if took := time.Since(began); took > 2*maxConnectWait {
			t.Errorf("the last of them waited for %v", took)
		}
	})
}

// Each message gets one number, and each number one message, also when the server's clock was set
// back between messages of a branch.
func TestNumbersWhenTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	d, err := openDatabase(t.Context(), postgrestest.NewDatabase(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Readers.Close()
	defer d.Writer.Close()
	if _, err := d.Writer.(*writer).db.ExecContext(t.Context(), `INSERT INTO pending_messages (conversation_id, branch, seq, k) VALUES
		('c', 'a', 1, 1), ('c', 'b', 1, 2), ('c', 'b', 2, 3), ('c', 'b', 3, 4), ('c', 'a', 5, 5),
		('c', 'a', 2, 6), ('c', 'a', 3, 7), ('c', 'a', 4, 8)`); err != nil {
		t.Fatal(err)
	}
	if err := d.Order.NumberCommits(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := d.Writer.(*writer).db.QueryContext(t.Context(),
		`SELECT branch, first_seq, last_seq, first_n, last_n FROM message_runs`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	messages := map[string]int64{}
	numbers := map[int64]string{}
	for rows.Next() {
		var branch string
		var seq, lastSeq, n, lastN int64
		if err := rows.Scan(&branch, &seq, &lastSeq, &n, &lastN); err != nil {
			t.Fatal(err)
		}
		for ; seq <= lastSeq; seq, n = seq+1, n+1 {
			m := fmt.Sprint(branch, seq)
			if messages[m] != 0 || numbers[n] != "" || n > lastN {
				t.Errorf("%s is number %d, which is %q; it was %d", m, n, numbers[n], messages[m])
			}
			messages[m] = n
			numbers[n] = m
		}
	}
	if err := rows.Err(); err != nil || len(messages) != 8 || len(numbers) != 8 {
		t.Errorf("messages have the numbers %v, %v", messages, err)
	}
}

// A server whose transactions see what was there when they began, because its pooler or role says so,
// numbers behind the one that it waited for, also where that one has numbered changes and no messages.
func TestNumbersBehindOneWhoWasWaitedFor(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	for _, level := range []string{"read committed", "repeatable read"} {
		d, err := openDatabase(t.Context(), dsn+"&default_transaction_isolation="+url.PathEscape(level), nil)
		if err != nil {
			t.Fatal(err)
		}
		d.Order.(*commitOrder).Close() // it numbers by itself no more
		testNumbersBehind(t, level, d, dsn)
		d.Readers.Close()
		d.Writer.Close()
	}
}

func testNumbersBehind(t *testing.T, level string, d sqlstore.Database, dsn string) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, dsn)
	mustSucceed(t, err)
	defer conn.Close(context.WithoutCancel(ctx))
	var set string
	mustSucceed(t, d.Writer.(*writer).db.QueryRowContext(ctx, `SHOW transaction_isolation`).Scan(&set))
	if set != level {
		t.Fatalf("a transaction is %q, want %q", set, level)
	}
	const pending = `INSERT INTO pending_changes (conversation_id, k, project, moved_from, kinds, turn_id, state, first_seq, last_seq, ref)
		VALUES ('c', 1, '', '', 1, '', '', 0, 0, '')`
	// Another server is in the middle of numbering a change.
	other, err := conn.Begin(ctx)
	mustSucceed(t, err)
	defer func() { _ = other.Rollback(context.WithoutCancel(ctx)) }()
	for _, statement := range []string{holdNumbers, pending} {
		_, err = other.Exec(ctx, statement)
		mustSucceed(t, err)
	}
	_, err = other.Exec(ctx, numberChanges, numberMost, "nobody")
	mustSucceed(t, err)
	// What this one has to number is there before it begins.
	_, err = d.Writer.(*writer).db.ExecContext(ctx, strings.Replace(pending, "'c', 1", "'d', 2", 1))
	mustSucceed(t, err)
	settled := make(chan error, 1)
	go func() {
		_, err := d.Order.(*commitOrder).numberSome(ctx)
		settled <- err
	}()
	var waiting int
	for tries := 0; waiting == 0; tries++ {
		if tries > 20_000 {
			t.Fatal("it does not wait for the other one")
		}
		mustSucceed(t, other.QueryRow(ctx, `SELECT count(*) FROM pg_locks WHERE NOT granted
			AND pg_backend_pid() = ANY(pg_blocking_pids(pid))`).Scan(&waiting))
	}
	mustSucceed(t, other.Commit(ctx))
	// It may have to begin again, which is done as often as it takes; a number that is taken would be
	// a failure.
	var failed *pgconn.PgError
	if err := <-settled; err != nil && (!errors.As(err, &failed) || failed.Code != codeSerialization) {
		t.Errorf("%s: %v", level, err)
	}
	mustSucceed(t, d.Order.NumberCommits(ctx))
	var changes, distinct, last, left int
	mustSucceed(t, conn.QueryRow(ctx, `SELECT count(*), count(DISTINCT n), (SELECT last FROM numbers WHERE name = 'change'),
		(SELECT count(*) FROM pending_changes) FROM changes`).Scan(&changes, &distinct, &last, &left))
	if changes != distinct || last != changes || left != 0 || changes%2 != 0 {
		t.Errorf("%s: %d changes have %d numbers up to %d, %d are left", level, changes, distinct, last, left)
	}
}
