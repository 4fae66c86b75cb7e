package install

import (
	"os"
	"path/filepath"
)

// Apply does what a plan says: the record first, then file after file. What fails is refused, and the rest goes on.
// The error is that of the record.
func (p *Plan) Apply() error {
	rec := p.record
	for _, a := range p.Actions {
		if a.entry != nil && !a.keep {
			rec = rec.with(*a.entry)
		}
	}
	if err := p.next(); err != nil {
		return err
	}
	if err := writeRecord(p.data, rec); err != nil {
		return err
	}
	for i := range p.Actions {
		if err := p.next(); err != nil {
			return err
		}
		a := &p.Actions[i]
		if err := a.do(); err != nil {
			rec = rec.without(entry{Agent: a.Agent, Path: a.Path})
			if was, ok := p.record.find(a.Agent, a.Path); ok {
				rec = rec.with(was)
			}
			*a = refuse(*a, err)
			continue
		}
		switch {
		case a.keep:
		case a.entry == nil:
			rec = rec.without(entry{Agent: a.Agent, Path: a.Path})
		default: // only what the file is now
			done := *a.entry
			if n := len(done.States); n > 0 {
				done.States = done.States[n-1:]
			}
			rec = rec.with(done)
		}
	}
	if err := p.next(); err != nil {
		return err
	}
	var folders []string
	for _, a := range p.Actions {
		folders = append(folders, a.folders...)
	}
	if err := removeFolders(folders); err != nil {
		return err
	}
	return writeRecord(p.data, rec)
}

// next is called before each write.
func (p *Plan) next() error {
	if p.step == nil {
		return nil
	}
	return p.step()
}

// do does what an action says to its file.
func (a *Action) do() error {
	if a.was.real != "" {
		_ = os.Remove(waiting(a.was.real)) // of a run that was killed; if it cannot be removed, it is in nobody's way
	}
	switch {
	case !a.Changes():
		return nil
	case a.Kind == Delete:
		return a.was.remove(a.Path)
	}
	if err := os.MkdirAll(filepath.Dir(a.was.real), 0o700); err != nil {
		return explain(a.Path, err)
	}
	return a.was.write(a.Path, a.After)
}

// Failed returns the actions that were refused.
func (p *Plan) Failed() (out []Action) {
	for _, a := range p.Actions {
		if a.Kind == Refused {
			out = append(out, a)
		}
	}
	return out
}

// IsDone reports whether a plan changes nothing.
func (p *Plan) IsDone() bool {
	for _, a := range p.Actions {
		if a.Changes() {
			return false
		}
	}
	return true
}
