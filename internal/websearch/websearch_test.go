package websearch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/websearch"
	"github.com/scrollback-ai/scrollback/internal/websearch/searxtest"
)

func client(t *testing.T, s *searxtest.Server) *websearch.Client {
	t.Helper()
	c, err := websearch.New(s.URL+"/", "scrollback/test")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The best results are taken, and those that cannot be read are left out.
func TestSearch(t *testing.T) {
	s := searxtest.New(t)
	s.Results = []searxtest.Result{{Title: 7, URL: "https://a.test"}, {Title: "no address"},
		{Title: nil, URL: "https://b.test", Content: "text"}}
	for i := range 9 {
		s.Results = append(s.Results, searxtest.Result{Title: fmt.Sprint("t", i), URL: fmt.Sprint("https://c.test/", i)})
	}
	got, err := client(t, s).Search(t.Context(), "When is *high water*?\n```\nx := `y`\n```\n")
	if err != nil || got.Query != "When is high water?" || len(got.Results) != 6 ||
		got.Results[0].Text != "text" || got.Results[1].Title != "t0" {
		t.Errorf("%+v, %v", got, err)
	}
	if q := s.Queries(); len(q) != 1 || q[0] != got.Query {
		t.Errorf("asked %q", q)
	}
}

// Whatever the server does, a search ends with words that name neither it nor a password.
func TestFailures(t *testing.T) {
	elsewhere := searxtest.New(t)
	for _, c := range []struct {
		name string
		set  func(*searxtest.Server)
		says string
	}{
		{"JSON is not allowed", func(s *searxtest.Server) {
			s.Status = 403
			s.Type = "text/html"
			s.Body = "<!doctype html><title>403 Forbidden</title>"
		}, "add json to search.formats"},
		{"a page", func(s *searxtest.Server) {
			s.Type = "text/html"
			s.Body = "<!doctype html><title>SearXNG</title>"
		},
			"a web page and not an answer"},
		{"not JSON", func(s *searxtest.Server) {
			s.Type = "application/json"
			s.Body = `{"results": [`
		}, "cannot be read"},
		{"another shape", func(s *searxtest.Server) {
			s.Type = "application/json"
			s.Body = `{"results": 7}`
		}, "cannot be read"},
		{"too many", func(s *searxtest.Server) {
			s.Status = 429
			s.Type = "text/plain"
			s.Body = "Too Many Requests"
		}, "asks to wait"},
		{"a fault", func(s *searxtest.Server) {
			s.Status = 500
			s.Type = "text/plain"
			s.Body = "see http://internal.test/secret"
		}, "a fault of its own"},
		{"nowhere", func(s *searxtest.Server) {
			s.Status = 404
			s.Type = "text/html"
			s.Body = "<html>"
		}, "there is no SearXNG at its address"},
		{"elsewhere", func(s *searxtest.Server) { s.Move = elsewhere.URL + "/search?q=x&format=json" },
			"redirects to another server"},
		{"endless", func(s *searxtest.Server) { s.Endless = true }, "SearXNG could not answer"},
		{"gone", func(s *searxtest.Server) { s.Close() }, "nothing listens at its address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := searxtest.New(t)
			c.set(s)
			begun := time.Now()
			with, err := websearch.New(strings.Replace(s.URL, "http://", "http://user:sesame@", 1), "x")
			if c.name != "gone" { // the stand-in takes no key
				with, err = websearch.New(s.URL, "x")
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := with.Search(t.Context(), "tides")
			said := scrollback.PublicMessage(err)
			if err == nil || !strings.Contains(said, c.says) || strings.Contains(said, "http") ||
				strings.Contains(said, "127.0.0.1") ||
				strings.Contains(err.Error(), "sesame") {
				t.Errorf("%v: %q", err, said)
			}
			if got.Query != "tides" || len(got.Results) != 0 || time.Since(begun) > 30*time.Second {
				t.Errorf("%+v after %v", got, time.Since(begun))
			}
		})
	}
	if len(elsewhere.Queries()) != 0 {
		t.Error("a query went to another server")
	}
}

// A slow server is given up with the context.
func TestSlow(t *testing.T) {
	s := searxtest.New(t)
	s.Wait = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := client(t, s).Search(ctx, "tides"); scrollback.CodeOf(err) != scrollback.Canceled {
		t.Error(err)
	}
}

func TestAddress(t *testing.T) {
	for _, bad := range []string{"", "searx.test", "ftp://a.test", "http://", "http://a.test/?q=", "http://a.test/#x",
		"http://a b/"} {
		if _, err := websearch.New(bad, ""); scrollback.CodeOf(err) != scrollback.Invalid ||
			strings.Contains(err.Error(), "a.test") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"http://a.test", " https://a.test:8443/searx/ ", "http://a.test/search"} {
		if _, err := websearch.New(good, ""); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

// A query is made of the words of a question, and of nothing else.
func TestQuery(t *testing.T) {
	long := strings.Repeat("This report is about the harbour and its boats. ", 20)
	for text, want := range map[string]string{
		"When is high water in Oban?":  "When is high water in Oban?",
		"奥本的高潮是几点？":                    "奥本的高潮是几点？",
		"":                             "",
		"```go\nfunc main() {}\n```":   "",
		"~~~\ncode":                    "",
		"why `nil`?\n```\nx\n```\nnow": "why nil? now",
		"!!g secret":                   "g secret",
		":de <3 !go tides ?x":          "de 3 go tides x",
		"see [the page](https://a.test/secret) about ![tides](x.png)":     "see the page about tides",
		"my key sk-proj-abcdefghijklmnop fails at http://10.0.0.7:8080/x": "my key fails at",
		"a\x00b\u202ec\nd":                   "a b c d",
		long + "When is high water? " + long: "When is high water?",
		long:                                 strings.TrimSpace(long[:196]),
		strings.Repeat("潮", 900):             strings.Repeat("潮", 200),
	} {
		if got := websearch.MakeQuery(text); got != want {
			t.Errorf("%.60q becomes %q, not %q", text, got, want)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("a ``` b ~~~ [x](y) !!g sk-abcdefgh")
	f.Fuzz(func(t *testing.T, text string) {
		got := websearch.MakeQuery(text)
		if len([]rune(got)) > 200 || strings.ContainsAny(got, "\n\r\x00") || strings.HasPrefix(got, "!") ||
			strings.Contains(got, " !") {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
