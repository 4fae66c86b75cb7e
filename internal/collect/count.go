package collect

import (
	"context"

	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// countSession reads a session and counts what it has.
func (s *sweep) countSession(ctx context.Context, f *Found, at toolSpot, j sessionJob) {
	p := j.place
	one := j.session
	was := s.known.stateOf(sessionKey(at.tool, p.Place, one), one.Stamp, j.shares)
	only := &filteredTool{Tool: at.tool, c: s.Collector}
	out := transfer.ImportResult{}
	held := false
	conversations := 0
	messages := int64(0)
	for e, err := range only.Read(ctx, p.Place, one) {
		switch {
		case err != nil:
			if ctx.Err() == nil {
				s.reportRead(f, placeOf(at, p), one, jobOutcome{Change: Change{Err: err}})
			}
			return
		case e.Bad != nil:
			f.BadLines++
			f.addProblem(Problem{Place: placeOf(at, p), Session: one.Name, Line: e.Bad.Line, Reason: e.Bad.Reason})
		case e.Conversation != nil:
			conversations++
		case e.End != nil:
			held = held || e.End.Held
			f.addLeft(e.End.Left)
		case e.Rewind == nil:
			messages++
		}
	}
	out.Held = held
	for _, folder := range only.folders {
		s.known.addFolder(folder)
	}
	f.Conversations += conversations
	f.Messages += messages
	s.reportRead(f, placeOf(at, p), one, jobOutcome{was: was, excluded: only.isEmpty(), Change: Change{ImportResult: out}})
}
