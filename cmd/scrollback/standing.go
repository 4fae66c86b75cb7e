package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/install"
	"github.com/scrollback-ai/scrollback/internal/server/restapi"
	"github.com/scrollback-ai/scrollback/internal/standing"
)

// inspectSetups returns how agents are set up by install, and behind them the service.
func (g *globals) inspectSetups() ([]install.Setup, error) {
	o, err := g.installOptions(install.Agents())
	if err != nil {
		return nil, err
	}
	o.Agents = append(o.Agents, install.Service)
	run, err := install.Begin(g.ctx, o, false)
	if err != nil {
		return nil, err
	}
	return run.Inspect()
}

// listStanding returns how the agents of this machine stand.
func (g *globals) listStanding() (out []standing.MachineAgent, err error) {
	setups, err := g.inspectSetups()
	if err != nil {
		return nil, err
	}
	m, err := thisMachine()
	if err != nil {
		return nil, err
	}
	err = g.withLedger(false, func(l *ledger.Ledger) error {
		out, err = standing.Join(g.ctx, setups, l, hookAnswerTime)
		return err
	})
	for i := range out {
		if out[i].Agent != install.Service {
			out[i].Found = isThere(out[i].Agent, m)
		} else if bad, is := g.findGaveUp(); is && out[i].Installed {
			out[i].Problems = append(out[i].Problems, bad)
		}
	}
	return out, err
}

// machineAgents are the agents of this machine, for the page.
type machineAgents struct {
	*globals
	app *app
}

// offerAgents returns the agents of this machine for the page; nil where the store is not of this machine, or the home
// folder not that of a person who works here. Who has set agents up there does.
func (g *globals) offerAgents(a *app) restapi.MachineAgents {
	m, err := thisMachine()
	if err != nil || strings.HasPrefix(g.set.Store, "postgres") {
		return nil
	}
	if dir, err := g.dataDir(); err != nil || install.IsElsewhere(m) && !install.HasRecord(dir) {
		return nil
	}
	return machineAgents{g, a}
}

// within returns the agents for a request.
func (m machineAgents) within(ctx context.Context) *globals {
	g := *m.globals
	g.ctx = ctx
	return &g
}

// ListAgents implements [restapi.MachineAgents].
func (m machineAgents) ListAgents(ctx context.Context) ([]standing.MachineAgent, error) {
	g := m.within(ctx)
	all, err := g.listStanding()
	if err != nil {
		return nil, err
	}
	counted, err := gather.CountSessions(g.gatherProgram(m.app))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a standing.MachineAgent) bool { return !a.Found && !a.Installed })
	for i, a := range all {
		all[i].Sessions = counted[a.Agent].Sessions
		all[i].Behind = counted[a.Agent].Behind
	}
	return all, nil
}

// SilenceAgent implements [restapi.MachineAgents].
func (m machineAgents) SilenceAgent(ctx context.Context, agent string, off bool) (standing.MachineAgent, error) {
	g := m.within(ctx)
	if !slices.Contains(install.Agents(), agent) {
		return standing.MachineAgent{}, scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.InstallUnknownAgent, agent,
			strings.Join(install.Agents(), ", "))
	}
	err := g.withLedger(true, func(l *ledger.Ledger) error {
		_, err := l.SetOff(ctx, ledger.OffAgent, agent, off, time.Now())
		return scrollback.Wrap(scrollback.Unavailable, "hook", err)
	})
	if err != nil {
		return standing.MachineAgent{}, err
	}
	all, err := g.listStanding()
	i := slices.IndexFunc(all, func(a standing.MachineAgent) bool { return a.Agent == agent })
	if err != nil || i < 0 {
		return standing.MachineAgent{}, err
	}
	return all[i], nil
}
