package ollama_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/ollama"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// Texts become vectors through Ollama's own API; a model that was not pulled is named.
func TestEmbedTexts(t *testing.T) {
	var body map[string]any
	pulled := true
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/embed" {
			t.Errorf("asked is %s", r.URL)
		}
		json.NewDecoder(r.Body).Decode(&body)
		if !pulled {
			http.Error(w, `{"error":"model \"embed-1\" not found, try pulling it first"}`, http.StatusNotFound)
			return
		}
		w.Write([]byte(`{"model":"embed-1","embeddings":[[1,2],[0.5,-1]],"total_duration":1,"prompt_eval_count":9}`))
	}))
	t.Cleanup(srv.Close)
	m := ollama.New(remote.Endpoint{Name: "ollama/embed-1", Model: "embed-1", BaseURL: srv.URL + "/v1",
		Options: remote.Options{Provider: "ollama"}})
	got, err := m.EmbedTexts(t.Context(), []string{"a", "b"})
	if err != nil || got.InputTokens != 9 || !reflect.DeepEqual(got.Vectors, [][]float32{{1, 2}, {0.5, -1}}) {
		t.Errorf("%+v, %v", got, err)
	}
	want := map[string]any{"model": "embed-1", "input": []any{"a", "b"}, "truncate": true}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("sent was %v", body)
	}
	if _, err := m.EmbedTexts(t.Context(), []string{"a"}); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("two vectors for one text: %v", err)
	}
	pulled = false
	_, err = m.EmbedTexts(t.Context(), []string{"a"})
	if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), "ollama pull embed-1") {
		t.Errorf("a model that was not pulled: %v", err)
	}
}
