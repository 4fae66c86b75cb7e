package codex

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// rolloutFile is a rollout of a place.
type rolloutFile struct {
	name    string // in the place
	thread  string // by its name
	id      string // of the file: the thread's, or its own after a revert
	begun   string // by its name, in the time of the place where it was written
	size    int64
	changed int64       // Unix ms
	head    *threadHead // once it was read
	bad     string      // why it cannot be read
	copy    string      // what a program that syncs folders put into its name; empty for the tool's own
}

// rolloutName has the local time, the thread, what tells the files of a thread apart, and what
// Syncthing puts before the ending of a copy that differs.
var rolloutName = lazyregexp.New(`^rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(_[0-9a-fA-F-]{1,36})?(\.sync-conflict-[0-9A-Za-z-]{1,40})?\.jsonl(\.sync-conflict-[0-9A-Za-z-]{1,40})?(\.zst)?$`)

// Bounds of what is looked through.
const (
	maxFiles   = 500_000
	maxDepth   = 8
	maxReverts = 500 // files of a thread: of more, the newest
)

// dayRange are the folders of days that are looked through, as 2026/11/22; all without them.
type dayRange struct{ from, to string }

// daysAround returns the days from one moment to another, in Unix ms, wherever its clock stood.
func daysAround(from, to int64) dayRange {
	day := func(ms int64, by int) string { return time.UnixMilli(ms).UTC().AddDate(0, 0, by).Format("2006/01/02") }
	return dayRange{day(from, -1), day(to, 1)}
}

// dayFolder ends with a year, a month of it, or a day of that.
var dayFolder = lazyregexp.New(`(?:^|/)(\d{4}(?:/\d\d){0,2})$`)

func (d dayRange) isOutside(folder string) bool {
	m := dayFolder().FindStringSubmatch(folder)
	if m == nil || d.from == "" {
		return false
	}
	n := len(m[1])
	return m[1] < d.from[:n] || m[1] > d.to[:n]
}

// listRollouts finds the rollouts of a place, by name. Links are not followed, and what may not be
// read is passed over.
func listRollouts(ctx context.Context, fsys fs.FS, d dayRange) ([]*rolloutFile, error) {
	var roots []string
	for _, root := range []string{"sessions", "archived_sessions"} {
		if info, err := fs.Stat(fsys, root); err == nil && info.IsDir() {
			roots = append(roots, root)
		}
	}
	if len(roots) == 0 {
		if _, err := fs.Stat(fsys, "."); err != nil {
			return nil, err
		}
		roots = []string{"."}
	}
	found := map[string]*rolloutFile{}
	for _, root := range roots {
		err := fs.WalkDir(fsys, root, func(name string, e fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil && (e == nil || e.IsDir()):
				return nil
			case err != nil:
				return err
			case e.IsDir() && (strings.Count(name, "/") >= maxDepth || d.isOutside(name)):
				return fs.SkipDir
			case len(found) >= maxFiles:
				return fs.SkipAll
			}
			if f := newRollout(name, e); f != nil {
				found[name] = f
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var out []*rolloutFile
	for name, f := range found {
		if plain, packed := strings.CutSuffix(name, ".zst"); !packed || found[plain] == nil {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *rolloutFile) int { return strings.Compare(path.Base(a.name), path.Base(b.name)) })
	return out, nil
}

func newRollout(name string, e fs.DirEntry) *rolloutFile {
	m := rolloutName().FindStringSubmatch(path.Base(name))
	if m == nil || !e.Type().IsRegular() {
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return nil // it was moved meanwhile
	}
	f := &rolloutFile{name: name, size: info.Size(), changed: info.ModTime().UnixMilli()}
	f.takeName(m)
	return f
}

// takeName takes what a file's name says, as [rolloutName] finds it.
func (f *rolloutFile) takeName(m []string) {
	f.thread = strings.ToLower(m[2])
	f.begun = m[1]
	f.id = cmp.Or(strings.ToLower(strings.TrimPrefix(m[3], "_")), f.thread)
	if f.copy = m[4] + m[5]; f.copy != "" {
		f.id += f.copy // what goes on from the thread goes on from the tool's own file
	}
}

// readHead reads the head of a file. What has none is the thread that its name says.
func (f *rolloutFile) readHead(fsys fs.FS) threadHead {
	if f.head != nil {
		return *f.head
	}
	f.head = &threadHead{}
	in, err := openRollout(fsys, f.name)
	switch {
	case err == nil:
		*f.head, _ = readHead(in)
		_ = in.Close() // it was only read
	case !errors.Is(err, fs.ErrNotExist):
		f.bad = err.Error()
	}
	if f.thread == "" {
		f.thread = f.head.ID
	}
	return *f.head
}

// threadNames returns what threads were named, by id: of several the last.
func threadNames(fsys fs.FS) map[string]string {
	out := map[string]string{}
	in, err := fsys.Open("session_index.jsonl")
	if err != nil {
		return out
	}
	defer func() { _ = in.Close() }()
	// What cannot be read names nothing.
	_ = eachLine(in, false, func(l line) bool {
		var v struct {
			ID   string `json:"id"`
			Name string `json:"thread_name"`
		}
		if json.Unmarshal(l.payload, &v) == nil && v.ID != "" && len(out) < maxFiles {
			out[v.ID] = v.Name
		}
		return true
	})
	return out
}

// threadSet are the threads of some files, and who started whom.
type threadSet struct {
	ids   map[string]*rolloutFile // by id of the file
	files map[string][]*rolloutFile
	below map[string][]string
	above map[string]string
	order []string
}

// groupThreads groups files by thread. A thread whose parent is not among them, or that started
// itself, has none.
func groupThreads(fsys fs.FS, all []*rolloutFile) *threadSet {
	t := &threadSet{ids: map[string]*rolloutFile{}, files: map[string][]*rolloutFile{}, below: map[string][]string{},
		above: map[string]string{}}
	for _, f := range all {
		t.ids[f.id] = f
		if t.files[f.thread] == nil {
			t.order = append(t.order, f.thread)
		}
		t.files[f.thread] = append(t.files[f.thread], f)
	}
	for _, id := range t.order {
		up := t.files[id][0].readHead(fsys).parentThread()
		if t.files[up] == nil {
			continue
		}
		for at, n := up, 0; at != id; at, n = t.above[at], n+1 {
			if at == "" || n > len(t.order) {
				t.above[id] = up
				t.below[up] = append(t.below[up], id)
				break
			}
		}
	}
	return t
}

// threadFamily returns a thread with all that it started, each after the one that started it.
func (t *threadSet) threadFamily(id string) []string {
	out := []string{id}
	for i := 0; i < len(out); i++ {
		out = append(out, t.below[out[i]]...)
	}
	return out
}

// orderFiles returns the files of a thread in the order they were begun, copies before the tool's own:
// the last is the current one.
func orderFiles(fsys fs.FS, files []*rolloutFile) []*rolloutFile {
	out := slices.Clone(files)
	slices.SortStableFunc(out, func(a, b *rolloutFile) int {
		x := a.readHead(fsys).startTime()
		y := b.readHead(fsys).startTime()
		switch {
		case (a.copy == "") != (b.copy == "") && a.copy != "":
			return -1
		case (a.copy == "") != (b.copy == ""):
			return 1
		case x != y:
			return int(max(-1, min(1, x-y)))
		case a.changed != b.changed:
			return int(max(-1, min(1, a.changed-b.changed)))
		}
		return strings.Compare(path.Base(a.name), path.Base(b.name))
	})
	return out
}

// newSession returns what is brought as one: a thread and what it started.
func (t *threadSet) newSession(fsys fs.FS, id string, named map[string]string,
	made map[string]copiedThread) transcript.Session {
	files := orderFiles(fsys, t.files[id])
	s := transcript.Session{ID: id, Name: files[len(files)-1].name, Bad: files[len(files)-1].bad}
	h := sha256.New()
	for _, member := range t.threadFamily(id) {
		for _, f := range t.files[member] {
			fmt.Fprintln(h, f.name, f.size, f.changed)
			s.Bytes += f.size
			s.Changed = max(s.Changed, f.changed)
		}
		fmt.Fprintln(h, named[member])
		if c, yes := made[member]; yes {
			fmt.Fprintln(h, "copy of", c.Path, c.title)
		}
	}
	s.Stamp = hex.EncodeToString(h.Sum(nil)[:12])
	return s
}

// singleSession returns the session of one file.
func singleSession(p transcript.Place) (*rolloutFile, transcript.Session, error) {
	info, err := fs.Stat(p.FS, p.Name)
	if err != nil {
		return nil, transcript.Session{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, transcript.Session{}, errors.New("it is not a file")
	}
	f := &rolloutFile{name: p.Name, size: info.Size(), changed: info.ModTime().UnixMilli()}
	if m := rolloutName().FindStringSubmatch(path.Base(p.Name)); m != nil {
		f.takeName(m)
	}
	if h := f.readHead(p.FS); h.ID != "" {
		f.thread = h.ID
	}
	if f.thread == "" {
		f.thread = path.Base(p.Name)
	}
	f.id = cmp.Or(f.id, f.thread)
	s := transcript.Session{ID: f.thread, Name: p.Name, Bytes: f.size, Changed: f.changed, Bad: f.bad}
	s.Stamp = fmt.Sprintf("%d-%d", f.size, f.changed)
	return f, s, nil
}
