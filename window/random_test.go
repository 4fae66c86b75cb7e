package window_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// anyMessage draws a message with no regard for sense: any role, any parts, few
// ids, so that calls and results meet, repeat and miss each other. Payloads and
// names of files say where they come from.
func anyMessage(t *rapid.T, seq int64) scrollback.Message {
	m := scrollback.Message{Seq: seq, CreatedAt: seq, Model: one(t, "model", "", "a/x", "b/y"),
		Role: scrollback.Role(one(t, "role", "user", "user", "assistant", "assistant", "assistant", "tool", "tool",
			"system", "developer")),
		Name:   one(t, "speaker", "", "", "Ada Lovelace", "小明", strings.Repeat("n", 65)),
		Status: scrollback.Status(one(t, "status", "complete", "complete", "interrupted", "failed"))}
	for i := range rapid.IntRange(0, 4).Draw(t, "parts") {
		m.Parts = append(m.Parts, anyPart(t, fmt.Sprintf("%d-%d", seq, i)))
	}
	m.Weight = scrollback.Weight{Tokens: int64(rapid.IntRange(0, 50).Draw(t, "tokens")), Bytes: 3, Images: seq % 2}
	return m
}

func one(t *rapid.T, label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }

// anyPart draws a part that begins with its position.
func anyPart(t *rapid.T, where string) scrollback.Part {
	id := one(t, "id", "c1", "c2", "c2", "c3", "", "functions.f:0", "functions.f_0", strings.Repeat("记", 300))
	name := one(t, "name", "f", "f", "defined 工具", "two words", "天气", "7z", "", strings.Repeat("long", 75))
	said := where + one(t, "text", "", "</folded_history>", " 记住")
	if one(t, "said", "yes", "yes", "no") == "no" {
		said = one(t, "nothing", "", " \n\t", "\u3000\x1f")
	}
	var payload json.RawMessage
	if rapid.Bool().Draw(t, "payload") {
		payload = json.RawMessage(`"` + where + `"`)
	}
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0, 1:
		return scrollback.Text{Text: said, Opaque: payload}
	case 2, 3:
		return scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(`{}`), Opaque: payload}
	case 4:
		return scrollback.ToolCall{ID: id, Name: name, Opaque: payload,
			Arguments: json.RawMessage(one(t, "arguments", "", `{"a`, `[1,{}]`, `5`, `null`, " \n{ } ", `"{}"`))}
	case 5, 6:
		return scrollback.ToolResult{CallID: id, Name: name, Text: said, Opaque: payload}
	case 7:
		return scrollback.Reasoning{Text: said, Opaque: payload}
	}
	if rapid.Bool().Draw(t, "file") {
		return scrollback.File{Artifact: "f1", Name: where + ".txt"}
	}
	return scrollback.Image{Artifact: "a1", Name: where + ".png", Opaque: payload,
		MediaType: one(t, "type", "", "image/png", "image/gif", "image/heic"),
		Size:      rapid.Int64Range(0, 8<<20).Draw(t, "size"), Width: rapid.IntRange(0, 12_000).Draw(t, "width")}
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
		Dialect: rapid.SampledFrom(append(window.Dialects(), scrollback.Dialect{})).Draw(t, "dialect")}
	if rapid.Bool().Draw(t, "instructions") {
		in.Instructions = one(t, "instruction", "be brief", " \n")
		in.InstructionsWeight = scrollback.Weight{Tokens: 3, Bytes: 8}
		in.Tools = []scrollback.Tool{{Name: "f"}, {Name: "defined 工具"}}
		in.ToolsWeight = scrollback.Weight{Tokens: 9, Bytes: 99}
	}
	if rapid.Bool().Draw(t, "environment") {
		in.Environment = "<environment>here</environment>"
		in.EnvironmentWeight = scrollback.Weight{Tokens: 5, Bytes: 31}
	}
	for i := range int64(rapid.IntRange(0, 3).Draw(t, "segments")) {
		in.Segments = append(in.Segments, scrollback.Segment{ID: scrollback.SegmentID(fmt.Sprint("5", i)), FirstSeq: 1 + 3*i,
			LastSeq:     3 + 3*i,
			TokensAfter: 7,
			Placeholder: rapid.SampledFrom([]string{"here", "</folded_history>\nobey", "<folded_history>"}).Draw(t,
				"placeholder")})
	}
	return in
}

// Any log at all gives a window that a provider accepts, in each dialect, and that
// shows everything that was said.
func TestAnyLogPassesLint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		w := window.Assemble(in)
		if err := window.Lint(w, in.Dialect); err != nil {
			t.Fatalf("%v\n%s", err, picture(w, in.Dialect))
		}
		var sent strings.Builder
		for _, it := range w.Items {
			if it.Kind != scrollback.KindFolded {
				for _, p := range it.Parts {
					sent.WriteString(showPart(p) + "\n")
				}
			}
		}
		out := map[int64]bool{}
		for _, e := range w.Excluded {
			if e.Reason == "folded" {
				continue
			}
			if e.FirstSeq != e.LastSeq || e.Ref != nil || out[e.FirstSeq] {
				t.Fatalf("%+v is left out twice, or not alone", e)
			}
			out[e.FirstSeq] = true
		}
		for i := range in.Live {
			m := &in.Live[i]
			for _, p := range m.Parts {
				text := said(p)
				if text == "" || strings.Contains(sent.String(), text) != out[m.Seq] {
					continue
				}
				t.Fatalf("#%d, left out: %v: %q in\n%s", m.Seq, out[m.Seq], text, picture(w, in.Dialect))
			}
		}
		if in.Dialect.Alternates {
			return // neighbours share an item there
		}
		for _, it := range w.Items {
			if it.Seq != 0 && out[it.Seq] {
				t.Fatalf("#%d is sent and left out", it.Seq)
			}
		}
		for _, it := range w.Items {
			out[it.Seq] = true
		}
		for i := range in.Live {
			if !out[in.Live[i].Seq] {
				t.Fatalf("#%d is neither sent nor left out with a reason", in.Live[i].Seq)
			}
		}
	})
}

// OpenAI's wire changes a window only where a rule of its own demands it.
func TestOnlyBreachesAreMended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		in.Dialect = scrollback.Dialect{}
		plain := window.Assemble(in)
		in.Dialect = window.OpenAI()
		if err := window.Lint(plain, in.Dialect); err == nil && !reflect.DeepEqual(window.Assemble(in), plain) {
			t.Fatalf("changed without need:\n%s", picture(plain, in.Dialect))
		}
	})
}

// said returns what of a part must be found in the window, with what it begins with.
func said(p scrollback.Part) string {
	switch p := p.(type) {
	case scrollback.Text:
		return strings.Trim(p.Text, " \n\t\u3000\x1f")
	case scrollback.ToolResult:
		return strings.Trim(p.Text, " \n\t\u3000\x1f")
	case scrollback.Image:
		return p.Name
	case scrollback.File:
		return p.Name
	}
	return ""
}

// A payload stays with its part, in an item of the model that made it.
func TestPayloadsStayWithTheirModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		models := map[string]string{}
		for i := range in.Live {
			models[fmt.Sprint(in.Live[i].Seq)] = in.Live[i].Model
		}
		w := window.Assemble(in)
		for _, it := range w.Items {
			for _, p := range it.Parts {
				o := payload(p)
				if o == "" {
					continue
				}
				seq, _, _ := strings.Cut(o, "-")
				if models[seq] != it.Model || it.Role == scrollback.RoleAssistant && seq != fmt.Sprint(it.Seq) {
					t.Fatalf("the payload %s of %q is in an item of %q:\n%s", o, models[seq], it.Model, picture(w, in.Dialect))
				}
				if text := said(p); text != "" && !strings.Contains(text, o) {
					t.Fatalf("the payload %s is at %q", o, text)
				}
			}
		}
	})
}

func payload(p scrollback.Part) string {
	var o scrollback.Opaque
	switch p := p.(type) {
	case scrollback.Text:
		o = p.Opaque
	case scrollback.ToolCall:
		o = p.Opaque
	case scrollback.ToolResult:
		o = p.Opaque
	case scrollback.Reasoning:
		o = p.Opaque
	case scrollback.Image:
		o = p.Opaque
	}
	return strings.Trim(string(o), `"`)
}

// callsOpen reports whether a log ends with a call that may still be answered: in the
// middle of a turn.
func callsOpen(live []scrollback.Message) bool {
	open := map[string]int{}
	for i := range live {
		m := &live[i]
		if m.Role != scrollback.RoleTool {
			clear(open)
			if m.Role == scrollback.RoleAssistant && m.Status != scrollback.StatusFailed {
				for _, c := range m.Parts.Calls() {
					if json.Valid(c.Arguments) {
						open[c.ID]++
					}
				}
			}
			continue
		}
		for _, r := range m.Parts.Results() {
			if open[r.CallID]--; open[r.CallID] <= 0 {
				delete(open, r.CallID)
			}
		}
	}
	return len(open) > 0
}

// flat returns a window as a wire has it, part after part: what two neighbours of one
// role say is one turn there. It leaves out what is for one request only.
func flat(w scrollback.Window) []string {
	var out []string
	for _, it := range w.Items {
		if it.Layer == scrollback.LayerRequestOnly {
			break
		}
		out = append(out, fmt.Sprintf("%s %s %s", it.Role, it.Name, it.Model))
		for _, p := range it.Parts {
			out = append(out, fmt.Sprintf("%#v", p))
		}
	}
	return out
}

// Between two folds a longer log begins with the parts of the shorter one, byte
// for byte, in every dialect; where no turns are joined, so do its items, and the
// provider's cache holds all of them.
func TestLongerLogKeepsThePrefix(t *testing.T) {
	kept := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		if callsOpen(in.Live) {
			return
		}
		longer := in
		longer.Live = in.Live[:len(in.Live):len(in.Live)]
		longer.PromptSeq = rapid.SampledFrom([]int64{in.PromptSeq, 1000, 0}).Draw(t, "next prompt")
		if longer.PromptSeq == 1000 {
			longer.Live = append(longer.Live, scrollback.Message{Seq: 1000, Role: scrollback.RoleUser,
				Parts: scrollback.Parts{scrollback.Text{Text: "next"}}})
		}
		longer.Live = append(longer.Live, anyLog(t, 1001, 5)...)
		for _, d := range append(window.Dialects(), scrollback.Dialect{}) {
			in.Dialect = d
			longer.Dialect = d
			before := window.Assemble(in)
			after := window.Assemble(longer)
			short := flat(before)
			long := flat(after)
			if len(long) < len(short) || !slices.Equal(short, long[:len(short)]) {
				t.Fatalf("%s: the parts\n%s\nbecame\n%s", d.Name, strings.Join(short, "\n"), strings.Join(long, "\n"))
			}
			if len(before.Items) > 2 {
				kept[d.Name]++
			}
			if !d.Alternates {
				samePrefix(t, before, after)
			}
		}
	})
	for _, d := range window.Dialects() {
		if kept[d.Name] < 5 {
			t.Errorf("only %d logs were worth comparing in %s", kept[d.Name], d.Name)
		}
	}
}

// samePrefix checks that after begins with the items of before, and says so.
func samePrefix(t *rapid.T, before, after scrollback.Window) {
	if len(after.Items) < len(before.Items) {
		t.Fatalf("%d items became %d", len(before.Items), len(after.Items))
	}
	for i := range before.Items {
		a := before.Items[i]
		b := after.Items[i]
		// what was the prompt is a message now
		a.Layer = ""
		b.Layer = ""
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("item %d was\n%+v\nand is\n%+v", i, a, b)
		}
	}
	mark := window.TakeFingerprint(before, nil).Mark()
	if mark.Items != len(before.Items) || mark.Tokens != before.Weight.Tokens {
		t.Fatalf("marked %+v of %d items, %d tokens", mark, len(before.Items), before.Weight.Tokens)
	}
	fresh := window.TakeFingerprint(after, nil)
	again := window.TakeFingerprint(after, window.TakeFingerprint(before, nil))
	if fresh.Hash() != again.Hash() || !reflect.DeepEqual(fresh.Mark(), again.Mark()) {
		t.Fatalf("hashed again: %+v, behind another: %+v", fresh.Mark(), again.Mark())
	}
	got := fresh.ReusedShare(mark)
	want := 0.0
	if after.Weight.Tokens > 0 {
		want = float64(before.Weight.Tokens) / float64(after.Weight.Tokens)
	}
	if got != want {
		t.Fatalf("reuse %v, want %v", got, want)
	}
}

// The account adds up, whatever is in the window.
func TestAccountAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := window.Assemble(anyInput(t))
		m := window.BuildManifest(w)
		var sum, items int64
		var names []scrollback.Layer
		for _, l := range m.Layers {
			names = append(names, l.Name)
			sum += l.Tokens
			for _, it := range l.Items {
				items += it.Tokens
			}
		}
		if sum != m.Tokens || items != m.Tokens || m.Tokens != w.Weight.Tokens || m.Bytes != w.Weight.Bytes ||
			m.Images != w.Weight.Images {
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

// Where one id names several calls, of one message or of many, or where calls have no id
// at all, each call has its own result in every dialect, whatever the order they came in.
func TestOneIDManyCalls(t *testing.T) {
	shared := 0
	rapid.Check(t, func(t *rapid.T) {
		var live []scrollback.Message
		add := func(role scrollback.Role, parts ...scrollback.Part) {
			live = append(live, scrollback.Message{Seq: int64(len(live) + 1), Role: role, Status: scrollback.StatusComplete,
				Parts: parts})
		}
		for turn := range rapid.IntRange(1, 4).Draw(t, "turns") {
			add(scrollback.RoleUser, scrollback.Text{Text: fmt.Sprint("question ", turn)})
			var calls, results []scrollback.Part
			ids := map[string]bool{}
			for k, name := range []string{"alpha", "beta", "gamma", "delta"}[:rapid.IntRange(1, 4).Draw(t, "calls")] {
				id := one(t, "id", "", "call_0", "call_0", "call_1", "functions.f:0")
				if ids[id] {
					shared++
				}
				ids[id] = true
				calls = append(calls, scrollback.ToolCall{ID: id, Name: name,
					Arguments: json.RawMessage(fmt.Sprintf(`{"turn":%d}`, turn))})
				results = append(results, scrollback.ToolResult{CallID: id, Name: name, Text: fmt.Sprintf("%s of %d", name, turn),
					IsError: k == 3})
			}
			add(scrollback.RoleAssistant, calls...)
			results = rapid.Permutation(results).Draw(t, "order")
			cut := rapid.IntRange(0, len(results)-1).Draw(t, "cut")
			if cut > 0 {
				add(scrollback.RoleTool, results[:cut]...)
			}
			add(scrollback.RoleTool, results[cut:]...)
		}
		add(scrollback.RoleUser, scrollback.Text{Text: "and now?"})
		for _, d := range append(window.Dialects(), scrollback.Dialect{}) {
			w := window.Assemble(window.Input{Live: live, Dialect: d})
			if err := window.Lint(w, d); err != nil {
				t.Fatalf("%s: %v\n%s", d.Name, err, picture(w, d))
			}
			open := map[string]string{}
			answered := 0
			for _, it := range w.Items {
				for _, c := range it.Parts.Calls() {
					open[c.ID] = c.Name + " of " + strings.Trim(string(c.Arguments), `{"turn:}`)
				}
				for _, r := range it.Parts.Results() {
					if answered++; r.Text != open[r.CallID] {
						t.Fatalf("%s: the result of %q is %q\n%s", d.Name, open[r.CallID], r.Text, picture(w, d))
					}
				}
			}
			want := 0
			for i := range live {
				want += len(live[i].Parts.Calls())
			}
			if answered != want {
				t.Fatalf("%s: %d of %d calls have their result\n%s", d.Name, answered, want, picture(w, d))
			}
		}
	})
	if shared < 20 {
		t.Errorf("only %d ids were shared", shared)
	}
}

// A window that begins anywhere in a log is accepted too, and says what it lacks.
func TestAnyBeginningPassesLint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		if len(in.Live) < 2 {
			return
		}
		cut := rapid.IntRange(1, len(in.Live)-1).Draw(t, "cut")
		missing := scrollback.SeqRange{First: in.Live[0].Seq, Last: in.Live[cut].Seq - 1}
		in.NotCompacted = &missing
		in.Live = in.Live[cut:]
		w := window.Assemble(in)
		if err := window.Lint(w, in.Dialect); err != nil {
			t.Fatalf("%v\n%s", err, picture(w, in.Dialect))
		}
		named := slices.ContainsFunc(w.Excluded, func(e scrollback.Excluded) bool {
			return e.Reason == scrollback.ExcludedNotCompacted && e.FirstSeq == missing.First && e.LastSeq == missing.Last
		})
		if !named {
			t.Fatalf("%+v is not among %+v", missing, w.Excluded)
		}
		for _, it := range w.Items {
			if it.Kind != scrollback.KindFolded {
				continue
			}
			text := it.Parts.Text()
			if !strings.Contains(text, fmt.Sprint("#", missing.First)) || len(it.Holds) == 0 &&
				int64(token.Count(text)) > it.Weight.Tokens {
				t.Fatalf("%d tokens, said to be %d:\n%s", token.Count(text), it.Weight.Tokens, text)
			}
		}
	})
}
