package move_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// step writes what may come while a store is copied: it begins a conversation or goes on in one,
// and now and then purges one, mentions an artifact, adds to usage.
func step(ctx context.Context, d *driver.Driver, n int) error {
	// A purge is final: now and then others take the place of those that are gone, or a slow copy
	// would see the last of them purged, and nothing written any more.
	id := scrollback.ConversationID(fmt.Sprintf("online-%03d", n/200*40+n%40))
	b := scrollback.BranchID(id)
	c := scrollback.Conversation{ID: id, Project: "online", Version: 1, Branch: b, CreatedAt: 1, UpdatedAt: 1}
	if _, _, err := d.Log.CreateConversation(ctx, c, scrollback.Branch{ID: b, Conversation: id}); err != nil {
		if scrollback.CodeOf(err) == scrollback.Conflict {
			return nil // purged, and others inherit it
		}
		return err
	}
	turn := scrollback.Turn{ID: scrollback.TurnID(fmt.Sprint("turn ", n)), Conversation: id, State: scrollback.TurnOpen,
		Owner:      "o",
		LeaseUntil: 1 << 50, StartedAt: 20}
	entry := func(kind string) driver.Entry {
		return driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(kind, n)),
			Role:   scrollback.RoleUser,
			Status: scrollback.StatusComplete, Parts: scrollback.Parts{scrollback.Text{Text: fmt.Sprint(kind, n)}},
			CreatedAt: 20,
			Weight:    scrollback.Weight{Tokens: 1, Bytes: 3}}}
	}
	if _, err := d.Turns.Begin(ctx, driver.BeginRequest{Turn: turn, Now: 20,
		Entries: []driver.Entry{entry("asked ")}}); err != nil {
		return err
	}
	used := scrollback.UsageRecord{Conversation: id, Model: "m", At: 21,
		Usage: scrollback.Usage{InputTokens: 3, Cost: 0.1, Currency: "USD"}}
	_, err := d.Turns.FinishStep(ctx,
		driver.FinishedStep{Turn: turn.ID, Owner: "o", Entries: []driver.Entry{entry("said ")},
			Now:   21,
			State: scrollback.TurnComplete, Usage: []scrollback.UsageRecord{used}})
	if err == nil && n%5 == 0 {
		err = d.Log.PutArtifact(ctx, scrollback.Artifact{ID: scrollback.ArtifactID(fmt.Sprintf("%064d", n%7)), Size: 1,
			CreatedAt: 3}, id)
	}
	if err == nil && n%17 == 0 {
		_, err = d.Log.PurgeConversation(ctx, driver.Purge{Conversation: id, Now: 30, Limit: 1000})
	}
	return err
}

// What is written while a store is copied is copied too, up to the moment when it is closed; what
// was acknowledged then is on the target, and nothing else.
func TestOnline(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for _, way := range testPairs[:testlength.Choose(1, 2, 2)] {
		t.Run(way.name, func(t *testing.T) {
			from := way.from(t)
			to := way.to(t)
			source := from.store(t)
			fillStore(t, source, 11)
			for i := range testlength.Choose(20, 8, 60) {
				addConversation(t, source, scrollback.ConversationID(fmt.Sprintf("fffffff0-%02d", i)), 3)
			}
			ctx, stop := context.WithCancel(t.Context())
			var writing sync.WaitGroup
			defer writing.Wait()
			defer stop()
			begun := make(chan struct{})
			ended := make(chan error, 1)
			pace := time.NewTicker(10 * time.Millisecond) // or a slow machine would have ever more to copy
			defer pace.Stop()
			writing.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-pace.C:
					case <-ctx.Done(): // the test has failed
						ended <- ctx.Err()
						return
					}
					if n == 20 {
						close(begun)
					}
					err := step(ctx, source, n)
					if err != nil && strings.Contains(err.Error(), "database is locked") {
						continue // on a slow machine; a person says it again
					}
					if err != nil {
						ended <- err
						return
					}
				}
			})
			<-begun
			r := moveAll(t, from, to, move.Options{})
			if r.Finished {
				t.Errorf("finished without being asked: %+v", r)
			}
			select {
			case err := <-ended:
				t.Fatalf("writing ended with %v, while the store was copied", err)
			default:
			}
			r = moveAll(t, from, to, move.Options{Finish: true})
			if err := <-ended; scrollback.CodeOf(err) != scrollback.Unavailable ||
				!strings.Contains(err.Error(), "is being moved to") {
				t.Errorf("writing ended with %v", err)
			}
			if !r.Finished {
				t.Errorf("reported %+v", r)
			}
			wantEqual(t, source, to.store(t))
		})
	}
}

// A store in use may hold the lock for longer than a transaction waits for it: it is tried again.
func TestLockedIsTriedAgain(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	source := onSQLite(t)
	target := onSQLite(t)
	d := source.store(t)
	fillStore(t, d, 19)
	a := source.side(t)
	b := target.side(t)
	var calls atomic.Int64
	locked := func() error {
		if calls.Add(1)%8 == 0 {
			return scrollback.Errorf(scrollback.Unavailable, "test", "database is locked")
		}
		return nil
	}
	a.Writer = cuttingWriter{a.Writer, locked}
	b.Writer = cuttingWriter{b.Writer, locked}
	r, err := move.Move(t.Context(), a, b, move.Options{Finish: true})
	mustSucceed(t, errors.Join(err, a.Close(), b.Close()))
	if !r.Finished {
		t.Errorf("reported %+v", r)
	}
	wantEqual(t, d, target.store(t))
}

// A copy that is cut short anywhere goes on where it was, also while the source is closed.
func TestCutShort(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for _, way := range testPairs[:testlength.Choose(1, 2, 2)] {
		t.Run(way.name, func(t *testing.T) {
			from := way.from(t)
			to := way.to(t)
			source := from.store(t)
			fillStore(t, source, 12)
			for i := range 30 {
				addConversation(t, source, scrollback.ConversationID(fmt.Sprintf("fffffff0-%02d", i)), 5)
			}
			for n := 0; n < 200; n += testlength.Choose(8, 8, 1) {
				ctx, cut := context.WithCancel(t.Context())
				a := from.side(t)
				b := to.side(t)
				var left atomic.Int64
				left.Store(int64(n))
				before := func() error {
					if left.Add(-1) < 0 {
						cut()
						return errCut
					}
					return nil
				}
				if b.Writer = (cuttingWriter{b.Writer, before}); n%3 == 1 {
					a.Writer = cuttingWriter{a.Writer, before}
				}
				r, err := move.Move(ctx, a, b, move.Options{Finish: true})
				cut()
				mustSucceed(t, errors.Join(a.Close(), b.Close()))
				// One that was cut in its last step is ended by the next, which says that it was.
				if err == nil && r.Finished || err != nil && strings.Contains(err.Error(), "was moved to") {
					wantEqual(t, source, to.store(t))
					return
				}
			}
			t.Fatal("it never came to an end")
		})
	}
}

// What is copied last is compared too.
func TestLastIsCompared(t *testing.T) {
	t.Parallel()
	source := onSQLite(t)
	target := onSQLite(t)
	d := source.store(t)
	fillStore(t, d, 17)
	b := target.side(t)
	insert := b.Insert
	late := false
	b.Insert = func(ctx context.Context, tx sqlstore.Tx, rows [][]any) error {
		if late {
			rows[0][7] = "[]" // its parts
		}
		return insert(ctx, tx, rows)
	}
	_, err := move.Move(t.Context(), source.side(t), b, move.Options{Finish: true, Told: func(p move.Progress) {
		if p.Stage == move.StageFinish && !late {
			late = true
			addConversation(t, d, "fffffff6", 1)
		}
	}})
	if !late || scrollback.CodeOf(err) != scrollback.Internal ||
		!strings.Contains(err.Error(), "conversation fffffff6 is not the same") {
		t.Errorf("got %v", err)
	}
	addConversation(t, d, "fffffff7", 1) // it is open again
}

// A conversation that goes on while it is compared is compared all the same: what comes to it does
// not hide what is wrong with what was there.
func TestBusyIsCompared(t *testing.T) {
	t.Parallel()
	source := onSQLite(t)
	target := onSQLite(t)
	d := source.store(t)
	fillStore(t, d, 18)
	addConversation(t, d, "fffffff8", 3)
	moveAll(t, source, target, move.Options{})
	b := target.side(t)
	for _, harm := range []string{`DROP TRIGGER messages_append_only`,
		`UPDATE messages SET parts = '[]' WHERE id = 'fffffff8 0'`} {
		mustSucceed(t, b.Writer.Write(t.Context(),
			func(ctx context.Context, tx sqlstore.Tx) error { return tx.Queue(ctx, harm) }))
	}
	calls := 0
	_, err := move.Move(t.Context(), source.side(t), b,
		move.Options{Finish: true, Beside: func(context.Context, *move.Side) error {
			if calls++; calls == 1 {
				appendMessage(t, d, "fffffff8", "one more", "one more")
			}
			return nil
		}})
	if scrollback.CodeOf(err) != scrollback.Internal ||
		!strings.Contains(err.Error(), "conversation fffffff8 is not the same") {
		t.Errorf("got %v", err)
	}
	addConversation(t, d, "fffffff9", 1) // nothing stays closed
}

// A source is not left closed by what fails after it was closed; the next run finishes.
func TestReopened(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for _, way := range testPairs[:testlength.Choose(1, 2, 2)] {
		t.Run(way.name, func(t *testing.T) {
			from := way.from(t)
			to := way.to(t)
			source := from.store(t)
			fillStore(t, source, 16)
			calls := 0
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			o := move.Options{Finish: true, Beside: func(context.Context, *move.Side) error {
				if calls++; calls < 2 {
					return nil
				}
				wantRefused(t, source)
				cut() // as by Ctrl-C
				return ctx.Err()
			}}
			if _, err := move.Move(ctx, from.side(t), to.side(t), o); err == nil {
				t.Fatal("it was not cut short")
			}
			addConversation(t, source, "fffffff5", 2)
			moveAll(t, from, to, move.Options{Finish: true})
			wantRefused(t, source)
			wantEqual(t, source, to.store(t))
		})
	}
}

// Nor is it left closed because somebody reads it for long, such as a dump that is being made: what
// reads holds the tables against changes of themselves.
func TestReopenedBesideReaders(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	d := mustOpen(t)(postgres.Open(t.Context(), dsn, nil))
	fillStore(t, d, 19)
	from := mustOpenSide(t)(postgres.OpenSide(t.Context(), dsn+"&lock_timeout=100", "postgres://…", nil))
	to := onSQLite(t)
	calls := 0
	failed := errors.New("no room for objects")
	_, err := move.Move(t.Context(), from, to.side(t),
		move.Options{Finish: true, Beside: func(context.Context, *move.Side) error {
			if calls++; calls < 2 {
				return nil
			}
			wantRefused(t, d)
			conn, err := pgx.Connect(t.Context(), dsn)
			mustSucceed(t, err)
			t.Cleanup(func() { conn.Close(context.Background()) })
			_, err = conn.Exec(t.Context(), `BEGIN; LOCK TABLE conversations, messages IN ACCESS SHARE MODE`)
			mustSucceed(t, err)
			return failed
		}})
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	addConversation(t, d, "fffffff5", 2)
	_, err = move.Move(t.Context(), from, to.side(t), move.Options{Finish: true})
	mustSucceed(t, err)
	wantRefused(t, d)
	wantEqual(t, d, to.store(t))
}

// Of two runs at once the one that was begun later goes on, and the other one ends: it neither
// writes over what was copied since nor opens what the later one has closed.
func TestTwoRuns(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for i, way := range testPairs[:testlength.Choose(1, 2, 2)] {
		for k, finish := range []bool{false, true} {
			if i != k && testlength.Choose(true, true, false) {
				continue
			}
			t.Run(fmt.Sprint(way.name, finish), func(t *testing.T) {
				from := way.from(t)
				to := way.to(t)
				source := from.store(t)
				fillStore(t, source, 21)
				_, err := move.Move(t.Context(), from.side(t), to.side(t), move.Options{Finish: true,
					Beside: func(context.Context, *move.Side) error {
						moveAll(t, from, to, move.Options{Finish: finish})
						if !finish {
							addConversation(t, source, "fffffff8", 1) // for the earlier one to bring
						}
						return nil
					}})
				if scrollback.CodeOf(err) != scrollback.Conflict || !strings.Contains(err.Error(), "another run") {
					t.Errorf("the earlier run ended with %v", err)
				}
				if !finish {
					addConversation(t, source, "fffffff9", 1) // it is open
					moveAll(t, from, to, move.Options{Finish: true})
				}
				wantRefused(t, source)
				wantEqual(t, source, to.store(t))
			})
		}
	}
}

// Targets that hold something else are refused before anything is written, and so is a source
// that was moved elsewhere.
func TestRefused(t *testing.T) {
	t.Parallel()
	source := onSQLite(t)
	used := onSQLite(t)
	target := onSQLite(t)
	other := onSQLite(t)
	d := source.store(t)
	fillStore(t, d, 13)
	addConversation(t, used.store(t), "used", 1)
	wants := func(from, to testPlace, code scrollback.Code, words string) {
		t.Helper()
		_, err := move.Move(t.Context(), from.side(t), to.side(t), move.Options{Finish: true})
		if scrollback.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %s about %q", err, code, words)
		}
	}
	wants(source, used, scrollback.Refused, "is not empty")
	wants(source, source, scrollback.Refused, "is not empty")
	addConversation(t, d, "fffffff1", 1) // it is in use as before
	moveAll(t, source, target, move.Options{})
	wants(used, target, scrollback.Refused, "a part of another store")
	wants(target, other, scrollback.Refused, "is itself the target")
	moveAll(t, source, target, move.Options{Finish: true})
	wants(source, target, scrollback.Refused, "was moved to")
	wants(source, used, scrollback.Refused, "is not empty")
	wants(source, other, scrollback.Refused, "was moved to")
	// After it was given up the source is what it was.
	a := source.side(t)
	mustSucceed(t, move.Cancel(t.Context(), a))
	mustSucceed(t, a.Close())
	addConversation(t, d, "fffffff2", 1)
	moveAll(t, source, other, move.Options{Finish: true})
	wantEqual(t, d, other.store(t))
}

// A row that changed on its way is found, wherever it is, and its conversation is named.
func TestDiffers(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]string{
		"message": `INSERT INTO messages SELECT n + 100000, 'm', conversation_id, branch, seq + 1, turn_id, role, name, parts, model, usage,
			tokens, own_tokens, own_bytes, own_images, sum_tokens, sum_bytes, sum_images, status, created_at, meta, hash
			FROM messages WHERE id = 'fffffff3 2'`,
		"missing":  `DELETE FROM messages WHERE id = 'fffffff3 1'`,
		"head":     `UPDATE branches SET head_seq = 2 WHERE id = 'fffffff3'`,
		"title":    `UPDATE conversations SET title = 'x' WHERE id = 'fffffff3'`,
		"table":    `UPDATE projects SET title = 'x'`,
		"stranger": `INSERT INTO conversations ({columns}) SELECT {columns} FROM conversations WHERE id = 'fffffff3'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := onSQLite(t)
			target := onSQLite(t)
			d := source.store(t)
			fillStore(t, d, 14)
			addConversation(t, d, "fffffff3", 3)
			moveAll(t, source, target, move.Options{})
			b := target.side(t)
			mustSucceed(t, b.Writer.Write(t.Context(), func(ctx context.Context, tx sqlstore.Tx) error {
				into, from, err := listColumns(ctx, tx)
				if err != nil {
					return err
				}
				return tx.Queue(ctx, strings.Replace(strings.Replace(harm, "{columns}", into, 1), "{columns}", from, 1))
			}))
			_, err := move.Move(t.Context(), source.side(t), b, move.Options{Finish: true})
			about := map[string]string{"table": "table projects", "stranger": "conversation stranger"}[name]
			if about == "" {
				about = "conversation fffffff3"
			}
			if scrollback.CodeOf(err) != scrollback.Internal ||
				!strings.Contains(err.Error(), about+" is not the same on both sides") {
				t.Errorf("got %v", err)
			}
			addConversation(t, d, "fffffff4", 1) // nothing was closed
			drivertest.CheckInvariants(t, d)
		})
	}
}

// listColumns returns the columns of conversations, and what copies a row under the id stranger selects for them.
func listColumns(ctx context.Context, r sqlstore.Reader) (into, from string, err error) {
	var names []string
	err = r.Query(ctx, func(r sqlstore.Row) error {
		var name string
		if err := r.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
		return nil
	}, `SELECT name FROM pragma_table_info('conversations') ORDER BY cid`)
	into = strings.Join(names, ", ")
	from = strings.Replace(", "+into+",", ", id,", ", 'stranger',", 1)
	return into, strings.Trim(from, ", "), err
}
