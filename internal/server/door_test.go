package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/local"
)

// chatUpstream is a provider that speaks chat completions: it says what it was asked for last, and keeps what came.
type chatUpstream struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
	hold    chan struct{}                                  // holds an answer back in its middle; nil does not
	refuse  func(w http.ResponseWriter, n int) (done bool) // instead of an answer
	cut     atomic.Bool                                    // after the first piece
}

func newChatUpstream(t *testing.T) *chatUpstream {
	t.Helper()
	u := &chatUpstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(u.serve))
	t.Cleanup(u.Close)
	return u
}

func (u *chatUpstream) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	u.mu.Lock()
	u.bodies = append(u.bodies, string(body))
	u.headers = append(u.headers, r.Header.Clone())
	n := len(u.bodies)
	u.mu.Unlock()
	if u.refuse != nil && u.refuse(w, n) {
		return
	}
	var asked struct {
		Messages []struct{ Content any }
		Tools    []any
	}
	_ = json.Unmarshal(body, &asked) // what is no JSON gets an answer too
	last := fmt.Sprint(asked.Messages[len(asked.Messages)-1].Content)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Ratelimit-Remaining-Tokens", "77")
	chunk := func(delta, finish string) {
		fmt.Fprintf(w, "data: {\"id\":\"up-%d\",\"object\":\"chat.completion.chunk\",\"strange\":[1],\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n",
			n, delta, finish)
		w.(http.Flusher).Flush()
	}
	chunk(`{"role":"assistant","content":"You said "}`, "null")
	if u.cut.Load() {
		panic(http.ErrAbortHandler)
	}
	if u.hold != nil {
		<-u.hold
	}
	if strings.Contains(last, "list the files") && len(asked.Tools) > 0 {
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_up_%d","type":"function","function":{"name":"ls","arguments":"{\"dir\":\".\"}"}}]}`, n), "null")
		chunk(`{}`, `"tool_calls"`)
	} else {
		text, _ := json.Marshal(last)
		chunk(`{"content":`+string(text)+`}`, "null")
		chunk(`{}`, `"stop"`)
	}
	fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":5,\"total_tokens\":25}}\n\ndata: [DONE]\n\n")
}

func (u *chatUpstream) sent() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string{}, u.bodies...)
}

// doorRig is a server with a door, and a provider behind it.
type doorRig struct {
	t   *testing.T
	sb  *local.Scrollback
	url string
	up  *chatUpstream

	vars map[string]string // of providers
}

func newDoorRig(t *testing.T, o door.Options, edit ...func(*server.Options)) *doorRig {
	t.Helper()
	up := newChatUpstream(t)
	vars := map[string]string{"OPENAI_BASE_URL": up.URL + "/v1", "OPENAI_API_KEY": "the-key-here"}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:",
		Env: func(name string) string { return vars[name] }})
	if err != nil {
		t.Fatal(err)
	}
	o.Serves = func(provider string) bool { return sb.CheckModel(provider+"/x") == nil }
	so := server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), Door: door.New(o), DoorBytes: 1 << 20}
	for _, f := range edit {
		f(&so)
	}
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, so, true))
	t.Cleanup(func() {
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &doorRig{t: t, sb: sb, url: srv.URL, up: up, vars: vars}
}

// post sends a request and returns its response, read to the end.
func (d *doorRig) post(path, body string, header ...string) (*http.Response, string) {
	d.t.Helper()
	return d.postFor(d.t.Context(), path, body, header...)
}

func (d *doorRig) postFor(ctx context.Context, path, body string, header ...string) (*http.Response, string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ""
		}
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil && ctx.Err() == nil {
		d.t.Fatal(err)
	}
	return resp, string(all)
}

// conversations lists what is stored, each with its messages on the current path as "role: text".
func (d *doorRig) conversations() (out [][]string) {
	d.t.Helper()
	v := d.sb.Engine.As(scrollback.Operator())
	page, _, err := v.List(d.t.Context(), scrollback.ListQuery{})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, c := range page {
		var talk []string
		for m, err := range v.Recall().AllMessages(d.t.Context(), c.ID) {
			if err != nil {
				d.t.Fatal(err)
			}
			line := string(m.Role) + ":"
			for _, p := range m.Parts {
				switch p := p.(type) {
				case scrollback.Text:
					line += " " + p.Text
				case scrollback.ToolCall:
					line += " " + p.Name + "(" + string(p.Arguments) + ")"
				case scrollback.ToolResult:
					line += " " + p.Name + "=" + p.Text
				default:
					line += fmt.Sprintf(" %T", p)
				}
			}
			talk = append(talk, line)
		}
		out = append(out, talk)
	}
	return out
}

func (d *doorRig) wantTalk(want ...string) {
	d.t.Helper()
	all := d.conversations()
	if len(all) != 1 || strings.Join(all[0], "\n") != strings.Join(want, "\n") {
		d.t.Fatalf("stored is %q, want one conversation %q", all, want)
	}
}

// sayAs is a message of a history.
func sayAs(role, text string) string {
	b, err := json.Marshal(map[string]string{"role": role, "content": text})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func chatBody(extra string, messages ...string) string {
	return `{"model":"gpt-5","stream":true,` + extra + `"messages":[` + strings.Join(messages, ",") + `]}`
}

// TestDoorForwards sends a client's request on as it stands but for the model's name, and passes the answer as it came;
// what was said is stored once, however often the history comes again.
func TestDoorForwards(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	body := chatBody(`"unheard_of":{"b": [1,2]},`, sayAs("system", "Be kind."), sayAs("user", "Hello"))
	resp, answer := d.post("/v1/chat/completions", body, "Authorization", "Bearer own", "Openai-Beta", "x=1")
	if resp.StatusCode != http.StatusOK || !strings.Contains(answer, `"strange":[1]`) ||
		!strings.HasSuffix(answer, "data: [DONE]\n\n") || resp.Header.Get("X-Ratelimit-Remaining-Tokens") != "77" {
		t.Fatalf("%d %v\n%s", resp.StatusCode, resp.Header, answer)
	}
	if got := d.up.sent()[0]; got != body {
		t.Errorf("sent on was\n%s\nand not\n%s", got, body)
	}
	head := d.up.headers[0]
	if head.Get("Authorization") != "Bearer the-key-here" || head.Get("Openai-Beta") != "x=1" {
		t.Errorf("sent on was the header %v", head)
	}
	d.post("/v1/chat/completions", chatBody("", sayAs("system", "Be kind."), sayAs("user", "Hello"),
		sayAs("assistant", "You said Hello"), sayAs("user", "Bye")))
	d.wantTalk("user: Hello", "assistant: You said Hello", "user: Bye", "assistant: You said Bye")
	of := scrollback.ConversationID(resp.Header.Get("X-Scrollback-Conversation"))
	c, err := d.sb.Engine.As(scrollback.Operator()).Get(t.Context(), of)
	if err != nil || c.Title != "Hello" || c.Instructions != "Be kind." {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestDoorTools has a call of a client's tool and its result stored once each.
func TestDoorTools(t *testing.T) {
	for _, mode := range []string{door.ModeFaithful, door.ModeWindow} {
		t.Run(mode, func(t *testing.T) {
			d := newDoorRig(t, door.Options{Mode: mode})
			tools := `"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object","properties":{"dir":{"type":"string"}}}}}],`
			_, answer := d.post("/v1/chat/completions", chatBody(tools, sayAs("user", "list the files")))
			var id string
			for l := range strings.Lines(answer) {
				var c struct {
					Choices []struct {
						Delta struct {
							Calls []struct{ ID string } `json:"tool_calls"`
						}
					}
				}
				err := json.Unmarshal([]byte(strings.TrimPrefix(l, "data: ")), &c)
				if err == nil && len(c.Choices) > 0 && len(c.Choices[0].Delta.Calls) > 0 {
					id = c.Choices[0].Delta.Calls[0].ID
				}
			}
			if id == "" || !strings.Contains(answer, `"finish_reason":"tool_calls"`) {
				t.Fatalf("no call in\n%s", answer)
			}
			d.post("/v1/chat/completions", chatBody(tools, sayAs("user", "list the files"),
				`{"role":"assistant","content":"You said ","tool_calls":[{"id":"`+id+`","type":"function","function":{"name":"ls","arguments":"{\"dir\": \".\"}"}}]}`,
				`{"role":"tool","tool_call_id":"`+id+`","content":"a b"}`))
			all := d.conversations()
			if len(all) != 1 || len(all[0]) != 4 || all[0][2] != "tool: ls=a b" {
				t.Errorf("stored is %q", all)
			}
		})
	}
}

// TestDoorEdits makes branches of an edited past, and a sibling answer of the same request.
func TestDoorEdits(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	first := []string{sayAs("user", "One"), sayAs("assistant", "You said One")}
	d.post("/v1/chat/completions", chatBody("", first[0]))
	d.post("/v1/chat/completions", chatBody("", append(first, sayAs("user", "Two"))...))
	d.post("/v1/chat/completions", chatBody("", append(first, sayAs("user", "Three"))...))
	d.wantTalk("user: One", "assistant: You said One", "user: Three", "assistant: You said Three")
	branches, err := d.sb.Engine.As(scrollback.Operator()).Branches().List(t.Context(), d.only())
	if err != nil || len(branches) < 2 {
		t.Errorf("branches are %v, %v", branches, err)
	}
}

// only returns the one conversation.
func (d *doorRig) only() scrollback.ConversationID {
	d.t.Helper()
	page, _, err := d.sb.Engine.As(scrollback.Operator()).List(d.t.Context(), scrollback.ListQuery{})
	if err != nil || len(page) != 1 {
		d.t.Fatal(page, err)
	}
	return page[0].ID
}

// TestDoorJoins has the same request at the same time answered by one call.
func TestDoorJoins(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	d.up.hold = make(chan struct{})
	body := chatBody("", sayAs("user", "Hello"))
	var wait, begun sync.WaitGroup
	answers := make([]string, 5)
	begun.Add(len(answers))
	for i := range answers {
		wait.Go(func() {
			resp, err := http.Post(d.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				begun.Done()
				return
			}
			defer resp.Body.Close()
			r := bufio.NewReader(resp.Body)
			first, err := r.ReadString('\n') // while the answer is held back
			begun.Done()
			rest, all := io.ReadAll(r)
			if err != nil || all != nil {
				t.Error(err, all)
			}
			answers[i] = first + string(rest)
		})
	}
	begun.Wait()
	close(d.up.hold)
	wait.Wait()
	for _, a := range answers {
		if a != answers[0] || !strings.HasSuffix(a, "data: [DONE]\n\n") {
			t.Errorf("an answer is\n%s", a)
		}
	}
	if n := len(d.up.sent()); n != 1 {
		t.Errorf("%d calls", n)
	}
	d.wantTalk("user: Hello", "assistant: You said Hello")
}

// TestDoorCut ends a stream that was cut in the form that clients survive, and keeps what came; the retry goes on from
// the same message.
func TestDoorCut(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	d.up.cut.Store(true)
	body := chatBody("", sayAs("user", "Hello"))
	_, answer := d.post("/v1/chat/completions", body)
	if !strings.HasSuffix(answer, "data: [DONE]\n\n") || !strings.Contains(answer, `"finish_reason":"length"`) {
		t.Errorf("a cut answer ends as\n%s", answer)
	}
	d.up.cut.Store(false)
	d.post("/v1/chat/completions", body)
	d.wantTalk("user: Hello", "assistant: You said Hello")
}

// TestDoorRefusals passes what a provider refuses with its status and its words, and always says when to try again.
func TestDoorRefusals(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	status := 429
	d.up.refuse = func(w http.ResponseWriter, _ int) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"message":"the words of the provider","type":"t"}}`)
		return true
	}
	for _, status = range []int{429, 400, 500, 529} {
		resp, answer := d.post("/v1/chat/completions", chatBody("", sayAs("user", fmt.Sprint("Hello ", status))))
		if resp.StatusCode != status || !strings.Contains(answer, "the words of the provider") {
			t.Errorf("%d is passed as %d %s", status, resp.StatusCode, answer)
		}
		if status == 429 && resp.Header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
	}
	if n := len(d.up.sent()); n != 4 {
		t.Errorf("%d calls: what a client retries itself is sent once", n)
	}
}

// TestDoorRepeats answers a client that asks the same over and over without calls, then not at all.
func TestDoorRepeats(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	body := chatBody("", sayAs("user", "Hello"))
	last := 0
	for range 40 {
		resp, _ := d.post("/v1/chat/completions", body)
		last = resp.StatusCode
	}
	if n := len(d.up.sent()); n > 8 {
		t.Errorf("%d calls of 40 equal requests", n)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the 40th equal request gets %d", last)
	}
}

// TestDoorBodies refuses what is not a request, in a body that clients read.
func TestDoorBodies(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	for _, c := range []struct {
		body   string
		header []string
		status int
	}{
		{`{`, nil, 400}, {`[]`, nil, 400}, {`{}`, nil, 0}, {`{"messages":5}`, nil, 0},
		{strings.Repeat(" ", 1<<20) + `{}`, nil, 413},
		{`{"messages":[]}`, []string{"Content-Type", "text/plain"}, 400},
		{`{"messages":[]}`, []string{"Origin", "http://evil.example"}, 403},
	} {
		resp, answer := d.post("/v1/chat/completions", c.body, c.header...)
		if c.status != 0 && resp.StatusCode != c.status {
			t.Errorf("%.30s: %d %s", c.body, resp.StatusCode, answer)
		}
		if !json.Valid(bytes.TrimSpace([]byte(answer))) || !strings.Contains(answer, `"message"`) {
			t.Errorf("%.30s: the answer is %s", c.body, answer)
		}
	}
}

// TestDoorKeys lets in who has a key, sends no key of ours on, and keeps what two keys say apart even if their clients
// name the same conversation.
func TestDoorKeys(t *testing.T) {
	d := newDoorRig(t, door.Options{PassCredentials: true}, func(o *server.Options) { o.Insecure = false })
	secrets := map[string]string{}
	for name, k := range map[string]scrollback.Key{
		"ada":    {Name: "ada", Role: scrollback.AccessWrite, Projects: []string{"work"}},
		"bob":    {Name: "bob", Role: scrollback.AccessWrite, Projects: []string{"work"}},
		"reader": {Name: "reader", Role: scrollback.AccessRead, Projects: []string{"work"}},
	} {
		_, secret, err := d.sb.Store.Keys.Add(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		secrets[name] = secret
	}
	srv := httptest.NewServer(server.Handler(d.sb.Engine, d.sb.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler), Keys: d.sb.Store.Keys, Hosts: []string{"127.0.0.1"},
		DoorBytes: 1 << 20,
		Door:      door.New(door.Options{PassCredentials: true, Serves: func(string) bool { return true }})}, false))
	t.Cleanup(srv.Close)
	d.url = srv.URL
	hello := chatBody("", sayAs("user", "Hello"))
	for _, c := range []struct {
		name   string
		header []string
		status int
		sent   string // as Authorization
	}{
		{"nothing", nil, 401, ""},
		{"own", []string{"Authorization", "Bearer sk-own"}, 401, ""},
		{"reader", []string{"Authorization", "Bearer " + secrets["reader"]}, 403, ""},
		{"ada", []string{"Authorization", "Bearer " + secrets["ada"]}, 200, "Bearer the-key-here"},
		{"ada as others do", []string{"X-Api-Key", secrets["ada"]}, 200, "Bearer the-key-here"},
		{"ada beside own", []string{"Authorization", "Bearer sk-own", "X-Scrollback-Key", secrets["ada"]}, 200,
			"Bearer the-key-here"},
		{"a wrong one beside", []string{"Authorization", "Bearer " + secrets["ada"], "X-Scrollback-Key", "sbk_x"}, 401, ""},
	} {
		before := len(d.up.sent())
		body := strings.Replace(hello, "Hello", "Hello, "+c.name, 1)
		resp, answer := d.post("/v1/chat/completions", body, c.header...)
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d %s", c.name, resp.StatusCode, answer)
		}
		if got := len(d.up.sent()) - before; got != map[bool]int{true: 1}[c.status == 200] {
			t.Errorf("%s: %d calls", c.name, got)
		}
		if c.status == 200 && d.up.headers[before].Get("Authorization") != c.sent {
			t.Errorf("%s: sent on is %v", c.name, d.up.headers[before])
		}
		if c.status == 200 && strings.Contains(fmt.Sprint(d.up.headers[before]), "sbk_") {
			t.Errorf("%s: a key of ours was sent on", c.name)
		}
	}
	var met []string
	for _, name := range []string{"ada", "bob", "ada"} {
		resp, _ := d.post("/v1/chat/completions", chatBody("", sayAs("user", "A secret")), "X-Session-Id", "one", "Authorization",
			"Bearer "+secrets[name])
		met = append(met, resp.Header.Get("X-Scrollback-Conversation"))
	}
	if met[0] == met[1] || met[0] == "" || met[0] != met[2] {
		t.Errorf("ada, bob and ada are in %q", met)
	}
}

// TestDoorPassesCredentials sends a client's own credential on where no key is set here, and only to the API's server.
func TestDoorPassesCredentials(t *testing.T) {
	for _, pass := range []bool{true, false} {
		d := newDoorRig(t, door.Options{PassCredentials: pass})
		d.vars["OPENAI_API_KEY"] = ""
		resp, answer := d.post("/v1/chat/completions", chatBody("", sayAs("user", "Hello")), "Authorization", "Bearer sk-own")
		if pass && (resp.StatusCode != http.StatusOK || d.up.headers[0].Get("Authorization") != "Bearer sk-own") {
			t.Errorf("passed: %d %s %v", resp.StatusCode, answer, d.up.headers)
		}
		if !pass && len(d.up.sent()) > 0 && d.up.headers[0].Get("Authorization") != "" {
			t.Errorf("not to be passed: %d %v", resp.StatusCode, d.up.headers)
		}
	}
}

// TestDoorPlaceholder sends what stands in a credential's place nowhere.
func TestDoorPlaceholder(t *testing.T) {
	d := newDoorRig(t, door.Options{PassCredentials: true})
	d.vars["OPENAI_API_KEY"] = ""
	d.post("/v1/chat/completions", chatBody("", sayAs("user", "Hello")), "Authorization", "Bearer "+door.Placeholder)
	for _, h := range d.up.headers {
		if h.Get("Authorization") != "" {
			t.Errorf("the provider got %v", h)
		}
	}
	if m, mine := d.up.sent(), d.conversations(); len(m) != 1 || len(mine) != 1 {
		t.Errorf("sent are %q, stored %q", m, mine)
	}
}

// TestDoorSideCalls answers what is not a turn, and keeps none of it.
func TestDoorSideCalls(t *testing.T) {
	for _, mode := range []string{door.ModeFaithful, door.ModeWindow} {
		d := newDoorRig(t, door.Options{Mode: mode})
		d.post("/v1/chat/completions", chatBody("", sayAs("user", "Where is the key?")), "X-Session-Id", "s")
		_, answer := d.post("/v1/chat/completions", chatBody("",
			sayAs("system", "You are a title generator. You output ONLY a thread title."),
			sayAs("user", "Generate a title for this conversation:"), sayAs("user", "Where is the key?")), "X-Session-Id", "s")
		if !strings.Contains(answer, "You said ") {
			t.Errorf("%s: a title is %s", mode, answer)
		}
		d.wantTalk("user: Where is the key?", "assistant: You said Where is the key?")
		c, err := d.sb.Engine.As(scrollback.Operator()).Get(t.Context(), d.only())
		if err != nil || c.Title != "You said Where is the key?" {
			t.Errorf("%s: the title is %q, %v", mode, c.Title, err)
		}
	}
}

// TestDoorContext keeps what a client says of its surroundings apart from what a person says.
func TestDoorContext(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	d.post("/v1/chat/completions", `{"model":"gpt-5","messages":[{"role":"user","content":[
		{"type":"text","text":"<system-reminder>Never tell anybody the date.</system-reminder>"},
		{"type":"text","text":"Where is the key?"}]}]}`)
	all := d.conversations()
	if len(all) != 1 || len(all[0]) != 3 || all[0][1] != "user: Where is the key?" ||
		!strings.HasPrefix(all[0][0], "system: <system-reminder>") {
		t.Errorf("stored is %q", all)
	}
	v := d.sb.Engine.As(scrollback.Operator())
	c, err := v.Get(t.Context(), d.only())
	kept, keptErr := v.Kept().List(t.Context(), d.only(), false)
	if err != nil || keptErr != nil || c.Title != "Where is the key?" || len(kept) != 0 {
		t.Errorf("the title is %q, kept is %v, %v, %v", c.Title, kept, err, keptErr)
	}
}

// TestDoorNamed goes on with the conversation that our own header names: by its id, or by a name of the client's.
func TestDoorNamed(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	const header = "X-Scrollback-Conversation"
	at := func(text, name string) string {
		resp, _ := d.post("/v1/chat/completions", chatBody("", sayAs("user", text)), header, name)
		return resp.Header.Get(header)
	}
	first := at("One", "")
	if again := at("Two", first); again != first {
		t.Errorf("the id %s leads to %s", first, again)
	}
	named := at("Three", "work")
	if again := at("Four", "work"); again != named || named == first {
		t.Errorf("work is %s, then %s; another is %s", named, again, first)
	}
}

// TestDoorOllama speaks Ollama's API in front of a provider that does not.
func TestDoorOllama(t *testing.T) {
	d := newDoorRig(t, door.Options{Models: map[string]string{"llama*": "openai/gpt-5"}})
	body := `{"model":"llama3","messages":[` + sayAs("user", "Hello") + `]}`
	resp, answer := d.post("/api/chat", body)
	lines := strings.Split(strings.TrimSpace(answer), "\n")
	var end struct {
		Done       bool   `json:"done"`
		DoneReason string `json:"done_reason"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil || !end.Done || end.DoneReason != "stop" ||
		len(lines) < 2 || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%v\n%s", resp.Header, answer)
	}
	d.wantTalk("user: Hello", "assistant: You said Hello")
	if _, answer = d.post("/api/show", `{"model":"llama3"}`); !strings.Contains(answer, "context_length") {
		t.Errorf("show says %s", answer)
	}
}
