package catchup

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// The names that the tools of agents give to a list of to-dos, to what one is, and to how far
// it is. Some give the whole list as text instead.
var (
	listNames   = []string{"todos", "plan", "tasks", "todo_list", "items", "steps"}
	textNames   = []string{"content", "step", "title", "description", "text", "task", "name"}
	statusNames = []string{"status", "state", "done", "completed"}
)

// endedWords are the states of a to-do that is settled.
var endedWords = []string{"completed", "complete", "done", "cancelled", "canceled", "deleted", "skipped", "true"}

// boxPattern finds a line with a box that may be ticked, and what is behind it.
var boxPattern = lazyregexp.New(
	`(?m)^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*(?:\[([ xX✓✔~-]?)\]|(☐)|(☑|✅))[ \t]+(.+?)[ \t]*$`)

// openTodos returns those of the newest list of to-dos that are open: of a call that keeps one, or of
// what was said.
func openTodos(ms []scrollback.Message) []openItem {
	for _, m := range slices.Backward(ms) {
		if m.Role == scrollback.RoleTool || m.Role == scrollback.RoleSystem {
			continue
		}
		for _, c := range slices.Backward(m.Parts.Calls()) {
			if left, listed := todosOfCall(c.Arguments); listed {
				return makeItems(m.Seq, left)
			}
		}
		if left, listed := todosOfText(m.Parts.Text()); listed {
			return makeItems(m.Seq, left)
		}
	}
	return nil
}

func makeItems(seq int64, left []string) (out []openItem) {
	for _, text := range left {
		out = append(out, openItem{seq, "to-do", text})
	}
	return out
}

// todosOfCall returns the open to-dos that a call notes, and whether it notes any.
func todosOfCall(arguments json.RawMessage) (left []string, listed bool) {
	var args map[string]json.RawMessage
	if json.Unmarshal(arguments, &args) != nil {
		return nil, false
	}
	for _, name := range listNames {
		var all []map[string]any
		if raw := args[name]; raw == nil || json.Unmarshal(raw, &all) != nil {
			continue
		}
		known := false
		for _, one := range all {
			text := firstField(one, textNames)
			status := firstField(one, statusNames)
			if known = known || text != "" && status != ""; text == "" || slices.Contains(endedWords, strings.ToLower(status)) {
				continue
			}
			left = append(left, text)
		}
		if known {
			return left, true
		}
		left = nil
	}
	for _, name := range []string{"task_progress", "content", "todos", "tasks"} {
		var text string
		if raw := args[name]; raw != nil && json.Unmarshal(raw, &text) == nil && len(args) <= 4 {
			if left, listed = todosOfText(text); listed && (name != "content" || len(args) == 1) {
				return left, true
			}
		}
	}
	return nil, false
}

// firstField returns the first of some fields that is there, as text.
func firstField(one map[string]any, names []string) string {
	for _, n := range names {
		switch v := one[n].(type) {
		case string:
			if s := strings.TrimSpace(v); s != "" {
				return s
			}
		case bool:
			return map[bool]string{true: "true", false: "false"}[v]
		}
	}
	return ""
}

// todosOfText returns the lines of a text whose boxes are empty, and whether it has boxes.
func todosOfText(text string) (left []string, listed bool) {
	if !strings.ContainsAny(text, "[☐☑✅") {
		return nil, false
	}
	for _, m := range boxPattern().FindAllStringSubmatch(text, -1) {
		listed = true
		if m[3] == "" && (m[2] != "" || strings.TrimSpace(m[1]) == "") {
			left = append(left, m[4])
		}
	}
	return left, listed
}
