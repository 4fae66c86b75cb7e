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

// toolSpot is where a tool may keep conversations on this machine.
type toolSpot struct {
	tool transcript.Tool
	path string // absolute
}

// spotKey names a spot.
func (s toolSpot) spotKey() [2]string { return [2]string{s.tool.Name(), s.path} }

// maxSpots bounds the places of all tools, of which known folders may make many.
const maxSpots = 20_000

// listSpots returns where the selected tools may keep conversations, or what was named.
func (c *Collector) listSpots(m transcript.Machine) (out []toolSpot) {
	seen := map[[2]string]bool{}
	for _, tool := range c.tools {
		homes := []string{c.o.Path}
		if c.o.Path == "" {
			homes = tool.Homes(m)
		}
		for _, home := range homes {
			s := toolSpot{tool, filepath.Clean(home)}
			if filepath.IsAbs(home) && !seen[s.spotKey()] && !c.isExcluded(s.path) && len(out) < maxSpots {
				seen[s.spotKey()] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// spotsBelow returns the places of a tool in a folder that was named, as if it were somebody's home: it
// may be a copy of one, of whichever system.
func (s *sweep) spotsBelow(at toolSpot) (out []toolSpot) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		m := transcript.Machine{System: system, Home: at.path, Getenv: func(string) string { return "" }}
		for _, home := range at.tool.Homes(m) {
			b := toolSpot{at.tool, filepath.Clean(home)}
			if _, err := os.Stat(b.path); err != nil || !filepath.IsAbs(home) || s.done[b.spotKey()] ||
				slices.Contains(out, b) ||
				s.isExcluded(b.path) {
				continue // a zip has nothing below it, either
			}
			out = append(out, b)
		}
	}
	return out
}

// openedPlace is a place as long as it is read.
type openedPlace struct {
	transcript.Place
	folder bool // all of it, and not one file
	close  func() error
}

// openPlace opens a path as a place: a folder, a zip or a single file. It is not_found if
// nothing is there, refused without the rights, and else unavailable. No link leads out.
func (c *Collector) openPlace(name string) (openedPlace, error) {
	info, err := os.Stat(name)
	if err != nil {
		return openedPlace{}, newMissingError(name, err)
	}
	now := c.o.Now().UnixMilli()
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return openedPlace{}, newMissingError(name, err)
		}
		if _, err := fs.ReadDir(root.FS(), "."); err != nil {
			return openedPlace{}, errors.Join(newMissingError(name, err), root.Close())
		}
		return openedPlace{transcript.Place{FS: transcript.DecodeUTF8FS(root.FS()), Name: ".", Path: name, Now: now}, true,
			root.Close}, nil
	}
	if !info.Mode().IsRegular() {
		return openedPlace{}, scrollback.ParamErrorf(op, "file", i18n.NeitherFolderNorFile, name)
	}
	head, err := ReadHead(name)
	if err != nil {
		return openedPlace{}, newMissingError(name, err)
	}
	if zipped.Sniff(head) {
		return openZipPlace(name, now)
	}
	if to, err := filepath.EvalSymlinks(name); err == nil { // its folder is where it is
		name = to
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return openedPlace{}, newMissingError(name, err)
	}
	return openedPlace{transcript.Place{FS: transcript.DecodeUTF8FS(root.FS()), Name: filepath.Base(name),
		Path: filepath.Dir(name),
		Now:  now}, false, root.Close}, nil
}

func openZipPlace(name string, now int64) (openedPlace, error) {
	f, err := os.Open(name)
	if err != nil {
		return openedPlace{}, newMissingError(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return openedPlace{}, errors.Join(newMissingError(name, err), f.Close())
	}
	p, err := zipped.Open(f, info.Size(), now)
	if err != nil {
		return openedPlace{}, errors.Join(err, f.Close())
	}
	p.FS = transcript.DecodeUTF8FS(p.FS)
	return openedPlace{p, true, f.Close}, nil
}

// newMissingError returns why what was looked for cannot be read.
func newMissingError(name string, err error) error {
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

// ReadHead returns how a file begins, in UTF-8.
func ReadHead(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headBytes))
	return transcript.DecodeUTF8Head(head), err
}

// RecognizeTool returns the first tool that keeps conversations in such a file, or nil. A zip
// is nobody's by its beginning: it is opened, and asked of each tool.
func RecognizeTool(tools []transcript.Tool, name string) (t transcript.Tool, zip bool, err error) {
	head, err := ReadHead(name)
	if err != nil {
		return nil, false, newMissingError(name, err)
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
