package codex

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"math"
	"path"
	"slices"
)

// rolloutStretch is a rollout, up to an ordinal, as a part of a thread's path.
type rolloutStretch struct {
	*rolloutFile
	end int64 // the first ordinal that is not of it
}

// maxChain bounds how many rollouts one goes on from.
const maxChain = 200

// rolloutChain returns the path of a rollout: what its bases have of it, and itself last. missing is
// what it goes on from and is not there.
func (r *sessionReader) rolloutChain(f *rolloutFile, end int64,
	seen []string) (out []rolloutStretch, missing string, err error) {
	if slices.Contains(seen, f.name) || len(seen) >= maxChain {
		return nil, f.thread, nil
	}
	h, err := r.readHead(f)
	if err != nil {
		return nil, "", err
	}
	if b := h.Base; b != nil {
		under, err := r.findFile(b.ID)
		if err != nil {
			return nil, "", err
		}
		if under == nil {
			missing = b.ID
		} else if out, missing, err = r.rolloutChain(under, min(b.End, end), append(seen, f.name)); err != nil {
			return nil, "", err
		}
	}
	return append(out, rolloutStretch{f, end}), missing, nil
}

// readHead returns all that a rollout says about its thread.
func (r *sessionReader) readHead(f *rolloutFile) (h threadHead, err error) {
	err = r.readLines(f, func(l line) bool {
		if l.bad == "" && l.kind == "session_meta" {
			h = parseHead(l.payload)
		}
		return false
	})
	return h, err
}

// readLines reads a rollout. One that is not there has none.
func (r *sessionReader) readLines(f *rolloutFile, do func(line) bool) error {
	in, err := openRollout(r.place.FS, f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = eachLine(in, path.Ext(f.name) == ".zst", func(l line) bool {
		if l.thread, l.pos = f.thread, l.n; r.ctx.Err() != nil {
			return false
		}
		return do(l)
	})
	return errors.Join(err, r.ctx.Err(), in.Close())
}

// emitPath tells the path of a rollout.
func (r *sessionReader) emitPath(t *threadBuilder, f *rolloutFile, current bool) error {
	stretches, missing, err := r.rolloutChain(f, math.MaxInt64, nil)
	if err != nil {
		return err
	}
	t.beginPath()
	t.missing = missing
	for i, s := range stretches {
		own := i == len(stretches)-1
		t.again = !own
		if err := r.emitStretch(t, s, own, current); err != nil || r.gone {
			return err
		}
		if !own {
			t.closeAnswer()
		}
	}
	t.finishPath(current, current && r.live)
	return nil
}

// emitStretch tells a rollout up to its end, with the lines that it copied as its origin has them.
// What is bad is said once: where its own path is told.
func (r *sessionReader) emitStretch(t *threadBuilder, s rolloutStretch, own, current bool) error {
	c, err := r.readCopies(s.rolloutFile, 0)
	if err != nil {
		return err
	}
	return r.readLines(s.rolloutFile, func(l line) bool {
		switch {
		case l.ordinal >= s.end:
			return false
		case l.torn && r.live && current:
			t.held = t.held || own
			return false
		case l.bad != "" && !own:
			return true
		case l.bad != "":
			r.emitBad(l.n, l.bad)
			return !r.gone
		case c.takeLine(&l):
			t.countLeft("copied")
			return true
		}
		l.shared = l.shared || l.thread != t.thread
		if err := t.takeLine(&l); err != nil && own {
			r.emitBad(l.n, explainJSON(err))
		}
		return !r.gone
	})
}

// copyTracker knows which lines of a rollout are copies of another thread's.
type copyTracker struct {
	self   threadHead
	n      int    // lines so far
	thread string // the origin; empty if nothing is copied
	agent  bool   // it is a sub-agent's, which begins with a copy of its parent's talk
	begins int    // of a sub-agent: the line at which its own talk begins
	on     bool
	origin []originalLine
	next   int
}

// originalLine is a line of the thread that was copied.
type originalLine struct {
	hash   uint64
	at     int64
	thread string
	pos    int
}

var seed = maphash.MakeSeed()

func (l *line) hashLine() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(l.kind) // it never fails
	_, _ = h.Write(l.payload)
	return h.Sum64()
}

// readCopies reads the thread that a rollout begins with a copy of, which says so in its second
// line. depth is how often that was asked.
func (r *sessionReader) readCopies(f *rolloutFile, depth int) (*copyTracker, error) {
	c := &copyTracker{}
	marked := false // its turns have ids
	err := r.readLines(f, func(l line) bool {
		switch {
		case l.n == 1 && l.kind == "session_meta":
			c.self = parseHead(l.payload)
			return true
		case l.n == 2 && l.kind == "session_meta":
			if h := parseHead(l.payload); h.ID != c.self.ID {
				c.thread = h.ID
			}
		case l.kind == "event_msg":
			e, _ := l.parseEvent()
			marked = e.beginsTurn() && e.TurnID != ""
		}
		return c.thread != "" && !marked && l.n < maxSkip
	})
	if err != nil || c.thread == "" || depth >= maxChain {
		return c, err
	}
	if c.agent = c.self.parentThread() != ""; c.agent {
		if c.on = marked; marked {
			c.begins, err = r.findOwnTalk(f, c)
		}
		return c, err
	}
	c.on = true
	under, err := r.findFile(c.thread)
	if err != nil || under == nil || under.name == f.name {
		return c, err
	}
	up, err := r.readCopies(under, depth+1)
	if err != nil {
		return c, err
	}
	err = r.readLines(under, func(l line) bool {
		up.takeLine(&l)
		c.origin = append(c.origin, originalLine{l.hashLine(), l.at, l.thread, l.pos})
		return true
	})
	return c, err
}

// maxSkip bounds how many lines of the origin a copy may leave out in a row.
const maxSkip = 64

// takeLine gives a copied line the place and time of its original, and reports whether the line
// is to be passed over.
func (c *copyTracker) takeLine(l *line) bool {
	c.n++
	if !c.on || l.n == 1 {
		return false
	}
	if c.agent {
		c.on = c.begins == 0 || l.n < c.begins
		return c.on
	}
	h := l.hashLine()
	for i := c.next; i < len(c.origin) && i < c.next+maxSkip; i++ {
		if o := c.origin[i]; o.hash == h {
			c.next = i + 1
			l.at = o.at
			l.thread = o.thread
			l.pos = o.pos
			l.shared = true
			return false
		}
	}
	if l.kind == "response_item" || l.kind == "turn_context" || newerTurn(l, c.self) {
		c.on = false
	}
	return false
}

// newerTurn reports whether a turn begins whose id says that it is younger than the thread.
func newerTurn(l *line, h threadHead) bool {
	e, ok := l.parseEvent()
	return ok && e.beginsTurn() && h.compareAge(e.TurnID) > 0
}

// compareAge compares when an id was made with when the thread was begun: 1 if it is not older,
// -1 if it is, and 0 if it does not say, as random ids do.
func (h threadHead) compareAge(id string) int {
	at, says := idTime(id)
	if !says {
		return 0
	}
	begun, says := idTime(h.ID)
	if !says {
		begun = h.startTime()
	}
	if at < begun {
		return -1
	}
	return 1
}
