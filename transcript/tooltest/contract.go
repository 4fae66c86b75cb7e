package tooltest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// errBroken is a reader that goes on where it must not.
var errBroken = errors.New("the reader does not end")

// latest is the last moment a message can have, in Unix ms: the end of the year 9999.
const latest = 253402300799999

// thread is a conversation while its entries are checked.
type thread struct {
	path  []scrollback.Message
	ended bool
}

// checker holds entries against the contract.
type checker struct {
	threads map[string]*thread
	found   []string
}

func (c *checker) say(format string, args ...any) {
	if len(c.found) < 20 {
		c.found = append(c.found, fmt.Sprintf(format, args...))
	}
}

// faults lists what breaks the contract.
func faults(r reading) []string {
	c := &checker{}
	if errors.Is(r.err, errBroken) {
		c.say("%v", r.err)
	}
	for i, s := range r.sessions {
		c.session(s)
		c.threads = map[string]*thread{}
		for _, e := range r.entries[i] {
			was := len(c.found)
			c.entry(e)
			if len(c.found) > was {
				c.say("session %s: in %.500s", s.ID, line(e))
			}
		}
		if errors.Is(r.errs[i], errBroken) {
			c.say("session %s: %v", s.ID, r.errs[i])
		}
		for source, t := range c.threads {
			if !t.ended && r.errs[i] == nil {
				c.say("session %s: %q has no End", s.ID, source)
			}
		}
	}
	return c.found
}

func (c *checker) session(s transcript.Session) {
	switch {
	case s.ID == "":
		c.say("a session without an id: %+v", s)
	case !utf8.ValidString(s.ID):
		c.say("a session whose id is not UTF-8: %+v", s)
	case !fs.ValidPath(s.Name):
		c.say("session %s: %q is not a name in the place", s.ID, s.Name)
	case s.Bytes < 0 || s.Changed < 0 || s.Changed > latest:
		c.say("session %s: impossible figures: %+v", s.ID, s)
	case s.Stamp == "" && s.Bad == "":
		c.say("session %s has no stamp", s.ID)
	}
}

// kinds is how many things an entry is.
func kinds(e transcript.Entry) (n int) {
	for _, is := range []bool{e.Bad != nil, e.Conversation != nil, e.Rewind != nil, e.Without != nil, e.End != nil,
		len(e.Message.Parts) > 0 || e.Message.Role != ""} {
		if is {
			n++
		}
	}
	return n
}

func (c *checker) entry(e transcript.Entry) {
	if n := kinds(e); n != 1 {
		c.say("an entry that is %d things", n)
		return
	}
	if e.Line < 0 {
		c.say("line %d", e.Line)
	}
	if e.Bad != nil {
		if e.Bad.Reason == "" || e.Bad.Line < 0 {
			c.say("a bad line without a reason or a number")
		}
		return
	}
	if e.Source == "" || !utf8.ValidString(e.Source) {
		c.say("an entry of the source %q", e.Source)
		return
	}
	t := c.threads[e.Source]
	if e.Conversation != nil {
		if t != nil {
			c.say("%s is described twice", e.Source)
			return
		}
		c.threads[e.Source] = &thread{}
		c.conversation(e)
		return
	}
	if t == nil {
		c.say("%s was not described before", e.Source)
		return
	}
	if t.ended {
		c.say("%s goes on after its End", e.Source)
		return
	}
	switch {
	case e.End != nil:
		t.ended = true
		for kind, n := range e.End.Left {
			if n <= 0 || kind == "" {
				c.say("%d of %q were left out", n, kind)
			}
		}
	case e.Rewind != nil:
		if *e.Rewind < 0 || *e.Rewind >= len(t.path) {
			c.say("a rewind to %d of %d messages", *e.Rewind, len(t.path))
			return
		}
		t.path = slices.Clone(t.path[:*e.Rewind])
	default:
		c.message(t, e)
	}
}
