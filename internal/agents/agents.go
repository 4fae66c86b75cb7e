// Package agents is the table of the coding agents that are known here: what they
// are called, and where their settings are. To know another, add a row.
//
// Words it adds: agent (a program that works for a person with a model), servers (where an agent's settings name
// servers of MCP), mechanism (how an agent calls hooks).
//
// Invariants: a name or another name means one agent; names of agents whose conversations can be read are those of
// `import --from`; a path is empty where its beginning is not known.
//
// It knows no file's content and opens none. It may not know conversations or the network.
package agents

import (
	"path/filepath"
	"slices"
)

// Names of agents that are asked for one by one.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
	GeminiCLI  = "gemini-cli"
	QwenCode   = "qwen-code"
	Opencode   = "opencode"
	Kilo       = "kilo"
	Pi         = "pi"
	CopilotCLI = "copilot-cli"
	Cline      = "cline"
	OpenClaw   = "openclaw"
	Crush      = "crush"
	Goose      = "goose"
	Cursor     = "cursor"
	VSCode     = "vscode"
	Zed        = "zed"
	Continue   = "continue"
	Aider      = "aider"
)

// Mechanism is how an agent calls hooks.
type Mechanism string

// The mechanisms.
const (
	NoHooks   Mechanism = ""
	Folder    Mechanism = "folder"    // a folder of ours, with a file of hooks in Claude Code's form
	Extension Mechanism = "extension" // the same, of Gemini CLI and its like
	HooksFile Mechanism = "file"      // a file of hooks that is ours, or that ours are merged into
	Plugin    Mechanism = "plugin"    // a module in JavaScript or TypeScript that the agent loads
)

// Agent is a program that works for a person with a model.
type Agent struct {
	Name    string   // as `import --from` names it
	Aliases []string // other names, among them that of its program
	Program string   // what is started, as it is on PATH; empty where people start none
	Title   string   // as its makers write it
	Hooks   Mechanism
	Servers *Servers // nil where it takes none

	folder func(m Machine) string
}

// Servers are where an agent's settings name the servers that it asks by MCP.
type Servers struct {
	At    []string // keys that lead to the table of servers; * is any
	More  []string // another such path, or nothing
	How   string   // what registers this program by hand: a command, or what to write
	Write bool     // How is what to write

	files func(m Machine, in string) []string // in is the agent's folder
}

// ServerFiles returns the files in which an agent's settings name servers, the one to write into first. Some may not
// be there; a path is empty where its beginning is not known.
func (a Agent) ServerFiles(m Machine) []string {
	if a.Servers == nil {
		return nil
	}
	return a.Servers.files(m, a.Folder(m))
}

// Folder returns the folder of an agent's own settings; empty if it is not known.
func (a Agent) Folder(m Machine) string {
	if a.folder == nil {
		return ""
	}
	return a.folder(m)
}

// Is reports whether a name is one of the agent's.
func (a Agent) Is(name string) bool { return a.Name == name || slices.Contains(a.Aliases, name) }

// All lists the agents, as lists show them.
func All() []Agent { return slices.Clone(known) }

// Names lists what agents are called.
func Names() (out []string) {
	for _, a := range known {
		out = append(out, a.Name)
	}
	return out
}

// Find returns an agent by its name, or by another that it has.
func Find(name string) (a Agent, ok bool) {
	i := slices.IndexFunc(known, func(a Agent) bool { return a.Is(name) })
	if i < 0 {
		return Agent{}, false
	}
	return known[i], true
}

// Resolve returns the name of an agent for one of its names, and any other word as it is.
func Resolve(name string) string {
	if a, ok := Find(name); ok {
		return a.Name
	}
	return name
}

// Machine is where settings are looked for.
type Machine struct {
	System  string              // as runtime.GOOS names it
	Home    string              // the person's home folder
	Working string              // the current folder; empty if there is none
	Getenv  func(string) string // never nil
}

// Folder returns the folder of the settings of the agent with a name; empty if it is not known.
func (m Machine) Folder(name string) string {
	a, _ := Find(name)
	return a.Folder(m)
}

// Join joins a file's name; empty where its beginning is.
func (m Machine) Join(dir string, more ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, more...)...)
}

// HomeOr returns a folder that a variable names, or else one in the home folder.
func (m Machine) HomeOr(variable string, otherwise ...string) string {
	if dir := m.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return m.Join(m.Home, otherwise...)
}

// ConfigFolder returns the folder of a program's settings by the usual variable.
func (m Machine) ConfigFolder(name string) string {
	return m.Join(m.HomeOr("XDG_CONFIG_HOME", ".config"), name)
}

// roaming returns where programs of Windows keep settings.
func (m Machine) roaming(more ...string) string {
	return m.Join(m.HomeOr("APPDATA", "AppData", "Roaming"), more...)
}

// CodeFolder returns the folder of a person's settings in VS Code, or in an editor that is made of it.
func (m Machine) CodeFolder(editor string) string {
	switch m.System {
	case "windows":
		return m.roaming(editor, "User")
	case "darwin":
		return m.Join(m.Home, "Library", "Application Support", editor, "User")
	}
	return m.Join(m.ConfigFolder(editor), "User")
}
