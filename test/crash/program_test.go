// Package crash_test kills, pauses, restarts and races whole programs: servers, commands and
// their databases. What was acknowledged is there afterwards, once and in order.
//
// The tests are short by default, and long where tests are (internal/testlength).
package crash_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/testparallel"
)

// program is what the tests start: the program as it is, built once.
var program string

func TestMain(m *testing.M) {
	os.Setenv("SCROLLBACK_CONFIG", os.DevNull) // not the tester's own
	code, err := built(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the program is not built:", err)
		code = 1
	}
	os.Exit(code)
}

// built runs the tests over a program that is gone afterwards.
func built(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "scrollback")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/scrollback").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	os.Setenv("XDG_CACHE_HOME", os.DevNull) // no list is remembered; the build has one of its own
	testparallel.Double()
	return m.Run(), nil
}

// command returns the program over a data folder.
func command(t *testing.T, data string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, args...)
	// no calls that a test does not expect
	cmd.Env = append(os.Environ(), "SCROLLBACK_DATA="+data, "SCROLLBACK_TITLES=prompt")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// inside runs the program to its end, whatever that is, and answers its exit code and output.
func inside(t *testing.T, data string, args ...string) (code int, out, errs string) {
	t.Helper()
	cmd := command(t, data, nil, args...)
	var o, e bytes.Buffer
	cmd.Stdout = &o
	cmd.Stderr = &e
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// checkup returns what doctor --json prints.
func checkup(t *testing.T, data string, flags ...string) (int, doctor.Checkup) {
	t.Helper()
	code, out, errs := inside(t, data, append([]string{"doctor", "--json"}, flags...)...)
	var c doctor.Checkup
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("doctor: exit %d: %v\n%s%s", code, err, out, errs)
	}
	return code, c
}

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

// output runs the program to its end and answers what it printed.
func output(t *testing.T, data string, args ...string) string {
	t.Helper()
	cmd := command(t, data, nil, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scrollback %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// served is a running server.
type served struct {
	t   *testing.T
	cmd *exec.Cmd
	url string

	stderr bytes.Buffer // whole when it has ended
}

// serve starts the server and waits until it says where it is.
func serve(t *testing.T, data string, env []string, args ...string) *served {
	t.Helper()
	cmd := command(t, data, env, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s := &served{t: t, cmd: cmd}
	cmd.Stderr = io.MultiWriter(os.Stderr, &s.stderr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "scrollback is at "); ok {
			s.url = at
			go io.Copy(io.Discard, out)
			return s
		}
	}
	t.Fatal("the server ended before it listened")
	return nil
}

// stop ends the server as its operator would.
func (s *served) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatalf("the server ended with %v", err)
	}
}

// kill is kill -9; killing twice is harmless.
func (s *served) kill() {
	if s.cmd.ProcessState == nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	}
}

// do sends a request and decodes the answer; it answers the status.
func (s *served) do(method, path string, body any, into any) int {
	s.t.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case io.Reader:
		r = b
	default:
		data, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequest(method, s.url+path, r)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(data, into); err != nil {
			s.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, data)
		}
	}
	return resp.StatusCode
}

// get reads JSON that must be there.
func get[T any](s *served, path string, query ...string) T {
	s.t.Helper()
	q := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		q.Set(query[i], query[i+1])
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	var v T
	if status := s.do(http.MethodGet, path, nil, &v); status != http.StatusOK {
		s.t.Fatalf("GET %s: %d %+v", path, status, v)
	}
	return v
}

// frame is a server-sent event as a client reads it.
type frame struct {
	Type         string                      `json:"type"`
	TurnID       scrollback.TurnID           `json:"turn_id"`
	Content      string                      `json:"content"`
	At           int                         `json:"at"`
	Name         string                      `json:"name"`
	Seq          int64                       `json:"seq"`
	Tokens       int64                       `json:"tokens"`
	Budget       int64                       `json:"budget"`
	CacheReuse   float64                     `json:"cache_reuse"`
	Result       scrollback.CompactionResult `json:"result"`
	Status       scrollback.TurnState        `json:"status"`
	FinishReason string                      `json:"finish_reason"`
	Code         scrollback.Code             `json:"code"`
	Message      string                      `json:"message"`
}

// chat runs a turn over HTTP to its end and answers its frames.
func (s *served) chat(id scrollback.ConversationID, message string) []frame {
	s.t.Helper()
	resp := s.open(id, message)
	defer resp.Body.Close()
	frames, done := readFrames(s.t, resp.Body)
	if !done {
		s.t.Fatalf("the stream of %q ended without [DONE]", message)
	}
	return frames
}

// open starts a turn and leaves its stream unread.
func (s *served) open(id scrollback.ConversationID, message string) *http.Response {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.Post(fmt.Sprintf("%s/api/conversations/%s/chat", s.url, id), "application/json",
		bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("chat: %d %s", resp.StatusCode, data)
	}
	return resp
}

// readFrames reads a stream to its end.
func readFrames(t *testing.T, r io.Reader) (frames []frame, done bool) {
	t.Helper()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return frames, true
		}
		var f frame
		if err := json.Unmarshal([]byte(data), &f); err != nil {
			t.Fatalf("frame %q: %v", data, err)
		}
		frames = append(frames, f)
	}
	return frames, false
}

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

func allRefs(s *served, id scrollback.ConversationID) []scrollback.RefEntry {
	s.t.Helper()
	var out []scrollback.RefEntry
	cursor := ""
	for {
		page := get[struct {
			Refs []scrollback.RefEntry
			Next *string
		}](s, fmt.Sprintf("/api/conversations/%s/refs", id), "limit", "200", "cursor", cursor)
		out = append(out, page.Refs...)
		if page.Next == nil {
			return out
		}
		cursor = *page.Next
	}
}

// readAll joins the pages of a ref.
func readAll(t *testing.T, s *served, id scrollback.ConversationID, ref scrollback.Ref) string {
	t.Helper()
	var b strings.Builder
	for offset := int64(0); ; {
		page := get[scrollback.Page](s, fmt.Sprintf("/api/conversations/%s/refs/%s", id, ref), "offset", fmt.Sprint(offset),
			"limit", "65536")
		b.WriteString(page.Content)
		if page.Done {
			return b.String()
		}
		offset = page.NextOffset
	}
}

// raw runs statements on the database behind the program's back.
func raw(t *testing.T, data string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(data, "scrollback.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range append([]string{`DROP TRIGGER IF EXISTS messages_append_only`}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
