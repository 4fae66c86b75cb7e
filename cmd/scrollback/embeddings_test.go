package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/model/offline"
)

// vectorServer stands in for a server of embeddings, in Ollama's form and in OpenAI's.
type vectorServer struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string
	hold chan struct{} // each request waits for it
	down bool
}

func newVectorServer(t *testing.T) *vectorServer {
	s := &vectorServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *vectorServer) answer(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model    string
		Input    []string
		Truncate *bool
		Format   string `json:"encoding_format"`
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	s.mu.Lock()
	hold := s.hold
	down := s.down
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	ollama := r.URL.Path == "/api/embed"
	switch {
	case down:
		http.Error(w, `{"error":"no"}`, http.StatusServiceUnavailable)
		return
	case err != nil, !ollama && r.URL.Path != "/v1/embeddings", asked.Model != "m", ollama != (asked.Truncate != nil),
		ollama != (asked.Format == ""):
		http.Error(w, `{"error":{"message":"this is no request for vectors"}}`, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.sent = append(s.sent, asked.Input...)
	s.mu.Unlock()
	made, _ := offline.New(nil).EmbedTexts(r.Context(), asked.Input)
	if ollama {
		json.NewEncoder(w).Encode(map[string]any{"embeddings": made.Vectors, "prompt_eval_count": 100})
		return
	}
	var data []map[string]any
	for i := range made.Vectors { // the other way round
		i = len(made.Vectors) - 1 - i
		data = append(data, map[string]any{"index": i, "embedding": made.Vectors[i]})
	}
	json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]any{"prompt_tokens": 100,
		"total_tokens": 100}})
}

// countSent returns how often a text was sent.
func (s *vectorServer) countSent(text string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.sent {
		if one == text {
			n++
		}
	}
	return n
}

// set changes how the server is.
func (s *vectorServer) set(down bool, hold chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	s.hold = hold
}

const saidOtherwise = "The physician wants to look at my knee on Tuesday."

// vectorTalk is a conversation to be imported.
var vectorTalk = strings.Join([]string{`{"role":"user","content":"` + saidOtherwise + `"}`,
	`{"role":"assistant","content":"I watered all the plants again."}`,
	`{"role":"user","content":"Our train left half an hour late."}`,
	`{"role":"assistant","content":"We sang old songs until midnight."}`,
	`{"role":"user","content":"She painted the fence green."}`}, "\n")

// foundFirst returns the content of the first hit.
func foundFirst(r scrollback.SearchResult) string {
	if len(r.Hits) == 0 {
		return ""
	}
	return r.Hits[0].Content
}

// A server makes vectors behind the log, and its search and that of the command line find other wording, by an endpoint
// of either form, on SQLite and on PostgreSQL; calls are in the books. While the endpoint is down words find, doctor
// says so, and what was said meanwhile gets its vectors later.
func TestEmbeddings(t *testing.T) {
	t.Parallel()
	for _, form := range []struct{ name, model, variable, store string }{
		{"ollama", "ollama/m", "OLLAMA_BASE_URL", ""}, {"openai", "custom/m", "SCROLLBACK_BASE_URL", "postgres"}} {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			vectors := newVectorServer(t)
			data := t.TempDir()
			config := filepath.Join(data, "config.toml")
			write(t, config, []byte("model = \"offline\"\n[embeddings]\nmodel = \""+form.model+"\"\n"))
			at := vectors.URL
			if form.name == "openai" {
				at += "/v1"
			}
			env := []string{form.variable + "=" + at}
			args := []string{"--config", config}
			if form.store != "" {
				args = append(args, "--store", postgrestest.NewDatabase(t))
			}
			s := serve(t, data, env, args...)
			if status := s.do("POST", "/api/import", strings.NewReader(vectorTalk), nil); status != http.StatusOK {
				t.Fatalf("the import answers %d", status)
			}
			search := func(q string) string { return foundFirst(get[scrollback.SearchResult](s, "/api/search?q="+q)) }
			until(t, time.Minute, func() bool { return search("When+does+the+doctor+see+me%3F") == saidOtherwise })
			run := func(more ...string) string {
				out, err := command(t, data, env, append(more, args...)...).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				return string(out)
			}
			if out := run("search", "--json", "Which doctor?"); !strings.Contains(out, saidOtherwise) {
				t.Errorf("the command finds %s", out)
			}
			until(t, time.Minute, func() bool {
				return strings.Contains(run("usage", "--by", "purpose", "--json"), `"embedding"`)
			})
			if n := vectors.countSent(saidOtherwise); n != 1 {
				t.Errorf("a message was sent %d times", n)
			}

			vectors.set(true, nil)
			if got := search("Who+painted+the+fence%3F"); !strings.Contains(got, "fence") {
				t.Errorf("while the endpoint is down, %q is found", got)
			}
			if out := run("doctor"); !strings.Contains(out, "embeddings.model = \""+form.model+"\"") {
				t.Errorf("while the endpoint is down, doctor says\n%s", out)
			}
			later := `{"role":"user","content":"My automobile is in the garage."}`
			s.do("POST", "/api/import", strings.NewReader(later), nil)
			if out := run("doctor"); !strings.Contains(out, "have their vectors by "+form.model) {
				t.Errorf("while vectors are missing, doctor says\n%s", out)
			}
			vectors.set(false, nil)
			until(t, 2*time.Minute, func() bool { return vectors.countSent("My automobile is in the garage.") == 1 })
			until(t, time.Minute, func() bool { // it is stored a moment after it was sent
				return !strings.Contains(run("doctor"), "have their vectors by "+form.model)
			})
			s.stop()
			until(t, time.Minute, func() bool {
				return strings.Contains(run("search", "--json", "Where did I leave the car?"), "automobile")
			})
		})
	}
}

// A server that is killed while vectors are made goes on where it was, and sends nothing again that has its vector.
func TestEmbeddingsKilled(t *testing.T) {
	t.Parallel()
	vectors := newVectorServer(t)
	data := t.TempDir()
	env := []string{"OLLAMA_BASE_URL=" + vectors.URL, "SCROLLBACK_EMBEDDINGS=ollama/m", "SCROLLBACK_LEASE=1s"}
	hold := make(chan struct{})
	vectors.set(false, hold)
	var lines []string
	for range 200 {
		lines = append(lines, `{"role":"user","content":"some small talk about nothing at all"}`)
	}
	lines = append([]string{`{"role":"user","content":"the first of all"}`}, lines...)
	lines = append(lines, `{"role":"user","content":"`+saidOtherwise+`"}`)
	s := serve(t, data, env)
	s.do("POST", "/api/import", strings.NewReader(strings.Join(lines, "\n")), nil)
	hold <- struct{}{} // one batch
	hold <- struct{}{} // and the next, which is sent when the first is stored
	until(t, time.Minute, func() bool { return vectors.countSent("some small talk about nothing at all") > 64 })
	s.kill()
	vectors.set(false, nil)
	s = serve(t, data, env)
	until(t, time.Minute, func() bool {
		return foundFirst(get[scrollback.SearchResult](s, "/api/search?q=Which+doctor%3F")) == saidOtherwise
	})
	if n := vectors.countSent("the first of all"); n != 1 {
		t.Errorf("the first batch was sent %d times", n)
	}
}

// A server says which model of embeddings it does not know, or that one has none, and serves.
func TestEmbeddingsUnknown(t *testing.T) {
	t.Parallel()
	for model, why := range map[string]string{"nosuch/x": "unknown model", "anthropic/x": "has no embeddings"} {
		s := serve(t, t.TempDir(), []string{"SCROLLBACK_EMBEDDINGS=" + model, "ANTHROPIC_API_KEY=k"})
		if status := s.do("GET", "/api/search?q=anything", nil, nil); status != http.StatusOK {
			t.Errorf("the search answers %d", status)
		}
		s.stop()
		says(t, s.stderr.String(), `embeddings.model = "`+model+`": `, why)
	}
}
