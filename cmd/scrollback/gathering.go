package main

import (
	"slices"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/hook/stopped"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
)

type watchCmd struct {
	gather.Watch
	Service bool `hidden:"" help:"keep-collecting-as-service"`
}

// Run implements the command.
func (c *watchCmd) Run(g *globals) error {
	if c.From == "" && len(g.set.Import.From) == 0 && c.Path == "" {
		defer g.holdWatch()()
	}
	p := g.gatherProgram(nil)
	p.Open = g.openAnswering
	if c.Service {
		return c.runService(g, p)
	}
	return c.Follow(p)
}

// openAnswering runs do over the program, opened to be written to, and answers hooks meanwhile.
func (g *globals) openAnswering(_ bool, do func(t *transfer.Transfer, v *engine.View) error) error {
	return g.withApp(func(a *app) error {
		defer a.waitFinished(g.ctx)
		ctx, stop, beside := startBeside(g.ctx)
		defer stop()
		beside.Go(func() { g.answerHooks(ctx, a) })
		return do(a.Transfer, a.View)
	})
}

// holdWatch says, until release is called, that what agents keep is followed, so that their hooks import nothing.
func (g *globals) holdWatch() (release func()) {
	dir, err := g.dataDir()
	if err == nil {
		if release, err = stopped.HoldWatch(dir); err == nil {
			return release
		}
	}
	return func() {} // then they import what is imported already
}

type doctorAgentsCmd struct{ gather.Doctor }

// Run implements the command.
func (c *doctorAgentsCmd) Run(g *globals) error { return c.ReportAgents(g.gatherProgram(nil)) }

// gatherProgram returns what is needed to bring what other tools keep: into what is open, or else
// into what is opened for it.
func (g *globals) gatherProgram(open *app) gather.Program {
	return gather.Program{Ctx: g.ctx, Set: g.set.Import, Roots: slices.Concat(g.Root, g.set.Roots), JSON: g.JSON,
		Stdout: g.stdout, Stderr: g.stderr,
		Log: g.newLogger(), Print: g.printResult, Explain: explainError, Texts: g.localeTexts(),
		Zone: g.zone, Addr: g.set.Addr, Responds: askWhoResponds,
		Standing: g.listStanding, HookServer: g.findHookServer,
		Open: func(write bool, do func(t *transfer.Transfer, v *engine.View) error) error {
			switch {
			case open != nil:
				return do(open.Transfer, open.View)
			case !write:
				return g.withMode(local.Existing, func(a *app) error { return do(a.Transfer, a.View) })
			}
			return g.withApp(func(a *app) error {
				defer a.waitFinished(g.ctx)
				return do(a.Transfer, a.View)
			})
		}}
}
