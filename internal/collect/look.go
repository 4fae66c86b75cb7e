package collect

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/collect/registered"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Agent is what is known of a tool on this machine. Times are Unix ms.
type Agent struct {
	Tool       string                   `json:"tool"`
	Places     []LookedPlace            `json:"places"`
	Sessions   int                      `json:"sessions"`        // there
	Here       int                      `json:"here"`            // conversations that came from it
	Behind     int                      `json:"behind"`          // sessions with something that is not here
	Empty      int                      `json:"empty,omitempty"` // sessions in which nothing is said
	Bytes      int64                    `json:"bytes"`
	Newest     int64                    `json:"newest,omitempty"`      // the newest change there
	NewestHere int64                    `json:"newest_here,omitempty"` // the newest change there that is here
	Gone       int                      `json:"gone,omitempty"`        // conversations that are here and no more there
	Problems   []Problem                `json:"problems,omitempty"`
	MCP        *registered.Registration `json:"mcp,omitempty"` // of this program, where the tool takes servers
}

// LookedPlace is a place that was looked at.
type LookedPlace struct {
	Path  string `json:"path"`
	Found bool   `json:"found"`
}

// ListAgents says of each tool what is found of it, how much of that is here, and whether it
// has this program as an MCP server, also for a folder. Of conversations it reads only those
// that are not here, up to their first message: some have none, or cannot be read, and would
// otherwise be missing for ever.
func (c *Collector) ListAgents(ctx context.Context, folder string) ([]Agent, error) {
	agents := map[string]*Agent{}
	for _, t := range c.tools {
		a := &Agent{Tool: t.Name(), Places: []LookedPlace{}}
		if r, ok := registered.Find(t.Name(), c.o.Machine, folder); ok {
			a.MCP = &r
		}
		agents[t.Name()] = a
	}
	s := c.newSweep(true)
	s.look = true
	s.looked = func(at toolSpot, there bool) {
		a := agents[at.tool.Name()]
		a.Places = append(a.Places, LookedPlace{at.path, there})
	}
	s.placed = func(at toolSpot, p openedPlace, all []transcript.Session) {
		a := agents[at.tool.Name()]
		files := countFiles(all)
		for _, one := range all {
			a.Sessions++
			a.Bytes += one.Bytes
			a.Newest = max(a.Newest, one.Changed)
			if s.known.stateOf(sessionKey(at.tool, p.Place, one), one.Stamp, files[one.Name] > 1) == isKnown {
				a.NewestHere = max(a.NewestHere, one.Changed)
				continue
			}
			if one.Bad != "" || s.isExcluded(sessionPath(p.Place, one)) || ctx.Err() != nil {
				continue
			}
			j := sessionJob{tool: at.tool, place: p, session: one, shares: files[one.Name] > 1}
			switch has, reason := s.hasNews(ctx, j, a.Behind < mostTried); {
			case has:
				a.Behind++
			case reason != "":
				f := s.report.foundOf(a.Tool)
				f.addProblem(Problem{Place: placeOf(at, p), Session: one.Name, Reason: reason})
			default:
				a.Empty++
			}
		}
	}
	if err := s.runSweep(ctx); err != nil {
		return nil, err
	}
	for _, f := range s.report.Tools {
		agents[f.Tool].Problems = f.Problems
	}
	err := c.eachOrigin(ctx, transfer.OriginQuery{}, func(o scrollback.Origin) {
		if a := agents[o.Tool]; a != nil {
			if a.Here++; o.GoneAt != 0 {
				a.Gone++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out := []Agent{}
	for _, t := range c.tools {
		out = append(out, *agents[t.Name()])
	}
	return out, nil
}

// mostTried bounds the sessions of a tool that are read to find out whether they have anything
// that is not here; beyond it they are taken to have.
const mostTried = 1000

// hasNews reports whether a session that is not here as it is there has anything to bring, or why it
// cannot be read.
func (s *sweep) hasNews(ctx context.Context, j sessionJob, try bool) (has bool, reason string) {
	key := sessionKey(j.tool, j.place.Place, j.session)
	if gone, err := s.transfer.WasDeleted(ctx, s.view, key.tool, key.id); err == nil && gone {
		return false, ""
	}
	if !try {
		return true, ""
	}
	here := s.known.stateOf(key, j.session.Stamp, j.shares) != isNew
	said := false
	for e, err := range (&filteredTool{Tool: j.tool, c: s.Collector}).Read(ctx, j.place.Place, j.session) {
		switch {
		case err != nil:
			return false, explainError(err)
		case e.Bad != nil:
			if reason == "" {
				reason = e.Bad.Reason
			}
		case len(e.Message.Parts) > 0:
			if said = true; !here {
				return true, ""
			}
		}
	}
	if said {
		return true, ""
	}
	return false, reason
}
