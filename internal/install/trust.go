package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// codexEvents are the events as Codex' trust names them.
var codexEvents = map[string]string{"SessionStart": "session_start", "UserPromptSubmit": "user_prompt_submit"}

// trustHash returns what Codex takes for the identity of a hook: the hash of its settings, in JSON with sorted keys.
func trustHash(event string, hook map[string]any) string {
	own := map[string]any{"async": false, "command": hook["command"], "timeout": hook["timeout"], "type": "command"}
	if status, ok := hook["statusMessage"]; ok {
		own["statusMessage"] = status
	}
	text := marshal(map[string]any{"event_name": event, "hooks": []any{own}})
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// trusts returns what says in Codex' settings that our hooks in a file are trusted. The place of a hook in the file is
// part of its name there.
func (r *Run) trusts(path string, text []byte) (out []put) {
	for _, c := range codexCalls {
		list, _, err := editor.Lookup(text, editor.JSON, "hooks", c.on)
		items, _ := list.([]any)
		if err != nil {
			return nil
		}
		for i, group := range items {
			if !r.isOurs(group, agents.Codex, []string{"hooks", c.on}) {
				continue
			}
			table, _ := group.(map[string]any)
			inner, _ := table["hooks"].([]any)
			hook, _ := inner[0].(map[string]any)
			// Numbers were read as they are spelled, and are written so.
			hook["timeout"] = json.RawMessage(fmt.Sprint(hook["timeout"]))
			event := codexEvents[c.on]
			out = append(out, put{keys: []string{"hooks", "state", fmt.Sprintf("%s:%s:%d:0", path, event, i)}, mine: true,
				value: editor.Object{{Key: "trusted_hash", Value: trustHash(event, hook)}}})
		}
	}
	return out
}
