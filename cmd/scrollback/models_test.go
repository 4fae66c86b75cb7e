package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/wire"
)

// thinker is a server of the test's own that thinks before it speaks, names what a
// call cost, and refuses over limit bytes of messages as vLLM does.
type thinker struct {
	limit int // of the messages' JSON, in bytes; 0 for none

	mu      sync.Mutex
	bodies  []wire.ChatRequest
	agents  []string
	refused int
}

func (s *thinker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var body wire.ChatRequest
	if err != nil || r.Method != http.MethodPost || json.Unmarshal(raw, &body) != nil {
		http.Error(w, "not here", http.StatusNotFound) // it lists no models
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	s.agents = append(s.agents, r.UserAgent())
	if s.limit > 0 && len(raw) > s.limit {
		s.refused++
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w,
			`{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested %d output tokens `+
				`and your prompt contains at least 3585 input tokens.","type":"BadRequestError","param":"input_tokens","code":400}}`, body.MaxTokens)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, delta := range []string{`{"reasoning_content":"it must be so"}`, `{"content":"So it is, "}`,
		`{"content":"这样。"}`} {
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":%s}]}\n\n", delta)
	}
	fmt.Fprint(w,
		`data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":9,`+
			`"total_tokens":909,"cost":0.25}}`+"\n\ndata: [DONE]\n\n")
}

// told is by whom it was asked first, and how often it refused.
func (s *thinker) told() (agent string, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[0], s.refused
}

func (s *thinker) narrow(limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
}

func (s *thinker) last() wire.ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[len(s.bodies)-1]
}

// ran returns what the program said, and how it ended.
func (s *thinker) ran(t *testing.T, url string, more []string, args ...string) (out, errs string, code int) {
	t.Helper()
	data := more[0]
	env := append([]string{"SCROLLBACK_BASE_URL=" + url, "SCROLLBACK_MODEL=custom/m", "LANG=C",
		"SCROLLBACK_ROOT=" + t.TempDir()}, more[1:]...)
	cmd := command(t, data, env, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// At the command line: how much to think, a window that nobody knows and then one
// that the server named, and forgetting it.
func TestModelsAtTheCommandLine(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	s := &thinker{}
	data := t.TempDir()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	out, errs, code := s.ran(t, srv.URL, []string{data}, "run", "--effort", "high", "What is it?")
	if code != 0 || !strings.Contains(out, "这样。") ||
		!strings.Contains(errs, "custom/m is not known: 32,768 tokens are assumed") {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	if agent, _ := s.told(); s.last().ReasoningEffort != "high" || !strings.HasPrefix(agent, "scrollback/") {
		t.Errorf("asked with effort %q by %q", s.last().ReasoningEffort, agent)
	}
	if _, errs, _ = s.ran(t, srv.URL, []string{data}, "run", "--conversation", "latest",
		"And now?"); strings.Contains(errs, "assumed") ||
		s.last().ReasoningEffort != "" {
		t.Errorf("the second turn says %q, with effort %q", errs, s.last().ReasoningEffort)
	}
	if _, errs, _ = s.ran(t, srv.URL, []string{data, "LANG=zh_CN.UTF-8"}, "run", "这是什么？"); !strings.Contains(errs,
		"暂按 32,768") {
		t.Errorf("in Chinese it says %q", errs)
	}

	s.narrow(12_000)
	for i := range 8 {
		prompt := fmt.Sprintf("Round %d. ", i) + strings.Repeat("and more of it ", 120)
		if _, errs, code := s.ran(t, srv.URL, []string{data}, "run", "--conversation", "latest", prompt); code != 0 {
			t.Fatalf("round %d: exit %d, %s", i, code, errs)
		}
	}
	taught := func() *scrollback.Learned {
		t.Helper()
		var list struct {
			Models []engine.ModelEntry `json:"models"`
		}
		out, errs, _ := s.ran(t, srv.URL, []string{data}, "models", "--json")
		if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Models) == 0 ||
			list.Models[0].Name != "custom/m" {
			t.Fatalf("%v: %s %s", err, out, errs)
		}
		return list.Models[0].Taught
	}
	_, refused := s.told()
	if k := taught(); refused == 0 || refused > 3 || k == nil || k.Limit != 4096 ||
		k.LimitFrom != scrollback.LimitRefusal {
		t.Errorf("%d refusals taught %+v", refused, k)
	}
	if _, errs, code := s.ran(t, srv.URL, []string{data}, "models", "--forget", "custom/m"); code != 0 || taught() != nil {
		t.Errorf("forgetting: exit %d, %s, then %+v", code, errs, taught())
	}

	config := filepath.Join(data, "config.toml")
	write(t, config, []byte("[reply]\nchars = 5\n"))
	out, errs, code = s.ran(t, srv.URL, []string{data}, "--config", config, "run", "Go on.")
	if code != 6 || !strings.Contains(out, "So it") || strings.Contains(out, "So it is") ||
		!strings.Contains(errs, "beyond 5 characters") {
		t.Errorf("an answer beyond its bound: exit %d, %q, %q", code, out, errs)
	}
}

// Over HTTP: what a conversation's settings say of thinking is asked for, a request
// goes before them, and the frames tell what it cost and how long it thought.
func TestModelsOverHTTP(t *testing.T) {
	t.Parallel()
	p := &thinker{}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	s := serve(t, t.TempDir(), []string{"SCROLLBACK_BASE_URL=" + srv.URL, "SCROLLBACK_MODEL=custom/m"})
	id := string(s.conversation())
	patch := func(settings string) int {
		return s.do("PATCH", "/api/conversations/"+id, strings.NewReader(`{"settings":`+settings+`}`), nil)
	}
	if status := patch(`{"reasoning_effort":"low"}`); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	var credits, thought string
	for _, f := range s.lines(id, `{"message":"What is it?"}`) {
		switch {
		case strings.Contains(f, `"type":"credits"`):
			credits = f
		case strings.Contains(f, `"thinking_ms":`):
			thought = f
		}
	}
	if credits != `{"type":"credits","amount":0.25,"currency":"USD"}` || thought == "" ||
		p.last().ReasoningEffort != "low" {
		t.Errorf("credits %q, thinking %q, effort %q", credits, thought, p.last().ReasoningEffort)
	}
	if s.lines(id, `{"message":"And now?","reasoning_effort":"high"}`); p.last().ReasoningEffort != "high" {
		t.Errorf("the request's own effort is sent as %q", p.last().ReasoningEffort)
	}
	if status := patch(`{"reasoning_effort":"much"}`); status != http.StatusBadRequest {
		t.Errorf("an unknown effort: status %d", status)
	}
	if status := patch(`{"thinking":false}`); status != http.StatusOK {
		t.Errorf("not to think: status %d", status)
	}
	if s.lines(id, `{"message":"And then?"}`); p.last().ReasoningEffort != "none" {
		t.Errorf("not to think is sent as %q", p.last().ReasoningEffort)
	}
}

// lines returns the frames of a turn as they came.
func (s *served) lines(id, body string) (out []string) {
	s.t.Helper()
	resp, err := http.Post(s.url+"/api/conversations/"+id+"/chat", "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(all), `"status":"complete"`) {
		s.t.Fatalf("%v: %s", err, all)
	}
	for line := range strings.Lines(string(all)) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			out = append(out, data)
		}
	}
	return out
}
