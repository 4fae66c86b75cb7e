package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/agents"
)

// Where the faces of the server are.
func (l *Launch) openAI() string { return l.Address + "/v1" }
func (l *Launch) google() string { return l.Address + "/v1beta" }

// prepareClaude is for Claude Code. Behind another address it leaves out what it offers to its own provider alone, but
// for what is asked for here: tools that are looked up when they are needed, and headers that say what a request is.
func prepareClaude(l *Launch) error {
	l.Set["ANTHROPIC_BASE_URL"] = l.Address
	l.setUnlessSet("ENABLE_TOOL_SEARCH", "true")
	l.setUnlessSet("CLAUDE_CODE_GATEWAY_HINT_HEADERS", "1")
	if slices.ContainsFunc(claudeFiles(l.Machine), setsClaudeAddress) {
		if err := l.overrideClaude(); err != nil {
			return err
		}
	}
	in := l.Machine.Folder(agents.ClaudeCode)
	own := readSettings(l.Join(in, "settings.json"))
	account := readSettings(l.Join(l.HomeOr("CLAUDE_CONFIG_DIR"), ".claude.json"))
	signedIn := account["oauthAccount"] != nil || account["primaryApiKey"] != nil ||
		exists(l.Join(in, ".credentials.json")) || lookUp(own, "apiKeyHelper") != "" ||
		lookUp(own, "env", "ANTHROPIC_API_KEY") != "" || lookUp(own, "env", "ANTHROPIC_AUTH_TOKEN") != ""
	if !signedIn && l.lacks("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN") {
		l.Set["ANTHROPIC_AUTH_TOKEN"] = l.Placeholder
	}
	return nil
}

// setsClaudeAddress reports whether a file of settings says where Claude Code's provider is.
func setsClaudeAddress(file string) bool {
	return lookUp(readSettings(file), "env", "ANTHROPIC_BASE_URL") != ""
}

// overrideClaude has our address count before that of the person's settings, which count before variables: by settings
// of the command line, or where the person gives some, by the variable that has Claude Code pass over what its settings
// say of providers.
func (l *Launch) overrideClaude() error {
	if l.isGiven("--settings") {
		l.Set["CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST"] = "1"
		return nil
	}
	text, err := json.Marshal(map[string]any{"env": map[string]string{"ANTHROPIC_BASE_URL": l.Address}})
	l.Before = []string{"--settings", string(text)}
	return scrollback.Wrap(scrollback.Internal, "clients", err)
}

func claudeFiles(m Machine) []string {
	in := m.Folder(agents.ClaudeCode)
	return []string{m.Join(in, "settings.json"), m.Join(in, "settings.local.json"),
		m.Join(m.Working, ".claude", "settings.json"), m.Join(m.Working, ".claude", "settings.local.json")}
}

// prepareCodex is for Codex. The person's provider stays, since Codex lists sessions by their provider; only its
// address is another one. Who has no key and is not signed in gets a provider that asks for neither: Codex' own would
// begin with a sign-in.
func prepareCodex(l *Launch) error {
	address := strconv.Quote(l.openAI())
	name := l.codexProvider()
	switch {
	case name != "" && name != "openai":
		l.Before = []string{"-c", "model_providers." + name + ".base_url=" + address}
	case l.lacks("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN") &&
		!exists(l.Join(l.Machine.Folder(agents.Codex), "auth.json")):
		l.Before = []string{"-c", `model_provider="scrollback"`, "-c", `model_providers.scrollback={name="scrollback",` +
			`wire_api="responses",supports_websockets=true,base_url=` + address + "}"}
	default:
		l.Before = []string{"-c", "openai_base_url=" + address}
	}
	return nil
}

// codexProvider returns the provider that Codex' settings choose; empty for its own.
func (l *Launch) codexProvider() string {
	text, err := readFile(codexFiles(l.Machine)[0])
	if err != nil || len(text) > maxComments {
		return ""
	}
	var own struct {
		Provider string `toml:"model_provider"`
		Profile  string `toml:"profile"`
		Profiles map[string]struct {
			Provider string `toml:"model_provider"`
		} `toml:"profiles"`
	}
	if toml.Unmarshal(text, &own) != nil {
		return ""
	}
	return cmp.Or(own.Profiles[own.Profile].Provider, own.Provider)
}

func codexFiles(m Machine) []string {
	return []string{m.Join(m.Folder(agents.Codex), "config.toml"), m.Join(m.Working, ".codex", "config.toml")}
}

// prepareGemini is for Gemini CLI. Only with a key does it ask the address that is set, and without a terminal only if
// its settings choose the key. Where they do not, it gets a home folder of its own for this launch, with such settings
// and all else that is in the person's.
func prepareGemini(l *Launch) error {
	const key = "gemini-api-key"
	home := l.HomeOr("GEMINI_CLI_HOME")
	chosen := ""
	for _, in := range []string{l.Working, home} {
		own := readSettings(l.Join(in, ".gemini", "settings.json"))
		chosen = cmp.Or(chosen, lookUp(own, "security", "auth", "selectedType"), lookUp(own, "selectedAuthType"))
	}
	l.Set["GOOGLE_GEMINI_BASE_URL"] = l.Address
	if chosen == key {
		return nil
	}
	if l.lacks("GEMINI_API_KEY") && !l.isInDotenv("GEMINI_API_KEY", ".gemini") {
		l.Set["GEMINI_API_KEY"] = l.Placeholder
	}
	if l.System == "windows" { // where not everybody may make links
		l.setUnlessSet("GEMINI_DEFAULT_AUTH_TYPE", key)
		return nil
	}
	own := readSettings(l.Join(home, ".gemini", "settings.json"))
	delete(own, "selectedAuthType")
	text, err := json.Marshal(merge(own, map[string]any{"security": map[string]any{"auth": map[string]any{
		"selectedType": key}}}))
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, "clients", err)
	}
	l.Set["GEMINI_CLI_HOME"], err = l.standIn(home, ".gemini", "settings.json", text)
	return err
}

// isInDotenv reports whether one of the files that Gemini CLI and its like read sets a variable.
func (l *Launch) isInDotenv(variable, folder string) bool {
	dirs := []string{l.Home}
	for dir := l.Working; dir != "" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return holdsVariable(l.Join(dir, folder, ".env"), variable) || holdsVariable(l.Join(dir, ".env"), variable)
	})
}

func geminiFiles(m Machine) []string {
	in := m.Folder(agents.GeminiCLI)
	return []string{m.Join(in, ".env"), m.Join(in, "settings.json"), m.Join(m.Home, ".env"),
		m.Join(m.Working, ".gemini", ".env"), m.Join(m.Working, ".env")}
}

// prepareQwen is for Qwen Code.
func prepareQwen(l *Launch) error {
	l.Set["OPENAI_BASE_URL"] = l.openAI()
	own := readSettings(l.Join(l.Machine.Folder(agents.QwenCode), "settings.json"))
	if l.lacks("OPENAI_API_KEY") && lookUp(own, "security", "auth", "apiKey") == "" &&
		lookUp(own, "env", "OPENAI_API_KEY") == "" && !l.isInDotenv("OPENAI_API_KEY", ".qwen") {
		l.Set["OPENAI_API_KEY"] = l.Placeholder
	}
	if l.lacks("OPENAI_MODEL", "QWEN_MODEL") && lookUp(own, "model", "name") == "" {
		l.Set["OPENAI_MODEL"] = l.Model
	}
	if !l.isGiven("--auth-type") {
		l.Before = []string{"--auth-type", "openai"}
	}
	if !l.isGiven("--openai-base-url") {
		l.Before = append(l.Before, "--openai-base-url", l.openAI())
	}
	return nil
}

func qwenFiles(m Machine) []string {
	in := m.Folder(agents.QwenCode)
	return []string{m.Join(in, ".env"), m.Join(in, "settings.json"), m.Join(m.Working, ".qwen", ".env"),
		m.Join(m.Working, ".qwen", "settings.json")}
}

// prepareOpencode is for opencode, which takes settings from a variable, over those of its files.
func prepareOpencode(l *Launch) error {
	at := func(address string) map[string]any {
		return map[string]any{"options": map[string]any{"baseURL": address}}
	}
	ours := map[string]any{"provider": map[string]any{"openai": at(l.openAI()), "anthropic": at(l.openAI()),
		"google": at(l.google()), "scrollback": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "scrollback",
			"options": map[string]any{"baseURL": l.openAI(), "apiKey": l.Placeholder},
			"models":  map[string]any{l.Model: map[string]any{"name": l.Model}}}}}
	if l.lacks("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY") &&
		!exists(l.Join(l.HomeOr("XDG_DATA_HOME", ".local", "share"), "opencode", "auth.json")) && !l.hasModel() {
		ours["model"] = "scrollback/" + l.Model
	}
	set := map[string]any{}
	if text := l.Getenv("OPENCODE_CONFIG_CONTENT"); text != "" {
		set = parseSettings([]byte(text))
	}
	text, err := json.Marshal(merge(set, ours))
	l.Set["OPENCODE_CONFIG_CONTENT"] = string(text)
	return err
}

// hasModel reports whether settings of opencode choose a model.
func (l *Launch) hasModel() bool {
	for _, name := range opencodeFiles(l.Machine) {
		if lookUp(readSettings(name), "model") != "" {
			return true
		}
	}
	return false
}

func opencodeFiles(m Machine) []string {
	in := m.Folder(agents.Opencode)
	return []string{m.Join(in, "opencode.json"), m.Join(in, "opencode.jsonc"), m.Join(in, "config.json"),
		m.Join(m.Working, "opencode.json"), m.Join(m.Working, "opencode.jsonc"), m.Getenv("OPENCODE_CONFIG")}
}

// preparePi is for pi, whose extensions may say where providers are. One of ours does, and adds the models of this
// server for those who have no key of a provider.
func preparePi(l *Launch) error {
	js := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			return "null" // texts and numbers are always JSON
		}
		return string(text)
	}
	source := "export default function (pi) {\n"
	at := map[string]string{"anthropic": l.Address, "openai": l.openAI(), "google": l.google()}
	for _, name := range []string{"anthropic", "openai", "google"} {
		source += fmt.Sprintf("  pi.registerProvider(%s, %s);\n", js(name), js(map[string]string{"baseUrl": at[name]}))
	}
	source += fmt.Sprintf("  pi.registerProvider(%s, %s);\n}\n", js("scrollback"), js(map[string]any{
		"baseUrl": l.openAI(), "apiKey": l.Placeholder, "api": "openai-completions",
		"models": []any{map[string]any{"id": l.Model, "name": l.Model, "reasoning": false, "input": []string{"text", "image"},
			"cost":          map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": assumedWindow, "maxTokens": assumedAnswer}}}))
	file, err := l.writeFile("scrollback.js", []byte(source))
	l.Before = []string{"--extension", file}
	return err
}

// What programs are told of the model behind this server, in tokens, where they want figures: with the server's own
// windows, nothing is lost if these are not the model's.
const (
	assumedWindow = 200_000
	assumedAnswer = 32_000
)

func piFiles(m Machine) []string {
	return []string{m.Join(m.Folder(agents.Pi), "models.json")}
}

// prepareCopilot is for GitHub Copilot CLI. With an address of a provider it needs the name of a model.
func prepareCopilot(l *Launch) error {
	l.Set["COPILOT_PROVIDER_BASE_URL"] = l.openAI()
	if l.lacks("COPILOT_MODEL", "COPILOT_PROVIDER_MODEL_ID") {
		l.Set["COPILOT_MODEL"] = l.Model
	}
	return nil
}

// prepareCline is for Cline, which keeps its providers in a file that a variable names.
func prepareCline(l *Launch) error {
	const provider = "openai-compatible"
	file, err := l.writeJSON("providers.json", map[string]any{"version": 1, "lastUsedProvider": provider,
		"modes": map[string]any{}, "providers": map[string]any{provider: map[string]any{"tokenSource": "manual",
			"updatedAt": "1970-01-01T00:00:00.000Z",
			"settings": map[string]string{"provider": provider, "apiKey": l.Placeholder, "model": l.Model,
				"baseUrl": l.openAI()}}}})
	l.Set["CLINE_PROVIDER_SETTINGS_PATH"] = file
	if err == nil && !l.isGiven("-P", "--provider") {
		l.Before = []string{"-P", provider}
	}
	return err
}

func clineFiles(m Machine) []string {
	file := m.Getenv("CLINE_PROVIDER_SETTINGS_PATH")
	if file == "" {
		file = m.Join(agents.ClineData(m), "settings", "providers.json")
	}
	return []string{file}
}

// prepareContinue is for Continue's cn, which takes one file of settings.
func prepareContinue(l *Launch) error {
	if l.isGiven("--config") {
		return nil
	}
	file, err := l.writeJSON("config.yaml", map[string]any{"name": "scrollback", "version": "1.0.0", "schema": "v1",
		"models": []any{map[string]any{"name": l.Model, "provider": "openai", "model": l.Model, "apiBase": l.openAI(),
			"apiKey": l.Placeholder, "roles": []string{"chat", "edit", "apply"},
			"capabilities": []string{"tool_use"}}}})
	l.Before = []string{"--config", file}
	return err
}

func continueFiles(m Machine) []string {
	in := m.Folder(agents.Continue)
	return []string{m.Join(in, "config.yaml"), m.Join(in, "config.json")}
}
