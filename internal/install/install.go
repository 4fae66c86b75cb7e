// Package install sets agents of this machine up so that they ask this program: it writes files that they read, or
// puts a few lines into those of a person, and takes them out again to the byte.
//
// Words it adds: target (a file that an agent reads), put (what is put into a person's file), action (what is done to
// a file), plan (the actions of one run), record (what was written where, with hashes).
//
// Invariants: a plan is made before anything is written, and only its files are touched; a file is replaced whole, by
// renaming, or stays; the record is written first, so that a run that is killed can be finished or undone; what is not
// exactly what this package writes, or in the record, is a person's, and stays.
//
// It may not know conversations or the network, and starts no programs.
package install

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/splice/editor"
)

// Options are what an installation is made with.
type Options struct {
	Machine  agents.Machine
	Program  string   // absolute
	Data     string   // the folder of the data, absolute: the record is there
	NameData bool     // the program is to be told of Data
	Agents   []string // by name, in the order of the plan
	Hooks    bool
	Trust    bool // write what agents call trust
	Old      bool // Claude Code is too old for a folder of ours
}

// unknown stands for the hash of a file that was written before there was a record.
const unknown = "?"

// Kind is what an action does.
type Kind string

// The kinds of actions.
const (
	Create  Kind = "new"
	Insert  Kind = "insert"
	Change  Kind = "change" // what is ours is rewritten
	Same    Kind = "same"
	Kept    Kind = "kept" // it is a person's, and stays
	Delete  Kind = "delete"
	Restore Kind = "restore" // to the byte as it was before
	TakeOut Kind = "take-out"
	Refused Kind = "refused"
)

// Action is what is done to a file.
type Action struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	Kind  Kind   `json:"kind"`
	Line  int    `json:"line,omitempty"` // where something stands in the way
	Why   string `json:"why,omitempty"`  // it is refused or kept

	Before []byte `json:"-"` // the file; nil where there is none
	After  []byte `json:"-"` // what it is to be; nil: it goes
	Err    error  `json:"-"` // why it is refused

	was     content
	entry   *entry // what the record is to say; nil: nothing any more
	keep    bool   // the record stays as it is
	folders []string
}

// Changes reports whether an action changes the file.
func (a Action) Changes() bool {
	return slices.Contains([]Kind{Create, Insert, Change, Delete, Restore, TakeOut}, a.Kind)
}

// IsShown reports whether an action is worth a line: a file that has nothing of ours, and needs nothing, is not.
func (a Action) IsShown() bool { return a.Kind != Same || a.entry != nil }

// Plan is what a run does.
type Plan struct {
	Actions []Action
	Serves  map[string]bool // agents that get the MCP server of this run
	Calls   map[string]bool // agents that call hooks
	Foreign []string        // agents for which somebody else has set up a server with our name

	record record
	data   string
	step   func() error // before each write; tests end a run there
}

// Run is a run that nobody else's is beside.
type Run struct {
	o     Options
	place place
	lock  *flock.Flock
	known map[string][]target // what install writes in whichever shape, by agent
}

// lockWait is how long another run is waited for.
const lockWait = 30 * time.Second

// Begin waits until no other run is at work on the same data. With write the folder of the data is made if it is
// missing; without it nothing is, and nobody is waited for.
func Begin(ctx context.Context, o Options, write bool) (*Run, error) {
	has := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	r := &Run{o: o, place: place{Machine: o.Machine, data: o.Data, old: o.Old, has: has},
		known: map[string][]target{}}
	if !write {
		return r, nil
	}
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return nil, explain(o.Data, err)
	}
	r.lock = flock.New(filepath.Join(o.Data, "install.lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if ok, err := r.lock.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		return nil, scrollback.Errorf(scrollback.Unavailable, op, i18n.InstallBusy, o.Data)
	}
	return r, nil
}

// End lets others run.
func (r *Run) End() error {
	if r.lock == nil {
		return nil
	}
	return r.lock.Unlock()
}

func (r *Run) shape() shape {
	s := shape{program: r.o.Program, hooks: r.o.Hooks, serve: true, trust: r.o.Trust,
		windows: r.o.Machine.System == "windows"}
	if s.windows {
		s.program = filepath.ToSlash(s.program)
	}
	if r.o.NameData {
		s.data = r.o.Data
	}
	return s
}

// Install plans what sets the agents up. A file that cannot be read or changed is an action that is refused; others go
// on.
func (r *Run) Install() (*Plan, error) {
	rec, _, err := readRecord(r.o.Data)
	if err != nil {
		return nil, err
	}
	p := &Plan{Actions: []Action{}, Serves: map[string]bool{}, Calls: map[string]bool{}, record: rec, data: r.o.Data}
	for _, name := range r.o.Agents {
		s := r.shape()
		if r.isServedByOthers(name, rec) {
			s.serve = false
			p.Foreign = append(p.Foreign, name)
		}
		r.installAgent(p, name, s)
	}
	return p, nil
}

// installAgent plans what sets one agent up.
func (r *Run) installAgent(p *Plan, name string, s shape) {
	wanted := targetsOf(name, r.place, s)
	if name == agents.Codex { // trust follows from what the file of hooks becomes
		slices.Reverse(wanted)
	}
	var paths []string
	for _, t := range wanted {
		paths = append(paths, t.path)
		if name == agents.Codex && t.format == editor.TOML && s.hooks {
			t.puts = append(t.puts, r.codexTrust(p, t)...)
		}
		a := r.installTarget(p.record, name, t, p)
		if a.Kind != Refused && a.Kind != Kept {
			if t.serves && s.serve {
				p.Serves[name] = true
			}
			if t.calls && s.hooks {
				p.Calls[name] = true
			}
		}
		p.Actions = append(p.Actions, a)
	}
	// What an earlier installation of another kind has left goes.
	for _, t := range r.allTargets(name) {
		if slices.Contains(paths, t.path) {
			continue
		}
		paths = append(paths, t.path)
		a := r.removeTarget(p.record, name, t)
		if a.Kind == Refused { // nothing of ours is wanted there
			continue
		}
		p.Actions = append(p.Actions, a)
	}
}

// codexTrust returns what trusts our hooks: if it is asked for, or for what was trusted by us before and is still the
// same.
func (r *Run) codexTrust(p *Plan, t target) (out []put) {
	at := slices.IndexFunc(p.Actions, func(a Action) bool {
		return a.Agent == agents.Codex && filepath.Base(a.Path) == "hooks.json"
	})
	if at < 0 || p.Actions[at].Kind == Refused {
		return nil
	}
	hooks := p.Actions[at]
	e, _ := p.record.find(agents.Codex, t.path)
	now, err := readContent(t.path)
	if err != nil {
		return nil // it is refused when it is read again
	}
	for _, one := range r.trusts(hooks.Path, hooks.After) {
		ours := slices.ContainsFunc(e.Keys, func(k keys) bool { return slices.Equal(k.Keys, one.keys) })
		v, there, err := editor.Lookup(now.text, editor.TOML, one.keys...)
		if r.o.Trust || ours && there && err == nil && editor.Same(v, one.value) {
			out = append(out, one)
		}
	}
	return out
}

// isServedByOthers reports whether the settings of an agent that takes files of ours name a server with our name,
// which we did not write.
func (r *Run) isServedByOthers(name string, rec record) bool {
	a, _ := agents.Find(name)
	if a.Hooks != agents.Folder && a.Hooks != agents.Extension {
		return false
	}
	path := a.ServerFiles(r.place.Machine)[0]
	if _, ours := rec.find(name, path); ours {
		return false
	}
	c, err := readContent(path)
	if err != nil || !c.there() {
		return false
	}
	at := append(slices.Clone(a.Servers.At), "scrollback")
	v, there, err := editor.Lookup(c.text, editor.JSONC, at...)
	return err == nil && there && !r.isOurs(v, name, at)
}

// refuse is an action that is refused.
func refuse(a Action, err error) Action {
	a.Kind = Refused
	a.After = a.Before
	a.keep = true
	a.Err = err
	var fault *splice.Fault
	if errors.As(err, &fault) {
		a.Line = fault.Line
		a.Why = fault.Reason
	} else {
		a.Why = err.Error()
		var problem *scrollback.Error
		if errors.As(err, &problem) {
			a.Why = problem.Err.Error()
		}
	}
	return a
}

// installTarget plans what is done to one file.
func (r *Run) installTarget(rec record, name string, t target, p *Plan) Action {
	a := Action{Agent: name, Path: t.path, keep: true}
	c, err := readContent(t.path)
	if err != nil {
		return refuse(a, err)
	}
	a.was = c
	a.Before = c.text
	e, known := rec.find(name, t.path)
	if t.whole != nil {
		return r.installWhole(a, t, e, known)
	}
	return r.installPuts(a, t, e, known, p)
}

// newEntry returns an entry for a file, with what the one before it knows.
func (r *Run) newEntry(a Action, t target, e entry) *entry {
	out := entry{Agent: a.Agent, Path: t.path, Program: r.shape().program, Whole: t.whole != nil, Folders: e.Folders}
	for _, dir := range missingFolders(a.was.real) {
		if !slices.Contains(out.Folders, dir) {
			out.Folders = append(out.Folders, dir)
		}
	}
	return &out
}

// installWhole plans a file that is ours.
func (r *Run) installWhole(a Action, t target, e entry, known bool) Action {
	was := a.was
	a.After = t.whole
	old, mine := e.stateOf(was.hash())
	switch {
	case !was.there():
		a.Kind = Create
	case bytes.Equal(was.text, t.whole):
		a.Kind = Same
	case mine || r.isWholeOurs(a.Agent, t.path, was.text):
		a.Kind = Change
	default:
		a.Kind = Kept
		a.After = a.Before
		a.Why = i18n.InstallNotOurs.String()
		if known {
			a.Why = i18n.InstallChangedByOthers.String()
		}
		return a
	}
	if was.there() && was.mode&0o200 == 0 && a.Kind == Change {
		return refuse(a, scrollback.Errorf(scrollback.Refused, op, i18n.InstallReadOnly, t.path))
	}
	a.keep = false
	a.entry = r.newEntry(a, t, e)
	a.entry.States = states(old, mine, state{Hash: hashOf(t.whole)})
	return a
}

// states are what a file is and what it is to be.
func states(old state, known bool, to state) []state {
	if known && old.Hash != to.Hash {
		return []state{old, to}
	}
	return []state{to}
}

// isWholeOurs reports whether a file is what install writes there, with whichever program.
func (r *Run) isWholeOurs(name, path string, text []byte) bool {
	for _, t := range r.patternTargets(name) {
		if t.path == path && t.whole != nil && wild(string(t.whole)).Match(text) {
			return true
		}
	}
	return false
}

// patternTargets are the files of an agent in every shape that install writes.
func (r *Run) patternTargets(name string) []target {
	if all, ok := r.known[name]; ok {
		return all
	}
	var out []target
	p := r.place
	for _, p.old = range []bool{false, true} {
		for _, s := range patterns(r.o.Machine.System == "windows") {
			out = append(out, targetsOf(name, p, s)...)
		}
	}
	r.known[name] = out
	return out
}

// isOurs reports whether what was read under keys of an agent's settings is what install writes there, with whichever
// program.
func (r *Run) isOurs(v any, agent string, at []string) bool {
	for _, t := range r.patternTargets(agent) {
		for _, one := range t.puts {
			if slices.Equal(one.keys, at) && fits(v, one.value) {
				return true
			}
		}
	}
	return false
}

// allTargets are the files of an agent, each once, with all that may be put into it.
func (r *Run) allTargets(name string) (out []target) {
	for _, t := range r.patternTargets(name) {
		if !slices.ContainsFunc(out, func(o target) bool { return o.path == t.path }) {
			out = append(out, t)
		}
	}
	return out
}

// installPuts plans what is put into a person's file.
func (r *Run) installPuts(a Action, t target, e entry, known bool, p *Plan) Action {
	base := a.was.text
	before := a.was.hash()
	old, mine := e.stateOf(before)
	if mine {
		if base, mine = old.undo(a.was.text); mine {
			before = e.Before
		} else {
			base = a.was.text
		}
	}
	next := r.newEntry(a, t, e)
	next.Before = before
	text := base
	loose := known && !mine && before != e.Before // the file was changed since
	var steps [][]editor.Edit
	for _, one := range t.puts {
		c, ours, err := r.putOne(text, a.Agent, t.format, one, loose)
		if err != nil {
			return refuse(a, err)
		}
		if c.Text == nil && !ours {
			p.Foreign = append(p.Foreign, a.Agent)
			continue
		}
		loose = loose || ours
		next.Keys = append(next.Keys, keys{Keys: one.keys, List: one.list, Made: c.Made})
		if c.Text != nil {
			text = c.Text
			steps = append(steps, c.Edits)
		}
	}
	a.keep = false
	a.entry = next
	a.After = text
	if loose { // what was ours already is not in the steps, so they do not lead back
		if next.Before = e.Before; !known {
			next.Before = unknown
		}
		next.keepMade(e)
	} else {
		next.States = states(old, mine, state{Hash: hashOf(text), Steps: steps})
	}
	switch {
	case len(next.Keys) == 0:
		a.Kind = Kept
		a.Why = i18n.InstallServerKept.String()
		a.keep = true
		a.After = a.Before
	case bytes.Equal(text, a.was.text) && a.was.there():
		a.Kind = Same
		a.keep = known && loose && len(e.States) == 0
	case mine || loose:
		a.Kind = Change
	case !a.was.there():
		a.Kind = Create
	default:
		a.Kind = Insert
	}
	if a.Changes() && a.was.there() && a.was.mode&0o200 == 0 {
		return refuse(a, scrollback.Errorf(scrollback.Refused, op, i18n.InstallReadOnly, t.path))
	}
	return a
}

// keepMade takes over from an older entry which tables were made.
func (e *entry) keepMade(old entry) {
	for i, k := range e.Keys {
		for _, was := range old.Keys {
			if slices.Equal(k.Keys, was.Keys) {
				e.Keys[i].Made = max(k.Made, was.Made)
			}
		}
	}
}

// putOne returns the change that puts something in. ours says that it was there already, written by us; without a text
// then nothing is to be done. With neither somebody else's stands there.
func (r *Run) putOne(text []byte, agent string, f editor.Format, one put, loose bool) (c editor.Change, ours bool,
	err error) {
	v, there, err := editor.Lookup(text, f, one.keys...)
	if err != nil {
		return c, false, err
	}
	if one.list {
		items, _ := v.([]any)
		for i, item := range items {
			switch {
			case editor.Same(item, one.value):
				return c, true, nil
			case r.isOurs(item, agent, one.keys):
				c, err = editor.ReplaceItem(text, f, one.keys, i, one.value)
				return c, true, err
			}
		}
		c, err = editor.Append(text, f, one.keys, one.value)
		return c, false, err
	}
	switch {
	case !there:
		c, err = editor.Insert(text, f, one.keys, one.value)
		return c, false, err
	case editor.Same(v, one.value):
		return c, true, nil
	case one.mine || r.isOurs(v, agent, one.keys):
		c, err = editor.Replace(text, f, one.keys, one.value)
		return c, true, err
	}
	return c, false, nil
}
