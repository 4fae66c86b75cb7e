package collect

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/collect/registered"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transfer"
)

// Agent is what is known of a tool on this machine. Times are Unix ms.
type Agent struct {
	Tool       string                   `json:"tool"`
	Places     []Looked                 `json:"places"`
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

// Looked is a place that was looked at.
type Looked struct {
	Path  string `json:"path"`
	Found bool   `json:"found"`
}

// Agents says of each tool what is found of it, how much of that is here, and whether it
// has this program as an MCP server, also for a folder. Of conversations it reads only those
// that are not here, up to their first message: some have none, or cannot be read, and would
// otherwise be missing for ever.
func (c *Collector) Agents(ctx context.Context, folder string) ([]Agent, error) {
	agents := map[string]*Agent{}
	for _, t := range c.tools {
		a := &Agent{Tool: t.Name(), Places: []Looked{}}
		if r, ok := registered.Of(t.Name(), c.o.Machine, folder); ok {
			a.MCP = &r
		}
		agents[t.Name()] = a
	}
	s := c.sweep(true)
	s.look = true
	s.looked = func(at spot, there bool) {
		a := agents[at.tool.Name()]
		a.Places = append(a.Places, Looked{at.path, there})
	}
	s.placed = func(at spot, p opened, all []transcript.Session) {
		a := agents[at.tool.Name()]
		files := filesOf(all)
		for _, one := range all {
			a.Sessions++
			a.Bytes += one.Bytes
			a.Newest = max(a.Newest, one.Changed)
			if s.known.of(keyOf(at.tool, p.Place, one), one.Stamp, files[one.Name] > 1) == isKnown {
				a.NewestHere = max(a.NewestHere, one.Changed)
				continue
			}
			if one.Bad != "" || s.excluded(pathOf(p.Place, one)) || ctx.Err() != nil {
				continue
			}
			j := job{tool: at.tool, place: p, session: one, shares: files[one.Name] > 1}
			switch has, reason := s.has(ctx, j, a.Behind < mostTried); {
			case has:
				a.Behind++
			case reason != "":
				f := s.report.of(a.Tool)
				f.problem(Problem{Place: whereOf(at, p), Session: one.Name, Reason: reason})
			default:
				a.Empty++
			}
		}
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	for _, f := range s.report.Tools {
		agents[f.Tool].Problems = f.Problems
	}
	err := c.origins(ctx, transfer.OriginQuery{}, func(o scrollback.Origin) {
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

// has reports whether a session that is not here as it is there has anything to bring, or why it
// cannot be read.
func (s *sweep) has(ctx context.Context, j job, try bool) (has bool, reason string) {
	key := keyOf(j.tool, j.place.Place, j.session)
	if gone, err := s.transfer.Deleted(ctx, s.view, key.tool, key.id); err == nil && gone {
		return false, ""
	}
	if !try {
		return true, ""
	}
	here := s.known.of(key, j.session.Stamp, j.shares) != isNew
	said := false
	for e, err := range (&without{Tool: j.tool, c: s.Collector}).Read(ctx, j.place.Place, j.session) {
		switch {
		case err != nil:
			return false, why(err)
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
