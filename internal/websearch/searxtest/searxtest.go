// Package searxtest is a server that speaks as a SearXNG does, for tests: strict about what
// it is asked, and as hostile as it is told to be.
package searxtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Result is one result of a search.
type Result struct {
	Title   any `json:"title"`
	URL     any `json:"url"`
	Content any `json:"content"`
}

// Server is a SearXNG. Set its fields before the first search.
type Server struct {
	*httptest.Server
	Results []Result
	Body    string        // sent in place of JSON of the results
	Type    string        // its media type
	Status  int           // 0 is 200
	Move    string        // an address it redirects to
	Wait    chan struct{} // it answers when this is closed
	Endless bool          // it sends results without an end

	mu      sync.Mutex
	queries []string
}

// New starts a server.
func New(t testing.TB) *Server {
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		s.serveSearch(t, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Queries returns those so far.
func (s *Server) Queries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.queries...)
}

func (s *Server) serveSearch(t testing.TB, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case r.URL.Path != "/search":
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet, q.Get("format") != "json", q.Get("q") == "", len(q) != 2,
		r.Header.Get("User-Agent") == "":
		t.Errorf("SearXNG was asked by %s %s", r.Method, r.URL)
	case r.Header.Get("Authorization") != "", r.Header.Get("Cookie") != "":
		t.Error("SearXNG was sent a key")
	}
	s.mu.Lock()
	s.queries = append(s.queries, q.Get("q"))
	s.mu.Unlock()
	if s.Wait != nil {
		select {
		case <-s.Wait:
		case <-r.Context().Done():
			return
		}
	}
	if s.Move != "" {
		http.Redirect(w, r, s.Move, http.StatusFound)
		return
	}
	if s.Endless {
		s.floodResults(w, r)
		return
	}
	body := []byte(s.Body)
	kind := s.Type
	if s.Body == "" {
		body, _ = json.Marshal(map[string]any{"query": q.Get("q"), "number_of_results": 0, "results": s.Results,
			"answers": []any{}, "infoboxes": []any{}})
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	if s.Status != 0 {
		w.WriteHeader(s.Status)
	}
	_, _ = w.Write(body)
}

// floodResults sends results for as long as somebody reads them.
func (s *Server) floodResults(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write([]byte(`{"results":[`))
	piece := make([]byte, 1<<20)
	for i := range piece {
		piece[i] = ' '
	}
	for end := time.Now().Add(time.Minute); err == nil && r.Context().Err() == nil && time.Now().Before(end); {
		_, err = w.Write(piece)
	}
}
