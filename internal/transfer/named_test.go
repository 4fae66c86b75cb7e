package transfer_test

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A result that comes without a name has that of its call, also when the call came with an earlier import; and the
// same file again changes nothing.
func TestImportedResultsAreNamed(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	const begins = `{"conversation":{"id":"src-1","title":"T"}}
{"role":"user","content":"what time is it?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"clock","arguments":"{}"}}]}
`
	const goesOn = `{"role":"tool","tool_call_id":"c1","content":"noon"}
{"role":"assistant","content":[{"type":"tool_call","id":"c2","name":"bell","arguments":{}}]}
{"role":"tool","content":[{"type":"tool_result","call_id":"c2","name":"","text":"dong"}]}
{"role":"tool","tool_call_id":"c9","content":"of nobody"}
`
	var id scrollback.ConversationID
	for _, step := range []struct {
		file     string
		messages int64
	}{{begins, 2}, {begins + goesOn, 4}, {begins + goesOn, 0}} {
		out, err := r.ImportText(step.file)
		if err != nil || len(out.Skipped) > 0 || out.Conversations[0].Messages != step.messages {
			t.Fatalf("%+v, %v", out, err)
		}
		id = out.Conversations[0].ID
	}
	var names []string
	for _, m := range r.Log(id) {
		for _, res := range m.Parts.Results() {
			names = append(names, res.CallID+" "+res.Name)
		}
	}
	if got := strings.Join(names, ", "); got != "c1 clock, c2 bell, c9 " {
		t.Errorf("the results are %q", got)
	}
}

// What an imported answer says between tags was thought; and the same file again changes nothing.
func TestImportedThoughts(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	const file = `{"conversation":{"id":"src-1","title":"T"}}
{"role":"user","content":"<think>is what I typed</think>"}
{"role":"assistant","content":"<think>why?</think>\n\nbecause"}
`
	var id scrollback.ConversationID
	for _, messages := range []int64{2, 0} {
		out, err := r.ImportText(file)
		if err != nil || out.Conversations[0].Messages != messages {
			t.Fatalf("%+v, %v", out, err)
		}
		id = out.Conversations[0].ID
	}
	log := r.Log(id)
	if log[0].Parts.Text() != "<think>is what I typed</think>" || log[1].Parts.Text() != "because" {
		t.Errorf("it says %q and %q", log[0].Parts.Text(), log[1].Parts.Text())
	}
	if thought, ok := log[1].Parts[0].(scrollback.Reasoning); !ok || thought.Text != "why?" {
		t.Errorf("it thinks %+v", log[1].Parts)
	}
}
