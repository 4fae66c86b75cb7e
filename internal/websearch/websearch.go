// Package websearch is the client of a SearXNG server: it searches the web for what a
// question is about.
//
// Words it adds: query (what the server is asked, made from a question without a model).
//
// Invariants: nothing goes to a server that was not meant; a query is short, on one line,
// and holds no code, no addresses, nothing that looks like a key, and none of the words
// with which SearXNG is steered; one search takes bounded time and memory, whatever the
// server sends; a result that cannot be read is left out and spoils no other.
//
// It may not know the store, conversations or the engine.
package websearch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// resultsMost is how many results are taken, of the twenty or so that come.
const resultsMost = 6

// setting is what a person sets to make a search possible.
const setting = "searxng"

// Client searches with one server. It is safe for concurrent use.
type Client struct {
	base   string
	client *remote.Client
}

// New makes a client of the server at an address such as http://127.0.0.1:8888; another
// form is invalid. Agent is sent as the User-Agent. It does no I/O.
func New(address, agent string) (*Client, error) {
	base := strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(address), "/"), "/search")
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return nil, scrollback.ParamErrorf("websearch.New", setting,
			i18n.NotASearXNGAddress, setting)
	}
	return &Client{base: base, client: remote.New(remote.Options{Provider: "SearXNG", BaseVariable: setting,
		Agent: agent})}, nil
}

// Search searches for what a question is about. It returns the query with the pages, best
// first, or with an error whose words are for people: unavailable, or rate_limited.
func (c *Client) Search(ctx context.Context, question string) (scrollback.Search, error) {
	s := scrollback.Search{Query: MakeQuery(question), Results: []scrollback.Source{}}
	if s.Query == "" {
		return s, scrollback.ParamErrorf("websearch.Search", "message", i18n.NoWordsToSearchFor)
	}
	address := c.base + "/search?" + url.Values{"q": {s.Query}, "format": {"json"}}.Encode()
	var found struct {
		Results []json.RawMessage `json:"results"`
	}
	if err := c.client.AskJSON(ctx, remote.Exchange{URL: address, Judge: explainProblem, JudgePages: true},
		&found); err != nil {
		return s, err
	}
	for _, raw := range found.Results {
		var r struct {
			Title   string `json:"title"`
			URL     string `json:"url"`
			Content string `json:"content"`
		}
		if json.Unmarshal(raw, &r) != nil || r.URL == "" {
			continue
		}
		if s.Results = append(s.Results, scrollback.Source{Title: r.Title, URL: r.URL,
			Text: r.Content}); len(s.Results) == resultsMost {
			break
		}
	}
	return s, nil
}

// explainProblem returns what is most often not set up.
func explainProblem(p remote.Problem) *scrollback.Error {
	words := map[int]string{
		http.StatusForbidden: "SearXNG does not send JSON: add json to search.formats in its settings.yml, and let this server pass its limiter",
		http.StatusNotFound:  "there is no SearXNG at its address (" + setting + ")",
	}[p.Status]
	if words == "" {
		return nil
	}
	return scrollback.Errorf(scrollback.Unavailable, "websearch.Search", "%s", words).WithReason(scrollback.ErrUpstream)
}
