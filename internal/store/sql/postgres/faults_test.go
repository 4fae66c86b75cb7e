package postgres

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// cuttingProxy is between a driver and the server, and cuts one connection.
type cuttingProxy struct {
	to      string
	left    atomic.Int64 // calls to the server until the cut; negative: none is cut
	after   bool         // cut when the server has done it, not before
	commits bool         // only commits count
	cut     atomic.Bool
}

// listenFor returns the DSN of the same database over a wire that nobody uses yet.
func (w *cuttingProxy) listenFor(t *testing.T, dsn string) string {
	t.Helper()
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	network, to := pgconn.NetworkAddress(c.Host, c.Port)
	w.to = network + " " + to
	w.left.Store(-1)
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, to)
			if err != nil {
				client.Close()
				continue
			}
			go w.forwardBoth(client, server)
		}
	}()
	q := url.Values{"host": {dir}, "port": {"5432"}, "user": {c.User}, "search_path": {c.RuntimeParams["search_path"]}}
	return "postgres:///" + c.Database + "?" + q.Encode()
}

// forwardBoth hands on what both sides say, message by message.
func (w *cuttingProxy) forwardBoth(client, server net.Conn) {
	defer client.Close()
	defer server.Close()
	done := make(chan struct{}, 1) // the server has done a call, and the next is not sent yet
	var waits atomic.Bool
	go func() {
		defer client.Close()
		from := bufio.NewReader(server)
		for {
			kind, m, err := readMessage(from, false)
			if err != nil {
				return
			}
			if waits.Load() {
				if kind == 'Z' {
					done <- struct{}{}
					return
				}
				continue // nobody hears it
			}
			if _, err := client.Write(m); err != nil {
				return
			}
		}
	}()
	from := bufio.NewReader(client)
	calls := callCounter{commits: w.commits, named: map[string]bool{}}
	var call []byte // that is not whole: the server does what it reads, also without the end of the call
	for first := true; ; first = false {
		kind, m, err := readMessage(from, first)
		if err != nil {
			return
		}
		call = append(call, m...)
		if calls.endsCall(kind, m) && w.left.Add(-1) == -1 {
			w.cut.Store(true)
			if !w.after {
				return
			}
			waits.Store(true)
			if _, err := server.Write(call); err == nil {
				<-done
			}
			return
		}
		if kind == 'P' || kind == 'B' || kind == 'D' || kind == 'E' || kind == 'C' {
			continue
		}
		if _, err := server.Write(call); err != nil {
			return
		}
		call = nil
	}
}

// callCounter tells the calls to the server that may be cut: all, or only commits.
type callCounter struct {
	commits bool
	named   map[string]bool // prepared statements that commit
	commit  bool            // the call that is under way does
}

// endsCall reports whether a message of a client ends such a call.
func (c *callCounter) endsCall(kind byte, m []byte) bool {
	texts := bytes.SplitN(m[min(len(m), 5):], []byte{0}, 3)
	switch {
	case kind == 'P' && len(texts) > 1 && string(texts[1]) == commitStatement: // a name and a query
		c.named[string(texts[0])] = true
	case kind == 'B' && len(texts) > 1 && c.named[string(texts[1])]: // of a portal and of a statement
		c.commit = true
	case kind == 'S' || kind == 'Q':
		was := c.commit
		c.commit = false
		return was || !c.commits
	}
	return false
}

// readMessage reads one; the first of a client has no kind.
func readMessage(r *bufio.Reader, first bool) (kind byte, m []byte, err error) {
	head := 5
	if first {
		head = 4
	}
	m = make([]byte, head)
	if _, err = io.ReadFull(r, m); err != nil {
		return 0, nil, err
	}
	if !first {
		kind = m[0]
	}
	m = append(m, make([]byte, int(binary.BigEndian.Uint32(m[head-4:]))-4)...)
	_, err = io.ReadFull(r, m[head:])
	return kind, m, err
}

// onceStep is something that is done once, however often it is tried.
type onceStep struct {
	name    string
	run     func(context.Context, *driver.Driver) error
	wasDone func(context.Context, *driver.Driver) bool // it is done
}

// conversationSteps returns a conversation with all that is written of a turn.
func conversationSteps() []onceStep {
	const id, turn = scrollback.ConversationID("c"), scrollback.TurnID("t")
	head := func(n int64) func(context.Context, *driver.Driver) bool {
		return func(ctx context.Context, d *driver.Driver) bool {
			h, err := d.Log.ReadHead(ctx, id)
			return err == nil && h.Messages == n
		}
	}
	state := func(want scrollback.TurnState) func(context.Context, *driver.Driver) bool {
		return func(ctx context.Context, d *driver.Driver) bool {
			t, err := d.Turns.Get(ctx, turn)
			return err == nil && t.State == want
		}
	}
	reply := scrollback.Message{ID: "reply", TurnID: turn, Role: scrollback.RoleAssistant,
		Status: scrollback.StatusComplete,
		Parts:  scrollback.Parts{scrollback.Text{Text: "reply"}}}
	return []onceStep{
		{"create", func(ctx context.Context, d *driver.Driver) error { return createConversation(ctx, d, id) }, head(0)},
		{"first", func(ctx context.Context,
			d *driver.Driver) error {
			return appendMessage(ctx, d, id, 0, "first")
		}, head(1)},
		{"begin", func(ctx context.Context, d *driver.Driver) error {
			m := scrollback.Message{ID: "question", TurnID: turn, Role: scrollback.RoleUser, Status: scrollback.StatusComplete,
				Parts: scrollback.Parts{scrollback.Text{Text: "question"}}}
			_, err := d.Turns.Begin(ctx, driver.BeginRequest{Now: 2, Entries: []driver.Entry{{Message: m}},
				Turn: scrollback.Turn{ID: turn, Conversation: id, Owner: "o", LeaseUntil: 1 << 60, StartedAt: 2}})
			return err
		}, state(scrollback.TurnOpen)},
		{"finish", func(ctx context.Context, d *driver.Driver) error {
			_, err := d.Turns.FinishStep(ctx, driver.FinishedStep{Turn: turn, Owner: "o", Now: 3, State: scrollback.TurnComplete,
				Entries: []driver.Entry{{Message: reply}},
				Learn:   func(was float64, _ scrollback.UsageRecord) float64 { return was + 1 },
				Usage: []scrollback.UsageRecord{{Conversation: id, TurnID: turn, Model: "m", At: 3, WindowTokens: 1,
					Usage: scrollback.Usage{InputTokens: 5, TotalTokens: 5}}}})
			return err
		}, state(scrollback.TurnComplete)},
		{"last", func(ctx context.Context, d *driver.Driver) error { return appendMessage(ctx, d, id, 3, "last") }, head(4)},
	}
}

// The connection is cut at each call to the server in turn, before the server has done it and
// after. What a transaction had done is undone and done again without a word; only a commit
// that nobody knows of is unavailable; and in the end everything is there once.
func TestEveryCallCut(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for _, c := range []struct {
		after, commits bool
		least, step    int
	}{{false, false, 30, testlength.Choose(17, 17, 3)}, {true, false, 30, testlength.Choose(17, 17, 3)},
		{false, true, 5, testlength.Choose(3, 2, 1)}, {true, true, 5, testlength.Choose(3, 2, 1)}} {
		t.Run(fmt.Sprintf("After%vCommits%v", c.after, c.commits), func(t *testing.T) {
			dsn := postgrestest.NewDatabase(t)
			for n := 0; ; n += c.step {
				w := &cuttingProxy{after: c.after, commits: c.commits}
				at := w.listenFor(t, createSchema(t, dsn, fmt.Sprint("cut", n)))
				unknown := runWithCut(t, w, at, n)
				if !w.cut.Load() {
					if n < c.least {
						t.Errorf("%d calls were cut: is this the whole story?", n)
					}
					return
				}
				if c.commits && unknown != 1 {
					t.Errorf("commit %d was cut, and %d steps were unknown", n, unknown)
				}
			}
		})
	}
}

// runWithCut tells the story with the n-th call cut, and reports how many steps were left unknown.
func runWithCut(t *testing.T, w *cuttingProxy, dsn string, n int) (unknown int) {
	t.Helper()
	d := joinServer(t, dsn)
	defer d.Close()
	ctx := t.Context()
	w.left.Store(int64(n))
	for _, s := range conversationSteps() {
		err := s.run(ctx, d.Driver)
		if err == nil {
			continue
		}
		if scrollback.CodeOf(err) != scrollback.Unavailable {
			t.Fatalf("call %d: %s: %v (%s)", n, s.name, err, scrollback.CodeOf(err))
		}
		if unknown++; !s.wasDone(ctx, d.Driver) {
			if err := s.run(ctx, d.Driver); err != nil {
				t.Fatalf("call %d: %s again: %v", n, s.name, err)
			}
		}
	}
	w.left.Store(-1)
	if unknown > 1 {
		t.Fatalf("call %d: %d steps were left unknown", n, unknown)
	}
	ms, err := d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: "branch of c", From: 1, To: 99})
	if err != nil || len(ms) != 4 || ms[0].ID != "first" || ms[1].ID != "question" || ms[2].ID != "reply" ||
		ms[3].ID != "last" {
		t.Fatalf("call %d: %d messages, %v", n, len(ms), err)
	}
	days, err := d.Access.ListUsageDays(ctx, 0, 9)
	if err != nil || len(days) != 1 || days[0].Calls != 1 || days[0].TotalTokens != 5 {
		t.Fatalf("call %d: the books say %+v, %v", n, days, err)
	}
	told, err := d.Log.ListChanges(ctx, 0, 99)
	if err != nil || len(told) != 5 || told[4].N != 5 {
		t.Fatalf("call %d: %d changes, %v", n, len(told), err)
	}
	drivertest.CheckInvariants(t, d.Driver)
	return unknown
}

// createSchema makes one in a database, and returns the DSN that is for it.
func createSchema(t *testing.T, dsn, name string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// A server is killed under load and started again: drivers come back by themselves, and what
// they acknowledged is there.
func TestServerKilled(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	cluster := postgrestest.Start(t, postgrestest.Options{Fsync: true})
	dsn := cluster.CreateDatabase(t)
	servers := []*testServer{joinServer(t, dsn), joinServer(t, dsn)}
	ctx := t.Context()
	const workers = 6
	said := make([]int, workers)
	stop := make(chan struct{})
	ended := make(chan struct{}, workers)
	spoke := make(chan struct{}, 1000)
	for i := range workers {
		id := scrollback.ConversationID(fmt.Sprint("c", i))
		if err := createConversation(ctx, servers[0].Driver, id); err != nil {
			t.Fatal(err)
		}
		go func() {
			defer func() { ended <- struct{}{} }()
			for n, try := 0, 0; ; try++ {
				select {
				case <-stop:
					return
				default:
				}
				err := appendMessage(ctx, servers[(i+try)%2].Driver, id, int64(n), fmt.Sprint(i, " ", n))
				switch scrollback.CodeOf(err) {
				case scrollback.Conflict: // it was there: a commit that was not heard of
					n++
				case scrollback.Unavailable:
					<-time.After(10 * time.Millisecond)
				default:
					if err != nil {
						t.Errorf("%s: %v", id, err)
						return
					}
					n++
					signalOnce(spoke)
				}
				said[i] = n
			}
		}()
	}
	for range 3 {
		for range 10 * workers {
			<-spoke
		}
		cluster.Kill()
		if err := cluster.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 * workers {
		<-spoke
	}
	close(stop)
	for range workers {
		<-ended
	}
	for i, n := range said {
		q := driver.MessageQuery{Branch: scrollback.BranchID(fmt.Sprint("branch of c", i)), From: 1, To: 1 << 40}
		ms, err := servers[0].Log.ReadMessages(ctx, q)
		if err != nil || len(ms) < n || len(ms) > n+1 || n == 0 {
			t.Errorf("c%d said %d, and has %d, %v", i, n, len(ms), err)
		}
		for k, m := range ms {
			if string(m.ID) != fmt.Sprint(i, " ", k) {
				t.Errorf("c%d has %s as message %d", i, m.ID, k)
			}
		}
	}
	drivertest.CheckInvariants(t, servers[1].Driver)
}
