package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// TestUnknownToFaces has each face asked with fields, models and ids that nobody knows: they are no
// reason not to answer.
func TestUnknownToFaces(t *testing.T) {
	for _, mode := range []string{door.ModeFaithful, door.ModeWindow} {
		c, _ := newFaultRig(t, mode)
		for _, f := range faceCases {
			f.body = strings.Replace(f.body, `{`, `{"unheard_of":{"a":[null,1e400]},"metadata":{"user_id":7},"user":[],`, 1)
			if r := f.ask(c, "Unknown fields, "+f.name); r.status != 200 || f.check(r.body) != nil {
				t.Errorf("%s: %d %s", f.name, r.status, r.body)
			}
			for _, known := range []string{"gpt-x", "claude-x", "gemini-x", "ollama/m"} {
				f.body = strings.Replace(f.body, known, "nobody/knows:it", 1)
				f.path = strings.Replace(f.path, known, "nobody/knows:it", 1)
			}
			if r := f.ask(c, "An unknown model, "+f.name); r.status != 200 || f.check(r.body) != nil {
				t.Errorf("%s: %d %s", f.name, r.status, r.body)
			}
		}
	}
}

// strangeHistories are histories that no model's server takes, by the path of a face.
var strangeHistories = []struct{ name, path, body string }{
	{"a lone result", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"tool","tool_call_id":"c1","content":"x"}]}`},
	{"an orphan result", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"user","content":"Hi"},{"role":"tool",` +
		`"tool_call_id":"c9","content":"x"},{"role":"user","content":"Go on"}]}`},
	{"a doubled result", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"user","content":"Hi"},{"role":"assistant",` +
		`"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool",` +
		`"tool_call_id":"c1","content":"x"},{"role":"tool","tool_call_id":"c1","content":"x"}]}`},
	{"arguments that are no JSON", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"user","content":"Hi"},{"role":` +
		`"assistant","tool_calls":[{"id":"c2","type":"function","function":{"name":"ls","arguments":"{\"a\": "}}]},{"role":"tool",` +
		`"tool_call_id":"c2","content":"x"}]}`},
	{"an open call", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"user","content":"Hi"},{"role":"assistant",` +
		`"tool_calls":[{"id":"c3","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"Well?"}]}`},
	{"half a pair", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"user","content":"half \ud83d of it"}]}`},
	{"a zero byte", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"user","content":"zero \u0000 byte"}]}`},
	{"other types", "/v1/chat/completions", `{"model":7,"stream":"yes","tools":{"a":1},"messages":[{"role":"user","content":` +
		`[5,null,{"type":"text"},{"type":"image_url","image_url":{"url":"data:image/png;base64,%%%"}},"text"]},5,null,{"role":"user",` +
		`"content":"Hi there"}]}`},
	{"a depth", "/v1/chat/completions", `{"model":"gpt-x","messages":[{"role":"user","content":"Deep"}],"x":` +
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`},
	{"a name twice", "/v1/chat/completions", `{"messages":[],"model":"gpt-x","messages":[{"role":"user","content":"Twice"}]}`},
	{"a lone result", "/v1/messages", `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":[{"type":` +
		`"tool_result","tool_use_id":"t1","content":"x"}]}]}`},
	{"a doubled result", "/v1/messages", `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":` +
		`"assistant","content":[{"type":"tool_use","id":"t2","name":"ls","input":{}}]},{"role":"user","content":[{"type":` +
		`"tool_result","tool_use_id":"t2","content":"x"},{"type":"tool_result","tool_use_id":"t2","content":"x"}]}]}`},
	{"half a pair", "/v1/messages", `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"\udc00 half"}]}`},
	{"a thread that is none", "/v1/messages", `{"model":"claude-x","max_tokens":9,"thread":[1],"messages":[{"role":"user",` +
		`"content":"Hi"}]}`},
	{"an answer first", "/v1/messages", `{"model":"claude-x","max_tokens":9,"messages":[{"role":"assistant","content":"Me"}]}`},
	{"a lone result", "/v1/responses", `{"model":"gpt-x","input":[{"type":"function_call_output","call_id":"r1","output":"x"}]}`},
	{"arguments that are no JSON", "/v1/responses", `{"model":"gpt-x","input":[{"role":"user","content":"Hi"},{"type":` +
		`"function_call","call_id":"r2","name":"ls","arguments":"no"},{"type":"function_call_output","call_id":"r2","output":"x"}]}`},
	{"an item of no known type", "/v1/responses", `{"model":"gpt-x","input":[{"type":"never_heard"},{"role":"user","content":"Hi"}]}`},
	{"half a pair", "/v1/responses", `{"model":"gpt-x","input":"\ud800"}`},
	{"a lone result", "/v1beta/models/gemini-x:generateContent", `{"contents":[{"role":"user","parts":[{"functionResponse":` +
		`{"name":"ls","response":{"a":1}}}]}]}`},
	{"a doubled result", "/v1beta/models/gemini-x:generateContent", `{"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":` +
		`"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls",` +
		`"response":{}}},{"functionResponse":{"name":"ls","response":{}}}]}]}`},
	{"half a pair", "/v1beta/models/gemini-x:generateContent", `{"contents":[{"parts":[{"text":"\ud83d"}]}]}`},
	{"a lone result", "/api/chat", `{"model":"ollama/m","stream":false,"messages":[{"role":"tool","tool_name":"ls","content":"x"}]}`},
	{"other types", "/api/chat", `{"model":"ollama/m","stream":false,"messages":[{"role":"user","content":7,"images":["%%%"]},` +
		`{"role":"user","content":"Hi"}]}`},
}

// TestStrangeHistoriesAtFaces sends histories that no server takes: each is answered or refused in a form that clients
// read, sent once more in whole it is stored once, and what comes behind it is answered.
func TestStrangeHistoriesAtFaces(t *testing.T) {
	for _, mode := range []string{door.ModeFaithful, door.ModeWindow} {
		for _, h := range strangeHistories {
			c, _ := newFaultRig(t, mode)
			r := c.send("POST", h.path, h.body)
			if r.status >= 500 || !json.Valid([]byte(r.body)) {
				t.Errorf("%s, %s at %s: %d %s", mode, h.name, h.path, r.status, r.body)
			}
			if r.status != 200 && readErrorMessage(r.body)+readOllamaError(r.body) == "" {
				t.Errorf("%s, %s at %s: no message in %d %s", mode, h.name, h.path, r.status, r.body)
			}
			before := len(c.talks())
			if r.status == 200 && before != 1 {
				t.Errorf("%s, %s at %s: stored are %q", mode, h.name, h.path, c.talks())
			}
			f := faceCases[0]
			if r := f.ask(c, "And now?"); r.status != 200 || f.check(r.body) != nil || len(c.talks()) != before+1 {
				t.Errorf("%s, behind %s at %s: %d %s", mode, h.name, h.path, r.status, r.body)
			}
		}
	}
}

// TestLongHistoryAtFace sends a long history that was never answered here: it is stored whole and in order, and what
// comes behind it adds no more than is new.
func TestLongHistoryAtFace(t *testing.T) {
	c, _ := newFaultRig(t, door.ModeRecord)
	history := make([]string, testlength.Choose(701, 3001, 20_001))
	for i := range history {
		history[i] = fmt.Sprint("i", i)
	}
	for range 2 {
		path, body := historyBody("chat", "", history...)
		if r := c.send("POST", path, body); r.status != 200 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		history = append(history, "Hello there", fmt.Sprint("i", len(history)))
	}
	history = history[:len(history)-1]
	var want []string
	for i, text := range history {
		want = append(want, []string{"user: ", "assistant: "}[i%2]+text)
	}
	if got := c.talks(); len(got) != 1 || got[0] != strings.Join(want, "\n") {
		t.Errorf("%d conversations are stored; the first is %.300q", len(got), got)
	}
}

// packed returns bytes as an encoding has them.
func packed(t *testing.T, encoding string, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if encoding == "zstd" {
		var err error
		if w, err = zstd.NewWriter(&out); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestBodiesAtFaces sends each face what is too long, as it is or once it is unpacked, and what cannot be unpacked.
func TestBodiesAtFaces(t *testing.T) {
	c, u := newFaultRig(t, door.ModeFaithful) // it takes 1 MiB
	zeros := bytes.Repeat([]byte(" "), 64<<20)
	bombs := map[string][]byte{"gzip": packed(t, "gzip", zeros), "zstd": packed(t, "zstd", zeros)}
	paths := []faceProbe{{path: "/v1/messages/count_tokens", api: "messages"},
		{path: "/v1beta/models/gemini-x:countTokens", api: "gemini"}, {path: "/v1/responses/input_tokens", api: "responses"},
		{path: "/v1/responses/compact", api: "responses"}, {path: "/api/show", api: "ollama"}}
	for _, f := range faceCases {
		if !f.socket {
			paths = append(paths, faceProbe{path: f.path, api: f.api})
		}
	}
	for _, p := range paths {
		long := strings.Repeat(" ", 1<<20) + "{}"
		for _, of := range []struct {
			name, encoding string
			body           io.Reader
			status         int
		}{
			{"too long", "", strings.NewReader(long), 413},
			{"too long, of unknown length", "", io.MultiReader(strings.NewReader(long)), 413},
			{"a bomb", "gzip", bytes.NewReader(bombs["gzip"]), 413},
			{"a bomb", "zstd", bytes.NewReader(bombs["zstd"]), 413},
			{"half of it", "gzip", bytes.NewReader(packed(t, "gzip", []byte(long[1<<20-9:]))[:12]), 400},
			{"not packed", "zstd", strings.NewReader("{}"), 400},
			{"packed by nobody", "br", strings.NewReader("{}"), 400},
			{"no JSON", "gzip", bytes.NewReader(packed(t, "gzip", []byte(`{"a"`))), 400},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+p.path, of.body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if of.encoding != "" {
				r.Header.Set("Content-Encoding", of.encoding)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			got := reply{status: resp.StatusCode, header: resp.Header, body: string(body)}
			if err != nil || got.status != of.status {
				t.Errorf("%s, %s %s: %d, not %d: %s", p.path, of.name, of.encoding, got.status, of.status, body)
			}
			if err := p.checkForm(got); err != nil {
				t.Errorf("%s, %s %s: %v: %s", p.path, of.name, of.encoding, err, body)
			}
		}
	}
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(c.url, "http", "ws", 1)+"/v1/responses", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }() // it may be closed already
	// What is too long is not read to its end, so that writing it may fail too.
	_ = conn.Write(t.Context(), websocket.MessageText, bytes.Repeat([]byte(" "), 1<<20+1))
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("a message that is too long: %v", err)
	}
	for _, encoding := range []string{"gzip", "zstd"} {
		f := faceCases[1]
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+f.path,
			bytes.NewReader(packed(t, encoding, []byte(f.bodyOf("Packed by "+encoding)))))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Content-Encoding", encoding)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || f.check(string(body)) != nil {
			t.Errorf("%s: %d %s", encoding, resp.StatusCode, body)
		}
	}
	if n := u.count(); n != 2 {
		t.Errorf("%d requests went upstream", n)
	}
}

// TestRepeatsAtFaces has each face asked the same 150 times within a minute: the model is asked at most eight times,
// the answer is given up to the thirtieth time, and then the client is told to wait.
func TestRepeatsAtFaces(t *testing.T) {
	for _, f := range faceCases {
		if f.name == "gemini list" || f.socket {
			continue // as the others of its API
		}
		c, u := newFaultRig(t, door.ModeFaithful)
		for n := 1; n <= 150; n++ {
			if n == 40 && f.name != "chat stream" { // no different from here on
				break
			}
			r := f.ask(c, "The same")
			wait, err := strconv.Atoi(r.header.Get("Retry-After"))
			switch {
			case n <= 30 && (r.status != 200 || f.check(r.body) != nil || !strings.Contains(r.body, "there")):
				t.Errorf("%s: the %d. time: %d %s", f.name, n, r.status, r.body)
			case n > 30 && (r.status != 429 || err != nil || wait < 1 || wait > 60 || f.refusal(r.body) == ""):
				t.Errorf("%s: the %d. time: %d %v %s", f.name, n, r.status, r.header, r.body)
			}
		}
		if n := u.count(); n > 8 || n < 1 {
			t.Errorf("%s: the model was asked %d times", f.name, n)
		}
		if n := len(c.talks()); n > 8 {
			t.Errorf("%s: stored are %d conversations", f.name, n)
		}
	}
}

// TestClientsThatAreGone has a client drop its connection, and one that stops reading, while an answer
// comes: the retry of the first joins it, nobody waits for the second, and the answer is stored once and whole.
func TestClientsThatAreGone(t *testing.T) {
	for _, mode := range []string{door.ModeFaithful, door.ModeWindow} {
		for _, f := range faceCases {
			if !f.streamed || f.socket {
				continue
			}
			c, u := newFaultRig(t, mode)
			asked := make(chan struct{}, 8)
			hold := make(chan struct{})
			u.failWith(func(w http.ResponseWriter, api upstreamAPI, streamed bool) {
				asked <- struct{}{}
				last := len(api.frames) - 1
				u.write(w, api, streamed, last)
				_ = http.NewResponseController(w).Flush() // it is read
				<-hold
				_, _ = io.WriteString(w, api.frames[last])
			})
			ctx, drop := context.WithCancel(t.Context())
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+f.path, strings.NewReader(f.bodyOf("Hold on")))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Content-Type", "application/json")
				if resp, err := http.DefaultClient.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body) // until it drops
					_ = resp.Body.Close()
				}
			}()
			<-asked
			drop()
			<-gone
			// One that reads no more than the beginning.
			at, err := url.Parse(c.url)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("tcp", at.Host)
			if err != nil {
				t.Fatal(err)
			}
			body := f.bodyOf("Hold on")
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
				"Content-Length: %d\r\n\r\n%s", f.path, at.Host, len(body), body)
			if _, err := conn.Read(make([]byte, 1)); err != nil { // it has joined
				t.Fatal(err)
			}
			resp, err := http.Post(c.url+f.path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			first := make([]byte, 1)
			if _, err := io.ReadFull(resp.Body, first); err != nil {
				t.Fatal(err)
			}
			close(hold)
			rest, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if said := string(first) + string(rest); err != nil || f.check(said) != nil || !strings.Contains(said, "there") {
				t.Errorf("%s %s: the retry gets %v %s", mode, f.name, err, said)
			}
			_ = conn.Close()
			if got := c.talks(); len(got) != 1 || got[0] != "user: Hold on\nassistant: Hello there" {
				t.Errorf("%s %s: stored are %q", mode, f.name, got)
			}
			if n := u.count(); n != 1 {
				t.Errorf("%s %s: the model was asked %d times", mode, f.name, n)
			}
		}
	}
}
