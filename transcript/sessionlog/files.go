package sessionlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Bounds of a look through a place.
const (
	headBytes = 64 << 10 // of a file, to tell what it is
	maxDepth  = 10       // folders in one another
	maxFiles  = 200_000
)

// passed are folders that hold no sessions, and much else.
var passed = map[string]bool{".git": true, "node_modules": true, "__MACOSX": true}

// Sessions implements [transcript.Tool]: each file is one, in the order of their names.
func (f Format) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		if info, err := fs.Stat(p.FS, p.Name); err != nil {
			yield(transcript.Session{}, err)
			return
		} else if !info.IsDir() {
			if s, ok := f.findSession(p, p.Name); ok {
				yield(s, nil)
			}
			return
		}
		for name := range walkFiles(ctx, p, cmp.Or(f.Depth, maxDepth)) {
			if !f.Named(name) {
				continue
			}
			if s, ok := f.findSession(p, name); ok && !yield(s, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

// findSession looks at one file.
func (f Format) findSession(p transcript.Place, name string) (transcript.Session, bool) {
	s := transcript.Session{ID: strings.ToValidUTF8(name, "�"), Name: name}
	head, err := readHead(p.FS, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, false // it was removed meanwhile
	case err != nil:
		s.Bad = explainError(err)
		return s, true
	case !f.Sniff(path.Base(name), head):
		return s, false
	}
	if f.Identify != nil {
		if id := CleanWord(f.Identify(name, head)); id != "" {
			s.ID = id
		}
	}
	names := []string{name}
	if f.Beside != nil {
		names = append(names, f.Beside(p, name)...)
	}
	for _, one := range names {
		info, err := fs.Stat(p.FS, one)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		at := min(max(info.ModTime().UnixMilli(), 0), transcript.Latest)
		s.Bytes += info.Size()
		s.Changed = max(s.Changed, at)
		s.Stamp += fmt.Sprintf("%d@%d;", info.Size(), at)
	}
	return s, s.Stamp != ""
}

// explainError returns why a file could not be used, without its name.
func explainError(err error) string {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

func readHead(files fs.FS, name string) ([]byte, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(file, headBytes))
}

// walkFiles yields the regular files of a place, in the order of their names. Links are not followed.
func walkFiles(ctx context.Context, p transcript.Place, depth int) iter.Seq[string] {
	return func(yield func(string) bool) {
		n := 0
		_ = fs.WalkDir(p.FS, p.Name, func(name string, d fs.DirEntry, err error) error { // what cannot be read is not there
			switch {
			case ctx.Err() != nil || n == maxFiles:
				return fs.SkipAll
			case err != nil:
				return nil
			case d.IsDir() && name != p.Name && (passed[path.Base(name)] || folders(p.Name, name) > depth):
				return fs.SkipDir
			}
			n++
			if d.Type().IsRegular() && !yield(name) {
				return fs.SkipAll
			}
			return nil
		})
	}
}

// folders counts in how many folders below a place a name is.
func folders(place, name string) int {
	if place == "." {
		return strings.Count(name, "/") + 1
	}
	return strings.Count(name, "/") - strings.Count(place, "/")
}
