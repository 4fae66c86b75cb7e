package all_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/anthropicapi"
	"github.com/scrollback-ai/scrollback/model/modeltest/chatapi"
	"github.com/scrollback-ai/scrollback/model/modeltest/geminiapi"
	"github.com/scrollback-ai/scrollback/model/modeltest/responsesapi"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// searched is what a stand-in searches for by itself when it may.
var searched = scrollback.Search{Query: "tides in Oban", Results: []scrollback.Source{
	{Title: "Tides", URL: "https://tides.test/oban"}, {Title: "Harbour", URL: "https://harbour.test/?a=1&b=2"}}}

// searchers are the providers whose servers search, each before a stand-in that does, and
// one that refuses to.
var searchers = []struct {
	name, key, base string
	stand           func(m model.Model, refuses bool) *modeltest.Strict
}{
	{"openai/gpt-5", "OPENAI_API_KEY", "OPENAI_BASE_URL", func(m model.Model, no bool) *modeltest.Strict {
		return responsesapi.New(m, responsesapi.Options{NoSearch: no})
	}},
	{"xai/grok-4", "XAI_API_KEY", "XAI_BASE_URL", func(m model.Model, no bool) *modeltest.Strict {
		return responsesapi.New(m, responsesapi.Options{NoSearch: no})
	}},
	{"anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
		func(m model.Model, no bool) *modeltest.Strict {
			return anthropicapi.New(m, &anthropicapi.Options{NoSearch: no})
		}},
	{"gemini/gemini-2.5-flash", "GEMINI_API_KEY", "GEMINI_BASE_URL", func(m model.Model, no bool) *modeltest.Strict {
		return geminiapi.New(m, &geminiapi.Options{NoSearch: no})
	}},
	{"openrouter/x/y", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", func(m model.Model, no bool) *modeltest.Strict {
		o := chatapi.Preset("openrouter")
		o.Key = ""
		if no {
			o.Search = ""
		}
		return chatapi.New(m, o)
	}},
}

// A server that searches the web by itself is allowed to when a request wants it, and what
// it found comes with the answer; one that refuses answers without, and says so.
func TestSearch(t *testing.T) {
	tool := scrollback.Tool{Name: "context_search", Description: "d",
		Parameters: []byte(`{"type":"object","properties":{}}`)}
	for _, c := range searchers {
		for _, kind := range []string{"may", "may not", "refuses"} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				script := modeltest.NewScript(model.Facts{}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
					if !r.WebSearch {
						return []model.Delta{{Text: "At nine, I believe."}}
					}
					return []model.Delta{{Text: "Let me see."}, {Search: &searched}, {Text: "High water is "}, {End: true},
						{Text: "at nine."}}
				}})
				stand := c.stand(script, kind == "refuses")
				srv := httptest.NewServer(http.Handler(stand))
				defer srv.Close()
				m, err := all.FindModel(c.name, env(map[string]string{c.key: "sk-chat", c.base: srv.URL}),
					remote.Options{Retries: -1})
				if err != nil {
					t.Fatal(err)
				}
				if !m.Facts().Searches {
					t.Error("its facts do not say that it searches")
				}
				r := model.Request{WebSearch: kind != "may not", MaxOutputTokens: 500, Items: []scrollback.Item{
					{Kind: scrollback.KindMessage, Role: scrollback.RoleUser, Parts: scrollback.Say("When is high water in Oban?")}}}
				r.Tools = []scrollback.Tool{tool}
				var found scrollback.TurnMeta
				var answer model.Answer
				text := ""
				refused := false
				for d, err := range m.Stream(t.Context(), r) {
					if err != nil {
						t.Fatal(err)
					}
					for _, ev := range answer.Add(d) {
						if said, ok := ev.(scrollback.DeltaEvent); ok {
							text += said.Content
						}
					}
					if d.Search != nil {
						found.AddSearch(*d.Search)
					}
					refused = refused || d.Lesson != nil && d.Lesson.Drop == model.WebSearch
				}
				switch {
				case kind != "may" && (len(found.Searches) > 0 || text != "At nine, I believe." || refused != (kind == "refuses")):
					t.Errorf("found %+v, said %q, refused %v", found, text, refused)
				case kind == "may":
					want := searched
					if c.base == "OPENROUTER_BASE_URL" { // it does not say what it asked
						want.Query = ""
					}
					if whole := answer.TakeParts().Text(); c.key == "ANTHROPIC_API_KEY" &&
						(text != "Let me see.\n\nHigh water is at nine." || whole != text) {
						t.Errorf("said %q, and stored %q", text, whole)
					}
					if !reflect.DeepEqual(found.Searches, []scrollback.Search{want}) || text == "" || refused {
						t.Errorf("found %+v, said %q", found, text)
					}
				}
			})
		}
	}
}
