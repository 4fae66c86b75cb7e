package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback/store/sqldriver/postgres/postgrestest"
)

// While there is no database, nobody waits for the attempts of all who asked before, and who has
// no more time waits for none.
func TestSettlingFailsForAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrder(nil, "", slog.New(slog.DiscardHandler))
		o.Close()
		down := errors.New("there is no database")
		o.again = func(ctx context.Context, _ func(context.Context) error) error {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a settlement may take for ever")
			}
			time.Sleep(patience)
			return down
		}
		began := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := o.Settle(t.Context()); !errors.Is(err, down) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := o.Settle(hurried); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > patience/2 {
			t.Errorf("who had a second got %v after %v", err, time.Since(began))
		}
		all.Wait()
		if took := time.Since(began); took > 2*patience {
			t.Errorf("the last of them waited for %v", took)
		}
	})
}

// Each message gets one number, and each number one message, also when the server's clock was set
// back between messages of a branch.
func TestNumbersWhenTheClockWasSetBack(t *testing.T) {
	d, err := database(t.Context(), postgrestest.New(t), nil)
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
	if err := d.Order.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := d.Writer.(*writer).db.QueryContext(t.Context(), `SELECT branch, first_seq, last_seq, first_n, last_n FROM message_runs`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	messages, numbers := map[string]int64{}, map[int64]string{}
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
			messages[m], numbers[n] = n, m
		}
	}
	if err := rows.Err(); err != nil || len(messages) != 8 || len(numbers) != 8 {
		t.Errorf("messages have the numbers %v, %v", messages, err)
	}
}
