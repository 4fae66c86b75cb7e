package collect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// lookAgain reads what has changed of a target. It returns when to look again, because something
// failed that may succeed soon, or was not complete yet, or zero.
func (w *watchRun) lookAgain(ctx context.Context, t watchTarget) (again time.Time) {
	d := w.places[[2]string{t.tool, t.path}]
	if d == nil || w.known == nil {
		return again
	}
	where := t.tool + " " + t.path + " "
	p, err := w.openPlace(d.path)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return again // the next sweep looks for it
	}
	if err != nil {
		w.logObstacle(where, err)
		return again
	}
	defer func() { _ = p.close() }() // it was only read
	if t.name == "" {
		w.addNotices(p)
	}
	all, whole, err := w.relistPlace(ctx, d, p, t)
	if ctx.Err() != nil {
		return again
	}
	if w.logObstacle(where, err); err != nil {
		again = time.Now().Add(leastWait)
	} else if whole {
		d.rememberSessions(all)
	}
	s := w.newSweep(false)
	s.known = w.known
	listed := slices.Clone(all)
	if err := s.importSessions(ctx, d.toolSpot, p, all); err != nil {
		return again
	}
	for _, one := range listed {
		if j := w.judged[sessionKey(d.tool, p.Place, one)]; j.stamp == one.Stamp && !j.again.IsZero() &&
			(again.IsZero() || j.again.Before(again)) {
			again = j.again
		}
	}
	for _, f := range s.report.Tools {
		w.logObstacles(f)
	}
	return again
}

// logObstacles tells what stands in the way of a tool's sessions, once.
func (w *watchRun) logObstacles(f Found) {
	for _, b := range f.Problems {
		if b.Line == 0 {
			w.logObstacle(f.Tool+" "+b.Place+" "+b.Session, errors.New(b.Reason))
		}
	}
}

// relistPlace lists a session again by itself, if that gives the same one, or else all of its
// place.
func (w *watchRun) relistPlace(ctx context.Context, d *watchedPlace, p openedPlace,
	t watchTarget) (all []transcript.Session, whole bool, err error) {
	if was := d.byName[t.name]; t.name != "" && len(was) == 1 && p.folder {
		alone := p.Place
		alone.Name = t.name
		all, err := listSessions(ctx, d.tool, alone)
		if err == nil && len(all) == 1 && all[0].ID == was[0].ID && all[0].Name == was[0].Name {
			return all, false, nil
		}
	}
	all, err = listSessions(ctx, d.tool, p.Place)
	return all, true, err
}
