package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/responsesapi"
)

func respSay() model.Model {
	return modeltest.NewScript(model.Facts{Name: "test/say"},
		modeltest.Step{Deltas: []model.Delta{{Reasoning: "hm"}, {Text: "so"}}})
}

// What a server refuses, and what comes of it: an error, or an answer and what was
// learned.
func TestResponsesRefusals(t *testing.T) {
	long := modeltest.PlainRequest()
	long.Items[0].Parts = scrollback.Parts{scrollback.Text{Text: strings.Repeat("long ", 2000)}}
	effort := modeltest.PlainRequest()
	effort.Thinking = scrollback.Thinking{Effort: "high"}
	for name, c := range map[string]struct {
		preset, id string
		o          responsesapi.Options
		r          model.Request
		code       scrollback.Code
		words      string // shown
		learned    string // one after the other
		limit      int64
	}{
		"good":   {preset: "openai", id: "gpt-5.1"},
		"effort": {preset: "openai", id: "gpt-4.1", r: effort, learned: "reasoning.effort include"},
		"unverified": {preset: "openai", id: "gpt-5.1",
			o:       responsesapi.Options{Refuses: []string{"reasoning.summary", "stream"}},
			learned: "reasoning.summary stream"},
		"cache key": {preset: "openai", id: "gpt-5.1", r: func() model.Request {
			r := modeltest.PlainRequest()
			r.CacheKey = strings.Repeat("k", 70)
			return r
		}(), learned: "prompt_cache_key"},
		"everything": {preset: "openai", id: "gpt-5.1", r: effort,
			o: responsesapi.Options{Refuses: []string{"reasoning.effort", "reasoning.summary", "include",
				"max_output_tokens", "stream"}},
			learned: "reasoning.effort reasoning.summary include stream max_output_tokens"},
		"xai, effort": {preset: "xai", id: "grok-4", o: responsesapi.Options{XAI: true}, r: effort,
			learned: "reasoning.effort"},
		"xai, include": {preset: "xai", id: "grok-4", o: responsesapi.Options{XAI: true, Refuses: []string{"include"}},
			learned: "include"},
		"key": {preset: "openai", id: "gpt-5.1", o: responsesapi.Options{Key: "another"}, code: scrollback.Refused,
			words: "openai refuses the key (OPENAI_API_KEY)"},
		"xai, key": {preset: "xai", id: "grok-4", o: responsesapi.Options{XAI: true, Key: "another"},
			code:  scrollback.Refused,
			words: "xai refuses the key (XAI_API_KEY)"},
		"model": {preset: "openai", id: "gpt-9", o: responsesapi.Options{Models: []string{"gpt-5.1"}},
			code:  scrollback.Invalid,
			words: "openai does not know the model"},
		"xai, model": {preset: "xai", id: "grok-9", o: responsesapi.Options{XAI: true, Models: []string{"grok-4"}},
			code: scrollback.Invalid, words: "xai does not know the model"},
		"quota": {preset: "openai", id: "gpt-5.1", o: responsesapi.Options{Spent: true}, code: scrollback.Refused,
			words: "no money or quota left"},
		"quota, late": {preset: "openai", id: "gpt-5.1", o: responsesapi.Options{Spent: true, Late: true, Wordless: true},
			code: scrollback.Refused, words: "no money or quota left"},
		"too long": {preset: "openai", id: "gpt-5.1", o: responsesapi.Options{Limit: 1000}, r: long,
			code:  scrollback.OverBudget,
			words: "too long for the model"},
		"too long, late": {preset: "openai", id: "gpt-5.1", o: responsesapi.Options{Limit: 1000, Late: true}, r: long,
			code: scrollback.OverBudget, words: "too long for the model"},
		"too long, no words": {preset: "openai", id: "gpt-5.1",
			o: responsesapi.Options{Limit: 1000, Late: true, Wordless: true}, r: long,
			code: scrollback.OverBudget, words: "too long for the model"},
		"xai, too long": {preset: "xai", id: "grok-4", o: responsesapi.Options{XAI: true, Limit: 1000}, r: long,
			code: scrollback.OverBudget, words: "too long for the model", limit: 1000},
		"incomplete": {preset: "openai", id: "gpt-5.1", o: responsesapi.Options{Incomplete: "max_output_tokens"},
			words: "length"},
		"incomplete, content": {preset: "openai", id: "gpt-5.1", o: responsesapi.Options{Incomplete: "content_filter"},
			words: "content_filter"},
		"cut": {preset: "openai", id: "gpt-5.1", o: responsesapi.Options{Cut: true}, words: "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			s := responsesapi.New(respSay(), c.o)
			if c.r.Items == nil {
				c.r = modeltest.PlainRequest()
			}
			a, err := modeltest.Read(respServe(t, c.preset, c.id, s).Stream(t.Context(), c.r))
			if scrollback.CodeOf(err) != c.code || err != nil && (!strings.Contains(scrollback.PublicMessage(err), c.words) ||
				strings.Contains(err.Error(), respKey[:8])) {
				t.Fatalf("%v (%s), want %s with %q", err, scrollback.CodeOf(err), c.code, c.words)
			}
			var learned []string
			for _, d := range a.Deltas {
				if d.Lesson != nil {
					learned = append(learned, d.Lesson.Drop)
				}
			}
			if strings.Join(learned, " ") != c.learned {
				t.Errorf("learned %q, want %q", learned, c.learned)
			}
			if finish := map[string]string{"": "stop", "nothing": ""}; err == nil && a.Text != "so" ||
				err == nil && a.Finish != c.words && a.Finish != finish[c.words] {
				t.Errorf("%q, finish %q", a.Text, a.Finish)
			}
			if l := model.LessonOf(err); c.code == scrollback.OverBudget &&
				(l == nil || l.Limit != c.limit || len(s.Bodies()) != 1) {
				t.Errorf("%+v after %d requests", l, len(s.Bodies()))
			}
			if n := len(s.Bodies()); err != nil && n != 1 || err == nil && n != 1+len(learned) {
				t.Errorf("%d requests, %d lessons", n, len(learned))
			}
		})
	}
}

// A server of one's own that knows no responses is asked in the older way, which is
// learned; where it is the model that is unknown, it is not asked again.
func TestResponsesFallback(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		falls  bool
	}{
		"FastAPI":   {404, `{"detail":"Not Found"}`, true},
		"a page":    {404, `<html><head><title>404 Not Found</title></head></html>`, true},
		"Go":        {404, "404 page not found\n", true},
		"method":    {405, `{"detail":"Method Not Allowed"}`, true},
		"LM Studio": {200, `{"error":"Unexpected endpoint or method. (POST /v1/responses)"}`, true},
		"the model": {404, `{"error":{"message":"The model 'gpt-5' does not exist","code":"model_not_found"}}`, false},
		"ollama":    {404, `{"error":"model 'gpt-5' not found"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var paths []string
			chat := &modeltest.Server{Model: modeltest.NewScript(model.Facts{}, modeltest.Say("from ", "chat"))}
			m := respServe(t, "openai", "gpt-5", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				paths = append(paths, r.URL.Path)
				if strings.HasSuffix(r.URL.Path, "/chat/completions") {
					chat.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}))
			a, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
			if !c.falls {
				if !errors.Is(err, scrollback.ErrNoModel) || len(paths) != 1 {
					t.Errorf("%v after %q", err, paths)
				}
				return
			}
			if err != nil || a.Text != "from chat" || strings.Join(paths, " ") != "/v1/responses /v1/chat/completions" {
				t.Fatalf("%+v %v after %q", a, err, paths)
			}
			learned := scrollback.Learned{}
			for _, d := range a.Deltas {
				if d.Lesson != nil {
					learned.API = d.Lesson.API
				}
			}
			r := modeltest.PlainRequest()
			r.Learned = learned
			if _, err := modeltest.Read(m.Stream(t.Context(), r)); err != nil || len(paths) != 3 ||
				paths[2] != "/v1/chat/completions" {
				t.Errorf("knowing it, it asks %q (%v)", paths, err)
			}
		})
	}
	// the provider's own server knows its own API: what is missing there is said
	asked := 0
	way := respBody(func(*http.Request) (string, io.Reader) {
		asked++
		return "application/json", strings.NewReader(`{"error":{"message":"x","code":404}}`)
	})
	m := respOpen(t, "openai", "gpt-5", "", &http.Client{Transport: way})
	if _, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest())); !errors.Is(err, scrollback.ErrNoModel) ||
		asked != 1 {
		t.Errorf("%v after %d", err, asked)
	}
}

// What the window cannot give is said before anybody is asked.
func TestResponsesNoImage(t *testing.T) {
	m := respServe(t, "openai", "gpt-5", http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("it was asked")
	}))
	r := respAsk()
	r.Items = []scrollback.Item{respQuestion(5)}
	gone := errors.New("gone")
	r.Bytes = func(context.Context, scrollback.ArtifactID) ([]byte, error) { return nil, gone }
	if _, err := modeltest.Read(m.Stream(t.Context(), r)); !errors.Is(err, gone) {
		t.Error(err)
	}
}
