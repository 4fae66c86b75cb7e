package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/local"
)

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// keyedRig is two servers over one store, one of which wants keys, and what a model's server and the log saw.
type keyedRig struct {
	*clientRig // of the server that wants keys
	open       string
	up         *faultyServer
	log        *lockedBuffer
	secrets    map[string]string // of keys, by their names
}

func newKeyedRig(t *testing.T) *keyedRig {
	t.Helper()
	u := newFaultyServer(t)
	env := map[string]string{"OPENAI_BASE_URL": u.URL + "/v1", "OPENAI_API_KEY": "k", "ANTHROPIC_BASE_URL": u.URL,
		"ANTHROPIC_API_KEY": "k", "GEMINI_BASE_URL": u.URL, "GEMINI_API_KEY": "k", "OLLAMA_BASE_URL": u.URL}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:",
		Env: func(name string) string { return env[name] }, Engine: engine.Options{NoTitleCalls: true}})
	if err != nil {
		t.Fatal(err)
	}
	k := &keyedRig{up: u, log: &lockedBuffer{}, secrets: map[string]string{}}
	log := slog.New(slog.NewTextHandler(k.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	serve := func(local bool) string {
		srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test", Log: log,
			Keys: sb.Store.Keys, Hosts: []string{"127.0.0.1"}, DoorBytes: 1 << 20, Door: door.New(door.Options{Log: log,
				Serves: func(provider string) bool { return sb.CheckModel(provider+"/x") == nil }})}, local))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	t.Cleanup(func() {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	for _, key := range []scrollback.Key{
		{Name: "ada", Role: scrollback.AccessWrite, Projects: []string{"work"}},
		{Name: "bob", Role: scrollback.AccessWrite, Projects: []string{"work"}},
		{Name: "eve", Role: scrollback.AccessWrite, Projects: []string{"elsewhere"}},
		{Name: "reader", Role: scrollback.AccessRead, Projects: []string{"work"}},
	} {
		_, secret, err := sb.Store.Keys.Add(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		k.secrets[key.Name] = secret
	}
	k.clientRig = &clientRig{T: t, sb: sb, url: serve(false)}
	k.open = serve(true)
	return k
}

// bringKey returns a header that lets a client in, as those of an API send it.
func bringKey(api, secret string) string {
	switch api {
	case "messages":
		return "X-Api-Key: " + secret
	case "gemini":
		return "X-Goog-Api-Key: " + secret
	default:
		return "Authorization: Bearer " + secret
	}
}

// faceProbe is a request of a face that a caller may or may not send.
type faceProbe struct {
	name, api, method, path, body string
	reads                         bool // whoever reads may send it
	socket                        bool
	headers                       []string
}

func listFaceProbes() (out []faceProbe) {
	for _, f := range faceCases {
		out = append(out, faceProbe{name: f.name, api: f.api, method: "POST", path: f.path,
			body: f.bodyOf("Hello"), socket: f.socket})
	}
	const messages = `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}`
	return append(out,
		faceProbe{name: "openai's models", api: "chat", method: "GET", path: "/v1/models", reads: true},
		faceProbe{name: "openai's model", api: "chat", method: "GET", path: "/v1/models/offline", reads: true},
		faceProbe{name: "anthropic's models", api: "messages", method: "GET", path: "/v1/models", reads: true,
			headers: []string{version}},
		faceProbe{name: "google's models", api: "gemini", method: "GET", path: "/v1beta/models", reads: true},
		faceProbe{name: "count_tokens", api: "messages", method: "POST", path: "/v1/messages/count_tokens", reads: true,
			body: messages},
		faceProbe{name: "countTokens", api: "gemini", method: "POST", path: "/v1beta/models/gemini-x:countTokens", reads: true,
			body: `{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}`},
		faceProbe{name: "input_tokens", api: "responses", method: "POST", path: "/v1/responses/input_tokens", reads: true,
			body: `{"model":"gpt-x","input":"Hello"}`},
		faceProbe{name: "tags", api: "ollama", method: "GET", path: "/api/tags", reads: true},
		faceProbe{name: "show", api: "ollama", method: "POST", path: "/api/show", reads: true, body: `{"model":"ollama/m"}`},
	)
}

// ask sends a probe and returns its status and, where it fails, the error.
func (p faceProbe) ask(k *keyedRig, url, query string, headers ...string) reply {
	k.Helper()
	path := p.path
	if query != "" {
		joint := "?"
		if strings.Contains(path, "?") {
			joint = "&"
		}
		path += joint + query
	}
	at := &clientRig{T: k.T, sb: k.sb, url: url}
	if !p.socket {
		return at.send(p.method, path, p.body, append(headers, p.headers...)...)
	}
	sent := http.Header{}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		sent.Set(name, value)
	}
	conn, resp, err := websocket.Dial(k.Context(), strings.Replace(url, "http", "ws", 1)+path,
		&websocket.DialOptions{HTTPHeader: sent})
	if err != nil && resp != nil {
		var body bytes.Buffer
		_, _ = body.ReadFrom(resp.Body) // a part of it, at least
		return reply{status: resp.StatusCode, header: resp.Header, body: body.String()}
	}
	if err != nil {
		k.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }() // it has said what it has to say
	if err := conn.Write(k.Context(), websocket.MessageText, []byte(p.body)); err != nil {
		k.Fatal(err)
	}
	for {
		_, b, err := conn.Read(k.Context())
		if err != nil {
			k.Fatal(err)
		}
		var e struct {
			Type   string
			Status int
		}
		_ = json.Unmarshal(b, &e) // what is no JSON has no type
		switch e.Type {
		case "error":
			return reply{status: e.Status, body: string(b), header: http.Header{}}
		case "response.completed":
			return reply{status: 200, body: string(b), header: http.Header{}}
		}
	}
}

// checkForm reports what is wrong with the form of an error of ours.
func (p faceProbe) checkForm(r reply) error {
	var e struct {
		Type  string
		Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.body), &e); err != nil {
		return err
	}
	var says struct {
		Type, Message, Status string
		Code                  any
		Param                 *json.RawMessage
	}
	switch {
	case p.api == "ollama":
		var text string
		if err := json.Unmarshal(e.Error, &text); err != nil || text == "" {
			return fmt.Errorf("no text: %w", err)
		}
		return nil
	case json.Unmarshal(e.Error, &says) != nil || says.Message == "":
		return fmt.Errorf("no message")
	case p.api == "gemini":
		if says.Code != float64(r.status) || says.Status == "" {
			return fmt.Errorf("code %v, status %q", says.Code, says.Status)
		}
	case e.Type != "error" || says.Type == "" || says.Code == nil || !bytes.Contains(e.Error, []byte(`"param":`)):
		return fmt.Errorf("not the form of OpenAI and Anthropic")
	}
	return nil
}

// TestKeysAtEveryFace has every kind of caller ask every face: who is let in, in which form a refusal comes, and that
// no key of ours, and none in an address, is logged or goes upstream.
func TestKeysAtEveryFace(t *testing.T) {
	k := newKeyedRig(t)
	for _, p := range listFaceProbes() {
		asking := map[bool]int{true: 200, false: 403}[p.reads]
		for _, of := range []struct {
			name    string
			url     string
			headers []string
			query   string
			status  int
		}{
			{"no key is needed", k.open, nil, "", 200},
			{"no key is needed, another one", k.open, []string{bringKey(p.api, "sk-own")}, "", 200},
			{"no key is needed, two others", k.open, []string{bringKey("messages", "sk-own"), bringKey("chat", "sk-two")}, "", 200},
			{"no key is needed, one of ours that is wrong", k.open, []string{bringKey(p.api, "sbk_wrong")}, "", 401},
			{"nothing", k.url, nil, "", 401},
			{"another one", k.url, []string{bringKey(p.api, "sk-own")}, "", 401},
			{"a wrong one", k.url, []string{bringKey(p.api, "sbk_wrong")}, "", 401},
			{"a reader", k.url, []string{bringKey(p.api, k.secrets["reader"])}, "", asking},
			{"a writer", k.url, []string{bringKey(p.api, k.secrets["ada"])}, "", 200},
			{"a writer elsewhere", k.url, []string{bringKey(p.api, k.secrets["eve"])}, "", 200},
			{"a writer in another header", k.url, []string{bringKey("messages", k.secrets["ada"])}, "", 200},
			{"a writer beside another one", k.url, []string{bringKey(p.api, "sk-own"), "X-Scrollback-Key: " + k.secrets["ada"]}, "",
				200},
			{"a reader beside another one", k.url, []string{bringKey(p.api, "sk-own"),
				"X-Scrollback-Key: " + k.secrets["reader"]}, "", asking},
			{"a wrong one beside a writer", k.url, []string{bringKey(p.api, k.secrets["ada"]), "X-Scrollback-Key: sbk_x"}, "", 401},
			{"in the address", k.url, nil, "key=" + k.secrets["ada"],
				map[bool]int{true: 200, false: 401}[strings.Contains(p.path, "/models")]},
			{"another one in the address", k.open, nil, "key=sk-in-the-address", 200},
		} {
			r := p.ask(k, of.url, of.query, of.headers...)
			if r.status != of.status {
				t.Errorf("%s, %s: %d, not %d\n%.300s", p.name, of.name, r.status, of.status, r.body)
				continue
			}
			as := p
			if of.query != "" && strings.HasPrefix(p.path, "/v1/models") {
				as.api = "gemini"
			}
			if r.status != 200 {
				if err := as.checkForm(r); err != nil {
					t.Errorf("%s, %s: %v\n%s", p.name, of.name, err, r.body)
				}
			}
			if (r.status == 401) != (r.header.Get("WWW-Authenticate") != "") {
				t.Errorf("%s, %s: %d with the header %v", p.name, of.name, r.status, r.header)
			}
		}
	}
	k.up.mu.Lock()
	seen := strings.Join(k.up.seen, "\n")
	k.up.mu.Unlock()
	if seen == "" || k.log.String() == "" {
		t.Fatal("nothing was asked, or logged")
	}
	for _, secret := range append([]string{"sk-own", "sk-two", "sk-in-the-address", "sbk_wrong"}, k.secrets["ada"],
		k.secrets["reader"], k.secrets["eve"]) {
		if strings.Contains(seen, secret) {
			t.Errorf("%s went upstream", secret)
		}
		if strings.Contains(k.log.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

// TestCallersNeverMeet has two callers say the same under the same id of a conversation, whatever client sends it: each
// is in one of their own, and goes on in it.
func TestCallersNeverMeet(t *testing.T) {
	k := newKeyedRig(t)
	const user = `user_1_account_2_session_0f0e0d0c-0b0a-4988-8776-655443322110`
	for _, of := range []struct {
		name, api, fields string
		headers           []string
	}{
		{"no id", "chat", "", nil},
		{"Codex", "responses", "", []string{"Thread-Id: t1", "Session-Id: t1"}},
		{"Codex in the body", "responses", `"client_metadata":{"thread_id":"t2"},`, nil},
		{"Codex in its own words", "responses", "", []string{`X-Codex-Turn-Metadata: {"thread_id":"t3","request_kind":"turn"}`}},
		{"Claude Code", "messages", "", []string{"X-Claude-Code-Session-Id: c1"}},
		{"an agent of Claude Code", "messages", "", []string{"X-Claude-Code-Session-Id: c1", "X-Claude-Code-Agent-Id: a1"}},
		{"metadata.user_id", "messages", `"metadata":{"user_id":"` + user + `"},`, nil},
		{"metadata.user_id as JSON", "messages", `"metadata":{"user_id":"{\"session_id\":\"c2\"}"},`, nil},
		{"x-session-id", "chat", "", []string{"X-Session-Id: s1"}},
		{"x-session-affinity", "chat", "", []string{"X-Session-Affinity: s2"}},
		{"x-opencode-session", "chat", "", []string{"X-Opencode-Session: s3"}},
		{"session-id", "responses", "", []string{"Session-Id: s4"}},
		{"session_id", "chat", "", []string{"Session_id: s5"}},
		{"prompt_cache_key", "responses", `"prompt_cache_key":"s6",`, nil},
		{"gemini", "gemini", "", []string{"X-Session-Id: s7"}},
		{"ollama", "ollama", "", []string{"X-Session-Id: s8"}},
	} {
		at := func(who string, history ...string) string {
			t.Helper()
			path, body := historyBody(of.api, of.fields, append([]string{"The secret of " + of.name}, history...)...)
			r := k.send("POST", path, body, append(of.headers, bringKey(of.api, k.secrets[who]))...)
			id := r.header.Get("X-Scrollback-Conversation")
			if r.status != 200 || id == "" {
				t.Fatalf("%s, %s: %d in %q\n%s", of.name, who, r.status, id, r.body)
			}
			return id
		}
		ada := at("ada")
		bob := at("bob")
		eve := at("eve")
		if ada == bob || ada == eve || bob == eve {
			t.Errorf("%s: they are in %s, %s and %s", of.name, ada, bob, eve)
		}
		for who, first := range map[string]string{"ada": ada, "bob": bob, "eve": eve} {
			if again := at(who, "Hello there", "And then?"); again != first {
				t.Errorf("%s: %s is in %s, then in %s", of.name, who, first, again)
			}
		}
	}
}

// historyBody returns the path and the body of a request whose history is said in turns, the first by the user.
func historyBody(api, fields string, history ...string) (path, body string) {
	var said []string
	for i, text := range history {
		quoted, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		role := []string{"user", "assistant"}[i%2]
		form := `{"role":"%s","content":%s}`
		switch {
		case api == "gemini":
			role = []string{"user", "model"}[i%2]
			form = `{"role":"%s","parts":[{"text":%s}]}`
		case api == "responses" && i%2 == 1:
			form = `{"type":"message","role":"%s","content":[{"type":"output_text","text":%s}]}`
		}
		said = append(said, fmt.Sprintf(form, role, quoted))
	}
	all := "[" + strings.Join(said, ",") + "]"
	switch api {
	case "responses":
		return "/v1/responses", `{"model":"gpt-x",` + fields + `"input":` + all + `}`
	case "messages":
		return "/v1/messages", `{"model":"claude-x","max_tokens":99,` + fields + `"messages":` + all + `}`
	case "gemini":
		return "/v1beta/models/gemini-x:generateContent", `{` + fields + `"contents":` + all + `}`
	case "ollama":
		return "/api/chat", `{"model":"ollama/m","stream":false,` + fields + `"messages":` + all + `}`
	default:
		return "/v1/chat/completions", `{"model":"gpt-x",` + fields + `"messages":` + all + `}`
	}
}

// TestOthersIDs has a caller name what another one has: an answer, a conversation, a thread. It is as if it did not
// exist, whether in the same project or not; only our own header reaches across the keys of a project.
func TestOthersIDs(t *testing.T) {
	k := newKeyedRig(t)
	ask := func(who, api, path, body string, headers ...string) reply {
		t.Helper()
		return k.send("POST", path, body, append(headers, bringKey(api, k.secrets[who]))...)
	}
	var made struct{ ID string }
	r := ask("ada", "responses", "/v1/responses", `{"model":"gpt-x","input":"A secret"}`)
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || made.ID == "" {
		t.Fatalf("%v: %s", err, r.body)
	}
	of := r.header.Get("X-Scrollback-Conversation")
	answer := made.ID
	r = ask("ada", "responses", "/v1/conversations", `{}`)
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || made.ID == "" {
		t.Fatalf("%v: %s", err, r.body)
	}
	conversation := made.ID
	r = ask("ada", "messages", "/v1/messages", `{"model":"claude-x","max_tokens":9,"thread":{"type":"create"},`+
		`"messages":[{"role":"user","content":"A secret"}]}`, version)
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || made.ID == "" {
		t.Fatalf("%v: %s", err, r.body)
	}
	message := made.ID
	ask("ada", "responses", "/v1/responses", `{"model":"gpt-x","input":"A secret","conversation":"`+conversation+`"}`)
	for _, who := range []string{"bob", "eve"} {
		for _, c := range []struct {
			method, api, path, body string
			status                  int
			says                    string
		}{
			{"POST", "responses", "/v1/responses", `{"model":"gpt-x","input":"x","previous_response_id":"` + answer + `"}`, 400,
				"previous_response_not_found"},
			{"GET", "responses", "/v1/responses/" + answer, "", 404, ""},
			{"GET", "responses", "/v1/responses/" + answer + "?stream=true&starting_after=1", "", 404, ""},
			{"GET", "responses", "/v1/responses/" + answer + "/input_items", "", 404, ""},
			{"DELETE", "responses", "/v1/responses/" + answer, "", 404, ""},
			{"POST", "responses", "/v1/responses/" + answer + "/cancel", "{}", 404, ""},
			{"POST", "messages", "/v1/messages", `{"model":"claude-x","max_tokens":9,"thread":{"type":"continue",` +
				`"previous_message_id":"` + message + `"},"messages":[{"role":"user","content":"x"}]}`, 404, "thread_not_found"},
		} {
			r := k.send(c.method, c.path, c.body, bringKey(c.api, k.secrets[who]))
			if r.status != c.status || !strings.Contains(r.body, c.says) || readErrorMessage(r.body) == "" {
				t.Errorf("%s: %s %s %s: %d %s", who, c.method, c.path, c.body, r.status, r.body)
			}
		}
	}
	for _, who := range []string{"ada", "bob", "eve"} { // an id that holds nothing can be begun by anybody
		r := k.send("GET", "/v1/conversations/"+conversation+"/items", "", bringKey("responses", k.secrets[who]))
		if strings.Contains(r.body, "A secret") != (who == "ada") {
			t.Errorf("%s reads %d %s", who, r.status, r.body)
		}
	}
	hello := `{"model":"gpt-x","messages":[{"role":"user","content":"Hello"}]}`
	met := map[string]string{}
	for _, who := range []string{"ada", "bob", "eve"} {
		r := ask(who, "chat", "/v1/chat/completions", strings.Replace(hello, "Hello", who, 1),
			"X-Scrollback-Conversation: ours")
		met[who] = r.header.Get("X-Scrollback-Conversation")
		if r.status != 200 || met[who] == "" {
			t.Errorf("%s: %d %s", who, r.status, r.body)
		}
	}
	if met["ada"] != met["bob"] || met["ada"] == met["eve"] {
		t.Errorf("under one name they are in %v", met)
	}
	r = ask("eve", "chat", "/v1/chat/completions", hello, "X-Scrollback-Conversation: "+of)
	if got := r.header.Get("X-Scrollback-Conversation"); got == of {
		t.Errorf("eve is in the conversation of ada: %d %s", r.status, r.body)
	}
	all := k.talks()
	if !slices.Contains(all, "user: A secret\nassistant: Hello there") ||
		strings.Contains(strings.Join(all, "\n"), "user: x") {
		t.Errorf("stored are %q", all)
	}
}

// talks lists what is stored, each as lines of "role: text".
func (c *clientRig) talks() (out []string) {
	c.Helper()
	v := c.sb.Engine.As(scrollback.Operator())
	page, _, err := v.List(c.Context(), scrollback.ListQuery{Limit: scrollback.ListMax})
	if err != nil {
		c.Fatal(err)
	}
	for _, conversation := range page {
		var lines []string
		for m, err := range v.Recall().AllMessages(c.Context(), conversation.ID) {
			if err != nil {
				c.Fatal(err)
			}
			lines = append(lines, fmt.Sprint(m.Role, ": ", m.Parts.Text()))
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	return out
}
