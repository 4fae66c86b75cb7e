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

// checkedThread is a conversation while its entries are checked.
type checkedThread struct {
	path  []scrollback.Message
	ended bool
}

// checker holds entries against the contract.
type checker struct {
	threads map[string]*checkedThread
	found   []string
}

func (c *checker) addFault(format string, args ...any) {
	if len(c.found) < 20 {
		c.found = append(c.found, fmt.Sprintf(format, args...))
	}
}

// listFaults lists what breaks the contract.
func listFaults(r placeReading) []string {
	c := &checker{}
	if errors.Is(r.err, errBroken) {
		c.addFault("%v", r.err)
	} else if r.err != nil {
		c.checkReason(r.err.Error())
	}
	for i, s := range r.sessions {
		c.checkSession(s)
		c.threads = map[string]*checkedThread{}
		for _, e := range r.entries[i] {
			was := len(c.found)
			c.checkEntry(e)
			if len(c.found) > was {
				c.addFault("session %s: in %.500s", s.ID, entryLine(e))
			}
		}
		if errors.Is(r.errs[i], errBroken) {
			c.addFault("session %s: %v", s.ID, r.errs[i])
		} else if r.errs[i] != nil {
			c.checkReason(r.errs[i].Error())
		}
		for source, t := range c.threads {
			if !t.ended && r.errs[i] == nil {
				c.addFault("session %s: %q has no End", s.ID, source)
			}
		}
	}
	return c.found
}

func (c *checker) checkSession(s transcript.Session) {
	switch {
	case s.ID == "":
		c.addFault("a session without an id: %+v", s)
	case !utf8.ValidString(s.ID):
		c.addFault("a session whose id is not UTF-8: %+v", s)
	case !fs.ValidPath(s.Name):
		c.addFault("session %s: %q is not a name in the place", s.ID, s.Name)
	case s.Bytes < 0 || s.Changed < 0 || s.Changed > latest:
		c.addFault("session %s: impossible figures: %+v", s.ID, s)
	case s.Stamp == "" && s.Bad == "":
		c.addFault("session %s has no stamp", s.ID)
	}
	if s.Bad != "" {
		c.checkReason(s.Bad)
	}
}

// countKinds returns how many things an entry is.
func countKinds(e transcript.Entry) (n int) {
	for _, is := range []bool{e.Bad != nil, e.Conversation != nil, e.Rewind != nil, e.Without != nil, e.End != nil,
		len(e.Message.Parts) > 0 || e.Message.Role != ""} {
		if is {
			n++
		}
	}
	return n
}

func (c *checker) checkEntry(e transcript.Entry) {
	if n := countKinds(e); n != 1 {
		c.addFault("an entry that is %d things", n)
		return
	}
	if e.Line < 0 {
		c.addFault("line %d", e.Line)
	}
	if e.Bad != nil {
		if e.Bad.Reason == "" || e.Bad.Line < 0 {
			c.addFault("a bad line without a reason or a number")
		} else {
			c.checkReason(e.Bad.Reason)
		}
		return
	}
	if e.Source == "" || !utf8.ValidString(e.Source) {
		c.addFault("an entry of the source %q", e.Source)
		return
	}
	t := c.threads[e.Source]
	if e.Conversation != nil {
		if t != nil {
			c.addFault("%s is described twice", e.Source)
			return
		}
		c.threads[e.Source] = &checkedThread{}
		c.checkConversation(e)
		return
	}
	if t == nil {
		c.addFault("%s was not described before", e.Source)
		return
	}
	if t.ended {
		c.addFault("%s goes on after its End", e.Source)
		return
	}
	switch {
	case e.End != nil:
		t.ended = true
		for kind, n := range e.End.Left {
			if n <= 0 || kind == "" {
				c.addFault("%d of %q were left out", n, kind)
			}
		}
	case e.Rewind != nil:
		if *e.Rewind < 0 || *e.Rewind >= len(t.path) {
			c.addFault("a rewind to %d of %d messages", *e.Rewind, len(t.path))
			return
		}
		t.path = slices.Clone(t.path[:*e.Rewind])
	default:
		c.checkMessage(t, e)
	}
}

// listLost lists the sessions whose messages have all lost their ids or times, though the tool's files have them.
func (v variant) listLost(r placeReading) (lost []string) {
	for i, s := range r.sessions {
		messages := 0
		ids := 0
		times := 0
		for _, e := range r.entries[i] {
			if e.Message.Role == "" {
				continue
			}
			messages++
			if e.Message.ID != "" {
				ids++
			}
			if e.Message.CreatedAt != 0 {
				times++
			}
		}
		if messages > 0 && (ids == 0) != slices.Contains(v.NoIDs, s.ID) {
			lost = append(lost, fmt.Sprintf("session %s: %d of %d messages have an id, and NoIDs is %v", s.ID, ids, messages,
				v.NoIDs))
		}
		if messages > 0 && (times == 0) != slices.Contains(v.NoTimes, s.ID) {
			lost = append(lost, fmt.Sprintf("session %s: %d of %d messages have a time, and NoTimes is %v", s.ID, times,
				messages, v.NoTimes))
		}
	}
	return lost
}
