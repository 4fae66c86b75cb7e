package socket

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/hook"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
)

// patience is how long a test waits for what comes at once.
const patience = 20 * time.Second

// stored answers by name, and notes what it was asked.
type stored struct {
	name    string
	blocked chan struct{} // until it is closed

	mu     sync.Mutex
	fails  error
	panics bool
	asked  []string
	judged map[string]bool
}

func (s *stored) note(what string, p evidence.Place) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
	s.judged = map[string]bool{}
	for _, folder := range []string{"/shop", "/farm"} {
		if p.Has != nil {
			s.judged["has "+folder] = p.Has(folder)
		}
		if p.Exclude != nil {
			s.judged["exclude codex "+folder] = p.Exclude("codex", folder)
		}
	}
	if s.panics {
		panic("a fault")
	}
	return s.fails
}

func (s *stored) change(fails error, panics bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
	s.panics = panics
}

func (s *stored) found() []evidence.Found {
	return []evidence.Found{{Conversation: scrollback.ConversationID("01-" + s.name), Seq: 7, At: 1_790_000_000_000,
		Tool: "codex", Role: scrollback.RoleAssistant, Text: "It ends <soon> & \u2028 “then”.\n" + s.name, Kind: "kept"}}
}

func (s *stored) Find(ctx context.Context, q evidence.Query) (evidence.Answer, error) {
	if s.blocked != nil {
		select {
		case <-s.blocked:
		case <-ctx.Done():
			return evidence.Answer{}, ctx.Err()
		}
	}
	err := s.note(fmt.Sprint("find ", q.Prompt, q.Session, q.Told, q.Kept, q.Most, q.Place.Folders, q.Place.Without),
		q.Place)
	return evidence.Answer{Found: s.found(), Why: "its words fit", Terms: []string{"lease", "吊车"},
		Facts: evidence.Facts{Identifier: true, Together: 3}}, err
}

func (s *stored) Stand(_ context.Context, p evidence.Place, of evidence.Session,
	since int64) ([]evidence.Found, error) {
	return s.found(), s.note(fmt.Sprint("stand ", p.Folders, of, since), p)
}

func (s *stored) HandBack(_ context.Context, of evidence.Session, said string) ([]evidence.Found, error) {
	return nil, s.note(fmt.Sprint("hand back ", of, said), evidence.Place{})
}

func (s *stored) Close() error { return nil }

// start runs a server until the test ends, or stop is called. It waits until the socket is there.
func start(t *testing.T, dir, store string, e hook.Evidence) (stop func()) {
	t.Helper()
	began := make(chan struct{})
	stop = startLater(t, dir, store, e, func() { close(began) })
	select {
	case <-began:
	case <-time.After(patience):
		t.Fatal("the server does not begin")
	}
	return stop
}

func startLater(t *testing.T, dir, store string, e hook.Evidence, began func()) (stop func()) {
	t.Helper()
	skipWindows(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s := &Server{Dir: dir, Store: store, Evidence: e, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Began: began}
	go func() { ended <- s.Serve(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the server ends with %v", err)
			}
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	})
	t.Cleanup(stop)
	return stop
}

func skipWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no sockets for one user alone")
	}
}

// open opens what looks things up, and says whether the store was opened alone.
func open(t *testing.T, dir, store string, wait time.Duration) (e hook.Evidence, own *stored) {
	t.Helper()
	own = &stored{name: "alone"}
	e, err := Open(t.Context(), dir, store, wait, func(context.Context) (hook.Evidence, error) { return own, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, own
}

func (s *stored) wasAsked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// A server finds what the store itself finds, asked the same, with folders judged by who asks.
func TestServerAnswersAsTheStore(t *testing.T) {
	dir := t.TempDir()
	server := &stored{name: "x"}
	start(t, dir, "own", server)
	e, own := open(t, dir, "own", patience)
	direct := &stored{name: "x"}
	p := evidence.Place{Folders: []string{"/shop", "/old shop"}, Without: []string{"diary"},
		Has:     func(folder string) bool { return folder == "/shop" },
		Exclude: func(tool, folder string) bool { return tool == "codex" && folder == "/farm" }}
	q := evidence.Query{Prompt: "when does the lease end? <b> \u2028", Place: p, Kept: true, Most: 2,
		Session: evidence.Session{Tool: "pi", ID: "s1"}, Told: map[evidence.Seen]bool{{Conversation: "c", Seq: 4}: true}}
	for what, ask := range map[string]func(hook.Evidence) (any, error){
		"find":      func(e hook.Evidence) (any, error) { return e.Find(t.Context(), q) },
		"stand":     func(e hook.Evidence) (any, error) { return e.Stand(t.Context(), p, q.Session, 17) },
		"hand back": func(e hook.Evidence) (any, error) { return e.HandBack(t.Context(), q.Session, "said") },
	} {
		got, err := ask(e)
		want, _ := ask(direct)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v; want %#v", what, got, err, want)
		}
		server.mu.Lock() // it has answered, and is not asked at the moment
		if !reflect.DeepEqual(server.judged, direct.judged) || what != "hand back" && len(server.judged) != 4 {
			t.Errorf("%s: judged %v, want %v", what, server.judged, direct.judged)
		}
		server.mu.Unlock()
	}
	if !reflect.DeepEqual(server.asked, direct.asked) || own.wasAsked() > 0 {
		t.Errorf("asked %q, want %q; alone %q", server.asked, direct.asked, own.asked)
	}
}

// What fails at a server fails at the hook, and a server that panics goes on.
func TestServerFails(t *testing.T) {
	dir := t.TempDir()
	server := &stored{fails: errors.New("the database is full")}
	start(t, dir, "own", server)
	e, own := open(t, dir, "own", patience)
	_, err := e.Stand(t.Context(), evidence.Place{}, evidence.Session{}, 0)
	if err == nil || err.Error() != "the database is full" || own.wasAsked() > 0 {
		t.Errorf("it fails with %v", err)
	}
	server.change(nil, true)
	if a, err := e.Find(t.Context(), evidence.Query{}); err != nil || a.Found[0].Conversation != "01-alone" {
		t.Errorf("behind a panic it finds %v, %v", a, err)
	}
	server.change(nil, false)
	e, own = open(t, dir, "own", patience)
	if _, err := e.HandBack(t.Context(), evidence.Session{}, ""); err != nil || own.wasAsked() > 0 {
		t.Errorf("the server does not go on: %v", err)
	}
}

// Without a server, and with one of another store, a hook looks things up alone.
func TestAlone(t *testing.T) {
	dir := t.TempDir()
	e, own := open(t, dir, "own", patience)
	if _, err := e.Find(t.Context(), evidence.Query{}); err != nil || own.wasAsked() != 1 {
		t.Errorf("without a server: %v, asked alone %d times", err, own.wasAsked())
	}
	start(t, dir, "own", &stored{})
	for _, store := range []string{"server 1", "", "own"} {
		e, own = open(t, dir, store, patience)
		want := 1
		if store == "own" {
			want = 0
		}
		if _, err := e.Find(t.Context(), evidence.Query{}); err != nil || own.wasAsked() != want {
			t.Errorf("%q: %v, asked alone %d times", store, err, own.wasAsked())
		}
	}
	if Probe(t.Context(), dir, "server 1", patience) || !Probe(t.Context(), dir, "own", patience) ||
		Probe(t.Context(), t.TempDir(), "own", patience) {
		t.Error("it is not said rightly who answers")
	}
}

// fake is a server by hand.
func fake(t *testing.T, dir string, serve func(c net.Conn, in *bufio.Reader)) {
	t.Helper()
	skipWindows(t)
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c, bufio.NewReader(c))
		}
	}()
}

const hello = `{"scrollback_hook":1,"store":"own"}` + "\n"

// A server that ends in the middle, or says nonsense, is made up for.
func TestServerGone(t *testing.T) {
	for what, said := range map[string]string{
		"ends at once": "", "greets and ends": hello, "ends in its greeting": hello[:10], "another protocol": `{"scrollback_hook":2,"store":"own"}`,
		"rubbish for a greeting": "HTTP/1.1 400 Bad Request\r\n\r\n", "half an answer": hello + `{"answer":{"Found":[{"Conver`,
		"rubbish for an answer": hello + "\x00\xff\xfe", "an empty answer": hello + "{}", "an answer to something else": hello + `{"list":{}}`,
		"a list": hello + "[]", "a number": hello + "7\n", "deep": hello + strings.Repeat("[", 1<<20), "wrong types": hello + `{"answer":{"Found":7}}`,
		"a question and an end": hello + `{"has":"/shop"}`,
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			fake(t, dir, func(c net.Conn, in *bufio.Reader) {
				defer c.Close()
				head, rest, greets := strings.Cut(said, "\n")
				if _, err := io.WriteString(c, head+"\n"); err != nil || !greets {
					return
				}
				if _, err := in.ReadString('\n'); err == nil {
					_, _ = io.WriteString(c, rest)
				}
			})
			e, own := open(t, dir, "own", patience)
			p := evidence.Place{Has: func(string) bool { return true }}
			a, err := e.Find(t.Context(), evidence.Query{Place: p})
			if err != nil || len(a.Found) != 1 || a.Found[0].Conversation != "01-alone" {
				t.Fatalf("it finds %v, %v", a, err)
			}
			if s, err := e.Stand(t.Context(), p, evidence.Session{}, 0); err != nil || len(s) != 1 || own.wasAsked() != 2 {
				t.Errorf("and then %v, %v", s, err)
			}
		})
	}
}

// A server that hangs before it greets is left alone; one that hangs later takes no longer than the hook has.
func TestServerHangs(t *testing.T) {
	dir := t.TempDir()
	var greets atomic.Bool
	var floods atomic.Bool
	hangs := make(chan struct{})
	defer close(hangs)
	fake(t, dir, func(c net.Conn, _ *bufio.Reader) {
		if greets.Load() {
			_, _ = io.WriteString(c, hello)
		}
		for floods.Load() {
			if _, err := io.WriteString(c, strings.Repeat(" ", 4096)); err != nil {
				return
			}
		}
		<-hangs
	})
	e, _ := open(t, dir, "own", 20*time.Millisecond)
	if a, err := e.Find(t.Context(), evidence.Query{}); err != nil || a.Found[0].Conversation != "01-alone" {
		t.Errorf("without a greeting: %v, %v", a, err)
	}
	greets.Store(true)
	for _, flood := range []bool{false, true} {
		floods.Store(flood)
		e, own := open(t, dir, "own", patience)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		began := time.Now()
		if a, err := e.Find(ctx, evidence.Query{}); err == nil && !flood {
			t.Errorf("behind a greeting it finds %v, alone: %d", a, own.wasAsked())
		}
		if took := time.Since(began); took > patience/2 {
			t.Errorf("it takes %v", took)
		}
		cancel()
	}
}

// A hook that asks nonsense, or nothing, or goes away, ends nothing but itself; and no more are answered than so many.
func TestHookGone(t *testing.T) {
	dir := t.TempDir()
	server := &stored{}
	start(t, dir, "own", server)
	for _, said := range []string{"", "{", "{}", "[]", "\x00\xff", `{"find":7}`, `{"ms":-5,"find":{}}`, strings.Repeat("[", 1<<20),
		`{"ms":1000,"find":{"place":{"has":true}}}` + "\nnonsense", `{"ms":1000,"stand":{"place":{"exclude":true}}}`} {
		c, err := net.Dial("unix", filepath.Join(dir, FileName))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, said+"\n") // the server may have closed it
		_ = c.Close()
	}
	var idle []net.Conn
	for len(idle) < atOnce { // those above may not have ended yet
		c, err := net.Dial("unix", filepath.Join(dir, FileName))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(c).ReadString('\n'); err == nil {
			idle = append(idle, c)
		}
	}
	e, own := open(t, dir, "own", patience)
	if a, err := e.Find(t.Context(), evidence.Query{}); err != nil || own.wasAsked() != 1 {
		t.Errorf("one too many finds %v, %v", a, err)
	}
	for _, c := range idle {
		_ = c.Close()
	}
	for end := time.Now().Add(patience); ; {
		e, own := open(t, dir, "own", patience)
		if _, err := e.Find(t.Context(), evidence.Query{}); err == nil && own.wasAsked() == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nobody is answered any more")
		}
	}
}

// The end of a server does not wait for who asks.
func TestServerEndsWhileAsked(t *testing.T) {
	dir := t.TempDir()
	server := &stored{blocked: make(chan struct{})}
	stop := start(t, dir, "own", server)
	e, _ := open(t, dir, "own", patience)
	found := make(chan evidence.Answer, 1)
	go func() {
		a, _ := e.Find(t.Context(), evidence.Query{})
		found <- a
	}()
	idle, err := net.Dial("unix", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, err := bufio.NewReader(idle).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stop()
	select {
	case <-found:
	case <-time.After(patience):
		t.Error("who asked still waits")
	}
	if _, err := os.Lstat(filepath.Join(dir, FileName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// The socket is its owner's alone. One that a killed program left is replaced, a live one is not: who comes second
// waits until the first ends.
func TestSocketIsOnePrograms(t *testing.T) {
	skipWindows(t)
	dir := t.TempDir()
	left, err := listen(dir) // and its program was killed
	if err != nil {
		t.Fatal(err)
	}
	_ = left.Close()
	if err := os.Mkdir(filepath.Join(dir, draftName), 0o700); err != nil {
		t.Fatal(err)
	}
	first := &stored{name: "first"}
	stop := start(t, dir, "own", first)
	info, err := os.Lstat(filepath.Join(dir, FileName))
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	if _, err := os.Lstat(filepath.Join(dir, draftName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the draft is still there: %v", err)
	}
	second := &stored{name: "second"}
	began := make(chan struct{})
	startLater(t, dir, "own", second, func() { close(began) })
	for range 3 {
		e, _ := open(t, dir, "own", patience)
		if a, err := e.Find(t.Context(), evidence.Query{}); err != nil || a.Found[0].Conversation != "01-first" {
			t.Errorf("while the first serves: %v, %v", a, err)
		}
	}
	select {
	case <-began:
		t.Error("the second took a live socket")
	default:
	}
	stop()
	select {
	case <-began:
	case <-time.After(patience):
		t.Fatal("the second does not take over")
	}
	e, _ := open(t, dir, "own", patience)
	if a, err := e.Find(t.Context(), evidence.Query{}); err != nil || a.Found[0].Conversation != "01-second" {
		t.Errorf("then: %v, %v", a, err)
	}
}

// A data folder whose path is longer than that of a socket may be works too, and leaves nothing behind.
func TestLongPath(t *testing.T) {
	skipWindows(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, n := range []int{maxPath - len(FileName) - 1, maxPath, maxPath + 1, 107, 108, 109, 400} {
		dir := filepath.Join(t.TempDir())
		for len(dir) < n {
			dir = filepath.Join(dir, strings.Repeat("d", max(min(n-len(dir)-1, 200), 1)))
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		stop := start(t, dir, "own", &stored{name: "far"})
		e, _ := open(t, dir, "own", patience)
		if a, err := e.Find(t.Context(), evidence.Query{}); err != nil || a.Found[0].Conversation != "01-far" {
			t.Errorf("%d bytes: %v, %v", len(dir), a, err)
		}
		stop()
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 || left[0].Name() != lockName {
			t.Errorf("%d bytes: %v is left, %v", len(dir), left, err)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left of links, %v", left, err)
	}
}

// Where no socket can be made the server says so, and nothing is in the way of the next.
func TestNoSocket(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, FileName, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &Server{Dir: dir, Store: "own", Evidence: &stored{}}
	if err := s.Serve(t.Context()); err == nil {
		t.Error("a folder was replaced by a socket")
	}
	e, _ := open(t, dir, "own", patience)
	if a, err := e.Find(t.Context(), evidence.Query{}); err != nil || a.Found[0].Conversation != "01-alone" {
		t.Errorf("%v, %v", a, err)
	}
	s.Dir = filepath.Join(dir, "not there")
	if err := s.Serve(t.Context()); err == nil {
		t.Error("a socket was made in a folder that is not there")
	}
}
