package install

import (
	"bytes"
	"embed"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// Events of hooks, as this program's command names them.
const (
	sessionStart = "session-start"
	prompt       = "prompt"
	preCompact   = "pre-compact"
	stop         = "stop"
)

// shape writes what agents are told to call.
type shape struct {
	program string
	data    string // the folder of the data, if it is not the usual one
	hooks   bool
	serve   bool // the MCP server is named in files of ours; not where somebody has named it in the settings
	trust   bool // permissions that an agent asks for are written
	windows bool
}

// Stand-ins for what is different on each machine, in patterns of what install writes.
const (
	anyProgram = "@@PROGRAM@@"
	anyData    = "@@DATA@@"
)

// patterns are the shapes that recognise what install has written, with any program.
func patterns(windows bool) (out []shape) {
	for _, data := range []string{"", anyData} {
		for _, hooks := range []bool{true, false} {
			for _, serve := range []bool{true, false} {
				out = append(out, shape{program: anyProgram, data: data, hooks: hooks, serve: serve, trust: true,
					windows: windows})
			}
		}
	}
	return out
}

// more returns the arguments that every call has.
func (s shape) more() []any {
	if s.data == "" {
		return nil
	}
	return []any{"--data", s.data}
}

// hookArgs returns the arguments of a hook.
func (s shape) hookArgs(event, agent string) []any {
	return append([]any{"hook", event, "--agent", agent}, s.more()...)
}

// hookCommand returns the line of a shell that calls a hook. It ends silently, with 0, when the program is gone.
func (s shape) hookCommand(event, agent string) string {
	call := " hook " + event + " --agent " + agent
	if s.windows { // whose shells have no words in common
		call = `"` + s.program + `"` + call
		if s.data != "" {
			call += ` --data "` + s.data + `"`
		}
		return call
	}
	if s.data != "" {
		call += " --data " + quoteShell(s.data)
	}
	return "p=" + quoteShell(s.program) + `; [ ! -x "$p" ] || [ -d "$p" ] || "$p"` + call
}

// quoteShell returns a text in quotes for sh.
func quoteShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// server returns the MCP server, with fields before its command and behind its arguments.
func (s shape) server(before editor.Object, args []any, behind editor.Object) editor.Object {
	out := append(editor.Object{}, before...)
	out = append(out, editor.Field{Key: "command", Value: s.program},
		editor.Field{Key: "args", Value: append(append([]any{"mcp"}, args...), s.more()...)})
	return append(out, behind...)
}

func (s shape) plainServer() editor.Object { return s.server(nil, nil, nil) }

// servers returns a table with the server alone.
func (s shape) servers() editor.Object {
	return editor.Object{{Key: "scrollback", Value: s.plainServer()}}
}

// call is when an agent calls a hook.
type call struct{ on, event string }

// shellHooks returns a table of hooks as most agents take it, with a field behind each command.
func (s shape) shellHooks(agent string, calls []call, behind editor.Object) editor.Object {
	var out editor.Object
	for _, c := range calls {
		out = append(out, editor.Field{Key: c.on, Value: []any{s.shellGroup(agent, c.event, behind)}})
	}
	return out
}

func (s shape) shellGroup(agent, event string, behind editor.Object) editor.Object {
	hook := append(editor.Object{{Key: "type", Value: "command"},
		{Key: "command", Value: s.hookCommand(event, agent)}}, behind...)
	return editor.Object{{Key: "hooks", Value: []any{hook}}}
}

// claudeHooks returns the hooks of Claude Code, which starts the program itself.
func (s shape) claudeHooks() editor.Object {
	var out editor.Object
	for _, c := range claudeCalls {
		hook := editor.Object{{Key: "type", Value: "command"}, {Key: "command", Value: s.program},
			{Key: "args", Value: s.hookArgs(c.event, agents.ClaudeCode)}, {Key: "timeout", Value: 2}}
		if c.event == stop {
			hook = append(hook, editor.Field{Key: "async", Value: true})
		}
		out = append(out, editor.Field{Key: c.on, Value: []any{editor.Object{{Key: "hooks", Value: []any{hook}}}}})
	}
	return out
}

// The hooks of each agent.
var (
	claudeCalls = []call{{"SessionStart", sessionStart}, {"UserPromptSubmit", prompt}, {"PreCompact", preCompact},
		{"Stop", stop}}
	codexCalls   = []call{{"SessionStart", sessionStart}, {"UserPromptSubmit", prompt}}
	geminiCalls  = []call{{"SessionStart", sessionStart}, {"BeforeAgent", prompt}}
	copilotCalls = []call{{"sessionStart", sessionStart}, {"userPromptSubmitted", prompt}, {"preCompact", preCompact},
		{"agentStop", stop}}
)

// Events lists the hooks that an agent calls, as this program's command names them.
func Events(agent string) []string {
	switch agent {
	case agents.Codex, agents.GeminiCLI:
		return []string{sessionStart, prompt}
	case agents.Cline:
		return []string{sessionStart, prompt, stop}
	}
	return []string{sessionStart, prompt, preCompact, stop}
}

// copilotHooks returns the hooks of Copilot CLI.
func (s shape) copilotHooks() editor.Object {
	var out editor.Object
	for _, c := range copilotCalls {
		out = append(out, editor.Field{Key: c.on, Value: []any{editor.Object{{Key: "type", Value: "command"},
			{Key: "command", Value: s.hookCommand(c.event, agents.CopilotCLI)}, {Key: "timeoutSec", Value: 2}}}})
	}
	return out
}

// writeJSON writes a file of JSON that is ours.
func writeJSON(v editor.Object) []byte {
	var out editor.Change
	var text []byte
	for _, f := range v {
		var err error
		if out, err = editor.Insert(text, editor.JSON, []string{f.Key}, f.Value); err != nil {
			return nil // a value of ours can be written
		}
		text = out.Text
	}
	return text
}

//go:embed plugins
var plugins embed.FS

// plugin returns a module for an agent.
func (s shape) plugin(file, agent string) []byte {
	text, err := plugins.ReadFile("plugins/" + file)
	if err != nil {
		return nil // it is part of the program
	}
	more := s.more()
	if more == nil {
		more = []any{}
	}
	// What stands for the program in the module stands for itself in a pattern.
	for mark, v := range map[string]any{"@@AGENT@@": agent, "@@MORE@@": more, "@@HOOKS@@": s.hooks} {
		text = bytes.ReplaceAll(text, []byte(mark), marshal(v))
	}
	return bytes.ReplaceAll(text, []byte(anyProgram), marshal(s.program))
}

// marshal returns a value as JSON, which is JavaScript too.
func marshal(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil // texts and lists of them can be written
	}
	return bytes.TrimSpace(out.Bytes())
}

// wild returns the pattern of a text with stand-ins.
func wild(text string) *regexp.Regexp {
	text = regexp.QuoteMeta(text)
	text = strings.ReplaceAll(text, regexp.QuoteMeta(anyProgram), `(.+?)`)
	text = strings.ReplaceAll(text, regexp.QuoteMeta(anyData), `.+?`)
	return regexp.MustCompile(`^(?s:` + text + `)$`)
}

// fits reports whether what was read is what a pattern says.
func fits(v, pattern any) bool {
	switch p := pattern.(type) {
	case editor.Object:
		table, ok := v.(map[string]any)
		if !ok || len(table) != len(p) {
			return false
		}
		for _, f := range p {
			if inner, ok := table[f.Key]; !ok || !fits(inner, f.Value) {
				return false
			}
		}
		return true
	case []any:
		list, ok := v.([]any)
		if !ok || len(list) != len(p) {
			return false
		}
		for i, one := range p {
			if !fits(list[i], one) {
				return false
			}
		}
		return true
	case string:
		text, ok := v.(string)
		switch {
		case !ok:
			return false
		case p == anyProgram: // people write the name alone
			return filepath.IsAbs(text) && isOurProgram(text)
		case p == anyData:
			return text != ""
		case strings.Contains(p, anyProgram):
			return wild(p).MatchString(text)
		}
		return text == p
	}
	return editor.Same(v, pattern)
}

// isOurProgram reports whether a path names this program.
func isOurProgram(name string) bool {
	base := strings.ToLower(filepath.Base(filepath.ToSlash(name)))
	return strings.HasPrefix(strings.TrimSuffix(base, ".exe"), "scrollback")
}
