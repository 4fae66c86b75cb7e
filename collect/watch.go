package collect

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
)

// WatchOptions say how closely a watch looks. Nil and zero values are the defaults.
type WatchOptions struct {
	Poll   time.Duration // between two sweeps, which see what no notice told of; 0 is a minute
	Log    *slog.Logger  // of what stands in the way; nil discards it
	Report func(Report)  // is given what each sweep found; may be nil
}

// How closely a watch follows.
const (
	defaultPoll = time.Minute
	pause       = 100 * time.Millisecond // between a notice and the reading: one write seldom comes alone
	restFactor  = 4                      // how much longer than it was read a session rests: a core has other work
)

// Watch brings what is not here yet, and then what changes, until ctx ends. What cannot be
// read is told to the log once, and tried again.
func (c *Collector) Watch(ctx context.Context, o *WatchOptions) error {
	w := &watch{Collector: c, due: map[target]time.Time{}, rest: map[target]time.Time{}, places: map[[2]string]*watched{},
		said: map[string]string{}}
	if o != nil {
		w.o2 = *o
	}
	if w.o2.Poll <= 0 {
		w.o2.Poll = defaultPoll
	}
	if w.o2.Log == nil {
		w.o2.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if w.notices, err = newNotices(w.o2.Log); err != nil {
		w.o2.Log.Warn("changes of files are not told by the system; they are looked for instead", "every", w.o2.Poll, "error",
			err)
	}
	defer w.notices.close()
	w.loop(ctx)
	return nil
}

// target is what is looked at again: a session, or a whole place.
type target struct {
	tool, path string // of the spot
	name       string // of the session's file; empty for the whole place
}

// watch is one run of [Collector.Watch].
type watch struct {
	*Collector
	o2      WatchOptions
	notices *notices
	known   *known
	places  map[[2]string]*watched
	due     map[target]time.Time // when it is to be looked at
	rest    map[target]time.Time // until when it is left alone
	said    map[string]string    // what stands in the way, by where
}

// watched is a place that is there.
type watched struct {
	spot
	root   string // the folder that it is in, as notices name it
	file   string // the one file that it is, or empty
	byName map[string][]transcript.Session
}

// loop looks at everything, then at what notices name, until ctx ends.
func (w *watch) loop(ctx context.Context) {
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	for ctx.Err() == nil {
		var soon <-chan time.Time
		if at, any := w.next(); any {
			soon = time.After(time.Until(at))
		}
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			took := w.sweepAll(ctx)
			sweep.Reset(max(w.o2.Poll, restFactor*took))
		case <-w.notices.wake:
			names, lost := w.notices.take()
			if lost {
				sweep.Reset(0)
			}
			for _, name := range names {
				w.noticed(name)
			}
		case <-soon:
			w.work(ctx)
		}
	}
}

// next is when the next target is due.
func (w *watch) next() (at time.Time, any bool) {
	for _, t := range w.due {
		if !any || t.Before(at) {
			at = t
			any = true
		}
	}
	return at, any
}

// sweepAll looks at everything, and returns how long that took.
func (w *watch) sweepAll(ctx context.Context) time.Duration {
	began := time.Now()
	s := w.sweep(false)
	places := map[[2]string]*watched{}
	s.opened = w.hear
	s.placed = func(at spot, p opened, all []transcript.Session) {
		places[at.key()] = newWatched(at, p, all)
	}
	err := s.run(ctx)
	if ctx.Err() != nil {
		return 0
	}
	w.known = s.known
	w.obstacle("", err)
	if err == nil {
		for key := range w.places {
			if places[key] == nil {
				delete(w.places, key) // it is not there any more
			}
		}
	}
	maps.Copy(w.places, places)
	stands := map[string]string{}
	for _, f := range s.report.Tools {
		for _, p := range f.Problems {
			if p.Line == 0 {
				stands[f.Tool+" "+p.Place+" "+p.Session] = p.Reason
			}
		}
	}
	for _, f := range s.report.Tools {
		w.obstacles(f)
	}
	maps.DeleteFunc(w.said, func(where, _ string) bool { return where != "" && stands[where] == "" })
	if w.o2.Report != nil {
		w.o2.Report(s.report)
	}
	return time.Since(began)
}

// obstacle tells what stands in the way of something, once.
func (w *watch) obstacle(where string, err error) {
	if err == nil {
		delete(w.said, where)
		return
	}
	if why := why(err); w.said[where] != why {
		w.said[where] = why
		w.o2.Log.Warn("what a tool keeps could not be read", "where", where, "error", why)
	}
}

// hear has notices of what changes in a place from now on.
func (w *watch) hear(p opened) {
	if p.Path != "" {
		w.notices.add(p.Place, p.folder)
	}
}

func newWatched(at spot, p opened, all []transcript.Session) *watched {
	d := &watched{spot: at, root: p.Path}
	if !p.folder {
		d.file = p.Name
	}
	d.has(all)
	return d
}

// has remembers what a place has.
func (d *watched) has(all []transcript.Session) {
	d.byName = map[string][]transcript.Session{}
	for _, one := range all {
		d.byName[one.Name] = append(d.byName[one.Name], one)
	}
}

// noticed makes what a file belongs to due.
func (w *watch) noticed(name string) {
	for _, d := range w.places {
		session, ours := d.belongs(name)
		if !ours {
			continue
		}
		t := target{d.tool.Name(), d.path, session}
		if _, waits := w.due[t]; waits {
			continue
		}
		at := time.Now().Add(pause)
		if rest := w.rest[t]; rest.After(at) {
			at = rest
		}
		w.due[t] = at
	}
}

// work looks at the targets that are due.
func (w *watch) work(ctx context.Context) {
	now := time.Now()
	for _, t := range slices.SortedFunc(maps.Keys(w.due), func(a, b target) int { return w.due[a].Compare(w.due[b]) }) {
		if ctx.Err() != nil || w.due[t].After(now) {
			return
		}
		delete(w.due, t) // what is written from here on is noticed again
		began := time.Now()
		again := w.look(ctx, t)
		took := time.Since(began)
		w.rest[t] = time.Now().Add(max(pause, restFactor*took))
		if !again.IsZero() && time.Until(again) < w.o2.Poll { // else the next sweep is soon enough
			w.due[t] = later(again, w.rest[t])
		}
	}
	maps.DeleteFunc(w.rest, func(_ target, until time.Time) bool { return until.Before(now) })
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
