package codex_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// Lines of rollouts, for the tests of single traps.
const (
	opening = `"session_meta","payload":{"id":"019ca000-0080-7000-8000-0000000000aa","timestamp":"2026-03-01T11:00:00Z","cwd":"/home/eve"}`
	started = `"event_msg","payload":{"type":"task_started","turn_id":"019ca000-0081-7000-8000-0000000000bb"}`
	ended   = `"event_msg","payload":{"type":"task_complete","turn_id":"019ca000-0081-7000-8000-0000000000bb"}`
	aborted = `"event_msg","payload":{"type":"turn_aborted","turn_id":"019ca000-0081-7000-8000-0000000000bb"}`
	ask     = `"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Ask"}]}`
	call    = `"response_item","payload":{"type":"function_call","id":"fc","name":"run","arguments":"{}","call_id":"c1"}`
	result  = `"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Wall time: 1\nOutput:\nab"}`
	ran     = `"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1",` +
		`"aggregated_output":"abcdef","exit_code":3}}`
	ranOld  = `"event_msg","payload":{"type":"exec_command_end","call_id":"c1","aggregated_output":"abcdef","exit_code":3}`
	answer  = `"response_item","payload":{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"Answer"}]}`
	summary = `"compacted","payload":{"message":"So far: Answer"}`
	back    = `"event_msg","payload":{"type":"thread_rolled_back","num_turns":7}`
	used    = `"token_usage_record","payload":{"usage":{"input_tokens":1,"output_tokens":1}}`
)

// read reads a rollout of lines.
func read(t *testing.T, live bool, lines ...string) []string {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(`{"timestamp":"2026-03-01T11:00:01Z","type":` + l + "}\n")
	}
	const name = "sessions/2026/03/01/rollout-2026-03-01T11-00-00-019ca000-0080-7000-8000-0000000000aa.jsonl"
	p := transcript.Place{FS: fstest.MapFS{name: {Data: []byte(b.String()), Mode: 0o644}}, Name: ".", Now: 1 << 50}
	var out []string
	for s := range (codex.Tool{}).Sessions(t.Context(), p) {
		if live {
			s.Changed = p.Now
		}
		for e, err := range (codex.Tool{}).Read(t.Context(), p, s) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Conversation == nil {
				out = append(out, tooltest.ScriptLines([]transcript.Entry{e})[0])
			}
		}
	}
	return out
}

func TestTraps(t *testing.T) {
	const asked, calls, says = "user | Ask", "assistant | calls c1 run {}", "assistant | Answer"
	for _, c := range []struct {
		name  string
		live  bool
		lines []string
		want  []string
	}{
		{"the output of a command takes the place of a shorter one", false, []string{opening, ask, call, ran, result},
			[]string{asked, calls, "tool | error of c1 run: Wall time: 1⏎Output:⏎abcdef", "end"}},
		{"older versions tell it in another event", false, []string{opening, ask, call, ranOld, result},
			[]string{asked, calls, "tool | error of c1 run: Wall time: 1⏎Output:⏎abcdef", "end"}},
		{"a command that ends after its result changes nothing", false, []string{opening, ask, call, result, ran},
			[]string{asked, calls, "tool | result of c1 run: Wall time: 1⏎Output:⏎ab", "end"}},
		{"an answer that was aborted", false, []string{opening, started, ask, call, aborted},
			[]string{asked, "assistant (interrupted) | calls c1 run {}", "end"}},
		{"a turn that nobody goes on with", false, []string{opening, started, ask, call},
			[]string{asked, "assistant (interrupted) | calls c1 run {}", "end"}},
		{"an answer that may grow", true, []string{opening, started, ask, answer}, []string{asked, "end held"}},
		{"an answer that has its usage", true, []string{opening, started, ask, answer, used}, []string{asked, says, "end"}},
		{"an answer that ended", true, []string{opening, started, ask, answer, ended}, []string{asked, says, "end"}},
		{"a summary is not an answer", false, []string{opening, started, answer, summary, ended},
			[]string{"user | So far: Answer", "end[compaction:1]"}},
		{"all is taken back", false, []string{opening, started, ask, answer, ended, back},
			[]string{asked, says, "back to 0", "end"}},
		{"a result without its call", false, []string{opening, result},
			[]string{"tool | result of c1 : Wall time: 1⏎Output:⏎ab", "end"}},
		{"a second head changes nothing", false, []string{opening, strings.Replace(opening, "0080", "0099", 1), ask},
			[]string{asked, "end"}},
		{"what is not known", false, []string{opening, `"novelty","payload":{}`, `"response_item","payload":{"type":"dream"}`,
			`"event_msg","payload":{"type":"weather"}`}, []string{"end[unknown:2]"}},
		{"not an object", false, []string{opening, `"event_msg","payload":7`, `"response_item","payload":[]`, ask},
			[]string{"bad 2: it is not an event", "bad 3: it is array where an object should be", asked, "end"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, read(t, c.live, c.lines...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
