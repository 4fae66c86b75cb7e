package crash_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// database is what servers of a test stand on, and what a test does to it. A database that
// was stopped or killed comes back by Restart, one that was paused by Resume.
type database interface {
	Stop()
	Kill()
	Pause()
	Resume()
	Restart() error
}

// site is several servers on one database.
type site struct {
	t    *testing.T
	data string
	env  []string
	args []string // where the database is, and how to serve
	db   database // nil: nothing is done to it

	mu      sync.Mutex
	servers []*served
	next    atomic.Int64
}

// newSite starts n servers. dsn is where their database is; without one it is in the data
// folder that they share.
func newSite(t *testing.T, n int, env []string, dsn string, db database, args ...string) *site {
	s := &site{t: t, data: t.TempDir(), env: append(echo(t, 50*time.Millisecond), env...), db: db, args: args}
	if dsn != "" {
		s.args = append(s.args, "--store", dsn)
	}
	for range n {
		s.servers = append(s.servers, serve(t, s.data, s.env, s.args...))
	}
	return s
}

func (s *site) server(i int) *served {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.servers[i%len(s.servers)]
}

// url returns that of each server in turn, whether it lives or not.
func (s *site) url() string { return s.server(int(s.next.Add(1))).url }

// start starts a server in the place of one that has ended.
func (s *site) start(i int) {
	fresh := serve(s.t, s.data, s.env, s.args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers[i] = fresh
}

// talk has talkers send a number of prompts altogether, and returns when all have ended.
func (s *site) talk(talkers, turns int, url func() string) []*talker {
	var out []*talker
	var all sync.WaitGroup
	for n := range talkers {
		c := newTalker(s.t, n+1, url)
		out = append(out, c)
		all.Go(func() {
			c.begin()
			for k := range (turns + talkers - 1) / talkers {
				if c.id != "" && !s.t.Failed() {
					c.say(k)
				}
			}
		})
	}
	all.Wait()
	return out
}

// check looks at what is stored once everybody has ended.
func (s *site) check(talkers []*talker) (turns, whole, moves int) {
	s.t.Helper()
	for i, c := range talkers {
		at := s.server(i)
		until(s.t, 30*time.Second, func() bool { // one whose end could not be stored is open until its lease ends
			return get[scrollback.MessagePage](at, fmt.Sprintf("/api/conversations/%s/messages", c.id)).Running == nil
		})
		var stored []scrollback.Message
		for after := int64(0); ; {
			page := get[scrollback.MessagePage](at, fmt.Sprintf("/api/conversations/%s/messages", c.id), "limit", "200", "after",
				fmt.Sprint(after))
			stored = append(stored, page.Messages...)
			if len(page.Messages) == 0 || page.Next == nil {
				break
			}
			after = stored[len(stored)-1].Seq
		}
		whole += c.check(stored)
		for _, said := range c.said {
			turns += 1
			moves += said.moves
		}
	}
	output(s.t, s.data, append([]string{"doctor"}, s.where()...)...)
	return turns, whole, moves
}

// where returns the arguments that name the database.
func (s *site) where() []string {
	if i := slices.Index(s.args, "--store"); i >= 0 {
		return s.args[i : i+2]
	}
	return nil
}

// havoc does something bad every now and then until it is told to stop, and returns what it
// did, by name. All servers live when it returns.
func (s *site) havoc(rng *rand.Rand, stop <-chan struct{}) map[string]int {
	done := map[string]int{}
	for {
		select {
		case <-stop:
			return done
		case <-time.After(time.Duration(200+rng.IntN(1000)) * time.Millisecond):
		}
		acts := []string{"kill", "kill", "pause", "restart"}
		if s.db != nil {
			acts = append(acts, "database killed", "database paused", "database restarted")
		}
		i := rng.IntN(len(s.servers))
		act := acts[rng.IntN(len(acts))]
		if len(done) == 0 {
			act = "kill" // of the few acts of a short test one breaks streams off
		}
		done[act]++
		a := s.server(i)
		switch act {
		case "kill":
			a.kill()
			s.start(i)
		case "restart":
			a.end(syscall.SIGTERM)
			s.start(i)
		case "pause": // now and then for longer than a lease
			long := time.Duration(200+rng.IntN(2000)) * time.Millisecond
			if rng.IntN(4) == 0 {
				long = lease() + 2*time.Second
			}
			a.signal(syscall.SIGSTOP)
			<-time.After(long)
			a.signal(syscall.SIGCONT)
		case "database killed":
			s.db.Kill()
			<-time.After(time.Duration(rng.IntN(1000)) * time.Millisecond)
			s.back(s.db.Restart())
		case "database restarted":
			s.db.Stop()
			s.back(s.db.Restart())
		case "database paused":
			s.db.Pause()
			<-time.After(time.Duration(200+rng.IntN(3000)) * time.Millisecond)
			s.db.Resume()
		}
	}
}

// back wants the database back.
func (s *site) back(err error) {
	if err != nil {
		s.t.Errorf("the database did not come back: %v", err)
	}
}

func (s *served) signal(what os.Signal) {
	if err := s.cmd.Process.Signal(what); err != nil {
		s.t.Errorf("signal %v: %v", what, err)
	}
}

// ready asks a server whether it is.
func (s *served) ready() bool {
	resp, err := http.Get(s.url + "/readyz")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// end tells a server to end, and waits until it has.
func (s *served) end(by os.Signal) {
	s.signal(by)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the server ended with %v", err)
	}
}

// chaos talks to three servers while servers, and the database if it can be, are killed,
// paused and restarted at random: each acknowledged message is there once and in order, each
// answer that was read is the one that is stored, no turn stays open, and the doctor finds
// nothing.
func chaos(t *testing.T, prompts int, dsn string, db database) {
	seed := uint64(time.Now().UnixNano())
	s := newSite(t, 3, leased(), dsn, db)
	stop := make(chan struct{})
	talked := make(chan []*talker, 1)
	go func() {
		defer close(stop)
		talked <- s.talk(testlength.Choose(6, 6, 24), prompts, s.url)
	}()
	did := s.havoc(rand.New(rand.NewPCG(seed, 1)), stop)
	talkers := <-talked
	turns, whole, moves := s.check(talkers)
	t.Logf("seed %d: %d turns, %d whole, over %d connections; %v", seed, turns, whole, moves, did)
	if whole == 0 || whole == turns && moves == turns || len(did) == 0 {
		t.Errorf("nothing happened: %d of %d turns are whole, over %d connections, %v", whole, turns, moves, did)
	}
}

// Three servers on one file.
func TestChaos(t *testing.T) {
	t.Parallel()
	chaos(t, testlength.Choose(15, 60, 60), "", nil)
}

// Three servers on one PostgreSQL, which is killed, paused and restarted as well. How much is said
// may be set by SCROLLBACK_TEST_CHAOS.
func TestChaosOnPostgres(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	cluster := postgrestest.Start(t, postgrestest.Options{Fsync: true})
	prompts := testlength.Choose(20, 30, 100)
	if s := os.Getenv("SCROLLBACK_TEST_CHAOS"); s != "" {
		var err error
		if prompts, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	chaos(t, prompts, cluster.CreateDatabase(t), cluster)
}

// Two servers behind a proxy that shares out requests are restarted one after the other while
// people talk: each turn is answered in full, once.
func TestRollingRestart(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	rolling(t, "")
}

// The same on PostgreSQL.
func TestRollingRestartOnPostgres(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	rolling(t, postgrestest.NewDatabase(t))
}

func rolling(t *testing.T, dsn string) {
	s := newSite(t, 2, nil, dsn, nil, "--grace", "3s")
	p := newProxy(t, s)
	stop := make(chan struct{})
	talked := make(chan []*talker, 1)
	go func() {
		defer close(stop)
		talked <- s.talk(4, 60, p)
	}()
	n := 0
	for talking := true; talking; n++ {
		s.server(n).end(syscall.SIGTERM)
		s.start(n % 2)
		ready := func() bool { return s.server(n).ready() }
		until(t, 30*time.Second, ready) // only then it is the other's turn
		select {
		case <-stop:
			talking = false
		case <-time.After(200 * time.Millisecond):
		}
	}
	talkers := <-talked
	turns, whole, moves := s.check(talkers)
	t.Logf("%d turns over %d connections, %d restarts", turns, moves, n)
	if turns != whole || n < 2 {
		t.Errorf("%d of %d turns are whole after %d restarts", whole, turns, n)
	}
}
