package window_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// calling returns a log of one turn whose calls have the ids and names given, answered in
// the opposite order.
func calling(calls ...scrollback.ToolCall) []scrollback.Message {
	ask := scrollback.Message{Seq: 1, Role: user, Parts: scrollback.Parts{text("go")}}
	made := scrollback.Message{Seq: 2, Role: assistant}
	done := scrollback.Message{Seq: 3, Role: tool}
	for i, c := range calls {
		c.Arguments = json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
		made.Parts = append(made.Parts, c)
		done.Parts = append(scrollback.Parts{scrollback.ToolResult{CallID: c.ID, Name: c.Name,
			Text: fmt.Sprint("result ", i)}}, done.Parts...)
	}
	return []scrollback.Message{ask, made, done}
}

// pairs returns the calls of a window, each with the text of its result.
func pairs(t *testing.T, in window.Input) (calls []scrollback.ToolCall, answers []string) {
	t.Helper()
	w := window.Assemble(in)
	if err := window.Lint(w, in.Dialect); err != nil {
		t.Fatal(err)
	}
	answer := map[string]string{}
	for i := len(w.Items) - 1; i >= 0; i-- {
		for _, r := range w.Items[i].Parts.Results() {
			answer[r.CallID] = r.Text
		}
		made := w.Items[i].Parts.Calls()
		for j := len(made) - 1; j >= 0; j-- {
			calls = append([]scrollback.ToolCall{made[j]}, calls...)
			answers = append([]string{answer[made[j].ID]}, answers...)
		}
	}
	return calls, answers
}

// What the wire accepts is left as it is; the rest is respelled, the same way
// for a call and its result, so that each result stays with its call.
func TestSpelling(t *testing.T) {
	long := strings.Repeat("x", 300)
	live := calling(scrollback.ToolCall{ID: "functions.f:0", Name: "天气"},
		scrollback.ToolCall{ID: "functions_f:0", Name: "时间"},
		scrollback.ToolCall{ID: long, Name: "get the weather"}, scrollback.ToolCall{ID: "c1", Name: "f"},
		scrollback.ToolCall{ID: "记", Name: long})
	was := fmt.Sprintf("%#v", live)
	for _, c := range []struct {
		d     scrollback.Dialect
		ids   string
		names string
	}{
		{scrollback.Dialect{}, "functions.f:0 functions_f:0 " + long + " c1 记", "天气,时间,get the weather,f," + long},
		{window.OpenAI(), "functions.f:0 functions_f:0 " + long + " c1 记", ""},
		{window.Anthropic(), "functions_f_0_dc93d441 functions_f_0_7dda3927 " + long + " c1 unnamed_a55a215f", ""},
		{window.Gemini(), "functions.f:0 functions_f:0 " + long + " c1 记", ""},
	} {
		calls, answers := pairs(t, window.Input{Live: live, Dialect: c.d})
		var ids, names []string
		for i, call := range calls {
			if want := fmt.Sprint("result ", i); answers[i] != want || string(call.Arguments) != fmt.Sprintf(`{"n":%d}`, i) {
				t.Errorf("%s: call %d %+v has %q", c.d.Name, i, call, answers[i])
			}
			ids = append(ids, call.ID)
			names = append(names, call.Name)
		}
		if got := strings.Join(ids, " "); got != c.ids {
			t.Errorf("%s: ids %s, want %s", c.d.Name, got, c.ids)
		}
		want := c.names
		if want == "" {
			want = "unnamed_5942eff8,unnamed_de111087,get_the_weather_7f78e636,f," + strings.Repeat("x", 27) + "_2981ffef"
		}
		if got := strings.Join(names, ","); got != want {
			t.Errorf("%s: names %s, want %s", c.d.Name, got, want)
		}
	}
	if fmt.Sprintf("%#v", live) != was {
		t.Error("the log was respelled too")
	}
}

// Where ids must be unique, an id that comes again is spelled by how many came before
// it; a tool that is defined keeps its name.
func TestSpellingKnowsWhatCameBefore(t *testing.T) {
	var live []scrollback.Message
	for i := range int64(3) {
		for _, m := range calling(scrollback.ToolCall{ID: "call_0", Name: "天气"}) {
			m.Seq += 3 * i
			live = append(live, m)
		}
	}
	in := window.Input{Live: live, Dialect: window.Anthropic(), Tools: []scrollback.Tool{{Name: "天气"}}}
	all, _ := pairs(t, in)
	seen := map[string]bool{}
	for n := range 4 {
		in.Live = live[:3*n]
		calls, answers := pairs(t, in)
		for i := range calls {
			if calls[i].ID != all[i].ID || answers[i] != "result 0" || calls[i].Name != "天气" {
				t.Errorf("of %d, call %d: %+v, %q", n, i, calls[i], answers[i])
			}
			seen[calls[i].ID] = true
		}
	}
	if len(seen) != 3 || all[0].ID != "call_0" {
		t.Errorf("ids %v", seen)
	}
}
