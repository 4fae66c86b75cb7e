package collect

import (
	"context"

	"github.com/scrollback-ai/scrollback/transfer"
)

// count reads a session and counts what it has.
func (s *sweep) count(ctx context.Context, f *Found, at spot, j job) {
	p := j.place
	one := j.session
	was := s.known.of(keyOf(at.tool, p.Place, one), one.Stamp, j.shares)
	only := &without{Tool: at.tool, c: s.Collector}
	out := transfer.ImportResult{}
	held := false
	conversations := 0
	messages := int64(0)
	for e, err := range only.Read(ctx, p.Place, one) {
		switch {
		case err != nil:
			if ctx.Err() == nil {
				s.told(f, whereOf(at, p), one, outcome{Change: Change{Err: err}})
			}
			return
		case e.Bad != nil:
			f.BadLines++
			f.problem(Problem{Place: whereOf(at, p), Session: one.Name, Line: e.Bad.Line, Reason: e.Bad.Reason})
		case e.Conversation != nil:
			conversations++
		case e.End != nil:
			held = held || e.End.Held
			f.leave(e.End.Left)
		case e.Rewind == nil:
			messages++
		}
	}
	out.Held = held
	for _, folder := range only.folders {
		s.known.worked(folder)
	}
	f.Conversations += conversations
	f.Messages += messages
	s.told(f, whereOf(at, p), one, outcome{was: was, excluded: only.all(), Change: Change{ImportResult: out}})
}
