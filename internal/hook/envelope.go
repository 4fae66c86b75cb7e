package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Answer is what is said to an agent: the text for its model, and how many notes are in it.
type Answer struct {
	Text   string
	Notes  int
	Tell   bool // the person is told as well, where the agent shows it
	Import bool // the session stopped, and is to be imported
}

// specificOutput is the form of Claude Code, which others took over.
type specificOutput struct {
	Event string `json:"hookEventName"`
	Text  string `json:"additionalContext"`
}

// WriteEnvelope returns what is printed to an agent at an event: nothing where it takes nothing, or where there is
// nothing to be said.
func WriteEnvelope(agent string, event Event, a Answer) []byte {
	if a.Text == "" {
		return nil
	}
	switch agent {
	case "claude-code", "codex", "gemini-cli", "qwen-code":
		return writeSpecific(agent, event, a)
	case "copilot-cli":
		name := map[Event]string{SessionStart: "SessionStart", Prompt: "UserPromptSubmit"}[event]
		if name == "" {
			return nil
		}
		return encode(map[string]any{"additionalContext": a.Text, // which Copilot reads, and VS Code the other
			"hookSpecificOutput": specificOutput{name, a.Text}})
	case "opencode", "kilo", "pi", "cline", "openclaw":
		return encode(map[string]any{"text": a.Text})
	}
	switch {
	case agent == "cursor" && event == SessionStart:
		return encode(map[string]any{"additional_context": a.Text})
	case agent == "antigravity-cli" && event == Prompt:
		return encode(map[string]any{"injectSteps": []any{map[string]any{"ephemeralMessage": a.Text}}})
	case agent == "hermes" && event == Prompt:
		return encode(map[string]any{"context": a.Text})
	}
	return nil
}

// writeSpecific returns the output of Claude Code and of those that took its form.
func writeSpecific(agent string, event Event, a Answer) []byte {
	out := struct {
		Specific specificOutput `json:"hookSpecificOutput"`
		Shown    string         `json:"systemMessage,omitempty"`
	}{Specific: specificOutput{Text: a.Text}}
	switch {
	case event == SessionStart:
		out.Specific.Event = "SessionStart"
	case event == Prompt && agent == "gemini-cli":
		out.Specific.Event = "BeforeAgent"
	case event == Prompt:
		out.Specific.Event = "UserPromptSubmit"
	case event == PreCompact && agent == "claude-code":
		return []byte(a.Text + "\n") // plain: its other form is refused there
	case event == PreCompact && agent == "qwen-code":
		out.Specific.Event = "PreCompact"
	default:
		return nil
	}
	if a.Tell && a.Notes > 0 && (agent == "claude-code" || agent == "gemini-cli") {
		out.Shown = fmt.Sprintf("scrollback: %d earlier notes", a.Notes)
		if a.Notes == 1 {
			out.Shown = "scrollback: 1 earlier note"
		}
	}
	return encode(out)
}

// encode returns a value as one line. What stands in texts is escaped as little as JSON allows: an agent may show it.
func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return nil
	}
	return b.Bytes()
}
