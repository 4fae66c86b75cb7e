package door

import (
	"path"
	"slices"
	"strings"
)

// families are the beginnings of models' names that say whose they are.
var families = []struct{ begins, provider string }{
	{"claude-", "anthropic"}, {"gpt-", "openai"}, {"chatgpt-", "openai"}, {"codex-", "openai"}, {"gemini-", "gemini"},
}

// chooseModel returns the model that a client's name stands for, as "provider/name": by the door's own table, by the
// provider that the name begins with, or by its family. Empty is the default model.
// A family's provider is asked too where the client lets itself in there.
func (d *Door) chooseModel(name string, mayPass bool) string {
	name = strings.TrimPrefix(name, "models/")
	if to, ok := d.o.Models[name]; ok {
		return to
	}
	for _, pattern := range d.patterns() {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return d.o.Models[pattern]
		}
	}
	if provider, _, found := strings.Cut(name, "/"); found && d.o.Serves(provider) {
		return name
	}
	for _, f := range families {
		if strings.HasPrefix(name, f.begins) && (mayPass || d.o.Serves(f.provider)) {
			return f.provider + "/" + name
		}
	}
	if _, said := d.named.LoadOrStore(name, true); !said && name != "" {
		d.o.Log.Info("a client asks for a model that is not set up here; the default model answers", "model", name)
	}
	return ""
}

// ModelOf returns the model that a client's name stands for; empty for the default model.
func (d *Door) ModelOf(name string) string { return d.chooseModel(name, false) }

// patterns lists the names of the table that stand for several, the longest first.
func (d *Door) patterns() (out []string) {
	for name := range d.o.Models {
		if strings.Contains(name, "*") {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}
