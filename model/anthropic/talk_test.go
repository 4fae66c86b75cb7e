package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/anthropic"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/anthropicapi"
	"github.com/scrollback-ai/scrollback/window"
)

// talker answers in every way there is, the same from the same seed.
type talker struct {
	rng   *rand.Rand
	calls int
}

func (k *talker) reply(r model.Request) []model.Delta {
	var out []model.Delta
	think := func() {
		switch k.rng.IntN(4) {
		case 0:
			out = append(out, model.Delta{Reasoning: "I think "},
				model.Delta{Reasoning: fmt.Sprintf("of <%d> & \"é\".", k.rng.IntN(99))},
				model.Delta{Opaque: json.RawMessage(`{}`)})
		case 1:
			out = append(out, model.Delta{End: true}, model.Delta{Opaque: json.RawMessage(`{"redacted":"x"}`)})
		case 2:
			out = append(out, model.Delta{End: true}, model.Delta{Opaque: json.RawMessage(`{}`)}) // not shown
		}
	}
	for range 1 + k.rng.IntN(3) {
		think()
	}
	if k.rng.IntN(2) == 0 {
		out = append(out, model.Delta{Text: "Let me "}, model.Delta{Text: "see."})
		think()
	}
	last := r.Items[len(r.Items)-1].Parts
	if len(r.Tools) == 0 || r.AnswerOnly || len(last.Results()) > 0 && k.rng.IntN(2) == 0 {
		return append(out, model.Delta{Text: fmt.Sprintf("So it is, after %d.", k.calls)})
	}
	for range 1 + k.rng.IntN(3) {
		k.calls++
		args := []string{`{}`, `{"a":"世界 <b>"}`, `{"a":1.50,"b":[null]}`}[k.rng.IntN(3)]
		out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprintf("toolu_%d", k.calls), Name: "f",
			Arguments: json.RawMessage(args)}})
	}
	return out
}

// talk is a conversation with models of one server.
type talk struct {
	t       *testing.T
	models  map[string]*anthropic.Model
	strict  *modeltest.Strict
	rng     *rand.Rand
	items   []scrollback.Item
	think   scrollback.Thinking
	learned map[string]scrollback.Learned
	lessons []string
	thought int // pieces of reasoning that came
	picture []byte
}

func newTalk(t *testing.T, think scrollback.Thinking, names ...string) *talk {
	k := &talk{t: t, models: map[string]*anthropic.Model{}, rng: rand.New(rand.NewPCG(1, uint64(len(names)))),
		think:   think,
		learned: map[string]scrollback.Learned{},
		items: []scrollback.Item{{Kind: scrollback.KindInstructions, Layer: scrollback.LayerInstructions,
			Role:  scrollback.RoleSystem,
			Parts: scrollback.Parts{words("Be brief.")}}}}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	k.picture = b.Bytes()
	says := &talker{rng: rand.New(rand.NewPCG(2, 3))}
	k.strict = anthropicapi.New(modeltest.NewScript(model.Facts{}, modeltest.Step{Reply: says.reply}),
		&anthropicapi.Options{Key: "k-secret"})
	srv := httptest.NewServer(k.strict)
	t.Cleanup(srv.Close)
	for _, name := range names {
		k.models[name] = anthropic.New(at(srv, name))
	}
	return k
}

func (k *talk) request() model.Request {
	return model.Request{Items: slices.Clone(k.items), Tools: []scrollback.Tool{{Name: "f"}}, Thinking: k.think,
		MaxOutputTokens: 8000,
		Bytes:           func(context.Context, scrollback.ArtifactID) ([]byte, error) { return k.picture, nil }}
}

// step asks a model once, and keeps what it says as the engine does.
func (k *talk) step(name string) scrollback.Parts {
	k.t.Helper()
	m := k.models[name]
	r := k.request()
	r.Learned = k.learned[name]
	w := scrollback.Window{Items: r.Items, Tools: r.Tools}
	if err := window.Lint(w, m.Facts().Dialect); err != nil {
		k.t.Fatal(err)
	}
	a, err := modeltest.Read(m.Stream(k.t.Context(), r))
	if err != nil {
		k.t.Fatalf("%s at item %d: %v", name, len(k.items), err)
	}
	for _, d := range a.Deltas {
		if d.Lesson != nil {
			k.lessons = append(k.lessons, d.Lesson.Drop)
			known := k.learned[name]
			known.Dropped = append(known.Dropped, d.Lesson.Drop)
			k.learned[name] = known
		}
		if d.Reasoning != "" || d.Opaque != nil {
			k.thought++
		}
	}
	ps := modeltest.StoredParts(a.Deltas)
	k.items = append(k.items, said(scrollback.RoleAssistant, scrollback.LayerMessages, m.Facts().Name, ps...))
	if len(ps.Calls()) > 0 {
		var results scrollback.Parts
		for _, c := range ps.Calls() {
			text := []string{"", "done", strings.Repeat("long ", 50)}[k.rng.IntN(3)]
			results = append(results, scrollback.ToolResult{CallID: c.ID, Name: c.Name, Text: text, IsError: k.rng.IntN(4) == 0})
		}
		k.items = append(k.items, said(scrollback.RoleTool, scrollback.LayerMessages, "", results...))
	}
	return ps
}

// turns talks for n turns; by says who answers a step of a turn.
func (k *talk) turns(n int, by func(turn, step int) string) {
	for turn := range n {
		parts := scrollback.Parts{words(fmt.Sprintf("Question %d?", turn))}
		if turn%4 == 1 {
			parts = append(parts, scrollback.Image{Artifact: "ab", MediaType: "image/png", Name: "p.png", Size: 99})
		}
		k.items = append(k.items, said(scrollback.RoleUser, scrollback.LayerMessages, "", parts...))
		for step := 0; len(k.step(by(turn, step)).Calls()) > 0; step++ {
		}
	}
}

func (k *talk) noneRefused(want ...string) {
	k.t.Helper()
	var got []string
	for _, r := range k.strict.Refusals() {
		got = append(got, r.Rule)
	}
	if !slices.Equal(got, want) {
		k.t.Errorf("refused: %v, want %q", k.strict.Refusals(), want)
	}
}

func TestFortyTurns(t *testing.T) {
	for i, c := range []struct {
		model string
		think scrollback.Thinking
		quiet bool
	}{
		{"claude-opus-5-5", scrollback.Thinking{}, false}, {"claude-opus-4-8", scrollback.Thinking{Effort: "high"}, false},
		{"claude-opus-4-8", scrollback.Thinking{Effort: "none"}, true},
		{"claude-opus-4-6", scrollback.Thinking{Budget: 3000}, false},
		{"claude-sonnet-4-5", scrollback.Thinking{Effort: "medium"}, false},
		{"claude-fable-5-1", scrollback.Thinking{Effort: "none"}, false},
		{"claude-3-5-haiku-20241022", scrollback.Thinking{Effort: "high"}, true},
	} {
		if i%3 != 0 && testlength.Choose(true, false, false) {
			continue
		}
		k := newTalk(t, c.think, c.model)
		k.turns(testlength.Choose(24, 24, 40), func(int, int) string { return c.model })
		k.noneRefused()
		if len(k.lessons) > 0 || (k.thought == 0) != c.quiet {
			t.Errorf("%s: lessons %q, %d pieces of reasoning", c.model, k.lessons, k.thought)
		}
	}
}

// Another model takes over in the middle of a turn, and later the first one again:
// each gets its own thinking back, and nothing of the other's.
func TestTakeover(t *testing.T) {
	for i, pair := range [][2]string{{"claude-opus-5-5", "claude-sonnet-4-5"}, {"claude-sonnet-4-5", "claude-opus-4-8"},
		{"claude-opus-4-6", "claude-fable-5-1"}} {
		if i > 0 && testlength.Choose(true, false, false) {
			continue
		}
		k := newTalk(t, scrollback.Thinking{Effort: "medium"}, pair[0], pair[1])
		k.turns(testlength.Choose(30, 30, 40), func(turn, step int) string {
			if turn > 10 && turn < 25 || turn%7 == 3 && step%2 == 1 {
				return pair[1]
			}
			return pair[0]
		})
		k.noneRefused()
		if len(k.lessons) > 0 || k.thought == 0 {
			t.Errorf("%v: lessons %q, %d pieces of reasoning", pair, k.lessons, k.thought)
		}
	}
}

// What a fold changes before thinking is told once, and kept.
func TestBoundThinking(t *testing.T) {
	const name = "claude-opus-5-5"
	k := newTalk(t, scrollback.Thinking{}, name)
	k.turns(10, func(int, int) string { return name })
	for fold := range 2 {
		at := slices.IndexFunc(k.items[4:], func(it scrollback.Item) bool { return it.Role == scrollback.RoleUser }) + 4
		k.items = slices.Concat(k.items[:1], []scrollback.Item{
			{Kind: scrollback.KindFolded, Layer: scrollback.LayerPlaceholders, Role: scrollback.RoleUser,
				Parts: scrollback.Parts{words(fmt.Sprintf("folded %d", fold))}},
			{Kind: scrollback.KindAck, Layer: scrollback.LayerPlaceholders, Role: scrollback.RoleAssistant,
				Parts: scrollback.Parts{words("Understood.")}},
		}, k.items[at:])
		k.turns(3, func(int, int) string { return name })
	}
	k.noneRefused("bound")
	if !slices.Equal(k.lessons, []string{"thinking.block_binding"}) {
		t.Errorf("lessons %q", k.lessons)
	}
}

// Thinking whose signature is refused is left out, now and at each later message;
// thinking that came after it goes back.
func TestSpoiledThinking(t *testing.T) {
	const name = "claude-opus-4-8"
	k := newTalk(t, scrollback.Thinking{Effort: "low"}, name)
	k.items = append(k.items, said(scrollback.RoleUser, scrollback.LayerMessages, "", words("Hi")),
		said(scrollback.RoleAssistant, scrollback.LayerMessages, "anthropic/"+name,
			thought("Hm.", `{"signature":"of another account"}`),
			words("Hello.")))
	k.turns(3, func(int, int) string { return name })
	if len(k.lessons) != 1 || len(k.strict.Refusals()) != 1 {
		t.Errorf("lessons %q, refused %v", k.lessons, k.strict.Refusals())
	}
	for _, r := range k.strict.Refusals() {
		if r.Rule != "signature" {
			t.Errorf("refused: %+v", r)
		}
	}
}

// A model that thinks in another form than its name says is asked in that form
// once it has said so.
func TestOtherForm(t *testing.T) {
	models := func(name, thinks, efforts string) *anthropicapi.Options {
		return &anthropicapi.Options{Models: []anthropicapi.Model{{Name: name, MaxInput: 90_000, MaxOutput: 6000,
			Thinks:  thinks,
			Efforts: efforts}}}
	}
	for _, c := range []struct {
		name, thinks, efforts string
		think                 scrollback.Thinking
		want                  string // what is learned
		sent                  string // of thinking, in the end
	}{
		{"claude-opus-9", "enabled disabled", "low", scrollback.Thinking{Effort: "low"}, "thinking.adaptive 6000",
			`"thinking":{"type":"enabled","budget_tokens":2048}`},
		{"claude-sonnet-4-5", "adaptive", "low medium high", scrollback.Thinking{Effort: "low"},
			"thinking.budget_tokens 6000",
			`"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}`},
		{"claude-sonnet-4-5", "", "low", scrollback.Thinking{Effort: "low"}, "thinking.budget_tokens thinking.adaptive 6000",
			""},
		{"claude-opus-4-8", "adaptive", "low", scrollback.Thinking{Effort: "none"}, "thinking.disabled 6000",
			`"output_config":{"effort":"low"}`},
		{"claude-opus-4-8", "adaptive", "", scrollback.Thinking{Effort: "xhigh"}, "output_config 6000",
			`"thinking":{"type":"adaptive","display":"summarized"}`},
		{"claude-opus-4-6", "adaptive", "low", scrollback.Thinking{Effort: "max"}, "output_config 6000",
			`"thinking":{"type":"adaptive","display":"summarized"}`},
		{"kimi-k3", "adaptive", "high", scrollback.Thinking{Effort: "high"}, "thinking.budget_tokens 6000",
			`"output_config":{"effort":"high"}`},
	} {
		s := anthropicapi.New(modeltest.NewScript(model.Facts{}, modeltest.Say("hi")), models(c.name, c.thinks, c.efforts))
		r := modeltest.PlainRequest()
		r.Thinking = c.think
		r.MaxOutputTokens = 8000
		a, err := modeltest.Read(serve(t, c.name, s).Stream(t.Context(), r))
		var got []string
		var most int64
		for _, d := range a.Deltas {
			if l := d.Lesson; l != nil && l.Drop != "" {
				got = append(got, l.Drop)
			} else if l != nil {
				most = l.MaxOutput
			}
		}
		bodies := s.Bodies()
		sent := string(bodies[len(bodies)-1])
		if learned := fmt.Sprint(strings.Join(got, " "), " ", most); err != nil || learned != c.want ||
			!strings.Contains(sent, c.sent) ||
			c.sent == "" && strings.Contains(sent, `"thinking"`) {
			t.Errorf("%s: %q, %v; sent %s", c.name, learned, err, sent)
		}
	}
}
