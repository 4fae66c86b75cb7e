package agents

// known are the agents, as lists show them.
var known = []Agent{
	{Name: ClaudeCode, Aliases: []string{"claude"}, Program: "claude", Title: "Claude Code", Hooks: Folder,
		folder: func(m Machine) string { return m.HomeOr("CLAUDE_CONFIG_DIR", ".claude") },
		Servers: &Servers{At: []string{"mcpServers"}, More: []string{"projects", "*", "mcpServers"},
			How: "claude mcp add --scope user scrollback -- scrollback mcp",
			files: func(m Machine, in string) []string {
				return []string{m.Join(m.HomeOr("CLAUDE_CONFIG_DIR"), ".claude.json"), m.Join(m.Working, ".mcp.json")}
			}}},
	{Name: Codex, Aliases: []string{"codex-cli"}, Program: "codex", Title: "Codex", Hooks: HooksFile,
		folder: func(m Machine) string { return m.HomeOr("CODEX_HOME", ".codex") },
		Servers: &Servers{At: []string{"mcp_servers"}, How: "codex mcp add scrollback -- scrollback mcp",
			files: func(m Machine, in string) []string { return []string{m.Join(in, "config.toml")} }}},
	{Name: GeminiCLI, Aliases: []string{"gemini"}, Program: "gemini", Title: "Gemini CLI", Hooks: Extension,
		folder: func(m Machine) string { return m.Join(m.HomeOr("GEMINI_CLI_HOME"), ".gemini") },
		Servers: &Servers{At: []string{"mcpServers"},
			How: "gemini mcp add --scope user scrollback scrollback mcp",
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "settings.json"), m.Join(m.Working, ".gemini", "settings.json")}
			}}},
	{Name: Opencode, Program: "opencode", Title: "opencode", Hooks: Plugin,
		folder: func(m Machine) string { return m.ConfigFolder("opencode") },
		Servers: &Servers{At: []string{"mcp"}, Write: true,
			How: `{"mcp": {"scrollback": {"type": "local", "command": ["scrollback", "mcp"]}}}`,
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "opencode.json"), m.Join(in, "opencode.jsonc"),
					m.Join(m.Working, "opencode.json"), m.Join(m.Working, "opencode.jsonc")}
			}}},
	{Name: QwenCode, Aliases: []string{"qwen"}, Program: "qwen", Title: "Qwen Code", Hooks: Extension,
		folder: func(m Machine) string { return m.HomeOr("QWEN_HOME", ".qwen") },
		Servers: &Servers{At: []string{"mcpServers"}, How: "qwen mcp add --scope user scrollback scrollback mcp",
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "settings.json"), m.Join(m.Working, ".qwen", "settings.json")}
			}}},
	{Name: Kilo, Aliases: []string{"kilo-code", "kilocode"}, Program: "kilo", Title: "Kilo", Hooks: Plugin,
		folder: func(m Machine) string { return m.ConfigFolder("kilo") },
		Servers: &Servers{At: []string{"mcp"}, Write: true,
			How: `{"mcp": {"scrollback": {"type": "local", "command": ["scrollback", "mcp"]}}}`,
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "kilo.jsonc"), m.Join(in, "kilo.json"),
					m.Join(m.Working, "kilo.json"), m.Join(m.Working, "kilo.jsonc")}
			}}},
	{Name: Pi, Program: "pi", Title: "pi", Hooks: Plugin,
		folder: func(m Machine) string { return m.HomeOr("PI_CODING_AGENT_DIR", ".pi", "agent") }},
	{Name: CopilotCLI, Aliases: []string{"copilot"}, Program: "copilot", Title: "Copilot CLI", Hooks: HooksFile,
		folder: func(m Machine) string { return m.HomeOr("COPILOT_HOME", ".copilot") },
		Servers: &Servers{At: []string{"mcpServers"}, Write: true,
			How: `{"mcpServers": {"scrollback": {"type": "local", "command": "scrollback", "args": ["mcp"], "tools": ["*"]}}}`,
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "mcp-config.json")}
			}}},
	{Name: Cline, Aliases: []string{"cline-cli"}, Program: "cline", Title: "Cline", Hooks: Plugin,
		folder: func(m Machine) string { return m.HomeOr("CLINE_DIR", ".cline") },
		Servers: &Servers{At: []string{"mcpServers"}, Write: true,
			How:   `{"mcpServers": {"scrollback": {"command": "scrollback", "args": ["mcp"]}}}`,
			files: clineServers}},
	{Name: OpenClaw, Program: "openclaw", Title: "OpenClaw", Hooks: Plugin,
		folder: func(m Machine) string { return m.HomeOr("OPENCLAW_STATE_DIR", ".openclaw") },
		Servers: &Servers{At: []string{"mcp", "servers"}, Write: true,
			How: `{"mcp": {"servers": {"scrollback": {"command": "scrollback", "args": ["mcp"]}}}}`,
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "openclaw.json")}
			}}},
	{Name: Crush, Program: "crush", Title: "crush", folder: crushFolder,
		Servers: &Servers{At: []string{"mcp"}, Write: true,
			How: `{"mcp": {"scrollback": {"type": "stdio", "command": "scrollback", "args": ["mcp", "--root", "."]}}}`,
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "crush.json"), m.Join(m.Working, "crush.json"),
					m.Join(m.Working, ".crush.json")}
			}}},
	{Name: Goose, Program: "goose", Title: "goose", folder: gooseFolder,
		Servers: &Servers{At: []string{"extensions"}, Write: true,
			How: "extensions: {scrollback: {name: scrollback, type: stdio, cmd: scrollback, args: [mcp, --root, .], " +
				"enabled: true, timeout: 300}}",
			files: func(m Machine, in string) []string { return []string{m.Join(in, "config.yaml")} }}},
	{Name: Cursor, Aliases: []string{"cursor-agent"}, Program: "cursor-agent", Title: "Cursor",
		folder: func(m Machine) string { return m.Join(m.Home, ".cursor") },
		Servers: &Servers{At: []string{"mcpServers"}, Write: true,
			How: `{"mcpServers": {"scrollback": {"command": "scrollback", "args": ["mcp"]}}}`,
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "mcp.json"), m.Join(m.Working, ".cursor", "mcp.json")}
			}}},
	{Name: VSCode, Aliases: []string{"vs-code", "code"}, Program: "code", Title: "VS Code",
		folder: func(m Machine) string { return m.CodeFolder("Code") },
		Servers: &Servers{At: []string{"servers"}, Write: true,
			How: `{"servers": {"scrollback": {"type": "stdio", "command": "scrollback", "args": ["mcp"]}}}`,
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "mcp.json"), m.Join(m.Working, ".vscode", "mcp.json")}
			}}},
	{Name: Zed, Aliases: []string{"zeditor"}, Program: "zed", Title: "Zed", folder: zedFolder,
		Servers: &Servers{At: []string{"context_servers"}, Write: true,
			How: `{"context_servers": {"scrollback": {"command": "scrollback", "args": ["mcp"]}}}`,
			files: func(m Machine, in string) []string {
				return []string{m.Join(in, "settings.json"), m.Join(m.Working, ".zed", "settings.json")}
			}}},
	{Name: Continue, Aliases: []string{"cn"}, Program: "cn", Title: "Continue",
		folder: func(m Machine) string { return m.HomeOr("CONTINUE_GLOBAL_DIR", ".continue") }},
	{Name: Aider, Program: "aider", Title: "aider"},
}

// clineServers are the files of Cline and Roo in VS Code, then of Cline's program.
func clineServers(m Machine, _ string) []string {
	kept := m.Join(m.CodeFolder("Code"), "globalStorage")
	return []string{m.Join(kept, "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"),
		m.Join(kept, "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"),
		m.Join(ClineData(m), "settings", "cline_mcp_settings.json")}
}

// ClineData returns the folder where Cline's program keeps its data.
func ClineData(m Machine) string {
	return m.HomeOr("CLINE_DATA_DIR", ".cline", "data")
}

func crushFolder(m Machine) string {
	if m.System == "windows" {
		return m.Join(m.HomeOr("LOCALAPPDATA", "AppData", "Local"), "crush")
	}
	return m.ConfigFolder("crush")
}

func gooseFolder(m Machine) string {
	if m.System == "windows" {
		return m.roaming("Block", "goose", "config")
	}
	return m.ConfigFolder("goose")
}

func zedFolder(m Machine) string {
	if m.System == "windows" {
		return m.roaming("Zed")
	}
	return m.ConfigFolder("zed")
}
