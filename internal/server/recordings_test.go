package server_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

// recording is a request that a client sent, with what it was answered and what it is.
type recording struct {
	Number  int               `json:"n"`
	Flow    string            `json:"flow"`
	Dialect string            `json:"dialect"`
	Headers map[string]string `json:"headers"`
	Request json.RawMessage   `json:"request"`
	Answer  struct {
		ID    string `json:"id"`
		State string `json:"state"`
		Items []struct {
			Kind, Name, Text, ID string
			Item                 struct {
				Content string `json:"encrypted_content"`
			}
		} `json:"items"`
	} `json:"answer"`
	Side         bool   `json:"side"`
	Conversation string `json:"conversation"`
	Family       string `json:"family"`
}

func readRecordings(t *testing.T) map[string][]recording {
	t.Helper()
	files, err := filepath.Glob(filepath.FromSlash("../threading/testdata/recordings/*.ndjson.gz"))
	if err != nil || len(files) < 18 {
		t.Fatal(files, err)
	}
	out := map[string][]recording{}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := json.NewDecoder(text)
		for lines.More() {
			var r recording
			if err := lines.Decode(&r); err != nil {
				t.Fatal(name, err)
			}
			client := strings.TrimSuffix(filepath.Base(name), ".ndjson.gz")
			out[client] = append(out[client], r)
		}
		file.Close()
	}
	return out
}

// playedModel answers what was recorded, as a server does that speaks every API.
type playedModel struct{ now atomic.Pointer[recording] }

func (*playedModel) Facts() model.Facts {
	return model.Facts{Name: "played", Limit: 1 << 20, APIs: []string{model.APIChat, model.APIResponses, model.APIMessages,
		model.APIGemini, model.APIOllama}}
}

func (p *playedModel) Stream(_ context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		now := p.now.Load()
		finish := scrollback.FinishStop
		for _, it := range now.Answer.Items {
			d := model.Delta{Text: it.Text}
			if it.Kind == "call" {
				finish = scrollback.FinishToolCalls
				d = model.Delta{Call: &scrollback.ToolCall{ID: it.ID, Name: it.Name, Arguments: json.RawMessage(it.Text)}}
			}
			if !yield(d, nil) {
				return
			}
		}
		if now.Answer.State == "finished" {
			yield(model.Delta{Finish: finish, Usage: &scrollback.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15}}, nil)
		}
	}
}

// facePaths are where each dialect is served.
var facePaths = map[string]string{"chat": "/v1/chat/completions", "messages": "/v1/messages",
	"responses": "/v1/responses", "ollama": "/api/chat", "gemini": "/v1beta/models/played:streamGenerateContent?alt=sse"}

// TestRecordedClients plays what real clients sent to the program: each turn comes to the conversation that it is of,
// and no side call comes to any.
func TestRecordedClients(t *testing.T) {
	testlength.SkipShort(t)
	for client, all := range readRecordings(t) {
		t.Run(client, func(t *testing.T) { playClient(t, all) })
		for i := range all {
			all[i] = all[i].withoutIDs(t)
		}
		t.Run(client+" without ids", func(t *testing.T) { playClient(t, all) })
	}
}

// naming are the headers that say which conversation a request is of, and what it is for.
var naming = regexp.MustCompile(`(?i)session|thread|conversation|codex|claude-code|initiator|interaction|request-id`)

// withoutIDs returns a request without what its client says of its conversation.
func (r recording) withoutIDs(t *testing.T) recording {
	t.Helper()
	headers := map[string]string{}
	for name, value := range r.Headers {
		if !naming.MatchString(name) {
			headers[name] = value
		}
	}
	r.Headers = headers
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Request, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"metadata", "client_metadata", "prompt_cache_key"} {
		delete(fields, name)
	}
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	r.Request = body
	return r
}

// playClient plays what a client sent.
func playClient(t *testing.T, all []recording) {
	t.Helper()
	played := &playedModel{}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:", Model: "played",
		Models: map[string]model.Model{"played": played}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test",
		Log: slog.New(slog.DiscardHandler), DoorBytes: 32 << 20,
		Door: door.New(door.Options{Mode: door.ModeRecord})}, true))
	defer func() {
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
	}()
	into := map[string]map[string]int{}
	of := make([]string, len(all))
	answers := make([]string, len(all))
	ids := strings.NewReplacer() // of answers, as they were recorded and as they are here
	var known []string
	sockets := map[string]*websocket.Conn{}
	for i := range all {
		played.now.Store(&all[i])
		var answer string
		if isSocket(&all[i]) {
			of[i], answer = playOnSocket(t, sb, srv.URL, &all[i], ids, sockets)
		} else {
			of[i], answer = playRecording(t, srv.URL, &all[i], ids)
		}
		answers[i] = answer
		for _, it := range all[i].Answer.Items {
			if ours := sealed.FindStringSubmatch(answer); it.Item.Content != "" && ours != nil {
				known = append(known, it.Item.Content, ours[1])
				ids = strings.NewReplacer(known...)
			}
		}
		if id := answerIDs.FindString(answer); id != "" && all[i].Answer.ID != "" {
			known = append(known, all[i].Answer.ID, id)
			ids = strings.NewReplacer(known...)
		}
		if of[i] != "" && !all[i].Side {
			if into[all[i].Conversation] == nil {
				into[all[i].Conversation] = map[string]int{}
			}
			into[all[i].Conversation][of[i]]++
		}
	}
	checkCompactions(t, sb, strings.TrimSuffix(filepath.Base(t.Name()), "_without_ids"))
	owners := map[string]map[string]int{}
	for i, r := range all {
		if of[i] != "" {
			if owners[of[i]] == nil {
				owners[of[i]] = map[string]int{}
			}
			owners[of[i]][r.Conversation]++
		}
	}
	for i, r := range all {
		switch main := most(into[r.Conversation]); {
		case r.Side && of[i] != "":
			t.Errorf("%s #%d: a side call came to the conversation %s", r.Flow, r.Number, of[i])
		case strings.Contains(answers[i], "previous_response_not_found"): // of an earlier connection: it is sent whole then
		case !r.Side && of[i] != main:
			t.Errorf("%s #%d: %s is in %s, and this came to %q\n%.300s", r.Flow, r.Number, r.Conversation, main, of[i],
				answers[i])
		}
	}
}

// most returns what was counted most often.
func most(counts map[string]int) (best string) {
	for k, n := range counts {
		if n > counts[best] || n == counts[best] && k < best {
			best = k
		}
	}
	return best
}

// sealed finds what stands for a history that was compacted.
var sealed = regexp.MustCompile(`"encrypted_content":"([^"]+)"`)

// answerIDs finds the id of an answer that a client can go on from.
var answerIDs = regexp.MustCompile(`(?:msg|resp)_[0-9a-z]*[0-9a-f]{32}`)

// isSocket reports whether a recorded request came on a WebSocket.
func isSocket(r *recording) bool {
	return strings.HasPrefix(r.Flow, "2ws") || strings.HasPrefix(r.Flow, "2oai")
}

// playOnSocket is playRecording on the WebSocket of the request's flow. The conversation is the one that has changed.
func playOnSocket(t *testing.T, sb *local.Scrollback, url string, r *recording, ids *strings.Replacer,
	open map[string]*websocket.Conn) (of, answer string) {
	t.Helper()
	c := open[r.Flow]
	if c == nil {
		header := http.Header{}
		for name, value := range r.Headers {
			header.Set(name, value)
		}
		var err error
		c, _, err = websocket.Dial(t.Context(), strings.Replace(url, "http", "ws", 1)+"/v1/responses",
			&websocket.DialOptions{HTTPHeader: header})
		if err != nil {
			t.Fatal(err)
		}
		c.SetReadLimit(1 << 24)
		t.Cleanup(func() { _ = c.CloseNow() }) // it may have ended
		open[r.Flow] = c
	}
	before := versions(t, sb)
	asked := strings.Replace(ids.Replace(string(r.Request)), "{", `{"type":"response.create",`, 1)
	if err := c.Write(t.Context(), websocket.MessageText, []byte(asked)); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for {
		_, b, err := c.Read(t.Context())
		if err != nil {
			t.Fatalf("%s #%d: %v", r.Flow, r.Number, err)
		}
		said.Write(b)
		var event struct{ Type string }
		if err := json.Unmarshal(b, &event); err != nil {
			t.Fatal(err)
		}
		switch event.Type {
		case "error", "response.completed", "response.failed", "response.incomplete":
			for id, version := range versions(t, sb) {
				if version != before[id] {
					of = id
				}
			}
			return of, said.String()
		}
	}
}

// versions returns how often each conversation was changed.
func versions(t *testing.T, sb *local.Scrollback) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	q := scrollback.ListQuery{Limit: scrollback.ListMax}
	for {
		page, next, err := sb.Engine.As(scrollback.Operator()).List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			out[string(c.ID)] = c.Version
		}
		if q.Cursor = next; next == "" {
			return out
		}
	}
}

// playRecording sends a request and returns the conversation that it came to, if it came to any, and its answer.
func playRecording(t *testing.T, url string, r *recording, ids *strings.Replacer) (of, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+facePaths[r.Dialect],
		strings.NewReader(ids.Replace(string(r.Request))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range r.Headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 && r.Answer.State == "finished" {
		t.Errorf("%s #%d: %d %v %.300s", r.Flow, r.Number, resp.StatusCode, err, body)
	}
	if strings.Contains(fmt.Sprint(resp.Header["Content-Type"]), "html") {
		t.Errorf("%s #%d: a page", r.Flow, r.Number)
	}
	return resp.Header.Get("X-Scrollback-Conversation"), string(body)
}
