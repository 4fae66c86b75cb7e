package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testparallel"
)

// asProgram makes this test binary the program itself, so that tests run and
// kill real processes without building anything first.
const asProgram = "SCROLLBACK_TEST_AS_PROGRAM"

func program() int {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return runProgram(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

func TestMain(m *testing.M) {
	if out := os.Getenv(asClient); out != "" {
		os.Exit(fakeClient(out))
	}
	os.Setenv("SCROLLBACK_CONFIG", os.DevNull)                                   // not the tester's own
	if os.Getenv(asProgram) == "" && filepath.Base(os.Args[0]) != "scrollback" { // as scripts call it
		os.Setenv("XDG_CACHE_HOME", os.DevNull)  // no list is remembered, unless a test says where
		os.Setenv("SCROLLBACK_TITLES", "prompt") // no calls that a test does not expect
		testparallel.Double()
	}
	if os.Getenv(asProgram) != "" {
		os.Exit(program())
	}
	testscript.Main(m, map[string]func(){"scrollback": func() { os.Exit(program()) }})
}

// command returns the program as a process of its own over a data folder.
func command(t *testing.T, data string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "SCROLLBACK_DATA="+data)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// output runs the program to its end, in this process, and answers what it printed.
func output(t *testing.T, data string, args ...string) string {
	t.Helper()
	code, out, errs := inside(t, data, args...)
	if code != 0 {
		t.Fatalf("scrollback %s: exit %d\n%s", strings.Join(args, " "), code, errs)
	}
	return out
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

// answer joins the deltas of the last step; every delta must stand where it says.
func answer(t *testing.T, frames []frame) string {
	t.Helper()
	var b strings.Builder
	for _, f := range frames {
		switch f.Type {
		case "delta":
			if f.At != len([]rune(b.String())) {
				t.Fatalf("a delta at %d after %d characters", f.At, len([]rune(b.String())))
			}
			b.WriteString(f.Content)
		case "tool_result":
			b.Reset()
		}
	}
	return b.String()
}

func frameOf(frames []frame, kind string) (frame, bool) {
	for _, f := range frames {
		if f.Type == kind {
			return f, true
		}
	}
	return frame{}, false
}
