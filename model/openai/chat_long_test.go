package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/chatapi"
)

// chatTalker returns a model that thinks, calls two tools in every third turn, and says
// something else each time. Every word it thinks has its name.
func chatTalker(name string) model.Model {
	var n atomic.Int64
	return modeltest.NewScript(model.Facts{}, modeltest.Step{Reply: func(r model.Request) []model.Delta {
		i := n.Add(1)
		last := r.Items[len(r.Items)-1]
		ds := []model.Delta{{Reasoning: fmt.Sprintf("%s thinks ", name)}, {Reasoning: fmt.Sprintf("thought %d", i)}}
		if i%7 == 0 {
			ds = nil // it does not always think
		}
		if last.Role == scrollback.RoleUser && i%3 != 1 && len(r.Tools) > 0 {
			if i%2 == 0 {
				ds = append(ds, model.Delta{Text: "One moment. "})
			}
			for c := range 2 {
				ds = append(ds, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprintf("call_%s_%d_%d", name, i, c), Name: "f",
					Arguments: json.RawMessage(fmt.Sprintf(`{"a":%d}`, c))}})
			}
		} else {
			ds = append(ds, model.Delta{Text: fmt.Sprintf("answer %d ", i)}, model.Delta{Text: "of " + name})
		}
		return append(ds, model.Delta{Usage: &scrollback.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 20,
			ReasoningTokens: 9,
			TotalTokens:     120}})
	}})
}

// chatSide is a model and the stand-in that serves it.
type chatSide struct {
	m      model.Model
	server *modeltest.Strict
	known  scrollback.Learned
}

func chatOpenSide(t *testing.T, preset, id, name string) *chatSide {
	o := chatapi.Preset(preset)
	o.Models = []string{id}
	server := chatapi.New(chatTalker(name), o)
	return &chatSide{m: chatServe(t, preset, id, server), server: server, known: chatKnown}
}

// chatWindow makes a history fit what a template demands, as package window does.
func chatWindow(items []scrollback.Item, strict scrollback.Strictness) []scrollback.Item {
	items = slices.Clone(items)
	if strict == scrollback.StrictNoSystem && items[0].Role == scrollback.RoleSystem {
		first := items[1]
		first.Parts = slices.Concat(items[0].Parts, first.Parts)
		items = slices.Concat([]scrollback.Item{first}, items[2:])
	}
	return items
}

// say asks for answers until no tool is called any more.
func (s *chatSide) say(t *testing.T, items []scrollback.Item, turn int) []scrollback.Item {
	t.Helper()
	for step := 0; ; step++ {
		if step > 4 {
			t.Fatal("the model never ends")
		}
		r := model.Request{Items: chatWindow(items, s.known.Strict), Tools: chatTools(), Learned: s.known,
			MaxOutputTokens: 900, CacheKey: "k",
			Bytes: func(context.Context, scrollback.ArtifactID) ([]byte, error) { return []byte("PNG"), nil }}
		if turn%4 == 3 {
			r.Thinking = scrollback.Thinking{Effort: "high"}
		}
		a, lessons, err := chatLessons(s.m, r)
		for _, l := range lessons {
			s.known.Dropped = append(s.known.Dropped, l.Drop)
		}
		if l := model.LessonOf(err); l != nil && l.Strict != "" && l.Strict != s.known.Strict {
			s.known.Strict = l.Strict
			continue
		}
		if err != nil || a.Finish == "" || a.Usage == nil || a.Usage.OutputTokens != 20 || a.Usage.CachedTokens != 40 {
			t.Fatalf("turn %d: %s %+v %v; refused %+v", turn, chatSaid(a), a.Usage, err, s.server.Refusals())
		}
		items = append(items, scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.RoleAssistant,
			Model: s.m.Facts().Name,
			Parts: modeltest.StoredParts(a.Deltas)})
		var results scrollback.Parts
		for _, c := range a.Calls {
			results = append(results, scrollback.ToolResult{CallID: c.ID, Name: c.Name, Text: "found " + string(c.Arguments)})
		}
		if len(results) == 0 {
			return items
		}
		if len(results) != 2 {
			t.Fatalf("turn %d: %d calls", turn, len(results))
		}
		items = append(items, scrollback.Item{Kind: scrollback.KindMessage, Role: scrollback.RoleTool, Parts: results})
	}
}

func chatAsk(turn int) scrollback.Item {
	it := chatItemOf(scrollback.RoleUser, "", scrollback.Text{Text: fmt.Sprintf("question %d", turn)})
	if turn%5 == 2 {
		it.Parts = append(it.Parts, scrollback.Image{Artifact: "ab12", Name: "a.png", MediaType: "image/png"})
	}
	return it
}

// chatExpected is what each server may refuse, once: what nobody knows before.
var chatExpected = map[string][]string{
	"openai":     {"effort-with-tools"},
	"deepseek":   {"image"},
	"xai":        {"parameter"}, // reasoning_effort, of this model
	"openrouter": nil, "dashscope": nil, "moonshot": nil, "ark": nil, "poe": nil, "workers-ai": nil, "custom": nil,
	"lmstudio":  nil,
	"llama.cpp": nil,
	"vllm":      {"no-system"},
}

// A conversation of forty turns with every server, and with another model taking
// over in its middle, of which nothing is refused but what has to be learned; and
// nothing that is one model's is told to the other.
func TestChatConversations(t *testing.T) {
	testlength.SkipShort(t)
	for i, p := range chatPresets {
		t.Run(p.preset, func(t *testing.T) {
			next := chatPresets[(i+5)%len(chatPresets)]
			one := chatOpenSide(t, p.preset, p.model, "Ada")
			chatTalk(t, []*chatSide{one}, testlength.Choose(24, 24, 40))
			chatExpect(t, p.preset, one)
			if i%3 != 0 && testlength.Choose(true, false, false) {
				return
			}

			first := chatOpenSide(t, p.preset, p.model, "Ada")
			second := chatOpenSide(t, next.preset, next.model, "Bob")
			chatTalk(t, []*chatSide{first, second}, testlength.Choose(24, 24, 40))
			chatExpect(t, p.preset, first)
			chatExpect(t, next.preset, second)

			again := chatOpenSide(t, p.preset, p.model+"-2", "Bob") // another name of the same server
			chatTalk(t, []*chatSide{chatOpenSide(t, p.preset, p.model, "Ada"), again}, 12)
			chatExpect(t, p.preset, again)
		})
	}
}

// chatTalk has turns of equal numbers with each side, and looks for what is the
// first one's with the others.
func chatTalk(t *testing.T, sides []*chatSide, turns int) {
	t.Helper()
	items := []scrollback.Item{chatItemOf(scrollback.RoleSystem, "", scrollback.Text{Text: "Be brief."})}
	for turn := range turns {
		items = append(items, chatAsk(turn))
		items = sides[turn*len(sides)/turns].say(t, items, turn)
	}
	replayed := false
	for i, s := range sides {
		for _, body := range s.server.Bodies() {
			replayed = replayed || i == 0 && bytes.Contains(body, []byte("Ada thinks thought"))
			for _, secret := range []string{"Ada thinks", "sig-", "sealed-", `"rs-`} {
				if i > 0 && chatHolds(body, secret, s) {
					t.Fatalf("%q of the first model is told to the second: %s", secret, body)
				}
			}
		}
	}
	if never := strings.HasPrefix(sides[0].m.Facts().Name, "openai/") || strings.HasPrefix(sides[0].m.Facts().Name,
		"xai/"); replayed == never {
		t.Errorf("reasoning was sent back: %v", replayed)
	}
}

// chatHolds reports whether a body holds a secret that the side did not give out
// itself: those of OpenRouter are numbered by its answers, and its own.
func chatHolds(body []byte, secret string, s *chatSide) bool {
	if !bytes.Contains(body, []byte(secret)) {
		return false
	}
	return secret == "Ada thinks" || !strings.HasPrefix(s.m.Facts().Name, "openrouter/")
}

// chatExpect says what was refused beside what has to be learned.
func chatExpect(t *testing.T, preset string, s *chatSide) {
	t.Helper()
	want := slices.Clone(chatExpected[preset])
	for _, r := range s.server.Refusals() {
		i := slices.Index(want, r.Rule)
		if i < 0 {
			t.Errorf("%s refused %+v", preset, r)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	if len(want) > 0 {
		t.Errorf("%s never refused %v", preset, want)
	}
}
