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
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Client is an agent that can ask this server.
type Client struct {
	agents.Agent

	prepare   func(*Launch) error
	variables []string                 // that hold the address of its server
	settings  []string                 // keys of its settings that do
	files     func(m Machine) []string // its settings
}

// Machine is where settings are looked for.
type Machine = agents.Machine

// asking is what agents that can ask this server are told where it is by, by their names.
var asking = map[string]Client{
	agents.ClaudeCode: {prepare: prepareClaude, variables: []string{"ANTHROPIC_BASE_URL"},
		settings: []string{"ANTHROPIC_BASE_URL"}, files: claudeFiles},
	agents.Codex: {prepare: prepareCodex, settings: []string{"openai_base_url", "base_url"}, files: codexFiles},
	agents.GeminiCLI: {prepare: prepareGemini, variables: []string{"GOOGLE_GEMINI_BASE_URL"},
		settings: []string{"GOOGLE_GEMINI_BASE_URL"}, files: geminiFiles},
	agents.Opencode: {prepare: prepareOpencode, settings: []string{"baseURL"}, files: opencodeFiles},
	agents.QwenCode: {prepare: prepareQwen, variables: []string{"OPENAI_BASE_URL"},
		settings: []string{"OPENAI_BASE_URL", "baseUrl"}, files: qwenFiles},
	agents.Pi: {prepare: preparePi, settings: []string{"baseUrl"}, files: piFiles},
	agents.CopilotCLI: {prepare: prepareCopilot, variables: []string{"COPILOT_PROVIDER_BASE_URL"},
		settings: []string{"COPILOT_PROVIDER_BASE_URL"}},
	agents.Cline:    {prepare: prepareCline, settings: []string{"baseUrl"}, files: clineFiles},
	agents.Continue: {prepare: prepareContinue, settings: []string{"apiBase"}, files: continueFiles},
}

// listClients lists the agents that can ask this server, in the order of the table of agents.
func listClients() (out []Client) {
	for _, a := range agents.All() {
		if c, ok := asking[a.Name]; ok {
			c.Agent = a
			out = append(out, c)
		}
	}
	return out
}

// Names lists what clients are called.
func Names() (out []string) {
	for _, c := range listClients() {
		out = append(out, c.Name)
	}
	return out
}

// Find returns a client by its name, or by another that it has. It is invalid if there is none.
func Find(name string) (Client, error) {
	for _, c := range listClients() {
		if c.Is(name) {
			return c, nil
		}
	}
	return Client{}, scrollback.ParamErrorf("clients", "client", i18n.ClientUnknown, name, strings.Join(Names(), ", "))
}
