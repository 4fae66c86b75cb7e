package hook

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// One object is read though the pipe stays open; what is none, comes too late or is too long is not.
func TestReadValue(t *testing.T) {
	read := func(parts ...string) (string, error) {
		r, w := io.Pipe()
		defer w.Close()
		go func() {
			for _, p := range parts {
				if _, err := io.WriteString(w, p); err != nil {
					return
				}
			}
		}()
		ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer stop()
		value, err := ReadValue(ctx, r)
		return string(value), err
	}
	for _, parts := range [][]string{{`{"a":1}`}, {`{"a"`, `:1}`}, {"\ufeff", ` {"a":1} {"b":2}`}} {
		if got, err := read(parts...); err != nil || got != `{"a":1}` {
			t.Errorf("%q is read as %q, %v", parts, got, err)
		}
	}
	long := strings.Repeat("a", MaxInput)
	for _, parts := range [][]string{{}, {`{"a":`}, {`[1]`}, {`null`}, {`"a"`}, {`nonsense`}, {`{"a":"`, long, `"}`},
		{strings.Repeat("[", 20_000)}, {strings.Repeat(" ", 2*MaxInput), `{"a":1}`}} {
		if got, err := read(parts...); err == nil {
			t.Errorf("%.20q is read as %.20q", parts, got)
		}
	}
	if _, err := ReadValue(t.Context(), strings.NewReader("")); err == nil {
		t.Error("nothing is read as something")
	}
}

func TestParseInput(t *testing.T) {
	for name, c := range map[string]struct {
		agent string
		event Event
		in    string
		want  Input
	}{
		"snake case": {"codex", Prompt,
			`{"session_id":"s","cwd":"/w","prompt":" p ","turn_id":"t","transcript_path":"/f","source":"startup"}`,
			Input{Session: "s", Folder: "/w", Prompt: "p", Turn: "t", Transcript: "/f", Source: "startup"}},
		"camel case": {"copilot-cli", SessionStart, `{"sessionId":"s","cwd":"/w","initialPrompt":"p","source":"new"}`,
			Input{Session: "s", Folder: "/w", Prompt: "p", Source: "new"}},
		"Cline": {"cline", SessionStart,
			`{"taskId":"s","agent_id":"a","parent_agent_id":null,"workspaceRoots":["/w","/x"]}`,
			Input{Session: "s", Folder: "/w"}},
		"a sub-agent": {"codex", Prompt, `{"session_id":"s","agent_id":"a"}`, Input{Session: "s", SubAgent: true}},
		"another model": {"antigravity-cli", Prompt,
			`{"cwd":"/x","workspacePaths":["/w"],"invocationNum":2}`, Input{Folder: "/w", Model: 2}},
		"Gemini's own context": {"gemini-cli", Prompt, `{"prompt":"<hook_context>a <b></hook_context>\n\nDelegate. "}`,
			Input{Prompt: "Delegate."}},
		"Cline's element": {"cline", Prompt, `{"prompt":"<user_input mode=\"act\">Say it. </user_input>"}`,
			Input{Prompt: "Say it."}},
		"fields of any type": {"pi", Prompt, `{"session_id":7,"cwd":["/w"],"prompt":{"text":"p"},"source":null}`,
			Input{}},
	} {
		got, err := ParseInput(c.agent, c.event, []byte(c.in))
		c.want.Agent = c.agent
		c.want.Event = c.event
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

func TestQuiet(t *testing.T) {
	for prompt, want := range map[string]bool{"": true, "/compact": true,
		"/mcp__x:y z of the crane": true, "!ls -la /tmp/crane": true,
		"# remember the crane lease": true, "<task-notification>done</task-notification>": true,
		"go on": true, "继续下一步": true,
		"/usr/share/crane is empty, why?": false, "when does the lease end": false, "起重机租约什么时候到期": false} {
		if why, got := isQuiet(prompt); got != want {
			t.Errorf("%q is quiet: %v (%s)", prompt, got, why)
		}
	}
}

func FuzzParseInput(f *testing.F) {
	f.Add(`{"session_id":"s","prompt":"<hook_context>a</hook_context>b","workspaceRoots":["/w"]}`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, agent := range []string{"claude-code", "cline", "antigravity-cli"} {
			in, err := ParseInput(agent, Prompt, []byte(s))
			if err == nil && len(in.Prompt) > len(s)*3 {
				t.Errorf("%q has the prompt %q", s, in.Prompt)
			}
		}
	})
}
