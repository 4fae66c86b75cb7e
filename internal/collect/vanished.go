package collect

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// markVanished marks what a place had and has no more, for each tool whose places could all be
// listed to their end.
func (s *sweep) markVanished(ctx context.Context) error {
	for _, tool := range s.tools {
		sn := s.seen[tool.Name()]
		if sn == nil || sn.partly || len(sn.places) == 0 {
			continue
		}
		var gone []scrollback.Origin
		err := s.eachOrigin(ctx, transfer.OriginQuery{Tool: tool.Name(), Trash: true}, func(o scrollback.Origin) {
			if o.GoneAt == 0 && sn.places[o.Place] && !sn.hasSession(o) {
				gone = append(gone, o)
			}
		})
		if err != nil {
			return err
		}
		if gone, err = s.dropSubagents(ctx, sn, gone); err != nil || len(gone) == 0 {
			if err != nil {
				return err
			}
			continue
		}
		for i := range gone {
			err := s.transfer.MarkGone(ctx, s.view, gone[i:i+1], s.o.Now().UnixMilli())
			switch {
			case err == nil:
				s.report.foundOf(tool.Name()).Gone++
			case scrollback.CodeOf(err) != scrollback.NotFound: // unless it was purged meanwhile
				return err
			}
		}
	}
	return nil
}

// hasSession reports whether an origin is certainly still there: by its id, or by its file if
// that is one session.
func (sn *seenSessions) hasSession(o scrollback.Origin) bool {
	return sn.ids[o.ID] || sn.names[[2]string{o.Place, o.Name}] == 1
}

// dropSubagents leaves out sub-agents in files with several sessions, which are not listed: they
// are there as long as the session that started them.
func (s *sweep) dropSubagents(ctx context.Context, sn *seenSessions,
	gone []scrollback.Origin) (out []scrollback.Origin, err error) {
	for _, o := range gone {
		if sn.names[[2]string{o.Place, o.Name}] > 1 {
			c, err := s.view.Get(ctx, o.Conversation)
			if scrollback.CodeOf(err) == scrollback.NotFound || err == nil && c.AgentOf != nil {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}
