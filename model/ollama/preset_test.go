package ollama_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/ollamaapi"
	"github.com/scrollback-ai/scrollback/model/ollama"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// Where the server is, of all that may be set.
func TestAddress(t *testing.T) {
	for _, c := range []struct{ base, host, want string }{
		{"", "", "http://127.0.0.1:11434"},
		{"http://box:1/ollama/", "other:2", "http://box:1/ollama"},
		{"", "127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"", "0.0.0.0:11434", "http://127.0.0.1:11434"},
		{"", "0.0.0.0", "http://127.0.0.1:11434"},
		{"", ":8080", "http://127.0.0.1:8080"},
		{"", "box", "http://box:11434"},
		{"", " box:8080 ", "http://box:8080"},
		{"", "http://box:8080/", "http://box:8080"},
		{"", "http://box", "http://box:80"},
		{"", "https://box", "https://box:443"},
		{"", "https://box/ollama/", "https://box:443/ollama"},
		{"", "[::]:8080", "http://[::1]:8080"},
		{"", "::1", "http://[::1]:11434"},
		{"", "[::1]", "http://[::1]:11434"},
		{"", "[fe80::1]:80", "http://[fe80::1]:80"},
		{"", "ollama.com", "https://ollama.com:443"},
	} {
		at, err := ollama.Preset().Endpoint("qwen3", env(map[string]string{"OLLAMA_BASE_URL": c.base, "OLLAMA_HOST": c.host}),
			remote.Options{})
		if err != nil || at.BaseURL != c.want || at.Name != "ollama/qwen3" || at.Custom != (c.base+c.host != "") {
			t.Errorf("%+v: %+v, %v", c, at, err)
		}
	}
	for variable, value := range map[string]string{"OLLAMA_BASE_URL": "box:1", "OLLAMA_HOST": "ftp://box"} {
		_, err := ollama.Preset().Endpoint("qwen3", env(map[string]string{variable: value}), remote.Options{})
		if err == nil || !strings.Contains(err.Error(), variable+" is not an address") {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

func env(set map[string]string) func(string) string {
	return func(name string) string { return set[name] }
}

// An address as other clients want it is that of the server; a key goes there as a
// bearer's.
func TestBase(t *testing.T) {
	var heads []http.Header
	strict := ollamaapi.New(modeltest.NewScript(model.Facts{}, modeltest.Say("a")), nil)
	srv := httptest.NewServer(http.StripPrefix("/proxy", strict))
	defer srv.Close()
	for _, end := range []string{"", "/", "/v1", "/v1/", "/api", "/api/"} {
		at, err := ollama.Preset().Endpoint("qwen3",
			env(map[string]string{"OLLAMA_BASE_URL": srv.URL + "/proxy" + end, "OLLAMA_API_KEY": "k"}),
			remote.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := modeltest.Read(ollama.Preset().Open(at).Stream(t.Context(), ask("q"))); err != nil {
			t.Errorf("%q: %v", end, err)
		}
	}
	if heads = strict.Heads(); len(heads) != 6 || heads[0].Get("Authorization") != "Bearer k" {
		t.Errorf("%d heads: %v", len(heads), heads)
	}
}
