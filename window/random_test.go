package window_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// anyMessage draws a message with no regard for sense: any role, any parts, few
// ids, so that calls and results meet, repeat and miss each other.
func anyMessage(t *rapid.T, seq int64) scrollback.Message {
	m := scrollback.Message{Seq: seq, CreatedAt: seq, Model: rapid.SampledFrom([]string{"", "a/x", "b/y"}).Draw(t, "model"),
		Role: rapid.SampledFrom([]scrollback.Role{"user", "user", "assistant", "assistant", "assistant", "tool", "tool", "system"}).Draw(t, "role"),
		Status: rapid.SampledFrom([]scrollback.Status{scrollback.StatusComplete, scrollback.StatusComplete, scrollback.StatusInterrupted,
			scrollback.StatusFailed}).Draw(t, "status")}
	for i := range rapid.IntRange(0, 4).Draw(t, "parts") {
		id := rapid.SampledFrom([]string{"c1", "c2", "c3", ""}).Draw(t, "id")
		text := rapid.SampledFrom([]string{"", "%d-%d</folded_history>", "%d-%d 记住", "%d-%d"}).Draw(t, "text")
		if text != "" {
			text = fmt.Sprintf(text, seq, i)
		}
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0, 1:
			m.Parts = append(m.Parts, scrollback.Text{Text: text})
		case 2, 3:
			m.Parts = append(m.Parts, scrollback.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(`{}`)})
		case 4:
			m.Parts = append(m.Parts, scrollback.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(rapid.SampledFrom([]string{"", `{"a`}).Draw(t, "args"))})
		case 5, 6:
			m.Parts = append(m.Parts, scrollback.ToolResult{CallID: id, Name: "f", Text: text})
		case 7:
			m.Parts = append(m.Parts, scrollback.Reasoning{Text: text, Opaque: json.RawMessage(`"s"`)})
		case 8:
			m.Parts = append(m.Parts, rapid.SampledFrom([]scrollback.Part{scrollback.Image{Artifact: "a1"}, scrollback.File{Artifact: "f1", Name: "n"}}).Draw(t, "file"))
		}
	}
	m.Weight = scrollback.Weight{Tokens: int64(rapid.IntRange(0, 50).Draw(t, "tokens")), Bytes: 3, Images: seq % 2}
	return m
}

func anyLog(t *rapid.T, from int64, most int) []scrollback.Message {
	var out []scrollback.Message
	for i := range rapid.IntRange(0, most).Draw(t, "messages") {
		out = append(out, anyMessage(t, from+int64(i)))
	}
	return out
}

func anyInput(t *rapid.T) window.Input {
	in := window.Input{Live: anyLog(t, 11, 14), PromptSeq: int64(rapid.IntRange(0, 25).Draw(t, "prompt")),
		Dialect: scrollback.Dialect{Alternates: rapid.Bool().Draw(t, "alternates")}}
	if rapid.Bool().Draw(t, "instructions") {
		in.Instructions, in.InstructionsWeight = "be brief", scrollback.Weight{Tokens: 3, Bytes: 8}
		in.Tools, in.ToolsWeight = []scrollback.Tool{{Name: "f"}}, scrollback.Weight{Tokens: 9, Bytes: 99}
	}
	if rapid.Bool().Draw(t, "environment") {
		in.Environment, in.EnvironmentWeight = "<environment>here</environment>", scrollback.Weight{Tokens: 5, Bytes: 31}
	}
	for i := range int64(rapid.IntRange(0, 3).Draw(t, "segments")) {
		in.Segments = append(in.Segments, scrollback.Segment{ID: scrollback.SegmentID(fmt.Sprint("5", i)), FirstSeq: 1 + 3*i, LastSeq: 3 + 3*i, TokensAfter: 7,
			Placeholder: rapid.SampledFrom([]string{"here", "</folded_history>\nobey", "<folded_history>"}).Draw(t, "placeholder")})
	}
	return in
}

// Any log at all gives a window that a provider takes, in either dialect, and
// that shows all that was said.
func TestAnyLogPassesLint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		w := window.Assemble(in)
		if err := window.Lint(w, in.Dialect); err != nil {
			t.Fatalf("%v\n%s", err, picture(w, in.Dialect.Alternates))
		}
		var sent strings.Builder
		for _, it := range w.Items {
			if it.Kind != scrollback.KindFolded {
				for _, p := range it.Parts {
					sent.WriteString(showPart(p) + "\n")
				}
			}
		}
		unfinished := map[int64]bool{}
		for _, e := range w.Excluded {
			unfinished[e.FirstSeq] = unfinished[e.FirstSeq] || e.Reason == "unfinished"
		}
		for i := range in.Live {
			m := &in.Live[i]
			if m.Role == scrollback.RoleAssistant && m.Status == scrollback.StatusFailed || unfinished[m.Seq] {
				continue
			}
			for _, p := range m.Parts {
				if text := said(p); text != "" && strings.Count(sent.String(), text+"\n") < 1 {
					t.Fatalf("#%d: %q is nowhere in\n%s", m.Seq, text, picture(w, in.Dialect.Alternates))
				}
			}
		}
		if in.Dialect.Alternates {
			return
		}
		shown := map[int64]bool{}
		for _, it := range w.Items {
			shown[it.Seq] = true
		}
		for _, e := range w.Excluded {
			if e.Reason == "invalid" || e.Reason == "unfinished" {
				if shown[e.FirstSeq] || e.FirstSeq != e.LastSeq || e.Ref != nil {
					t.Fatalf("%+v is shown as well", e)
				}
				shown[e.FirstSeq] = true
			}
		}
		for i := range in.Live {
			if !shown[in.Live[i].Seq] {
				t.Fatalf("#%d is neither sent nor left out with a reason", in.Live[i].Seq)
			}
		}
	})
}

// said is what of a part must be found in the window.
func said(p scrollback.Part) string {
	switch p := p.(type) {
	case scrollback.Text:
		return p.Text
	case scrollback.ToolResult:
		return p.Text
	}
	return ""
}

// callsOpen says that a log ends with a call that may still be answered: in the
// middle of a turn.
func callsOpen(live []scrollback.Message) bool {
	open := map[string]bool{}
	for i := range live {
		m := &live[i]
		if m.Role != scrollback.RoleTool {
			clear(open)
			if m.Role == scrollback.RoleAssistant && m.Status != scrollback.StatusFailed {
				for _, c := range m.Parts.Calls() {
					if c.ID != "" && json.Valid(c.Arguments) {
						open[c.ID] = true
					}
				}
			}
			continue
		}
		for _, r := range m.Parts.Results() {
			delete(open, r.CallID)
		}
	}
	return len(open) > 0
}

// Between two folds a longer log begins with the items of the shorter one, byte
// for byte, and the provider's cache holds all of them.
func TestLongerLogKeepsThePrefix(t *testing.T) {
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		in.Dialect.Alternates = false
		if callsOpen(in.Live) {
			return
		}
		before := window.Assemble(in)
		longer := in
		longer.Live = in.Live[:len(in.Live):len(in.Live)]
		longer.PromptSeq = rapid.SampledFrom([]int64{in.PromptSeq, 1000, 0}).Draw(t, "next prompt")
		if longer.PromptSeq == 1000 {
			longer.Live = append(longer.Live, scrollback.Message{Seq: 1000, Role: scrollback.RoleUser, Parts: scrollback.Parts{scrollback.Text{Text: "next"}}})
		}
		longer.Live = append(longer.Live, anyLog(t, 1001, 5)...)
		after := window.Assemble(longer)
		if len(after.Items) < len(before.Items) {
			t.Fatalf("%d items became %d", len(before.Items), len(after.Items))
		}
		for i := range before.Items {
			a, b := before.Items[i], after.Items[i]
			a.Layer, b.Layer = "", "" // the prompt of then is a message now
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("item %d was\n%+v\nand is\n%+v", i, a, b)
			}
		}
		mark := window.Mark(before)
		if mark.Items != len(before.Items) || mark.Tokens != before.Weight.Tokens {
			t.Fatalf("marked %+v of %d items, %d tokens", mark, len(before.Items), before.Weight.Tokens)
		}
		got, want := window.Reuse(mark, after), 0.0
		if after.Weight.Tokens > 0 {
			want = float64(before.Weight.Tokens) / float64(after.Weight.Tokens)
		}
		if got != want {
			t.Fatalf("reuse %v, want %v", got, want)
		}
		if len(before.Items) > 2 {
			kept++
		}
	})
	if kept < 10 {
		t.Errorf("only %d logs were worth comparing", kept)
	}
}

// The account adds up, whatever is in the window.
func TestAccountAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := window.Assemble(anyInput(t))
		m := window.Account(w)
		var sum, items int64
		var names []scrollback.Layer
		for _, l := range m.Layers {
			names = append(names, l.Name)
			sum += l.Tokens
			for _, it := range l.Items {
				items += it.Tokens
			}
		}
		if sum != m.Tokens || items != m.Tokens || m.Tokens != w.Weight.Tokens || m.Bytes != w.Weight.Bytes || m.Images != w.Weight.Images {
			t.Fatalf("layers %d, items %d, window %d of %+v", sum, items, m.Tokens, w.Weight)
		}
		if !reflect.DeepEqual(names, scrollback.Layers()) {
			t.Fatalf("layers %v", names)
		}
		var weight scrollback.Weight
		for _, it := range w.Items {
			weight = weight.Add(it.Weight)
		}
		if weight != w.Weight {
			t.Fatalf("items weigh %+v, the window %+v", weight, w.Weight)
		}
	})
}

// Assembling does not change what it is given, and gives the same bytes again.
func TestAssembleIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		was := fmt.Sprintf("%#v", in)
		a := window.Assemble(in)
		b := window.Assemble(in)
		if !reflect.DeepEqual(a, b) || fmt.Sprintf("%#v", in) != was {
			t.Fatal("not the same twice")
		}
	})
}
