package codex

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// Sessions implements transcript.Tool: a session is a thread with the sub-agents that it
// started. Of each rollout only the beginning is read.
func (t Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		if isTrae(p) != t.trae {
			return // the other's
		}
		if p.Name != "." && p.Name != "" {
			_, s, err := singleSession(p)
			yield(s, err)
			return
		}
		all, err := listRollouts(ctx, p.FS, dayRange{})
		if err != nil {
			yield(transcript.Session{}, err)
			return
		}
		for _, f := range all {
			if f.readHead(p.FS); ctx.Err() != nil {
				yield(transcript.Session{}, ctx.Err())
				return
			}
		}
		t := groupThreads(p.FS, all)
		named := threadNames(p.FS)
		made := copiesBeside(p)
		for _, id := range t.order {
			if t.above[id] == "" && !yield(t.newSession(p.FS, id, named, made), nil) {
				return
			}
		}
	}
}

// Read implements transcript.Tool.
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		r := &sessionReader{ctx: ctx, place: p, live: p.IsLive(s), yield: yield, started: map[string]string{}}
		if err := r.readSession(s); err != nil && !r.gone {
			yield(transcript.Entry{}, err)
		}
	}
}

// sessionReader reads a session.
type sessionReader struct {
	ctx     context.Context
	place   transcript.Place
	live    bool
	alone   bool // the place is one file
	yield   func(transcript.Entry, error) bool
	gone    bool // the reader has stopped
	near    *threadSet
	all     *threadSet              // of the whole place, once it was needed
	started map[string]string       // by which call a thread was started, by its id
	made    map[string]copiedThread // the threads that were made of other tools' sessions
}

func (r *sessionReader) emitEntry(e transcript.Entry) {
	if !r.gone && !r.yield(e, nil) {
		r.gone = true
	}
}

func (r *sessionReader) emitBad(n int, reason string) {
	r.emitEntry(transcript.Entry{Line: n, Bad: &transcript.Bad{Line: n, Reason: reason}})
}

// readSession reads a thread and what it started.
func (r *sessionReader) readSession(s transcript.Session) error {
	named := map[string]string{}
	if name := r.place.Name; name != "." && name != "" {
		f, _, err := singleSession(r.place)
		if err != nil {
			return err
		}
		r.near = &threadSet{ids: map[string]*rolloutFile{f.id: f}, files: map[string][]*rolloutFile{f.thread: {f}},
			above: map[string]string{}, below: map[string][]string{}}
		s.ID = f.thread
		r.alone = true
	} else {
		if err := r.listFiles(s); err != nil {
			return err
		}
		named = threadNames(r.place.FS)
	}
	r.made = copiesBeside(r.place)
	if r.near.files[s.ID] == nil {
		return fmt.Errorf("thread %s: %w", s.ID, fs.ErrNotExist)
	}
	for _, id := range r.near.threadFamily(s.ID) {
		if err := r.readThread(id, named[id]); err != nil || r.gone {
			return err
		}
	}
	return nil
}

// listFiles lists the files among which those of a session are: of the days between its beginning
// and its last change, or, if it is not there, all.
func (r *sessionReader) listFiles(s transcript.Session) error {
	m := rolloutName().FindStringSubmatch(path.Base(s.Name))
	if m != nil {
		begun, err := time.Parse("2006-01-02T15-04-05", m[1])
		if err == nil {
			all, err := listRollouts(r.ctx, r.place.FS, daysAround(begun.UnixMilli(), max(s.Changed, begun.UnixMilli())))
			if err != nil {
				return err
			}
			if r.near = groupThreads(r.place.FS, all); r.near.files[s.ID] != nil {
				return nil
			}
		}
	}
	var err error
	r.near, err = r.allThreads()
	return err
}

// allThreads returns all that the place has.
func (r *sessionReader) allThreads() (*threadSet, error) {
	if r.all == nil {
		all, err := listRollouts(r.ctx, r.place.FS, dayRange{})
		if err != nil {
			return nil, err
		}
		if r.near == nil {
			r.all = groupThreads(r.place.FS, all)
			return r.all, nil
		}
		r.all = &threadSet{ids: map[string]*rolloutFile{}}
		for _, f := range all {
			r.all.ids[f.id] = f
		}
	}
	return r.all, nil
}

// findFile returns the file of an id, wherever it is; nil if it is not there.
func (r *sessionReader) findFile(id string) (*rolloutFile, error) {
	if f := r.near.ids[id]; f != nil {
		return f, nil
	}
	// An id begins with when it was made: its file is in the folder of that day, or archived.
	if at, ok := idTime(id); ok && r.all == nil {
		all, err := listRollouts(r.ctx, r.place.FS, daysAround(at, at))
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(f *rolloutFile) bool { return f.id == id }); i >= 0 {
			return all[i], nil
		}
	}
	all, err := r.allThreads()
	if err != nil {
		return nil, err
	}
	return all.ids[id], nil
}

// idTime returns when an id was made, in Unix ms, if it says so.
func idTime(id string) (int64, bool) {
	if len(id) < 15 || id[14] != '7' {
		return 0, false
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	return ms, err == nil
}

// readThread reads the files of a thread: those that a revert left first, the current one last.
func (r *sessionReader) readThread(id, name string) error {
	files, err := r.newestCopyLast(r.orderCurrentLast(id))
	if err != nil {
		return err
	}
	t := newThreadBuilder(id)
	for i, f := range files {
		current := i == len(files)-1
		if err := r.emitPath(t, f, current); err != nil || r.gone {
			return err
		}
	}
	if name != "" {
		t.title = name
	}
	if c, made := r.made[id]; made {
		t.copied = &c
	}
	for child, call := range t.tools.started {
		r.started[child] = call
	}
	r.yieldThread(t)
	return nil
}

// newestCopyLast puts, where there are copies of the current file that a program which syncs folders
// has left beside it, the one at the end that has the newest line: an older copy then changes
// nothing, and one that went on is a branch. Of equally new ones the tool's own is the current one.
func (r *sessionReader) newestCopyLast(files []*rolloutFile) ([]*rolloutFile, error) {
	if !slices.ContainsFunc(files, func(f *rolloutFile) bool { return f.copy != "" }) {
		return files, nil
	}
	own := files[len(files)-1]
	best := len(files) - 1
	newest := int64(-1)
	for i, f := range slices.Backward(files) {
		if f != own && strings.TrimSuffix(f.id, f.copy) != strings.TrimSuffix(own.id, own.copy) {
			continue // a revert's
		}
		at := int64(0)
		if err := r.readLines(f, func(l line) bool {
			at = max(at, l.at)
			return true
		}); err != nil {
			return nil, err
		}
		if at > newest {
			best = i
			newest = at
		}
	}
	last := files[best]
	return append(slices.Delete(slices.Clone(files), best, best+1), last), nil
}

// stateFile is the tool's index of its threads. It is asked only which of a thread's files is
// the current one; without it, the one that was begun last is.
const stateFile = "state_5.sqlite"

// orderCurrentLast returns the files of a thread with the one at the end that the tool goes on with.
func (r *sessionReader) orderCurrentLast(id string) []*rolloutFile {
	files := orderFiles(r.place.FS, r.near.files[id])
	files = files[max(0, len(files)-maxReverts):]
	if len(files) < 2 || r.place.Path == "" || r.alone {
		return files
	}
	current := ""
	// What cannot be read says nothing.
	_ = foreign.ReadDatabase(r.ctx, filepath.Join(r.place.Path, stateFile), func(db *foreign.DB) error {
		current = ""
		if !db.HasTable("threads", "id", "rollout_path") {
			return nil
		}
		for row, err := range db.QueryRows("SELECT rollout_path FROM threads WHERE id = $1", id) {
			if err != nil {
				return err
			}
			current = path.Base(strings.ReplaceAll(row.Text("rollout_path"), `\`, "/"))
		}
		return nil
	})
	i := slices.IndexFunc(files, func(f *rolloutFile) bool {
		return strings.TrimSuffix(path.Base(f.name), ".zst") == current
	})
	if i < 0 {
		return files
	}
	return append(slices.Delete(slices.Clone(files), i, i+1), files[i])
}
