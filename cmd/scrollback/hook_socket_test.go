package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/hook"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/hook/socket"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/local"
)

// counted counts what a server is asked.
type counted struct {
	hook.Evidence
	asked atomic.Int64
}

func (c *counted) Find(ctx context.Context, q evidence.Query) (evidence.Answer, error) {
	c.asked.Add(1)
	return c.Evidence.Find(ctx, q)
}

func (c *counted) Stand(ctx context.Context, p evidence.Place, of evidence.Session,
	since int64) ([]evidence.Found, error) {
	c.asked.Add(1)
	return c.Evidence.Stand(ctx, p, of, since)
}

func (c *counted) HandBack(ctx context.Context, of evidence.Session, said string) ([]evidence.Found, error) {
	c.asked.Add(1)
	return c.Evidence.HandBack(ctx, of, said)
}

// serveHooks answers the hooks of a data folder in this process, over the store that it opens as servers do.
func serveHooks(t *testing.T, data string) *counted {
	t.Helper()
	skipWithoutSocket(t)
	opened, err := local.Open(t.Context(), data, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Evidence: opened.Evidence()}
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	ended := make(chan error, 1)
	s := &socket.Server{Dir: data, Store: local.NameDatabase(data, ""), Evidence: c, Log: slog.New(slog.DiscardHandler),
		Began: func() { close(began) }}
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-began:
	case err := <-ended:
		t.Fatal(err)
	}
	return c
}

func skipWithoutSocket(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no sockets for one user alone")
	}
}

// copyData copies a data folder that nobody has open.
func copyData(t *testing.T, data string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(to, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	return to
}

// listLedger returns what a ledger has of the runs of hooks, oldest first, without their times.
func listLedger(t *testing.T, data string) (out []ledger.Row) {
	t.Helper()
	l, err := ledger.OpenExisting(t.Context(), data)
	if err != nil || l == nil {
		t.Fatalf("no ledger in %s: %v", data, err)
	}
	defer l.Close()
	if out, err = l.List(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	for i := range out {
		out[i].At = 0
		out[i].MS = 0
	}
	slices.Reverse(out)
	return out
}

// What agents really hand in is answered by the same bytes and noted in the same way, whether a server looks it up or
// the hook itself.
func TestHookShapesOverSocket(t *testing.T) {
	h := newHooked(t)
	h.watched()
	h.remember()
	alone := h.data
	served := copyData(t, h.data)
	server := serveHooks(t, served)
	files, err := filepath.Glob(filepath.Join("testdata", "hooks", "*.in.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no shapes: %v", err)
	}
	spoke := 0
	ask := func(event, agent, text, what string) {
		t.Helper()
		var said [2]string
		for i, data := range []string{alone, served} {
			t.Setenv("SCROLLBACK_DATA", data)
			said[i] = h.askRaw(event, agent, text)
		}
		if said[0] != said[1] {
			t.Errorf("%s: alone it says %q, asking a server %q", what, said[0], said[1])
		}
		if said[0] != "" {
			spoke++
		}
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var shape struct {
			Stdin map[string]json.RawMessage `json:"stdin"`
		}
		if err := json.Unmarshal(raw, &shape); err != nil {
			t.Fatal(err)
		}
		agent := strings.TrimSuffix(filepath.Base(file), ".in.json")
		for _, variant := range []string{"-tui", "-camel", "-pascal"} {
			agent = strings.TrimSuffix(agent, variant)
		}
		for n, name := range slices.Sorted(maps.Keys(shape.Stdin)) {
			word, _, _ := strings.Cut(name, " ")
			event := hookEvents[word]
			if event == "" {
				continue
			}
			session := fmt.Sprint("s-", filepath.Base(file), n)
			text := strings.NewReplacer("/home/me/shop", filepath.ToSlash(h.shop), "UUID", session, "Delegate. ", hookPrompt,
				"Say hello from the TUI.", hookPrompt, "Say hello.", hookPrompt, "Marker", "").Replace(string(shape.Stdin[name]))
			ask(event, agent, text, file+" "+name)
		}
	}
	// What a session was told before, what is left out, and what a person has silenced or joined.
	session := func(name string, more map[string]any) string {
		all := map[string]any{"session_id": name, "cwd": h.shop, "prompt": hookPrompt, "source": "startup"}
		for k, v := range more {
			all[k] = v
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	ask("prompt", "codex", session("again", nil), "a prompt")
	ask("prompt", "codex", session("again", map[string]any{"turn_id": "2"}), "a prompt again")
	ask("session-start", "copilot", session("resumed", nil), "a start")
	ask("session-start", "copilot", session("resumed", map[string]any{"source": "resume"}), "a resumed one")
	ask("session-start", "claude", session("again", map[string]any{"source": "compact"}), "a compaction")
	ask("pre-compact", "copilot", session("00000002-0000-4000-8000-000000000000", nil), "a compaction that only tells")
	ask("prompt", "claude", session("00000001-0000-4000-8000-000000000000", nil), "the session itself")
	ask("prompt", "codex", session("elsewhere", map[string]any{"cwd": filepath.Dir(h.shop)}), "another folder")
	config := filepath.Join(t.TempDir(), "config.toml")
	t.Setenv("SCROLLBACK_CONFIG", config)
	for _, text := range []string{"exclude = [\"claude\"]", fmt.Sprintf("exclude = [%q]", h.shop), "scope = \"all\"",
		"tokens = 120", "tell = false", "exclude = [\"/nowhere\", \"codex\"]"} {
		write(t, config, []byte("[hooks]\n"+text+"\n"))
		ask("prompt", "gemini", session(text, map[string]any{"cwd": filepath.Dir(h.shop)}), text+", another folder")
		ask("prompt", "gemini", session("here"+text, nil), text)
		ask("session-start", "gemini", session("start"+text, nil), text)
	}
	t.Setenv("SCROLLBACK_CONFIG", os.DevNull)
	for _, line := range [][]string{{"place", "join", h.shop, filepath.Dir(h.shop)}, {"hook", "off", "--agent", "qwen"},
		{"hook", "off", "--project", "default"}, {"hook", "on", "--project", "default"}, {"hook", "off", "--folder", h.shop}} {
		for _, data := range []string{alone, served} {
			output(t, data, append([]string{"--data", data}, line...)...)
		}
		what := strings.Join(line, " ")
		ask("prompt", "pi", session(what, map[string]any{"cwd": filepath.Dir(h.shop)}), what+", another folder")
		ask("prompt", "qwen", session(what, nil), what)
	}
	if a, b := fmt.Sprint(listLedger(t, alone)), fmt.Sprint(listLedger(t, served)); a != b {
		t.Errorf("alone it is noted\n%s\nasking a server\n%s", a, b)
	}
	if spoke < 20 || server.asked.Load() < 40 {
		t.Errorf("it spoke %d times, and asked %d", spoke, server.asked.Load())
	}
	if _, err := os.Stat(filepath.Join(alone, socket.FileName)); err == nil {
		t.Error("alone there is a socket, too")
	}
}

// A real server: hooks ask it, go on alone when it is killed, in the middle too, and ask the next one in its place.
func TestHookAsksServer(t *testing.T) {
	skipWithoutSocket(t)
	h := newHooked(t)
	h.watched()
	h.remember()
	at := filepath.Join(h.data, socket.FileName)
	n := 0
	ask := func(when string) {
		t.Helper()
		n++
		out := h.runHook(strings.NewReader(h.prompts(fmt.Sprint(when, n))), true, nil, "prompt", "--agent", "codex")
		if !strings.Contains(out, "2027-03-01") {
			t.Errorf("%s it says %q", when, out)
		}
	}
	answers := func() bool {
		return socket.Probe(t.Context(), h.data, local.NameDatabase(h.data, ""), hookPatience)
	}
	ask("without a server")
	first := serve(t, h.data, nil)
	until(t, hookPatience, answers)
	if info, err := os.Lstat(at); err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	ask("with a server")
	second := serve(t, h.data, nil)
	ask("with two")
	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil { // it hangs
		t.Fatal(err)
	}
	t.Setenv("SCROLLBACK_HOOK_TIME", "6s") // a sixth of it is waited for a greeting
	ask("while it hangs")
	t.Setenv("SCROLLBACK_HOOK_TIME", "20s")
	first.kill()
	ask("behind a kill")
	until(t, hookPatience, answers) // the second has taken over
	ask("with the second")
	second.stop()
	if _, err := os.Lstat(at); err == nil {
		t.Error("the socket is still there behind a clean end")
	}
	ask("behind a clean end")
	third := serve(t, h.data, nil)
	until(t, hookPatience, answers)
	third.kill()
	if _, err := os.Lstat(at); err != nil {
		t.Errorf("a killed server takes its socket along: %v", err)
	}
	fourth := serve(t, h.data, nil)
	until(t, hookPatience, answers)
	ask("over a socket that was left")
	fourth.stop()
	// A read-only server makes nothing, and another store's is not asked.
	other := serve(t, h.data, nil, "--store", "sqlite://"+filepath.ToSlash(filepath.Join(t.TempDir(), "other.db")))
	until(t, hookPatience, func() bool { _, err := os.Lstat(at); return err == nil })
	if answers() {
		t.Error("a server of another store answers")
	}
	ask("beside a server of another store")
	other.stop()
	reader := serve(t, h.data, nil, "--read-only")
	ask("beside a server that only reads")
	if _, err := os.Lstat(at); err == nil {
		t.Error("a server that only reads made a socket")
	}
	reader.stop()
}

// Who follows what agents keep answers hooks, too.
func TestHookAsksWatch(t *testing.T) {
	skipWithoutSocket(t)
	h := newHooked(t)
	h.remember()
	cmd := command(t, h.data, nil, "watch", "--from", "claude-code")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	until(t, hookPatience, func() bool {
		return socket.Probe(t.Context(), h.data, local.NameDatabase(h.data, ""), hookPatience)
	})
	out := h.runHook(strings.NewReader(h.prompts("w")), true, nil, "prompt", "--agent", "codex")
	if !strings.Contains(out, "2027-03-01") {
		t.Errorf("it says %q", out)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if _, err := os.Lstat(filepath.Join(h.data, socket.FileName)); err == nil {
		t.Error("the socket is still there")
	}
}

// With PostgreSQL hooks speak through a server, by the same bytes as over SQLite, and else they are silent.
func TestHookPostgreSQL(t *testing.T) {
	skipWithoutSocket(t)
	dsn := postgrestest.NewDatabase(t)
	h := newHooked(t)
	h.watched()
	h.remember()
	lite := copyData(t, h.data)
	output(t, h.data, "--data", h.data, "migrate", "--from", "sqlite://"+filepath.ToSlash(filepath.Join(h.data, "scrollback.db")), "--to",
		dsn, "--finish")
	for _, name := range []string{"scrollback.db", "scrollback.db-wal", "scrollback.db-shm"} {
		_ = os.Remove(filepath.Join(h.data, name))
	}
	t.Setenv("SCROLLBACK_STORE", dsn)
	n := 0
	ask := func(event, agent string, fields map[string]any) string {
		n++
		all := map[string]any{"session_id": fmt.Sprint("p", n), "cwd": h.shop, "prompt": hookPrompt, "source": "startup"}
		for k, v := range fields {
			all[k] = v
		}
		return h.ask(event, agent, all)
	}
	if out := ask("prompt", "codex", nil); out != "" {
		t.Errorf("without a server it says %q", out)
	}
	s := serve(t, h.data, nil, "--store", dsn)
	until(t, hookPatience, func() bool {
		return socket.Probe(t.Context(), h.data, local.NameDatabase(h.data, dsn), hookPatience)
	})
	for _, c := range []struct {
		event, agent string
		fields       map[string]any
	}{
		{"prompt", "codex", nil}, {"session-start", "claude", nil}, {"session-start", "copilot", map[string]any{"initialPrompt": hookPrompt}},
		{"pre-compact", "copilot", map[string]any{"session_id": "00000002-0000-4000-8000-000000000000"}},
		{"prompt", "claude", map[string]any{"session_id": "00000001-0000-4000-8000-000000000000"}},
		{"prompt", "codex", map[string]any{"cwd": filepath.Dir(h.shop)}},
	} {
		at := n
		got := ask(c.event, c.agent, c.fields)
		n = at
		t.Setenv("SCROLLBACK_DATA", lite)
		t.Setenv("SCROLLBACK_STORE", "")
		want := ask(c.event, c.agent, c.fields)
		t.Setenv("SCROLLBACK_DATA", h.data)
		t.Setenv("SCROLLBACK_STORE", dsn)
		if got != want || n < 4 && got == "" {
			t.Errorf("%s of %s: PostgreSQL says %q, SQLite %q", c.event, c.agent, got, want)
		}
	}
	s.kill()
	t.Setenv("SCROLLBACK_HOOK_TIME", "2s")
	began := time.Now()
	if out := ask("prompt", "codex", nil); out != "" || time.Since(began) > hookPatience {
		t.Errorf("behind a kill it says %q, after %v", out, time.Since(began))
	}
}

// While somebody writes, brings the store up to date or imports, a server answers hooks, and no hook changes anything.
func TestHookAsksBusyServer(t *testing.T) {
	h := newHooked(t)
	h.watched()
	h.remember()
	served := copyData(t, h.data)
	server := serveHooks(t, served)
	n := 0
	ask := func(when string) {
		t.Helper()
		n++
		t.Setenv("SCROLLBACK_DATA", served)
		asked := server.asked.Load()
		out := h.ask("prompt", "codex", map[string]any{"session_id": fmt.Sprint(n), "cwd": h.shop, "prompt": hookPrompt})
		if !strings.Contains(out, "2027-03-01") || server.asked.Load() == asked {
			t.Errorf("%s it says %q", when, out)
		}
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(served, "scrollback.db"))+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	change, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := change.ExecContext(t.Context(), "CREATE TABLE later (a)"); err != nil {
		t.Fatal(err)
	}
	ask("while somebody changes the tables")
	if err := change.Rollback(); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		h.session(fmt.Sprintf("000000%02x-0003-4000-8000-000000000000", i), h.shop, 90*time.Hour,
			fmt.Sprintf("Where does pilot boat %d lie?", i), strings.Repeat(fmt.Sprintf("Boat %d lies at the north quay. ", i), 100))
	}
	imports := command(t, served, nil, "import", "--from", "claude-code")
	if err := imports.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- imports.Wait() }()
	for done := false; !done; {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			done = true
		default:
			ask("while sessions are imported")
		}
	}
	ask("afterwards")
}
