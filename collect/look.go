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
	Sessions   int                      `json:"sessions"` // there
	Here       int                      `json:"here"`     // conversations that came from it
	Behind     int                      `json:"behind"`   // sessions that are not here as they are there
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
// has this program as an MCP server, also for a folder. It reads no conversation.
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
			} else if one.Bad == "" && !s.excluded(pathOf(p.Place, one)) {
				a.Behind++
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
