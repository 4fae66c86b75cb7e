package exported

import (
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
	maxDepth  = 4        // folders in one another
	maxLooks  = 20_000   // files whose beginning is read
	maxFiles  = 200_000
)

// Sessions implements [transcript.Tool]: each file is one.
func (f Format) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		looks := 0
		for name, d := range walkFiles(ctx, p) {
			if name != p.Name && !isCandidate(name) || f.Never != nil && f.Never(path.Base(name)) {
				continue
			}
			if looks++; looks > maxLooks {
				return
			}
			s, ok := f.readSession(p, name, d)
			if ok && !yield(s, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(transcript.Session{}, err)
		}
	}
}

// isCandidate reports by its name whether a file may be one with conversations.
func isCandidate(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".json" || ext == ".jsonl"
}

// readSession looks at one file.
func (f Format) readSession(p transcript.Place, name string, d fs.DirEntry) (transcript.Session, bool) {
	s := transcript.Session{ID: name, Name: name}
	info, err := d.Info()
	if err != nil {
		return s, false // it was removed meanwhile
	}
	s.Bytes = info.Size()
	s.Changed = min(max(info.ModTime().UnixMilli(), 0), transcript.Latest)
	s.Stamp = fmt.Sprintf("%d-%d", s.Bytes, s.Changed)
	head, err := readHead(p.FS, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, false
	case err != nil && (f.Named != nil && f.Named(path.Base(name)) || f.Sniff(path.Base(name), head)):
		s.Bad = err.Error()
		return s, true
	case err != nil:
		return s, false
	}
	return s, f.Sniff(path.Base(name), head)
}

func readHead(files fs.FS, name string) ([]byte, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, headBytes))
}

// walkFiles yields the regular files of a place, in order of their names. Hidden ones and those
// that macOS puts into zips are left out, and links are not followed.
func walkFiles(ctx context.Context, p transcript.Place) iter.Seq2[string, fs.DirEntry] {
	return func(yield func(string, fs.DirEntry) bool) {
		n := 0
		depth := func(name string) int {
			if p.Name != "." {
				name = strings.TrimPrefix(name, p.Name+"/")
			}
			return strings.Count(name, "/") + 1
		}
		_ = fs.WalkDir(p.FS, p.Name, func(name string, d fs.DirEntry, err error) error { // what cannot be read is not there
			base := path.Base(name)
			switch {
			case ctx.Err() != nil || n == maxFiles:
				return fs.SkipAll
			case err != nil:
				return nil
			case d.IsDir() && name != p.Name && (strings.HasPrefix(base, ".") || base == "__MACOSX" || depth(name) > maxDepth):
				return fs.SkipDir
			}
			n++
			if !d.Type().IsRegular() || strings.HasPrefix(base, ".") && name != p.Name {
				return nil
			}
			if !yield(name, d) {
				return fs.SkipAll
			}
			return nil
		})
	}
}
