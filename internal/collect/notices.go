package collect

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Bounds of what the system is asked for.
const (
	maxWatches  = 4096   // folders
	maxFolders2 = 50_000 // folders of one place that are looked at
	maxNames    = 10_000 // files that changed and were not looked at yet
)

// notices are what the system says of files that change. A nil one hears nothing.
type notices struct {
	w    *fsnotify.Watcher
	log  *slog.Logger
	wake chan struct{}

	mu    sync.Mutex
	names map[string]bool // that changed
	lost  bool            // some were not told
	on    map[string]bool // folders
	full  bool            // no more are taken
}

func newNotices(log *slog.Logger) (*notices, error) {
	n := &notices{log: log, wake: make(chan struct{}, 1), names: map[string]bool{}, on: map[string]bool{}}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return n, err
	}
	n.w = w
	go n.collectNotices()
	return n, nil
}

func (n *notices) stopWatching() {
	if n.w != nil {
		_ = n.w.Close() // nothing is waited for
	}
}

// collectNotices takes notices as they come, so that none waits for a session to be read.
func (n *notices) collectNotices() {
	for {
		select {
		case ev, open := <-n.w.Events:
			if !open {
				return
			}
			if ev.Op == fsnotify.Chmod || strings.HasSuffix(ev.Name, "-shm") {
				continue
			}
			n.mu.Lock()
			if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
				delete(n.on, ev.Name)
			}
			if len(n.names) < maxNames {
				n.names[ev.Name] = true
			} else {
				n.lost = true
			}
			n.mu.Unlock()
		case err, open := <-n.w.Errors:
			if !open {
				return
			}
			n.log.Debug("a notice of the system was lost", "error", err)
			n.mu.Lock()
			n.lost = true
			n.mu.Unlock()
		}
		select {
		case n.wake <- struct{}{}:
		default:
		}
	}
}

// takeChanged returns what has changed since it was asked last.
func (n *notices) takeChanged() (names []string, lost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name := range n.names {
		names = append(names, name)
	}
	lost = n.lost
	clear(n.names)
	n.lost = false
	return names, lost
}

// addPlace asks for notices of a place: of a folder with those in it, the ones that changed
// last first, or of the folder that a file is in.
func (n *notices) addPlace(p transcript.Place, all bool) {
	if n.w == nil {
		return
	}
	folders := []string{p.Path}
	if all {
		folders = placeFolders(p)
	}
	for _, dir := range folders {
		n.mu.Lock()
		on := n.on[dir]
		many := len(n.on) >= maxWatches
		n.mu.Unlock()
		if on {
			continue
		}
		if many {
			n.logOnce("there are too many folders to have notices of all", nil)
			return
		}
		if err := n.w.Add(dir); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		} else if err != nil {
			n.logOnce("the system gives no notices of more folders", err)
			return
		}
		n.mu.Lock()
		n.on[dir] = true
		n.mu.Unlock()
	}
}

// logOnce says that what is not noticed is looked for.
func (n *notices) logOnce(what string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.full {
		n.log.Warn(what+"; the others are looked at now and then", "error", err)
	}
	n.full = true
}

// placeFolders returns the folders of a place, the ones that changed last first.
func placeFolders(p transcript.Place) []string {
	type folder struct {
		name string
		at   time.Time
	}
	var found []folder
	_ = fs.WalkDir(p.FS, ".", func(name string, d fs.DirEntry, err error) error { // what cannot be listed has no notices
		switch {
		case err != nil:
			return fs.SkipDir
		case !d.IsDir():
			return nil
		case len(found) == maxFolders2:
			return fs.SkipAll
		}
		f := folder{name: filepath.Join(p.Path, filepath.FromSlash(name))}
		if info, err := d.Info(); err == nil {
			f.at = info.ModTime()
		}
		found = append(found, f)
		return nil
	})
	slices.SortFunc(found, func(a, b folder) int { return b.at.Compare(a.at) })
	names := []string{p.Path}
	for _, f := range found {
		if f.name != p.Path {
			names = append(names, f.name)
		}
	}
	return names
}
