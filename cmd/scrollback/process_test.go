package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// slow makes the offline model pause between the words it writes.
var slow = []string{"SCROLLBACK_OFFLINE_PACE=60ms"}

// leased makes a server hold its turns for as long as lease says.
func leased() []string { return []string{"SCROLLBACK_LEASE=" + lease().String()} }

// lease returns how long a turn is held for a server that was killed: where tests are long as long
// as by default, else as short as a busy machine can still renew it in time.
func lease() time.Duration { return time.Duration(testlength.Choose(5, 5, 15)) * time.Second }

// fact is said first and asked for then; its answer takes a while at the slow pace.
const (
	fact = "The harbour master keeps the spare key of the crane under the third bollard from the lighthouse, wrapped in oilcloth, " +
		"next to the old tide table of 1962."
	question = "Where is the spare key of the crane?"
)

func (s *served) conversation() scrollback.ConversationID {
	s.t.Helper()
	var c scrollback.Conversation
	if status := s.do(http.MethodPost, "/api/conversations", map[string]any{}, &c); status != http.StatusCreated {
		s.t.Fatalf("create: %d", status)
	}
	return c.ID
}

func (s *served) log(id scrollback.ConversationID) []scrollback.Message {
	s.t.Helper()
	return get[struct{ Messages []scrollback.Message }](s, fmt.Sprintf("/api/conversations/%s/messages", id), "limit",
		"200").Messages
}

// settled waits for the folds behind a conversation's turns: after one by hand, which
// waits for the one under way, the policy asks for no more.
func (s *served) settled(id scrollback.ConversationID) {
	s.t.Helper()
	if status := s.do("POST", "/api/conversations/"+string(id)+"/compact", strings.NewReader(`{}`), nil); status != 200 {
		s.t.Fatalf("compact: %d", status)
	}
}

// until polls for at most limit.
func until(t *testing.T, limit time.Duration, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(limit)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %v in vain", limit)
		}
	}
}

// firstDelta reads a stream up to its first piece of answer.
func firstDelta(t *testing.T, r io.Reader) {
	t.Helper()
	buf := make([]byte, 1)
	var seen bytes.Buffer
	for !strings.Contains(seen.String(), `"type":"delta"`) {
		if _, err := r.Read(buf); err != nil {
			t.Fatalf("the stream ended: %v after %s", err, seen.String())
		}
		seen.Write(buf)
	}
}

// The client goes away in the middle of a reply: the reply is finished and saved.
func TestClientDisconnects(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), slow)
	id := s.conversation()
	s.chat(id, fact)
	resp := s.open(id, question)
	firstDelta(t, resp.Body)
	resp.Body.Close()
	until(t, 30*time.Second, func() bool { return len(s.log(id)) == 4 })
	m := s.log(id)[3]
	if m.Status != scrollback.StatusComplete || !strings.Contains(m.Parts.Text(), "tide table of 1962") {
		t.Errorf("saved %s: %q", m.Status, m.Parts.Text())
	}
}

// Ctrl-C in the middle of a reply keeps what was written.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	output(t, data, "run", fact)
	cmd := command(t, data, slow, "run", "--conversation", "latest", question)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	word := make([]byte, 8)
	if _, err := io.ReadFull(out, word); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Fatalf("after Ctrl-C: %v, want exit 130", err)
	}
	if shown := output(t, data, "show", "latest"); !strings.Contains(shown, "interrupted") ||
		strings.Contains(shown, "tide table of 1962. ”") {
		t.Errorf("the log shows\n%s", shown)
	}
}

// Ctrl-C at the server: the running reply is saved as interrupted, exit 0.
func TestServerStops(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := serve(t, data, slow)
	id := s.conversation()
	s.chat(id, fact)
	resp := s.open(id, question)
	defer resp.Body.Close()
	firstDelta(t, resp.Body)
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	frames, done := readFrames(t, resp.Body)
	if end, ok := frameOf(frames, "done"); !done || !ok || end.Status != scrollback.TurnInterrupted {
		t.Errorf("the client is told %+v", end)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if shown := output(t, data, "show", "latest"); !strings.Contains(shown, "assistant") ||
		!strings.Contains(shown, "interrupted") {
		t.Errorf("the log shows\n%s", shown)
	}
}

// Two processes write to one data folder at once: nothing is lost or doubled.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	a := serve(t, data, nil)
	b := serve(t, data, nil)
	shared := a.conversation()
	var wg sync.WaitGroup
	var mu sync.Mutex
	accepted := 0
	for i, s := range []*served{a, b, a, b, a, b, a, b} {
		wg.Go(func() {
			own := s.conversation()
			for n := range 10 {
				s.chat(own, fmt.Sprintf("note %d of %d", n, i))
				body := strings.NewReader(fmt.Sprintf(`{"message":"shared %d of %d","stream":false}`, n, i))
				if status := s.do(http.MethodPost, fmt.Sprintf("/api/conversations/%s/chat", shared), body,
					nil); status == http.StatusOK {
					mu.Lock()
					accepted++
					mu.Unlock()
				} else if status != http.StatusConflict {
					t.Errorf("the shared conversation answers %d", status)
				}
			}
			if log := s.log(own); len(log) != 20 || log[18].Parts.Text() != fmt.Sprintf("note 9 of %d", i) {
				t.Errorf("own conversation has %d messages, want 20", len(log))
			}
		})
	}
	wg.Wait()
	log := b.log(shared)
	if len(log) != 2*accepted || accepted == 0 {
		t.Errorf("%d turns were accepted, the log has %d messages", accepted, len(log))
	}
	for i, m := range log {
		if m.Seq != int64(i+1) {
			t.Errorf("message %d has seq %d", i+1, m.Seq)
		}
	}
}

// A file that is not ours, or newer than the program, is refused and not touched.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(path string) error{
		"is not a SQLite database": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("not a database at all ", 100)), 0o600)
		},
		"another program": func(path string) error { return execSQL(path, `CREATE TABLE theirs (x)`) },
		"newer scrollback": func(path string) error {
			output(t, filepath.Dir(path), "run", "hello")
			return execSQL(path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			path := filepath.Join(data, "scrollback.db")
			if err := write(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd := command(t, data, nil, "list")
			cmd.Stderr = &stderr
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), name) {
				t.Errorf("it ends with %v: %s", err, stderr.String())
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was touched (%v)", err)
			}
		})
	}
}

func execSQL(path, statement string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	_, err = db.Exec(statement)
	return errors.Join(err, db.Close())
}

// A key that is made and revoked by the command counts, and no longer counts, at a server
// that is running.
func TestKeysOfARunningServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := serve(t, data, nil)
	key := strings.TrimSpace(output(t, data, "keys", "add", "--name", "reader", "--role", "read", "--project", "one"))
	status := func(secret string) int {
		req, err := http.NewRequest(http.MethodPost, s.url+"/api/conversations", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(key); got != http.StatusForbidden {
		t.Errorf("a key to read may write: %d", got)
	}
	if got := status("x" + key); got != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d", got)
	}
	output(t, data, "keys", "revoke", "reader")
	until(t, 5*time.Second, func() bool { return status(key) == http.StatusUnauthorized })
	until(t, 5*time.Second, func() bool { return !strings.Contains(output(t, data, "keys", "list"), "never") })
}
