package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local"
)

// upstreamAPI is an API of models' servers: how an answer "Hello there" looks in it.
type upstreamAPI struct {
	path   string   // of a request, or a part of it
	media  string   // of a stream
	frames []string // of an answer that is streamed
	whole  string
	fault  string // an error in the middle of a stream
}

// event is an event of a stream, with its name.
func event(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

const (
	chatHead = `data: {"id":"up","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":`
	respHead = `"response":{"id":"resp_up","object":"response","model":"gpt-x","status":`
	respItem = `{"id":"msg_up","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text",` +
		`"text":"Hello there","annotations":[]}]}`
	refusalWords = "the words of the provider"
)

var upstreamAPIs = map[string]upstreamAPI{
	"chat": {path: "/chat/completions", media: "text/event-stream", frames: []string{
		chatHead + `{"role":"assistant","content":"Hello "},"finish_reason":null}]}` + "\n\n",
		chatHead + `{"content":"there"},"finish_reason":null}]}` + "\n\n",
		chatHead + `{},"finish_reason":"stop"}]}` + "\n\n",
		`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}` + "\n\n",
		"data: [DONE]\n\n",
	}, whole: `{"id":"up","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":` +
		`"Hello there"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`,
		fault: `data: {"error":{"message":"` + refusalWords + `","type":"server_error"}}` + "\n\n"},
	"responses": {path: "/responses", media: "text/event-stream", frames: []string{
		event("response.created", `{"type":"response.created","sequence_number":0,`+respHead+`"in_progress","output":[]}}`),
		event("response.output_item.added", `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":`+
			`{"id":"msg_up","type":"message","role":"assistant","status":"in_progress","content":[]}}`),
		event("response.content_part.added", `{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_up",`+
			`"output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`),
		event("response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_up",`+
			`"output_index":0,"content_index":0,"delta":"Hello there"}`),
		event("response.output_text.done", `{"type":"response.output_text.done","sequence_number":4,"item_id":"msg_up",`+
			`"output_index":0,"content_index":0,"text":"Hello there"}`),
		event("response.content_part.done", `{"type":"response.content_part.done","sequence_number":5,"item_id":"msg_up",`+
			`"output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hello there","annotations":[]}}`),
		event("response.output_item.done", `{"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":`+
			respItem+`}`),
		event("response.completed", `{"type":"response.completed","sequence_number":7,`+respHead+`"completed","output":[`+
			respItem+`],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}}`),
	}, whole: `{"id":"resp_up","object":"response","model":"gpt-x","status":"completed","output":[` + respItem +
		`],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`,
		fault: event("error", `{"type":"error","sequence_number":99,"code":"server_error","message":"`+refusalWords+`","param":null}`)},
	"messages": {path: "/messages", media: "text/event-stream", frames: []string{
		event("message_start", `{"type":"message_start","message":{"id":"msg_up","type":"message","role":"assistant","content":[],`+
			`"model":"m","usage":{"input_tokens":9,"output_tokens":1}}}`),
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello there"}}`),
		event("content_block_stop", `{"type":"content_block_stop","index":0}`),
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":`+
			`{"output_tokens":2}}`),
		event("message_stop", `{"type":"message_stop"}`),
	}, whole: `{"id":"msg_up","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello there"}],` +
		`"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2}}`,
		fault: event("error", `{"type":"error","error":{"type":"overloaded_error","message":"`+refusalWords+`"}}`)},
	"gemini": {path: "enerateContent", media: "text/event-stream", frames: []string{
		`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hello "}]},"index":0}]}` + "\n\n",
		`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"there"}]},"index":0}]}` + "\n\n",
		`data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],` +
			`"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}}` + "\n\n",
	}, whole: `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello there"}]},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}}`,
		fault: `data: {"error":{"code":503,"message":"` + refusalWords + `","status":"UNAVAILABLE"}}` + "\n\n"},
	"ollama": {path: "/api/chat", media: "application/x-ndjson", frames: []string{
		`{"model":"m","message":{"role":"assistant","content":"Hello "},"done":false}` + "\n",
		`{"model":"m","message":{"role":"assistant","content":"there"},"done":false}` + "\n",
		`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,` +
			`"eval_count":2}` + "\n",
	}, whole: `{"model":"m","message":{"role":"assistant","content":"Hello there"},"done":true,"done_reason":"stop",` +
		`"prompt_eval_count":9,"eval_count":2}`,
		fault: `{"error":"` + refusalWords + `"}` + "\n"},
}

// faultyServer is a model's server of all APIs that fails as it is told to.
type faultyServer struct {
	*httptest.Server
	mu    sync.Mutex
	fail  func(w http.ResponseWriter, api upstreamAPI, streamed bool) // nil answers
	calls int
	seen  []string // the address and the header of each request
}

func newFaultyServer(t *testing.T) *faultyServer {
	t.Helper()
	u := &faultyServer{}
	u.Server = httptest.NewServer(http.HandlerFunc(u.serve))
	u.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(u.Close)
	return u
}

func (u *faultyServer) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var api upstreamAPI
	for _, a := range upstreamAPIs {
		if strings.Contains(r.URL.Path, a.path) {
			api = a
		}
	}
	if api.path == "" || r.Method != http.MethodPost || err != nil {
		http.NotFound(w, r)
		return
	}
	var asked struct{ Stream *bool }
	_ = json.Unmarshal(body, &asked) // what is no JSON gets an answer too
	streamed := strings.Contains(r.URL.Path, ":stream") || asked.Stream != nil && *asked.Stream ||
		asked.Stream == nil && api.path == "/api/chat"
	u.mu.Lock()
	fail := u.fail
	u.calls++
	u.seen = append(u.seen, fmt.Sprint(r.URL, r.Header))
	u.mu.Unlock()
	if fail != nil {
		fail(w, api, streamed)
		return
	}
	u.write(w, api, streamed, len(api.frames))
}

// write answers with the first frames of an answer, or as much of one that is whole.
func (u *faultyServer) write(w http.ResponseWriter, api upstreamAPI, streamed bool, frames int) {
	if !streamed {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, api.whole[:len(api.whole)*frames/len(api.frames)]) // the client may be gone
		return
	}
	w.Header().Set("Content-Type", api.media)
	for _, f := range api.frames[:frames] {
		_, _ = io.WriteString(w, f)
	}
}

// failWith has the next requests fail; nil answers them.
func (u *faultyServer) failWith(fail func(http.ResponseWriter, upstreamAPI, bool)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fail = fail
	u.calls = 0
}

func (u *faultyServer) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls
}

// upstreamFault is a way in which a model's server fails.
type upstreamFault struct {
	name   string
	status int // that it refuses with, or 0
	after  string
	words  bool // it says something in the form of its API
	write  func(u *faultyServer, w http.ResponseWriter, api upstreamAPI, streamed bool)
}

// abort breaks the connection off, behind what was written.
func abort(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // it may be broken already
	panic(http.ErrAbortHandler)
}

func listFaults(frames int) (out []upstreamFault) {
	for n := range frames {
		out = append(out, upstreamFault{name: fmt.Sprint("cut behind event ", n),
			write: func(u *faultyServer, w http.ResponseWriter, api upstreamAPI, streamed bool) {
				u.write(w, api, streamed, n)
				abort(w)
			}}, upstreamFault{name: fmt.Sprint("cut in event ", n),
			write: func(u *faultyServer, w http.ResponseWriter, api upstreamAPI, streamed bool) {
				u.write(w, api, streamed, n)
				if streamed {
					_, _ = io.WriteString(w, api.frames[n][:len(api.frames[n])/2])
				}
				abort(w)
			}}, upstreamFault{name: fmt.Sprint("end behind event ", n),
			write: func(u *faultyServer, w http.ResponseWriter, api upstreamAPI, streamed bool) {
				u.write(w, api, streamed, n)
			}}, upstreamFault{name: fmt.Sprint("error behind event ", n),
			write: func(u *faultyServer, w http.ResponseWriter, api upstreamAPI, streamed bool) {
				u.write(w, api, streamed, n)
				_, _ = io.WriteString(w, api.fault)
			}})
	}
	for _, of := range []struct {
		status int
		after  string
	}{{429, ""}, {429, "7"}, {529, ""}, {500, ""}, {503, "2"}, {400, ""}, {403, ""}} {
		name := strings.TrimSpace(fmt.Sprint("status ", of.status, " ", of.after))
		out = append(out, upstreamFault{name: name, status: of.status, after: of.after, words: true,
			write: func(_ *faultyServer, w http.ResponseWriter, api upstreamAPI, _ bool) {
				w.Header().Set("Content-Type", "application/json")
				if of.after != "" {
					w.Header().Set("Retry-After", of.after)
				}
				w.WriteHeader(of.status)
				said := `{"type":"error","error":{"type":"api_error","code":"odd","message":"` + refusalWords + `"}}`
				if api.path == "/api/chat" {
					said = `{"error":"` + refusalWords + `"}`
				}
				_, _ = io.WriteString(w, said)
			}})
	}
	return append(out,
		upstreamFault{name: "a page", status: 502,
			write: func(_ *faultyServer, w http.ResponseWriter, _ upstreamAPI, _ bool) {
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(http.StatusBadGateway)
				_, _ = io.WriteString(w, "<html><h1>Bad gateway</h1></html>")
			}},
		upstreamFault{name: "429 without words", status: 429,
			write: func(_ *faultyServer, w http.ResponseWriter, _ upstreamAPI, _ bool) {
				w.WriteHeader(http.StatusTooManyRequests)
			}},
		upstreamFault{name: "dropped", write: func(*faultyServer, http.ResponseWriter, upstreamAPI, bool) {
			panic(http.ErrAbortHandler)
		}},
		upstreamFault{name: "empty", write: func(_ *faultyServer, w http.ResponseWriter, _ upstreamAPI, _ bool) {
			w.WriteHeader(http.StatusOK)
		}},
		upstreamFault{name: "an empty object", write: func(_ *faultyServer, w http.ResponseWriter, _ upstreamAPI, _ bool) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
		}},
		upstreamFault{name: "no JSON", write: func(_ *faultyServer, w http.ResponseWriter, _ upstreamAPI, _ bool) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "upstream connect error")
		}},
		upstreamFault{name: "backwards", write: func(_ *faultyServer, w http.ResponseWriter, api upstreamAPI, streamed bool) {
			if !streamed {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, "[]")
				return
			}
			w.Header().Set("Content-Type", api.media)
			for _, f := range slices.Backward(api.frames) {
				_, _ = io.WriteString(w, f)
			}
		}},
		upstreamFault{name: "without its beginning",
			write: func(_ *faultyServer, w http.ResponseWriter, api upstreamAPI, streamed bool) {
				if !streamed {
					_, _ = io.WriteString(w, api.whole[1:])
					return
				}
				w.Header().Set("Content-Type", api.media)
				_, _ = io.WriteString(w, strings.Join(api.frames[1:], ""))
			}})
}

// faceCase is a way to ask a face.
type faceCase struct {
	name     string
	api      string
	path     string
	body     string // with %s for the text, as JSON
	streamed bool
	socket   bool
	// check reports what a client would not survive in an answer whose status is 200.
	check func(body string) error
	// refusal reports what it would not read in an error.
	refusal func(body string) (message string)
}

var faceCases = []faceCase{
	{name: "chat stream", api: "chat", path: "/v1/chat/completions", streamed: true, check: checkChatStream,
		body: `{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":%s}]}`, refusal: readErrorMessage},
	{name: "chat whole", api: "chat", path: "/v1/chat/completions", check: checkChatWhole,
		body: `{"model":"gpt-x","messages":[{"role":"user","content":%s}]}`, refusal: readErrorMessage},
	{name: "responses stream", api: "responses", path: "/v1/responses", streamed: true, check: checkResponseStream,
		body: `{"model":"gpt-x","stream":true,"input":%s}`, refusal: readErrorMessage},
	{name: "responses whole", api: "responses", path: "/v1/responses", check: checkResponseWhole,
		body: `{"model":"gpt-x","input":%s}`, refusal: readErrorMessage},
	{name: "responses socket", api: "responses", path: "/v1/responses", streamed: true, socket: true,
		check: checkResponseStream, body: `{"type":"response.create","model":"gpt-x","input":%s}`, refusal: readErrorMessage},
	{name: "messages stream", api: "messages", path: "/v1/messages", streamed: true, check: checkMessageStream,
		body:    `{"model":"claude-x","max_tokens":99,"stream":true,"messages":[{"role":"user","content":%s}]}`,
		refusal: readErrorMessage},
	{name: "messages whole", api: "messages", path: "/v1/messages", check: checkMessageWhole,
		body: `{"model":"claude-x","max_tokens":99,"messages":[{"role":"user","content":%s}]}`, refusal: readErrorMessage},
	{name: "gemini stream", api: "gemini", path: "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", streamed: true,
		check: checkGeminiStream, body: `{"contents":[{"role":"user","parts":[{"text":%s}]}]}`, refusal: readErrorMessage},
	{name: "gemini list", api: "gemini", path: "/v1beta/models/gemini-x:streamGenerateContent", streamed: true,
		check: checkGeminiList, body: `{"contents":[{"role":"user","parts":[{"text":%s}]}]}`, refusal: readErrorMessage},
	{name: "gemini whole", api: "gemini", path: "/v1/models/gemini-x:generateContent", check: checkGeminiWhole,
		body: `{"contents":[{"role":"user","parts":[{"text":%s}]}]}`, refusal: readErrorMessage},
	{name: "ollama stream", api: "ollama", path: "/api/chat", streamed: true, check: checkOllamaStream,
		body: `{"model":"ollama/m","messages":[{"role":"user","content":%s}]}`, refusal: readOllamaError},
	{name: "ollama whole", api: "ollama", path: "/api/chat", check: checkOllamaWhole,
		body: `{"model":"ollama/m","stream":false,"messages":[{"role":"user","content":%s}]}`, refusal: readOllamaError},
}

// bodyOf returns the case's request for a text.
func (f faceCase) bodyOf(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return strings.Replace(f.body, "%s", string(quoted), 1)
}

// dataOf returns the data of the events of a stream. Every line is an event's name or data.
func dataOf(body string) (names, data []string, err error) {
	if !strings.HasSuffix(body, "\n\n") {
		return nil, nil, fmt.Errorf("it ends in the middle of an event")
	}
	for frame := range strings.SplitSeq(strings.TrimSuffix(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n"), "\n\n") {
		name := ""
		value := ""
		for line := range strings.SplitSeq(frame, "\n") {
			switch {
			case strings.HasPrefix(line, "event: "):
				name = strings.TrimPrefix(line, "event: ")
			case strings.HasPrefix(line, "data: "):
				value += strings.TrimPrefix(line, "data: ")
			default:
				return nil, nil, fmt.Errorf("the line %q is neither an event's name nor its data", line)
			}
		}
		if value != "[DONE]" && !json.Valid([]byte(value)) {
			return nil, nil, fmt.Errorf("%q is no JSON", value)
		}
		names = append(names, name)
		data = append(data, value)
	}
	return names, data, nil
}

func checkChatStream(body string) error {
	_, data, err := dataOf(body)
	if err != nil {
		return err
	}
	finished := 0
	for _, d := range data {
		var c struct {
			Choices []struct {
				Finish *string `json:"finish_reason"`
			}
		}
		_ = json.Unmarshal([]byte(d), &c) // [DONE] is none
		if len(c.Choices) > 0 && c.Choices[0].Finish != nil {
			finished++
		}
	}
	if finished == 0 || slices.Index(data, "[DONE]") != len(data)-1 {
		return fmt.Errorf("%d reasons to finish, and it ends with %s", finished, data[len(data)-1])
	}
	return nil
}

func checkChatWhole(body string) error {
	var c struct {
		Choices []struct {
			Message struct{ Content *string }
			Finish  string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal([]byte(body), &c); err != nil || len(c.Choices) != 1 || c.Choices[0].Finish == "" ||
		c.Choices[0].Message.Content == nil {
		return fmt.Errorf("%w in a whole answer", err)
	}
	return nil
}

func checkResponseStream(body string) error {
	names, data, err := dataOf(body)
	if err != nil {
		return err
	}
	open := 0
	numbers := map[int]bool{}
	for i, d := range data {
		var e struct {
			Type   string
			Number int `json:"sequence_number"`
		}
		if err := json.Unmarshal([]byte(d), &e); err != nil || e.Type != names[i] && names[i] != "" ||
			numbers[e.Number] {
			return fmt.Errorf("event %d of %s: %w", e.Number, names[i], err)
		}
		numbers[e.Number] = true
		switch e.Type {
		case "response.output_item.added":
			open++
		case "response.output_item.done":
			open--
		case "response.completed", "response.failed":
			if i != len(data)-1 {
				return fmt.Errorf("%s is not the last event", e.Type)
			}
			if open != 0 && e.Type == "response.completed" {
				return fmt.Errorf("%d items are open at the end", open)
			}
			return nil
		}
	}
	return fmt.Errorf("it ends with %s", names[len(names)-1])
}

func checkResponseWhole(body string) error {
	var r struct {
		Object, Status string
		Output         []json.RawMessage
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil || r.Object != "response" || r.Status != "completed" ||
		len(r.Output) == 0 {
		return fmt.Errorf("%w in a whole answer", err)
	}
	return nil
}

func checkMessageStream(body string) error {
	names, data, err := dataOf(body)
	if err != nil {
		return err
	}
	for i, d := range data {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(d), &e); err != nil || names[i] != e.Type {
			return fmt.Errorf("event %q is %q: %w", names[i], e.Type, err)
		}
		if (e.Type == "message_stop" || e.Type == "error") != (i == len(data)-1) {
			return fmt.Errorf("event %d of %d is %s", i, len(data), e.Type)
		}
	}
	return nil
}

func checkMessageWhole(body string) error {
	var m struct {
		Type    string
		Stop    string `json:"stop_reason"`
		Content []json.RawMessage
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Type != "message" || m.Stop == "" || len(m.Content) == 0 {
		return fmt.Errorf("%w in a whole answer", err)
	}
	return nil
}

// checkGeminiChunks reports what is wrong with the chunks of an answer, one of which says how it ended.
func checkGeminiChunks(chunks []json.RawMessage) error {
	if len(chunks) == 0 {
		return fmt.Errorf("there are no chunks")
	}
	ended := false
	for i, raw := range chunks {
		var c struct {
			Candidates []struct{ FinishReason string }
			Error      json.RawMessage
		}
		if err := json.Unmarshal(raw, &c); err != nil || len(c.Candidates) == 0 && c.Error == nil {
			return fmt.Errorf("chunk %d is %s: %w", i, raw, err)
		}
		ended = ended || c.Error != nil || c.Candidates[0].FinishReason != ""
	}
	if !ended {
		return fmt.Errorf("it ends with %s", chunks[len(chunks)-1])
	}
	return nil
}

func checkGeminiStream(body string) error {
	names, data, err := dataOf(body)
	if err != nil {
		return err
	}
	var chunks []json.RawMessage
	for i, d := range data {
		if names[i] != "" {
			return fmt.Errorf("an event is named %s", names[i])
		}
		chunks = append(chunks, json.RawMessage(d))
	}
	return checkGeminiChunks(chunks)
}

func checkGeminiList(body string) error {
	var chunks []json.RawMessage
	if err := json.Unmarshal([]byte(body), &chunks); err != nil {
		return err
	}
	return checkGeminiChunks(chunks)
}

func checkGeminiWhole(body string) error {
	return checkGeminiChunks([]json.RawMessage{json.RawMessage(body)})
}

func checkOllamaStream(body string) error {
	lines := bytes.Split(bytes.TrimSuffix([]byte(body), []byte("\n")), []byte("\n"))
	for i, l := range lines {
		var said struct {
			Done  bool
			Error string
		}
		if err := json.Unmarshal(l, &said); err != nil || (said.Done || said.Error != "") != (i == len(lines)-1) {
			return fmt.Errorf("line %d of %d is %q: %w", i, len(lines), l, err)
		}
	}
	return nil
}

func checkOllamaWhole(body string) error {
	var said struct {
		Message struct{ Content *string }
		Done    bool
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil || !said.Done || said.Message.Content == nil {
		return fmt.Errorf("%w in a whole answer", err)
	}
	return nil
}

func readErrorMessage(body string) string {
	var e struct{ Error struct{ Message string } }
	_ = json.Unmarshal([]byte(body), &e) // then it has no message
	return e.Error.Message
}

func readOllamaError(body string) string {
	var e struct{ Error string }
	_ = json.Unmarshal([]byte(body), &e) // then it has no message
	return e.Error
}

// ask asks a face, on a connection if the case says so; what comes on it is written as a stream of events, or as an
// error with its status.
func (f faceCase) ask(c *clientRig, text string) reply {
	c.Helper()
	if !f.socket {
		return c.send("POST", f.path, f.bodyOf(text))
	}
	conn, _, err := websocket.Dial(c.Context(), strings.Replace(c.url, "http", "ws", 1)+f.path, nil)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }() // it has said what it has to say
	if err := conn.Write(c.Context(), websocket.MessageText, []byte(f.bodyOf(text))); err != nil {
		c.Fatal(err)
	}
	out := reply{status: 200, header: http.Header{}}
	for {
		_, b, err := conn.Read(c.Context())
		if err != nil {
			c.Fatalf("%s: %v behind %s", text, err, out.body)
		}
		var e struct {
			Type   string
			Status int
		}
		if err := json.Unmarshal(b, &e); err != nil {
			c.Fatal(err)
		}
		if e.Type == "error" {
			return reply{status: e.Status, header: out.header, body: string(b)}
		}
		out.body += event(e.Type, string(b))
		if e.Type == "response.completed" || e.Type == "response.failed" {
			return out
		}
	}
}

// newFaultRig serves the faces in a mode, with a model's server behind them.
func newFaultRig(t *testing.T, mode string) (*clientRig, *faultyServer) {
	t.Helper()
	u := newFaultyServer(t)
	env := map[string]string{"OPENAI_BASE_URL": u.URL + "/v1", "OPENAI_API_KEY": "k", "ANTHROPIC_BASE_URL": u.URL,
		"ANTHROPIC_API_KEY": "k", "GEMINI_BASE_URL": u.URL, "GEMINI_API_KEY": "k", "OLLAMA_BASE_URL": u.URL}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:",
		Env: func(name string) string { return env[name] }, Engine: engine.Options{NoTitleCalls: true}})
	if err != nil {
		t.Fatal(err)
	}
	d := door.Options{Mode: mode, Serves: func(provider string) bool { return sb.CheckModel(provider+"/x") == nil }}
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler), Door: door.New(d), DoorBytes: 1 << 20}, true))
	t.Cleanup(func() {
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &clientRig{T: t, sb: sb, url: srv.URL}, u
}

// TestUpstreamFaults has a model's server fail in every way it can while a face answers: each client is told so in a
// form that it survives, what the server said itself reaches it, nothing is sent a second time, and the client's own
// retry finds one message of its own and one answer.
func TestUpstreamFaults(t *testing.T) {
	for _, mode := range []string{door.ModeFaithful, door.ModeWindow} {
		for _, f := range faceCases {
			t.Run(mode+" "+f.name, func(t *testing.T) {
				c, u := newFaultRig(t, mode)
				faults := listFaults(len(upstreamAPIs[f.api].frames))
				every := testlength.Choose(5, 2, 1)
				for i, fault := range faults {
					if fault.status == 0 && i%every != 0 {
						continue
					}
					failFace(t, c, u, f, fault)
				}
			})
		}
	}
}

// failFace asks a face while the server fails, and once more while it does not.
func failFace(t *testing.T, c *clientRig, u *faultyServer, f faceCase, fault upstreamFault) {
	t.Helper()
	u.failWith(func(w http.ResponseWriter, api upstreamAPI, streamed bool) { fault.write(u, w, api, streamed) })
	r := f.ask(c, fault.name)
	at := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s\n%d %v\n%s", fault.name, fmt.Sprintf(format, args...), r.status, r.header, r.body)
	}
	if n := u.count(); n != 1 {
		at("it was sent %d times", n)
	}
	message := f.refusal(r.body)
	switch {
	case r.status == 200:
		if fault.status != 0 {
			at("a refusal comes as an answer")
		}
		if err := f.check(r.body); err != nil {
			at("%v", err)
		}
	case message == "":
		at("the error has no message")
	case fault.status != 0 && r.status != fault.status:
		at("it does not keep the status %d", fault.status)
	case r.status < 400:
		at("an odd status")
	}
	if fault.words && !strings.Contains(message, refusalWords) {
		at("it does not keep the words of the server")
	}
	if strings.Contains(r.body, "<h1>") {
		at("a page")
	}
	if wait, err := strconv.Atoi(r.header.Get("Retry-After")); r.status == 429 && !f.socket && (err != nil || wait < 1) {
		at("429 does not say when to try again")
	}
	if got := r.header.Get("Retry-After"); fault.after != "" && !f.socket && got != fault.after {
		at("Retry-After is %q, not %q", got, fault.after)
	}
	u.failWith(nil)
	stored := "[[user complete " + fault.name + " assistant complete Hello there]]"
	said := talksOf(c, fault.name)
	if r.status == 200 && strings.HasPrefix(said, "[[user complete "+fault.name+" assistant complete ") {
		return // the answer ended well all the same
	}
	if r = f.ask(c, fault.name); r.status != 200 || f.check(r.body) != nil || !strings.Contains(r.body, "there") {
		at("the retry fails")
	}
	if got := talksOf(c, fault.name); got != stored {
		at("stored is %s", got)
	}
}

// talksOf returns what is stored of the conversations with a title.
func talksOf(c *clientRig, title string) string {
	c.Helper()
	var found [][]string
	all, _, err := c.sb.List(c.Context(), scrollback.ListQuery{Limit: scrollback.ListMax})
	if err != nil {
		c.Fatal(err)
	}
	for _, conversation := range all {
		if conversation.Title != title {
			continue
		}
		var page struct{ Messages []scrollback.Message }
		c.get("/api/conversations/"+string(conversation.ID)+"/messages", &page)
		var talk []string
		for _, m := range page.Messages {
			talk = append(talk, fmt.Sprint(m.Role, " ", m.Status, " ", m.Parts.Text()))
		}
		found = append(found, talk)
	}
	return fmt.Sprint(found)
}
