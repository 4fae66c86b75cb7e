package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// probe is a request for an operation, and who may make it. In path, query and body, what
// is in braces stands for something of a project: {id}, {ref}, {artifact}, {turn}, {project},
// {name} (of the project) and {key} (of a full copy); {secret} is a key to read.
type probe struct {
	need  scrollback.Access // 0: no key is needed
	query string
	body  string
	file  bool // the body is {file}, a transcript of the project

	asks   bool // it may ask a model, for which the caller pays
	whole  bool // only keys to all projects may
	frames int  // of an endless stream: how many events to read before leaving
}

// probes has one for each operation of the API. A new operation needs a line here.
var probes = map[string]probe{
	"sign-in": {body: `{"key":"{secret}"}`}, "sign-out": {}, "whoami": {need: scrollback.AccessRead},
	"healthz": {}, "livez": {}, "readyz": {}, "openapi": {need: scrollback.AccessRead},
	"metrics": {need: scrollback.AccessRead, whole: true},

	"list-conversations": {need: scrollback.AccessRead}, "list-projects": {need: scrollback.AccessRead},
	"list-models":      {need: scrollback.AccessRead},
	"usage":            {need: scrollback.AccessRead, query: "group_by=day,model,project"},
	"search":           {need: scrollback.AccessRead, query: "q=lighthouse&limit=100&around=2"},
	"get-conversation": {need: scrollback.AccessRead}, "branches": {need: scrollback.AccessRead},
	"list-files": {need: scrollback.AccessRead, query: "prefix=no"},
	"context":    {need: scrollback.AccessRead}, "brief": {need: scrollback.AccessRead},
	"export": {need: scrollback.AccessRead, query: "format=bundle"},
	"grep":   {need: scrollback.AccessRead, query: "pattern=light"}, "list-messages": {need: scrollback.AccessRead},
	"list-kept": {need: scrollback.AccessRead, query: "all=true"}, "list-project-kept": {need: scrollback.AccessRead},
	"receipts": {need: scrollback.AccessRead}, "list-refs": {need: scrollback.AccessRead},
	"read-ref":    {need: scrollback.AccessRead},
	"list-leaves": {need: scrollback.AccessRead}, "list-segments": {need: scrollback.AccessRead},
	"shape":    {need: scrollback.AccessRead, query: "bins=9"},
	"tail-ref": {need: scrollback.AccessRead}, "turn-events": {need: scrollback.AccessRead},
	"fetch-artifact": {need: scrollback.AccessRead}, "get-project": {need: scrollback.AccessRead},
	"events":        {need: scrollback.AccessRead, query: "after=0", frames: 8},
	"list-archives": {need: scrollback.AccessRead}, "read-newest-archive": {need: scrollback.AccessRead},
	"read-archive": {need: scrollback.AccessRead},
	"preview":      {need: scrollback.AccessRead, body: `{"message":"and the lighthouse?"}`},
	"turn-context": {need: scrollback.AccessRead},

	"create-conversation":  {need: scrollback.AccessWrite, body: `{"project":"{project}"}`},
	"patch-conversation":   {need: scrollback.AccessWrite, body: `{"title":"another"}`},
	"delete-conversation":  {need: scrollback.AccessWrite, query: "purge=1"},
	"restore-conversation": {need: scrollback.AccessWrite},
	"chat":                 {asks: true, need: scrollback.AccessWrite, body: `{"message":"and the lighthouse?","stream":false}`},
	"keep":                 {need: scrollback.AccessWrite, body: `{"seq":1,"text":"Which colour"}`},
	"patch-kept":           {need: scrollback.AccessWrite, body: `{"state":"done"}`},
	"drop-kept":            {need: scrollback.AccessWrite},
	"clear":                {need: scrollback.AccessWrite},
	"compact":              {asks: true, need: scrollback.AccessWrite, body: `{"force":true}`},
	"uncompact":            {need: scrollback.AccessWrite}, "recompact": {need: scrollback.AccessWrite},
	"fork":   {need: scrollback.AccessWrite, body: `{"seq":2}`},
	"rewind": {need: scrollback.AccessWrite, body: `{"seq":2}`}, "cancel-turn": {need: scrollback.AccessWrite},
	"upload":  {need: scrollback.AccessWrite, query: "conversation={id}&name=a.txt", body: "some bytes"},
	"sample":  {need: scrollback.AccessWrite, body: `{"lang":"zh","project":"{project}"}`},
	"import":  {asks: true, need: scrollback.AccessWrite, query: "project={project}", file: true},
	"archive": {need: scrollback.AccessWrite},

	"put-project":    {need: scrollback.AccessAdmin, body: `{"instructions":"Be brief."}`},
	"delete-project": {need: scrollback.AccessAdmin},

	"limits": {need: scrollback.AccessRead}, "list-keys": {need: scrollback.AccessAdmin},
	"revoke-key":    {need: scrollback.AccessAdmin},
	"list-agents":   {need: scrollback.AccessAdmin, whole: true},
	"patch-agent":   {need: scrollback.AccessAdmin, whole: true, body: `{"off":true}`},
	"list-backups":  {need: scrollback.AccessAdmin, whole: true},
	"create-backup": {need: scrollback.AccessAdmin, whole: true},
	"list-remotes":  {need: scrollback.AccessAdmin, whole: true},
	"verify-backup": {need: scrollback.AccessAdmin, whole: true},
	"add-key":       {need: scrollback.AccessAdmin, body: `{"name":"for {id}","role":"read","projects":["{project}"]}`},
}

// outside are requests that the description does not hold, and what each needs.
var outside = []struct {
	method, path string
	need         scrollback.Access
}{
	{"GET", "/", 0}, {"HEAD", "/", 0}, {"GET", "/favicon.ico", 0}, {"GET", "/assets/app.js", 0},
	{"GET", "/healthz", 0}, {"GET", "/livez", 0}, {"GET", "/readyz", 0},
	{"GET", "/metrics", scrollback.AccessRead}, {"GET", "/docs", scrollback.AccessRead},
	{"GET", "/openapi.json", scrollback.AccessRead},
	{"GET", "/openapi.yaml", scrollback.AccessRead}, {"GET", "/docs/anything", scrollback.AccessRead},
	{"POST", "/mcp", scrollback.AccessRead}, {"POST", "/api/sync/head", scrollback.AccessRead},
	{"GET", "/mcp", scrollback.AccessRead}, {"GET", "/api/nothing", scrollback.AccessRead},
	{"POST", "/", scrollback.AccessRead},
	{"GET", "/assets/../metrics", scrollback.AccessRead}, {"GET", "//metrics", scrollback.AccessRead},
	{"GET", "/nothing", scrollback.AccessRead},
	{"PUT", "/api/session", scrollback.AccessRead}, {"GET", "/api/session/", scrollback.AccessRead},
}

// place is what there is of one project.
type place map[string]string

// matrix is a server that other machines reach, two projects, and keys for one of them.
type matrix struct {
	*enginetest.Rig
	at      http.Handler
	ops     map[string]map[string]operation
	mine    place // which no test changes
	foreign place
	keys    map[string]string // secrets, by what is special about a key
	ids     map[string]scrollback.KeyID
}

const own, foreign = "harbour", "fortress"

func newMatrix(t *testing.T) *matrix {
	long := modeltest.Step{Reply: func(model.Request) []model.Delta {
		return []model.Delta{{Text: strings.Repeat("The light is white. ", 80)}}
	}}
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, long)
	m := &matrix{Rig: r, keys: map[string]string{}}
	m.at = server.Handler(r.Engine, r.Transfer, server.Options{Version: "test", Keys: r.Store.Keys, Metrics: counting(t),
		Agents: newAgents(), Backups: newBackups(), Log: slog.New(slog.DiscardHandler)}, false)
	for name, role := range map[string]scrollback.Access{"read": 1, "write": 2, "admin": 3, "expired": 3, "revoked": 3} {
		k := scrollback.Key{Name: name, Role: role, Projects: []string{own}}
		if name == "expired" {
			k.ExpiresAt = r.Clock.Load() + 1
		}
		_, secret, err := r.Store.Keys.Add(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		m.keys[name] = secret
	}
	m.keys["wrong"] = m.keys["read"] + "x"
	m.keys["a path"] = "../../scrollback.db"
	if _, err := r.Store.Keys.Revoke(t.Context(), "revoked"); err != nil {
		t.Fatal(err)
	}
	r.Clock.Add(10)
	m.foreign = m.place(foreign)
	m.mine = m.place(own)
	w := m.send("GET", "/openapi.json", "", "read", "")
	var api description
	if err := json.Unmarshal(w.Body.Bytes(), &api); err != nil || len(api.Paths) == 0 {
		t.Fatalf("the description: %v, %.200s", err, w.Body)
	}
	m.ops = api.Paths
	return m
}

// place makes a conversation with something of everything in a project.
func (m *matrix) place(project string) place {
	m.T.Helper()
	must := func(err error) {
		m.T.Helper()
		if err != nil {
			m.T.Fatal(err)
		}
	}
	ctx := m.T.Context()
	c, _, err := m.Create(ctx, scrollback.Conversation{Project: project, Title: "the lighthouse of the " + project})
	must(err)
	art, err := m.Upload(ctx, c.ID, strings.NewReader("a chart of the "+project+string(c.ID)), project+".txt")
	must(err)
	for range 4 {
		m.Ask(c.ID, "Which colour has the lighthouse of the "+project+"?").WantDone(m.T, scrollback.TurnComplete, "stop")
	}
	folded, err := m.Compact(ctx, c.ID, engine.CompactRequest{Force: true})
	must(err)
	_, err = m.Compact(ctx, c.ID, engine.CompactRequest{Clear: true})
	must(err)
	_, err = m.Uncompact(ctx, c.ID, "")
	must(err)
	refs, _, err := m.Refs(ctx, c.ID, scrollback.RefQuery{Kind: scrollback.RefHistory, Limit: 1})
	must(err)
	if len(refs) == 0 || folded.Result != scrollback.ResultCompacted {
		m.T.Fatalf("nothing was compacted: %+v", folded)
	}
	page, _, err := m.Messages(ctx, c.ID, scrollback.PageQuery{Limit: 1})
	must(err)
	todo, err := m.Kept().Keep(ctx, c.ID, 1, "the lighthouse", scrollback.KeptTodo)
	must(err)
	var file bytes.Buffer
	must(m.Export(ctx, c.ID, transfer.ExportRequest{Format: "jsonl"}, &file))
	copied, err := m.Transfer.Copies().Write(ctx, m.View, c.ID)
	must(err)
	_, err = m.Projects().Put(ctx, project, 0,
		func(p *scrollback.Project) error { p.Title = "the " + project; return nil })
	must(err)
	key, _, err := m.Store.Keys.Add(ctx, scrollback.Key{Name: project + string(c.ID), Role: scrollback.AccessRead,
		Projects: []string{project}})
	must(err)
	return place{"{agent}": "codex", "{backup}": someBackup, "{id}": string(c.ID), "{key_id}": string(key.ID), "{kept_id}": string(todo.ID), "{key}": copied.Key, "{name}": project,
		"{artifact}": string(art.ID),
		"{ref}":      string(refs[0].Ref), "{turn}": string(page[0].TurnID), "{project}": project, "{file}": file.String()}
}

// request returns a request with the key of a name; none for an empty name.
func (m *matrix) request(method, path, body, key, media string) *http.Request {
	r := httptest.NewRequest(method, "http://chat.example"+path, strings.NewReader(body))
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+m.keys[key])
	}
	return r
}

func (m *matrix) send(method, path, body, key, media string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	m.at.ServeHTTP(w, m.request(method, path, body, key, media))
	return w
}

// try sends the probe of an operation, about what is in a place.
func (m *matrix) try(method, path string, s probe, of place, key string) *httptest.ResponseRecorder {
	media := "application/json"
	if s.file {
		s.body = of["{file}"]
		media = ""
	}
	fill := []string{"{secret}", m.keys["read"]}
	for name, v := range of {
		fill = append(fill, name, v)
	}
	in := strings.NewReplacer(fill...)
	if path = in.Replace(path); s.query != "" {
		path += "?" + in.Replace(s.query)
	}
	r := m.request(strings.ToUpper(method), path, in.Replace(s.body), key, media)
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	w := httptest.NewRecorder()
	m.at.ServeHTTP(&reader{w, s.frames, leave}, r.WithContext(ctx))
	return w
}

// is checks a status, and the error of one that refuses.
func (m *matrix) is(what string, w *httptest.ResponseRecorder, want int) {
	m.T.Helper()
	code := map[int]string{401: "refused", 403: "refused", 404: "not_found"}[want]
	if w.Code != want || code != "" && !strings.Contains(w.Body.String(), `{"error":{"code":"`+code+`"`) ||
		want == 401 && !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer ") {
		m.T.Errorf("%s: %d %v %.300s; want %d", what, w.Code, w.Header(), w.Body, want)
	}
}

// holds checks that a response has nothing of the foreign project.
func (m *matrix) holds(what string, w *httptest.ResponseRecorder) {
	m.T.Helper()
	for _, secret := range []string{foreign, m.foreign["{id}"], m.foreign["{ref}"], m.foreign["{artifact}"],
		m.foreign["{turn}"]} {
		if strings.Contains(w.Body.String(), secret) {
			m.T.Errorf("%s: the response has %q of another project: %.500s", what, secret, w.Body)
		}
	}
}

// Every operation, with every kind of key, as its description says: today's and
// tomorrow's.
func TestEveryOperationKnowsItsCaller(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	tried := 0
	for _, path := range slices.Sorted(maps.Keys(m.ops)) {
		for method, op := range m.ops[path] {
			s, ok := probes[op.OperationID]
			if !ok {
				t.Errorf("%s %s: there is no probe of %s; add one, so that its access is tested", method, path, op.OperationID)
				continue
			}
			tried++
			m.operation(method, path, op.OperationID, s)
		}
	}
	if tried != len(probes) {
		t.Errorf("%d operations were tried, and there are probes of %d", tried, len(probes))
	}
	t.Logf("%d operations were tried with no key, read, write, admin, another project, expired, revoked, wrong and path-like keys", tried)
}

func (m *matrix) operation(method, path, name string, s probe) {
	for _, key := range []string{"", "wrong", "a path", "expired", "revoked"} {
		if w := m.try(method, path, s, m.mine, key); s.need > 0 {
			m.is(name+" with the key: "+key, w, http.StatusUnauthorized)
		} else if w.Code >= 400 {
			m.T.Errorf("%s needs no key, and gets %d %s", name, w.Code, w.Body)
		}
	}
	for i, key := range []string{"read", "write", "admin"} {
		what := name + " with a key to " + key
		may := scrollback.Access(i+1) >= s.need && !s.whole
		mine := m.mine
		if may && s.need >= scrollback.AccessWrite {
			mine = m.place(own)
		}
		w := m.try(method, path, s, mine, key)
		if !may {
			m.is(what, w, http.StatusForbidden)
		} else if w.Code >= 400 {
			m.T.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
		m.holds(what, w)
		if s.need == 0 || s.whole || !strings.Contains(path+s.query+s.body, "{") {
			continue // it names nothing of a project
		}
		what = what + ", of another project"
		w = m.try(method, path, s, m.foreign, key)
		if !may && !strings.Contains(path, "{") && w.Code == http.StatusForbidden {
			continue // it may do so in no project: that says nothing about this one
		}
		m.is(what, w, http.StatusNotFound)
	}
}

// What the description does not hold needs a key all the same, whether it exists or not.
func TestPathsOutsideTheDescription(t *testing.T) {
	m := newMatrix(t)
	for _, o := range outside {
		for _, key := range []string{"", "wrong", "expired", "revoked", "read"} {
			what := fmt.Sprintf("%s %s with the key: %s", o.method, o.path, key)
			w := m.send(o.method, o.path, "", key, "")
			switch {
			case o.need > 0 && key != "read":
				m.is(what, w, http.StatusUnauthorized)
			case w.Code == http.StatusUnauthorized, o.need == 0 && w.Code != http.StatusOK:
				t.Errorf("%s: %d %s", what, w.Code, w.Body)
			}
		}
	}
}

// A request about something of one's own may name something of another's: it does not
// exist.
func TestNothingReachesAcross(t *testing.T) {
	m := newMatrix(t)
	mine := m.place(own)
	theirs := m.foreign
	here := "/api/conversations/" + mine["{id}"]
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"PATCH", here, `{"project":"` + foreign + `"}`, 404},
		{"POST", "/api/conversations", `{"project":"default"}`, 404},
		{"POST", "/api/conversations", `{"id":"` + theirs["{id}"] + `"}`, 404},
		{"GET", here + "/refs/" + theirs["{ref}"], "", 404},
		{"GET", here + "/refs/artifact:" + theirs["{artifact}"], "", 404},
		{"GET", here + "/refs/" + theirs["{ref}"] + "/tail", "", 404},
		{"GET", here + "/grep?pattern=light&ref=" + theirs["{ref}"], "", 404},
		{"GET", here + "/turns/" + theirs["{turn}"] + "/events", "", 404},
		{"POST", here + "/turns/" + theirs["{turn}"] + "/cancel", "", 404},
		{"GET", "/api/artifacts/" + theirs["{artifact}"] + "?conversation=" + mine["{id}"], "", 404},
		{"GET", "/api/search?q=lighthouse&project=" + foreign, "", 404},
		{"GET", "/api/search?q=lighthouse&conversation=" + theirs["{id}"], "", 404},
		{"GET", "/api/conversations?project=" + foreign, "", 404},
		{"POST", "/api/keys", `{"name":"wide","role":"read"}`, 403},
		{"POST", "/api/keys", `{"name":"rich","role":"read","projects":["` + own + `"],"budget":{"tokens_per_day":5}}`, 403},
		{"POST", "/api/import?into=" + theirs["{id}"], mine["{file}"], 404},
		{"POST", here + "/chat", `{"message":[{"type":"file","artifact":"` + theirs["{artifact}"] + `"}],"stream":false}`,
			404},
	} {
		w := m.send(c.method, c.path, c.body, "admin", "application/json")
		m.is(c.method+" "+c.path, w, c.want)
		if strings.Contains(w.Body.String(), "white") {
			t.Errorf("%s %s: %s", c.method, c.path, w.Body)
		}
	}
	var made struct{ Project string }
	w := m.send("POST", "/api/conversations", `{}`, "write", "application/json")
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || made.Project != own {
		t.Errorf("a conversation without a project goes to %q: %d %s", made.Project, w.Code, w.Body)
	}
}

// arguments are those of each tool, besides the conversation.
var arguments = map[string]string{"context_conversations": "", "context_messages": "",
	"context_search": `"query":"lighthouse"`,
	"context_list":   "", "context_read": `"ref":"{ref}"`, "context_tail": `"ref":"{ref}"`,
	"context_grep": `"pattern":"light"`, "context_kept": ""}

// mcp sends a request of MCP.
func (m *matrix) mcp(method, params, key string) *httptest.ResponseRecorder {
	return m.send("POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), key,
		"application/json")
}

// toolCall returns the params of a call of a tool of MCP about what is in a place.
func toolCall(tool string, of place) string {
	fields := []string{}
	if tool != "context_conversations" {
		fields = append(fields, `"conversation":"`+of["{id}"]+`"`)
	}
	if args := arguments[tool]; args != "" {
		fields = append(fields, strings.ReplaceAll(args, "{ref}", of["{ref}"]))
	}
	return fmt.Sprintf(`{"name":%q,"arguments":{%s}}`, tool, strings.Join(fields, ","))
}

// resource returns the params of a read of the original behind a ref of a place.
func resource(of place) string {
	return fmt.Sprintf(`{"uri":"scrollback://%s/%s"}`, of["{id}"], strings.Replace(of["{ref}"], ":", "/", 1))
}

// The tools and resources of MCP are for the projects of the key too.
func TestMCPKnowsItsCaller(t *testing.T) {
	m := newMatrix(t)
	mine := m.place(own)
	call := func(method, params string) *httptest.ResponseRecorder {
		m.is(method+" without a key", m.mcp(method, params, ""), http.StatusUnauthorized)
		w := m.mcp(method, params, "read")
		if w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %s", method, params, w.Code, w.Body)
		}
		return w
	}
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(call("tools/list", "{}").Body.Bytes(), &list); err != nil ||
		len(list.Result.Tools) != len(arguments) {
		t.Fatalf("%d tools, and arguments of %d: %v", len(list.Result.Tools), len(arguments), err)
	}
	for _, tool := range list.Result.Tools {
		if _, ok := arguments[tool.Name]; !ok {
			t.Errorf("there are no arguments of %s; add some, so that its access is tested", tool.Name)
			continue
		}
		w := call("tools/call", toolCall(tool.Name, mine))
		if m.holds(tool.Name, w); strings.Contains(w.Body.String(), `"isError":true`) ||
			!strings.Contains(w.Body.String(), "light") {
			t.Errorf("%s: %s", tool.Name, w.Body)
		}
		if tool.Name == "context_conversations" {
			continue
		}
		if w := call("tools/call", toolCall(tool.Name, m.foreign)); !strings.Contains(w.Body.String(), `"isError":true`) ||
			strings.Contains(w.Body.String(), foreign) || strings.Contains(w.Body.String(), "white") {
			t.Errorf("%s of another project: %s", tool.Name, w.Body)
		}
	}
	m.holds("search everywhere", call("tools/call", `{"name":"context_search","arguments":{"query":"lighthouse"}}`))
	m.holds("resources", call("resources/list", "{}"))
	w := call("resources/read", resource(m.foreign))
	if !strings.Contains(w.Body.String(), `"error"`) || strings.Contains(w.Body.String(), "white") {
		t.Errorf("a resource of another project: %s", w.Body)
	}
}
