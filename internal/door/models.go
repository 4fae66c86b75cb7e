package door

import (
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/engine"
)

// families are the beginnings of models' names that say whose they are.
var families = []struct{ begins, provider string }{
	{"claude-", "anthropic"}, {"gpt-", "openai"}, {"chatgpt-", "openai"}, {"codex-", "openai"}, {"gemini-", "gemini"},
}

// FindModel returns the model that a client's name stands for, as "provider/name": by the door's own table, by the
// provider that the name begins with, by its family, or a model of that very name. ok is false if it stands for none:
// then the default model answers.
// A family's provider is asked too where the client lets itself in there, with mayPass.
func (d *Door) FindModel(v *engine.View, name string, mayPass bool) (found string, ok bool) {
	name = strings.TrimPrefix(name, "models/")
	if to, ok := d.o.Models[name]; ok {
		return to, true
	}
	for _, pattern := range d.patterns() {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return d.o.Models[pattern], true
		}
	}
	provider, _, of := strings.Cut(name, "/")
	if of && d.o.Serves(provider) {
		return name, true
	}
	for _, f := range families {
		if strings.HasPrefix(name, f.begins) && (mayPass || d.o.Serves(f.provider)) {
			return f.provider + "/" + name, true
		}
	}
	if name != "" && (of || !d.o.Serves(name)) && v.CheckModel(name) == nil {
		return name, true
	}
	return "", false
}

// chooseModel is FindModel, with "" for the default model. A name that stands for nothing is said to be unknown, once.
func (d *Door) chooseModel(v *engine.View, name string, mayPass bool) string {
	if found, ok := d.FindModel(v, name, mayPass); ok {
		return found
	}
	if _, said := d.named.LoadOrStore(name, true); !said && name != "" {
		d.o.Log.Info("a client asks for a model that is not set up here; the default model answers", "model", name)
	}
	return ""
}

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
