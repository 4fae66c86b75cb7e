package tooltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"
)

var errCut = errors.New("input/output error")

// cuts are how a file may stop in its middle without being over: also in words that have the end
// of a file in them.
var cuts = []error{errCut, io.ErrUnexpectedEOF, fmt.Errorf("the connection was closed: %w", io.EOF)}

// cutFiles are files of which one can be read only up to a place.
type cutFiles struct {
	fs.FS
	name string
	at   int
	err  error
}

// Open implements fs.FS.
func (c cutFiles) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil || name != c.name {
		return f, err
	}
	return &cutFile{f, c.at, c.err}, nil
}

type cutFile struct {
	fs.File
	left int
	err  error
}

// Read implements io.Reader.
func (c *cutFile) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, c.err
	}
	n, err := c.File.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// testCut makes reading each file fail in its middle: what is read then is either all there is or says
// that something is missing. A tool that opens files by their path is not asked.
func (v variant) testCut(t *testing.T) {
	if v.Disk {
		return
	}
	p, _ := v.openPlace(t)
	whole := v.readPlace(p, false).countMessages()
	for _, name := range v.fileNames() {
		data := v.files[name].Data
		size := len(data)
		between := size/2 + bytes.IndexByte(data[size/2:], '\n') + 1 // two lines, where nothing is torn
		for i, at := range []int{size / 3, between, size - 1} {
			err := cuts[i]
			of := p
			of.FS = cutFiles{p.FS, name, at, err}
			r := v.readPlace(of, false)
			if n := r.countMessages(); n < whole && !r.isIncomplete() {
				t.Errorf("%s cut at %d of %d bytes (%v): %d messages of %d, and nothing says so", name, at, size, err, n, whole)
			}
		}
	}
}

// testGone reads for a caller who goes away after some sessions or entries: what ends early says so.
func (v variant) testGone(t *testing.T) {
	p, done := v.openPlace(t)
	defer done()
	r := v.readPlace(p, false)
	until := func(n int, each func(context.Context, func(error) bool)) (got int, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if n == 0 {
			cancel()
		}
		each(ctx, func(wrong error) bool {
			if err = wrong; err != nil {
				return false
			}
			if got++; got == n {
				cancel()
			}
			return true
		})
		return got, err
	}
	for n := range len(r.sessions) {
		got, err := until(n, func(ctx context.Context, next func(error) bool) {
			for _, err := range v.Tool.Sessions(ctx, p) {
				if !next(err) {
					return
				}
			}
		})
		if got < len(r.sessions) && err == nil {
			t.Errorf("who went away after %d sessions was told of %d of %d, as if these were all", n, got, len(r.sessions))
		}
	}
	for i, s := range r.sessions {
		got, err := until(0, func(ctx context.Context, next func(error) bool) {
			for _, err := range v.Tool.Read(ctx, p, s) {
				if !next(err) {
					return
				}
			}
		})
		if got < len(r.entries[i]) && err == nil {
			t.Errorf("session %s: who had gone away was given %d of %d entries, as if these were all", s.ID, got,
				len(r.entries[i]))
		}
	}
}

// countMessages returns how many there are.
func (r placeReading) countMessages() (n int) {
	for _, entries := range r.entries {
		for _, e := range entries {
			if len(e.Message.Parts) > 0 {
				n++
			}
		}
	}
	return n
}

// isIncomplete reports whether something says that not all is there.
func (r placeReading) isIncomplete() bool {
	if r.err != nil {
		return true
	}
	for i, s := range r.sessions {
		if s.Bad != "" || r.errs[i] != nil {
			return true
		}
		for _, e := range r.entries[i] {
			if e.Bad != nil || e.End != nil && e.End.Held {
				return true
			}
		}
	}
	return false
}
