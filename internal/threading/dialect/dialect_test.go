package dialect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

var dialects = []threading.Dialect{threading.Chat, threading.Responses, threading.Messages, threading.Gemini,
	threading.Ollama}

func none(string) string { return "" }

// written returns the items of a request, a line each.
func written(r *threading.Request) string {
	var out []string
	for _, it := range r.Items {
		line := fmt.Sprintf("%d.%d %s %s", it.Message, it.Part, it.Role, it.Kind)
		if it.Name+it.ID != "" {
			line += fmt.Sprintf(" %s(%s)", it.Name, it.ID)
		}
		if it.Kind != threading.Image {
			line += " " + it.Text
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// The same talk is the same in every dialect.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		dialect threading.Dialect
		body    string
		items   string
		system  []string
		tools   []string
	}{
		{threading.Chat, `{"model":"m","tools":[{"type":"function","function":{"name":"ls"}},{"type":"custom","custom":{"name":"sh"}}],
			"messages":[{"role":"developer","content":"Be kind"},
			{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:x"}}]},
			{"role":"assistant","reasoning_content":"hm","content":null,"tool_calls":[{"id":"c1","type":"function",
				"function":{"name":"ls","arguments":"{ \"b\": 1.0, \"a\": [true] }"}}]},
			{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
			{"role":"assistant","content":"Done","unknown":{"x":1}}]}`,
			"0.0 system text Be kind\n1.0 user text Look\n1.1 user image\n2.0 assistant thinking hm\n" +
				"2.0 assistant call ls(c1) {\"a\":[true],\"b\":1}\n3.0 tool result (c1) a\nb\n4.0 assistant text Done", nil,
			[]string{"ls", "sh"}},
		{threading.Responses, `{"model":"m","instructions":"Be kind","tools":[{"type":"function","name":"ls"},{"type":"web_search"}],
			"input":[{"role":"user","content":[{"type":"input_text","text":"Look"},{"type":"input_image","image_url":"data:x"}]},
			{"type":"reasoning","id":"r1","summary":[]},
			{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"a\":[true],\"b\":1}"},
			{"type":"function_call_output","call_id":"c1","output":"a\nb"},
			{"type":"custom_tool_call","call_id":"c2","name":"patch","input":"*** Begin"},
			{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"ok"}]},
			{"type":"web_search_call","id":"w1","status":"completed","action":{"query":"q"}},
			{"type":"compaction","id":"k1","encrypted_content":"e"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done","annotations":[]}]}]}`,
			"0.0 user text Look\n0.1 user image\n1.0 assistant thinking {\"id\":\"r1\",\"summary\":[],\"type\":\"reasoning\"}\n" +
				"2.0 assistant call ls(c1) {\"a\":[true],\"b\":1}\n3.0 tool result (c1) a\nb\n" +
				"4.0 assistant call patch(c2) {\"input\":\"*** Begin\"}\n5.0 tool result (c2) ok\n" +
				"6.0 assistant opaque web_search_call {\"action\":{\"query\":\"q\"},\"type\":\"web_search_call\"}\n" +
				"7.0 assistant compaction {\"encrypted_content\":\"e\",\"type\":\"compaction\"}\n8.0 assistant text Done",
			[]string{"Be kind"}, []string{"ls", "web_search"}},
		{threading.Responses, `{"model":"m","input":[{"type":"additional_tools","role":"developer","tools":[
			{"type":"namespace","name":"mcp__files__","tools":[{"type":"function","name":"read"}]},
			{"type":"namespace","name":"clock","tools":[{"type":"function","name":"now"}]},{"type":"custom","name":"patch"}]},
			{"role":"user","content":"Look"},
			{"type":"function_call","call_id":"c1","namespace":"clock","name":"now","arguments":"{}"}]}`,
			"1.0 user text Look\n2.0 assistant call clock__now(c1) {}", nil,
			[]string{"mcp__files__read", "clock__now", "patch"}},
		{threading.Messages, `{"model":"m","system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2; cch=1;"},
			{"type":"text","text":"Be kind","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"ls"},{"type":"web_search_20260101","name":"web_search"}],
			"messages":[{"role":"user","content":"Look"},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"c1","name":"ls","input":{"b":1,"a":[true]}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
				{"type":"image","source":{"type":"base64","data":"x"},"cache_control":{"type":"ephemeral"}}]},
			{"role":"system","content":"<system-reminder>x</system-reminder>"},
			{"role":"assistant","content":[{"type":"text","text":"Done"}]}]}`,
			"0.0 user text Look\n1.0 assistant thinking hm\n1.1 assistant call ls(c1) {\"a\":[true],\"b\":1}\n2.0 tool result (c1) a\nb\n" +
				"2.1 user image\n3.0 system text <system-reminder>x</system-reminder>\n4.0 assistant text Done",
			[]string{"Be kind"}, []string{"ls", "web_search"}},
		{threading.Gemini, `{"systemInstruction":{"parts":[{"text":"Be kind"}]},"tools":[{"functionDeclarations":[{"name":"ls"}]},{"googleSearch":{}}],
			"contents":[{"role":"user","parts":[{"text":"Look"},{"inlineData":{"mimeType":"image/png","data":"x"}}]},
			{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"id":"c1","name":"ls","args":{"b":1,"a":[true]}},"thoughtSignature":"s"}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a"}}}]},
			{"role":"model","parts":[{"text":"Done","thoughtSignature":"t"}]}]}`,
			"0.0 user text Look\n0.1 user image\n1.0 assistant thinking hm\n1.1 assistant call ls(c1) {\"a\":[true],\"b\":1}\n" +
				"2.0 tool result ls(c1) {\"output\":\"a\"}\n3.0 assistant text Done", []string{"Be kind"}, []string{"ls", "googleSearch"}},
		{threading.Gemini, `{"contents":[{"role":"model","parts":[{"functionCall":{"id":"ls__c1","name":"ls","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"ls__c1","name":"ls","response":{"output":"a"}}}]}]}`,
			"0.0 assistant call ls(c1) {}\n1.0 tool result ls(c1) {\"output\":\"a\"}", nil, nil},
		{threading.Gemini, `{"contents":{"parts":[{"text":"Look"}]}}`, "0.0 user text Look", nil, nil},
		{threading.Gemini, `{"contents":["Look",{"role":"model","parts":[{"function_call":{"name":"ls"}}]}]}`,
			"0.0 user text Look\n1.0 assistant call ls() {}", nil, nil},
		{threading.Ollama, `{"model":"m","tools":[{"type":"function","function":{"name":"ls"}}],"messages":[{"role":"system","content":"Be kind"},
			{"role":"user","content":"Look","images":["eA=="]},
			{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"function":{"name":"ls","arguments":{"b":1,"a":[true]}}}]},
			{"role":"tool","tool_name":"ls","content":"a"}]}`,
			"0.0 system text Be kind\n1.0 user text Look\n1.0 user image\n2.0 assistant thinking hm\n" +
				"2.0 assistant call ls() {\"a\":[true],\"b\":1}\n3.0 tool result ls() a", nil, []string{"ls"}},
		{threading.Responses, `{"input":"Look"}`, "0.0 user text Look", nil, nil},
		{threading.Chat, `{"messages":[1,"x",null,{"role":7,"content":{"text":5}},{"content":[null,3,{"type":"odd","v":1}]}],"tools":7,"model":[]}`,
			"4.2 user opaque odd {\"type\":\"odd\",\"v\":1}", nil, nil},
	} {
		r, err := dialect.Read(c.dialect, none, []byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.dialect, err)
			continue
		}
		if got := written(r); got != c.items {
			t.Errorf("%s: items\n%s\nwanted\n%s", c.dialect, got, c.items)
		}
		if !slices.Equal(r.System, c.system) || !slices.Equal(r.Tools, c.tools) {
			t.Errorf("%s: instructions %q and tools %q", c.dialect, r.System, r.Tools)
		}
	}
	for _, body := range []string{"", "[]", "null", "{", `{"a":1} {"b":2}`, `"x"`} {
		if _, err := dialect.Read(threading.Chat, none, []byte(body)); err == nil {
			t.Errorf("%q is read", body)
		}
	}
	if _, err := dialect.Read("morse", none, []byte("{}")); err == nil {
		t.Error("a dialect that does not exist is read")
	}
}

// Flags of a request that are no part of its history.
func TestFlags(t *testing.T) {
	for body, want := range map[string]threading.Request{
		`{"input":[],"generate":false,"previous_response_id":"r1"}`:       {WarmUp: true, Chain: "r1"},
		`{"input":[{"type":"compaction_trigger"}]}`:                       {Compacts: true},
		`{"conversation":"conv_1"}`:                                       {Conversation: "conv_1"},
		`{"conversation":{"id":"conv_2"},"generate":true}`:                {Conversation: "conv_2"},
		`{"thread":{"type":"continue","previous_message_id":"msg_1"}}`:    {Chain: "msg_1"},
		`{"thread":{"type":"create","previous_message_id":"msg_1"}}`:      {},
		`{"conversation":5,"previous_response_id":{},"generate":"false"}`: {},
	} {
		of := threading.Responses
		if strings.Contains(body, "thread") {
			of = threading.Messages
		}
		r, err := dialect.Read(of, none, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if r.WarmUp != want.WarmUp || r.Compacts != want.Compacts || r.Chain != want.Chain ||
			r.Conversation != want.Conversation {
			t.Errorf("%s: %+v", body, r)
		}
	}
}

// Names are taken in the order of how surely they name a conversation.
func TestNames(t *testing.T) {
	body := `{"prompt_cache_key":"key","metadata":{"user_id":"{\"session_id\":\"user\"}"},
		"client_metadata":{"thread_id":"body","x-codex-turn-metadata":"{\"thread_id\":\"turn\",\"parent_thread_id\":\"above\",\"request_kind\":\"turn\"}"}}`
	headers := map[string]string{"x-scrollback-conversation": "ours", "x-claude-code-session-id": "claude",
		"x-claude-code-agent-id": "agent", "x-session-id": "open", "session-id": "codex", "x-parent-session-id": "parent",
		"x-codex-turn-metadata": `{"thread_id":"upgrade","request_kind":"prewarm"}`}
	for _, c := range []struct{ drop, name, parent, declared string }{
		{"", "scrollback:ours", "", "codex:turn"},
		{"x-scrollback-conversation", "codex:turn", "codex:above", "codex:turn"},
		{"client_metadata", "codex:upgrade", "", "codex:prewarm"},
		{"x-codex-turn-metadata", "claude:claude/agent", "claude:claude", ""},
		{"x-claude-code-agent-id", "claude:claude", "", ""},
		{"x-claude-code-session-id", "claude:user", "", ""},
		{"metadata", "session:open", "session:parent", ""},
		{"x-session-id", "session:codex", "session:parent", ""},
		{"session-id", "cache:key", "", ""},
		{"prompt_cache_key", "", "", ""},
	} {
		delete(headers, c.drop)
		var fields map[string]any
		if err := json.Unmarshal([]byte(body), &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, c.drop)
		left, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		body = string(left)
		r, err := dialect.Read(threading.Responses, func(name string) string { return headers[name] }, left)
		if err != nil {
			t.Fatal(err)
		}
		if r.Weak != strings.HasPrefix(c.name, "cache:") {
			t.Errorf("without %s: the name %q is weak: %v", c.drop, r.Name, r.Weak)
		}
		if r.Name != c.name || r.Parent != c.parent || r.Declared != c.declared || r.Explicit != (c.drop == "") {
			t.Errorf("without %s: name %q, parent %q, declared %q, explicit %v", c.drop, r.Name, r.Parent, r.Declared, r.Explicit)
		}
	}
	r, err := dialect.Read(threading.Messages, none, []byte(`{"metadata":{"user_id":"user_a_account__session_0a1b2c3d-0000-4000-8000-000000000000"}}`))
	if err != nil || r.Name != "claude:0a1b2c3d-0000-4000-8000-000000000000" {
		t.Errorf("the session in an older user is %q, %v", r.Name, err)
	}
}

// What a client changes from try to try leaves the body's hash as it is; anything else changes it.
func TestBodyHash(t *testing.T) {
	hash := func(body string) threading.Hash {
		r, err := dialect.Read(threading.Messages, none, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return r.Body
	}
	with := func(cch, user, text string) string {
		return fmt.Sprintf(`{"system":[{"type":"text","text":"x-anthropic-billing-header: cch=%s;"},{"type":"text","text":"Be kind"}],
			"metadata":{"user_id":%q},"messages":[{"role":"user","content":%q}]}`, cch, user, text)
	}
	if hash(with("1", "a", "Look")) != hash(with("2", "b", "Look")) {
		t.Error("another try has another hash")
	}
	if hash(with("1", "a", "Look")) == hash(with("1", "a", "Look!")) {
		t.Error("another text has the same hash")
	}
	if hash(`{"temperature":1,"messages":[]}`) == hash(`{"temperature":2,"messages":[]}`) {
		t.Error("another temperature has the same hash")
	}
}

// Whatever comes is read or refused, and the same again gives the same.
func FuzzRead(f *testing.F) {
	for i, body := range []string{
		`{"messages":[{"role":"user","content":"Look"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{"}}]}]}`,
		`{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]},{"type":"compaction"}]}`,
		`{"system":[{"text":"x"}],"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image"}]}]}]}`,
		`{"contents":[{"role":"model","parts":[{"functionCall":{"args":1e400}},{"text":"\ud800"}]}]}`,
		`{"messages":[{"role":"tool","tool_name":"x","content":null,"images":[1]}]}`,
		`{"client_metadata":{"x-codex-turn-metadata":"{\"thread_id\":7}"},"metadata":{"user_id":"session_"}}`,
	} {
		f.Add(byte(i), []byte(body))
	}
	f.Fuzz(func(t *testing.T, which byte, body []byte) {
		of := dialects[int(which)%len(dialects)]
		r, err := dialect.Read(of, none, body)
		if err != nil {
			return
		}
		again, err := dialect.Read(of, none, body)
		if err != nil || written(r) != written(again) || r.Body != again.Body || r.Name != again.Name {
			t.Errorf("the second reading differs: %v", err)
		}
		for _, it := range r.Items {
			if it.Role == "" || it.Kind == "" || !utf8.ValidString(it.Text) {
				t.Errorf("an item is %+v", it)
			}
		}
	})
}
