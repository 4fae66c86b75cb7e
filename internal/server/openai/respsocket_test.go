package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// line is a connection of a client.
type line struct {
	t    *testing.T
	conn *websocket.Conn
}

func (p *program) connect() *line {
	p.t.Helper()
	conn, resp, err := websocket.Dial(p.t.Context(), p.url+"/v1/responses", &websocket.DialOptions{HTTPHeader: http.Header{
		"Authorization": {"Bearer sk-any"}, "Openai-Beta": {"responses_websockets=2026-02-06"},
		"X-Codex-Turn-Metadata": {`{"request_kind":"prewarm"}`}}})
	if err != nil {
		p.t.Fatal(err)
	}
	if resp.Body != nil {
		_ = resp.Body.Close()
	}
	p.t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return &line{p.t, conn}
}

// ask sends a message and returns what comes up to the event that ends the answer.
func (l *line) ask(message string) []object {
	l.t.Helper()
	if err := l.conn.Write(l.t.Context(), websocket.MessageText, []byte(message)); err != nil {
		l.t.Fatal(err)
	}
	var events []object
	for {
		_, b, err := l.conn.Read(l.t.Context())
		if err != nil {
			l.t.Fatalf("%v after %s", err, types(events))
		}
		e := decode(l.t, string(b))
		events = append(events, e)
		switch e["type"] {
		case "error", "response.completed", "response.failed":
			return events
		}
	}
}

// answer returns the id and the text of an answer that ended well.
func (l *line) answer(message string) (id, text string) {
	l.t.Helper()
	events := l.ask(message)
	checkStream(l.t, events)
	r := at(events[len(events)-1], "response")
	id, _ = at(r, "id").(string)
	text, _ = at(r, "output", -1, "content", 0, "text").(string)
	return id, text
}

func (l *line) wantError(message, code string) {
	l.t.Helper()
	events := l.ask(message)
	e := events[len(events)-1]
	if status, _ := e["status"].(float64); len(events) != 1 || e["type"] != "error" || at(e, "error", "code") != code ||
		status != 400 {
		l.t.Errorf("%s is answered with %v", message, events)
	}
}

// On a connection answers come one after the other, and go on from each other although they are not stored.
func TestSocketChain(t *testing.T) {
	p, m := script(t, modeltest.Say("OK"), modeltest.Say("Cobalt"), modeltest.Say("New"))
	l := p.connect()
	id, _ := l.answer(`{"type":"response.create","model":"m","store":false,"input":"The word is cobalt"}`)
	_, text := l.answer(`{"type":"response.create","model":"m","store":false,"input":"Which word?","previous_response_id":"` +
		id + `"}`)
	if text != "Cobalt" {
		t.Errorf("the answer is %q", text)
	}
	p.wantTalk("user: The word is cobalt", "assistant: OK", "user: Which word?", "assistant: Cobalt")
	if _, text = l.answer(`{"type":"response.create","model":"m","store":false,"input":"Something else"}`); text != "New" ||
		len(p.conversations()) != 2 || len(m.Requests()) != 3 {
		t.Errorf("another request is answered with %q; stored are %q", text, p.conversations())
	}
	l.wantError(`{"type":"response.create","model":"m","store":false,"input":"x","previous_response_id":"`+id+`"}`,
		"previous_response_not_found")
	l.wantError(`{"type":"response.create","model":"m","input":"x","previous_response_id":"resp_none"}`,
		"previous_response_not_found")
	l.wantError(`{"type":"session.update"}`, "invalid")
	l.wantError(`{"type":`, "invalid")
}

// A warm-up has no answer and can be gone on from; nothing of it is stored.
func TestSocketWarmUp(t *testing.T) {
	p, m := script(t, modeltest.Say("Hello"))
	l := p.connect()
	const warm = `{"type":"response.create","model":"m","store":false,"generate":false,` +
		`"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief"}]}]}`
	events := l.ask(warm)
	r := at(events[len(events)-1], "response")
	if out, _ := at(r, "output").([]any); len(out) != 0 || at(r, "status") != "completed" || len(m.Requests()) != 0 {
		t.Errorf("the warm-up is answered with %v", r)
	}
	id, _ := at(r, "id").(string)
	if _, text := l.answer(`{"type":"response.create","model":"m","store":false,"previous_response_id":"` + id +
		`","input":"Hi"}`); text != "Hello" {
		t.Errorf("the answer is %q", text)
	}
	p.wantTalk("user: Hi", "assistant: Hello")
}

// The same warm-up again, on another connection, asks no model either: a program warms up whenever it starts.
func TestSocketWarmUpAgain(t *testing.T) {
	p, m := script(t, modeltest.Say("Hello"))
	const warm = `{"type":"response.create","model":"m","store":false,"generate":false,"input":[]}`
	for range 3 {
		events := p.connect().ask(warm)
		r := at(events[len(events)-1], "response")
		if out, _ := at(r, "output").([]any); len(out) != 0 || at(r, "status") != "completed" || len(m.Requests()) != 0 {
			t.Errorf("the warm-up is answered with %v, after %d requests to the model", r, len(m.Requests()))
		}
	}
}

// A continuation that fails ends the chain; a stored answer can be gone on from all the same.
func TestSocketFailedContinuation(t *testing.T) {
	fault := scrollback.Errorf(scrollback.Unavailable, "test", "the server is down").WithReason(scrollback.ErrUpstream)
	p, _ := script(t, modeltest.Say("OK"), modeltest.Say("OK"),
		modeltest.Step{Deltas: []model.Delta{{Text: "Ha"}}, Err: fault}, modeltest.Say("Stored"), modeltest.Say("On"))
	l := p.connect()
	from := func(id, input string) string {
		return `{"type":"response.create","model":"m","store":false,"input":` + input + `,"previous_response_id":"` + id + `"}`
	}
	id, _ := l.answer(`{"type":"response.create","model":"m","store":false,"input":"The word is ember"}`)
	l.wantError(from(id, `[{"type":"function_call_output","call_id":"call_none","output":"x"}]`), "invalid")
	l.wantError(from(id, `"Again"`), "previous_response_not_found")
	id, _ = l.answer(`{"type":"response.create","model":"m","store":false,"input":"The word is coal"}`)
	events := l.ask(from(id, `"Which?"`))
	if got := types(events); !strings.HasSuffix(got, "output_text.delta failed") {
		t.Errorf("the stream is %s", got)
	}
	l.wantError(from(id, `"Again"`), "previous_response_not_found")
	id, _ = l.answer(`{"type":"response.create","model":"m","input":"The word is ash"}`)
	if _, text := p.connect().answer(from(id, `"Which?"`)); text != "On" {
		t.Errorf("a stored answer is gone on from with %q", text)
	}
}

// After a new connection a chain that is not stored is gone, and the whole history begins no second conversation.
func TestSocketReconnect(t *testing.T) {
	p, _ := script(t, modeltest.Say("One"), modeltest.Say("Two"))
	id, _ := p.connect().answer(`{"type":"response.create","model":"m","store":false,"input":"First"}`)
	l := p.connect()
	l.wantError(`{"type":"response.create","model":"m","store":false,"input":"Second","previous_response_id":"`+id+`"}`,
		"previous_response_not_found")
	l.answer(`{"type":"response.create","model":"m","store":false,"input":[{"role":"user","content":"First"},` +
		`{"role":"assistant","content":[{"type":"output_text","text":"One"}]},{"role":"user","content":"Second"}]}`)
	p.wantTalk("user: First", "assistant: One", "user: Second", "assistant: Two")
}

// A chain goes to a model's server of responses whole, over HTTP; its refusals come back in its words.
func TestSocketForwarded(t *testing.T) {
	u := &upstream{answers: []func(http.ResponseWriter, object){saying("OK", false), saying("Cobalt", false),
		refusing(422, `{"error":{"message":"No","type":"invalid_request_error","param":null,"code":"bad"}}`), saying("Half", true)}}
	p := start(t, nil, u)
	l := p.connect()
	id, _ := l.answer(`{"type":"response.create","model":"gpt-5","store":false,"input":"The word is cobalt","odd":1}`)
	_, text := l.answer(`{"type":"response.create","model":"gpt-5","store":false,"input":"Which?","odd":1,` +
		`"previous_response_id":"` + id + `"}`)
	sent := u.sent(1)
	body, _ := json.Marshal(sent["input"])
	if text != "Cobalt" || sent["odd"] != 1.0 || sent["previous_response_id"] != nil || sent["type"] != nil ||
		at(sent, "input", 0, "content") != "The word is cobalt" || at(sent, "input", 1, "content", 0, "text") != "OK" ||
		at(sent, "input", 2, "content") != "Which?" {
		t.Errorf("upstream got %v with %s; the answer is %q", sent, body, text)
	}
	p.wantTalk("user: The word is cobalt", "assistant: OK", "user: Which?", "assistant: Cobalt")
	events := l.ask(`{"type":"response.create","model":"gpt-5","store":false,"input":"Refused"}`)
	if e := events[0]; e["status"] != 422.0 || at(e, "error", "code") != "bad" {
		t.Errorf("a refusal comes as %v", events)
	}
	events = l.ask(`{"type":"response.create","model":"gpt-5","store":false,"input":"Cut"}`)
	if got := types(events); !strings.HasSuffix(got, "output_text.delta failed") {
		t.Errorf("a cut stream is %s", got)
	}
}

// What wants a compaction gets one item; with it in place of the history the conversation goes on.
func TestCompactionTrigger(t *testing.T) {
	p, _ := script(t, modeltest.Say("One"), modeltest.Say("They said First and One"), modeltest.Say("Two"))
	l := p.connect()
	id, _ := l.answer(`{"type":"response.create","model":"m","store":false,"input":"First","prompt_cache_key":"k",` +
		`"client_metadata":{"thread_id":"t1"}}`)
	events := l.ask(`{"type":"response.create","model":"m","store":false,"input":[{"type":"compaction_trigger"}],` +
		`"client_metadata":{"thread_id":"t1"},"previous_response_id":"` + id + `"}`)
	checkStream(t, events)
	out, _ := at(events[len(events)-1], "response", "output").([]any)
	if len(out) != 1 || at(out[0], "type") != "compaction" {
		t.Fatalf("the answer is %v", out)
	}
	item, _ := json.Marshal(out[0])
	l.answer(`{"type":"response.create","model":"m","store":false,"client_metadata":{"thread_id":"t1"},"input":[` +
		`{"role":"user","content":"First"},` + string(item) + `,{"role":"user","content":"Second"}]}`)
	all := p.conversations()
	if len(all) != 1 || all[0][0] != "user: First" || all[0][len(all[0])-1] != "assistant: Two" {
		t.Errorf("stored are %q", all)
	}
}
