package engine_test

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
)

// picture is a PNG of one pixel.
var picture, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" +
	"+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

// elsewhere is talk as other tools keep it, each line a trap for some provider: names and ids
// that a wire refuses, ids that come twice, calls without results and results without calls,
// arguments that are text, answers that were cut off, thoughts that another model signed,
// images of either side, messages in a row of one role, empty ones, a system message amid them.
func elsewhere() string {
	image := `{"type":"image","name":"a.png","data":"` + base64.StdEncoding.EncodeToString(picture) + `"}`
	signed := `{"type":"reasoning","text":"It must be the crane.","opaque":{"anthropic":{"signature":"Zm9yZWlnbl9zaWc","type":"thinking"},` +
		`"openai":{"id":"rs_foreign","encrypted_content":"Zm9yZWlnbg=="},"gemini":{"thoughtSignature":"Zm9yZWlnbg=="}}}`
	return strings.Join([]string{
		`{"conversation":{"id":"from elsewhere","title":"The crane","model":"claude-nine-9"}}`,
		`{"role":"assistant","content":"Hello, what shall we do?","model":"gpt-9"}`,
		`{"role":"user","content":[{"type":"text","text":"Look at the crane."},` + image + `]}`,
		`{"role":"user","content":"<system-reminder>The file has changed.</system-reminder>"}`,
		`{"role":"assistant","model":"claude-nine-9","content":[` + signed + `,{"type":"text","text":"I look."},` +
			`{"type":"tool_call","id":"toolu_01/é","name":"mcp__files.read-all file","arguments":{"file_path":"/src/crane.go"}},` +
			`{"type":"tool_call","id":"toolu_02","name":"Bash","arguments":{"command":"go test ./..."}},` +
			`{"type":"tool_call","id":"toolu_03","name":"` + strings.Repeat("very_long_name_", 12) + `","arguments":{}}]}`,
		`{"role":"tool","content":[{"type":"tool_result","call_id":"toolu_02","name":"Bash","text":"exit 1","is_error":true},` +
			`{"type":"tool_result","call_id":"toolu_01/é","name":"mcp__files.read-all file","text":""}]}`,
		`{"role":"assistant","content":[{"type":"tool_call","id":"toolu_02","name":"apply_patch","arguments":"*** Begin Patch"}]}`,
		`{"role":"tool","content":[{"type":"tool_result","call_id":"toolu_02","name":"apply_patch","text":"Done."}]}`,
		`{"role":"tool","content":[{"type":"tool_result","call_id":"nobody","name":"shell","text":"of a call that was rewound"}]}`,
		`{"role":"system","content":"The mode is now: plan."}`,
		`{"role":"assistant","content":[{"type":"reasoning","text":"Only a thought."}]}`,
		`{"role":"assistant","content":"","status":"interrupted"}`,
		`{"role":"assistant","content":[{"type":"text","text":"Here is what it looks like:"},` + image + `]}`,
		`{"role":"user","content":"[Request interrupted by user]"}`,
		`{"role":"user","content":"港口的起重机怎么样？"}`,
		`{"role":"assistant","content":[{"type":"text","text":"It is being rep"},` +
			`{"type":"tool_call","id":"last","name":"Task","arguments":{"prompt":"mend"}}],"status":"interrupted"}`,
	}, "\n")
}

// Talk of another tool goes on here with a model of any provider, with look-ups and tools of
// ours, and no server refuses a request for it. With another model after that it goes on too.
func TestGoingOnElsewhere(t *testing.T) {
	for _, preset := range slices.Sorted(maps.Keys(offers)) {
		t.Run(preset, func(t *testing.T) {
			env := map[string]string{}
			s := serve(t, preset, 60_000, env)
			second := "anthropic"
			if preset == second {
				second = "openai"
			}
			other := serve(t, second, 60_000, env)
			find := finds(env)
			r := enginetest.New(t, enginetest.Options{NoFolds: true, Models: func(name string) (model.Model, error) {
				if strings.Contains(name, "/") {
					return find(name)
				}
				return find(s.name) // of a conversation that names none that is known here
			}})
			in, err := r.Import(t.Context(), strings.NewReader(elsewhere()), transfer.ImportRequest{})
			if err != nil || len(in.Conversations) != 1 || len(in.Skipped) > 2 {
				t.Fatalf("%+v, %v", in, err)
			}
			id := in.Conversations[0].ID
			for i, by := range []*served{s, s, other, s} {
				question := []string{"Go on with the crane. [look]", "And the time? [clock]", "And now? [both]",
					"Is it mended? [looks]"}[i]
				ended(r, engine.TurnRequest{Conversation: id, Message: enginetest.Say(question), Tools: enginetest.ClockTool,
					Overrides: engine.Overrides{Model: by.name}})
			}
			s.refused(t, append([]string{"system-front", "turns"}, taught[preset]...)...) // learned, and asked again without
			other.refused(t, taught[second]...)
			bodies := string(s.line.bodies())
			if !strings.Contains(bodies, "crane.go") || !strings.Contains(bodies, "exit 1") {
				t.Error("the model did not get what was done elsewhere")
			}
			for _, of := range []string{"rs_foreign", "Zm9yZWlnb"} {
				if strings.Contains(bodies, of) || strings.Contains(string(other.line.bodies()), of) {
					t.Errorf("a request holds %s, which another model has signed", of)
				}
			}
			if log := r.Log(id); len(log) < 20 || log[1].Role != scrollback.RoleUser {
				t.Errorf("%d messages are stored", len(log))
			}
		})
	}
}
