package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// claiming is a script that says it is deterministic.
type claiming struct{ *Script }

func (claiming) Deterministic() bool { return true }

func TestRun(t *testing.T) {
	Run(t, func(*testing.T) model.Model {
		return claiming{NewScript(model.Facts{Name: "test/script", Limit: 1000, MaxOutput: 100},
			Step{Reply: func(r model.Request) []model.Delta {
				if len(r.Tools) > 0 {
					return []model.Delta{{Call: call("c1", "context_search", `{"query":"blue"}`)}}
				}
				return []model.Delta{{Text: "It is "}, {Text: "7F3K-221."}}
			}})}
	})
}

func call(id, name, args string) *scrollback.ToolCall {
	return &scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func end(finish string, u *scrollback.Usage) model.Delta {
	return model.Delta{Finish: finish, Usage: u}
}

// The suite finds each way of breaking the contract.
func TestCheckAnswer(t *testing.T) {
	text := model.Delta{Text: "a"}
	used := &scrollback.Usage{OutputTokens: 1, TotalTokens: 1}
	calls := func(cs ...*scrollback.ToolCall) []model.Delta {
		var ds []model.Delta
		for _, c := range cs {
			ds = append(ds, model.Delta{Call: c})
		}
		return append(ds, end(scrollback.FinishToolCalls, used))
	}
	good := call("c1", "context_search", `{}`)
	for name, c := range map[string]struct {
		deltas []model.Delta
		want   string // part of the complaint; empty for none
	}{
		"text":              {[]model.Delta{text, end("stop", used)}, ""},
		"call":              {calls(good), ""},
		"two calls":         {calls(good, call("c2", "context_search", `{}`)), ""},
		"cut off":           {[]model.Delta{text}, "without a finish reason"},
		"two ends":          {[]model.Delta{text, end("stop", nil), end("stop", used)}, "must come last"},
		"text after end":    {[]model.Delta{text, end("stop", used), text}, "must come last"},
		"empty":             {[]model.Delta{end("stop", used)}, "neither text nor a call"},
		"stop with call":    {[]model.Delta{{Call: good}, end("stop", used)}, "1 calls"},
		"no call":           {[]model.Delta{text, end("tool_calls", used)}, "0 calls"},
		"no id":             {calls(call("", "context_search", `{}`)), "empty or taken"},
		"same id":           {calls(good, good), "empty or taken"},
		"unknown tool":      {calls(call("c1", "rm", `{}`)), "not offered"},
		"half arguments":    {calls(call("c1", "context_search", `{"a":`)), "not a JSON object"},
		"null arguments":    {calls(call("c1", "context_search", `null`)), "not a JSON object"},
		"no usage":          {[]model.Delta{text, end("stop", nil)}, "no usage"},
		"negative usage":    {[]model.Delta{text, end("stop", &scrollback.Usage{InputTokens: -1})}, "negative"},
		"usage without sum": {[]model.Delta{text, end("stop", &scrollback.Usage{OutputTokens: 2})}, "add up"},
	} {
		a, err := Read(func(yield func(model.Delta, error) bool) {
			for _, d := range c.deltas {
				if !yield(d, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, name, checkAnswer(ToolRequest(), a), c.want)
	}
}

func TestCheckCanceled(t *testing.T) {
	bare := scrollback.Errorf(scrollback.Canceled, "x", "gone")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"good":       {scrollback.Wrap(scrollback.Canceled, "x", context.Canceled), ""},
		"none":       {nil, "without an error"},
		"other code": {scrollback.Errorf(scrollback.Internal, "x", "gone"), "want canceled"},
		"not ours":   {context.Canceled, "*scrollback.Error"},
		"no cause":   {bare, "context.Canceled"},
	} {
		expect(t, name, checkCanceled(Answer{}, c.err), c.want)
	}
}

func expect(t *testing.T, name string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: %v, want a complaint with %q", name, err, want)
	}
}

func TestScriptSteps(t *testing.T) {
	broken := errors.New("broken")
	used := &scrollback.Usage{InputTokens: 7}
	s := NewScript(model.Facts{Name: "test/script"},
		Step{Err: broken},
		Step{Deltas: Say("half").Deltas, Err: broken},
		Step{Deltas: Say("cut").Deltas, NoFinish: true},
		Call(*call("c1", "x", `{}`)),
		Step{Deltas: []model.Delta{{Text: "long", Usage: used, Finish: scrollback.FinishLength}}},
		Say("a", "b"))
	for i, want := range []struct {
		text, finish string
		calls        int
		input        int64 // -1 for no usage
		err          error
	}{
		{"", "", 0, -1, broken},
		{"half", "", 0, -1, broken},
		{"cut", "", 0, -1, nil},
		{"", "tool_calls", 1, 19, nil},
		{"long", "length", 0, 7, nil},
		{"ab", "stop", 0, 19, nil},
		{"ab", "stop", 0, 19, nil}, // the last step again
	} {
		a, err := Read(s.Stream(t.Context(), PlainRequest()))
		input := int64(-1)
		if a.Usage != nil {
			input = a.Usage.InputTokens
		}
		if a.Text != want.text || a.Finish != want.finish || len(a.Calls) != want.calls || input != want.input ||
			err != want.err {
			t.Errorf("request %d: %+v, usage %+v, %v; want %+v", i+1, a, a.Usage, err, want)
		}
	}
	if n := len(s.Requests()); n != 7 {
		t.Errorf("%d requests recorded", n)
	}
	if _, err := Read(NewScript(model.Facts{}).Stream(t.Context(),
		PlainRequest())); scrollback.CodeOf(err) != scrollback.Internal {
		t.Errorf("a script without steps: %v", err)
	}
}

func TestScriptRecordsCopies(t *testing.T) {
	s := NewScript(model.Facts{}, Say("a"))
	r := PlainRequest()
	if _, err := Read(s.Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	r.Items[0].Parts[0] = scrollback.Text{Text: "changed"}
	if got := s.Requests()[0].Items[0].Parts.Text(); got == "changed" {
		t.Error("a recorded request follows its maker's changes")
	}
}

func TestScriptGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		step := Say("a", "b")
		step.Gate = gate
		s := NewScript(model.Facts{}, step)
		ctx, cancel := context.WithCancel(t.Context())
		var text string
		ended := make(chan error, 1)
		go func() {
			for d, err := range s.Stream(ctx, PlainRequest()) {
				if err != nil {
					ended <- err
					return
				}
				text += d.Text
			}
			ended <- nil
		}()
		for _, want := range []string{"", "a", "ab"} {
			synctest.Wait()
			if text != want || len(ended) > 0 {
				t.Errorf("at the shut gate: %q, want %q; ended: %v", text, want, len(ended) > 0)
			}
			if want != "ab" {
				gate <- struct{}{}
			}
		}
		cancel()
		if err := checkCanceled(Answer{}, <-ended); err != nil {
			t.Error(err)
		}
	})
}
