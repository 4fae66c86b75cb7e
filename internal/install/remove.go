package install

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// Uninstall plans what takes everything out that install has put in: from the record, and what is recognised without.
func (r *Run) Uninstall() (*Plan, error) {
	rec, _, err := readRecord(r.o.Data)
	if err != nil {
		return nil, err
	}
	p := &Plan{Actions: []Action{}, Serves: map[string]bool{}, Calls: map[string]bool{}, record: rec, data: r.o.Data}
	for _, name := range r.o.Agents {
		var paths []string
		all := r.allTargets(name)
		if name == agents.Codex { // trust is found by what is still in the file of hooks
			slices.SortStableFunc(all, func(a, b target) int { return strings.Compare(a.path, b.path) })
		}
		for _, t := range all {
			paths = append(paths, t.path)
			p.Actions = append(p.Actions, r.removeTarget(rec, name, t))
		}
		for _, e := range rec.Entries { // of places that variables named then
			if e.Agent != name || slices.Contains(paths, e.Path) {
				continue
			}
			t := target{path: e.Path, format: formatOf(all, e.Path)}
			if e.Whole {
				t.whole = []byte{}
			}
			for _, k := range e.Keys {
				t.puts = append(t.puts, put{keys: k.Keys, list: k.List})
			}
			p.Actions = append(p.Actions, r.removeTarget(rec, name, t))
		}
	}
	return p, nil
}

// formatOf returns the format of an agent's file that lies elsewhere now.
func formatOf(all []target, path string) editor.Format {
	for _, t := range all {
		if t.whole == nil && filepath.Base(t.path) == filepath.Base(path) {
			return t.format
		}
	}
	return editor.FormatOf(path)
}

// removeTarget plans how what is ours leaves a file.
func (r *Run) removeTarget(rec record, name string, t target) Action {
	a := Action{Agent: name, Path: t.path, Kind: Same, keep: true}
	e, known := rec.find(name, t.path)
	a.keep = !known
	c, err := readContent(t.path)
	if err != nil {
		return refuse(a, err)
	}
	a.was = c
	a.Before = c.text
	a.After = c.text
	a.folders = e.Folders
	if !known {
		a.folders = r.ownFolders(name, t.path)
	}
	if t.whole != nil {
		if c.there() && (known || r.isWholeOurs(name, t.path, c.text)) {
			a.Kind = Delete
			a.After = nil
		}
		return a
	}
	if !c.there() || known && c.hash() == e.Before {
		return a
	}
	if s, ok := e.stateOf(c.hash()); ok {
		if text, ok := s.undo(c.text); ok && (e.Before == "" || hashOf(text) == e.Before) {
			a.Kind = Restore
			a.After = text
			if e.Before == "" {
				a.Kind = Delete
				a.After = nil
			}
			return r.writable(a)
		}
	}
	return r.takeOut(a, t, e, known)
}

// writable refuses what would change a file that its owner may not write.
func (r *Run) writable(a Action) Action {
	if a.Changes() && a.was.mode&0o200 == 0 {
		return refuse(a, scrollback.Errorf(scrollback.Refused, op, i18n.InstallReadOnly, a.Path))
	}
	return a
}

// takeOut plans how what is ours leaves a file that is not known, or that somebody has changed since.
func (r *Run) takeOut(a Action, t target, e entry, known bool) Action {
	puts := slices.Clone(t.puts)
	if a.Agent == agents.Codex && t.format == editor.TOML {
		hooks := filepath.Join(filepath.Dir(t.path), "hooks.json")
		if c, err := readContent(hooks); err == nil && c.there() {
			puts = append(puts, r.trusts(hooks, c.text)...)
		}
	}
	if a.Agent == agents.OpenClaw {
		puts = append(puts, r.linked(a.was.text, t.format)...)
	}
	for _, k := range e.Keys {
		if !slices.ContainsFunc(puts, func(o put) bool { return slices.Equal(o.keys, k.Keys) }) {
			puts = append(puts, put{keys: k.Keys, list: k.List})
		}
	}
	text := a.was.text
	for _, one := range puts {
		at := slices.IndexFunc(e.Keys, func(k keys) bool { return slices.Equal(k.Keys, one.keys) })
		out, err := r.takeOne(text, a.Agent, t.format, one, e, at >= 0)
		if err != nil {
			if text = a.was.text; !mentions(text, e.Program) && !bytes.Contains(text, []byte("scrollback")) {
				return a // it cannot be read, and nothing of ours can be in it
			}
			return refuse(a, err)
		}
		if at >= 0 && !bytes.Equal(out, text) {
			out = dropEmpty(out, t.format, one, e.Keys[at].Made)
		}
		text = out
	}
	if bytes.Equal(text, a.was.text) {
		return a
	}
	a.Kind = TakeOut
	a.After = text
	if isEmptied(text, t, known && e.Before == "") {
		a.Kind = Delete
		a.After = nil
	}
	return r.writable(a)
}

// linked returns what OpenClaw itself has written of our plugin when it was told of it.
func (r *Run) linked(text []byte, f editor.Format) []put {
	at := []string{"plugins", "load", "paths"}
	folder := OpenClawPlugin(r.o.Data)
	v, _, err := editor.Lookup(text, f, at...)
	if items, ok := v.([]any); err != nil || !ok || !slices.Contains(items, any(folder)) {
		return nil
	}
	return []put{{keys: at, value: folder, list: true, mine: true},
		{keys: []string{"plugins", "entries", "scrollback"}, mine: true}}
}

func mentions(text []byte, program string) bool {
	return program != "" && bytes.Contains(text, []byte(program))
}

// takeOne takes out what was put in under keys, if it is ours.
func (r *Run) takeOne(text []byte, agent string, f editor.Format, one put, e entry, known bool) ([]byte, error) {
	v, there, err := editor.Lookup(text, f, one.keys...)
	if err != nil || !there {
		return text, err
	}
	if items, ok := v.([]any); ok && one.list {
		for i := len(items) - 1; i >= 0; i-- {
			if !r.isOurs(items[i], agent, one.keys) && !(one.mine && editor.Same(items[i], one.value)) {
				continue
			}
			c, err := editor.RemoveItem(text, f, one.keys, i)
			if err != nil {
				return nil, err
			}
			text = c.Text
		}
		return text, nil
	}
	table, _ := v.(map[string]any)
	ours := r.isOurs(v, agent, one.keys) || one.mine && (one.value == nil || editor.Same(v, one.value)) ||
		known && (table["command"] == e.Program || table["cmd"] == e.Program || one.keys[0] == "hooks")
	if !ours || one.list {
		return text, nil
	}
	c, err := editor.Remove(text, f, one.keys)
	return c.Text, err
}

// dropEmpty removes tables and lists around what was taken out: those that were made for it, if nothing else is in
// them.
func dropEmpty(text []byte, f editor.Format, one put, made int) []byte {
	around := one.keys[:len(one.keys)-1]
	if one.list {
		around = one.keys
	}
	for ; made > 0 && len(around) > 0; made-- {
		v, there, err := editor.Lookup(text, f, around...)
		table, isTable := v.(map[string]any)
		list, isList := v.([]any)
		if err != nil || !there || isTable && len(table) > 0 || isList && len(list) > 0 || !isTable && !isList {
			return text
		}
		c, err := editor.Remove(text, f, around)
		if err != nil {
			return text // an empty table more does no harm
		}
		text = c.Text
		around = around[:len(around)-1]
	}
	return text
}

// isEmptied reports whether nothing is left in a file that was made by us; without a record one of hooks counts as
// such.
func isEmptied(text []byte, t target, made bool) bool {
	v, _, err := editor.Lookup(text, t.format)
	table, _ := v.(map[string]any)
	if err != nil || !made && !t.calls {
		return false
	}
	if made && len(table) == 0 {
		return len(bytes.Trim(text, "{} \t\r\n\uFEFF")) == 0
	}
	hooks, _ := table["hooks"].(map[string]any)
	for _, list := range hooks {
		if items, ok := list.([]any); !ok || len(items) > 0 {
			return false
		}
	}
	return filepath.Base(t.path) == "hooks.json" && len(table) == 1 && table["hooks"] != nil
}

// ownFolders are the folders of a path that have our name below an agent's, and those within them.
func (r *Run) ownFolders(agent, path string) (out []string) {
	in := r.place.Folder(agent)
	for dir := filepath.Dir(path); len(dir) > len(in) && in != ""; dir = filepath.Dir(dir) {
		out = append(out, dir)
		if filepath.Base(dir) == "scrollback" {
			return out
		}
	}
	return nil
}
