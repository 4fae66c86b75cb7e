package server_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/anthropicapi"
)

const version = "anthropic-version: 2023-06-01"

// claude is an answer as a client of Anthropic's puts it together from a stream.
type claude struct {
	start  map[string]any
	blocks []map[string]any
	stop   string
	usage  map[string]any
	fault  string
}

// readClaude reads a stream as strictly as a client may: each event has its name, begins after another has ended, and
// none comes behind the last.
func readClaude(t *testing.T, r reply) (out claude) {
	t.Helper()
	if r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("no stream: %d %s", r.status, r.body)
	}
	open := -1
	var input string
	ended := false
	for frame := range strings.SplitSeq(strings.TrimSuffix(r.body, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(frame, "\ndata: ")
		var ev struct {
			Type    string         `json:"type"`
			Message map[string]any `json:"message"`
			Index   int            `json:"index"`
			Block   map[string]any `json:"content_block"`
			Delta   map[string]any `json:"delta"`
			Usage   map[string]any `json:"usage"`
			Error   map[string]any `json:"error"`
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil || !ok || name != "event: "+ev.Type || ended {
			t.Fatalf("frame %q (ended: %v): %v", frame, ended, err)
		}
		if (out.start == nil) != (ev.Type == "message_start") && ev.Type != "error" {
			t.Fatalf("%s comes first or again", ev.Type)
		}
		switch ev.Type {
		case "message_start":
			out.start = ev.Message
		case "content_block_start":
			if open >= 0 || ev.Index != len(out.blocks) {
				t.Fatalf("block %d begins, %d is open", ev.Index, open)
			}
			open = ev.Index
			input = ""
			out.blocks = append(out.blocks, ev.Block)
		case "content_block_delta":
			if ev.Index != open {
				t.Fatalf("a piece of block %d, %d is open", ev.Index, open)
			}
			b := out.blocks[open]
			switch ev.Delta["type"] {
			case "text_delta":
				b["text"] = b["text"].(string) + ev.Delta["text"].(string)
			case "thinking_delta":
				b["thinking"] = b["thinking"].(string) + ev.Delta["thinking"].(string)
			case "signature_delta":
				b["signature"] = ev.Delta["signature"]
			case "input_json_delta":
				input += ev.Delta["partial_json"].(string)
			default:
				t.Fatalf("a piece of no known type: %s", data)
			}
		case "content_block_stop":
			if ev.Index != open {
				t.Fatalf("block %d ends, %d is open", ev.Index, open)
			}
			if input != "" {
				out.blocks[open]["input"] = input
			}
			open = -1
		case "message_delta":
			if open >= 0 {
				t.Fatalf("block %d is open at the end", open)
			}
			out.stop, _ = ev.Delta["stop_reason"].(string)
			out.usage = ev.Usage
		case "message_stop":
			ended = true
		case "error":
			ended = true
			out.fault = fmt.Sprint(ev.Error["type"])
		case "ping":
		default:
			t.Fatalf("no known event: %s", frame)
		}
	}
	if !ended {
		t.Fatalf("the stream does not end: %q", r.body)
	}
	return out
}

// says lists the blocks of an answer.
func (c claude) says() (out []string) {
	for _, b := range c.blocks {
		switch b["type"] {
		case "text":
			out = append(out, fmt.Sprint("text ", b["text"]))
		case "thinking":
			out = append(out, fmt.Sprint("thinking ", b["thinking"], " ", b["signature"]))
		case "tool_use":
			out = append(out, fmt.Sprint("tool_use ", b["name"], b["input"]))
		default:
			out = append(out, fmt.Sprint(b["type"], " ", b["data"]))
		}
	}
	return out
}

func messagesBody(modelName string, stream bool, messages ...string) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":999,"stream":%v,"messages":[%s],"tools":[{"name":"look","description":`+
		`"Looks.","input_schema":{"type":"object","properties":{}}}]}`, modelName, stream, strings.Join(messages, ","))
}

// The model's server speaks the client's API: what it says arrives as it was written, a second turn with the history is
// the same conversation, a tool's call and its result are there once, and the server, which is strict, refuses nothing.
func TestMessagesForwarded(t *testing.T) {
	script := modeltest.NewScript(model.Facts{}, modeltest.Step{Deltas: []model.Delta{{Reasoning: "Where? "},
		{Reasoning: "There."}, {Text: "I look."}, {Call: &scrollback.ToolCall{ID: "toolu_1", Name: "look",
			Arguments: json.RawMessage(`{"at":"<a>"}`)}}}}, modeltest.Say("It is ", "blue."), modeltest.Say("Bye."))
	stand := anthropicapi.New(script, &anthropicapi.Options{Key: "k"})
	up := httptest.NewServer(stand)
	defer up.Close()
	c := newClientRig(t, nil, map[string]string{"ANTHROPIC_BASE_URL": up.URL, "ANTHROPIC_API_KEY": "k"}, door.Options{})
	const name = "claude-opus-4-6"
	ask := `{"role":"user","content":"What colour is it?"}`
	first := c.send("POST", "/v1/messages?beta=true", strings.Replace(messagesBody(name, true, ask), `"max_tokens":999`,
		`"max_tokens":9999,"thinking":{"type":"adaptive"}`, 1), version)
	got := readClaude(t, first)
	if len(got.blocks) != 3 || got.stop != "tool_use" || got.blocks[0]["signature"] == "" ||
		got.start["id"] != "msg_0001" {
		t.Fatalf("%+v", got)
	}
	if first.header.Get("X-Scrollback-Conversation") == "" || first.header.Get("Request-Id") != "req_0001" {
		t.Errorf("header %v", first.header)
	}
	got.blocks[2]["input"] = json.RawMessage(got.blocks[2]["input"].(string))
	said, err := json.Marshal(map[string]any{"role": "assistant", "content": got.blocks})
	if err != nil {
		t.Fatal(err)
	}
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"blue"}]}`
	second := readClaude(t, c.send("POST", "/v1/messages", messagesBody(name, true, ask, string(said), result), version))
	if second.stop != "end_turn" || strings.Join(second.says(), "|") != "text It is blue." {
		t.Errorf("%+v", second)
	}
	readClaude(t, c.send("POST", "/v1/messages", messagesBody(name, true, ask, string(said), result,
		`{"role":"assistant","content":[{"type":"text","text":"It is blue."}]}`,
		`{"role":"user","content":"Thanks."}`), version))
	c.holds("user What colour is it?", `assistant (Where? There.) I look. look{"at":"<a>"}`, "tool -> blue",
		"assistant It is blue.", "user Thanks.", "assistant Bye.")
	if r := stand.Refusals(); len(r) > 0 {
		t.Errorf("refused: %v", r)
	}
}

// Another model answers, in the client's dialect: streamed, and as a whole.
func TestMessagesFromAnotherModel(t *testing.T) {
	step := modeltest.Step{Deltas: []model.Delta{
		{Reasoning: "Hm"}, {Reasoning: "m.", Opaque: scrollback.Opaque(`{"signature":"c2ln"}`)},
		{Opaque: scrollback.Opaque(`{"redacted":"cmVk"}`)}, {Reasoning: "Foreign."}, {End: true}, {Text: "Here "}, {Text: "it <is>."},
		{Call: &scrollback.ToolCall{ID: "x", Name: "look", Arguments: json.RawMessage(`{"at":1}`)}},
		{Usage: &scrollback.Usage{InputTokens: 100, CachedTokens: 60, CacheWriteTokens: 10, OutputTokens: 7}},
	}}
	want := "thinking Hmm. c2ln|redacted_thinking cmVk|thinking Foreign. |text Here it <is>.|tool_use look{\"at\":1}"
	c := newClientRig(t, modeltest.NewScript(model.Facts{}, step), nil, door.Options{})
	got := readClaude(t, c.send("POST", "/v1/messages", messagesBody("unknown", true, `{"role":"user","content":"Go"}`)))
	if s := strings.Join(got.says(), "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if got.stop != "tool_use" || got.start["model"] != "unknown" || got.start["role"] != "assistant" {
		t.Errorf("%+v", got)
	}
	wantUsage := "map[cache_creation_input_tokens:10 cache_read_input_tokens:60 input_tokens:30 output_tokens:7]"
	if s := fmt.Sprint(got.usage); s != wantUsage {
		t.Errorf("usage %s", s)
	}
	r := c.send("POST", "/v1/messages", messagesBody("unknown", false, `{"role":"user","content":"Go on"}`))
	var whole struct {
		ID      string           `json:"id"`
		Type    string           `json:"type"`
		Content []map[string]any `json:"content"`
		Stop    string           `json:"stop_reason"`
		Usage   map[string]any   `json:"usage"`
	}
	if err := json.Unmarshal([]byte(r.body), &whole); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	for _, b := range whole.Content {
		if b["type"] == "tool_use" {
			in, err := json.Marshal(b["input"])
			if err != nil {
				t.Fatal(err)
			}
			b["input"] = string(in)
		}
	}
	if s := strings.Join(claude{blocks: whole.Content}.says(), "|"); s != want || whole.Stop != "tool_use" ||
		!strings.HasPrefix(whole.ID, "msg_") || whole.Type != "message" || fmt.Sprint(whole.Usage) != wantUsage {
		t.Errorf("whole: %s", r.body)
	}
}

// A client that resends its history to a model of another API, with a tool's call and its result, has one conversation
// with nothing in it twice.
func TestMessagesHistoryElsewhere(t *testing.T) {
	c := newClientRig(t, modeltest.NewScript(model.Facts{}, modeltest.Call(scrollback.ToolCall{ID: "x", Name: "look",
		Arguments: json.RawMessage(`{"at":1}`)}), modeltest.Say("Blue."), modeltest.Say("Bye.")), nil, door.Options{})
	ask := `{"role":"user","content":[{"type":"text","text":"Colour?","cache_control":{"type":"ephemeral"}}]}`
	got := readClaude(t, c.send("POST", "/v1/messages", messagesBody("m", true, ask)))
	id := got.blocks[0]["id"].(string)
	said := `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"look","input":{"at":1,"more":false}}]}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":[{"type":"text","text":"blue"}]}]}`
	readClaude(t, c.send("POST", "/v1/messages", messagesBody("m", true, ask, said, result)))
	r := c.send("POST", "/v1/messages", messagesBody("m", false, strings.Replace(ask, `,"cache_control":{"type":"ephemeral"}`,
		"", 1), said, result, `{"role":"assistant","content":"Blue."}`, `{"role":"user","content":"Thanks."}`))
	if r.status != 200 || !strings.Contains(r.body, `"text":"Bye."`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	c.holds("user Colour?", `assistant look{"at":1}`, "tool -> blue", "assistant Blue.", "user Thanks.", "assistant Bye.")
}

// What fails before an answer has begun has a status; within it, it is the event by which a client knows.
func TestMessagesFail(t *testing.T) {
	limited := scrollback.Errorf(scrollback.RateLimited, "model.Stream", "slower")
	broken := scrollback.Errorf(scrollback.Unavailable, "model.Stream", "broke").WithReason(scrollback.ErrUpstream)
	c := newClientRig(t, modeltest.NewScript(model.Facts{}, modeltest.Step{Err: limited},
		modeltest.Step{Deltas: []model.Delta{{Text: "Half"}}, Err: broken},
		modeltest.Step{Deltas: []model.Delta{{Text: "Half"}}, Err: broken}), nil, door.Options{})
	body := func(stream bool, text string) string {
		return messagesBody("m", stream, `{"role":"user","content":"`+text+`"}`)
	}
	r := c.send("POST", "/v1/messages", body(true, "one"))
	if r.status != 429 || r.header.Get("Retry-After") == "" ||
		!strings.HasPrefix(r.body, `{"type":"error","error":{"type":"rate_limit_error","code":"rate_limited","message":`) {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	got := readClaude(t, c.send("POST", "/v1/messages", body(true, "two")))
	if got.fault != "api_error" || strings.Join(got.says(), "") != "text Half" {
		t.Errorf("%+v", got)
	}
	if r := c.send("POST", "/v1/messages", body(false, "three")); r.status != 502 ||
		!strings.Contains(r.body, `"type":"api_error"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := c.send("POST", "/v1/messages", `[]`); r.status != 400 ||
		!strings.Contains(r.body, `"type":"invalid_request_error"`) || !strings.Contains(r.body, `"param":"body"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A thread goes on from an answer by its id, with only what is new: the model gets the whole history and the tools,
// whoever answered. One that is not known is refused in the words by which the client sends everything again.
func TestMessageThreads(t *testing.T) {
	up := newUpstream(t, answerWith(200, "application/json", `{"id":"msg_up","type":"message","role":"assistant","content":[`+
		`{"type":"tool_use","id":"toolu_1","name":"look","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":5}}`),
		answerWith(200, "text/event-stream", strings.Replace(claudeStart, `"Half"`, `"Blue"`, 1)+
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"+
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"+
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"))
	c := newClientRig(t, nil, map[string]string{"ANTHROPIC_BASE_URL": up.URL, "ANTHROPIC_API_KEY": "k"}, door.Options{})
	create := strings.Replace(messagesBody("claude-x", false, `{"role":"user","content":"Colour?"}`), `"max_tokens"`,
		`"thread":{"type":"create"},"system":"Be brief.","max_tokens"`, 1)
	r := c.send("POST", "/v1/messages", create, version)
	var first struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(r.body), &first); err != nil || r.status != 200 || first.ID == "msg_up" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	goOn := func(id, content string) string {
		return fmt.Sprintf(`{"model":"claude-x","max_tokens":999,"stream":false,"thread":{"type":"continue",`+
			`"previous_message_id":%q},"messages":[{"role":"user","content":%s}]}`, id, content)
	}
	result := `[{"type":"tool_result","tool_use_id":"toolu_1","content":"blue"}]`
	if r = c.send("POST", "/v1/messages", goOn(first.ID, result), version); !strings.Contains(r.body, `"text":"Blue"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	c.holds("user Colour?", "assistant look{}", "tool -> blue", "assistant Blue")
	bodies, _ := up.asked()
	if strings.Contains(bodies[0], "thread") || len(bodies) != 2 {
		t.Errorf("asked %v", bodies)
	}
	for _, part := range []string{"Colour?", `"tool_use"`, `"tool_result"`, `"name":"look","description":"Looks."`, "Be brief."} {
		if !strings.Contains(bodies[1], part) {
			t.Errorf("the model's server is not told of %s: %s", part, bodies[1])
		}
	}
	r = c.send("POST", "/v1/messages", goOn("msg_nope", result), version)
	if r.status != 404 || !strings.Contains(r.body, `"type":"not_found_error"`) ||
		!strings.Contains(r.body, `"details":{"error_code":"thread_not_found"}`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A request without a message asks nothing, and nothing is stored of it.
func TestMessagesEmpty(t *testing.T) {
	c := newClientRig(t, modeltest.NewScript(model.Facts{}, modeltest.Say("x")), nil, door.Options{})
	for _, body := range []string{`{"model":"m","max_tokens":9,"messages":[]}`, `{"model":"m","messages":"words"}`, `{}`} {
		if r := c.send("POST", "/v1/messages", body); r.status != 400 || !strings.Contains(r.body, "nothing to answer") {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	if list, _, err := c.sb.List(t.Context(), scrollback.ListQuery{}); len(list) > 0 || err != nil {
		t.Errorf("stored: %v %v", list, err)
	}
}

// A request that cannot fit says so in the words that clients act on, and need not be sent again.
func TestMessagesTooLong(t *testing.T) {
	c := newClientRig(t, modeltest.NewScript(model.Facts{Limit: 4000, MaxOutput: 1000}, modeltest.Say("x")), nil,
		door.Options{})
	body := `{"model":"m","max_tokens":9,"system":"` + strings.Repeat("many different words ", 3000) +
		`","messages":[{"role":"user","content":"Go"}]}`
	r := c.send("POST", "/v1/messages", body)
	if r.status != 400 || !strings.Contains(r.body, `"message":"prompt is too long: `) ||
		!strings.Contains(r.body, ` tokens \u003e `) || r.header.Get("Retry-After") != "" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

const claudeStart = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_up\",\"type\":" +
	"\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n" +
	"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\"," +
	"\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":" +
	"\"text_delta\",\"text\":\"Half\"}}\n\n"

// A stream of the model's server that is cut ends in whole events, the last of which is an error; what the server says
// itself of its failing is said once.
func TestMessagesCut(t *testing.T) {
	up := newUpstream(t, cutAfter("text/event-stream", claudeStart+"event: content_block_delta\ndata: {\"type\":\"cont"),
		answerWith(200, "text/event-stream", claudeStart),
		answerWith(200, "text/event-stream", claudeStart+
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"),
		cutAfter("application/json", `{"id":"msg_up","type":"message",`+"\n"+`"content":[{"type":"te`),
		answerWith(529, "application/json", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
	c := newClientRig(t, nil, map[string]string{"ANTHROPIC_BASE_URL": up.URL, "ANTHROPIC_API_KEY": "k"}, door.Options{})
	send := func(stream bool, text string) reply {
		return c.send("POST", "/v1/messages", messagesBody("claude-x", stream, `{"role":"user","content":"`+text+`"}`), version)
	}
	for _, of := range []struct{ ask, fault string }{{"one", "api_error"}, {"two", "api_error"}, {"three", "overloaded_error"}} {
		if got := readClaude(t, send(true, of.ask)); got.fault != of.fault || strings.Join(got.says(), "") != "text Half" {
			t.Errorf("%s: %+v", of.ask, got)
		}
	}
	if r := send(false, "four"); r.status != 502 || !strings.Contains(r.body, `"type":"api_error"`) {
		t.Errorf("a body that was cut: %d %s", r.status, r.body)
	}
	if r := send(true, "five"); r.status != 529 || !strings.Contains(r.body, `"overloaded_error"`) {
		t.Errorf("a refusal: %d %s", r.status, r.body)
	}
}

// What is not streamed is passed as it is.
func TestMessagesForwardedWhole(t *testing.T) {
	const said = "{\n \"id\":\"msg_up\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}],\n" +
		"\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1},\"new\":1}"
	up := newUpstream(t, answerWith(200, "application/json", said))
	c := newClientRig(t, nil, map[string]string{"ANTHROPIC_BASE_URL": up.URL, "ANTHROPIC_API_KEY": "k"}, door.Options{})
	r := c.send("POST", "/v1/messages", messagesBody("claude-x", false, `{"role":"user","content":"Go"}`), version)
	if r.body != said || r.header.Get("Request-Id") != "req_up" {
		t.Errorf("%v %s", r.header, r.body)
	}
	c.holds("user Go", "assistant Hi")
}

// The tokens of a request are counted by the model's server, or here where it does not: nothing is stored of it.
func TestMessagesCounted(t *testing.T) {
	up := newUpstream(t, answerWith(200, "application/json", `{"input_tokens": 4711}`),
		answerWith(400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}`),
		answerWith(404, "text/html", `<p>`))
	c := newClientRig(t, nil, map[string]string{"ANTHROPIC_BASE_URL": up.URL, "ANTHROPIC_API_KEY": "k"},
		door.Options{Models: map[string]string{"alias": "anthropic/claude-x"}})
	const path = "/v1/messages/count_tokens"
	body := strings.Replace(messagesBody("alias", false, `{"role":"user","content":"one two three"}`), `,"stream":false`, "", 1)
	if r := c.send("POST", path+"?beta=true", body, version); r.body != `{"input_tokens": 4711}` {
		t.Errorf("%d %s", r.status, r.body)
	}
	bodies, paths := up.asked()
	if paths[0] != path || bodies[0] != strings.Replace(body, `"alias"`, `"claude-x"`, 1) {
		t.Errorf("asked %v %v", paths, bodies)
	}
	if r := c.send("POST", path, body, version); r.status != 400 || !strings.Contains(r.body, `"message":"bad"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	count := func(body string) (n int) {
		var out struct {
			Tokens int `json:"input_tokens"`
		}
		r := c.send("POST", path, body, version)
		if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
		return out.Tokens
	}
	few := count(body)
	if few < 10 || few > 100 {
		t.Errorf("%d tokens", few)
	}
	var all sync.WaitGroup
	for range 35 {
		all.Go(func() {
			if n := count(strings.Replace(body, "three", strings.Repeat("three ", 500), 1)); n < few+400 || n > few+900 {
				t.Errorf("%d tokens", n)
			}
		})
	}
	all.Wait()
	if list, _, err := c.sb.List(t.Context(), scrollback.ListQuery{}); len(list) > 0 || err != nil {
		t.Errorf("stored: %v %v", list, err)
	}
	if r := c.send("POST", path, "nothing", version); r.status != 400 ||
		!strings.Contains(r.body, "invalid_request_error") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// Claude Code asks first whether somebody is there.
func TestHello(t *testing.T) {
	c := newClientRig(t, nil, nil, door.Options{})
	for _, method := range []string{"HEAD", "GET"} {
		if r := c.send(method, "/api/hello", ""); r.status != 200 || r.body != "" {
			t.Errorf("%s: %d %q", method, r.status, r.body)
		}
	}
}
