package codex_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript/codex"
	"github.com/scrollback-ai/scrollback/transcript/tooltest"
)

// What a sub-agent's file copies of its parent's turns is not its own, even where the ids of
// turns are random and say nothing about time.
func TestCopiedTurnsWithRandomIDs(t *testing.T) {
	const parent, child = "019ca000-0091-7000-8000-0000000000aa", "019ca000-0092-7000-8000-0000000000aa"
	const before, own = "f47ac10b-58cc-4372-a567-0e02b2c3d479", "0a1b2c3d-58cc-4372-a567-0e02b2c3d480"
	record := func(kind, payload string) string {
		return `{"timestamp":"2026-03-01T12:00:05.000Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	head := func(id, more string) string {
		return record("session_meta", `{"id":"`+id+`","timestamp":"2026-03-01T12:00:00.000Z","cwd":"/"`+more+`}`)
	}
	begin := func(id string) string { return record("event_msg", `{"type":"task_started","turn_id":"`+id+`"}`) }
	said := func(role, text string) string {
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
		out := record("response_item", `{"type":"message","role":"`+role+`","content":[{"type":"`+kind+`","text":"`+text+
			`"}]}`)
		if role == "user" {
			out += record("event_msg", `{"type":"user_message","message":"`+text+`"}`)
		}
		return out
	}
	sub := head(child, `,"parent_thread_id":"`+parent+`"`) + head(parent, "") + begin(before) +
		said("user", "Ask a helper")
	work := record("turn_context", `{"turn_id":"`+own+`","cwd":"/"}`) + said("user", "count bees") + said("assistant", "7")
	above := head(parent, "") + begin(before) + said("user", "Ask a helper") + said("assistant", "Done")
	more := begin("16fd2706-8baf-433b-82eb-8c7fada847da") + said("user", "And then?")
	another := strings.Replace(sub, before, "c47ac10b-58cc-4372-a567-0e02b2c3d479", 1)
	for name, c := range map[string]struct{ parent, child string }{
		"the parent's ids":              {above, sub + begin(own) + work},
		"ids of the copy":               {above, another + begin(own) + work},
		"ids of the copy, then younger": {above, another + begin("019ca000-0093-7000-8000-0000000000bb") + work},
		"the parent is not there":       {"", sub + begin(own) + work},
		"it is asked the same":          {above, sub + begin(own) + strings.Replace(work, "count bees", "Ask a helper", 2)},
		"several turns":                 {above + more, sub + more + begin(own) + work},
		"several turns, other ids": {above + more,
			another + strings.ReplaceAll(more, "16fd2706", "26fd2706") + begin(own) + work},
		"the parent went on": {above + more, sub + begin(own) + work},
		"turns under another name": {strings.ReplaceAll(above, "task_started", "turn_started"),
			strings.ReplaceAll(sub+begin(own)+work, "task_started", "turn_started")},
		"ids in capitals": {above, strings.Replace(sub, before, strings.ToUpper(before), 1) + begin(own) + work},
	} {
		files := fstest.MapFS{"rollout-2026-03-01T12-00-01-" + child + ".jsonl": {Mode: 0o644, Data: []byte(c.child)}}
		if c.parent != "" {
			files["rollout-2026-03-01T12-00-00-"+parent+".jsonl"] = &fstest.MapFile{Mode: 0o644, Data: []byte(c.parent)}
		}
		var got []string
		for _, e := range tooltest.ReadEntries(t, codex.Tool{}, files) {
			if e.Source == child && len(e.Message.Parts) > 0 {
				got = append(got, e.Message.Parts.Text())
			}
		}
		want := []string{"count bees", "7"}
		if name == "it is asked the same" {
			want[0] = "Ask a helper"
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
