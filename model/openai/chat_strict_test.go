package openai_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/chatapi"
)

// chatAskStrict asks a server of a preset that was made stricter.
func chatAskStrict(t *testing.T, preset, id string,
	change func(*chatapi.Options, *model.Request)) (modeltest.Answer, []model.Lesson,
	*modeltest.Strict, error) {
	t.Helper()
	o := chatapi.Preset(preset)
	o.Models = []string{id}
	r := model.Request{MaxOutputTokens: 900, CacheKey: "k", AnswerOnly: true, Tools: chatTools(),
		Thinking: scrollback.Thinking{Effort: "high"}, Learned: chatKnown,
		Bytes: func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("PNG"), nil },
		Items: []scrollback.Item{chatItemOf(scrollback.RoleUser, "", scrollback.Text{Text: strings.Repeat("word ", 400)},
			scrollback.Image{Artifact: "a", MediaType: "image/png"})}}
	change(&o, &r)
	server := chatapi.New(chatTalker("Ada"), o)
	a, lessons, err := chatLessons(chatServe(t, preset, id, server), r)
	return a, lessons, server, err
}

// chatRuled reports whether the last refusal was of a rule.
func chatRuled(s *modeltest.Strict, rule string) bool {
	all := s.Refusals()
	return len(all) > 0 && all[len(all)-1].Rule == rule
}

// What a server refuses ends well: the request is mended, or it is said what is
// wrong with it.
func TestChatEndsWell(t *testing.T) {
	for _, p := range chatPresets {
		t.Run(p.preset, func(t *testing.T) {
			_, _, s, err := chatAskStrict(t, p.preset, p.model,
				func(o *chatapi.Options, _ *model.Request) { o.Key = "sk-other" })
			if scrollback.CodeOf(err) != scrollback.Refused || !chatRuled(s, "key") {
				t.Errorf("a wrong key: %v", err)
			}
			_, _, s, err = chatAskStrict(t, p.preset, p.model,
				func(o *chatapi.Options, _ *model.Request) { o.Models = []string{"other"} })
			if scrollback.CodeOf(err) != scrollback.Invalid || !chatRuled(s, "model") {
				t.Errorf("an unknown model: %v", err)
			}
			_, _, s, err = chatAskStrict(t, p.preset, p.model, func(o *chatapi.Options, _ *model.Request) { o.Limit = 500 })
			want := int64(500)
			if p.preset == "ark" {
				want = 0 // it does not say
			}
			if l := model.LessonOf(err); scrollback.CodeOf(err) != scrollback.OverBudget || l == nil || !l.TooLong ||
				l.Limit != want ||
				l.Requested > 1000 || !chatRuled(s, "too-long") {
				t.Errorf("too long: %v, %+v", err, l)
			}
			a, lessons, _, err := chatAskStrict(t, p.preset, p.model,
				func(o *chatapi.Options, _ *model.Request) { o.MaxOutput = 300 })
			if err != nil || a.Finish == "" || !slices.Contains(lessons, model.Lesson{MaxOutput: 300}) {
				t.Errorf("too long an answer: %v, %+v", err, lessons)
			}
			if a, _, _, err = chatAskStrict(t, p.preset, p.model,
				func(o *chatapi.Options, _ *model.Request) { o.Starved = 2 }); err != nil ||
				a.Finish == "" {
				t.Errorf("a starved server: %v", err)
			}
			for _, name := range chatapi.Preset(p.preset).Takes {
				a, lessons, s, err := chatAskStrict(t, p.preset, p.model, func(o *chatapi.Options, r *model.Request) {
					if name == "reasoning_effort" && p.preset == "openai" {
						r.Tools = nil // with tools it must be sent
					}
					o.Takes = slices.DeleteFunc(o.Takes, func(s string) bool { return s == name })
				})
				sent := len(s.Bodies()) > 0 && strings.Contains(string(s.Bodies()[0]), `"`+name+`":`)
				if err != nil || a.Finish == "" || sent != slices.Contains(lessons, model.Lesson{Drop: name}) {
					t.Errorf("without %s: %v, %+v", name, err, lessons)
				}
			}
			a, lessons, s, err = chatAskStrict(t, p.preset, p.model,
				func(o *chatapi.Options, _ *model.Request) { o.Rules |= chatapi.TextOnly })
			if err != nil || a.Finish == "" || !slices.Contains(lessons, model.Lesson{Drop: "image_url"}) ||
				strings.Contains(string(s.Bodies()[len(s.Bodies())-1]), "base64") {
				t.Errorf("no images: %v, %+v", err, lessons)
			}
			for rule, want := range map[chatapi.Rules]scrollback.Strictness{chatapi.NoSystem: scrollback.StrictNoSystem,
				chatapi.Alternates: scrollback.StrictTurns, chatapi.SystemFront: scrollback.StrictTurns} {
				_, _, _, err = chatAskStrict(t, p.preset, p.model, func(o *chatapi.Options, r *model.Request) {
					o.Rules |= rule
					o.Rules &^= chatapi.NoThoughtWithTools
					r.Items = append(r.Items, chatItemOf(scrollback.RoleSystem, "", scrollback.Text{Text: "be brief"}), r.Items[0])
				})
				if l := model.LessonOf(err); l == nil || l.Strict != want && p.preset != "vllm" {
					t.Errorf("a template with rule %d: %v, %+v", rule, err, l)
				}
			}
		})
	}
}

// Efforts beside tools: the newest models want none asked for, the ones before
// only that none is sent.
func TestChatEffortWithTools(t *testing.T) {
	for rule, thinking := range map[chatapi.Rules]scrollback.Thinking{chatapi.NoThoughtWithTools: {},
		chatapi.NoEffortWithTools: {Effort: "high"}} {
		a, lessons, s, err := chatAskStrict(t, "openai", "gpt-5.6", func(o *chatapi.Options, r *model.Request) {
			o.Rules = rule
			r.Thinking = thinking
		})
		if err != nil || a.Finish == "" || len(lessons) != 1 || len(s.Bodies()) != 2 ||
			!strings.Contains(string(s.Bodies()[1]), `"reasoning_effort":"none"`) {
			t.Errorf("%v %v %s", err, lessons, s.Bodies())
		}
	}
	a, _, s, err := chatAskStrict(t, "openai", "gpt-5.6", func(_ *chatapi.Options, r *model.Request) {
		r.Tools = nil
		r.Learned.Dropped = []string{"function tools with reasoning_effort"}
	})
	if err != nil || a.Finish == "" || !strings.Contains(string(s.Bodies()[0]), `"reasoning_effort":"high"`) {
		t.Errorf("without tools the effort is as before: %v %s", err, s.Bodies())
	}
}
