package window_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

func item(role scrollback.Role, parts ...scrollback.Part) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindMessage, Role: role, Parts: parts}
}

func text(s string) scrollback.Part { return scrollback.Text{Text: s} }

func call(id string) scrollback.Part {
	return scrollback.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(`{}`)}
}

func result(id string) scrollback.Part { return scrollback.ToolResult{CallID: id, Name: "f"} }

// Each broken window breaks one rule, in both dialects unless it says otherwise.
func TestLint(t *testing.T) {
	const user, assistant, tool, system = scrollback.RoleUser, scrollback.RoleAssistant, scrollback.RoleTool, scrollback.RoleSystem
	ask, answer := item(user, text("hi")), item(assistant, text("hello"))
	items := func(its ...scrollback.Item) []scrollback.Item { return its }
	for name, c := range map[string]struct {
		items   []scrollback.Item
		want    string // empty: it passes
		strict  string // the same for the alternating dialect, when it differs
		maximum int64
	}{
		"fine":                 {items: items(item(system, text("s")), scrollback.Item{Kind: scrollback.KindTools, Role: system}, ask, item(assistant, call("a"), call("b")), item(tool, result("b")), item(tool, result("a")), answer)},
		"nothing":              {},
		"role":                 {items: items(item("developer", text("x"))), want: "unknown role"},
		"empty":                {items: items(item(user)), want: "it is empty"},
		"empty text":           {items: items(item(user, text(""))), want: "may not stand"},
		"text of a tool":       {items: items(ask, item(assistant, call("a")), item(tool, text("x"))), want: "may not stand"},
		"image of assistant":   {items: items(ask, item(assistant, scrollback.Image{})), want: "Image may not stand"},
		"image of a user":      {items: items(item(user, scrollback.Image{}, scrollback.File{}))},
		"file of system":       {items: items(item(system, scrollback.File{})), want: "File may not stand"},
		"call by a user":       {items: items(item(user, call("a"))), want: "ToolCall may not stand"},
		"call without id":      {items: items(ask, item(assistant, call(""))), want: "ToolCall may not stand"},
		"call twice":           {items: items(ask, item(assistant, call("a"), call("a"))), want: "ToolCall may not stand"},
		"half a call":          {items: items(ask, item(assistant, scrollback.ToolCall{ID: "a", Arguments: json.RawMessage(`{`)})), want: "ToolCall may not stand"},
		"result by assistant":  {items: items(ask, item(assistant, result("a"))), want: "ToolResult may not stand"},
		"result without id":    {items: items(ask, item(assistant, call("a")), item(tool, result(""))), want: "ToolResult may not stand"},
		"result twice at once": {items: items(ask, item(assistant, call("a")), item(tool, result("a"), result("a"))), want: "ToolResult may not stand"},
		"result twice":         {items: items(ask, item(assistant, call("a")), item(tool, result("a")), item(tool, result("a"))), want: `result "a" answers no open call`},
		"stray result":         {items: items(ask, answer, item(tool, result("a"))), want: `result "a" answers no open call`},
		"result too late":      {items: items(ask, item(assistant, call("a")), item(tool, result("a")), answer, item(tool, result("a"))), want: `result "a" answers no open call`},
		"reasoning of a user":  {items: items(item(user, scrollback.Reasoning{Text: "x"})), want: "Reasoning may not stand"},
		"unanswered":           {items: items(ask, item(assistant, call("a"), call("b")), item(tool, result("a")), ask), want: `call "b" is not answered before it`},
		"unanswered at end":    {items: items(ask, item(assistant, call("a"))), want: `the last item: call "a" is not answered`},
		"two users":            {items: items(ask, ask), strict: "two user items in a row"},
		"two users, system":    {items: items(ask, item(system, text("s")), ask), strict: "two user items in a row"},
		"two assistants":       {items: items(ask, answer, answer), strict: "two assistant items in a row"},
		"assistant first":      {items: items(item(system, text("s")), answer, ask), strict: "the assistant speaks first"},
		"tool between":         {items: items(ask, item(assistant, call("a")), item(tool, result("a")), ask)},
		"too big":              {items: items(item(user, text("four"), text("fives"))), want: "5 bytes is over the provider's 4", maximum: 4},
		"big image":            {items: items(item(user, scrollback.Image{Size: 5})), want: "5 bytes is over", maximum: 4},
		"big file":             {items: items(item(user, scrollback.File{Size: 5})), maximum: 4},
		"big result":           {items: items(ask, item(assistant, call("a")), item(tool, scrollback.ToolResult{CallID: "a", Text: "fives"})), want: "5 bytes is over", maximum: 4},
		"big call":             {items: items(ask, item(assistant, scrollback.ToolCall{ID: "a", Arguments: json.RawMessage(`"fiv"`)})), want: "5 bytes is over", maximum: 4},
		"big reasoning":        {items: items(ask, item(assistant, scrollback.Reasoning{Text: "fives"})), want: "5 bytes is over", maximum: 4},
	} {
		for _, alternates := range []bool{false, true} {
			want := c.want
			if alternates && c.strict != "" {
				want = c.strict
			}
			err := window.Lint(scrollback.Window{Items: c.items}, scrollback.Dialect{Alternates: alternates, MaxPartBytes: c.maximum})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s (alternates: %v): %v, want %q", name, alternates, err, want)
			}
		}
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct{ limit, output, tokens, reserve int64 }{
		{2000, 0, 1500, 500}, {32_000, 0, 24_000, 8000}, {32_000, 4096, 27_904, 4096}, {128_000, 0, 96_000, 32_000},
		{200_000, 0, 168_000, 32_000}, {200_000, 64_000, 168_000, 32_000}, {1_000_000, 8192, 991_808, 8192}, {3, 0, 3, 0},
	} {
		b := window.NewBudget(c.limit, c.output)
		if b.Tokens != c.tokens || b.Reserve != c.reserve || b.Limit != c.limit || b.Bytes != window.MaxBytes || b.Images != window.MaxImages {
			t.Errorf("%d of %d: %+v", c.output, c.limit, b)
		}
	}
	b := scrollback.Budget{Weight: scrollback.Weight{Tokens: 10, Bytes: 100, Images: 2}}
	for _, c := range []struct {
		w          scrollback.Weight
		fits, over bool // over 0.9
	}{
		{scrollback.Weight{}, true, false}, {scrollback.Weight{Tokens: 9, Bytes: 90, Images: 1}, true, false}, {scrollback.Weight{Tokens: 10}, true, true},
		{scrollback.Weight{Bytes: 91}, true, true}, {scrollback.Weight{Images: 2}, true, true}, {scrollback.Weight{Tokens: 11}, false, true},
		{scrollback.Weight{Bytes: 101}, false, true}, {scrollback.Weight{Images: 3}, false, true},
	} {
		if got := window.Fits(c.w, b); got != c.fits {
			t.Errorf("%+v fits: %v", c.w, got)
		}
		if got := window.Over(c.w, b, 0.9); got != c.over {
			t.Errorf("%+v is over: %v", c.w, got)
		}
	}
}

// What is reused is counted to the layer where the change is.
func TestReuse(t *testing.T) {
	in := window.Input{Instructions: "s", InstructionsWeight: scrollback.Weight{Tokens: 10}, Tools: []scrollback.Tool{{Name: "f"}}, ToolsWeight: scrollback.Weight{Tokens: 10},
		Segments: []scrollback.Segment{{ID: "a", Placeholder: "p", TokensAfter: 16}},
		Live:     []scrollback.Message{{Seq: 5, Role: scrollback.RoleUser, Parts: scrollback.Parts{text("hi")}, Weight: scrollback.Weight{Tokens: 20}}}}
	was := window.Assemble(in) // 20 of instructions and tools, 80 folded, 20 live
	mark := window.Mark(was)
	for name, c := range map[string]struct {
		edit func(*window.Input)
		want float64
	}{
		"nothing": {func(*window.Input) {}, 1},
		"a new fold": {func(in *window.Input) {
			in.Segments = []scrollback.Segment{{ID: "a", Placeholder: "q", TokensAfter: 16}}
		}, 20.0 / 120},
		"instructions": {func(in *window.Input) { in.Instructions = "t" }, 0},
		"tools":        {func(in *window.Input) { in.Tools = []scrollback.Tool{{Name: "g"}} }, 0},
		"live":         {func(in *window.Input) { in.Live = nil }, 1},
		"another live": {func(in *window.Input) {
			in.Live = []scrollback.Message{{Seq: 5, Role: scrollback.RoleUser, Parts: scrollback.Parts{text("ho")}, Weight: scrollback.Weight{Tokens: 20}}}
		}, 100.0 / 120},
	} {
		next := in
		c.edit(&next)
		if got := window.Reuse(mark, window.Assemble(next)); got != c.want {
			t.Errorf("%s: reuse %v, want %v", name, got, c.want)
		}
	}
	if window.Reuse(nil, was) != 0 || window.Reuse(mark, scrollback.Window{}) != 0 {
		t.Error("something was reused of nothing")
	}
	once := was
	once.Items = append(once.Items[:len(once.Items):len(once.Items)], scrollback.Item{Kind: scrollback.KindRequestOnly, Layer: scrollback.LayerRequestOnly,
		Role: scrollback.RoleUser, Parts: scrollback.Parts{text("web")}, Weight: scrollback.Weight{Tokens: 5}})
	if got := window.Mark(once); got.Hash != mark.Hash || got.Items != mark.Items || got.Tokens != mark.Tokens {
		t.Errorf("what is for one request only is marked: %+v", got)
	}
}

// An interrupted answer that is asked for again is not sent as a last word; with
// anything said after it, it is.
func TestAskedAgain(t *testing.T) {
	log := []scrollback.Message{
		{Seq: 1, Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "q"}}},
		{Seq: 2, Role: scrollback.RoleAssistant, Status: scrollback.StatusInterrupted, Parts: scrollback.Parts{scrollback.Text{Text: "half"}}},
	}
	w := window.Assemble(window.Input{Live: log, PromptSeq: 2})
	if len(w.Items) != 1 || len(w.Excluded) != 1 || w.Excluded[0].Reason != "unfinished" {
		t.Errorf("asked again: %+v, %+v", w.Items, w.Excluded)
	}
	log = append(log, scrollback.Message{Seq: 3, Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "go on"}}})
	if w := window.Assemble(window.Input{Live: log, PromptSeq: 3}); len(w.Items) != 3 || len(w.Excluded) != 0 {
		t.Errorf("gone on from: %+v, %+v", w.Items, w.Excluded)
	}
}
