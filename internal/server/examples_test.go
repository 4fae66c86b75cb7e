package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

var update = flag.Bool("update", false, "record the responses of examples that look different now")

// Every example is sent to a real server. What comes back has the shape that was recorded,
// and both hold against the document.
func TestExamples(t *testing.T) {
	t.Parallel()
	sb, err := local.Open(t.Context(), t.TempDir(),
		&local.Options{Database: "memory:", Engine: engine.Options{Limit: 4000}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	sheets, err := spec.Sheets()
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := sb.Store.Keys.Add(t.Context(),
		scrollback.Key{Name: "ann", Role: scrollback.AccessWrite, Projects: []string{"harbour"}})
	if err != nil {
		t.Fatal(err)
	}
	o := asRun(t)
	o.Version = "1.2.3"
	o.Keys = sb.Store.Keys
	at := server.Handler(sb.Engine, sb.Transfer, o, true)
	x := &examples{T: t, settle: sb.Engine.Settle, at: at, key: secret, doc: readDocument(t, at), sheets: sheets,
		sent: map[string]json.RawMessage{}}
	for _, name := range slices.Sorted(maps.Keys(sheets)) {
		x.send(name)
	}
	for _, name := range slices.Sorted(maps.Keys(sheets)) {
		for _, b := range sheets[name].Bodies {
			x.instead(name, b)
		}
	}
}

// instead sends the example of an operation with another body.
func (x *examples) instead(name string, b spec.Body) {
	x.Helper()
	e, err := x.sheets[name].Example.FillReferences(func(operation string) json.RawMessage { return x.sent[operation] })
	if err != nil {
		x.Fatal(err)
	}
	e.Body = b.Body
	e.Headers = nil
	method, template := x.doc.find(name)
	req := requestOf(x.T, method, template, e)
	w := httptest.NewRecorder()
	x.at.ServeHTTP(w, req)
	if w.Code != x.sheets[name].Example.Status || strings.Contains(w.Body.String(), `"type":"error"`) {
		x.Errorf("%s, %s: status %d\n%s", name, b.Name, w.Code, w.Body)
	}
	x.doc.conforms(method, req.URL.RequestURI(), w)
	x.body(name, template, method, e)
	body := x.doc.Paths[template][strings.ToLower(method)].RequestBody
	if shown := string(body.Content["application/json"].Examples); !strings.Contains(shown, b.Summary) {
		x.Errorf("%s, %s: the document does not show it: %s", name, b.Name, shown)
	}
}

// examples are sent in an order in which each finds what it names.
type examples struct {
	*testing.T
	settle func(context.Context) error // waits for what runs beside, so that a search finds everything
	at     http.Handler
	key    string // stands for YOUR-KEY
	doc    *document
	sheets map[string]*spec.Sheet
	sent   map[string]json.RawMessage
}

// send sends the example of an operation, after those that it names.
func (x *examples) send(name string) {
	x.Helper()
	s := x.sheets[name]
	if _, ok := x.sent[name]; ok || s == nil {
		return
	}
	x.sent[name] = nil
	for _, other := range s.Example.ListReferences() {
		x.send(other)
	}
	e, err := s.Example.FillReferences(func(operation string) json.RawMessage { return x.sent[operation] })
	if err != nil {
		x.Errorf("the example of %s names what no response holds: %v", name, err)
		return
	}
	e.Body = bytes.ReplaceAll(e.Body, []byte("YOUR-KEY"), []byte(x.key))
	if err := x.settle(x.Context()); err != nil {
		x.Fatal(err)
	}
	method, template := x.doc.find(name)
	ctx, leave := context.WithCancel(x.Context())
	defer leave()
	req := requestOf(x.T, method, template, e).WithContext(ctx)
	w := httptest.NewRecorder()
	x.at.ServeHTTP(&reader{w, e.Frames, leave}, req)
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	got := recorded(kind, w.Body.Bytes(), e.Frames)
	x.sent[name] = got
	x.doc.conforms(method, req.URL.RequestURI(), w)
	x.body(name, template, method, e)
	switch {
	case w.Code != e.Status:
		x.Errorf("the example of %s: status %d, not %d\n%s", name, w.Code, e.Status, w.Body)
	case kind == e.Media && shape(got) == shape(e.Response):
	case *update:
		s.Example.Media = kind
		s.Example.Response = got
		x.write(name, s)
	default:
		x.Errorf("the example of %s has another response now (-update records it):\n%s %s\n%s\nit was\n%s", name, kind, got,
			shape(got),
			shape(e.Response))
	}
}

// reader is a client that leaves a stream after a number of events; with 0 it stays
// to the end.
type reader struct {
	*httptest.ResponseRecorder
	frames int
	leave  func()
}

func (r *reader) Write(b []byte) (int, error) {
	n, err := r.ResponseRecorder.Write(b)
	if r.frames > 0 && len(frames(r.Body.Bytes())) >= r.frames {
		r.leave()
	}
	return n, err
}

// body holds the body of an example against the document.
func (x *examples) body(name, template, method string, e spec.Example) {
	x.Helper()
	of := x.doc.Paths[template][strings.ToLower(method)].RequestBody
	if of == nil || e.Body == nil || len(of.Content["application/json"].Schema) == 0 {
		return
	}
	if err := x.doc.holds(of.Content["application/json"].Schema, e.Body); err != nil {
		x.Errorf("the body of the example of %s: %v", name, err)
	}
}

// find returns the method and path of an operation.
func (d *document) find(name string) (method, template string) {
	d.Helper()
	for template, item := range d.Paths {
		for method, op := range item {
			if op.OperationID == name {
				return strings.ToUpper(method), template
			}
		}
	}
	d.Fatalf("there is no operation %s", name)
	return "", ""
}

// requestOf returns an example as a request.
func requestOf(t *testing.T, method, template string, e spec.Example) *http.Request {
	t.Helper()
	for name, v := range e.Path {
		template = strings.ReplaceAll(template, "{"+name+"}", url.PathEscape(v))
	}
	q := url.Values{}
	for name, v := range e.Query {
		q.Set(name, v)
	}
	if len(q) > 0 {
		template += "?" + q.Encode()
	}
	var body io.Reader
	var text string
	switch {
	case e.Body == nil:
	case json.Unmarshal(e.Body, &text) == nil:
		body = strings.NewReader(text)
	default:
		body = bytes.NewReader(e.Body)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+template, body)
	if body != nil && text == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, v := range e.Headers {
		r.Header.Set(name, v)
	}
	return r
}

// recorded returns a response as a sheet keeps it; of an endless stream, a number of frames.
func recorded(kind string, body []byte, first int) json.RawMessage {
	switch kind {
	case "application/json":
		return bytes.TrimSpace(body)
	case "application/openapi+json":
		return json.RawMessage(`{"openapi": "3.1.0"}`) // the whole would hold itself
	case spec.Stream:
		all := frames(body)
		if first > 0 {
			all = all[:min(first, len(all))]
		}
		return slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]"))
	case "text/plain": // one of many series
		body = []byte(regexp.MustCompile(`(?m)^http_server_request_duration_seconds_count.*\n`).FindString(string(body)))
	}
	raw, err := json.Marshal(string(body))
	if err != nil {
		return nil
	}
	return raw
}

// shape returns what stays the same from one run to the next: which fields there are, of which
// types; of a list, the shapes of its items.
func shape(raw json.RawMessage) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err.Error()
	}
	return shapeOf(v)
}

func shapeOf(v any) string {
	switch of := v.(type) {
	case map[string]any:
		var out []string
		for _, name := range slices.Sorted(maps.Keys(of)) {
			out = append(out, name+": "+shapeOf(of[name]))
		}
		if kind, ok := of["type"].(string); ok {
			out = append(out, kind)
		}
		return "{" + strings.Join(out, ", ") + "}"
	case []any:
		var out []string
		for _, each := range of {
			if s := shapeOf(each); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		slices.Sort(out)
		return "[" + strings.Join(out, ", ") + "]"
	case float64:
		return "number"
	}
	return fmt.Sprintf("%T", v)
}

// write records a response.
func (x *examples) write(name string, s *spec.Sheet) {
	x.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	if err == nil {
		err = os.WriteFile(path.Join("restapi/spec/operations", name+".json"), out.Bytes(), 0o644)
	}
	if err != nil {
		x.Fatal(err)
	}
}

// Whatever happens in a turn, its events and what it comes to are as they are described:
// thoughts, look-ups, tools of the client, compactions, failures, clients that come late.
func TestTurnsAreDescribed(t *testing.T) {
	call := func(id, name, args string) modeltest.Step {
		return modeltest.Call(scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)})
	}
	thinks := modeltest.Step{Deltas: []model.Delta{{Reasoning: "Hm."}, {Text: "At noon."},
		{Credits: &model.Credits{Amount: 1, Currency: "USD"}}}}
	broken := modeltest.Step{Deltas: []model.Delta{{Text: "Well, the"}},
		Err: scrollback.Errorf(scrollback.Refused, "test", "acme refuses").WithAdvice(scrollback.AdviceCheckKey, "ACME_KEY")}
	long := modeltest.Say(strings.Repeat("The tide comes and goes. ", 250))
	r := enginetest.New(t, enginetest.Options{Limit: 6000, NoFolds: true}, thinks,
		call("a", "context_search", `{"query":"tide"}`),
		modeltest.Say("Nothing."), call("b", "clock", `{}`), modeltest.Say("It is noon."), broken, broken, long)
	at := server.Handler(r.Engine, r.Transfer, server.Options{Version: "test"}, true)
	doc := readDocument(t, at)
	chat := "/api/conversations/" + string(r.NewConversation()) + "/chat"
	kinds := map[string]bool{}
	send := func(method, path, body string) *httptest.ResponseRecorder {
		t.Helper()
		req := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		at.ServeHTTP(w, req)
		doc.conforms(method, path, w)
		for _, raw := range frames(w.Body.Bytes()) {
			var e struct{ Type string }
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Error(err)
			}
			kinds[e.Type] = true
		}
		return w
	}
	send("POST", chat, `{"message":"When?"}`)
	send("POST", chat, `{"message":"What of the tide?"}`)
	waiting := send("POST", chat, `{"message":"And now?","tools":[{"name":"clock"}],"stream":false}`)
	if !strings.Contains(waiting.Body.String(), `"status":"waiting"`) {
		t.Errorf("the turn does not wait: %s", waiting.Body)
	}
	send("POST", chat, `{"tool_results":[{"call_id":"b","text":"12:00"}]}`)
	send("POST", chat, `{"message":"broken"}`)
	if w := send("POST", chat, `{"stream":false}`); w.Code != http.StatusForbidden {
		t.Errorf("a refusal: %d %s", w.Code, w.Body)
	}
	for i := range 6 {
		w := send("POST", chat, fmt.Sprintf(`{"message":"Say more, %d."}`, i))
		first := frames(w.Body.Bytes())[0]
		var turn struct {
			ID string `json:"turn_id"`
		}
		if err := json.Unmarshal(first, &turn); err != nil {
			t.Fatal(err)
		}
		send("GET", strings.Replace(chat, "/chat", "/turns/"+turn.ID+"/events", 1), "")
	}
	for _, list := range []string{"messages?after=0&limit=200", "receipts", "refs", "context", "branches"} {
		send("GET", strings.Replace(chat, "chat", list, 1), "")
	}
	for _, kind := range []string{"turn", "meta", "reasoning", "delta", "credits", "tool_call", "tool_result", "message",
		"usage", "error",
		"compacting", "compaction", "done"} {
		if !kinds[kind] {
			t.Errorf("no event of type %q was sent", kind)
		}
	}
}

// Only what the schemas say is taken for described: a field more, another type and a kind
// of event that is not known are found.
func TestUndescribedIsFound(t *testing.T) {
	d := newStrictRig(t).doc
	event := d.Paths["/api/conversations/{id}/chat"]["post"].Responses["200"].Content[spec.Stream].Schema
	for value, want := range map[string]bool{
		`{"type":"delta","content":"a","at":1}`: true, `{"type":"delta","content":"a","at":1,"zzz":1}`: false,
		`{"type":"delta","content":1,"at":1}`: false, `{"type":"delta","content":"a"}`: false, `{"type":"zzz"}`: false,
	} {
		if err := d.holds(event, []byte(value)); (err == nil) != want {
			t.Errorf("%s: %v", value, err)
		}
	}
}
