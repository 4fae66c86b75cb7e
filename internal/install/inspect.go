package install

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// Setup is how an agent is set up. What is said of an agent that is not has no problems.
type Setup struct {
	Agent     string         `json:"agent"`
	Installed bool           `json:"installed"`
	Files     []string       `json:"files"`             // that name the program
	Hooks     []string       `json:"hooks"`             // events that it calls
	Program   string         `json:"program,omitempty"` // that is called
	Problems  []SetupProblem `json:"problems"`
}

// SetupProblem is what keeps an agent from asking this program, or has it ask twice.
type SetupProblem struct {
	Kind string `json:"kind"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Why  string `json:"why,omitempty"`
	At   int64  `json:"at,omitempty"` // Unix ms
}

// Kinds of problems.
const (
	Moved      = "moved"      // the program that is called is not there
	Other      = "other"      // another program than this one is called
	Untrusted  = "untrusted"  // Codex skips the hooks
	Doubled    = "doubled"    // it is set up a second time
	Off        = "off"        // the agent's hooks are switched off
	Unreadable = "unreadable" // the agent reads none of its settings
	GaveUp     = "gave-up"    // the service could not start, and is not started again
)

// Inspect says how agents are set up. Nothing is written.
func (r *Run) Inspect() (out []Setup, err error) {
	rec, _, err := readRecord(r.o.Data)
	if err != nil {
		return nil, err
	}
	for _, name := range r.o.Agents {
		out = append(out, r.inspectAgent(name, rec))
	}
	return out, nil
}

func (r *Run) inspectAgent(name string, rec record) Setup {
	s := Setup{Agent: name, Files: []string{}, Hooks: []string{}, Problems: []SetupProblem{}}
	calling := 0
	for _, t := range r.allTargets(name) {
		c, err := readContent(t.path)
		if err != nil || !c.there() {
			continue
		}
		program, calls, ours := r.callOf(name, t, c.text)
		if e, known := rec.find(name, t.path); known && !ours && t.whole != nil {
			program = e.Program
			ours = true
			calls = t.calls
		}
		if !ours {
			continue
		}
		s.Installed = true
		s.Files = append(s.Files, t.path)
		if s.Program == "" {
			s.Program = program
		}
		if calls {
			calling++
			s.Hooks = Events(name)
		}
		if name == agents.ClaudeCode && calling > 1 {
			s.Problems = append(s.Problems, SetupProblem{Kind: Doubled, File: t.path})
		}
	}
	if s.Installed {
		s.Problems = append(s.Problems, r.problemsOf(name, s)...)
	}
	return s
}

// callOf returns the program that a file of an agent calls, and whether it is a hook that calls it.
func (r *Run) callOf(name string, t target, text []byte) (program string, calls, ours bool) {
	for _, pattern := range r.patternTargets(name) {
		if pattern.path != t.path {
			continue
		}
		if pattern.whole != nil {
			if found := wild(string(pattern.whole)).FindSubmatch(text); found != nil {
				calls = pattern.calls && !strings.Contains(string(text), "hooks = false")
				return programIn(found), calls, true
			}
			continue
		}
		for _, one := range pattern.puts {
			v, there, err := editor.Lookup(text, pattern.format, one.keys...)
			items, isList := v.([]any)
			switch {
			case err != nil || !there:
				continue
			case !isList:
				items = []any{v}
			}
			for _, item := range items {
				if fits(item, one.value) {
					program, _ = findProgram(item, one.value)
					return program, pattern.calls, true
				}
			}
		}
	}
	return "", false, false
}

// programIn returns the program that a pattern found in JSON, JavaScript, or a line of a shell within.
func programIn(found [][]byte) string {
	if len(found) < 2 {
		return ""
	}
	var text string
	if json.Unmarshal([]byte(`"`+string(found[1])+`"`), &text) != nil {
		text = string(found[1])
	}
	return strings.ReplaceAll(text, `'\''`, `'`)
}

// findProgram returns what stands in a value where the pattern has the program.
func findProgram(v, pattern any) (string, bool) {
	switch p := pattern.(type) {
	case editor.Object:
		table, _ := v.(map[string]any)
		for _, f := range p {
			if program, ok := findProgram(table[f.Key], f.Value); ok {
				return program, true
			}
		}
	case []any:
		list, _ := v.([]any)
		for i, one := range p {
			if i < len(list) {
				if program, ok := findProgram(list[i], one); ok {
					return program, true
				}
			}
		}
	case string:
		text, _ := v.(string)
		if p == anyProgram {
			return text, true
		}
		if found := wild(p).FindStringSubmatch(text); strings.Contains(p, anyProgram) && len(found) > 1 {
			return strings.ReplaceAll(found[1], `'\''`, `'`), true
		}
	}
	return "", false
}

// problemsOf returns what is wrong with an agent that is set up.
func (r *Run) problemsOf(name string, s Setup) (out []SetupProblem) {
	if s.Program != "" {
		if info, err := os.Stat(s.Program); err != nil || info.IsDir() {
			out = append(out, SetupProblem{Kind: Moved, File: s.Program})
		} else if own, err := os.Stat(r.o.Program); err == nil && !os.SameFile(info, own) {
			out = append(out, SetupProblem{Kind: Other, File: s.Program})
		}
	}
	in := r.place.Folder(name)
	switch name {
	case agents.Codex:
		out = append(out, r.untrusted()...)
	case agents.ClaudeCode:
		out = append(out, offIn(r.place.Join(in, "settings.json"), editor.JSON, true, "disableAllHooks")...)
	case agents.GeminiCLI, agents.QwenCode:
		out = append(out, offIn(r.place.Join(in, "settings.json"), editor.JSONC, false, "hooksConfig", "enabled")...)
		out = append(out, offIn(r.place.Join(in, "settings.json"), editor.JSONC, true, "disableAllHooks")...)
	}
	if a, _ := agents.Find(name); r.isServedByOthers(name, record{}) && slices.ContainsFunc(s.Files, servesIn) {
		out = append(out, SetupProblem{Kind: Doubled, File: a.ServerFiles(r.place.Machine)[0]})
	}
	return out
}

// servesIn reports whether a file of ours names the server.
func servesIn(path string) bool {
	c, err := readContent(path)
	return err == nil && strings.Contains(string(c.text), `"mcpServers"`)
}

// offIn returns whether settings switch hooks off: by a value under keys. Settings that cannot be read count for the
// agent as none.
func offIn(path string, f editor.Format, off bool, keys ...string) []SetupProblem {
	c, err := readContent(path)
	if err != nil || !c.there() {
		return nil
	}
	v, there, err := editor.Lookup(c.text, f, keys...)
	switch {
	case err != nil:
		return []SetupProblem{{Kind: Unreadable, File: path, Line: refuse(Action{}, err).Line}}
	case there && v == off:
		return []SetupProblem{{Kind: Off, File: path}}
	}
	return nil
}

// untrusted returns whether Codex has hooks of ours that it does not trust.
func (r *Run) untrusted() []SetupProblem {
	hooks := r.place.Join(r.place.Folder(agents.Codex), "hooks.json")
	settings := r.place.Join(r.place.Folder(agents.Codex), "config.toml")
	c, err := readContent(hooks)
	if err != nil || !c.there() {
		return nil
	}
	now, err := readContent(settings)
	if err != nil {
		return nil
	}
	for _, one := range r.trusts(hooks, c.text) {
		v, there, err := editor.Lookup(now.text, editor.TOML, append(slices.Clone(one.keys), "trusted_hash")...)
		table, _ := one.value.(editor.Object)
		if err != nil || !there || v != table[0].Value {
			return []SetupProblem{{Kind: Untrusted, File: settings}}
		}
	}
	return nil
}
