package codex

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"math"
	"path"
	"slices"
)

// stretch is a rollout, up to an ordinal, as a part of a thread's path.
type stretch struct {
	*file
	end int64 // the first ordinal that is not of it
}

// maxChain bounds how many rollouts one goes on from.
const maxChain = 200

// chain is the path of a rollout: what its bases have of it, and itself last. missing is
// what it goes on from and is not there.
func (r *reader) chain(f *file, end int64, seen []string) (out []stretch, missing string, err error) {
	if slices.Contains(seen, f.name) || len(seen) >= maxChain {
		return nil, f.thread, nil
	}
	h, err := r.whole(f)
	if err != nil {
		return nil, "", err
	}
	if b := h.Base; b != nil {
		under, err := r.fileOf(b.ID)
		if err != nil {
			return nil, "", err
		}
		if under == nil {
			missing = b.ID
		} else if out, missing, err = r.chain(under, min(b.End, end), append(seen, f.name)); err != nil {
			return nil, "", err
		}
	}
	return append(out, stretch{f, end}), missing, nil
}

// whole is all that a rollout says about its thread.
func (r *reader) whole(f *file) (h head, err error) {
	err = r.lines(f, func(l line) bool {
		if l.bad == "" && l.kind == "session_meta" {
			h = parseHead(l.payload)
		}
		return false
	})
	return h, err
}

// lines reads a rollout. One that is not there has none.
func (r *reader) lines(f *file, do func(line) bool) error {
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

// path tells the path of a rollout.
func (r *reader) path(t *teller, f *file, current bool) error {
	stretches, missing, err := r.chain(f, math.MaxInt64, nil)
	if err != nil {
		return err
	}
	t.begin()
	t.missing = missing
	for i, s := range stretches {
		own := i == len(stretches)-1
		t.again = !own
		if err := r.stretch(t, s, own, current); err != nil || r.gone {
			return err
		}
		if !own {
			t.close()
		}
	}
	t.finish(current, current && r.live)
	return nil
}

// stretch tells a rollout up to its end, with the lines that it copied as its origin has them.
// What is bad is said once: where its own path is told.
func (r *reader) stretch(t *teller, s stretch, own, current bool) error {
	c, err := r.copies(s.file, 0)
	if err != nil {
		return err
	}
	return r.lines(s.file, func(l line) bool {
		switch {
		case l.ordinal >= s.end:
			return false
		case l.torn && r.live && current:
			t.held = t.held || own
			return false
		case l.bad != "" && !own:
			return true
		case l.bad != "":
			r.bad(l.n, l.bad)
			return !r.gone
		case c.take(&l):
			t.leave("copied")
			return true
		}
		l.shared = l.shared || l.thread != t.thread
		if err := t.take(&l); err != nil && own {
			r.bad(l.n, why(err))
		}
		return !r.gone
	})
}

// copies knows which lines of a rollout are copies of another thread's.
type copies struct {
	self   head
	n      int    // lines so far
	thread string // the origin; empty if nothing is copied
	agent  bool   // it is a sub-agent's, which begins with a copy of its parent's talk
	begins int    // of a sub-agent: the line at which its own talk begins
	on     bool
	origin []original
	next   int
}

// original is a line of the thread that was copied.
type original struct {
	hash   uint64
	at     int64
	thread string
	pos    int
}

var seed = maphash.MakeSeed()

func (l *line) hash() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(l.kind) // it never fails
	_, _ = h.Write(l.payload)
	return h.Sum64()
}

// copies reads the thread that a rollout begins with a copy of, which says so in its second
// line. depth is how often that was asked.
func (r *reader) copies(f *file, depth int) (*copies, error) {
	c := &copies{}
	marked := false // its turns have ids
	err := r.lines(f, func(l line) bool {
		switch {
		case l.n == 1 && l.kind == "session_meta":
			c.self = parseHead(l.payload)
			return true
		case l.n == 2 && l.kind == "session_meta":
			if h := parseHead(l.payload); h.ID != c.self.ID {
				c.thread = h.ID
			}
		case l.kind == "event_msg":
			e, _ := l.event()
			marked = e.begins() && e.TurnID != ""
		}
		return c.thread != "" && !marked && l.n < maxSkip
	})
	if err != nil || c.thread == "" || depth >= maxChain {
		return c, err
	}
	if c.agent = c.self.parent() != ""; c.agent {
		if c.on = marked; marked {
			c.begins, err = r.ownTalk(f, c)
		}
		return c, err
	}
	c.on = true
	under, err := r.fileOf(c.thread)
	if err != nil || under == nil || under.name == f.name {
		return c, err
	}
	up, err := r.copies(under, depth+1)
	if err != nil {
		return c, err
	}
	err = r.lines(under, func(l line) bool {
		up.take(&l)
		c.origin = append(c.origin, original{l.hash(), l.at, l.thread, l.pos})
		return true
	})
	return c, err
}

// maxSkip bounds how many lines of the origin a copy may leave out in a row.
const maxSkip = 64

// take gives a copied line the place and time of its original, and reports whether the line
// is to be passed over.
func (c *copies) take(l *line) bool {
	c.n++
	if !c.on || l.n == 1 {
		return false
	}
	if c.agent {
		c.on = c.begins == 0 || l.n < c.begins
		return c.on
	}
	h := l.hash()
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
func newerTurn(l *line, h head) bool {
	e, ok := l.event()
	return ok && e.begins() && h.age(e.TurnID) > 0
}

// age compares when an id was made with when the thread was begun: 1 if it is not older,
// -1 if it is, and 0 if it does not say, as random ids do.
func (h head) age(id string) int {
	at, says := madeAt(id)
	if !says {
		return 0
	}
	begun, says := madeAt(h.ID)
	if !says {
		begun = h.time()
	}
	if at < begun {
		return -1
	}
	return 1
}
