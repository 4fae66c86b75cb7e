package openai_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A stored answer can be had again, whole and as the events that a client has not seen, until it is deleted.
func TestRetrieve(t *testing.T) {
	p, _ := script(t, thoughtful)
	events := p.stream("POST", "/v1/responses", `{"model":"m","stream":true,"input":"Hi","metadata":{"a":"b"}}`)
	id, _ := at(events[0], "response", "id").(string)
	status, out := p.send("GET", "/v1/responses/"+id, "")
	r := decode(t, out)
	if status != http.StatusOK || at(r, "id") != id || at(r, "metadata", "a") != "b" || at(r, "status") != "completed" ||
		at(r, "output", 1, "content", 0, "text") != "Hello" || at(r, "output", 1, "id") != at(events[9], "item", "id") {
		t.Errorf("%d %s", status, out)
	}
	all := p.stream("GET", "/v1/responses/"+id+"?stream=true", "")
	checkStream(t, all)
	rest := p.stream("GET", "/v1/responses/"+id+"?stream=true&starting_after=10", "")
	if types(all) != types(events) || types(rest) != types(events[11:]) || at(rest[0], "sequence_number") != 11.0 {
		t.Errorf("all are %s, those after 10 %s", types(all), types(rest))
	}
	if status, out = p.send("GET", "/v1/responses/"+id+"?stream=true&starting_after=x", ""); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, out)
	}
	status, out = p.send("DELETE", "/v1/responses/"+id, "")
	if r = decode(t, out); status != http.StatusOK || at(r, "deleted") != true || at(r, "id") != id {
		t.Errorf("%d %s", status, out)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if status, out = p.send(method, "/v1/responses/"+id, ""); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", method, status, out)
		}
	}
	p.wantTalk("user: Hi", "assistant: Hello")
}

// What is not to be stored cannot be found, nor gone on from, nor can what does not exist.
func TestNotStored(t *testing.T) {
	p, _ := script(t, modeltest.Say("Hello"))
	id, _ := p.ask(`{"model":"m","input":"Hi","store":false}`)["id"].(string)
	for _, id := range []string{id, "resp_0123", "resp_00000000000000000000000000000000", "x"} {
		for _, of := range []string{"GET /v1/responses/" + id, "DELETE /v1/responses/" + id,
			"POST /v1/responses/" + id + "/cancel", "GET /v1/responses/" + id + "/input_items"} {
			method, path, _ := strings.Cut(of, " ")
			status, out := p.send(method, path, "")
			if status != http.StatusNotFound || at(decode(t, out), "error", "type") != "not_found_error" {
				t.Errorf("%s: %d %s", of, status, out)
			}
		}
	}
	status, out := p.send("POST", "/v1/responses", `{"model":"m","input":"And?","previous_response_id":"`+id+`"}`)
	if status != http.StatusBadRequest || at(decode(t, out), "error", "code") != "previous_response_not_found" {
		t.Errorf("%d %s", status, out)
	}
}

// What an answer was given to is listed, newest first, in pages.
func TestInputItems(t *testing.T) {
	p, _ := script(t, modeltest.Say("One"), modeltest.Say("Two"))
	first, _ := p.ask(`{"model":"m","input":"A"}`)["id"].(string)
	id, _ := p.ask(`{"model":"m","input":[{"role":"user","content":"B"},{"role":"user","content":"C"}],
		"previous_response_id":"` + first + `"}`)["id"].(string)
	path := "/v1/responses/" + id + "/input_items"
	read := func(query string) (texts string, list object) {
		status, out := p.send("GET", path+query, "")
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, out)
		}
		list = decode(t, out)
		data, _ := list["data"].([]any)
		for _, it := range data {
			text, _ := at(it, "content", 0, "text").(string)
			texts += text + " "
		}
		return texts, list
	}
	if texts, list := read(""); texts != "C B One A " || list["has_more"] != false {
		t.Errorf("listed are %q: %v", texts, list)
	}
	for order, want := range map[string]string{"asc": "A One B C ", "desc": "C B One A "} {
		got := ""
		after := ""
		for range 4 {
			texts, list := read("?limit=1&order=" + order + after)
			got += texts
			last, _ := list["last_id"].(string)
			after = "&after=" + last
			if list["first_id"] != list["last_id"] {
				t.Errorf("a page is %v", list)
			}
		}
		if texts, _ := read("?limit=1&order=" + order + after); got != want || texts != "" {
			t.Errorf("%s: the pages are %q and %q", order, got, texts)
		}
	}
	if texts, _ := read("?limit=2"); texts != "C B " {
		t.Errorf("the first page is %q", texts)
	}
	for _, bad := range []string{"?limit=0", "?limit=101", "?after=x", "?after=a_b_c_d"} {
		if status, out := p.send("GET", path+bad, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, status, out)
		}
	}
}

// An answer that runs can be seen, and be stopped; its stream then ends.
func TestCancel(t *testing.T) {
	gate := make(chan struct{})
	p, _ := script(t, modeltest.Step{Deltas: []model.Delta{{Text: "Half"}, {Text: "Rest"}}, Gate: gate})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/v1/responses",
		strings.NewReader(`{"model":"m","stream":true,"input":"Hi"}`))
	if err != nil {
		t.Fatal(err)
	}
	go func() { gate <- struct{}{} }() // the response begins with the first piece
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var seen strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		seen.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "data: ") && strings.Contains(lines.Text(), "Half") {
			break
		}
	}
	events := readEvents(t, seen.String())
	id, _ := at(events[0], "response", "id").(string)
	if _, out := p.send("GET", "/v1/responses/"+id, ""); at(decode(t, out), "status") != "in_progress" {
		t.Errorf("it runs as %s", out)
	}
	status, out := p.send("POST", "/v1/responses/"+id+"/cancel", "")
	if o := decode(t, out); status != http.StatusOK || o["status"] != "cancelled" ||
		at(o, "output", 0, "content", 0, "text") != "Half" {
		t.Errorf("%d %s", status, out)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines.Scan() {
			seen.WriteString(lines.Text() + "\n")
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the stream goes on")
	}
	events = readEvents(t, seen.String()+"\n")
	if last := events[len(events)-1]; last["type"] != "response.failed" && last["type"] != "response.completed" {
		t.Errorf("it ends with %v", last)
	}
}

// Of a forwarded answer the events are those that the model's server sent.
func TestRetrieveForwarded(t *testing.T) {
	u := &upstream{answers: []func(http.ResponseWriter, object){saying("Hello", false)}}
	p := start(t, nil, u)
	events := p.stream("POST", "/v1/responses", `{"model":"gpt-5","stream":true,"input":"Hi"}`)
	id, _ := at(events[0], "response", "id").(string)
	again := p.stream("GET", "/v1/responses/"+id+"?stream=true&starting_after=2", "")
	if types(again) != types(events[3:]) {
		t.Errorf("again it is %s", types(again))
	}
	status, out := p.send("GET", "/v1/responses/"+id, "")
	if r := decode(t, out); status != http.StatusOK || r["unheard_of"] != 1.0 || r["id"] != id ||
		r["status"] != "completed" {
		t.Errorf("%d %s", status, out)
	}
	if len(u.bodies) != 1 {
		t.Errorf("upstream was asked %d times", len(u.bodies))
	}
}

// An answer whose events are held no more comes from what is stored, as one piece behind what its client has seen.
func TestRetrieveStored(t *testing.T) {
	call := modeltest.Call(scrollback.ToolCall{ID: "call_1", Name: "f", Arguments: []byte(`{"a":1}`)})
	call.Deltas = append([]model.Delta{{Reasoning: "Think"}, {Text: "Hel"}, {Text: "lo"}}, call.Deltas...)
	p, _ := script(t, call, modeltest.Say("More"))
	first := p.ask(`{"model":"m","input":"Hi","tools":[{"type":"function","name":"f"}]}`)
	id, _ := first["id"].(string)
	p.serve()
	status, out := p.send("GET", "/v1/responses/"+id, "")
	r := decode(t, out)
	if status != http.StatusOK || toText(r["output"]) != toText(first["output"]) || r["created_at"] != first["created_at"] ||
		r["status"] != "completed" || r["model"] != "script" || toText(r["usage"]) != toText(first["usage"]) {
		t.Errorf("%d %s\nit was %v", status, out, first)
	}
	events := p.stream("GET", "/v1/responses/"+id+"?stream=true&starting_after=7", "")
	last := events[len(events)-1]
	if at(events[0], "sequence_number") != 8.0 || at(events[0], "type") != "response.created" ||
		toText(at(last, "response", "output")) != toText(first["output"]) {
		t.Errorf("the stream is %v", events)
	}
	second := p.ask(`{"model":"m","previous_response_id":"` + id + `",
		"input":[{"type":"function_call_output","call_id":"` + at(first, "output", 2, "call_id").(string) + `","output":"x"}]}`)
	if at(second, "output", 0, "content", 0, "text") != "More" {
		t.Errorf("it goes on with %v", second)
	}
	if status, out = p.send("DELETE", "/v1/responses/"+id, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, out)
	}
	p.serve()
	if status, out = p.send("GET", "/v1/responses/"+id, ""); status != http.StatusNotFound {
		t.Errorf("%d %s", status, out)
	}
}
