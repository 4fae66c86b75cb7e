package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// Bad requests get a clear error of one shape, and leave nothing behind.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), nil)
	id := string(s.conversation())
	nobody := "01a1fb8d-0000-7000-8000-000000000000"
	for _, c := range []struct {
		method, path, body string
		status             int
		code, says         string
	}{
		{"POST", "/api/conversations/" + id + "/chat", `{"message":`, 400, "invalid", "JSON"},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":7}`, 400, "invalid", ""},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":""}`, 400, "invalid", "empty"},
		{"POST", "/api/conversations/" + id + "/chat", `{}`, 400, "invalid", "nothing to answer"},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":[{"type":"text"},{"type":"hologram"}]}`, 400, "invalid",
			"hologram"},
		{"POST", "/api/conversations/" + id + "/chat", `{"tool_results":[{"call_id":"x","text":"y"}]}`, 400, "invalid",
			"no call waits"},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":"m","tools":[{"name":"context_x"}]}`, 400, "invalid",
			"reserved"},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":"m","limit":10}`, 400, "invalid", "too small"},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":"m","limit":-5}`, 400, "invalid",
			"a limit of -5 tokens is too small"},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":"m","model":"who/what"}`, 400, "invalid", "who/what"},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "invalid",
			""},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":"` + strings.Repeat("x", 200_001) + `"}`, 413, "invalid",
			"200000"},
		{"POST", "/api/conversations/" + nobody + "/chat", `{"message":"m"}`, 404, "not_found", ""},
		{"GET", "/api/conversations/" + nobody, "", 404, "not_found", ""},
		{"GET", "/api/conversations/zz", "", 404, "not_found", ""},
		{"POST", "/api/conversations", `{"id":"not a uuid"}`, 400, "invalid", "UUID"},
		{"POST", "/api/conversations", `{"history":[{"role":"user","content":"a"},{"role":"robot","content":"b"}]}`, 400,
			"invalid",
			`message 1: unknown role "robot"`},
		{"POST", "/api/conversations", `{"history":[{"role":"user"}]}`, 400, "invalid", "message 0 (user) has 0 parts"},
		{"POST", "/api/conversations", `{"history":[{"content":"x"}]}`, 400, "invalid", "role"},
		{"POST", "/api/conversations", `{"history":[{"role":"user","parts":[{"type":"hologram"}]}]}`, 400, "invalid",
			"hologram"},
		{"POST", "/api/conversations", `{"history":[{"role":"system","name":"environment","content":"x"}]}`, 400, "invalid",
			"reserved"},
		{"POST", "/api/conversations/" + id + "/rewind", `{"seq":99}`, 400, "invalid", "no message 99"},
		{"POST", "/api/conversations/" + id + "/rewind", `{}`, 400, "invalid", "where to"},
		{"POST", "/api/conversations/" + id + "/rewind", `{"branch":"x"}`, 404, "not_found", "no branch"},
		{"POST", "/api/conversations/" + id + "/fork", `{"seq":-1}`, 400, "invalid", "no message -1"},
		{"POST", "/api/conversations/" + id + "/uncompact", `{"segment":"history:x"}`, 404, "not_found", "not compacted"},
		{"DELETE", "/api/conversations/latest", "", 400, "invalid", "whole id"},
		{"DELETE", "/api/conversations/" + id[:13] + "?purge=1", "", 400, "invalid", "whole id"},
		{"POST", "/api/conversations", `{"roots":["/"]}`, 403, "refused", "outside the folders"},
		{"POST", "/api/conversations", `{"meta":[1]}`, 400, "invalid", ""},
		{"GET", "/api/conversations?limit=x", "", 400, "invalid", ""},
		{"GET", "/api/conversations?cursor=zzz", "", 400, "invalid", "cursor"},
		{"GET", "/api/conversations/" + id + "/refs/history:" + nobody, "", 404, "not_found", ""},
		{"GET", "/api/conversations/" + id + "/refs/..%2F..%2Fetc%2Fpasswd", "", 400, "invalid", "not a ref"},
		{"GET", "/api/conversations/" + id + "/grep?pattern=%28", "", 400, "invalid", ""},
		{"GET", "/api/conversations/" + id + "/grep", "", 400, "invalid", ""},
		{"GET", "/api/search?q=x&limit=1000", "", 400, "invalid", "limit"},
		{"GET", "/api/search?q=,.", "", 400, "invalid", "word"},
		{"GET", "/api/conversations/" + id + "/turns/" + nobody + "/events", "", 404, "not_found", ""},
		{"POST", "/api/conversations/" + id + "/compact", `{"policy":"magic"}`, 400, "invalid", "magic"},
		{"POST", "/api/conversations/" + id + "/compact", `{"compaction":{"keep":1}}`, 400, "invalid",
			`unknown number "keep"`},
		{"POST", "/api/conversations/" + id + "/compact", `{"compaction":{"keep_share":"x"}}`, 400, "invalid", ""},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":"m","compaction":{"after_share":0.9}}`, 400, "invalid",
			"trigger_share"},
		{"POST", "/api/conversations", `{"settings":{"compaction":{"keep":1}}}`, 400, "invalid", `unknown number "keep"`},
		// The old name.
		{"POST", "/api/conversations/" + id + "/compact", `{"folding":{"keep":1}}`, 400, "invalid", `unknown number "keep"`},
		{"POST", "/api/conversations/" + id + "/compact", `{"folding":{"keep_share":"x"}}`, 400, "invalid", ""},
		{"POST", "/api/conversations/" + id + "/compact", `{"folding":{"keep":1},"compaction":{"leave":1}}`, 400, "invalid",
			`unknown number "leave"`},
		{"POST", "/api/conversations/" + id + "/chat", `{"message":"m","folding":{"after_share":0.9}}`, 400, "invalid",
			"trigger_share"},
		{"POST", "/api/conversations", `{"settings":{"folding":{"keep":1}}}`, 400, "invalid", `unknown number "keep"`},
		{"POST", "/api/conversations", `{"settings":{"recall_scope":"galaxy"}}`, 400, "invalid", "recall_scope"},
		{"POST", "/api/conversations", `{"pinned_seqs":[1]}`, 400, "invalid", "no message to pin"},
		{"PATCH", "/api/conversations/" + id, `{"settings":{"compaction":{"summary_share":0.2}}}`, 400, "invalid",
			"together"},
		{"PATCH", "/api/conversations/" + id, `{"settings":{"folding":{"summary_share":0.2}}}`, 400, "invalid", "together"},
		{"PATCH", "/api/conversations/" + id, `{"pinned_seqs":[1]}`, 400, "invalid", "no message 1"},
		{"POST", "/api/conversations/" + id + "/uncompact", "", 404, "not_found", ""},
		{"GET", "/api/conversations/" + id + "/export?format=clay", "", 400, "invalid", "clay"},
		{"POST", "/api/import", `nonsense`, 400, "invalid", "line 1"},
		{"GET", "/api/artifacts/" + strings.Repeat("0", 64) + "?conversation=" + id, "", 404, "not_found", ""},
		{"GET", "/api/nowhere", "", 404, "not_found", ""},
	} {
		var e struct {
			Error struct{ Code, Message, Param string }
		}
		var body any
		if c.body != "" {
			body = strings.NewReader(c.body)
		}
		status := s.do(c.method, c.path, body, &e)
		if status != c.status || e.Error.Code != c.code || !strings.Contains(e.Error.Message, c.says) {
			t.Errorf("%s %s %.60s: %d %+v, want %d %s about %q", c.method, c.path, c.body, status, e.Error, c.status, c.code,
				c.says)
		}
	}
	if n := len(s.log(scrollback.ConversationID(id))); n != 0 {
		t.Errorf("refused requests left %d messages", n)
	}
}

// A page of another site, or a name that was made to point here, is refused.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), nil)
	for _, c := range []struct{ host, origin string }{{"evil.example", ""}, {"", "http://evil.example"}, {"", "null"}} {
		req, err := http.NewRequest(http.MethodPost, s.url+"/api/conversations", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if c.host != "" {
			req.Host = c.host
		}
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("host %q, origin %q: %d", c.host, c.origin, resp.StatusCode)
		}
	}
	if page := get[struct{ Conversations []any }](s, "/api/conversations"); len(page.Conversations) != 0 {
		t.Errorf("%d conversations were made", len(page.Conversations))
	}
}

// The shapes that clients rely on: create, If-Match, list, chat without a stream,
// numbered frames, re-attach, idempotency.
func TestAPI(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), nil)
	var c scrollback.Conversation
	uuid := "7b0a3f6e-1111-4222-8333-944455556666"
	if status := s.do("POST", "/api/conversations",
		map[string]any{"id": uuid, "title": "鲸", "meta": map[string]int{"a": 1}},
		&c); status != 201 || string(c.ID) != uuid || c.Title != "鲸" {
		t.Fatalf("created %d %+v", status, c)
	}
	if status := s.do("POST", "/api/conversations", map[string]any{"id": uuid}, &c); status != 200 || c.Title != "鲸" {
		t.Errorf("created again %d %+v", status, c)
	}
	if status := s.match(uuid, `"99"`); status != 412 {
		t.Errorf("If-Match of another version: %d", status)
	}
	if status := s.match(uuid, fmt.Sprintf(`"%d"`, c.Version)); status != 200 {
		t.Errorf("If-Match of this version: %d", status)
	}
	var whole struct {
		TurnID      scrollback.TurnID  `json:"turn_id"`
		Message     scrollback.Message `json:"message"`
		Usage       scrollback.Usage   `json:"usage"`
		Compactions []any              `json:"compactions"`
	}
	if status := s.do("POST", "/api/conversations/"+uuid+"/chat",
		map[string]any{"message": "the port is 7077", "stream": false},
		&whole); status != 200 ||
		whole.Message.Role != scrollback.RoleAssistant || whole.Message.Seq != 2 || whole.Usage.InputTokens == 0 ||
		whole.Compactions == nil {
		t.Fatalf("whole answer %d %+v", status, whole)
	}
	frames := s.chat(scrollback.ConversationID(uuid), "what is the port?")
	if frames[0].Type != "turn" || frames[0].Seq != 3 || frames[len(frames)-1].Type != "done" {
		t.Errorf("frames begin with %+v and end with %+v", frames[0], frames[len(frames)-1])
	}
	if got := answer(t, frames); got != s.log(scrollback.ConversationID(uuid))[3].Parts.Text() {
		t.Errorf("the deltas join to %q, which is not what was stored", got)
	}
	raw := s.raw(fmt.Sprintf("/api/conversations/%s/turns/%s/events?after=2", uuid, frames[0].TurnID))
	if !strings.HasPrefix(raw, "id: 3\ndata: {") || !strings.HasSuffix(raw, "data: [DONE]\n\n") {
		t.Errorf("re-attached after 2:\n%.200s", raw)
	}
	list := get[map[string]json.RawMessage](s, "/api/conversations")
	if string(list["next"]) != "null" || list["conversations"] == nil {
		t.Errorf("a list without a next page: %s", list["next"])
	}
	if doc := get[struct{ Paths map[string]any }](s, "/openapi.json"); doc.Paths["/api/conversations/{id}/chat"] == nil ||
		doc.Paths["/api/import"] == nil {
		t.Errorf("openapi.json lists %d paths", len(doc.Paths))
	}
	if doc := s.raw("/openapi.json"); !strings.Contains(doc, `"compaction":`) || strings.Contains(doc, `"folding"`) {
		t.Error("openapi.json does not describe compaction by its new name alone")
	}
	var health struct{ OK bool }
	if s.do("GET", "/healthz", nil, &health); !health.OK {
		t.Error("healthz is not ok")
	}
	var trashed, restored scrollback.Conversation
	if s.do("DELETE", "/api/conversations/"+uuid, nil, &trashed); trashed.DeletedAt == 0 {
		t.Error("deleted, and not in the trash")
	}
	if s.do("POST", "/api/conversations/"+uuid+"/restore", nil, &restored); restored.ID != c.ID ||
		restored.DeletedAt != 0 {
		t.Error("restored, and still in the trash")
	}
}

func (s *served) match(id, tag string) int {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPatch, s.url+"/api/conversations/"+id, strings.NewReader(`{"title":"新"}`))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("If-Match", tag)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func (s *served) raw(path string) string {
	s.t.Helper()
	resp, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// A conversation begins with a history; a question is edited and sent again, an
// answer made again, the first one switched back to; a fork outlives its parent.
func TestBranchesAPI(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), nil)
	var c scrollback.Conversation
	begin := map[string]any{"id": "7b0a3f6e-1111-4222-8333-944455556667", "history": []map[string]any{
		{"role": "user", "content": "The key is under the mat."}, {"role": "assistant",
			"parts": []map[string]string{{"type": "text", "text": "Noted."}}}}}
	if status := s.do("POST", "/api/conversations", begin, &c); status != 201 || c.Messages != 2 ||
		c.Title != "The key is under the mat." {
		t.Fatalf("created %d %+v", status, c)
	}
	if status := s.do("POST", "/api/conversations", begin, &c); status != 200 || c.Messages != 2 {
		t.Errorf("created again %d %+v", status, c)
	}
	at := fmt.Sprintf("/api/conversations/%s", c.ID)
	text := func(seq int) string { return s.log(c.ID)[seq-1].Parts.Text() }
	s.chat(c.ID, "Where is the key?")
	if !strings.Contains(text(4), "under the mat") {
		t.Fatalf("answered %q", text(4))
	}
	if status := s.do("POST", at+"/rewind", map[string]any{"seq": 2}, &c); status != 200 || c.Messages != 2 {
		t.Fatalf("rewound %d %+v", status, c)
	}
	s.chat(c.ID, "Who has the key?") // edited and sent again
	if status := s.do("POST", at+"/rewind", map[string]any{"seq": 3}, &c); status != 200 {
		t.Fatalf("rewound %d %+v", status, c)
	}
	var whole struct{ Message scrollback.Message }
	// answered again
	if status := s.do("POST", at+"/chat", map[string]any{"stream": false}, &whole); status != 200 ||
		whole.Message.Seq != 4 {
		t.Fatalf("answered again %d %+v", status, whole)
	}
	bs := get[struct{ Branches []scrollback.BranchEntry }](s, at+"/branches").Branches
	if len(bs) != 3 || bs[0].HeadSeq != 4 || bs[1].AtSeq != 2 || bs[1].Messages != 2 || bs[2].AtSeq != 3 ||
		!bs[2].Current ||
		bs[2].Parent != bs[1].ID {
		t.Fatalf("branches %+v", bs)
	}
	if status := s.do("POST", at+"/rewind", map[string]any{"branch": bs[0].ID}, &c); status != 200 ||
		c.Branch != bs[0].ID ||
		text(3) != "Where is the key?" {
		t.Errorf("switched back %d %+v", status, c)
	}
	var fork scrollback.Conversation
	if status := s.do("POST", at+"/fork", map[string]any{"seq": 3, "branch": bs[1].ID, "title": "a fork"},
		&fork); status != 201 ||
		fork.Title != "a fork" ||
		fork.Parent == nil || fork.Parent.ID != c.ID || fork.Parent.Seq != 3 || fork.Messages != 3 {
		t.Fatalf("forked %d %+v", status, fork)
	}
	var out struct{ Removed, Kept int64 }
	if status := s.do("DELETE", at, nil, &c); status != 200 || c.DeletedAt == 0 {
		t.Errorf("in the trash %d %+v", status, c)
	}
	c = scrollback.Conversation{}
	if status := s.do("POST", at+"/restore", nil, &c); status != 200 || c.DeletedAt != 0 {
		t.Errorf("restored %d %+v", status, c)
	}
	if status := s.do("DELETE", at+"?purge=1", nil, &out); status != 200 || out.Removed != 4 || out.Kept != 3 {
		t.Errorf("purged %d %+v", status, out)
	}
	if status := s.do("GET", at, nil, nil); status != 404 {
		t.Errorf("what was purged is %d", status)
	}
	if log := s.log(fork.ID); len(log) != 3 || log[2].Parts.Text() != "Who has the key?" {
		t.Errorf("the fork reads %d messages", len(log))
	}
	s.chat(fork.ID, "Where is the key?")
	if got := s.log(fork.ID)[4].Parts.Text(); !strings.Contains(got, "under the mat") {
		t.Errorf("the fork answers %q", got)
	}
}

// A bundle goes out and comes in over HTTP.
func TestBundleOverHTTP(t *testing.T) {
	t.Parallel()
	here := serve(t, t.TempDir(), nil)
	there := serve(t, t.TempDir(), nil)
	made := here.conversation()
	here.chat(made, "The tide turns at noon.")
	id := string(made)
	resp, err := http.Get(here.url + "/api/conversations/" + id + "/export")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	file, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/zstd" ||
		!strings.Contains(resp.Header.Get("Content-Disposition"), id+".bundle") {
		t.Fatalf("exported %d bytes, %d, %v, %v", len(file), resp.StatusCode, resp.Header, err)
	}
	for path, want := range map[string]string{"/api/import": "created", "/api/import?as_copy=1": "created"} {
		var out struct {
			Conversations []struct{ ID, Result string }
			IDs           map[string]string
		}
		if status := there.do("POST", path, bytes.NewReader(file), &out); status != 200 || len(out.Conversations) != 1 ||
			out.Conversations[0].Result != want {
			t.Fatalf("%s: %d %+v", path, status, out)
		}
		if copied := strings.HasSuffix(path, "1"); copied == (out.Conversations[0].ID == id) || copied == (out.IDs == nil) {
			t.Fatalf("%s: %+v", path, out)
		}
	}
	var e struct {
		Error struct{ Code, Message string }
	}
	if status := there.do("POST", "/api/import?as_copy=maybe", bytes.NewReader(file), &e); status != 400 ||
		!strings.Contains(e.Error.Message, "as_copy") {
		t.Fatalf("no switch: %d %+v", status, e)
	}
	file[len(file)/2] ^= 1
	if status := there.do("POST", "/api/import", bytes.NewReader(file), &e); status != 400 ||
		!strings.Contains(e.Error.Message, "damaged") {
		t.Fatalf("damaged: %d %+v", status, e)
	}
}
