package server_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// The list of models is in the form that its client reads, and whatever it lists is answered by that model.
func TestModelLists(t *testing.T) {
	own := modeltest.NewScript(model.Facts{}, modeltest.Say("Mine."))
	c := newClientRig(t, own, map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"},
		door.Options{Models: map[string]string{"alias": "offline"}})
	const openai, anthropic, google = `{"object":"list","data":[{"id":"own/m","object":"model"`,
		`{"data":[{"type":"model","id":"own/m","display_name":"own/m","created_at":"1970-01-01T00:00:00Z"`,
		`{"models":[{"name":"models/own/m","version":""`
	for _, of := range []struct{ path, header, begins string }{
		{"/v1/models", "", openai},
		{"/v1/models", "Authorization: Bearer x", openai},
		{"/v1/models?limit=1000", version, anthropic},
		{"/v1/models", "x-goog-api-key: x", google},
		{"/v1/models", "x-goog-api-client: genai-js/1", google},
		{"/v1/models?key=x", "", google},
		{"/v1beta/models?pageSize=50", "", google},
		{"/v1beta/models", version, google},
	} {
		if r := c.send("GET", of.path, "", of.header); r.status != 200 || !strings.HasPrefix(r.body, of.begins) {
			t.Errorf("%s with %q: %d %.200s", of.path, of.header, r.status, r.body)
		}
	}
	var all struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(c.send("GET", "/v1/models", "").body), &all); err != nil || len(all.Data) < 3 {
		t.Fatalf("%v %v", all, err)
	}
	for _, m := range all.Data {
		for _, path := range []string{"/v1/models/" + m.ID, "/v1/models/" + url.PathEscape(m.ID)} {
			if r := c.send("GET", path, ""); r.status != 200 || !strings.HasPrefix(r.body, `{"id":"`+m.ID+`","object":"model"`) {
				t.Errorf("%s: %d %s", path, r.status, r.body)
			}
		}
	}
	for _, of := range []struct{ path, header, want string }{
		{"/v1/models/alias", version, `{"type":"model","id":"alias"`},
		{"/v1/models/claude-opus-4-8", version, `{"type":"model","id":"claude-opus-4-8"`},
		{"/v1beta/models/offline", "", `{"name":"models/offline"`},
		{"/v1/models/nope", "", `{"type":"error","error":{"type":"not_found_error","code":"not_found","message":`},
		{"/v1/models/nope", version, `{"type":"error","error":{"type":"not_found_error"`},
		{"/v1beta/models/nope", "", `{"error":{"code":404,"message":`},
	} {
		unknown := strings.HasSuffix(of.path, "/nope")
		if r := c.send("GET", of.path, "", of.header); !strings.HasPrefix(r.body, of.want) || unknown != (r.status == 404) {
			t.Errorf("%s: %d %s", of.path, r.status, r.body)
		}
	}
	ask := `"messages":[{"role":"user","content":"Where is the key?"}]}`
	if r := c.send("POST", "/v1/messages", `{"model":"own/m",`+ask); !strings.Contains(r.body, "Mine.") {
		t.Errorf("own: %s", r.body)
	}
	if r := c.send("POST", "/v1/messages", `{"model":"offline",`+ask); r.status != 200 || strings.Contains(r.body, "Mine.") {
		t.Errorf("offline: %d %s", r.status, r.body)
	}
}

// A client that is not let in reads so in its own form, and the key in an address goes no further, whatever lets it in.
func TestClientsAreRefused(t *testing.T) {
	c := newClientRig(t, nil, nil, door.Options{})
	const key = "X-Scrollback-Key: sbk_wrong"
	for _, of := range []struct{ method, path, header, begins string }{
		{"POST", "/v1/messages", "", `{"type":"error","error":{"type":"authentication_error","code":"refused"`},
		{"GET", "/v1/models", version, `{"type":"error","error":{"type":"authentication_error","code":"refused"`},
		{"POST", "/v1/chat/completions", "", `{"type":"error","error":{"type":"authentication_error","code":"refused"`},
		{"POST", "/v1beta/models/m:generateContent", "", `{"error":{"code":401,"message":`},
		{"POST", "/v1/models/m:generateContent", "", `{"error":{"code":401,"message":`},
		{"GET", "/v1/models?key=secret", "", `{"error":{"code":401,"message":`},
		{"POST", "/api/chat", "", `{"error":"`},
	} {
		r := c.send(of.method, of.path, "{}", key, of.header)
		if r.status != 401 || !strings.HasPrefix(r.body, of.begins) || r.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s: %d %s", of.method, of.path, r.status, r.body)
		}
	}
}
