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
	w := &watchRun{Collector: c, due: map[watchTarget]time.Time{}, rest: map[watchTarget]time.Time{},
		places: map[[2]string]*watchedPlace{},
		said:   map[string]string{}}
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
	defer w.notices.stopWatching()
	w.runLoop(ctx)
	return nil
}

// watchTarget is what is looked at again: a session, or a whole place.
type watchTarget struct {
	tool, path string // of the spot
	name       string // of the session's file; empty for the whole place
}

// watchRun is one run of [Collector.Watch].
type watchRun struct {
	*Collector
	o2      WatchOptions
	notices *notices
	known   *knownOrigins
	places  map[[2]string]*watchedPlace
	due     map[watchTarget]time.Time // when it is to be looked at
	rest    map[watchTarget]time.Time // until when it is left alone
	said    map[string]string         // what stands in the way, by where
}

// watchedPlace is a place that is there.
type watchedPlace struct {
	toolSpot
	root   string // the folder that it is in, as notices name it
	file   string // the one file that it is, or empty
	byName map[string][]transcript.Session
}

// runLoop looks at everything, then at what notices name, until ctx ends.
func (w *watchRun) runLoop(ctx context.Context) {
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	for ctx.Err() == nil {
		var soon <-chan time.Time
		if at, any := w.nextDue(); any {
			soon = time.After(time.Until(at))
		}
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			took := w.sweepAll(ctx)
			sweep.Reset(max(w.o2.Poll, restFactor*took))
		case <-w.notices.wake:
			names, lost := w.notices.takeChanged()
			if lost {
				sweep.Reset(0)
			}
			for _, name := range names {
				w.markDue(name)
			}
		case <-soon:
			w.workDue(ctx)
		}
	}
}

// nextDue returns when the next target is due.
func (w *watchRun) nextDue() (at time.Time, any bool) {
	for _, t := range w.due {
		if !any || t.Before(at) {
			at = t
			any = true
		}
	}
	return at, any
}

// sweepAll looks at everything, and returns how long that took.
func (w *watchRun) sweepAll(ctx context.Context) time.Duration {
	began := time.Now()
	s := w.newSweep(false)
	places := map[[2]string]*watchedPlace{}
	s.opened = w.addNotices
	s.placed = func(at toolSpot, p openedPlace, all []transcript.Session) {
		places[at.spotKey()] = newWatched(at, p, all)
	}
	err := s.runSweep(ctx)
	if ctx.Err() != nil {
		return 0
	}
	w.known = s.known
	w.logObstacle("", err)
	if err == nil {
		for key := range w.places {
			if places[key] == nil {
				delete(w.places, key) // it is not there any more
			}
		}
	}
	maps.Copy(w.places, places)
	stands := map[string]bool{}
	for _, f := range s.report.Tools {
		for _, p := range f.Problems {
			if p.Line == 0 {
				stands[f.Tool+" "+p.Place+" "+p.Session] = true
			}
		}
		for _, p := range f.waiting {
			stands[f.Tool+" "+p.Place+" "+p.Session] = true
		}
	}
	for _, f := range s.report.Tools {
		w.logObstacles(f)
	}
	maps.DeleteFunc(w.said, func(where, _ string) bool { return where != "" && !stands[where] })
	if w.o2.Report != nil {
		w.o2.Report(s.report)
	}
	return time.Since(began)
}

// logObstacle tells what stands in the way of something, once.
func (w *watchRun) logObstacle(where string, err error) {
	if err == nil {
		delete(w.said, where)
		return
	}
	if why := explainError(err); w.said[where] != why {
		w.said[where] = why
		w.o2.Log.Warn("what a tool keeps could not be read", "where", where, "error", why)
	}
}

// addNotices has notices of what changes in a place from now on.
func (w *watchRun) addNotices(p openedPlace) {
	if p.Path != "" {
		w.notices.addPlace(p.Place, p.folder)
	}
}

func newWatched(at toolSpot, p openedPlace, all []transcript.Session) *watchedPlace {
	d := &watchedPlace{toolSpot: at, root: p.Path}
	if !p.folder {
		d.file = p.Name
	}
	d.rememberSessions(all)
	return d
}

// rememberSessions remembers what a place has.
func (d *watchedPlace) rememberSessions(all []transcript.Session) {
	d.byName = map[string][]transcript.Session{}
	for _, one := range all {
		d.byName[one.Name] = append(d.byName[one.Name], one)
	}
}

// markDue makes what a file belongs to due.
func (w *watchRun) markDue(name string) {
	for _, d := range w.places {
		session, ours := d.sessionOf(name)
		if !ours {
			continue
		}
		t := watchTarget{d.tool.Name(), d.path, session}
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

// workDue looks at the targets that are due.
func (w *watchRun) workDue(ctx context.Context) {
	now := time.Now()
	for _, t := range slices.SortedFunc(maps.Keys(w.due),
		func(a, b watchTarget) int { return w.due[a].Compare(w.due[b]) }) {
		if ctx.Err() != nil || w.due[t].After(now) {
			return
		}
		delete(w.due, t) // what is written from here on is noticed again
		began := time.Now()
		again := w.lookAgain(ctx, t)
		took := time.Since(began)
		w.rest[t] = time.Now().Add(max(pause, restFactor*took))
		if !again.IsZero() && time.Until(again) < w.o2.Poll { // else the next sweep is soon enough
			w.due[t] = laterOf(again, w.rest[t])
		}
	}
	maps.DeleteFunc(w.rest, func(_ watchTarget, until time.Time) bool { return until.Before(now) })
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
