package collect

import (
	"path"
	"path/filepath"
)

// sessionOf reports whether a file is a place's, and which session's if that can be told.
func (d *watchedPlace) sessionOf(name string) (session string, ours bool) {
	if d.root == "" || !isBelow(d.root, name) {
		return "", false
	}
	rel, err := filepath.Rel(d.root, name)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	if d.file != "" {
		return "", rel == d.file || rel == d.file+"-wal" || rel == d.file+"-journal"
	}
	if len(d.byName[rel]) == 1 {
		return rel, true
	}
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) { // what a session has beside its file
		for _, ending := range []string{".jsonl", ".json"} {
			if len(d.byName[dir+ending]) == 1 {
				return dir + ending, true
			}
		}
	}
	return "", true
}
