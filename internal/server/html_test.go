package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// HTML is sent to clients that ask for it, in addition to the text; the blocks of an answer cover
// it from its beginning, also for a client that resumes.
func TestHTML(t *testing.T) {
	const answer = "# 标题 #1\n\nSome *text*.\n\n- a\n- b\n\nThe end.\n"
	var pieces []string
	for _, r := range answer {
		pieces = append(pieces, string(r))
	}
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Say(pieces...))
	srv := httptest.NewServer(server.Handler(r.Engine, r.Transfer,
		server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, true))
	t.Cleanup(srv.Close)
	ask := func(method, path, body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %s, %v", method, path, resp.StatusCode, raw, err)
		}
		return string(raw)
	}
	closed := strings.TrimSuffix(answer, "The end.\n")
	for _, c := range []struct{ query, body string }{{"?html=1", `{"message":"a *b*\nc"}`},
		{"", `{"message":"a *b*\nc","html":true}`}} {
		at := "/api/conversations/" + string(r.NewConversation())
		stream := ask("POST", at+"/chat"+c.query, c.body)
		if got := covers(t, answer, stream); got != closed {
			t.Errorf("the blocks of a chat cover %q", got)
		}
		turn, _, _ := strings.Cut(strings.SplitN(stream, `"turn_id":"`, 2)[1], `"`)
		for _, after := range []int{0, 5, 20, 40} {
			if got := covers(t, answer, ask("GET", fmt.Sprintf("%s/turns/%s/events?html=1&after=%d", at, turn, after),
				"")); got != closed {
				t.Errorf("behind event %d the blocks cover %q", after, got)
			}
		}
		if got := ask("GET", at+"/turns/"+turn+"/events", ""); strings.Contains(got, `"block"`) {
			t.Error("blocks are sent to clients that did not ask for them")
		}
		with := ask("GET", at+"/messages?html=1", "")
		without := ask("GET", at+"/messages", "")
		for _, want := range []string{`"html":["<p>a <em>b</em><br>\nc</p>\n"]`, `<h1>标题 <a class=\"ref\" data-seq=\"1\" `} {
			if !strings.Contains(with, want) {
				t.Errorf("%s is not in %s", want, with)
			}
		}
		if strings.Contains(without, `"html"`) {
			t.Errorf("not asked for: %s", without)
		}
	}
}

// covers returns the text that the blocks of a stream cover.
func covers(t *testing.T, text, stream string) (out string) {
	t.Helper()
	runes := []rune(text)
	end := 0
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		var b struct {
			Type    string
			At, End int
			HTML    string
		}
		if !ok || json.Unmarshal([]byte(data), &b) != nil || b.Type != "block" {
			continue
		}
		if b.At != end || b.HTML == "" {
			t.Fatalf("a block begins at %d, behind %d: %s", b.At, end, data)
		}
		out += string(runes[b.At:b.End])
		end = b.End
	}
	return out
}
