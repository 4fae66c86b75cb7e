package openai_test

import (
	"net/http"
	"strings"
	"testing"

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
		{"POST", "/v1/conversations/" + id + "/items", `{"items":[]}`, http.StatusBadRequest},
		{"POST", "/v1/conversations", `{"items":[{"role":"user","content":"x"}]}`, http.StatusBadRequest},
	} {
		if status, out := p.send(c.method, c.path, c.body); status != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, out)
		}
	}
}
