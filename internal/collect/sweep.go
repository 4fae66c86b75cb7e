package collect

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// SurveyAll looks at everything and says what [Collector.Import] would bring. It writes nothing.
func (c *Collector) SurveyAll(ctx context.Context) (Report, error) {
	s := c.newSweep(true)
	err := s.runSweep(ctx)
	return s.report, err
}

// Import brings all that is not here yet, and marks what has vanished. It returns what it
// has done so far when its context ends, or the store fails.
func (c *Collector) Import(ctx context.Context) (Report, error) {
	s := c.newSweep(false)
	err := s.runSweep(ctx)
	return s.report, err
}

// sweep is one look at everything.
type sweep struct {
	*Collector
	dry    bool
	known  *knownOrigins
	done   map[[2]string]bool // spots
	report Report
	seen   map[string]*seenSessions                          // by tool
	look   bool                                              // nothing is read
	opened func(openedPlace)                                 // is given each place before it is listed; may be nil
	looked func(toolSpot, bool)                              // is told of each place whether it is there; may be nil
	placed func(toolSpot, openedPlace, []transcript.Session) // is given what a place has; may be nil
}

// seenSessions is what the places of a tool have.
type seenSessions struct {
	places map[string]bool // that were listed
	partly bool            // not all could be listed
	ids    map[string]bool
	names  map[[2]string]int // sessions by place and name
}

func (c *Collector) newSweep(dry bool) *sweep {
	return &sweep{Collector: c, dry: dry, done: map[[2]string]bool{}, seen: map[string]*seenSessions{},
		report: Report{DryRun: dry, Tools: []Found{}}}
}

// rounds are how often tools are asked where they keep something: what was found says
// where else was worked.
const rounds = 2

func (s *sweep) runSweep(ctx context.Context) (err error) {
	if s.known, err = s.readKnown(ctx); err != nil {
		return err
	}
	for range rounds {
		m := s.o.Machine
		m.Folders = s.known.listPlaces()
		for _, at := range s.listSpots(m) {
			if s.done[at.spotKey()] {
				continue
			}
			s.done[at.spotKey()] = true
			if err := s.visitSpot(ctx, at); err != nil {
				return err
			}
			if s.o.Path == "" || len(s.seen[at.tool.Name()].ids) > 0 {
				continue
			}
			for _, below := range s.spotsBelow(at) {
				s.done[below.spotKey()] = true
				if err := s.visitSpot(ctx, below); err != nil {
					return err
				}
			}
		}
	}
	s.report.sortTools()
	if s.dry || s.o.Path != "" {
		return nil
	}
	return s.markVanished(ctx)
}

// visitSpot lists a place and brings what is not here.
func (s *sweep) visitSpot(ctx context.Context, at toolSpot) error {
	name := at.tool.Name()
	if s.seen[name] == nil {
		s.seen[name] = &seenSessions{places: map[string]bool{}, ids: map[string]bool{}, names: map[[2]string]int{}}
	}
	sn := s.seen[name]
	p, err := s.openPlace(at.path)
	if s.looked != nil {
		s.looked(at, scrollback.CodeOf(err) != scrollback.NotFound)
	}
	switch code := scrollback.CodeOf(err); {
	case ctx.Err() != nil:
		return scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	case err != nil && at.path == filepath.Clean(s.o.Path):
		return err // what was named is meant
	case code == scrollback.NotFound:
		return nil
	case err != nil:
		sn.partly = true
		f := s.report.foundOf(name)
		f.Failed++
		f.addProblem(Problem{Place: at.path, Reason: explainError(err)})
		return nil
	}
	defer func() { _ = p.close() }() // it was only read
	if s.opened != nil {
		s.opened(p)
	}
	all, err := listSessions(ctx, at.tool, p.Place)
	if ctx.Err() != nil {
		return scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	}
	if err != nil || len(all) > 0 {
		f := s.report.foundOf(name)
		f.Places = append(f.Places, at.path)
		if err != nil {
			sn.partly = true
			f.Failed++
			f.addProblem(Problem{Place: at.path, Reason: explainError(err)})
		}
	}
	if s.placed != nil {
		s.placed(at, p, all)
	}
	place := transfer.PlaceName(p.Place)
	sn.places[place] = true
	for _, one := range all {
		sn.ids[one.ID] = true
		sn.names[[2]string{place, one.Name}]++
	}
	return s.importSessions(ctx, at, p, all)
}

// importSessions reads the sessions of a place that are not here.
func (s *sweep) importSessions(ctx context.Context, at toolSpot, p openedPlace, all []transcript.Session) error {
	if len(all) == 0 {
		return nil
	}
	f := s.report.foundOf(at.tool.Name())
	step := Step{Tool: at.tool.Name()}
	files := countFiles(all)
	same := []transcript.Session{}
	todo := slices.DeleteFunc(all, func(one transcript.Session) bool {
		f.Sessions++
		known := f.Unchanged
		wanted := s.isWanted(f, at, sessionJob{at.tool, p, one, files[one.Name] > 1, nil, nil})
		if s.o.Same != nil && f.Unchanged > known {
			same = append(same, one)
		}
		return !wanted
	})
	for _, one := range same {
		if err := s.findUnchanged(ctx, sessionKey(at.tool, p.Place, one)); err != nil {
			return err
		}
	}
	if s.look {
		return nil
	}
	// What somebody asks for first is what they did last.
	slices.SortStableFunc(todo, func(a, b transcript.Session) int { return cmp.Compare(b.Changed, a.Changed) })
	for _, one := range todo {
		step.Of++
		step.OfBytes += one.Bytes
	}
	jobs := make([]sessionJob, len(todo))
	for i, one := range todo {
		jobs[i] = sessionJob{at.tool, p, one, files[one.Name] > 1, nil, nil}
	}
	reading, stop := context.WithCancel(ctx)
	var next *begunJob // of the session after the one that is imported
	defer func() { stop(); next.close() }()
	for i, one := range todo {
		if err := ctx.Err(); err != nil {
			return scrollback.Wrap(scrollback.Canceled, op, err)
		}
		s.reportStep(step)
		f.Bytes += one.Bytes
		if s.dry {
			s.countSession(ctx, f, at, jobs[i])
		} else {
			jobs[i].begun = next
			next = nil
			if i+1 < len(jobs) {
				next = s.beginReading(reading, jobs[i+1])
			}
			jobs[i].progress = func(n int64) {
				step.Messages = n
				s.reportStep(step)
			}
			out := s.readSession(ctx, s.known, jobs[i])
			if err := ctx.Err(); err != nil && out.Err != nil {
				return scrollback.Wrap(scrollback.Canceled, op, err)
			}
			s.reportRead(f, placeOf(at, p), one, out)
		}
		step.Sessions += 1
		step.Messages = 0
		step.Bytes += one.Bytes
	}
	return nil
}

// findUnchanged tells which conversations a session has of which all is here.
func (s *sweep) findUnchanged(ctx context.Context, key session) error {
	ch := Change{Tool: key.tool, Place: key.place, Session: key.name}
	q := transfer.OriginQuery{Tool: key.tool, Place: key.place, Name: key.name}
	if key.place == "" {
		q = transfer.OriginQuery{Tool: key.tool, ID: key.id}
	}
	seen := map[scrollback.ConversationID]bool{}
	err := s.eachOrigin(ctx, q, func(o scrollback.Origin) {
		if seen[o.Conversation] {
			return
		}
		seen[o.Conversation] = true
		ch.Conversations = append(ch.Conversations, transfer.Imported{ID: o.Conversation})
	})
	if err != nil {
		return err
	}
	for i, c := range ch.Conversations {
		one, err := s.view.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		ch.Conversations[i].Total = one.Messages
	}
	s.o.Same(ch)
	return nil
}

func (s *sweep) reportStep(at Step) {
	if s.o.Step != nil {
		s.o.Step(at)
	}
}

// reportRead adds what came of reading a session to the report.
func (s *sweep) reportRead(f *Found, where string, one transcript.Session, out jobOutcome) {
	switch {
	case out.excluded:
		f.Excluded++
		f.Bytes -= one.Bytes
	case out.deleted != nil:
		f.away = out.deleted
		f.Deleted++
	case out.Err != nil:
		f.Failed++
		f.addProblem(Problem{Place: where, Session: one.Name, Reason: explainError(out.Err)})
	case out.was == isNew:
		f.New++
	default:
		f.Changed++
	}
	if !out.excluded {
		f.addResult(where, one, out.ImportResult)
	}
}

// isWanted reports whether a session is to be read, and counts it if it is not.
func (s *sweep) isWanted(f *Found, at toolSpot, j sessionJob) bool {
	p := j.place
	one := j.session
	key := sessionKey(at.tool, p.Place, one)
	found, judged := s.judged[key]
	switch {
	case one.Bad != "":
		f.Failed++
		f.addProblem(Problem{Place: placeOf(at, p), Session: one.Name, Reason: one.Bad})
		return false
	case s.isExcluded(sessionPath(p.Place, one)):
		f.Excluded++
		return false
	case s.known.stateOf(key, one.Stamp, j.shares) == isKnown,
		judged && found.stamp == one.Stamp && found.stillHolds(p.Place, one, s.o.Now()):
		f.Unchanged++
		if judged && found.failed {
			f.waiting = append(f.waiting, Problem{Place: placeOf(at, p), Session: one.Name})
		}
		return false
	}
	return true
}

// stillHolds reports whether what was found out about a session still says all.
func (j judgement) stillHolds(p transcript.Place, one transcript.Session, now time.Time) bool {
	if j.again.IsZero() {
		return true
	}
	return now.Before(j.again) && (!j.held || p.IsLive(one))
}

// placeOf returns the folder that a session's file is in, or the zip.
func placeOf(at toolSpot, p openedPlace) string { return cmp.Or(p.Path, at.path) }
