package window_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

const (
	user      = scrollback.RoleUser
	assistant = scrollback.RoleAssistant
	tool      = scrollback.RoleTool
	system    = scrollback.RoleSystem
)

func item(role scrollback.Role, parts ...scrollback.Part) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindMessage, Role: role, Parts: parts}
}

func text(s string) scrollback.Part { return scrollback.Text{Text: s} }

func call(id string) scrollback.Part { return named(id, "f") }

func named(id, name string) scrollback.Part {
	return scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(`{}`)}
}

func arguments(s string) scrollback.Part {
	return scrollback.ToolCall{ID: "a", Name: "f", Arguments: json.RawMessage(s)}
}

func result(id string) scrollback.Part { return scrollback.ToolResult{CallID: id, Name: "f"} }

func speaker(name string) scrollback.Item {
	it := item(user, text("hi"))
	it.Name = name
	return it
}

func png(p scrollback.Image) scrollback.Item {
	if p.MediaType == "" {
		p.MediaType = "image/png"
	}
	return item(user, p)
}

// breach is a window that breaks one rule in each dialect that has it, and no
// rule in the others; in names the only dialects it is for.
type breach struct {
	rule  string // empty: it passes
	items []scrollback.Item
	tools []scrollback.Tool
	in    string
}

func breaches() map[string]breach {
	ask := item(user, text("hi"))
	answer := item(assistant, text("hello"))
	done := item(tool, result("a"))
	calls := item(assistant, call("a"))
	signed := scrollback.Reasoning{Text: "hm", Opaque: json.RawMessage(`"s"`)}
	items := func(its ...scrollback.Item) []scrollback.Item { return its }
	around := func(p scrollback.Part) []scrollback.Item { return items(ask, item(assistant, p), done) }
	return map[string]breach{
		"fine": {items: items(item(system, text("s")), scrollback.Item{Kind: scrollback.KindTools, Role: system}, ask,
			item(assistant, signed, text("so"), call("a"), call("b")), item(tool, result("a"), result("b")), answer,
			speaker("小明"))},
		"unknown role": {rule: "role", items: items(ask, answer,
			item("developer", text("x"), scrollback.Image{MediaType: "image/png"}),
			ask)},
		"no parts":       {rule: "empty", items: items(item(user))},
		"text of a tool": {rule: "place", items: items(ask, calls, item(tool, result("a"), text("x")))},
		"image of an assistant": {rule: "place",
			items: items(ask, item(assistant, scrollback.Image{MediaType: "image/png"}), ask)},
		"image of the system":    {rule: "place", items: items(item(system, scrollback.Image{MediaType: "image/png"}), ask)},
		"file of a tool":         {rule: "place", items: items(ask, calls, item(tool, result("a"), scrollback.File{}))},
		"call by a user":         {rule: "place", items: items(item(user, call("a")))},
		"reasoning of a user":    {rule: "place", items: items(item(user, signed))},
		"result by a user":       {rule: "place", items: items(item(user, result("a")))},
		"image and file":         {items: items(item(user, scrollback.Image{MediaType: "image/png"}, scrollback.File{}))},
		"half a character":       {rule: "well-formed", items: around(arguments(`{"x":"\ud83d"}`))},
		"bytes of a text":        {rule: "well-formed", items: items(item(user, text("a\xff")))},
		"empty text":             {rule: "empty-text", items: items(item(user, text("")))},
		"white space":            {rule: "blank-text", items: items(item(user, text("x"), text(" \n\u3000\x1f")))},
		"half a call":            {rule: "arguments", items: around(arguments(`{"x":`))},
		"no arguments":           {rule: "arguments", items: around(arguments(``))},
		"a list of arguments":    {rule: "object-arguments", items: around(arguments(`[1]`))},
		"arguments after blanks": {items: around(arguments(" \n{} "))},
		"unsigned": {rule: "reasoning-signed", items: items(ask, item(assistant, scrollback.Reasoning{Text: "hm"}, text("x")),
			ask)},
		"signed with null": {rule: "reasoning-signed", items: items(ask, item(assistant,
			scrollback.Reasoning{Text: "hm", Opaque: json.RawMessage("null")}, text("x")), ask)},
		"thought of late":     {items: items(ask, item(assistant, text("x"), signed, call("a")), done)},
		"no id":               {rule: "call-id", items: items(ask, item(assistant, call("")), item(tool, result("")))},
		"one id twice":        {rule: "call-id", items: items(ask, item(assistant, call("a"), call("a")), done)},
		"one id again":        {rule: "unique-ids", items: items(ask, calls, done, calls, done)},
		"stray result":        {rule: "orphan", items: items(ask, answer, done)},
		"result twice":        {rule: "orphan", items: items(ask, calls, item(tool, result("a"), result("a")))},
		"result twice, apart": {rule: "orphan", items: items(ask, calls, done, done), in: "openai"},
		"result too late":     {rule: "orphan", items: items(ask, calls, done, answer, done)},
		"unanswered": {rule: "answered",
			items: items(ask, item(assistant, call("a"), call("b")), done, answer, ask)},
		"unanswered by a user":  {rule: "answered", items: items(ask, calls, ask)},
		"unanswered at the end": {rule: "answered", items: items(ask, item(assistant, call("a"), call("b")), done)},
		"results apart": {rule: "results-together", items: items(ask, item(assistant, call("a"), call("b")), done,
			item(tool, result("b")))},
		"user behind results": {rule: "results-alone", items: items(ask, calls, done, ask)},
		"results in disorder": {rule: "results-in-order", items: items(ask, item(assistant, call("a"), call("b")),
			item(tool, result("b"), result("a")))},
		"result misnamed":        {rule: "result-name", items: items(ask, item(assistant, named("a", "g")), done)},
		"system among turns":     {rule: "system-front", items: items(ask, answer, item(system, text("s")), ask)},
		"system at the end":      {rule: "system-front", items: items(ask, item(system, text("s")))},
		"a system item":          {rule: "no-system", items: items(item(system, text("s")), ask), in: "no-system"},
		"two users":              {rule: "turns", items: items(ask, ask)},
		"two assistants":         {rule: "turns", items: items(ask, answer, answer, ask)},
		"assistant first":        {rule: "user-first", items: items(item(system, text("s")), answer, ask)},
		"assistant first of all": {rule: "user-first", items: items(answer, ask)},
		"assistant last":         {rule: "user-last", items: items(ask, answer)},
		"system only":            {rule: "something", items: items(item(system, text("s")))},
		"nothing":                {rule: "something"},
		"id with a colon": {rule: "id-spelling", items: items(ask, item(assistant, call("f:0")), item(tool, result("f:0"))),
			in: "anthropic"},
		"id of 41 characters": {rule: "id-spelling", items: items(ask, item(assistant, call(strings.Repeat("记", 41))),
			item(tool, result(strings.Repeat("记", 41)))), in: "openai strict no-system"},
		"id of 40 characters": {items: items(ask, item(assistant, call(strings.Repeat("记", 40))),
			item(tool, result(strings.Repeat("记", 40)))), in: "openai gemini strict no-system"},
		"name with a blank": {rule: "name-spelling", items: items(ask, item(assistant, named("a", "a b")),
			item(tool, scrollback.ToolResult{CallID: "a", Name: "a b"}))},
		"no name": {rule: "name-spelling", items: items(ask, item(assistant, named("a", "")),
			item(tool, scrollback.ToolResult{CallID: "a"}))},
		"name with a first digit": {rule: "name-spelling", items: items(ask, item(assistant, named("a", "7z")),
			item(tool, scrollback.ToolResult{CallID: "a", Name: "7z"})), in: "gemini"},
		"name of a tool": {items: items(ask, item(assistant, named("a", "天气")),
			item(tool, scrollback.ToolResult{CallID: "a", Name: "天气"})), tools: []scrollback.Tool{{Name: "天气"}}},
		"speaker with a blank":  {rule: "speaker-spelling", items: items(speaker("Ada Lovelace"))},
		"icon":                  {rule: "image-type", items: items(png(scrollback.Image{MediaType: "image/x-icon"}))},
		"image far away":        {rule: "image-place", items: items(png(scrollback.Image{URL: "https://e.example/cat"}))},
		"image of 4 MB":         {rule: "image-bytes", items: items(png(scrollback.Image{Size: 4_000_000}))},
		"image of 8,001 pixels": {rule: "image-side", items: items(png(scrollback.Image{Width: 10, Height: 8001}))},
	}
}

// Each broken window breaks its rule and no other, and each rule has one that
// breaks it, in each dialect that has the rule.
func TestEachRule(t *testing.T) {
	broken := map[string]bool{}
	for name, c := range breaches() {
		w := scrollback.Window{Items: c.items, Tools: c.tools}
		for _, d := range append(window.Dialects(), scrollback.Dialect{}) {
			if c.in != "" && !strings.Contains(c.in, d.Name) || c.in != "" && d.Name == "" {
				continue
			}
			if d.NoSystem && c.rule != "no-system" &&
				slices.ContainsFunc(c.items, func(it scrollback.Item) bool {
					return it.Role == system && it.Kind != scrollback.KindTools
				}) {
				continue // it breaks that rule too
			}
			var got []string
			want := []string(nil)
			for _, r := range window.Rules() {
				if _, how := r.FindBreach(w, d); how != "" {
					got = append(got, r.Name)
				}
				if r.Name == c.rule && r.AppliesTo(d) {
					want = []string{r.Name}
					broken[d.Name+" "+r.Name] = true
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %q: breaks %v, want %v", name, d.Name, got, want)
			}
			err := window.Lint(w, d)
			if (err == nil) != (want == nil) || err != nil && !strings.HasPrefix(err.Error(), "rule "+c.rule+": ") {
				t.Errorf("%s, %q: %v, want %v", name, d.Name, err, want)
			}
		}
	}
	for _, r := range window.Rules() {
		held := false
		for _, d := range window.Dialects() {
			held = held || r.AppliesTo(d)
			if r.AppliesTo(d) && !broken[d.Name+" "+r.Name] {
				t.Errorf("no case breaks %s in %s", r.Name, d.Name)
			}
		}
		if !held {
			t.Errorf("%s holds for nobody", r.Name)
		}
	}
}

// The first breach is that of the first item, and it is named.
func TestLintNamesTheFirst(t *testing.T) {
	bad := item(user, text(""))
	bad.Seq = 7
	w := scrollback.Window{Items: []scrollback.Item{item(user, text("x")), bad, item("nobody", text("x"))}}
	const want = "rule empty-text: item 1 (message, #7): a text is empty"
	if err := window.Lint(w, window.OpenAI()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := window.Lint(scrollback.Window{}, window.Gemini()); err == nil ||
		err.Error() != "rule something: the end: there is no turn" {
		t.Errorf("nothing at all: %v", err)
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct{ limit, output, tokens, reserve int64 }{
		{2000, 0, 1500, 500}, {32_000, 0, 24_000, 8000}, {32_000, 4096, 27_904, 4096}, {128_000, 0, 96_000, 32_000},
		{200_000, 0, 168_000, 32_000}, {200_000, 64_000, 168_000, 32_000}, {1_000_000, 8192, 991_808, 8192}, {3, 0, 3, 0},
	} {
		b := window.NewBudget(c.limit, c.output)
		if b.Tokens != c.tokens || b.Reserve != c.reserve || b.Limit != c.limit || b.Bytes != window.MaxBytes ||
			b.Images != window.MaxImages {
			t.Errorf("%d of %d: %+v", c.output, c.limit, b)
		}
	}
	b := scrollback.Budget{Weight: scrollback.Weight{Tokens: 10, Bytes: 100, Images: 2}}
	for _, c := range []struct {
		w          scrollback.Weight
		fits, over bool // 0.9 is reached
	}{
		{scrollback.Weight{}, true, false}, {scrollback.Weight{Tokens: 8, Bytes: 89, Images: 1}, true, false},
		{scrollback.Weight{Tokens: 9}, true, true},
		{scrollback.Weight{Bytes: 90}, true, true}, {scrollback.Weight{Images: 2}, true, true},
		{scrollback.Weight{Tokens: 11}, false, true},
		{scrollback.Weight{Bytes: 101}, false, true}, {scrollback.Weight{Images: 3}, false, true},
	} {
		if got := window.Fits(c.w, b); got != c.fits {
			t.Errorf("%+v fits: %v", c.w, got)
		}
		if got := window.ReachesShare(c.w, b, 0.9); got != c.over {
			t.Errorf("%+v is over: %v", c.w, got)
		}
	}
}

// What is reused counts up to the layer that changes.
func TestReuse(t *testing.T) {
	in := window.Input{Instructions: "s", InstructionsWeight: scrollback.Weight{Tokens: 10},
		Tools:       []scrollback.Tool{{Name: "f"}},
		ToolsWeight: scrollback.Weight{Tokens: 10},
		Segments:    []scrollback.Segment{{ID: "a", Placeholder: "p", TokensAfter: 16}},
		Live: []scrollback.Message{{Seq: 5, Role: scrollback.RoleUser, Parts: scrollback.Parts{text("hi")},
			Weight: scrollback.Weight{Tokens: 20}}}}
	was := window.Assemble(in) // 20 of instructions and tools, 16 folded and their frame, 20 live
	mark := window.TakeFingerprint(was, nil).Mark()
	for name, c := range map[string]struct {
		edit func(*window.Input)
		want float64
	}{
		"nothing": {func(*window.Input) {}, 1},
		"a new fold": {func(in *window.Input) {
			in.Segments = []scrollback.Segment{{ID: "a", Placeholder: "q", TokensAfter: 16}}
		}, 20.0 / (56 + window.FoldTokens)},
		"instructions": {func(in *window.Input) { in.Instructions = "t" }, 0},
		"tools":        {func(in *window.Input) { in.Tools = []scrollback.Tool{{Name: "g"}} }, 0},
		"live":         {func(in *window.Input) { in.Live = nil }, 1},
		"another live": {func(in *window.Input) {
			in.Live = []scrollback.Message{{Seq: 5, Role: scrollback.RoleUser, Parts: scrollback.Parts{text("ho")},
				Weight: scrollback.Weight{Tokens: 20}}}
		}, (36.0 + window.FoldTokens) / (56 + window.FoldTokens)},
	} {
		next := in
		c.edit(&next)
		fresh := window.TakeFingerprint(window.Assemble(next), nil)
		if got := fresh.ReusedShare(mark); got != c.want {
			t.Errorf("%s: reuse %v, want %v", name, got, c.want)
		}
		again := window.TakeFingerprint(window.Assemble(next), window.TakeFingerprint(was, nil))
		if again.Hash() != fresh.Hash() || !reflect.DeepEqual(again.Mark(), fresh.Mark()) {
			t.Errorf("%s: behind another window it is %+v, by itself %+v", name, again.Mark(), fresh.Mark())
		}
	}
	if window.TakeFingerprint(was, nil).ReusedShare(nil) != 0 ||
		window.TakeFingerprint(scrollback.Window{}, nil).ReusedShare(mark) != 0 {
		t.Error("something was reused of nothing")
	}
	once := was
	once.Items = append(once.Items[:len(once.Items):len(once.Items)], scrollback.Item{Kind: scrollback.KindRequestOnly,
		Layer: scrollback.LayerRequestOnly,
		Role:  scrollback.RoleUser, Parts: scrollback.Parts{text("web")}, Weight: scrollback.Weight{Tokens: 5}})
	if got := window.TakeFingerprint(once, nil).Mark(); got.Hash != mark.Hash || got.Items != mark.Items || got.Tokens != mark.Tokens {
		t.Errorf("what is for one request only is marked: %+v", got)
	}
}

// An interrupted answer is not sent as the last word of a request for it; with anything
// said after it, it is.
func TestAskedAgain(t *testing.T) {
	log := []scrollback.Message{
		{Seq: 1, Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "q"}}},
		{Seq: 2, Role: scrollback.RoleAssistant, Status: scrollback.StatusInterrupted,
			Parts: scrollback.Parts{scrollback.Text{Text: "half"}}},
	}
	w := window.Assemble(window.Input{Live: log, PromptSeq: 2})
	if len(w.Items) != 1 || len(w.Excluded) != 1 || w.Excluded[0].Reason != "unfinished" {
		t.Errorf("asked again: %+v, %+v", w.Items, w.Excluded)
	}
	log = append(log, scrollback.Message{Seq: 3, Role: scrollback.RoleUser,
		Parts: scrollback.Parts{scrollback.Text{Text: "go on"}}})
	if w := window.Assemble(window.Input{Live: log, PromptSeq: 3}); len(w.Items) != 3 || len(w.Excluded) != 0 {
		t.Errorf("gone on from: %+v, %+v", w.Items, w.Excluded)
	}
}
