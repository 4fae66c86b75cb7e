package engine_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/anthropicapi"
	"github.com/scrollback-ai/scrollback/model/modeltest/chatapi"
	"github.com/scrollback-ai/scrollback/model/modeltest/geminiapi"
	"github.com/scrollback-ai/scrollback/model/modeltest/ollamaapi"
	"github.com/scrollback-ai/scrollback/model/modeltest/responsesapi"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// offers are the models that are asked for, by preset: one that thinks, where the
// name tells. A preset that is not here is asked for "m".
var offers = map[string]string{
	"openai": "gpt-5.1", "deepseek": "deepseek-v4-pro", "xai": "grok-4.3", "poe": "Claude-Sonnet-4.5",
	"ark":        "doubao-seed-1-8",
	"openrouter": "anthropic/claude-sonnet-4.5", "dashscope": "qwen3.7-plus", "moonshot": "kimi-k2.6",
	"workers-ai": "@cf/openai/gpt-oss-120b",
	"custom":     "m", "lmstudio": "google/gemma-3-12b", "vllm": "google/gemma-3-27b-it", "llama.cpp": "qwen3",
	"anthropic": "claude-opus-5-5", "gemini": "gemini-3-flash-preview", "ollama": "qwen3:8b",
}

func offered(preset string) string { return cmp.Or(offers[preset], "m") }

const theKey = "sk-chat" // that every stand-in wants

// standIn returns the server of a preset, which plays m and takes at most limit tokens.
func standIn(preset string, m model.Model, limit int64) *modeltest.Strict {
	id := offered(preset)
	switch preset {
	case "openai", "xai":
		return responsesapi.New(m, responsesapi.Options{XAI: preset == "xai", Key: theKey, Models: []string{id}, Limit: limit,
			Phases: true,
			IDs:    strings.Repeat("a", len(preset))})
	case "anthropic":
		return anthropicapi.New(m, &anthropicapi.Options{Key: theKey, Limit: limit})
	case "gemini":
		return geminiapi.New(m, &geminiapi.Options{Key: theKey, Models: []string{id}, Limit: limit})
	case "ollama":
		return ollamaapi.New(m, &ollamaapi.Options{Models: []ollamaapi.Model{{Name: id, Trained: limit}}, Key: theKey,
			Window: limit, IDs: "aa",
			Pedantic: true})
	}
	o := chatapi.Preset(preset)
	o.Models = []string{id}
	o.Limit = limit
	return chatapi.New(m, o)
}

// talker is a model that does what the question says: it looks things up for [look],
// two at once for [looks], starts two sub-agents for [hire], and asks the client for the time for [clock], beside a
// look-up for [both]. It thinks most of the time, and every thought has its name.
type talker struct {
	name    string
	words   int          // of an answer; 0 means 60
	counted func() int64 // what the server counts of the newest request, in tokens

	mu sync.Mutex
	n  int
}

func (k *talker) secret() string { return "thought-of-" + k.name }

func (k *talker) reply(r model.Request) []model.Delta {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.n++
	usage := &scrollback.Usage{InputTokens: k.counted(), OutputTokens: 40}
	usage.CachedTokens = usage.InputTokens / 2
	usage.TotalTokens = usage.InputTokens + usage.OutputTokens
	var out []model.Delta
	if k.n%7 != 0 {
		usage.ReasoningTokens = 9
		out = append(out, model.Delta{Reasoning: "It is a "},
			model.Delta{Reasoning: fmt.Sprintf("%s, of number %d, <深思> & \"so\".", k.secret(), k.n)})
	}
	calls := k.wanted(r)
	switch {
	case len(r.Tools) == 0:
		out = append(out, model.Delta{Text: minutes(fmt.Sprintf("a long talk, as of answer %d", k.n))})
	case len(calls) > 0:
		if k.n%2 == 0 {
			out = append(out, model.Delta{Text: fmt.Sprintf("One moment of %s, %d. ", k.name, k.n)})
		}
		for i, c := range calls {
			c.ID = fmt.Sprintf("call_%s_%d_%d", k.name, k.n, i)
			out = append(out, model.Delta{Call: &c})
		}
	default:
		for i := range cmp.Or(k.words, 60) / 6 {
			out = append(out, model.Delta{Text: fmt.Sprintf("It is 回答 %d of %s, in part %d. ", k.n, k.name, i)})
		}
	}
	return append(out, model.Delta{Usage: usage})
}

// wanted returns the calls that the question asks for and that were not made.
func (k *talker) wanted(r model.Request) []scrollback.ToolCall {
	made := map[string]bool{}
	question := ""
	for i := len(r.Items) - 1; i >= 0 && question == ""; i-- {
		for _, c := range r.Items[i].Parts.Calls() {
			made[c.Name] = true
		}
		if r.Items[i].Role == scrollback.RoleUser {
			question = r.Items[i].Parts.Text()
		}
	}
	asks := func(mark string) bool { return strings.Contains(question, "["+mark+"]") && !r.AnswerOnly }
	search := enginetest.Call("", "context_search", `{"query":"harbour crane 港口","limit":2}`)
	grep := enginetest.Call("", "context_grep", `{"pattern":"crane \\d+","max_results":3}`)
	switch {
	case asks("hire") && !made["agent"]:
		return []scrollback.ToolCall{enginetest.Call("", "agent", `{"task":"the crane 港口 [look]"}`),
			enginetest.Call("", "agent", `{"task":"the tide","title":"潮汐"}`)}
	case asks("look") && !made[search.Name]:
		return []scrollback.ToolCall{search}
	case asks("looks") && !made[search.Name]:
		return []scrollback.ToolCall{search, grep}
	case asks("both") && !made["clock"]:
		return []scrollback.ToolCall{grep, enginetest.Call("", "clock", `{"zone":"UTC"}`)}
	case asks("clock") && !made["clock"]:
		return []scrollback.ToolCall{enginetest.Call("", "clock", `{}`)}
	}
	return nil
}

// exchange is one request and what the server said.
type exchange struct {
	head   http.Header
	body   []byte
	status int

	mu   sync.Mutex
	said bytes.Buffer
}

func (x *exchange) answer() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.said.String()
}

// turn reports whether the request was for a step of a turn, and not for a summary.
func (x *exchange) turn() bool { return bytes.Contains(x.body, []byte(`"tools":[`)) }

// line is the way to a server. It keeps what passes, and can be cut.
type line struct {
	server http.Handler

	mu    sync.Mutex
	all   []*exchange
	cut   string // how answers end: "" as they do, "gone" with the connection, "open" without their end
	after int    // how many pieces of an answer pass where it is cut
}

// end says how answers end from now on.
func (l *line) end(cut string, after int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	l.after = after
}

// asked lists the requests for answers.
func (l *line) asked() []*exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*exchange(nil), l.all...)
}

// bodies returns all requests for answers in one.
func (l *line) bodies() []byte {
	var out bytes.Buffer
	for _, x := range l.asked() {
		out.Write(x.body)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	x := &exchange{head: r.Header.Clone(), body: body, status: http.StatusOK}
	l.mu.Lock()
	if bytes.Contains(body, []byte(`"messages"`)) || bytes.Contains(body, []byte(`"input"`)) ||
		bytes.Contains(body, []byte(`"contents"`)) {
		l.all = append(l.all, x)
	}
	out := &heard{ResponseWriter: w, x: x, cut: l.cut, after: l.after}
	l.mu.Unlock()
	l.server.ServeHTTP(out, r)
}

// heard keeps what is written, and lets no more pass than it may.
type heard struct {
	http.ResponseWriter
	x     *exchange
	cut   string
	after int
	n     int
}

func (h *heard) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *heard) WriteHeader(status int) {
	h.x.mu.Lock()
	h.x.status = status
	h.x.mu.Unlock()
	h.ResponseWriter.WriteHeader(status)
}

func (h *heard) Write(b []byte) (int, error) {
	if h.n++; h.cut != "" && h.n > h.after {
		if h.cut == "gone" {
			panic(http.ErrAbortHandler)
		}
		return len(b), nil
	}
	h.x.mu.Lock()
	h.x.said.Write(b)
	h.x.mu.Unlock()
	return h.ResponseWriter.Write(b)
}

// served is a preset, its stand-in and the way to it.
type served struct {
	name   string // of the model, as a conversation has it
	server *modeltest.Strict
	says   *talker
	line   *line
}

// serve opens the stand-in of a preset, and puts where it is into env.
func serve(t *testing.T, preset string, limit int64, env map[string]string) *served {
	t.Helper()
	p, ok := all.FindProvider(preset)
	if !ok {
		t.Fatalf("no model of %s is known here", preset)
	}
	s := &served{name: preset + "/" + offered(preset), says: &talker{name: preset}}
	s.server = standIn(preset, modeltest.NewScript(model.Facts{}, modeltest.Step{Reply: s.says.reply}), limit)
	s.line = &line{server: s.server}
	s.says.counted = func() int64 {
		all := s.line.asked()
		return int64(len(all[len(all)-1].body)) / 4
	}
	srv := httptest.NewServer(s.line)
	t.Cleanup(srv.Close)
	base := srv.URL
	if preset != "anthropic" && preset != "gemini" && preset != "ollama" {
		base += "/v1"
	}
	env[p.Base] = base
	env[p.Key] = theKey
	env[p.Account] = "acc"
	return s
}

// finds makes the real clients, with what env says of where their servers are.
func finds(env map[string]string) func(string) (model.Model, error) {
	return func(name string) (model.Model, error) {
		return all.FindModel(name, func(variable string) string { return env[variable] },
			remote.Options{Agent: "scrollback/test", Pause: time.Nanosecond})
	}
}

// taught is what a server may refuse, each once: what nobody knows before.
var taught = map[string][]string{
	"deepseek":  {"image"},
	"vllm":      {"no-system"},
	"lmstudio":  {"turns"},
	"ollama":    {"levels"},
	"anthropic": {"bound"},
}

// refused holds what a server refused against what it may.
func (s *served) refused(t *testing.T, may ...string) {
	t.Helper()
	left := map[string]int{}
	for _, rule := range may {
		left[rule]++
	}
	for _, why := range s.server.Refusals() {
		if left[why.Rule]--; left[why.Rule] < 0 {
			t.Errorf("%s refused %+v", s.name, why)
		}
	}
}

// ended runs a turn to its end: where it waits for the time, it is told.
func ended(r *enginetest.Rig, req engine.TurnRequest) enginetest.Outcome {
	r.T.Helper()
	e := r.Run(req)
	if d, _ := enginetest.Last[scrollback.DoneEvent](e); d.Status == scrollback.TurnWaiting {
		next := engine.TurnRequest{Conversation: req.Conversation, Overrides: req.Overrides}
		for _, ev := range e.Events {
			if c, ok := ev.(scrollback.ToolCallEvent); ok && c.Name == "clock" {
				next.ToolResults = append(next.ToolResults, engine.ToolResult{CallID: c.ID, Text: "12:00, 正午"})
			}
		}
		more := r.Run(next)
		e = enginetest.Outcome{Events: append(e.Events, more.Events...), Err: more.Err}
	}
	e.WantDone(r.T, scrollback.TurnComplete, scrollback.FinishStop)
	return e
}
