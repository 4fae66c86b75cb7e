package openai_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// program is the program with its faces, and what stands in for its model.
type program struct {
	t      *testing.T
	sb     *local.Scrollback
	serves bool // a model's server
	url    string
}

// start starts the program. upstream is a server of OpenAI's API; nil has the model answer inside.
func start(t *testing.T, m model.Model, upstream http.Handler) *program {
	t.Helper()
	o := &local.Options{Database: "memory:", Env: func(string) string { return "" }}
	if upstream != nil {
		up := httptest.NewServer(upstream)
		t.Cleanup(up.Close)
		o.Env = func(name string) string {
			return map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": up.URL + "/v1"}[name]
		}
		o.Model = "openai/gpt-5"
	} else {
		o.Models = map[string]model.Model{"script": m}
		o.Model = "script"
	}
	sb, err := local.Open(t.Context(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	p := &program{t: t, sb: sb, serves: upstream != nil}
	p.serve()
	return p
}

// serve serves the faces again: nothing is held from before.
func (p *program) serve() {
	log := slog.New(slog.DiscardHandler)
	srv := httptest.NewServer(server.Handler(p.sb.Engine, p.sb.Transfer, server.Options{Version: "test", Log: log,
		Door:      door.New(door.Options{Log: log, Serves: func(of string) bool { return of == "openai" && p.serves }}),
		DoorBytes: 1 << 20}, true))
	p.t.Cleanup(srv.Close)
	p.url = srv.URL
}

// script starts the program with a scripted model.
func script(t *testing.T, steps ...modeltest.Step) (*program, *modeltest.Script) {
	m := modeltest.NewScript(model.Facts{Name: "script"}, steps...)
	return start(t, m, nil), m
}

// send sends a request and returns what came.
func (p *program) send(method, path, body string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer sk-any")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Errorf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, string(out)
}

// object is JSON as it came.
type object = map[string]any

func decode(t *testing.T, text string) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return o
}

// at returns a value inside one, by names and indices.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			o, _ := v.(object)
			v = o[p]
		case int:
			l, _ := v.([]any)
			if p < 0 {
				p += len(l)
			}
			if p < 0 || p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// ask asks for an answer that is not a stream.
func (p *program) ask(body string) object {
	p.t.Helper()
	status, out := p.send("POST", "/v1/responses", body)
	if status != http.StatusOK {
		p.t.Fatalf("%d %s", status, out)
	}
	return decode(p.t, out)
}

// stream asks for a stream and returns its events.
func (p *program) stream(method, path, body string) []object {
	p.t.Helper()
	status, out := p.send(method, path, body)
	if status != http.StatusOK {
		p.t.Fatalf("%d %s", status, out)
	}
	return readEvents(p.t, out)
}

// readEvents reads a stream; each event has its name in a line of its own.
func readEvents(t *testing.T, out string) []object {
	t.Helper()
	var events []object
	name := ""
	lines := bufio.NewScanner(bytes.NewReader([]byte(out)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "event: "); ok {
			name = rest
		}
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			e := decode(t, rest)
			if e["type"] != name {
				t.Errorf("the event %v is called %q", e["type"], name)
			}
			events = append(events, e)
		}
	}
	return events
}

func types(events []object) string {
	var out []string
	for _, e := range events {
		name, _ := e["type"].(string)
		out = append(out, strings.TrimPrefix(name, "response."))
	}
	return strings.Join(out, " ")
}

// checkStream checks what every stream of responses must be: numbers grow by one, what ends was begun under the same
// id, and the last event holds all items as they were said to be done.
func checkStream(t *testing.T, events []object) {
	t.Helper()
	open := map[any]any{}
	var done []any
	var id any
	for i, e := range events {
		if n, _ := e["sequence_number"].(float64); int(n) != i {
			t.Errorf("event %d has the number %v", i, e["sequence_number"])
		}
		if r := at(e, "response"); r != nil {
			if id == nil {
				id = at(r, "id")
			}
			if at(r, "id") != id {
				t.Errorf("%v is about %v, not %v", e["type"], at(r, "id"), id)
			}
		}
		switch e["type"] {
		case "response.output_item.added":
			open[e["output_index"]] = at(e, "item", "id")
		case "response.output_item.done":
			if open[e["output_index"]] != at(e, "item", "id") {
				t.Errorf("item %v ends as %v", open[e["output_index"]], at(e, "item", "id"))
			}
			done = append(done, e["item"])
		default:
			if item := e["item_id"]; item != nil && open[e["output_index"]] != item {
				t.Errorf("%v of %v, where %v is written", e["type"], item, open[e["output_index"]])
			}
		}
	}
	last := events[len(events)-1]
	if last["type"] != "response.completed" {
		t.Fatalf("the last event is %v", last)
	}
	a, _ := json.Marshal(done)
	b, _ := json.Marshal(at(last, "response", "output"))
	if string(a) != string(b) {
		t.Errorf("done are\n%s\nthe answer has\n%s", a, b)
	}
}

// conversations lists the conversations that are stored, each with its messages as "role: text".
func (p *program) conversations() [][]string {
	p.t.Helper()
	v := p.sb.Engine.As(scrollback.Operator())
	list, _, err := v.List(p.t.Context(), scrollback.ListQuery{Limit: 50})
	if err != nil {
		p.t.Fatal(err)
	}
	var out [][]string
	for _, c := range list {
		page, err := v.Turns().Page(p.t.Context(), c.ID, scrollback.PageQuery{After: new(int64), Limit: 200})
		if err != nil {
			p.t.Fatal(err)
		}
		var said []string
		for _, m := range page.Messages {
			line := string(m.Role) + ":"
			for _, part := range m.Parts {
				switch part := part.(type) {
				case scrollback.Text:
					line += " " + part.Text
				case scrollback.ToolCall:
					line += " " + part.Name + string(part.Arguments)
				case scrollback.ToolResult:
					line += " =" + part.Text
				default:
				}
			}
			said = append(said, line)
		}
		out = append(out, said)
	}
	return out
}

// wantTalk compares the only conversation with what was said.
func (p *program) wantTalk(want ...string) {
	p.t.Helper()
	got := p.conversations()
	if len(got) != 1 || strings.Join(got[0], "\n") != strings.Join(want, "\n") {
		p.t.Errorf("stored are %q, want one of %q", got, want)
	}
}

// upstream is a server of responses that answers what it is told to, and keeps what it was sent.
type upstream struct {
	mu      sync.Mutex
	bodies  []object
	answers []func(w http.ResponseWriter, body object)
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body object
	_ = json.Unmarshal(raw, &body)
	u.mu.Lock()
	u.bodies = append(u.bodies, body)
	answer := u.answers[min(len(u.bodies), len(u.answers))-1]
	u.mu.Unlock()
	answer(w, body)
}

func (u *upstream) sent(i int) object {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i < 0 {
		i += len(u.bodies)
	}
	return u.bodies[i]
}

// saying answers with a text as the server of responses does, with a field that we do not know. cut ends it early.
func saying(text string, cut bool) func(http.ResponseWriter, object) {
	return func(w http.ResponseWriter, body object) {
		item := object{"id": "msg_up", "type": "message", "status": "completed", "role": "assistant",
			"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}}}
		answer := object{"id": "resp_up", "object": "response", "created_at": 1, "status": "in_progress", "model": body["model"],
			"output": []any{}, "unheard_of": 1}
		whole := object{"id": "resp_up", "object": "response", "created_at": 1, "status": "completed", "model": body["model"],
			"output": []any{item}, "unheard_of": 1,
			"usage": object{"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}}
		if body["stream"] != true {
			w.Header().Set("Content-Type", "application/json")
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			_ = enc.Encode(whole)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		n := 0
		event := func(name string, o object) {
			o["type"] = name
			o["sequence_number"] = n
			n++
			b, _ := json.Marshal(o)
			_, _ = io.WriteString(w, "event: "+name+"\ndata: "+string(b)+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		event("response.created", object{"response": answer})
		event("response.output_item.added", object{"output_index": 0, "item": object{"id": "msg_up", "type": "message",
			"status": "in_progress", "role": "assistant", "content": []any{}}})
		event("response.content_part.added", object{"output_index": 0, "content_index": 0, "item_id": "msg_up",
			"part": object{"type": "output_text", "text": "", "annotations": []any{}}})
		event("response.output_text.delta", object{"output_index": 0, "content_index": 0, "item_id": "msg_up", "delta": text})
		if cut {
			return
		}
		event("response.output_text.done", object{"output_index": 0, "content_index": 0, "item_id": "msg_up", "text": text})
		event("response.output_item.done", object{"output_index": 0, "item": item})
		event("response.completed", object{"response": whole})
	}
}

// refusing answers with an error.
func refusing(status int, body string) func(http.ResponseWriter, object) {
	return func(w http.ResponseWriter, _ object) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func toText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
