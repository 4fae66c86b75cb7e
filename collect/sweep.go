package collect

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transfer"
)

// Survey looks at everything and says what [Collector.Bring] would bring. It writes nothing.
func (c *Collector) Survey(ctx context.Context) (Report, error) {
	s := c.sweep(true)
	err := s.run(ctx)
	return s.report, err
}

// Bring brings all that is not here yet, and marks what has vanished. It returns what it
// has done so far when its context ends, or the store fails.
func (c *Collector) Bring(ctx context.Context) (Report, error) {
	s := c.sweep(false)
	err := s.run(ctx)
	return s.report, err
}

// sweep is one look at everything.
type sweep struct {
	*Collector
	dry    bool
	known  *known
	done   map[[2]string]bool // spots
	report Report
	seen   map[string]*seen                         // by tool
	look   bool                                     // nothing is read
	opened func(opened)                             // is given each place before it is listed; may be nil
	looked func(spot, bool)                         // is told of each place whether it is there; may be nil
	placed func(spot, opened, []transcript.Session) // is given what a place has; may be nil
}

// seen is what the places of a tool have.
type seen struct {
	places map[string]bool // that were listed
	partly bool            // not all could be listed
	ids    map[string]bool
	names  map[[2]string]int // sessions by place and name
}

func (c *Collector) sweep(dry bool) *sweep {
	return &sweep{Collector: c, dry: dry, done: map[[2]string]bool{}, seen: map[string]*seen{},
		report: Report{DryRun: dry, Tools: []Found{}}}
}

// rounds are how often tools are asked where they keep something: what was found says
// where else was worked.
const rounds = 2

func (s *sweep) run(ctx context.Context) (err error) {
	if s.known, err = s.know(ctx); err != nil {
		return err
	}
	for range rounds {
		m := s.o.Machine
		m.Folders = s.known.places()
		for _, at := range s.spots(m) {
			if s.done[at.key()] {
				continue
			}
			s.done[at.key()] = true
			if err := s.visit(ctx, at); err != nil {
				return err
			}
			if s.o.Path == "" || len(s.seen[at.tool.Name()].ids) > 0 {
				continue
			}
			for _, below := range s.below(at) {
				s.done[below.key()] = true
				if err := s.visit(ctx, below); err != nil {
					return err
				}
			}
		}
	}
	s.report.sort()
	if s.dry || s.o.Path != "" {
		return nil
	}
	return s.vanished(ctx)
}

// visit lists a place and brings what is not here.
func (s *sweep) visit(ctx context.Context, at spot) error {
	name := at.tool.Name()
	if s.seen[name] == nil {
		s.seen[name] = &seen{places: map[string]bool{}, ids: map[string]bool{}, names: map[[2]string]int{}}
	}
	sn := s.seen[name]
	p, err := s.open(at.path)
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
		f := s.report.of(name)
		f.Failed++
		f.problem(Problem{Place: at.path, Reason: why(err)})
		return nil
	}
	defer func() { _ = p.close() }() // it was only read
	if s.opened != nil {
		s.opened(p)
	}
	all, err := list(ctx, at.tool, p.Place)
	if ctx.Err() != nil {
		return scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	}
	if err != nil || len(all) > 0 {
		f := s.report.of(name)
		f.Places = append(f.Places, at.path)
		if err != nil {
			sn.partly = true
			f.Failed++
			f.problem(Problem{Place: at.path, Reason: why(err)})
		}
	}
	if s.placed != nil {
		s.placed(at, p, all)
	}
	place := transfer.PlaceOf(p.Place)
	sn.places[place] = true
	for _, one := range all {
		sn.ids[one.ID] = true
		sn.names[[2]string{place, one.Name}]++
	}
	return s.bring(ctx, at, p, all)
}

// bring reads the sessions of a place that are not here.
func (s *sweep) bring(ctx context.Context, at spot, p opened, all []transcript.Session) error {
	if len(all) == 0 {
		return nil
	}
	f := s.report.of(at.tool.Name())
	step := Step{Tool: at.tool.Name()}
	files := filesOf(all)
	same := []transcript.Session{}
	todo := slices.DeleteFunc(all, func(one transcript.Session) bool {
		f.Sessions++
		known := f.Unchanged
		wanted := s.wanted(f, at, job{at.tool, p, one, files[one.Name] > 1, nil})
		if s.o.Same != nil && f.Unchanged > known {
			same = append(same, one)
		}
		return !wanted
	})
	for _, one := range same {
		if err := s.same(ctx, keyOf(at.tool, p.Place, one)); err != nil {
			return err
		}
	}
	if s.look {
		return nil
	}
	for _, one := range todo {
		step.Of++
		step.OfBytes += one.Bytes
	}
	for _, one := range todo {
		if err := ctx.Err(); err != nil {
			return scrollback.Wrap(scrollback.Canceled, op, err)
		}
		s.step(step)
		f.Bytes += one.Bytes
		if s.dry {
			s.count(ctx, f, at, job{at.tool, p, one, files[one.Name] > 1, nil})
		} else {
			out := s.read(ctx, s.known, job{at.tool, p, one, files[one.Name] > 1, func(n int64) {
				step.Messages = n
				s.step(step)
			}})
			if err := ctx.Err(); err != nil && out.Err != nil {
				return scrollback.Wrap(scrollback.Canceled, op, err)
			}
			s.told(f, whereOf(at, p), one, out)
		}
		step.Sessions += 1
		step.Messages = 0
		step.Bytes += one.Bytes
	}
	return nil
}

// same tells which conversations a session has of which all is here.
func (s *sweep) same(ctx context.Context, key session) error {
	ch := Change{Tool: key.tool, Place: key.place, Session: key.name}
	q := transfer.OriginQuery{Tool: key.tool, Place: key.place, Name: key.name}
	if key.place == "" {
		q = transfer.OriginQuery{Tool: key.tool, ID: key.id}
	}
	seen := map[scrollback.ConversationID]bool{}
	err := s.origins(ctx, q, func(o scrollback.Origin) {
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

func (s *sweep) step(at Step) {
	if s.o.Step != nil {
		s.o.Step(at)
	}
}

// told adds what came of reading a session to the report.
func (s *sweep) told(f *Found, where string, one transcript.Session, out outcome) {
	switch {
	case out.excluded:
		f.Excluded++
		f.Bytes -= one.Bytes
	case out.deleted:
		f.Deleted++
	case out.Err != nil:
		f.Failed++
		f.problem(Problem{Place: where, Session: one.Name, Reason: why(out.Err)})
	case out.was == isNew:
		f.New++
	default:
		f.Changed++
	}
	if !out.excluded {
		f.took(where, one, out.ImportResult)
	}
}

// wanted reports whether a session is to be read, and counts it if it is not.
func (s *sweep) wanted(f *Found, at spot, j job) bool {
	p := j.place
	one := j.session
	key := keyOf(at.tool, p.Place, one)
	found, judged := s.judged[key]
	switch {
	case one.Bad != "":
		f.Failed++
		f.problem(Problem{Place: whereOf(at, p), Session: one.Name, Reason: one.Bad})
		return false
	case s.excluded(pathOf(p.Place, one)):
		f.Excluded++
		return false
	case s.known.of(key, one.Stamp, j.shares) == isKnown,
		judged && found.stamp == one.Stamp && found.stands(p.Place, one, s.o.Now()):
		f.Unchanged++
		return false
	}
	return true
}

// stands reports whether what was found out about a session still says all.
func (j judgement) stands(p transcript.Place, one transcript.Session, now time.Time) bool {
	if j.again.IsZero() {
		return true
	}
	return now.Before(j.again) && (!j.held || p.Live(one))
}

// whereOf is the folder that a session's file is in, or the zip.
func whereOf(at spot, p opened) string { return cmp.Or(p.Path, at.path) }
