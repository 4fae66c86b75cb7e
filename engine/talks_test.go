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
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/all"
)

// efforts are how much models are to think, where a conversation says so.
var efforts = map[string]string{"openai": "high", "xai": "low", "anthropic": "high", "gemini": "low", "deepseek": "high", "openrouter": "medium", "dashscope": "high",
	"moonshot": "high", "ark": "low", "ollama": "high", "poe": "low"}

// question is the i-th of a talk, in which everything happens that can.
func question(i int) string {
	marks := []string{"", "[look]", "[clock]", "[looks]", "[look] [clock]", "", "[both]"}[i%7]
	return fmt.Sprintf("Question %d %s: ", i, marks) + strings.Repeat(fmt.Sprintf("what of the harbour crane %d, 港口起重机? ", i), 9)
}

// A conversation of forty turns with each provider by its real client, over servers
// that refuse what the real ones do: with reasoning, look-ups, tools of the client's,
// images and folds in its middle. Nothing is refused but what has to be learned.
func TestFortyTurnsOnEveryPreset(t *testing.T) {
	for i, p := range all.Providers() {
		for k, policy := range []string{compact.Snapshot, compact.Segments} {
			if testing.Short() && i%2 != k {
				continue
			}
			t.Run(p.Name+"/"+policy, func(t *testing.T) {
				t.Parallel()
				fortyTurns(t, p.Name, policy, rigOptions{})
			})
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		fortyTurns(t, "anthropic", compact.Snapshot, rigOptions{driver: openSQLite(t)})
	})
}

func fortyTurns(t *testing.T, preset, policy string, o rigOptions) {
	ctx, env := context.Background(), map[string]string{}
	s := serve(t, preset, 1<<20, env)
	o.models = finds(env)
	r := newRig(t, o)
	c, _, err := r.Create(ctx, scrollback.Conversation{Model: s.name, Policy: policy, Limit: 12_000, Instructions: "Be brief, and 有礼貌.",
		Settings: scrollback.Settings{Tools: clock, ReasoningEffort: efforts[preset]}})
	if err != nil {
		t.Fatal(err)
	}
	thought := 0
	for i := range 40 {
		parts := say(question(i))
		if i%6 == 3 {
			parts = append(parts, r.picture(c.ID, i))
		}
		e := r.ended(engine.TurnRequest{Conversation: c.ID, Message: parts})
		var ms int64
		for _, ev := range e.events {
			if m, ok := ev.(scrollback.MetaEvent); ok {
				ms = max(ms, m.ThinkingMS)
			}
		}
		_, shown := last[scrollback.ReasoningEvent](e)
		if shown {
			thought++
		}
		if shown != (ms > 0) {
			t.Errorf("turn %d shows thoughts: %v; and %d ms of them", i, shown, ms)
		}
		r.Rest()
	}
	if thought < 30 {
		t.Errorf("%d turns show thoughts", thought)
	}
	s.refused(t, taught[preset]...)
	folds := checkFolds(t, r, c.ID, s, policy)
	checkSteady(t, s, preset, folds)
	books, err := r.Usage(ctx, scrollback.UsageQuery{ByModel: true})
	if err != nil || len(books) != 1 || books[0].EstimatedShare != 0 || books[0].Model != s.name || books[0].ReasoningTokens == 0 && preset != "ollama" {
		t.Errorf("the books say %+v, %v", books, err)
	}
}

// checkFolds is how many folds there were, each with the model's summary where the
// policy wants one.
func checkFolds(t *testing.T, r *rig, id scrollback.ConversationID, s *served, policy string) (folds int) {
	t.Helper()
	receipts, err := r.Receipts(context.Background(), id, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range receipts {
		if f.Result == scrollback.FoldCompacted {
			folds++
		}
		if by := f.SummaryBy; (by == s.name) != (policy == compact.Snapshot) {
			t.Errorf("a fold ended %s, its summary is by %s (%s)", f.Result, by, f.SummaryResult)
		}
	}
	if folds < 2 {
		t.Errorf("%d folds in forty turns", folds)
	}
	return folds
}

// cached is where a request says whose conversation it is.
func (x *exchange) cached() string {
	var body struct {
		Key string `json:"prompt_cache_key"`
	}
	_ = json.Unmarshal(x.body, &body) // it was judged
	return body.Key + x.head.Get("X-Grok-Conv-Id") + x.head.Get("X-Session-Affinity")
}

// spoken is what a request says: the tools, and each message. Marks of a cache are
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

// checkSteady holds each request of a turn against the one before: it begins alike
// but behind a fold and a lesson, says the same of who asks, and has the same tools.
func checkSteady(t *testing.T, s *served, preset string, folds int) {
	t.Helper()
	var tools, key string
	var before []string
	breaks, turns := 0, 0
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
		tools, key, before = said, x.cached(), messages
	}
	if most := folds + len(s.server.Refusals()); breaks > most || turns < 60 {
		t.Errorf("of %d requests %d began otherwise than the one before, in %d folds and lessons", turns, breaks, most)
	}
	if wants := slices.Contains([]string{"openai", "xai", "moonshot", "workers-ai"}, preset); wants != (key != "") {
		t.Errorf("%s is told whose conversation it is by %q", preset, key)
	}
}

// given finds what a server gives out to be sent back to it alone.
var given = regexp.MustCompile(`"(?:signature|thoughtSignature|encrypted_content|data)":"([^"]{5,})"|"id":"((?:rs|fc|msg)_[^"]+)"`)

// One conversation goes from model to model, through all providers and through all
// again: nobody refuses what others said, and nobody is told what others thought, or
// what they gave out for themselves.
func TestProviderChangesAmidConversation(t *testing.T) {
	env := map[string]string{}
	r := newRig(t, rigOptions{models: finds(env)})
	sides := map[string]*served{}
	names := all.Names()
	for _, name := range names {
		sides[name] = serve(t, name, 1<<20, env)
	}
	c, _, err := r.Create(context.Background(), scrollback.Conversation{Model: "custom/m", Limit: 200_000, Instructions: "Be brief.", Settings: scrollback.Settings{Tools: clock}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 11))
	n := 0
	for range 2 {
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			for _, marks := range []string{"[look] [clock]", "[looks]"} {
				parts := say(fmt.Sprintf("Question %d %s of the crane %d?", n, marks, n))
				if n%9 == 4 {
					parts = append(parts, r.picture(c.ID, n))
				}
				r.ended(engine.TurnRequest{Conversation: c.ID, Message: parts, Shape: engine.Shape{Model: sides[name].name, Thinking: model.Thinking{Effort: efforts[name]}}})
				n++
			}
		}
	}
	back, secrets := 0, 0
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
	if back < 60 || secrets < 100 {
		t.Errorf("of %d secrets %d went back to whom they are of", secrets, back)
	}
}
