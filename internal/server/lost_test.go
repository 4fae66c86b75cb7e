package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A database whose files somebody empties, cuts, deletes or replaces under a running server is
// unavailable to callers: no answer is that something is not there, or is less than was there, and
// nothing is acknowledged that the files do not hold.
func TestDatabaseTakenAway(t *testing.T) {
	t.Parallel()
	cut := func(part string, left float64) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			info, err := os.Stat(path + part)
			if err == nil {
				err = os.Truncate(path+part, int64(left*float64(info.Size())))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	gone := func(part string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.Remove(path + part); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, take := range map[string]func(t *testing.T, path string){
		"log emptied": cut("-wal", 0), "log cut": cut("-wal", 0.6), "log deleted": gone("-wal"),
		"file emptied": cut("", 0), "file cut": cut("", 0.5), "file deleted": gone(""),
		"file replaced": func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "other.db")
			d, err := sqlite.Open(t.Context(), other, nil)
			if err == nil {
				err = d.Close()
			}
			if err == nil {
				err = os.Rename(other, path)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { takeAway(t, take) })
	}
}

func takeAway(t *testing.T, take func(t *testing.T, path string)) {
	path := filepath.Join(t.TempDir(), "s.db")
	d, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := enginetest.New(t, enginetest.Options{Driver: d}, modeltest.Say("fine"))
	s := httptest.NewServer(server.Handler(r.Engine, r.Transfer, server.Options{Version: "test"}, true))
	defer s.Close()
	ids := make([]string, 3)
	for i := range ids {
		var c struct{ ID string }
		_, _, text := ask(t, "POST", s.URL+"/api/conversations", "{}")
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.ID == "" {
			t.Fatal(text, err)
		}
		ids[i] = c.ID
		for range 3 {
			body := `{"stream":false,"message":"` + strings.Repeat("a word ", 300) + `"}`
			if status, _, text := ask(t, "POST", s.URL+"/api/conversations/"+c.ID+"/chat", body); status != http.StatusOK {
				t.Fatal(status, text)
			}
		}
	}
	var paths []string
	for _, id := range ids {
		at := "/api/conversations/" + id
		paths = append(paths, at, at+"/messages?limit=100", at+"/export?format=jsonl")
	}
	paths = append(paths, "/api/conversations", "/api/search?q=word", "/api/projects")
	before := map[string]string{}
	for _, path := range paths {
		status, _, text := ask(t, "GET", s.URL+path, "")
		if status != http.StatusOK {
			t.Fatal(path, status, text)
		}
		before[path] = text
	}
	take(t, path)
	for range 2 {
		for _, path := range paths {
			status, h, text := ask(t, "GET", s.URL+path, "")
			switch {
			case status == http.StatusServiceUnavailable && h.Get("Retry-After") != "" &&
				strings.Contains(text, `"unavailable"`):
			case status == http.StatusOK && text == before[path]:
			default:
				t.Errorf("GET %s: %d %s", path, status, text)
			}
		}
		for path, body := range map[string]string{
			"/api/conversations": "{}", "/api/conversations/" + ids[0] + "/chat": `{"message":"late","stream":false}`,
			"/api/conversations/" + ids[2] + "/fork": `{"seq":2}`, "/api/import": `{"role":"user","content":"late"}`,
		} {
			if status, _, text := ask(t, "POST", s.URL+path, body); status != http.StatusServiceUnavailable {
				t.Errorf("POST %s: %d %s", path, status, text)
			}
		}
		if status, _, text := ask(t, "GET", s.URL+"/readyz", ""); status != http.StatusServiceUnavailable {
			t.Errorf("ready: %d %s", status, text)
		}
	}
	if status, _, text := ask(t, "GET", s.URL+"/healthz", ""); status != http.StatusOK {
		t.Errorf("health: %d %s", status, text)
	}
}
