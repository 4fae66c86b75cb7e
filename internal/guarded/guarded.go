// Package guarded keeps libraries that are handed somebody's text within bounds that they do
// not have themselves.
//
// Most parsers take neither a context nor a bound on steps, and some are quadratic in what
// may be written on purpose. Work runs in a goroutine of its own, and nobody waits longer
// than was said. What was left behind keeps its place until it ends, so that as much as is
// hostile can take up as many processors as there are places, and no more; the caller bounds
// the length of the text, so that it ends.
package guarded

import (
	"errors"
	"strings"
	"time"
)

// What can be the matter with work that gave nothing.
var (
	ErrLate     = errors.New("the text takes too long to be read")
	ErrBusy     = errors.New("too many texts are being read")
	ErrPanicked = errors.New("the text cannot be read")
)

// ReadTime is how long one text may take to be read: the longest that somebody would write
// takes half a second, on a machine with nothing else to do.
const ReadTime = 5 * time.Second

// Bound is a bound on work: how much of it runs at a time, and how long somebody waits.
type Bound struct {
	places chan struct{}
	within time.Duration
}

// New makes a bound.
func New(places int, within time.Duration) *Bound {
	return &Bound{places: make(chan struct{}, places), within: within}
}

// Run does work within a bound, the wait for a place included. Work that is late goes on
// without anybody; what it uses must not be used by others.
func Run[T any](in *Bound, work func() T) (out T, err error) {
	late := time.NewTimer(in.within)
	defer late.Stop()
	select {
	case in.places <- struct{}{}:
	default:
		select {
		case in.places <- struct{}{}:
		case <-late.C:
			return out, ErrBusy
		}
	}
	type result struct {
		of  T
		err error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: ErrPanicked}
		defer func() {
			_ = recover() // a fault of a library must not end the program
			<-in.places
			done <- r
		}()
		of := work()
		r = result{of: of}
	}()
	select {
	case r := <-done:
		return r.of, r.err
	case <-late.C:
		return out, ErrLate
	}
}

// maxNested is how many quotes and lists may be opened within each other on one line.
const maxNested = 60

// IsTooDeep reports whether a line of Markdown opens more quotes and lists within each other
// than a person would: what is drawn of them grows with the square of their depth.
func IsTooDeep(source string) bool {
	for line := range strings.Lines(source) {
		nested := 0
		rule := len(strings.Trim(line, "-*_ \t\r\n")) == 0
		for i := 0; i < len(line) && !rule; i++ {
			switch c := line[i]; {
			case c == '>' || (c == '-' || c == '+' || c == '*' || c == ')' || c == '.') && i+1 < len(line) &&
				strings.IndexByte(" \t\n", line[i+1]) >= 0:
				nested++
			case c == ' ' || c == '\t' || c >= '0' && c <= '9':
			case c == ':' && i+1 < len(line) && line[i+1] == ' ':
				nested++
			default:
				i = len(line)
			}
		}
		if nested > maxNested {
			return true
		}
	}
	return false
}
