package geminicli

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Folder is where the tool keeps its files, within a person's home.
const Folder = ".gemini/tmp"

// maxFiles bounds how many files are listed.
const maxFiles = 100_000

// Files lists the sessions and checkpoints below home, oldest first. Links are not
// followed. It is not an error if there are none.
func Files(home fs.FS) ([]string, error) { return listFiles(home, Folder, nil) }

// listFiles lists those below a folder, oldest first, that are wanted; nil wants all.
func listFiles(fsys fs.FS, folder string, wanted func(name string) bool) ([]string, error) {
	type file struct {
		name string
		at   time.Time
	}
	var found []file
	err := fs.WalkDir(fsys, folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case !d.Type().IsRegular() || !isTranscript(folder, name):
			return nil
		case len(found) == maxFiles:
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil || wanted != nil && !wanted(name) {
			return nil // it was removed meanwhile, perhaps
		}
		found = append(found, file{name, info.ModTime()})
		return nil
	})
	slices.SortFunc(found, func(a, b file) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, f := range found {
		out = append(out, f.name)
	}
	return out, err
}

// isTranscript reports by its path whether a file is one to read: chats/….json(l), or
// a project's checkpoint-….json.
func isTranscript(folder, name string) bool {
	rest := strings.Split(strings.TrimPrefix(name, folder+"/"), "/")
	base := path.Base(name)
	switch {
	case len(rest) == 2:
		return strings.HasPrefix(base, "checkpoint-") && strings.HasSuffix(base, ".json")
	case len(rest) >= 3 && rest[1] == "chats":
		return strings.HasSuffix(base, ".jsonl") || strings.HasSuffix(base, ".json")
	}
	return false
}
