package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

var thoughtful = modeltest.Step{Deltas: []model.Delta{{Reasoning: "Let me "}, {Reasoning: "think"},
	{Opaque: scrollback.Opaque(`{"item":{"type":"reasoning","encrypted_content":"abc"}}`)},
	{Text: "Hel"}, {Text: "lo"}}}

// A stream of ours has the events of the API, in their order.
func TestStream(t *testing.T) {
	p, _ := script(t, thoughtful)
	events := p.stream("POST", "/v1/responses", `{"model":"m","stream":true,"input":"Hi","metadata":{"a":"b"},
		"include":["reasoning.encrypted_content"],"instructions":"Be brief","store":true,
		"tools":[{"type":"function","name":"f","strict":null},{"type":"custom","name":"patch"}]}`)
	checkStream(t, events)
	want := "created in_progress output_item.added reasoning_summary_part.added reasoning_summary_text.delta " +
		"reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done " +
		"output_item.added content_part.added output_text.delta output_text.delta output_text.done content_part.done " +
		"output_item.done completed"
	if got := types(events); got != want {
		t.Errorf("the events are\n%s\nwant\n%s", got, want)
	}
	r := at(events[len(events)-1], "response")
	for _, c := range []struct {
		path []any
		want any
	}{
		{[]any{"status"}, "completed"}, {[]any{"model"}, "m"}, {[]any{"metadata", "a"}, "b"},
		{[]any{"instructions"}, "Be brief"}, {[]any{"store"}, true}, {[]any{"tools", 0, "strict"}, false},
		{[]any{"tools", 1, "name"}, "patch"}, {[]any{"output", 0, "encrypted_content"}, "abc"},
		{[]any{"output", 0, "summary", 0, "text"}, "Let me think"}, {[]any{"output", 1, "content", 0, "text"}, "Hello"},
		{[]any{"previous_response_id"}, nil}, {[]any{"error"}, nil},
	} {
		if got := at(r, c.path...); got != c.want {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
	if n, _ := at(r, "usage", "total_tokens").(float64); n <= 0 {
		t.Errorf("the usage is %v", at(r, "usage"))
	}
	p.wantTalk("user: Hi", "assistant: Hello")
}

// An answer that is not a stream is the same response.
func TestNotStreamed(t *testing.T) {
	p, _ := script(t, thoughtful)
	r := p.ask(`{"model":"m","input":[{"type":"message","role":"user","content":"Hi"}]}`)
	if at(r, "object") != "response" || at(r, "output", 1, "content", 0, "text") != "Hello" || at(r, "status") != "completed" {
		t.Errorf("the answer is %v", r)
	}
	if at(r, "output", 0, "encrypted_content") != nil {
		t.Error("reasoning is given out to be sent again although nobody asked for that")
	}
}

// A call, its result in the next request, which has the whole history; the conversation has one of each.
func TestTools(t *testing.T) {
	call := scrollback.ToolCall{ID: "call_1", Name: "get_weather", Arguments: json.RawMessage(`{"city":"Rome"}`)}
	p, m := script(t, modeltest.Call(call), modeltest.Say("Sunny"))
	const tools = `"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object"}}]`
	events := p.stream("POST", "/v1/responses", `{"model":"m","stream":true,"store":false,"input":"Weather?",`+tools+`}`)
	checkStream(t, events)
	want := "created in_progress output_item.added function_call_arguments.delta function_call_arguments.done " +
		"output_item.done completed"
	if got := types(events); got != want {
		t.Errorf("the events are %s", got)
	}
	item := at(events[len(events)-1], "response", "output", 0)
	if at(item, "type") != "function_call" || at(item, "name") != "get_weather" || at(item, "arguments") != `{"city":"Rome"}` {
		t.Errorf("the call is %v", item)
	}
	back, _ := json.Marshal(item)
	id, _ := at(item, "call_id").(string)
	r := p.ask(`{"model":"m","store":false,"input":[{"role":"user","content":"Weather?"},` + string(back) +
		`,{"type":"function_call_output","call_id":"` + id + `","output":"25 degrees"}],` + tools + `}`)
	if at(r, "output", 0, "content", 0, "text") != "Sunny" {
		t.Errorf("the answer is %v", r)
	}
	p.wantTalk("user: Weather?", `assistant: get_weather{"city":"Rome"}`, "tool: =25 degrees", "assistant: Sunny")
	if n := len(m.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestToolsInTheHistory offers tools as Codex does for its newer models: in an item of the history, some in a namespace
// and one that takes a text. The model has them all as functions, and its calls come in the form that the client has,
// also where the next request goes on by an id and does not name them again.
func TestToolsInTheHistory(t *testing.T) {
	calls := []scrollback.ToolCall{
		{ID: "call_1", Name: "clock__now", Arguments: json.RawMessage(`{"zone":"UTC"}`)},
		{ID: "call_2", Name: "patch", Arguments: json.RawMessage(`{"input":"*** Begin\n+a \"b\""}`)},
		{ID: "call_3", Name: "ls", Arguments: json.RawMessage(`{}`)},
	}
	p, m := script(t, modeltest.Call(calls...), modeltest.Call(calls[1]), modeltest.Say("Done"))
	const tools = `{"type":"additional_tools","role":"developer","tools":[` +
		`{"type":"namespace","name":"clock","description":"Times","tools":[{"type":"function","name":"now",` +
		`"description":"The time","parameters":{"type":"object"}},{"type":"function","name":"no good name"}]},` +
		`{"type":"custom","name":"patch","description":"Patches","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},` +
		`{"type":"web_search"},{"type":"function","name":"ls","parameters":{"type":"object"}}]}`
	events := p.stream("POST", "/v1/responses", `{"model":"m","stream":true,"tools":[],"input":[`+tools+
		`,{"role":"user","content":"Patch it"}]}`)
	checkStream(t, events)
	if got := types(events); !strings.Contains(got, "output_item.added custom_tool_call_input.delta "+
		"custom_tool_call_input.done output_item.done") {
		t.Errorf("the events are %s", got)
	}
	var offered []string
	for _, tool := range m.Requests()[0].Tools {
		if !strings.HasPrefix(tool.Name, scrollback.RecallPrefix) {
			offered = append(offered, tool.Name+": "+tool.Description+" "+string(tool.Parameters))
		}
	}
	want := []string{`clock__now: The time {"type":"object"}`, "patch: Patches\n\nThe input has this form:\nstart: x " +
		`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`, `ls:  {"type":"object"}`}
	if !slices.Equal(offered, want) {
		t.Errorf("the model is offered %q", offered)
	}
	response := at(events[len(events)-1], "response")
	var results []string
	for i, want := range []map[string]any{
		{"type": "function_call", "namespace": "clock", "name": "now", "arguments": `{"zone":"UTC"}`},
		{"type": "custom_tool_call", "namespace": nil, "name": "patch", "input": "*** Begin\n+a \"b\""},
		{"type": "function_call", "namespace": nil, "name": "ls", "arguments": `{}`},
	} {
		item := at(response, "output", i)
		for field, value := range want {
			if at(item, field) != value {
				t.Errorf("of call %d, %s is %v", i, field, at(item, field))
			}
		}
		id, _ := at(item, "call_id").(string)
		results = append(results, `{"type":"`+strings.TrimSuffix(at(item, "type").(string), "_call")+
			`_call_output","call_id":"`+id+`","output":"ok"}`)
	}
	id, _ := at(response, "id").(string)
	r := p.ask(`{"model":"m","previous_response_id":"` + id + `","input":[` + strings.Join(results, ",") + `]}`)
	if item := at(r, "output", 0); at(item, "type") != "custom_tool_call" || at(item, "name") != "patch" {
		t.Errorf("behind an id the call is %v", item)
	}
	id, _ = at(r, "id").(string)
	status, out := p.send("GET", "/v1/responses/"+id+"/input_items?order=asc", "")
	if status != 200 {
		t.Fatalf("%d %s", status, out)
	}
	for i, want := range []string{"message", "function_call", "custom_tool_call", "function_call", "function_call_output",
		"custom_tool_call_output", "function_call_output"} {
		if item := at(decode(t, out), "data", i); at(item, "type") != want ||
			want == "custom_tool_call" && at(item, "input") != "*** Begin\n+a \"b\"" {
			t.Errorf("item %d is listed as %v", i, item)
		}
	}
	p.wantTalk("user: Patch it", `assistant: clock__now{"zone":"UTC"} patch{"input":"*** Begin\n+a \"b\""} ls{}`,
		"tool: =ok", "tool: =ok", "tool: =ok", `assistant: patch{"input":"*** Begin\n+a \"b\""}`)
}

// TestChatTextTool offers a tool that takes a text over chat completions: the model has it as a function, its call is
// one with a text, streamed or not, and is known again when the client sends it back.
func TestChatTextTool(t *testing.T) {
	call := scrollback.ToolCall{ID: "call_1", Name: "sh", Arguments: json.RawMessage(`{"input":"ls \"a\""}`)}
	p, m := script(t, modeltest.Call(call), modeltest.Say("Done"))
	const tools = `"tools":[{"type":"custom","custom":{"name":"sh","description":"Runs","format":{"type":"grammar",` +
		`"grammar":{"syntax":"regex","definition":"ls .*"}}}}]`
	status, out := p.send("POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"List"}],`+tools+`}`)
	made := at(decode(t, out), "choices", 0, "message", "tool_calls", 0)
	if status != 200 || at(made, "type") != "custom" || at(made, "custom", "name") != "sh" ||
		at(made, "custom", "input") != `ls "a"` || at(made, "function") != nil {
		t.Fatalf("%d: the call is %v", status, made)
	}
	if offered := m.Requests()[0].Tools; !slices.ContainsFunc(offered, func(o scrollback.Tool) bool {
		return o.Name == "sh" && o.Description == "Runs\n\nThe input has this form:\nls .*"
	}) {
		t.Errorf("the model is offered %v", offered)
	}
	back, _ := json.Marshal(made)
	id, _ := at(made, "id").(string)
	status, out = p.send("POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"List"},`+
		`{"role":"assistant","content":null,"tool_calls":[`+string(back)+`]},`+
		`{"role":"tool","tool_call_id":"`+id+`","content":"a"}],`+tools+`}`)
	if status != 200 || at(decode(t, out), "choices", 0, "message", "content") != "Done" {
		t.Errorf("%d %s", status, out)
	}
	p.wantTalk("user: List", `assistant: sh{"input":"ls \"a\""}`, "tool: =a", "assistant: Done")
}

// TestCompactedInARound has a client compact in the middle of a round of tools, as Codex does when a result fills the
// window: the result comes only with the request for the summary. It is stored once, and the summary stands for it.
func TestCompactedInARound(t *testing.T) {
	call := scrollback.ToolCall{ID: "call_1", Name: "get_weather", Arguments: json.RawMessage(`{"city":"Rome"}`)}
	p, m := script(t, modeltest.Call(call), modeltest.Say("The weather in Rome was looked up."),
		modeltest.Say("The weather in Rome was looked up."), modeltest.Say("Take a hat"))
	const tools = `"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object"}}]`
	r := p.ask(`{"model":"m","store":false,"input":"Weather?",` + tools + `}`)
	back, _ := json.Marshal(at(r, "output", 0))
	id, _ := at(r, "output", 0, "call_id").(string)
	const said = `{"role":"user","content":"Weather?"}`
	for range 2 { // a client may ask for it once more
		p.ask(`{"model":"m","store":false,"input":[` + said + `,` + string(back) +
			`,{"type":"function_call_output","call_id":"` + id + `","output":"25 degrees and sun"},{"role":"user",` +
			`"content":"You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary."}]}`)
	}
	r = p.ask(`{"model":"m","store":false,"input":[` + said + `,{"role":"user","content":"Another language model made ` +
		`this summary: The weather in Rome was looked up."}],` + tools + `}`)
	if at(r, "output", 0, "content", 0, "text") != "Take a hat" {
		t.Errorf("the answer is %v", r)
	}
	p.wantTalk("user: Weather?", `assistant: get_weather{"city":"Rome"}`, "tool: =25 degrees and sun", "assistant: Take a hat")
	window := ""
	for _, it := range m.Requests()[len(m.Requests())-1].Items {
		window += it.Parts.Text() + "\n"
	}
	if !strings.Contains(window, "The weather in Rome was looked up.") || strings.Contains(window, "interrupted") {
		t.Errorf("the model was sent\n%s", window)
	}
}

// Instructions may stand in the input; images and a history that was never answered here reach the model as they came.
func TestInput(t *testing.T) {
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	for name, c := range map[string]struct{ input, want string }{
		"instructions": {`{"role":"system","content":"Speak like a pilot"},{"role":"user","content":"Say hello"}`,
			"system: Speak like a pilot\nuser: Say hello"},
		"an image": {`{"role":"user","content":[{"type":"input_text","text":"What is it?"},` +
			`{"type":"input_image","image_url":"data:image/png;base64,` + dot + `"}]}`, "user: What is it?[image/png]"},
		"a file of the server's": {`{"role":"user","content":[{"type":"input_text","text":"What is it?"},` +
			`{"type":"input_file","file_id":"file-abc"}]}`,
			"user: What is it?\n[the file file-abc, which only the server has that it was uploaded to]"},
		"a history": {`{"type":"message","role":"user","content":"I am Ada"},` +
			`{"type":"message","role":"assistant","content":"Hello Ada"},{"type":"message","role":"user","content":"Who am I?"}`,
			"user: I am Ada\nassistant: Hello Ada\nuser: Who am I?"},
	} {
		p, m := script(t, modeltest.Say("Ahoy"))
		r := p.ask(`{"model":"m","input":[` + c.input + `]}`)
		if at(r, "status") != "completed" || at(r, "output", 0, "content", 0, "text") != "Ahoy" {
			t.Errorf("%s: the answer is %v", name, r)
		}
		var sent []string
		for _, it := range m.Requests()[0].Items {
			line := string(it.Role) + ": " + it.Parts.Text()
			for _, part := range it.Parts {
				if image, ok := part.(scrollback.Image); ok {
					line += "[" + image.MediaType + "]"
				}
			}
			if it.Kind == scrollback.KindInstructions || it.Kind == scrollback.KindMessage {
				sent = append(sent, line)
			}
		}
		if got := strings.Join(sent, "\n"); got != c.want {
			t.Errorf("%s: the model was sent\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A chain sends what is new alone; the model has what was said before.
func TestChain(t *testing.T) {
	p, m := script(t, modeltest.Say("I will"), modeltest.Say("Cobalt"), modeltest.Say("Again"))
	first := p.ask(`{"model":"m","input":"Remember cobalt"}`)
	id, _ := first["id"].(string)
	events := p.stream("POST", "/v1/responses",
		`{"model":"m","stream":true,"input":"Which word?","previous_response_id":"`+id+`"}`)
	checkStream(t, events)
	second := at(events[len(events)-1], "response")
	if at(second, "previous_response_id") != id || at(second, "output", 0, "content", 0, "text") != "Cobalt" {
		t.Errorf("the answer is %v", second)
	}
	p.wantTalk("user: Remember cobalt", "assistant: I will", "user: Which word?", "assistant: Cobalt")
	asked := m.Requests()[1]
	var text string
	for _, it := range asked.Items {
		text += it.Parts.Text() + "\n"
	}
	if !strings.Contains(text, "Remember cobalt") || !strings.Contains(text, "I will") {
		t.Errorf("the model was sent %q", text)
	}
	for _, unknown := range []string{"resp_00000000000000000000000000000000", "resp_abc"} {
		status, out := p.send("POST", "/v1/responses", `{"model":"m","input":"x","previous_response_id":"`+unknown+`"}`)
		if e := decode(t, out); status != http.StatusBadRequest || at(e, "error", "code") != "previous_response_not_found" {
			t.Errorf("%d %s", status, out)
		}
	}
}

// Two turns of a history that is sent again are one conversation, with nothing twice.
func TestHistorySentAgain(t *testing.T) {
	p, _ := script(t, modeltest.Say("One"), modeltest.Say("Two"), modeltest.Say("Three"))
	input := `{"role":"user","content":"First"}`
	for i, next := range []string{"Second", "Third", ""} {
		r := p.ask(`{"model":"m","store":false,"input":[` + input + `]}`)
		item, _ := json.Marshal(at(r, "output", 0))
		input += `,` + string(item) + `,{"role":"user","content":"` + next + `"}`
		if at(r, "output", 0, "type") != "message" {
			t.Fatalf("answer %d is %v", i, r)
		}
	}
	p.wantTalk("user: First", "assistant: One", "user: Second", "assistant: Two", "user: Third", "assistant: Three")
}

// Errors: before an answer in its place, and in the middle of a stream as its end.
func TestErrors(t *testing.T) {
	fault := scrollback.Errorf(scrollback.Unavailable, "test", "the server is down").WithReason(scrollback.ErrUpstream)
	p, _ := script(t, modeltest.Step{Err: fault}, modeltest.Step{Deltas: []model.Delta{{Text: "Half"}}, Err: fault})
	for _, stream := range []string{"true", "false"} {
		status, out := p.send("POST", "/v1/responses", `{"model":"m","stream":`+stream+`,"input":`)
		if e := decode(t, out); status != http.StatusBadRequest || at(e, "error", "type") != "invalid_request_error" ||
			at(e, "type") != "error" {
			t.Errorf("%d %s", status, out)
		}
	}
	if status, out := p.send("POST", "/v1/responses", `{"model":"m","stream":true,"input":"A"}`); status != http.StatusBadGateway ||
		at(decode(t, out), "error", "type") != "server_error" {
		t.Errorf("%d %s", status, out)
	}
	events := p.stream("POST", "/v1/responses", `{"model":"m","stream":true,"input":"B"}`)
	if got := types(events); !strings.HasSuffix(got, "output_text.delta error failed") {
		t.Errorf("the stream is %s", got)
	}
	last := events[len(events)-1]
	if at(last, "response", "status") != "failed" || at(last, "response", "error", "code") != "server_error" ||
		at(events[len(events)-2], "message") == "" {
		t.Errorf("it ends with %v", last)
	}
	if status, out := p.send("POST", "/v1/responses", `{"model":"m","input":"C"}`); status != http.StatusBadGateway {
		t.Errorf("%d %s", status, out)
	}
}

// An answer that was cut at the bound of its length says so and ends as every client knows it.
func TestLength(t *testing.T) {
	p, _ := script(t, modeltest.Step{Deltas: []model.Delta{{Text: "Long"}, {Finish: scrollback.FinishLength}}})
	events := p.stream("POST", "/v1/responses", `{"model":"m","stream":true,"input":"A"}`)
	checkStream(t, events)
	r := at(events[len(events)-1], "response")
	if at(r, "status") != "incomplete" || at(r, "incomplete_details", "reason") != "max_output_tokens" {
		t.Errorf("the answer is %v", r)
	}
}

// A model's server that speaks responses gets the request as it stands, and its answer comes back as it is, but for the
// answer's id, which is one of ours: it can be gone on from.
func TestForwarded(t *testing.T) {
	u := &upstream{answers: []func(http.ResponseWriter, object){saying("Hello", false), saying("Whole", false),
		saying("Chained", false)}}
	p := start(t, nil, u)
	events := p.stream("POST", "/v1/responses", `{"model":"gpt-5","stream":true,"input":"Hi","new_field":[1, 2]}`)
	checkStream(t, events)
	if at(u.sent(0), "new_field", 1) != 2.0 || at(u.sent(0), "model") != "gpt-5" {
		t.Errorf("upstream got %v", u.sent(0))
	}
	r := at(events[len(events)-1], "response")
	id, _ := at(r, "id").(string)
	if at(r, "unheard_of") != 1.0 || len(id) != len("resp_")+32 {
		t.Errorf("the answer is %v", r)
	}
	whole := p.ask(`{"model":"gpt-5","input":"Hello there"}`)
	if at(whole, "unheard_of") != 1.0 || at(whole, "id") == "resp_up" || at(whole, "output", 0, "content", 0, "text") != "Whole" {
		t.Errorf("the answer is %v", whole)
	}
	p.ask(`{"model":"gpt-5","input":"And then?","previous_response_id":"` + id + `"}`)
	got, _ := json.Marshal(u.sent(2))
	if at(u.sent(2), "previous_response_id") != nil || !strings.Contains(string(got), `"Hi"`) ||
		!strings.Contains(string(got), "And then?") {
		t.Errorf("upstream got %s", got)
	}
	if n := len(p.conversations()); n != 2 {
		t.Errorf("there are %d conversations", n)
	}
}

// TestForwardedTextCall has the model's server call a tool of a namespace that takes a text, in a request that goes on
// as it stands: the call comes back as it is, and is stored as one.
func TestForwardedTextCall(t *testing.T) {
	u := &upstream{answers: []func(http.ResponseWriter, object){func(w http.ResponseWriter, _ object) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"resp_up","object":"response","status":"completed","model":"gpt-5","output":[`+
			`{"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"call_up","namespace":"functions",`+
			`"name":"exec","input":"text(\"hi\")"}],"usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10}}`)
	}, saying("Done", false)}}
	p := start(t, nil, u)
	r := p.ask(`{"model":"gpt-5","input":"Run it"}`)
	made := at(r, "output", 0)
	if at(made, "type") != "custom_tool_call" || at(made, "namespace") != "functions" {
		t.Errorf("the answer is %v", r)
	}
	back, _ := json.Marshal(made)
	p.ask(`{"model":"gpt-5","input":[{"role":"user","content":"Run it"},` + string(back) +
		`,{"type":"custom_tool_call_output","call_id":"call_up","output":"hi"}]}`)
	p.wantTalk("user: Run it", `assistant: functions__exec{"input":"text(\"hi\")"}`, "tool: =hi", "assistant: Done")
}

// A refusal of the model's server comes back in its own words, and a stream that it cut ends as one that failed.
func TestForwardedFaults(t *testing.T) {
	const words = `{"error":{"message":"Unsupported value","type":"invalid_request_error","param":"x","code":"bad"}}`
	u := &upstream{answers: []func(http.ResponseWriter, object){refusing(422, words), saying("Half", true),
		refusing(422, words)}}
	p := start(t, nil, u)
	status, out := p.send("POST", "/v1/responses", `{"model":"gpt-5","stream":true,"input":"Hi"}`)
	if status != 422 || out != words {
		t.Errorf("%d %s", status, out)
	}
	events := p.stream("POST", "/v1/responses", `{"model":"gpt-5","stream":true,"input":"Hi again"}`)
	if got := types(events); got != "created output_item.added content_part.added output_text.delta error failed" {
		t.Errorf("the stream is %s", got)
	}
	for i, e := range events {
		if e["sequence_number"] != float64(i) {
			t.Errorf("event %d has the number %v", i, e["sequence_number"])
		}
	}
	last := events[len(events)-1]
	if at(last, "response", "status") != "failed" || at(last, "response", "unheard_of") != 1.0 ||
		at(last, "response", "id") != at(events[0], "response", "id") {
		t.Errorf("it ends with %v", last)
	}
	if status, out := p.send("POST", "/v1/responses", `{"model":"gpt-5","input":"Hi once more"}`); status != 422 || out != words {
		t.Errorf("%d %s", status, out)
	}
}
