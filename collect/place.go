package collect

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/zipped"
)

// spot is where a tool may keep conversations on this machine.
type spot struct {
	tool transcript.Tool
	path string // absolute
}

// key names a spot.
func (s spot) key() [2]string { return [2]string{s.tool.Name(), s.path} }

// maxSpots bounds the places of all tools, of which known folders may make many.
const maxSpots = 20_000

// spots are where the selected tools may keep conversations, or what was named.
func (c *Collector) spots(m transcript.Machine) (out []spot) {
	seen := map[[2]string]bool{}
	for _, tool := range c.tools {
		homes := []string{c.o.Path}
		if c.o.Path == "" {
			homes = tool.Homes(m)
		}
		for _, home := range homes {
			s := spot{tool, filepath.Clean(home)}
			if filepath.IsAbs(home) && !seen[s.key()] && !c.excluded(s.path) && len(out) < maxSpots {
				seen[s.key()] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// below are the places of a tool in a folder that was named, as if it were somebody's home: it
// may be a copy of one, of whichever system.
func (s *sweep) below(at spot) (out []spot) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		m := transcript.Machine{System: system, Home: at.path, Getenv: func(string) string { return "" }}
		for _, home := range at.tool.Homes(m) {
			b := spot{at.tool, filepath.Clean(home)}
			if _, err := os.Stat(b.path); err != nil || !filepath.IsAbs(home) || s.done[b.key()] || slices.Contains(out, b) ||
				s.excluded(b.path) {
				continue // a zip has nothing below it, either
			}
			out = append(out, b)
		}
	}
	return out
}

// opened is a place as long as it is read.
type opened struct {
	transcript.Place
	folder bool // all of it, and not one file
	close  func() error
}

// open opens a path as a place: a folder, a zip or a single file. It is not_found if
// nothing is there, refused without the rights, and else unavailable. No link leads out.
func (c *Collector) open(name string) (opened, error) {
	info, err := os.Stat(name)
	if err != nil {
		return opened{}, missing(name, err)
	}
	now := c.o.Now().UnixMilli()
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return opened{}, missing(name, err)
		}
		if _, err := fs.ReadDir(root.FS(), "."); err != nil {
			return opened{}, errors.Join(missing(name, err), root.Close())
		}
		return opened{transcript.Place{FS: transcript.InUTF8(root.FS()), Name: ".", Path: name, Now: now}, true,
			root.Close}, nil
	}
	if !info.Mode().IsRegular() {
		return opened{}, scrollback.ParamErrorf(op, "file", i18n.NeitherFolderNorFile, name)
	}
	head, err := Head(name)
	if err != nil {
		return opened{}, missing(name, err)
	}
	if zipped.Sniff(head) {
		return openZip(name, now)
	}
	if to, err := filepath.EvalSymlinks(name); err == nil { // its folder is where it is
		name = to
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return opened{}, missing(name, err)
	}
	return opened{transcript.Place{FS: transcript.InUTF8(root.FS()), Name: filepath.Base(name), Path: filepath.Dir(name),
		Now: now}, false, root.Close}, nil
}

func openZip(name string, now int64) (opened, error) {
	f, err := os.Open(name)
	if err != nil {
		return opened{}, missing(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return opened{}, errors.Join(missing(name, err), f.Close())
	}
	p, err := zipped.Open(f, info.Size(), now)
	if err != nil {
		return opened{}, errors.Join(err, f.Close())
	}
	p.FS = transcript.InUTF8(p.FS)
	return opened{p, true, f.Close}, nil
}

// missing says why what was looked for cannot be read.
func missing(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return scrollback.Errorf(scrollback.NotFound, op, i18n.IsNotThere, name)
	case errors.Is(err, fs.ErrPermission):
		return scrollback.Errorf(scrollback.Refused, op, i18n.MayNotBeRead, name)
	}
	return scrollback.Wrap(scrollback.Unavailable, op, err)
}

// headBytes is how much of a file is looked at to recognise it.
const headBytes = 64 << 10

// Head is how a file begins, in UTF-8.
func Head(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headBytes))
	return transcript.UTF8Head(head), err
}

// Recognise returns the first tool that keeps conversations in such a file, or nil. A zip
// is nobody's by its beginning: it is opened, and asked of each tool.
func Recognise(tools []transcript.Tool, name string) (t transcript.Tool, zip bool, err error) {
	head, err := Head(name)
	if err != nil {
		return nil, false, missing(name, err)
	}
	if zipped.Sniff(head) {
		return nil, true, nil
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, false, nil
	}
	for _, t := range tools {
		if t.Sniff(filepath.Base(name), head) {
			return t, false, nil
		}
	}
	return nil, false, nil
}
