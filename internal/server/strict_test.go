package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/metrics"
	"github.com/scrollback-ai/scrollback/local"
)

// description is what /openapi.json says, as far as requests go.
type description struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	OperationID string
	Summary     string
	Parameters  []struct {
		Name, In string
		Schema   schema
	}
	RequestBody *struct {
		Content map[string]struct{ Schema *schema }
	}
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Properties           map[string]*schema
	AdditionalProperties any
	Items                *schema
	OneOf                []*schema
	Enum                 []any
}

// files are the operations whose body is a file.
var files = []string{"import", "upload"}

// strictRig is a server in memory.
type strictRig struct {
	*testing.T
	at  http.Handler
	api description
	doc *document
}

// counting returns metrics that are closed at the end of a test.
func counting(t *testing.T) *metrics.Metrics {
	t.Helper()
	m, err := metrics.New(t.Context(), metrics.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return m
}

// asRun returns options with all that stands around handlers in the real program.
func asRun(t *testing.T) server.Options {
	return server.Options{Version: "test", Metrics: counting(t), Agents: newAgents(), Backups: newBackups(),
		Log: slog.New(slog.NewJSONHandler(io.Discard, nil))}
}

func newStrictRig(t *testing.T) *strictRig {
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	r := &strictRig{T: t, at: server.Handler(sb.Engine, sb.Transfer, asRun(t), true)}
	r.doc = readDocument(t, r.at)
	if err := json.Unmarshal(r.send("GET", "/openapi.json", "").Body.Bytes(), &r.api); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *strictRig) send(method, path, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	r.at.ServeHTTP(w, req)
	if r.doc != nil {
		r.doc.conforms(method, path, w)
	}
	return w
}

// refuses checks that a request is invalid because of a field, and says so.
func (r *strictRig) refuses(method, path, body, param, says string) {
	r.Helper()
	w := r.send(method, path, body)
	var got struct {
		Error struct{ Code, Message, Param string }
	}
	if err := json.Unmarshal(w.Body.Bytes(),
		&got); err != nil || w.Code != http.StatusBadRequest || got.Error.Code != "invalid" ||
		got.Error.Param != param || !strings.Contains(got.Error.Message, says) {
		r.Errorf("%s %s %.200s: %d %s; not invalid with %q at %q", method, path, body, w.Code, w.Body, says, param)
	}
}

// Every operation that is described, today's and tomorrow's, refuses a parameter and a
// field that it does not know, a misspelt one at any depth with the name that is meant,
// and a value of another type.
func TestEveryRequestIsReadStrictly(t *testing.T) {
	r := newStrictRig(t)
	n := 0
	for _, path := range slices.Sorted(maps.Keys(r.api.Paths)) {
		for method, op := range r.api.Paths[path] {
			if !strings.HasPrefix(path, "/api/") {
				continue // for programs that watch servers, which may add what they like
			}
			method := strings.ToUpper(method)
			url := strings.NewReplacer("{", "", "}", "").Replace(path)
			r.refuses(method, url+"?zzz=1", "{}", "zzz", `unknown parameter "zzz"`)
			for _, p := range op.Parameters {
				if p.In != "query" {
					continue
				}
				n++
				r.refuses(method, url+"?"+p.Name+"=1&"+p.Name+"=1", "{}", p.Name, "more than once")
				if swapped := misspelt(p.Name); swapped != p.Name {
					r.refuses(method, url+"?"+swapped+"=1", "{}", swapped, `did you mean "`+p.Name+`"?`)
				}
				if p.Schema.Type == "integer" || p.Schema.Type == "boolean" {
					r.refuses(method, url+"?"+p.Name+"=maybe", "{}", p.Name, "must be ")
					r.refuses(method, url+"?"+p.Name+"=", "{}", p.Name, "must be ")
				}
			}
			if method == "GET" || slices.Contains(files, op.OperationID) {
				continue
			}
			r.refuses(method, url, `{"zzz":1}`, "zzz", `unknown field "zzz"`)
			if op.RequestBody != nil {
				w := walk{r, method, url, &n}
				w.object("", op.RequestBody.Content["application/json"].Schema, func(s string) string { return s })
			}
		}
	}
	if n < 150 {
		t.Errorf("only %d fields and parameters were tried", n)
	}
}

// misspelt swaps the first two different letters of a name.
func misspelt(name string) string {
	for i := range len(name) - 1 {
		if name[i] != name[i+1] {
			return name[:i] + string([]byte{name[i+1], name[i]}) + name[i+2:]
		}
	}
	return name
}

// walk sends wrong values for each field of a body, however deep.
type walk struct {
	*strictRig
	method, url string
	n           *int
}

// object tries the fields of the object at a path; in puts it where it belongs in a body.
func (w walk) object(at string, s *schema, in func(string) string) {
	s = w.known(s)
	if s.AdditionalProperties == true {
		return // kept as it is
	}
	kind := ""
	if of := s.Properties["type"]; of != nil && len(of.Enum) == 1 {
		kind = fmt.Sprintf(`"type":%q,`, of.Enum[0])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name == "type" {
			continue
		}
		*w.n++
		here := strings.TrimPrefix(at+"."+name, ".")
		is := w.known(s.Properties[name])
		put := func(value string) string { return in(fmt.Sprintf(`{%s%q:%s}`, kind, name, value)) }
		if wrong := misspelt(name); s.Properties[wrong] == nil && wrong != name {
			w.refuses(w.method, w.url, in(fmt.Sprintf(`{%s%q:1}`, kind, wrong)), strings.TrimPrefix(at+"."+wrong, "."),
				`did you mean "`+name+`"?`)
		}
		w.refuses(w.method, w.url, in(fmt.Sprintf(`{%s%q:null,%q:1}`, kind, "zzz", name)), strings.TrimPrefix(at+".zzz", "."),
			"unknown field")
		if is.Type != nil || len(is.OneOf) > 0 || is.Ref != "" {
			w.refuses(w.method, w.url, put(other(is)), here, "must be ")
		}
		w.value(here, is, put)
	}
}

// known returns what a reference names.
func (w walk) known(s *schema) *schema {
	if s.Ref != "" {
		return w.api.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	return s
}

// value tries what is inside a value.
func (w walk) value(at string, s *schema, put func(string) string) {
	inList := func(v string) string { return put("[" + v + "]") }
	if of, ok := s.AdditionalProperties.(map[string]any); ok && of["type"] == "number" {
		w.refuses(w.method, w.url, put(`{"keep_share":"0.3"}`), at+".keep_share", "must be a number")
	}
	switch {
	case len(s.Properties) > 0:
		w.object(at, s, put)
	case s.Items != nil && len(w.known(s.Items).OneOf) > 0: // parts
		w.refuses(w.method, w.url, inList(`{"type":"zzz"}`), at+"[0].type", `unknown type "zzz"`)
		w.refuses(w.method, w.url, inList(`{}`), at+"[0].type", "which kind of part")
		for _, of := range w.known(s.Items).OneOf {
			w.object(at+"[0]", of, inList)
		}
	case s.Items != nil:
		if s.Items.Type != nil {
			w.refuses(w.method, w.url, inList(other(s.Items)), at+"[0]", "must be ")
		}
		w.value(at+"[0]", w.known(s.Items), inList)
	}
	for _, of := range s.OneOf {
		w.value(at, of, put)
	}
}

// other returns a value of another type.
func other(s *schema) string {
	if s.Type == "integer" || s.Type == "number" || len(s.OneOf) > 0 {
		return "true"
	}
	return "7"
}

// A setting that a project cannot give its conversations is not stored of one.
func TestProjectsTakeNoSettingOfConversations(t *testing.T) {
	r := newStrictRig(t)
	for _, name := range []string{"archive_on_compact", "pinned"} {
		r.refuses("PUT", "/api/projects/p", `{"settings": {"`+name+`": true}}`, "settings."+name, "unknown field")
	}
}

// What else can be wrong with a request, and what is right in spite of its looks.
func TestBodies(t *testing.T) {
	r := newStrictRig(t)
	var made struct{ ID string }
	if err := json.Unmarshal(r.send("POST", "/api/conversations", "").Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	here := "/api/conversations/" + made.ID
	for _, c := range []struct{ method, path, body, param, says string }{
		{"POST", here + "/chat", `{"mesage":"x"}`, "mesage", `unknown field "mesage": did you mean "message"?`},
		{"POST", here + "/chat", `{"Message":"x"}`, "Message", `did you mean "message"?`},
		{"POST", here + "/chat", `{"message":"x","web_search":true}`, "web_search", "nobody can search the web"},
		{"POST", here + "/chat", `{"message":"a","message":"b"}`, "message", "given twice"},
		{"POST", here + "/chat", `{"message":[{"type":"text","text":"a","reference":{"source":"a"}}]}`,
			"message[0].reference", "unknown field"},
		{"POST", here + "/chat", `{"message":[{"type":"text","text":"a","text":"b"}]}`, "message[0].text", "given twice"},
		{"POST", here + "/chat", `{"message":"a"} {}`, "body", "not JSON"},
		{"POST", here + "/chat", `{"message":"a"`, "body", "not JSON"},
		{"POST", here + "/chat", "{\"message\":\"a\xff\"}", "body", "not UTF-8"},
		{"POST", here + "/chat", "\ufeff{}", "body", "not JSON"},
		{"POST", here + "/chat", ``, "body", "no body"},
		{"POST", here + "/chat", `null`, "body", "must be an object, not null"},
		{"POST", here + "/chat", `{"message":"a","limit":1.5}`, "limit", "whole number, not 1.5"},
		{"POST", here + "/chat", `{"message":"a","limit":1e30}`, "limit", "whole number, not 1e30"},
		{"POST", here + "/chat", `{"message":"a","limit":99999999999999999999}`, "limit", "out of range"},
		{"POST", here + "/chat", `{"message":"a","compaction":{"keep_share":1e999}}`, "compaction.keep_share",
			"out of range"},
		{"POST", here + "/chat", `{"message":"a","compaction":{"keep_shar":0.3}}`, "compaction",
			`did you mean "keep_share"?`},
		{"POST", here + "/chat", `{"message":"a","tools":[{"parameters":{}}]}`, "tools[0].name", "missing"},
		{"POST", here + "/chat", `{"tools":[{"name":"t","parameters":` + strings.Repeat(`{"a":`, 120) + "1" +
			strings.Repeat("}", 120) + `}]}`,
			"body", "nested more than 100"},
		{"POST", here + "/chat", `{"message":"a","tz":"Mars/Olympus"}`, "tz", "is no time zone"},
		{"POST", here + "/chat", `{"message":"a","tz":"../../etc/passwd"}`, "tz", "is no time zone"},
		{"POST", here + "/chat", `{"message":"a","tz":"Local"}`, "tz", "is no time zone"},
		{"POST", "/api/conversations", `{"created_at":5}`, "created_at", "not for a request to set"},
		{"PATCH", here, `{"id":"x"}`, "id", "not for a request to set"},
		{"POST", here + "/rewind", `{"title":"x"}`, "title", "unknown field"},
		{"POST", here + "/clear", `[]`, "body", "must be an object"},
		{"GET", "/api/search?q=%zz", "", "query", "cannot be read"},
	} {
		r.refuses(c.method, c.path, c.body, c.param, c.says)
	}
	for _, body := range []string{`{"message":[]}`, `{"message":""}`, `{"message":[{"type":"text","text":" "}]}`,
		`{"message":"a","web_search":true}`,
		`{"model":"nothing"}`, `{"message":"a","model":"nothing"}`, `{"policy":"nothing"}`, `{"compaction":{"keep_share":7}}`,
		`{"limit":-1}`,
		`{"message":"a","tz":"Mars/Olympus"}`, `{"reasoning_effort":"huge"}`, `{"thinking_budget":-5}`} {
		chat := r.send("POST", here+"/chat", body)
		preview := r.send("POST", here+"/context", body)
		if chat.Code < 400 || preview.Code != chat.Code || preview.Body.String() != chat.Body.String() {
			t.Errorf("%s is answered with %d %s as a chat, and with %d %.200s as a preview", body, chat.Code, chat.Body,
				preview.Code, preview.Body)
		}
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", here + "/context",
			`{"message":"a","thinking":true,"thinking_budget":2000,"plain_marks":true,"tz":"Europe/Madrid"}`},
		{"POST", here + "/context", `{"content":true}`},
		{"POST", here + "/chat", `{"message":"a","tz":"Asia/Shanghai","stream":false}`},
		{"POST", here + "/chat", `{"message":"a","folding":{"keep_share":0.3},"stream":false}`},
		{"POST", here + "/chat", ` {"message":[{"type":"text","text":"a","opaque":{"x":1}}],"stream":false} ` + "\n"},
		{"POST", here + "/clear", `{}`}, {"POST", here + "/clear", ``}, {"POST", here + "/compact", ``},
		{"PATCH", here, `{"meta":{"a":{"b":1},"mesage":2,"a ":[[[]]]}}`},
		{"GET", "/api/conversations?trash=0&limit=5&q=", ""},
	} {
		if w := r.send(c.method, c.path, c.body); w.Code != http.StatusOK {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, w.Code, w.Body)
		}
	}
	for sent, fine := range map[string]bool{"application/json; charset=utf-8": true, "": true, "text/plain": false,
		"a b":                           false,
		"application/json; charset=gbk": false, "application/x-www-form-urlencoded": false} {
		req := httptest.NewRequest(http.MethodPatch, "http://localhost"+here, strings.NewReader(`{"title":"t"}`))
		req.Header.Set("Content-Type", sent)
		w := httptest.NewRecorder()
		if r.at.ServeHTTP(w, req); (w.Code == http.StatusOK) != fine ||
			!fine && !strings.Contains(w.Body.String(), `"param":"Content-Type"`) {
			t.Errorf("a body as %q: %d %s", sent, w.Code, w.Body)
		}
	}
}
