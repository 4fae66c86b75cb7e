package openai_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Recorded exchanges of servers that differ in their dialects.
func TestRecordings(t *testing.T) {
	type use struct{ in, cached, written, out, reasoning int64 }
	for name, want := range map[string]struct {
		said    string // reasoning|text|calls|finish
		use     use
		payload string // all payloads, joined
	}{
		"plain":         {"|The code is 7F3K-221.|stop", use{in: 30, out: 8}, ""},
		"call":          {`||call_a context_search {"query":"blue depot"}|tool_calls`, use{in: 90, out: 12}, ""},
		"two_calls":     {`||c1 f {"a":1}|c2 g {}|tool_calls`, use{in: 10, cached: 8, out: 5}, ""},
		"reasoning":     {"let me think|42|stop", use{in: 7, out: 9, reasoning: 6}, `{"field":"reasoning_content"}`},
		"reasoning_old": {"想一想|四十二|stop", use{in: 7, cached: 4, out: 9}, `{"field":"reasoning_content"}`},
		"no_index":      {`||x1 f {"a":1}|x2 f {"malformed_arguments":"{\"a\":"}|tool_calls`, use{}, ""},
		"cut":           {"|half an|", use{}, ""},
		"length":        {"|long|length", use{in: 1, out: 1}, ""},
		"deepseek": {`look it up|One moment.|call_00_x f {"a": 1}|call_01_y g {}|tool_calls`,
			use{in: 300, cached: 256, out: 80, reasoning: 60}, `{"field":"reasoning_content"}`},
		"deepseek_silent": {`||c1 f {}|tool_calls`, use{}, `{"field":"reasoning_content"}`},
		"moonshot": {`想||f:0 f {"a":1}|g:1 g {"b":2}|tool_calls`, use{in: 120, cached: 100, out: 40},
			`{"field":"reasoning_content"}`},
		"xai": {`Thinking... |Here.|call_1 f {"a":"x"}|tool_calls`, use{in: 20, out: 110, reasoning: 100},
			`{"field":"reasoning_content"}`},
		"xai_cached": {"|ok|stop", use{in: 4108, cached: 4096, out: 3}, ""},
		"openrouter": {`first second|I call.|toolu_1 f {"a":1}|tool_calls`,
			use{in: 50, cached: 10, written: 30, out: 20, reasoning: 8},
			`{"field":"reasoning","details":[{"format":"anthropic-claude-v1","id":null,"index":0,"signature":"sig<1>","text":"first ` +
				`second","type":"reasoning.text"},{"type":"reasoning.encrypted","data":"redacted","format":"anthropic-claude-v1","index":1}]}`},
		"openrouter_gemini": {`plan|Calling.|tool_f_1 f {}|tool_calls`, use{},
			`{"field":"reasoning","details":[{"type":"reasoning.summary","summary":"plan","format":"google-gemini-v1","index":0}]} ` +
				`{"field":"details","details":[{"type":"reasoning.encrypted","data":"blob","id":"tool_f_1","format":"google-gemini-v1","index":0}]}`},
		"dashscope": {`ab||call_q f {"a": 1}|tool_calls`, use{in: 2000, cached: 500, written: 1400, out: 30, reasoning: 20},
			`{"field":"reasoning_content"}`},
		"workers":          {`||17 f {"a":1}|18 f {"a":2}|tool_calls`, use{in: 5, out: 3}, ""},
		"vllm":             {"hm|yes|stop", use{in: 9, out: 2}, `{"field":"reasoning"}`},
		"llamacpp":         {"hm|yes|stop", use{in: 9, out: 2}, `{"field":"reasoning_content"}`},
		"content_list":     {"weigh|done now|stop", use{}, `{"field":"content"}`},
		"one_index":        {`||a f {"n":1}|b f {"n":2}|tool_calls`, use{}, ""},
		"one_index_no_ids": {`||call_f70c4715_0 f {"n":1}|call_f70c4715_1 f {"n":2}|tool_calls`, use{}, ""},
		"one_id":           {`||0 f {"n":1}|call_f70c4715_0 g {"n":2}|tool_calls`, use{}, ""},
		"index_from_one":   {`||a f {"n":1}|b g {}|tool_calls`, use{}, ""},
		"index_late":       {`||a f {"n":1}|tool_calls`, use{}, ""},
		"id_changes":       {`||a1 f {"n":1}|tool_calls`, use{}, ""},
		"name_repeats":     {`||call_f70c4715_0 f {"n":1}|call_f70c4715_1 f {"n":2}|tool_calls`, use{}, ""},
		"call_twice":       {`||a f {"n":1}|tool_calls`, use{}, ""},
		"prefix":           {`||a f {}|tool_calls`, use{}, ""},
		"length_call":      {`||a f {}|length`, use{in: 1, out: 9}, ""},
		"filtered":         {"|I wo|content_filter", use{}, ""},
		"refusal":          {"|I cannot do that.|stop", use{}, ""},
		"usage_odd":        {"|a|stop", use{in: 12, out: 3, reasoning: 3}, ""},
		"both_names":       {"one two|x|stop", use{}, `{"field":"reasoning_content"}`},
		"no_done":          {"|x|stop", use{}, ""},
		"second_choice":    {"|yes|stop", use{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := modeltest.Read(chatAnswered(t, "custom", "m", chatStream(chatRecorded(t, name))).Stream(t.Context(),
				modeltest.PlainRequest()))
			if err != nil || chatSaid(a) != want.said {
				t.Errorf("%s %v, want %s", chatSaid(a), err, want.said)
			}
			var payloads []string
			for _, d := range a.Deltas {
				if d.Opaque != nil {
					payloads = append(payloads, string(d.Opaque))
				}
			}
			if got := strings.Join(payloads, " "); got != want.payload {
				t.Errorf("payloads\n%s, want\n%s", got, want.payload)
			}
			got := use{}
			if u := a.Usage; u != nil {
				got = use{u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens}
			}
			if got != want.use {
				t.Errorf("usage %+v, want %+v", got, want.use)
			}
		})
	}
}

// What a provider charges is told, with what it had to be paid elsewhere.
func TestChatCost(t *testing.T) {
	a, err := modeltest.Read(chatAnswered(t, "openrouter", "m",
		chatStream(chatRecorded(t, "openrouter"))).Stream(t.Context(),
		modeltest.PlainRequest()))
	if err != nil || a.Usage == nil || a.Usage.Cost != 1.75 || a.Usage.Currency != "USD" {
		t.Fatalf("%+v %v", a.Usage, err)
	}
	if c := a.Deltas[len(a.Deltas)-1].Credits; c == nil || *c != (model.Credits{Amount: 0.5, Currency: "USD"}) {
		t.Errorf("credits %+v", c)
	}
}

// Answers that fail in the middle, or within a status that says all is well.
func TestChatRecordedFailures(t *testing.T) {
	for name, want := range map[string]struct {
		code   scrollback.Code
		tries  int
		lesson model.Lesson
	}{
		"starved":          {scrollback.Unavailable, 4, model.Lesson{}},
		"starved_late":     {scrollback.Unavailable, 1, model.Lesson{}},
		"error_text":       {scrollback.Unavailable, 4, model.Lesson{}},
		"error_event":      {scrollback.Unavailable, 4, model.Lesson{}},
		"error_openrouter": {scrollback.OverBudget, 1, model.Lesson{TooLong: true, Limit: 8192, Requested: 9000}},
		"error_busy":       {scrollback.RateLimited, 4, model.Lesson{}},
		"error_vllm":       {scrollback.OverBudget, 1, model.Lesson{TooLong: true, Limit: 4096}},
		"lmstudio_200":     {scrollback.OverBudget, 1, model.Lesson{TooLong: true, Limit: 4096, Requested: 5000}},
		"no_room":          {scrollback.OverBudget, 1, model.Lesson{TooLong: true, Requested: 9000}},
	} {
		tries := 0
		stream := chatRecorded(t, name)
		_, err := modeltest.Read(chatAnswered(t, "custom", "m", func(*http.Request) *http.Response {
			tries++
			return chatReply(200, "text/event-stream", strings.NewReader(stream))
		}).Stream(context.Background(), modeltest.PlainRequest()))
		got := *cmp.Or(model.LessonOf(err), &model.Lesson{})
		if scrollback.CodeOf(err) != want.code || tries != want.tries || got != want.lesson {
			t.Errorf("%s: %v (%s) after %d tries, %+v; want %+v", name, err, scrollback.CodeOf(err), tries, got, want)
		}
	}
}

// A server that does not stream answers as one that does.
func TestChatWhole(t *testing.T) {
	for body, want := range map[string]string{
		`{"id":"r","choices":[{"index":0,"message":{"role":"assistant","content":"hi","reasoning_content":"hm"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`: "hm|hi|stop",
		`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}},{"id":"a",` +
			`"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`: `||a f {"x":1}|call_811c9dc5_0 f {}|tool_calls`,
		`{"choices":[{"message":{"content":` +
			`[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"finish_reason":"stop"}]}`: "|ab|stop",
		`{"error":false,"choices":[{"message":{"content":` +
			`"","tool_calls":[{"id":"a","function":{"name":"f"}}]},"finish_reason":"TOOL_USE"}]}`: "||a f {}|tool_calls",
	} {
		a, err := modeltest.Read(chatAnswered(t, "custom", "m", func(*http.Request) *http.Response {
			return chatReply(200, "application/json", strings.NewReader(body))
		}).Stream(t.Context(), modeltest.PlainRequest()))
		if err != nil || chatSaid(a) != want {
			t.Errorf("%s %v, want %s", chatSaid(a), err, want)
		}
	}
}

// An id that is made up is one that no call of the request has.
func TestChatFreshIDs(t *testing.T) {
	r := modeltest.ToolRequest()
	stream := chatRecorded(t, "one_index_no_ids")
	m := chatAnswered(t, "custom", "m", chatStream(stream))
	seen := map[string]bool{}
	for range 3 {
		a, err := modeltest.Read(m.Stream(t.Context(), r))
		if err != nil {
			t.Fatal(err)
		}
		var results scrollback.Parts
		for _, c := range a.Calls {
			if seen[c.ID] || len(c.ID) > 40 {
				t.Errorf("the id %s", c.ID)
			}
			seen[c.ID] = true
			results = append(results, scrollback.ToolResult{CallID: c.ID, Text: "1"})
		}
		r.Items = append(r.Items, scrollback.Item{Role: scrollback.RoleAssistant, Model: m.Facts().Name,
			Parts: modeltest.StoredParts(a.Deltas)},
			scrollback.Item{Role: scrollback.RoleTool, Parts: results})
	}
	if len(seen) != 6 {
		t.Errorf("%d ids", len(seen))
	}
	if _, err := json.Marshal(r.Items); err != nil {
		t.Error(err)
	}
}

// A payload stays the part that it came with: behind a text or a call it is one of
// its own, and all go back in their order.
func TestChatPayloadParts(t *testing.T) {
	for name, want := range map[string]struct{ parts, sent string }{
		"openrouter_gemini": {"reasoning text reasoning tool_call",
			`"reasoning":"plan","reasoning_details":[{"type":"reasoning.summary","summary":"plan","format":"google-gemini-v1","index":0},` +
				`{"type":"reasoning.encrypted","data":"blob","id":"tool_f_1","format":"google-gemini-v1","index":0}]`},
		"openrouter": {"reasoning text tool_call",
			`"reasoning":"first second","reasoning_details":[{"format":"anthropic-claude-v1","id":null,"index":0,` +
				`"signature":"sig<1>","text":"first ` +
				`second","type":"reasoning.text"},{"type":"reasoning.encrypted","data":"redacted","format":"anthropic-claude-v1","index":1}]`},
	} {
		var sent string
		m := chatAnswered(t, "openrouter", "google/gemini-3-pro", func(r *http.Request) *http.Response {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			sent = string(b)
			return chatReply(200, "text/event-stream", strings.NewReader(chatRecorded(t, name)))
		})
		r := modeltest.PlainRequest()
		a, err := modeltest.Read(m.Stream(t.Context(), r))
		if err != nil {
			t.Fatal(err)
		}
		parts := modeltest.StoredParts(a.Deltas)
		kinds := []string{}
		for _, p := range parts {
			kinds = append(kinds, map[bool]string{true: "reasoning",
				false: "text"}[fmt.Sprintf("%T", p) == "scrollback.Reasoning"])
			if _, ok := p.(scrollback.ToolCall); ok {
				kinds[len(kinds)-1] = "tool_call"
			}
			if text, ok := p.(scrollback.Text); ok && text.Opaque != nil {
				t.Errorf("%s: a text has the payload %s", name, text.Opaque)
			}
		}
		if got := strings.Join(kinds, " "); got != want.parts {
			t.Errorf("%s: %s", name, got)
		}
		r.Items = append(r.Items, scrollback.Item{Role: scrollback.RoleAssistant, Model: m.Facts().Name, Parts: parts},
			scrollback.Item{Role: scrollback.RoleTool, Parts: scrollback.Parts{scrollback.ToolResult{CallID: a.Calls[0].ID}}})
		if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil || !strings.Contains(sent, want.sent) {
			t.Errorf("%s: %v sent %s", name, err, sent)
		}
	}
}

// Unsigned reasoning does not go back to models that sign it, nor its words alone.
func TestChatUnsigned(t *testing.T) {
	detail := `{"type":"reasoning.text","text":"hm","format":"anthropic-claude-v1","index":0}`
	for id, held := range map[string]bool{"anthropic/claude-x": false, "deepseek/v3": true} {
		for _, opaque := range []string{`{"field":"reasoning","details":[` + detail + `]}`, `{"field":"reasoning"}`} {
			r := chatEverythingBy("openrouter/"+id, scrollback.Opaque(opaque))
			sent := string(chatSent(t, "openrouter", id, r))
			want := held && !strings.Contains(opaque, "details")
			if got := strings.Contains(sent, "I must look it up"); got != want || strings.Contains(sent, "reasoning_details") {
				t.Errorf("%s with %s: %s", id, opaque, sent)
			}
		}
	}
}

// A connection that breaks behind the finish reason took nothing away; before it,
// it did.
func TestChatBroken(t *testing.T) {
	for name, finish := range map[string]string{"no_done": "stop", "cut": ""} {
		m := chatAnswered(t, "custom", "m", func(*http.Request) *http.Response {
			return chatReply(200, "text/event-stream", io.MultiReader(strings.NewReader(chatRecorded(t, name)),
				iotest.ErrReader(io.ErrUnexpectedEOF)))
		})
		a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
		if a.Finish != finish || a.Text == "" || (err == nil) != (finish != "") ||
			err != nil && scrollback.CodeOf(err) != scrollback.Unavailable {
			t.Errorf("%s: %s %v", name, chatSaid(a), err)
		}
	}
}

// A figure that cannot be is known for one, whatever is made of it: what is booked is
// an estimate then.
func TestChatUsageThatCannotBe(t *testing.T) {
	for usage, wrong := range map[string]bool{
		`{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}`:                  false,
		`{"prompt_tokens":12.0,"completion_tokens":"3","cost":0.1}`:                     false,
		`{"prompt_tokens":9223372036854775808,"completion_tokens":3}`:                   true,
		`{"prompt_tokens":12,"completion_tokens":-3}`:                                   true,
		`{"prompt_tokens":1e309,"completion_tokens":3}`:                                 true,
		`{"prompt_tokens":"NaN","completion_tokens":3}`:                                 true,
		`{"prompt_tokens":12,"completion_tokens":3,"total_tokens":-1}`:                  true,
		`{"prompt_tokens":12,"completion_tokens":3,"cached_tokens":"Infinity"}`:         true,
		`{"prompt_tokens":12,"completion_tokens":3,"cost":-3}`:                          true,
		`{"prompt_tokens":12,"completion_tokens":3,"cost":1e309}`:                       true,
		`{"prompt_tokens":12,"completion_tokens":3,"cost":"NaN"}`:                       true,
		`{"prompt_tokens":12,"completion_tokens":3,"reasoning_tokens":-9e300}`:          true,
		`{"prompt_tokens":null,"completion_tokens":[1],"total_tokens":{},"cost":"odd"}`: false, // nothing is counted
	} {
		body := `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}],"usage":` + usage + "}\n\n"
		a, err := modeltest.Read(chatAnswered(t, "custom", "m", chatStream(body)).Stream(t.Context(),
			modeltest.PlainRequest()))
		if err != nil || a.Usage == nil {
			t.Errorf("%s: %+v %v", usage, a, err)
			continue
		}
		if u, changed := a.Usage.Checked(); changed != wrong || u.Estimated != wrong || !u.InBounds() {
			t.Errorf("%s became %+v (%v)", usage, u, changed)
		}
	}
}

// Arguments cost what they are long, in however small pieces they come: each of
// these could be their end. Eight times as many take about eight times as long, and not
// sixty-four times, on a machine of any speed.
func TestChatArgumentsInPieces(t *testing.T) {
	testlength.SkipShort(t)
	read := func(pieces int) time.Duration {
		body := `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":\""}}]}}]}` + "\n\n" +
			strings.Repeat(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}}"}}]}}]}`+"\n\n",
				pieces) +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"
		began := time.Now()
		a, err := modeltest.Read(chatAnswered(t, "custom", "m", chatStream(body)).Stream(t.Context(),
			modeltest.PlainRequest()))
		if err != nil || len(a.Calls) != 1 || len(a.Calls[0].Arguments) != 2*pieces+len(`{"a":""}`) {
			t.Fatalf("%d calls, %v", len(a.Calls), err)
		}
		return time.Since(began)
	}
	const few, times = 10_000, 8
	ratio := 0.0
	for range 3 { // a pause of the machine may fall into one of them
		if ratio = float64(read(times*few)) / float64(read(few)); ratio < 3*times {
			return
		}
	}
	t.Errorf("%d times the pieces take %.0f times as long", times, ratio)
}
