// Package clients knows the programs that can ask this server in place of their provider's: how one is started so that
// it does, and which settings of a person say so for good.
//
// Words it adds: client (such a program), launch (what one is started with), pointer (a line of a person's settings
// that holds the address of a server).
//
// Invariants: what a launch needs is in variables, in arguments before those of the person, or in files of a folder of
// its own; a person's settings are only read, and files with credentials are not opened.
//
// It knows the names of the programs' variables and settings. It may not know conversations, the network, or a server.
package clients

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Client is a program that can ask this server.
type Client struct {
	Name    string
	Aliases []string
	Program string // what is started, as it is on PATH

	prepare   func(*Launch) error
	variables []string                 // that hold the address of its server
	settings  []string                 // keys of its settings that do
	files     func(m Machine) []string // its settings
}

// Machine is where settings are looked for.
type Machine struct {
	System  string              // as runtime.GOOS names it
	Home    string              // the person's home folder
	Working string              // the current folder; empty if there is none
	Getenv  func(string) string // never nil
}

// known are the clients, as lists show them.
var known = []Client{
	{Name: "claude", Aliases: []string{"claude-code"}, Program: "claude", prepare: prepareClaude,
		variables: []string{"ANTHROPIC_BASE_URL"}, settings: []string{"ANTHROPIC_BASE_URL"}, files: claudeFiles},
	{Name: "codex", Aliases: []string{"codex-cli"}, Program: "codex", prepare: prepareCodex,
		settings: []string{"openai_base_url", "base_url"}, files: codexFiles},
	{Name: "gemini", Aliases: []string{"gemini-cli"}, Program: "gemini", prepare: prepareGemini,
		variables: []string{"GOOGLE_GEMINI_BASE_URL"}, settings: []string{"GOOGLE_GEMINI_BASE_URL"}, files: geminiFiles},
	{Name: "opencode", Program: "opencode", prepare: prepareOpencode,
		settings: []string{"baseURL"}, files: opencodeFiles},
	{Name: "qwen", Aliases: []string{"qwen-code"}, Program: "qwen", prepare: prepareQwen,
		variables: []string{"OPENAI_BASE_URL"}, settings: []string{"OPENAI_BASE_URL", "baseUrl"}, files: qwenFiles},
	{Name: "pi", Program: "pi", prepare: preparePi, settings: []string{"baseUrl"}, files: piFiles},
	{Name: "copilot", Aliases: []string{"copilot-cli"}, Program: "copilot", prepare: prepareCopilot,
		variables: []string{"COPILOT_PROVIDER_BASE_URL"}, settings: []string{"COPILOT_PROVIDER_BASE_URL"}},
	{Name: "cline", Program: "cline", prepare: prepareCline, settings: []string{"baseUrl"}, files: clineFiles},
	{Name: "continue", Aliases: []string{"cn"}, Program: "cn", prepare: prepareContinue,
		settings: []string{"apiBase"}, files: continueFiles},
}

// Names lists what clients are called.
func Names() (out []string) {
	for _, c := range known {
		out = append(out, c.Name)
	}
	return out
}

// Find returns a client by its name, or by another that it has. It is invalid if there is none.
func Find(name string) (Client, error) {
	for _, c := range known {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c, nil
		}
	}
	return Client{}, scrollback.ParamErrorf("clients", "client", i18n.ClientUnknown, name, strings.Join(Names(), ", "))
}

// configFolder returns the folder of a program's settings by the usual variable.
func (m Machine) configFolder(name string) string {
	return m.join(m.homeOr("XDG_CONFIG_HOME", ".config"), name)
}
