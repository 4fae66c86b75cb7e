package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// streamed returns a stream of deltas.
func streamed(finish string, deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(`data: {"choices":[{"index":0,"delta":` + d + "}]}\n\n")
	}
	return b.String() + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + finish + `"}]}` +
		"\n\ndata: [DONE]\n\n"
}

// wholly returns an answer that is not streamed.
func wholly(finish, message string) string {
	return `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"` + finish + `"}]}`
}

// sentBack asks with what an answer said among the items, and returns the messages of the
// assistant that the server took, how many requests it refused, and what was learned. The
// server refuses a body that has refusal in it, in the words.
func sentBack(t *testing.T, by string, said scrollback.Parts, known scrollback.Learned, refusal, words string) (
	string, int, scrollback.Learned,
) {
	t.Helper()
	var taken string
	refused := 0
	m := chatAnswered(t, "custom", "m", func(r *http.Request) *http.Response {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if refusal != "" && strings.Contains(string(b), refusal) {
			refused++
			body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": words}}) // texts are JSON
			return chatReply(400, "application/json", strings.NewReader(string(body)))
		}
		var sent struct{ Messages []json.RawMessage }
		if json.Unmarshal(b, &sent) != nil {
			t.Errorf("not JSON: %s", b)
		}
		taken = ""
		for _, msg := range sent.Messages {
			if strings.Contains(string(msg), `"role":"assistant"`) {
				taken += string(msg) + "\n"
			}
		}
		return chatReply(200, "application/json", strings.NewReader(wholly("stop", `{"content":"ok"}`)))
	})
	r := model.Request{Learned: known, Items: []scrollback.Item{chatItemOf(scrollback.RoleUser, "",
		scrollback.Text{Text: "go"}),
		chatItemOf(scrollback.RoleAssistant, by, said...)}}
	for _, c := range said.Calls() {
		r.Items = append(r.Items, chatItemOf(scrollback.RoleTool, "",
			scrollback.ToolResult{CallID: c.ID, Name: c.Name, Text: "done"}))
	}
	a, err := modeltest.Read(m.Stream(t.Context(), r))
	if err != nil {
		t.Errorf("%v, after %d refusals", err, refused)
	}
	for _, d := range a.Deltas {
		if d.Lesson != nil && d.Lesson.Drop != "" {
			known.Dropped = model.AddDropped(known.Dropped, d.Lesson.Drop)
		}
	}
	return taken, refused, known
}

const madeCall = `{"tool_calls":[{"index":0,"id":"a1","type":"function","function":{"name":"f","arguments":"{}"}}]}`

// interleaved is a content in which thoughts stand between texts.
const interleaved = `{"type":"thinking","thinking":[{"type":"text","text":"ab"}],"closed":true},{"type":"text","text":"hi"},` +
	`{"type":"thinking","thinking":[{"type":"text","text":"c"}],"signature":"M1"},` +
	`{"type":"thinking","thinking":[{"type":"text","text":"de"}]},` +
	`{"type":"text","text":"ho"}`

// What a server put on a message beside its text and calls, signatures and encrypted thoughts
// above all, goes back with that message as it came, streamed or not, to the model that made
// it and to no other.
func TestChatFieldsBesideThoughts(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		said   string // shown of it: reasoning|text
		has    []string
	}{
		"blocks in pieces": {streamed("tool_calls",
			`{"reasoning_content":"Let ","thinking_blocks":[{"type":"thinking","thinking":"Let ","signature":null}]}`,
			`{"reasoning_content":"me.","thinking_blocks":[{"type":"thinking","thinking":"me.","signature":null}]}`,
			`{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"Er<1>="}]}`,
			`{"thinking_blocks":[{"type":"redacted_thinking","data":"RED"}]}`, madeCall), "Let me.|",
			[]string{`"thinking_blocks":[{"signature":"Er<1>=","thinking":"Let me.","type":"thinking"},{"type":"redacted_thinking","data":"RED"}]`}},
		"blocks, whole": {wholly("stop", `{"content":"hi","reasoning_content":"hm",`+
			`"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"S1"},`+
			`{"type":"thinking","thinking":"hm","signature":"S2"}]}`), "hm|hi",
			[]string{`"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"S1"},` +
				`{"type":"thinking","thinking":"hm","signature":"S2"}]`}},
		"blocks by index": {streamed("stop",
			`{"thinking_blocks":[{"index":0,"type":"thinking","thinking":"a"},{"index":1,"type":"thinking","thinking":"x"}]}`,
			`{"thinking_blocks":[{"index":0,"thinking":"a","signature":"S0"}]}`,
			`{"thinking_blocks":[{"index":1,"thinking":"y","signature":"S1"}]}`, `{"content":"hi"}`), "|hi",
			[]string{`"signature":"S0","thinking":"aa"`, `"signature":"S1","thinking":"xy"`}},
		"content on the message": {streamed("stop", `{"content":"hi"}`,
			`{"extra_content":{"google":{"thought_signature":"AY"}},"provider_specific_fields":{"cache":{"a":1}}}`), "|hi",
			[]string{`"extra_content":{"google":{"thought_signature":"AY"}}`, `"provider_specific_fields":{"cache":{"a":1}}`,
				`"content":"hi"`}},
		"in each piece": {streamed("stop", `{"content":"h","extra_content":{"google":{"thought_signature":"AY"}}}`,
			`{"content":"i","extra_content":{"google":{"thought_signature":"AY"}}}`), "|hi",
			[]string{`"extra_content":{"google":{"thought_signature":"AY"}}`, `"content":"hi"`}},
		"a signature in pieces": {streamed("tool_calls", `{"reasoning_content":"hm"}`, `{"reasoning_signature":"AB"}`,
			`{"reasoning_signature":"CD"}`, madeCall), "hm|",
			[]string{`"reasoning_signature":"ABCD"`, `"reasoning_content":"hm"`}},
		"Copilot": {streamed("tool_calls", `{"reasoning_text":"hm "}`, `{"reasoning_text":"so"}`, `{"content":"hi"}`,
			madeCall,
			`{"reasoning_opaque":"OP=="}`), "hm so|hi", []string{`"reasoning_text":"hm so"`, `"reasoning_opaque":"OP=="`}},
		"Copilot, whole": {wholly("stop", `{"content":"hi","reasoning_text":"hm","reasoning_opaque":"OP=="}`), "hm|hi",
			[]string{`"reasoning_opaque":"OP=="`}},
		"encrypted details alone": {streamed("tool_calls",
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"E1","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"E2","index":0}]}`, madeCall), "|",
			[]string{`"reasoning_details":[{"type":"reasoning.encrypted","data":"E1","index":0},` +
				`{"type":"reasoning.encrypted","data":"E2","index":0}]`}},
		"details and a text": {wholly("stop",
			`{"content":"hi","reasoning_details":[{"type":"reasoning.encrypted","data":"E1"}]}`), "|hi",
			[]string{`"reasoning_details":[{"type":"reasoning.encrypted","data":"E1"}]`}},
		"Mistral": {streamed("tool_calls", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}`,
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"b"}],"signature":"M=","closed":true}]}`,
			`{"content":"hi"}`, madeCall), "ab|hi",
			[]string{`{"type":"thinking","thinking":[{"type":"text","text":"ab"}],"closed":true,"signature":"M="}`,
				`"text":"hi"`}},
		"Mistral, thoughts between texts": {wholly("tool_calls", `{"content":[`+interleaved+`],`+madeCall[1:]),
			"abcde|hi\nho",
			[]string{`"content":[` + interleaved + `]`}},
		"Mistral, thoughts between texts, in pieces": {streamed("tool_calls",
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}`,
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"b"}],"closed":true}]}`,
			`{"content":"h"}`, `{"content":[{"type":"text","text":"i"}]}`,
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"c"}],"signature":"M1"},`+
				`{"type":"thinking","thinking":[{"type":"text","text":"de"}]}]}`,
			`{"content":"ho"}`, madeCall), "abcde|hi\nho", []string{`"content":[` + interleaved + `]`}},
		"nothing that is not a thought": {wholly("stop",
			`{"content":"hi","images":[{"url":"SIG"}],"audio":null,"padding":"S1"}`), "|hi",
			[]string{`{"role":"assistant","content":"hi"}`}},
	} {
		mediaType := "application/json"
		if strings.HasPrefix(c.answer, "data:") {
			mediaType = "text/event-stream"
		}
		a, err := chatOdd(t, mediaType, c.answer)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		parts := modeltest.StoredParts(a.Deltas)
		reasoning := ""
		for _, p := range parts {
			if r, ok := p.(scrollback.Reasoning); ok {
				reasoning += r.Text
			}
		}
		if got := reasoning + "|" + parts.Text(); got != c.said {
			t.Errorf("%s: said %q, want %q", name, got, c.said)
		}
		got, _, _ := sentBack(t, "custom/m", parts, scrollback.Learned{}, "", "")
		for _, part := range c.has {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s is not in %s", name, part, got)
			}
		}
		got, _, _ = sentBack(t, "custom/other", parts, scrollback.Learned{}, "", "")
		for _, sign := range []string{"signature", "thinking", "reasoning", "extra_content", "provider_specific", "data"} {
			if strings.Contains(got, sign) {
				t.Errorf("%s: another model got %s", name, got)
			}
		}
	}
}

// A field that is refused, or a signature that is, costs one request and stays away; what the
// server said after that goes back.
func TestChatFieldsBesideThoughtsAreRefusedOnce(t *testing.T) {
	answer := func(sign string) scrollback.Parts {
		a, err := chatOdd(t, "application/json", wholly("stop", `{"content":"hi",`+
			`"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"`+sign+`"}],`+
			`"reasoning_details":[{"type":"reasoning.encrypted","data":"`+sign+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return modeltest.StoredParts(a.Deltas)
	}
	for _, c := range []struct {
		refusal, words string
		newer          bool // what is signed later goes back
	}{
		{"thinking_blocks", "messages.1.assistant.thinking_blocks: Extra inputs are not permitted", false},
		{"reasoning_details", "Unrecognized request argument supplied: messages.1.reasoning_details", false},
		{"OLD", "messages.1.content.0: Invalid `signature` in `thinking` block", true},
		{"OLD", "The encrypted content OLD could not be verified.", true},
	} {
		got, refused, known := sentBack(t, "custom/m", answer("OLD"), scrollback.Learned{}, c.refusal, c.words)
		if refused != 1 || strings.Contains(got, c.refusal) {
			t.Errorf("%s: %d refusals, sent %s", c.words, refused, got)
		}
		if _, refused, _ = sentBack(t, "custom/m", answer("OLD"), known, c.refusal, c.words); refused != 0 {
			t.Errorf("%s: refused again, having learned %q", c.words, known.Dropped)
		}
		got, refused, _ = sentBack(t, "custom/m", answer("NEW"), known, c.refusal, c.words)
		blocks := c.newer || c.refusal != "thinking_blocks"
		if refused != 0 || strings.Contains(got, "thinking_blocks") != blocks || !strings.Contains(got, "NEW") {
			t.Errorf("%s: of a later answer %s went back", c.words, got)
		}
	}
}

// A call of the older form, one without a name, and one that was cut are taken as they were
// meant, in a stream and whole.
func TestChatCallsNearlyRight(t *testing.T) {
	tools := []scrollback.Tool{
		{Name: "grep", Parameters: json.RawMessage(`{"type":"object","properties":{"pattern":{}},"required":["pattern"]}`)},
		{Name: "read", Parameters: json.RawMessage(`{"type":"object","properties":{"seq":{}},"required":["seq"]}`)},
	}
	call := func(id, rest string) string {
		return `{"tool_calls":[{"index":0,"id":"` + id + `","type":"function","function":{` + rest + `}}]}`
	}
	for name, c := range map[string]struct{ body, want string }{
		"older": {streamed("function_call", `{"function_call":{"name":"read","arguments":""}}`,
			`{"function_call":{"arguments":"{\"seq\""}}`,
			`{"function_call":{"arguments":":1}"}}`), `read {"seq":1}`},
		"older, whole": {wholly("function_call",
			`{"content":null,"function_call":{"name":"read","arguments":"{\"seq\":1}"}}`), `read {"seq":1}`},
		"both forms": {wholly("tool_calls",
			`{"function_call":{"name":"read","arguments":"{}"},`+call("a", `"name":"read","arguments":"{}"`)[1:]), `read {}`},
		"by its id":    {streamed("tool_calls", call("functions.read:0", `"arguments":"{}"`)), `read {}`},
		"by arguments": {streamed("stop", call("a", `"arguments":"{\"pattern\":\"x\"}"`)), `grep {"pattern":"x"}`},
		"whole":        {wholly("stop", call("a", `"name":"","arguments":"{\"pattern\":\"x\"}"`)), `grep {"pattern":"x"}`},
		"null": {wholly("stop", call("a", `"name":null,"arguments":"{\"pattern\":\"x\"}"`)),
			`grep {"pattern":"x"}`},
		"not to be told": {streamed("stop", call("a", `"arguments":"{}"`)), `unnamed {}`},
	} {
		m := chatAnswered(t, "custom", "m", func(*http.Request) *http.Response {
			return chatReply(200, "", strings.NewReader(c.body))
		})
		r := modeltest.PlainRequest()
		r.Tools = tools
		a, err := modeltest.Read(m.Stream(t.Context(), r))
		if err != nil || len(a.Calls) != 1 || a.Calls[0].Name+" "+string(a.Calls[0].Arguments) != c.want ||
			a.Calls[0].ID == "" ||
			a.Finish != scrollback.FinishToolCalls {
			t.Errorf("%s: %+v, %s, %v", name, a.Calls, a.Finish, err)
		}
	}
}

// The only choice of an answer is read whatever its index; of several it is the first.
func TestChatOnlyChoice(t *testing.T) {
	piece := func(index, text, finish string) string {
		return `{"choices":[{"index":` + index + `,"delta":{"content":"` + text + `"},"finish_reason":` + finish + `}]}`
	}
	long := ""
	for range 20 {
		long += "data: " + piece("2", "x", "null") + "\n\n"
	}
	for name, c := range map[string][2]string{
		"one":     {"data: " + piece("1", "hel", "null") + "\n\ndata: " + piece("1", "lo", `"stop"`) + "\n\n", "hello"},
		"long":    {long + "data: " + piece("2", "y", `"stop"`) + "\n\n", strings.Repeat("x", 20) + "y"},
		"several": {"data: " + piece("1", "no", "null") + "\n\ndata: " + piece("0", "yes", `"stop"`) + "\n\n", "yes"},
	} {
		a, err := chatOdd(t, "text/event-stream", c[0])
		if err != nil || a.Text != c[1] || a.Finish != scrollback.FinishStop {
			t.Errorf("%s: %q, %q, %v", name, a.Text, a.Finish, err)
		}
	}
}

// A server that demands the thoughts before calls, where another model's have none, costs one
// request.
func TestChatDemandsThoughts(t *testing.T) {
	call := scrollback.ToolCall{ID: "a1", Name: "f", Arguments: json.RawMessage("{}")}
	for _, words := range []string{"The `reasoning_content` in the thinking mode must be passed back to the API.",
		"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"} {
		var bodies []string
		m := chatAnswered(t, "custom", "m", func(r *http.Request) *http.Response {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if bodies = append(bodies, string(b)); !strings.Contains(string(b), `"reasoning_content":" "`) {
				return chatReply(400, "application/json", strings.NewReader(`{"error":{"message":"`+words+`"}}`))
			}
			return chatReply(200, "application/json", strings.NewReader(wholly("stop", `{"content":"ok"}`)))
		})
		r := modeltest.PlainRequest()
		r.Items = append(r.Items, chatItemOf(scrollback.RoleAssistant, "other/m", call),
			chatItemOf(scrollback.RoleTool, "", scrollback.ToolResult{CallID: "a1", Name: "f", Text: "done"}))
		if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil || len(bodies) != 2 {
			t.Errorf("%s: %d requests, %v", words, len(bodies), err)
		}
	}
}

// A limit that an account's credits set is about credits, in a stream too: a shorter request is
// not what helps.
func TestChatCreditsInStreams(t *testing.T) {
	const words = "Prompt tokens limit exceeded: 17000 > 3000"
	for _, body := range []string{
		`data: {"error":{"code":402,"message":"` + words + `"}}`,
		`data: {"error":{"message":"` + words + `"}}`,
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":400,"message":"` + words + `"}}]}`,
	} {
		_, err := chatOdd(t, "text/event-stream", ": OPENROUTER PROCESSING\n\n"+body+"\n\n")
		if l := model.LessonOf(err); scrollback.CodeOf(err) != scrollback.Refused || l != nil {
			t.Errorf("%s: %v, %+v", body, err, l)
		}
	}
}
