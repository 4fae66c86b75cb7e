package cline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// spokenTools are the tools that older assistants called by XML in their text.
var spokenTools = []string{
	"execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content",
	"search_and_replace",
	"search_files", "list_files", "list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource",
	"ask_followup_question", "attempt_completion", "plan_mode_respond", "plan_mode_response", "new_task", "switch_mode",
	"fetch_instructions", "codebase_search", "update_todo_list", "web_fetch", "condense", "load_mcp_documentation",
}

// addSpeech adds the text of an assistant, and the call that it speaks, if any.
func (t *talkReader) addSpeech(c *content, said string, i int) {
	name := ""
	from := -1
	to := 0
	for _, tool := range spokenTools {
		at := strings.Index(said, "<"+tool+">")
		if at < 0 || from >= 0 && at > from {
			continue
		}
		if end := strings.LastIndex(said[at:], "</"+tool+">"); end >= 0 {
			name = tool
			from = at
			to = at + end + len("</"+tool+">")
		}
	}
	if from < 0 {
		c.addText(said)
		return
	}
	c.addText(said[:from])
	id := fmt.Sprintf("spoken-%d-%d", t.index, i)
	call := scrollback.ToolCall{ID: id, Name: name, Arguments: spokenArguments(said[from+len(name)+2 : to-len(name)-3])}
	c.addPart(call)
	t.rememberCall(call)
	c.addText(said[to:])
}

var tag = lazyregexp.New(`<([a-z_]{1,40})>`)

// spokenArguments returns the elements of a spoken call as JSON.
func spokenArguments(body string) json.RawMessage {
	out := map[string]string{}
	for len(out) < 64 {
		at := tag().FindStringSubmatchIndex(body)
		if at == nil {
			break
		}
		name := body[at[2]:at[3]]
		rest := body[at[1]:]
		end := strings.Index(rest, "</"+name+">")
		if name == "content" || name == "diff" { // what is written may have tags itself
			end = strings.LastIndex(rest, "</"+name+">")
		}
		if end < 0 {
			break
		}
		out[name] = strings.Trim(rest[:end], "\n")
		body = rest[end+len(name)+3:]
	}
	arguments, err := plainjson.Marshal(out)
	if err != nil {
		return json.RawMessage(`{}`) // texts always can
	}
	return arguments
}

var resultHead = lazyregexp.New(`^\[([a-z_]{1,40})(?: for [^\n]*)?\] Result:`)

// spokenResult returns the name of the tool whose result a text begins with, and what follows.
func spokenResult(s string) (name, rest string, ok bool) {
	at := resultHead().FindStringSubmatchIndex(s)
	if at == nil || !slices.Contains(spokenTools, s[at[2]:at[3]]) {
		return "", s, false
	}
	return s[at[2]:at[3]], strings.TrimLeft(s[at[1]:], " \n"), true
}

// splitFeedback takes what a person said out of a result: an answer to a question, or feedback.
func splitFeedback(tool, s string) (rest, own string) {
	var tags []string
	switch {
	case tool == "ask_followup_question":
		tags = []string{"answer"}
	case strings.Contains(s, "feedback:\n<feedback>"):
		tags = []string{"feedback"}
	case tool == "attempt_completion" || strings.HasPrefix(tool, "plan_mode_respon"):
		tags = []string{"user_message"}
	}
	for _, name := range tags {
		before, inner, found := strings.Cut(s, "<"+name+">")
		inner, after, closed := strings.Cut(inner, "</"+name+">")
		if found && closed {
			return strings.TrimSpace(before + after), strings.TrimSpace(inner)
		}
	}
	return s, ""
}

// dropped are elements that the tool puts around what a person says, for the model.
var dropped = []string{"environment_details", "explicit_instructions", "system-reminder", "system_reminder"}

// reminders are how pieces begin that the tool says to the model.
var reminders = []string{"# task_progress ", "# TODO LIST ", "# Todo List "}

// unwrapped are elements around what a person said.
var unwrapped = []string{"task", "user_input", "user_message", "feedback"}

// place names the folder that was worked in. How long it may be is checked apart: a count in
// the expression would be compiled at each start, for longer than all others.
var place = lazyregexp.New(`# Current Work(?:ing|space) Directory \(([^\n]+?)\) Files`)

// longestPlace bounds the path of a folder, in bytes.
const longestPlace = 4096

// stripWrapping returns a text without what the tool put around it, the folder that was worked in if
// it says so, and how many pieces were left out.
func stripWrapping(s string) (words, folder string, left int) {
	for _, name := range dropped {
		for range 100 {
			before, rest, found := strings.Cut(s, "<"+name)
			if !found || rest == "" || rest[0] != '>' && rest[0] != ' ' {
				break
			}
			inner, after, closed := strings.Cut(rest, "</"+name+">")
			if !closed {
				inner = rest
				after = ""
			}
			if m := place().FindStringSubmatch(inner); m != nil && len(m[1]) <= longestPlace && folder == "" {
				folder = m[1]
			}
			s = before + after
			left++
		}
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[TASK RESUMPTION]") || strings.HasPrefix(s, "[ERROR] You did not use a tool") {
		_, inner, _ := strings.Cut(s, "<user_message>")
		inner, _, _ = strings.Cut(inner, "</user_message>")
		return strings.TrimSpace(inner), folder, left + 1
	}
	for _, begin := range reminders {
		if strings.HasPrefix(s, begin) {
			return "", folder, left + 1
		}
	}
	for _, name := range unwrapped {
		if inner, ok := elementText(s, name); ok {
			s = inner
		}
	}
	return s, folder, left
}

// elementText returns what stands in an element that is the whole of a text.
func elementText(s, name string) (string, bool) {
	rest, ok := strings.CutPrefix(s, "<"+name)
	if !ok || rest == "" || rest[0] != '>' && rest[0] != ' ' {
		return s, false
	}
	_, inner, ok := strings.Cut(rest, ">")
	inner, closed := strings.CutSuffix(inner, "</"+name+">")
	return strings.TrimSpace(inner), ok && closed
}

// beforeInterruption returns what a model said before it was interrupted, and whether it was.
func beforeInterruption(s string) (string, bool) {
	for _, mark := range []string{"[Response interrupted by user]", "[Response interrupted by API Error]"} {
		if rest, ok := strings.CutSuffix(strings.TrimSpace(s), mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return s, false
}
