package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// testServer is a driver with what is behind it.
type testServer struct {
	*driver.Driver
	writer *writer
}

func joinServer(t *testing.T, dsn string) *testServer {
	t.Helper()
	d, err := openDatabase(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{sqlstore.New(d), d.Writer.(*writer)}
	t.Cleanup(func() { s.Close() })
	return s
}

// createConversation makes a conversation.
func createConversation(ctx context.Context, d *driver.Driver, id scrollback.ConversationID) error {
	b := scrollback.Branch{ID: scrollback.BranchID("branch of " + id), Conversation: id}
	_, _, err := d.Log.CreateConversation(ctx, scrollback.Conversation{ID: id, Project: "p", Version: 1, Branch: b.ID}, b)
	return err
}

// appendMessage appends a message to a conversation that has ended with head so far.
func appendMessage(ctx context.Context, d *driver.Driver, id scrollback.ConversationID, head int64, name string) error {
	m := scrollback.Message{ID: scrollback.MessageID(name), Role: scrollback.RoleUser, Status: scrollback.StatusComplete,
		Parts: scrollback.Parts{scrollback.Text{Text: name}}}
	_, err := d.Log.AppendEntries(ctx, driver.Append{Conversation: id, IfHead: head, Now: 1,
		Entries: []driver.Entry{{Message: m}}})
	return err
}

// Three servers of one database do the parts of a list of operations, and the results are those
// of one store in memory: what one keeps in memory cannot mislead another.
func TestWalkOverServers(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	a := joinServer(t, dsn)
	b := joinServer(t, dsn)
	c := joinServer(t, dsn)
	drivertest.RunWalk(t, 7, 300, oracle.New(),
		&driver.Driver{Log: a.Log, Turns: b.Turns, Views: c.Views, Index: a.Index, Access: c.Access, Admin: b.Admin,
			Threads: b.Threads, Ready: a.Ready, Clock: a.Clock, Close: func() error { return nil }})
}

// A transaction that commits later than others has later numbers than they, whatever it began
// with: nobody who follows the numbers misses it.
func TestLateCommit(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	slow := joinServer(t, dsn)
	quick := joinServer(t, dsn)
	ctx := t.Context()
	for _, id := range []scrollback.ConversationID{"early", "late"} {
		if err := createConversation(ctx, slow.Driver, id); err != nil {
			t.Fatal(err)
		}
	}
	written := make(chan struct{})
	commit := make(chan struct{})
	slow.writer.checkWrite = func(context.Context, sqlstore.Tx) error {
		close(written)
		<-commit
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- appendMessage(ctx, slow.Driver, "late", 0, "first written") }()
	<-written
	if err := appendMessage(ctx, quick.Driver, "early", 0, "first committed"); err != nil {
		t.Fatal(err)
	}
	seen := readChanges(t, quick.Driver, 0)
	if n := len(seen); n != 3 || seen[2].Conversation != "early" {
		t.Fatalf("before the commit %+v", seen)
	}
	last := seen[2].N
	behind, err := quick.Index.ReadUnindexed(ctx, driver.UnindexedQuery{Limit: 9})
	if err != nil || len(behind) != 1 || behind[0].ID != "first committed" {
		t.Fatalf("before the commit %+v, %v", behind, err)
	}
	close(commit)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	slow.writer.checkWrite = nil
	if more := readChanges(t, quick.Driver, last); len(more) != 1 || more[0].Conversation != "late" {
		t.Errorf("after the commit %+v", more)
	}
	behind, err = quick.Index.ReadUnindexed(ctx, driver.UnindexedQuery{After: behind[0].Number, Limit: 9})
	if err != nil || len(behind) != 1 || behind[0].ID != "first written" {
		t.Errorf("after the commit %+v, %v", behind, err)
	}
}

// readChanges reads the changes after one.
func readChanges(t *testing.T, d *driver.Driver, after int64) []driver.Change {
	t.Helper()
	out, err := d.Log.ListChanges(t.Context(), after, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Many write to many conversations through several servers: seqs have no gaps, and those who
// follow get each change once, in order, on every server.
func TestManyServersWrite(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	servers := []*testServer{joinServer(t, dsn), joinServer(t, dsn), joinServer(t, dsn)}
	ctx := t.Context()
	const conversations, each = 6, 20
	var all sync.WaitGroup
	for c := range conversations {
		id := scrollback.ConversationID(fmt.Sprint("c", c))
		if err := createConversation(ctx, servers[0].Driver, id); err != nil {
			t.Fatal(err)
		}
		for s := range servers {
			all.Go(func() {
				for n := range each {
					if err := appendMessage(ctx, servers[s].Driver, id, -1, fmt.Sprint(c, " ", s, " ", n)); err != nil {
						t.Errorf("%s: %v", id, err)
						return
					}
				}
			})
		}
	}
	watched := make([][]driver.Change, len(servers))
	stop := make(chan struct{})
	var watch sync.WaitGroup
	for s := range servers {
		watch.Go(func() {
			last := int64(0)
			ended := false
			for {
				got, err := servers[s].Log.ListChanges(ctx, last, 7)
				if err != nil {
					t.Errorf("server %d: %v", s, err)
					return
				}
				if watched[s] = append(watched[s], got...); len(got) > 0 {
					last = got[len(got)-1].N
					continue
				}
				if ended {
					return
				}
				select {
				case <-stop:
					ended = true
				case <-servers[s].Log.Committed():
				}
			}
		})
	}
	all.Wait()
	close(stop)
	watch.Wait()
	want := conversations * (1 + each*len(servers))
	for s, got := range watched {
		if len(got) != want || got[len(got)-1].N != int64(want) {
			t.Errorf("server %d was told %d changes up to %d, want %d", s, len(got), got[len(got)-1].N, want)
		}
	}
	drivertest.CheckInvariants(t, servers[1].Driver)
	st, err := servers[2].Index.ReadState(ctx)
	if err != nil || st.Newest != conversations*each*int64(len(servers)) {
		t.Errorf("the newest message is %d, %v", st.Newest, err)
	}
}
