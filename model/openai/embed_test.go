package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/openai"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// openEmbedder returns the custom model of a server.
func openEmbedder(t *testing.T, answer http.HandlerFunc) model.Embedder {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	for _, p := range openai.Presets() {
		if p.Name != "custom" {
			continue
		}
		env := map[string]string{"SCROLLBACK_BASE_URL": srv.URL + "/v1", "SCROLLBACK_API_KEY": "secret"}
		at, err := p.Endpoint("embed-1", func(name string) string { return env[name] },
			remote.Options{Pause: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return p.Open(at).(model.Embedder)
	}
	t.Fatal("there is no custom server")
	return nil
}

// Texts become vectors in their order, whatever the order of the answer; what may pass is tried again.
func TestEmbedTexts(t *testing.T) {
	var body map[string]any
	calls := 0
	m := openEmbedder(t, func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 1 {
			http.Error(w, `{"error":{"message":"try again"}}`, http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked is %s with %q", r.URL, r.Header)
		}
		json.NewDecoder(r.Body).Decode(&body)
		w.Write([]byte(`{"object":"list","data":[{"index":1,"embedding":[0.5,-1]},{"index":0,"embedding":[1,2]}],
			"usage":{"prompt_tokens":7,"total_tokens":7}}`))
	})
	got, err := m.EmbedTexts(t.Context(), []string{"a", "b"})
	if err != nil || calls != 2 || got.InputTokens != 7 ||
		!reflect.DeepEqual(got.Vectors, [][]float32{{1, 2}, {0.5, -1}}) {
		t.Errorf("after %d calls %+v, %v", calls, got, err)
	}
	want := map[string]any{"model": "embed-1", "input": []any{"a", "b"}, "encoding_format": "float"}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("sent was %v", body)
	}
}

// An answer that is not whole is the server's fault, and so is a page; a refusal keeps its meaning, without the key.
func TestEmbedTextsFails(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, says string
		code       scrollback.Code
	}{
		{200, `{"data":[{"index":0,"embedding":[1,2]}]}`, "one vector", scrollback.Unavailable},
		{200, `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`, "one vector", scrollback.Unavailable},
		{200, `{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`, "one vector", scrollback.Unavailable},
		{200, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, "one vector", scrollback.Unavailable},
		{200, `<html>hello</html>`, "", scrollback.Unavailable},
		{401, `{"error":{"message":"the key secret is wrong","type":"invalid_request_error"}}`, "key", scrollback.Refused},
	} {
		m := openEmbedder(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			w.Write([]byte(c.body))
		})
		_, err := m.EmbedTexts(t.Context(), []string{"a", "b"})
		if scrollback.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %s: %v", c.status, c.body, err)
		}
	}
}
