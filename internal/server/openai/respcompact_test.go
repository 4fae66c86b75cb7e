package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A history in its short form is what people said and one item; without a model it is refused.
func TestCompact(t *testing.T) {
	u := &upstream{answers: []func(http.ResponseWriter, object){saying("They said A", false)}}
	p := start(t, nil, u)
	status, out := p.send("POST", "/v1/responses/compact", `{"model":"gpt-5","input":[{"role":"user","content":"A"},
		{"role":"assistant","content":[{"type":"output_text","text":"B"}]},{"role":"user","content":"C"}]}`)
	o := decode(t, out)
	if status != http.StatusOK || o["object"] != "response.compaction" || at(o, "output", 0, "content") != "A" ||
		at(o, "output", 1, "content") != "C" || at(o, "output", 2, "type") != "compaction" || at(o, "output", 3) != nil {
		t.Errorf("%d %s", status, out)
	}
	if strings.Contains(toText(u.sent(0)), "compaction_trigger") {
		t.Errorf("upstream got %v", u.sent(0))
	}
	status, out = p.send("POST", "/v1/responses/compact", `{"input":"A"}`)
	if status != http.StatusBadRequest || at(decode(t, out), "error", "param") != "model" {
		t.Errorf("%d %s", status, out)
	}
	if all := p.conversations(); len(all) != 0 {
		t.Errorf("stored are %q", all)
	}
}

// A history that stands here is counted and compacted by the id of its last answer.
func TestCompactChain(t *testing.T) {
	p, m := script(t, modeltest.Say("B"), modeltest.Say("Short"))
	id, _ := p.ask(`{"model":"m","input":"A long question about everything"}`)["id"].(string)
	status, out := p.send("POST", "/v1/responses/compact", `{"model":"m","previous_response_id":"`+id+`"}`)
	if o := decode(t, out); status != http.StatusOK || at(o, "output", 1, "type") != "compaction" ||
		at(o, "output", 0, "content", 0, "text") != "A long question about everything" {
		t.Errorf("%d %s", status, out)
	}
	var sent string
	for _, it := range m.Requests()[1].Items {
		sent += it.Parts.Text() + "\n"
	}
	if !strings.Contains(sent, "A long question") || !strings.Contains(sent, "Summarize") {
		t.Errorf("the model was sent %q", sent)
	}
	count := func(body string) float64 {
		status, out := p.send("POST", "/v1/responses/input_tokens", body)
		n, _ := decode(t, out)["input_tokens"].(float64)
		if status != http.StatusOK || at(decode(t, out), "object") != "response.input_tokens" {
			t.Errorf("%d %s", status, out)
		}
		return n
	}
	short := count(`{"model":"m","input":"A"}`)
	long := count(`{"model":"m","input":"A","previous_response_id":"` + id + `"}`)
	if short <= 0 || long <= short {
		t.Errorf("%v tokens alone, %v behind an answer", short, long)
	}
	if n := len(m.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// A conversation begins with the first request that names it, and goes on with the next.
func TestConversations(t *testing.T) {
	p, _ := script(t, modeltest.Say("One"), modeltest.Say("Two"))
	_, out := p.send("POST", "/v1/conversations", `{"metadata":{"a":"b"}}`)
	made := decode(t, out)
	id, _ := made["id"].(string)
	if made["object"] != "conversation" || at(made, "metadata", "a") != "b" || !strings.HasPrefix(id, "conv_") {
		t.Errorf("it is %s", out)
	}
	if status, out := p.send("GET", "/v1/conversations/"+id, ""); status != http.StatusOK ||
		decode(t, out)["created_at"] != made["created_at"] {
		t.Errorf("%d %s", status, out)
	}
	if r := p.ask(`{"model":"m","input":"A","conversation":"` + id + `"}`); at(r, "conversation", "id") != id {
		t.Errorf("the answer is %v", r)
	}
	p.ask(`{"model":"m","input":"B","conversation":{"id":"` + id + `"}}`)
	p.wantTalk("user: A", "assistant: One", "user: B", "assistant: Two")
	_, out = p.send("GET", "/v1/conversations/"+id+"/items?order=asc", "")
	list := decode(t, out)
	for i, want := range []string{"A", "One", "B", "Two"} {
		if at(list, "data", i, "content", 0, "text") != want {
			t.Errorf("item %d is %v", i, at(list, "data", i))
		}
	}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/v1/conversations/conv_x", "", http.StatusNotFound},
		{"GET", "/v1/conversations/conv_x/items", "", http.StatusNotFound},
		{"POST", "/v1/conversations/conv_x", `{"metadata":{}}`, http.StatusNotFound},
		{"POST", "/v1/conversations/conv_x/items", `{"items":[{"role":"user","content":"x"}]}`, http.StatusNotFound},
		{"POST", "/v1/conversations/" + id, `{}`, http.StatusBadRequest},
		{"POST", "/v1/conversations/" + id, `{"metadata":{"a":1}}`, http.StatusBadRequest},
		{"POST", "/v1/conversations/" + id + "/items", `{"items":[]}`, http.StatusBadRequest},
		{"POST", "/v1/conversations/" + id + "/items", `{"items":[` + strings.Repeat(`{"role":"user","content":"x"},`, 20) +
			`{"role":"user","content":"x"}]}`, http.StatusBadRequest},
		{"POST", "/v1/conversations", `{"metadata":{"a":"` + strings.Repeat("x", 513) + `"}}`, http.StatusBadRequest},
	} {
		if status, out := p.send(c.method, c.path, c.body); status != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, out)
		}
	}
}

// What a conversation carries is kept, whether a request has named the conversation before or not.
func TestConversationMetadata(t *testing.T) {
	p, _ := script(t, modeltest.Say("One"), modeltest.Say("Two"))
	_, out := p.send("POST", "/v1/conversations", `{"metadata":{"topic":"roses"}}`)
	early, _ := decode(t, out)["id"].(string)
	_, out = p.send("POST", "/v1/conversations", `{}`)
	late, _ := decode(t, out)["id"].(string)
	p.ask(`{"model":"m","input":"A","conversation":"` + early + `"}`)
	p.ask(`{"model":"m","input":"B","conversation":"` + late + `"}`)
	carries := func(id, want string) {
		t.Helper()
		if _, out := p.send("GET", "/v1/conversations/"+id, ""); at(decode(t, out), "metadata", "topic") != any(want) {
			t.Errorf("%s, want %s", out, want)
		}
	}
	carries(early, "roses")
	for _, id := range []string{early, late} {
		_, out := p.send("POST", "/v1/conversations/"+id, `{"metadata":{"topic":"lilies"}}`)
		made := decode(t, out)
		if made["object"] != "conversation" || made["id"] != id || at(made, "metadata", "topic") != "lilies" {
			t.Errorf("updated is %s", out)
		}
		carries(id, "lilies")
	}
	p.send("POST", "/v1/conversations/"+late, `{"metadata":null}`)
	if _, out := p.send("GET", "/v1/conversations/"+late, ""); !strings.Contains(out, `"metadata":{}`) {
		t.Errorf("emptied it is %s", out)
	}
	if n := len(p.conversations()); n != 2 {
		t.Errorf("there are %d conversations", n)
	}
}

// Items are added without asking a model, before and between requests that go on behind them.
func TestConversationItems(t *testing.T) {
	p, m := script(t, modeltest.Say("One"), modeltest.Say("Two"))
	_, out := p.send("POST", "/v1/conversations", `{"items":[{"role":"user","content":"The rose is red."}]}`)
	id, _ := decode(t, out)["id"].(string)
	p.wantTalk("user: The rose is red.")
	p.ask(`{"model":"m","input":"A","conversation":"` + id + `"}`)
	status, out := p.send("POST", "/v1/conversations/"+id+"/items", `{"items":[
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
		{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"a.txt"},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Note this."}]}]}`)
	list := decode(t, out)
	if status != http.StatusOK || list["object"] != "list" || list["has_more"] != false ||
		at(list, "data", 0, "role") != "assistant" || at(list, "data", 1, "type") != "function_call" ||
		at(list, "data", 2, "output") != "a.txt" || at(list, "data", 3, "content", 0, "text") != "Note this." ||
		list["first_id"] != at(list, "data", 0, "id") || list["last_id"] != at(list, "data", 3, "id") {
		t.Errorf("%d %s", status, out)
	}
	if n := len(m.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	p.ask(`{"model":"m","input":"B","conversation":"` + id + `"}`)
	p.wantTalk("user: The rose is red.", "user: A", "assistant: One", "assistant: I look.", "assistant: ls{}", "tool: =a.txt",
		"user: Note this.", "user: B", "assistant: Two")
	_, out = p.send("GET", "/v1/conversations/"+id+"/items?order=asc&limit=100", "")
	if all, _ := decode(t, out)["data"].([]any); len(all) != 9 {
		t.Errorf("listed are %s", out)
	}
	v := p.sb.Engine.As(scrollback.Operator())
	page, _, err := v.List(t.Context(), scrollback.ListQuery{})
	if err != nil || len(page) != 1 || page[0].Title == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	for msg, err := range v.Recall().AllMessages(t.Context(), page[0].ID) {
		if added := msg.TurnID == ""; err != nil || added != strings.Contains(string(msg.Meta), `"source":"client"`) {
			t.Errorf("%v %s, %v", msg.Parts, msg.Meta, err)
		}
	}
}
