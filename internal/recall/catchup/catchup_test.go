package catchup_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/recall/catchup"
)

// talk makes messages of lines "role: text", and of calls and results: "call id name {json}",
// "result id text", "failed id text", "cut: text".
func talk(lines ...string) (out []scrollback.Message) {
	for i, l := range lines {
		m := scrollback.Message{Seq: int64(i + 1), Role: scrollback.RoleAssistant, Status: scrollback.StatusComplete,
			CreatedAt: int64(i+1) * 60_000}
		word, rest, _ := strings.Cut(l, " ")
		id, text, _ := strings.Cut(rest, " ")
		switch word {
		case "call":
			name, args, _ := strings.Cut(text, " ")
			m.Parts = scrollback.Parts{scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}}
		case "result", "failed":
			m.Role = scrollback.RoleTool
			m.Parts = scrollback.Parts{scrollback.ToolResult{CallID: id, Name: "t", Text: text, IsError: word == "failed"}}
		case "cut:":
			m.Status = scrollback.StatusInterrupted
			m.Parts = scrollback.Parts{scrollback.Text{Text: rest}}
		default:
			m.Role = scrollback.Role(strings.TrimSuffix(word, ":"))
			m.Parts = scrollback.Parts{scrollback.Text{Text: rest}}
		}
		out = append(out, m)
	}
	return out
}

type record struct {
	Conversations []struct {
		Conversation, Tool, Model, Tools string
		Asked                            []struct{ Text string }
		Answered                         *struct{ Text string }
		Open                             []struct {
			Seq        int64
			What, Text string
		}
	}
}

func recordOf(t *testing.T, tokens int64, talks ...catchup.Talk) (out record, text string) {
	t.Helper()
	text, err := catchup.WriteRecord(talks, tokens)
	if err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	if err != nil || catchup.CountTokens(text) > tokens {
		t.Fatalf("%d tokens, %v: %s", catchup.CountTokens(text), err, text)
	}
	return out, text
}

// What is open is found in the forms in which tools keep it, and what is done is not open.
func TestOpen(t *testing.T) {
	claude := `call 1 TodoWrite {"todos":[{"content":"mend the crane","status":"pending"},{"content":"paint it","status":"completed"},` +
		`{"content":"test it","status":"in_progress"}]}`
	codex := `call 2 update_plan {"plan":[{"step":"mend the crane","status":"completed"},{"step":"paint it","status":"pending"}]}`
	for _, rule := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing", nil, ""},
		{"all done", []string{"user: Mend it.", "assistant: Done."}, ""},
		{"no answer", []string{"user: Mend it.", "assistant: Done.", "user: Paint it."},
			"request without an answer: Paint it."},
		{"cut off", []string{"user: Mend it.", "cut: I begin"}, "answer not finished: I begin"},
		{"no result", []string{"user: Mend it.", `call 9 bash {"command":"make"}`},
			`request without an answer: Mend it. | call without a result: bash {"command":"make"}`},
		{"a list", []string{"user: Mend it.", claude, "result 1 ok", "assistant: On it."},
			"to-do: mend the crane | to-do: test it"},
		{"a newer list", []string{"user: Mend it.", claude, "result 1 ok", codex, "result 2 ok", "assistant: On it."},
			"to-do: paint it"},
		{"a list that is done", []string{"user: Mend it.", claude, "result 1 ok",
			`call 3 TodoWrite {"todos":[{"content":"a","status":"completed"}]}`,
			"result 3 ok",
			"assistant: Done."}, ""},
		{"a list that is text", []string{"user: Mend it.", `call 1 todo__write {"content":"- [x] mend\n- [ ] 刷漆\n"}`,
			"result 1 ok",
			"assistant: On it."}, "to-do: 刷漆"},
		{"progress", []string{"user: x",
			`call 1 write_to_file {"path":"a","content":"- [ ] not this","task_progress":"- [x] one\n- [ ] two"}`,
			"result 1 ok", "assistant: y"},
			"to-do: two"},
		{"boxes", []string{"user: Mend it.", "assistant: Left:\n- [x] mend\n* [ ] paint\n1. [ ] test"},
			"to-do: paint | to-do: test"},
		{"a file with boxes", []string{"user: Mend it.", `call 1 write {"path":"a.md","content":"- [ ] not this"}`,
			"result 1 - [ ] nor this", "assistant: Done."}, ""},
	} {
		out, text := recordOf(t, 1200, catchup.Talk{Conversation: scrollback.Conversation{ID: "c"},
			Messages: talk(rule.lines...)})
		var open []string
		for _, o := range out.Conversations[0].Open {
			if o.Seq < 1 || o.Seq > int64(len(rule.lines)) {
				t.Errorf("%s: message %d", rule.name, o.Seq)
			}
			open = append(open, o.What+": "+o.Text)
		}
		if got := strings.Join(open, " | "); got != rule.want {
			t.Errorf("%s: %q is open, want %q in %s", rule.name, got, rule.want, text)
		}
	}
}

// Turns without a stored answer are open, and commands that failed last are told.
func TestTurnsAndFailures(t *testing.T) {
	lines := talk("user: Mend it.", `call 1 bash {"command":"go test ./..."}`, "failed 1 undefined: crane",
		"assistant: It fails.")
	out, text := recordOf(t, 1200, catchup.Talk{Conversation: scrollback.Conversation{ID: "c"}, Messages: lines,
		Turns: []scrollback.TurnEntry{{AfterSeq: 4, State: scrollback.TurnFailed,
			Error: &scrollback.Failure{Message: "no credit"}}}})
	c := out.Conversations[0]
	if len(c.Open) != 1 || c.Open[0].What != "turn failed: no credit" ||
		!strings.Contains(c.Tools, "go test") || !strings.Contains(c.Tools, "undefined: crane") {
		t.Errorf("it says %s", text)
	}
}

// Tools are told by who said what: an imported message by the tool, others by us.
func TestTools(t *testing.T) {
	ms := talk("user: Mend it.", "assistant: Done.", "user: And now?", "assistant: Again.")
	for i := range 2 {
		ms[i].Meta = json.RawMessage(`{"source":{"hash":"m"}}`)
	}
	ms[1].Model = "claude-nine"
	ms[3].Model = "gpt-nine"
	out, text := recordOf(t, 1200, catchup.Talk{Conversation: scrollback.Conversation{ID: "c"}, Messages: ms,
		Origin: &scrollback.Origin{Tool: "codex"}})
	c := out.Conversations[0]
	if c.Tool != "codex, then scrollback" || c.Model != "gpt-nine" || len(c.Asked) != 2 || c.Answered.Text != "Again." {
		t.Errorf("it says %s", text)
	}
}

// However long the talks, in any language, the record fits; the newest comes first, whatever
// order they are given in.
func TestFits(t *testing.T) {
	var talks []catchup.Talk
	for n := range 9 {
		long := strings.Repeat([]string{"港口的起重机需要修理。", "The crane must be mended. ", "\u202e\"]}<x>\\ 🏗️"}[n%3], 400)
		ms := talk("user: "+long, "assistant: "+long, "user: "+long)
		for i := range ms {
			ms[i].CreatedAt += int64(n) * 1_000_000
		}
		c := scrollback.Conversation{ID: scrollback.ConversationID(fmt.Sprint("c", n)), Title: long, Model: long}
		talks = append(talks, catchup.Talk{Conversation: c,
			Origin: &scrollback.Origin{Tool: "codex", Folder: "/" + long, GitBranch: long}, Messages: ms})
	}
	for _, room := range []int64{500, 700, 1300, 6000} {
		out, text := recordOf(t, room, talks...)
		if out.Conversations[0].Conversation != "c8" || strings.ContainsAny(text, "\n\r") {
			t.Errorf("in %d tokens it says %s", room, text)
		}
		if again, _ := catchup.WriteRecord(append(talks[4:len(talks):len(talks)], talks[:4]...), room); again != text {
			t.Errorf("in %d tokens it depends on the order of the talks", room)
		}
	}
}
