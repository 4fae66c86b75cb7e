package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/all"
)

// efforts are how much models are to think, where a conversation says so.
var efforts = map[string]string{"openai": "high", "xai": "low", "anthropic": "high", "gemini": "low",
	"deepseek":   "high",
	"openrouter": "medium", "dashscope": "high",
	"moonshot": "high", "ark": "low", "ollama": "high", "poe": "low"}

// question returns the i-th of a talk, in which everything happens that can.
func question(i int) string {
	marks := []string{"", "[look]", "[clock]", "[looks]", "[look] [clock]", "", "[both]"}[i%7]
	return fmt.Sprintf("Question %d %s: ", i, marks) +
		strings.Repeat(fmt.Sprintf("what of the harbour crane %d, 港口起重机? ", i), 9)
}

// A conversation of forty turns with each provider by its real client, over servers
// that refuse what the real ones do: with reasoning, look-ups, tools of the client's,
// images and folds in its middle, with the model's summaries first and then without.
// Nothing is refused but what has to be learned.
func TestFortyTurnsOnEveryPreset(t *testing.T) {
	for i, p := range all.Providers() {
		if i%testlength.Choose(3, 1, 1) != 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			fortyTurns(t, p.Name, enginetest.Options{})
		})
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		fortyTurns(t, "anthropic", enginetest.Options{Driver: openSQLite(t)})
	})
}

func fortyTurns(t *testing.T, preset string, o enginetest.Options) {
	ctx := context.Background()
	env := map[string]string{}
	turns := testlength.Choose(20, 28, 40)
	s := serve(t, preset, 1<<20, env)
	o.Models = finds(env)
	r := enginetest.New(t, o)
	c, _, err := r.Create(ctx, scrollback.Conversation{Model: s.name, Limit: 8000, Instructions: "Be brief, and 有礼貌.",
		Settings: scrollback.Settings{Tools: enginetest.ClockTool, ReasoningEffort: efforts[preset]}})
	if err != nil {
		t.Fatal(err)
	}
	folds := 0
	thought := 0
	policy := compact.Snapshot
	for i := range turns {
		if i == turns/2 {
			folds = checkFolds(t, r, c.ID, s.name, 0)
			policy = compact.Segments
		}
		req := engine.TurnRequest{Conversation: c.ID, Message: enginetest.Say(question(i)),
			Overrides: engine.Overrides{Policy: policy}}
		if i%6 == 3 {
			req.Message = append(req.Message, r.UploadImage(c.ID, i))
		}
		if tellsThought(t, ended(r, req)) {
			thought++
		}
		r.Engine.Rest()
	}
	folds += checkFolds(t, r, c.ID, scrollback.SummaryExtractive, folds)
	s.refused(t, taught[preset]...)
	s.steady(t, folds)
	if thought < turns*3/4 {
		t.Errorf("%d of %d turns show thoughts", thought, turns)
	}
	if wants := slices.Contains([]string{"openai", "xai", "moonshot", "workers-ai"},
		preset); wants != (s.line.asked()[0].cached() != "") {
		t.Errorf("it is told whose conversation it is: %v", !wants)
	}
	books, err := r.Usage(ctx, scrollback.UsageQuery{ByModel: true})
	if err != nil || len(books) != 1 || books[0].EstimatedShare != 0 || books[0].Model != s.name ||
		books[0].ReasoningTokens == 0 && preset != "ollama" {
		t.Errorf("the books say %+v, %v", books, err)
	}
}

// tellsThought reports whether a turn shows thoughts: then it says how long they took.
func tellsThought(t *testing.T, e enginetest.Outcome) bool {
	t.Helper()
	var ms int64
	for _, ev := range e.Events {
		if m, ok := ev.(scrollback.MetaEvent); ok {
			ms = max(ms, m.ThinkingMS)
		}
	}
	_, shown := enginetest.Last[scrollback.ReasoningEvent](e)
	if shown != (ms > 0) {
		t.Errorf("a turn shows thoughts: %v; and %d ms of them", shown, ms)
	}
	return shown
}

// checkFolds returns how many folds there were beside those before, two or more, each
// with a summary by whom it should be.
func checkFolds(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID, by string, before int) (folds int) {
	t.Helper()
	receipts, err := r.Receipts(context.Background(), id, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range receipts[:len(receipts)-before] { // the newest come first
		if folds++; f.Result != scrollback.ResultCompacted || f.SummaryBy != by {
			t.Errorf("a fold ended %s, its summary is by %s (%s)", f.Result, f.SummaryBy, f.SummaryResult)
		}
	}
	if folds < testlength.Choose(1, 2, 2) {
		t.Errorf("%d folds with summaries by %s", folds, by)
	}
	return folds
}

// cached returns where a request says whose conversation it is.
func (x *exchange) cached() string {
	var body struct {
		Key string `json:"prompt_cache_key"`
	}
	_ = json.Unmarshal(x.body, &body) // it was judged
	return body.Key + x.head.Get("X-Grok-Conv-Id") + x.head.Get("X-Session-Affinity")
}

// spoken returns what a request says: the tools, and each message. Marks of a cache are
// no part of it.
func (x *exchange) spoken(t *testing.T) (tools string, messages []string) {
	t.Helper()
	var body map[string]json.RawMessage
	var list []json.RawMessage
	if err := json.Unmarshal(x.body, &body); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "input", "contents"} {
		if raw, ok := body[name]; ok {
			if err := json.Unmarshal(raw, &list); err != nil {
				t.Fatal(err)
			}
		}
	}
	unmarked := func(raw json.RawMessage) string {
		return oneText.ReplaceAllString(cacheMark.ReplaceAllString(string(raw), ""), `"content":$1`)
	}
	for _, raw := range list {
		messages = append(messages, unmarked(raw))
	}
	return unmarked(body["tools"]) + unmarked(body["system"]) + unmarked(body["systemInstruction"]), messages
}

// cacheMark is a mark of a cache, and oneText a content that is a list to bear one.
var (
	cacheMark = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)
	oneText   = regexp.MustCompile(`"content":\[\{"type":"text","text":("(?:[^"\\]|\\.)*")\}\]`)
)

// steady holds each request of a turn against the one before: it begins alike
// but behind a fold, says the same of who asks, and has the same tools.
func (s *served) steady(t *testing.T, folds int) {
	t.Helper()
	var tools, key string
	var before []string
	breaks := 0
	turns := 0
	for _, x := range s.line.asked() {
		if x.head.Get("User-Agent") != "scrollback/test" {
			t.Fatalf("a request is of %q", x.head.Get("User-Agent"))
		}
		if !x.turn() || x.status != 200 {
			continue
		}
		said, messages := x.spoken(t)
		if turns++; turns > 1 && (said != tools || x.cached() != key) {
			t.Fatalf("request %d begins with\n%s\n%s\nand the one before with\n%s\n%s", turns, said, x.cached(), tools, key)
		}
		if len(messages) < len(before) || !slices.Equal(messages[:len(before)], before) {
			breaks++
		}
		tools = said
		key = x.cached()
		before = messages
	}
	if breaks > folds || turns < 30 {
		t.Errorf("of %d requests %d began otherwise than the one before, in %d folds", turns, breaks, folds)
	}
}

// given finds what a server gives out to be sent back to it alone.
var given = regexp.MustCompile(`"(?:signature|thoughtSignature|encrypted_content|data)":"([^"]{5,})"|"id":"((?:rs|fc|msg)_[^"]+)"`)

// One conversation goes from model to model, through all providers and through all
// again: nobody refuses what others said, and nobody is told what others thought, or
// what they gave out for themselves.
func TestProviderChangesAmidConversation(t *testing.T) {
	env := map[string]string{}
	r := enginetest.New(t, enginetest.Options{Models: finds(env)})
	sides := map[string]*served{}
	names := all.ProviderNames()
	for _, name := range names {
		sides[name] = serve(t, name, 1<<20, env)
		sides[name].says.words = 12
	}
	c, _, err := r.Create(context.Background(),
		scrollback.Conversation{Model: "custom/m", Limit: 200_000, Instructions: "Be brief.",
			Settings: scrollback.Settings{Tools: enginetest.ClockTool}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 11))
	n := 0
	rounds := testlength.Choose(1, 2, 2)
	for range rounds {
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			for _, marks := range []string{"[look] [clock]", "[looks]"} {
				parts := enginetest.Say(fmt.Sprintf("Question %d %s of the crane %d?", n, marks, n))
				if n%9 == 4 {
					parts = append(parts, r.UploadImage(c.ID, n))
				}
				ended(r, engine.TurnRequest{Conversation: c.ID, Message: parts, Overrides: engine.Overrides{Model: sides[name].name,
					Thinking: scrollback.Thinking{Effort: efforts[name]}}})
				n++
			}
		}
	}
	back := 0
	secrets := 0
	bodies := map[string][]byte{}
	for name, s := range sides {
		s.refused(t, taught[name]...)
		bodies[name] = s.line.bodies()
	}
	for name, s := range sides {
		own := map[string]bool{s.says.secret() + ",": true}
		for _, x := range s.line.asked() {
			for _, m := range given.FindAllStringSubmatch(x.answer(), -1) {
				own[m[1]+m[2]] = true
			}
		}
		secrets += len(own)
		for secret := range own {
			for other, body := range bodies {
				switch found := bytes.Contains(body, []byte(secret)); {
				case found && other != name:
					t.Fatalf("%s is told %q of %s", other, secret, name)
				case found:
					back++
				}
			}
		}
	}
	if back < 20*rounds || secrets < 50*rounds {
		t.Errorf("of %d secrets %d went back to whom they are of", secrets, back)
	}
}
