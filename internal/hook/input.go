package hook

import (
	"encoding/json"
	"strings"
)

// Input is what an agent hands in at an event, whichever names it has for it. What it does not say is empty.
type Input struct {
	Agent      string // as in `import --from`
	Event      Event
	Session    string
	Folder     string // that is worked in
	Transcript string // the file of the session
	Turn       string // names the prompt among those of the session
	Source     string // of a start: startup, resume, clear, compact, fork, new
	Prompt     string // that was typed, without what the agent or a hook put before it
	Answer     string // of a stop: what was said last
	Summary    string // of the agent's own compaction
	SubAgent   bool
	Model      int64 // which call of a model in the turn, where the agent counts them; else 0
}

// ParseInput reads what an agent hands in. Fields of another type than expected count as missing.
func ParseInput(agent string, event Event, value json.RawMessage) (Input, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return Input{}, ErrInput
	}
	f := inputFields(fields)
	in := Input{Agent: agent, Event: event,
		Session:    f.text("session_id", "sessionId", "sessionID", "taskId"),
		Folder:     f.text("cwd", "workspaceDir", "directory"),
		Transcript: f.text("transcript_path", "transcriptPath", "file"),
		Turn:       f.text("prompt_id", "turn_id", "message_id", "runId"),
		Prompt:     f.text("prompt", "user_prompt", "text"),
		Answer:     f.text("last_assistant_message", "prompt_response"),
		Summary:    f.text("compact_summary", "summary"),
		Source:     f.text("source", "reason"),
	}
	if event == SessionStart && in.Prompt == "" {
		in.Prompt = f.text("initialPrompt", "initial_prompt")
	}
	if agent == "antigravity-cli" { // it runs hooks in the folder of their file
		in.Folder = ""
	}
	if in.Folder == "" {
		in.Folder = f.first("workspacePaths", "workspaceRoots")
	}
	for _, name := range []string{"agent_id", "parent_agent_id", "parentAgentId", "parentID", "parent_id"} {
		// Cline names the agent of a session too; who works for another has a parent.
		if name == "agent_id" && agent == "cline" {
			continue
		}
		in.SubAgent = in.SubAgent || f.text(name) != ""
	}
	_ = json.Unmarshal(fields["invocationNum"], &in.Model)
	in.Prompt = withoutContext(in.Prompt)
	return in, nil
}

// inputFields are the fields of an input.
type inputFields map[string]json.RawMessage

// text returns the first of some fields that is a text with anything in it.
func (f inputFields) text(names ...string) string {
	for _, name := range names {
		var s string
		if json.Unmarshal(f[name], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// first returns the first text of the first list that has any.
func (f inputFields) first(names ...string) string {
	for _, name := range names {
		var list []string
		if json.Unmarshal(f[name], &list) == nil && len(list) > 0 {
			return list[0]
		}
	}
	return ""
}

// contextTags are what agents put around the text of hooks, in the prompt that they hand in.
var contextTags = []string{"hook_context", "system_reminder", "system-reminder", "qwen:session-start-context",
	"qwen:user-prompt-submit-context"}

// withoutContext returns a prompt without the texts of hooks that stand before or behind it, and without the element
// that Cline puts around it.
func withoutContext(prompt string) string {
	s := strings.TrimSpace(prompt)
	for again := true; again; {
		again = false
		for _, tag := range contextTags {
			end := "</" + tag + ">"
			if strings.HasPrefix(s, "<"+tag) {
				if at := strings.Index(s, end); at >= 0 {
					s = strings.TrimSpace(s[at+len(end):])
					again = true
				}
			}
			if strings.HasSuffix(s, end) {
				if at := strings.LastIndex(s, "<"+tag); at >= 0 {
					s = strings.TrimSpace(s[:at])
					again = true
				}
			}
		}
	}
	if strings.HasPrefix(s, "<user_input") {
		if _, inner, found := strings.Cut(s, ">"); found {
			s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), "</user_input>"))
		}
	}
	return s
}
