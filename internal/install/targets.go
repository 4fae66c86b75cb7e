package install

import (
	"path/filepath"
	"slices"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// target is a file that an agent reads: all of it ours, or a person's with something of ours in it.
type target struct {
	path   string
	whole  []byte // nil where something is put into a person's file
	format editor.Format
	puts   []put
	serves bool // it names the MCP server
	calls  bool // it calls hooks
}

// put is what is put into a person's file: a value under keys, or one more in the list under them.
type put struct {
	keys  []string
	value any
	list  bool
	mine  bool // whatever is there is ours
}

// place is where an agent is set up.
type place struct {
	agents.Machine
	data string // the folder of the data
	old  bool   // Claude Code is too old for a folder of ours
	has  func(path string) bool
}

// file is a target that is ours.
func file(path string, whole []byte) target { return target{path: path, whole: whole} }

// insertion is a target that is a person's.
func insertion(path string, format editor.Format, puts ...put) target {
	return target{path: path, format: format, puts: puts}
}

func (t target) serving() target {
	t.serves = true
	return t
}

func (t target) calling() target {
	t.calls = true
	return t
}

// targetsOf returns the files of an agent in a shape. Without hooks what only calls them is left out.
func targetsOf(name string, p place, s shape) []target {
	all := listTargets[name]
	switch {
	case name == Service:
		all = serviceTargets
	case all == nil:
		return nil
	}
	out := slices.DeleteFunc(all(p, s), func(t target) bool {
		return t.path == "" || t.calls && !t.serves && !s.hooks || t.serves && !t.calls && t.whole != nil && !s.serve
	})
	return out
}

// Agents lists the agents that can be set up, in the order of the table of agents.
func Agents() (out []string) {
	for _, name := range agents.Names() {
		if listTargets[name] != nil {
			out = append(out, name)
		}
	}
	return out
}

// OpenClawPlugin returns the folder of the plugin that OpenClaw is to be told of.
func OpenClawPlugin(data string) string { return filepath.Join(data, "agents", "openclaw") }

// listTargets are the files of each agent.
var listTargets = map[string]func(p place, s shape) []target{
	agents.ClaudeCode: claudeTargets,
	agents.Codex:      codexTargets,
	agents.GeminiCLI:  geminiTargets,
	agents.QwenCode:   qwenTargets,
	agents.CopilotCLI: copilotTargets,
	agents.Opencode: func(p place, s shape) []target {
		return []target{file(p.Join(p.Folder(agents.Opencode), "plugins", "scrollback.js"),
			s.plugin("opencode.js", agents.Opencode)).serving().calling()}
	},
	agents.Kilo: func(p place, s shape) []target {
		return []target{file(p.Join(p.Folder(agents.Kilo), "plugins", "scrollback.js"),
			s.plugin("opencode.js", agents.Kilo)).serving().calling()}
	},
	agents.Pi: func(p place, s shape) []target {
		return []target{file(p.Join(p.Folder(agents.Pi), "extensions", "scrollback.ts"),
			s.plugin("pi.ts", agents.Pi)).serving().calling()}
	},
	agents.Cline:    clineTargets,
	agents.OpenClaw: openclawTargets,
	agents.Crush: func(p place, s shape) []target {
		return p.serverTargets(agents.Crush, editor.JSON,
			s.server(editor.Object{{Key: "type", Value: "stdio"}}, []any{"--root", "."}, nil))
	},
	agents.Cursor: func(p place, s shape) []target {
		return p.serverTargets(agents.Cursor, editor.JSON, s.plainServer())
	},
	agents.VSCode: func(p place, s shape) []target {
		return p.serverTargets(agents.VSCode, editor.JSONC,
			s.server(editor.Object{{Key: "type", Value: "stdio"}}, nil, nil))
	},
	agents.Zed: func(p place, s shape) []target {
		return p.serverTargets(agents.Zed, editor.JSONC, s.plainServer())
	},
	agents.Goose: func(p place, s shape) []target {
		v := editor.Object{{Key: "name", Value: "scrollback"}, {Key: "type", Value: "stdio"},
			{Key: "cmd", Value: s.program},
			{Key: "args", Value: append([]any{"mcp", "--root", "."}, s.more()...)}, {Key: "enabled", Value: true},
			{Key: "timeout", Value: 300}}
		return p.serverTargets(agents.Goose, editor.YAML, v)
	},
}

// serverTargets puts the server into the first of the files in which an agent's settings name servers.
func (p place) serverTargets(name string, format editor.Format, server editor.Object) []target {
	a, _ := agents.Find(name)
	keys := append(slices.Clone(a.Servers.At), "scrollback")
	return []target{insertion(a.ServerFiles(p.Machine)[0], format, put{keys: keys, value: server}).serving()}
}

// claudeTargets is for Claude Code, which takes a folder of ours; one that is too old takes insertions.
func claudeTargets(p place, s shape) []target {
	in := p.Folder(agents.ClaudeCode)
	if p.old {
		var puts []put
		for _, c := range claudeCalls {
			puts = append(puts, put{keys: []string{"hooks", c.on}, list: true,
				value: s.shellGroup(agents.ClaudeCode, c.event, editor.Object{{Key: "timeout", Value: 2}})})
		}
		return append(p.serverTargets(agents.ClaudeCode, editor.JSON, s.plainServer()),
			insertion(p.Join(in, "settings.json"), editor.JSON, puts...).calling())
	}
	in = p.Join(in, "skills", "scrollback")
	return []target{
		file(p.Join(in, ".claude-plugin", "plugin.json"), writeJSON(editor.Object{{Key: "name", Value: "scrollback"},
			{Key: "version", Value: "1.0.0"},
			{Key: "description", Value: "Recall of your own earlier conversations"}})),
		file(p.Join(in, ".mcp.json"), writeJSON(editor.Object{{Key: "mcpServers", Value: s.servers()}})).serving(),
		file(p.Join(in, "hooks", "hooks.json"), writeJSON(editor.Object{{Key: "hooks", Value: s.claudeHooks()}})).calling(),
	}
}

func codexTargets(p place, s shape) []target {
	in := p.Folder(agents.Codex)
	var puts []put
	for _, c := range codexCalls {
		behind := editor.Object{{Key: "timeout", Value: 2}}
		if c.event == sessionStart {
			behind = append(behind, editor.Field{Key: "statusMessage", Value: "scrollback"})
		}
		puts = append(puts, put{keys: []string{"hooks", c.on}, list: true,
			value: s.shellGroup(agents.Codex, c.event, behind)})
	}
	return append(p.serverTargets(agents.Codex, editor.TOML, s.plainServer()),
		insertion(p.Join(in, "hooks.json"), editor.JSON, puts...).calling())
}

func geminiTargets(p place, s shape) []target {
	in := p.Join(p.Folder(agents.GeminiCLI), "extensions", "scrollback")
	behind := editor.Object{{Key: "timeout", Value: 2000}, {Key: "name", Value: "scrollback"}}
	manifest := editor.Object{{Key: "name", Value: "scrollback"}, {Key: "version", Value: "1.0.0"}}
	if s.serve {
		manifest = append(manifest, editor.Field{Key: "mcpServers", Value: s.servers()})
	}
	return []target{
		{path: p.Join(in, "gemini-extension.json"), whole: writeJSON(manifest), serves: s.serve},
		file(p.Join(in, "hooks", "hooks.json"), writeJSON(editor.Object{
			{Key: "hooks", Value: s.shellHooks(agents.GeminiCLI, geminiCalls, behind)}})).calling(),
	}
}

func qwenTargets(p place, s shape) []target {
	in := p.Join(p.Folder(agents.QwenCode), "extensions", "scrollback")
	out := editor.Object{{Key: "name", Value: "scrollback"}, {Key: "version", Value: "1.0.0"}}
	if s.serve {
		out = append(out, editor.Field{Key: "mcpServers", Value: s.servers()})
	}
	if s.hooks {
		out = append(out, editor.Field{Key: "hooks",
			Value: s.shellHooks(agents.QwenCode, claudeCalls, editor.Object{{Key: "timeout", Value: 2}})})
	}
	return []target{file(p.Join(in, "qwen-extension.json"), writeJSON(out)).serving().calling()}
}

func copilotTargets(p place, s shape) []target {
	in := p.Folder(agents.CopilotCLI)
	server := s.server(editor.Object{{Key: "type", Value: "local"}}, nil,
		editor.Object{{Key: "tools", Value: []any{"*"}}})
	return append(p.serverTargets(agents.CopilotCLI, editor.JSONC, server),
		file(p.Join(in, "hooks", "scrollback.json"), writeJSON(editor.Object{{Key: "version", Value: 1},
			{Key: "hooks", Value: s.copilotHooks()}})).calling())
}

// clineTargets is for Cline's program; in VS Code Cline and Roo are set up where they are.
func clineTargets(p place, s shape) []target {
	a, _ := agents.Find(agents.Cline)
	out := []target{file(p.Join(p.Folder(agents.Cline), "plugins", "scrollback.js"),
		s.plugin("cline.js", agents.Cline)).calling()}
	files := a.ServerFiles(p.Machine)
	for i, path := range files {
		if own := i == len(files)-1; own || p.has(filepath.Dir(filepath.Dir(path))) {
			out = append(out, insertion(path, editor.JSONC, put{keys: []string{"mcpServers", "scrollback"},
				value: s.plainServer()}).serving())
		}
	}
	return out
}

func openclawTargets(p place, s shape) []target {
	in := OpenClawPlugin(p.data)
	path := p.Getenv("OPENCLAW_CONFIG_PATH")
	if !filepath.IsAbs(path) {
		path = p.Join(p.Folder(agents.OpenClaw), "openclaw.json")
	}
	puts := []put{{keys: []string{"mcp", "servers", "scrollback"}, value: s.plainServer()}}
	if s.trust && s.hooks {
		puts = append(puts, put{keys: []string{"plugins", "entries", "scrollback"}, value: editor.Object{
			{Key: "enabled", Value: true},
			{Key: "hooks", Value: editor.Object{{Key: "allowConversationAccess", Value: true}}}}})
	}
	return []target{
		insertion(path, editor.JSON5, puts...).serving(),
		file(p.Join(in, "package.json"), writeJSON(editor.Object{{Key: "name", Value: "scrollback"},
			{Key: "type", Value: "module"},
			{Key: "openclaw", Value: editor.Object{{Key: "extensions", Value: []any{"./index.js"}}}}})).calling(),
		file(p.Join(in, "openclaw.plugin.json"), writeJSON(editor.Object{{Key: "id", Value: "scrollback"},
			{Key: "name", Value: "scrollback"},
			{Key: "activation", Value: editor.Object{{Key: "onStartup", Value: true}}},
			{Key: "configSchema", Value: editor.Object{{Key: "type", Value: "object"},
				{Key: "additionalProperties", Value: false}}}})).calling(),
		file(p.Join(in, "index.js"), s.plugin("openclaw.js", agents.OpenClaw)).calling(),
	}
}
