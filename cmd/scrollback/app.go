package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/numbers"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/local"
)

// app is the assembled program.
type app struct {
	*local.Scrollback
	lists numbers.Numbers
}

// Resolve returns the conversation that a person names. A number is that of the last list in
// this terminal; without one, that of the list as it is now.
func (a *app) Resolve(ctx context.Context, name string) (scrollback.ConversationID, error) {
	n, err := strconv.Atoi(strings.TrimSpace(name))
	last := a.lists.LastList()
	switch {
	case err != nil || n < 1 || n > scrollback.ListMax || len(last) == 0:
		return a.Scrollback.Resolve(ctx, name)
	case n > len(last):
		return "", scrollback.Errorf(scrollback.NotFound, "scrollback",
			i18n.NoNumberInLastList, n, len(last))
	}
	return last[n-1], nil
}

// lastNumbers returns the numbers that the last list in this terminal gave.
func (g *globals) lastNumbers(dir string) numbers.Numbers {
	own, err := home.UserFolders()
	if err != nil {
		return numbers.Numbers{}
	}
	return numbers.SessionNumbers(filepath.Join(own.Cache, "lists"), numbers.TerminalSession(), dir, g.set.Store)
}

// openApp assembles the program over the data folder.
func (g *globals) openApp(mode local.Mode) (*app, error) {
	dir, err := g.dataDir()
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	if mode == local.Make && g.set.Store == "" {
		if err := home.MakeDataFolder(dir); err != nil {
			return nil, err
		}
	}
	s, err := cloud.Open(g.ctx, dir, &local.Options{
		Mode: mode, Database: g.set.Store, Objects: g.set.Objects, SignedDownloads: g.set.Signed, Env: g.set.Env,
		Agent: "scrollback/" + programVersion(), OfflinePace: testTime("SCROLLBACK_OFFLINE_PACE"),
		Lease: testTime("SCROLLBACK_LEASE"),
		Model: g.set.Model, Known: g.set.Models, SearXNG: g.set.SearXNG,
		Engine: g.set.Limits.ApplyIncoming(engine.Options{SummaryModels: g.set.SummaryModels,
			SummaryTimeout: g.set.SummaryTimeout,
			Compaction:     g.set.Compaction, Projects: g.set.Projects, Keep: g.set.Keep,
			SpendLimits: engine.SpendLimitsFromConfig(g.set.Allowances),
			Eager:       g.set.Eager,
			Limit:       g.set.Limit, DefaultLimit: g.set.DefaultLimit, Strict: g.set.Strict, ReplyBounds: g.set.ReplyBounds,
			WebSearch: g.set.WebSearch, Roots: g.roots, Place: g.workPlace(), Log: g.newLogger(), Watch: g.watch,
			Titles: g.set.Titles, TitleModel: g.set.TitleModel, NoTitleCalls: g.brief, Attended: g.attended,
			Agents: g.set.Agents, SideCalls: g.sideCalls, Embeddings: g.set.Embeddings}),
	})
	if err != nil {
		return nil, err
	}
	return &app{s, g.lastNumbers(dir)}, nil
}

// testTime returns a time that tests of the program set by a variable, and nobody else: 0 where it
// is unset.
func testTime(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name))
	if err != nil {
		return 0
	}
	return d
}

// agentsFlag lets models start sub-agents, for the commands that run turns.
type agentsFlag struct {
	Agents bool `help:"let-model-start-sub-agents"`
}

// allowAgents lets them be started, before the program is opened.
func (f agentsFlag) allowAgents(g *globals) { g.set.Agents.Allowed = g.set.Agents.Allowed || f.Agents }

// enableAgents lets the model of a conversation that goes on start sub-agents from now on.
func (f agentsFlag) enableAgents(g *globals, a *app, id scrollback.ConversationID) error {
	c, err := a.Get(g.ctx, id)
	if err != nil || !f.Agents || c.Settings.Agents {
		return err
	}
	_, err = a.Patch(g.ctx, id, 0, func(c *scrollback.Conversation) error { c.Settings.Agents = true; return nil })
	return err
}

// settleTime is how long a program that ends waits for a compaction, unless the settings
// have another time for summaries.
const settleTime = 30 * time.Second

// settleSoon is how long it waits without a word.
const settleSoon = 300 * time.Millisecond

// waitSettled waits for a compaction behind the turn: the next run would pay for it again.
func (a *app) waitSettled(ctx context.Context, most time.Duration, slow func()) {
	ctx, cancel := context.WithTimeout(ctx, max(cmp.Or(most, settleTime), 0))
	defer cancel()
	soon, stop := context.WithTimeout(ctx, settleSoon)
	defer stop()
	if a.Engine.Settle(soon) != nil && ctx.Err() == nil {
		slow()
		_ = a.Engine.Settle(ctx) // closing breaks it off
	}
}

// workPlace returns what conversations are told about where they work.
func (g *globals) workPlace() *workspace.Place {
	if g.set.NoEnvironment {
		return nil
	}
	p := &workspace.Place{MemoryNames: g.set.MemoryFiles, Setup: g.set.Setup, Temp: os.TempDir(), OS: runtime.GOOS,
		Now:    time.Now().In(g.zone),
		Locale: cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_TIME"), os.Getenv("LANG"))}
	if own, err := home.UserFolders(); err == nil {
		p.UserFolder = own.Config
	}
	return p
}

// grantFolders sets the folders that the operator grants: those of --root, or else the usual
// ones. Where a conversation goes on, --root adds folders to it, and the usual ones stay.
func (g *globals) grantFolders(goesOn bool, otherwise ...string) error {
	named, err := workspace.ResolveFolders(g.Root)
	if err != nil {
		return err
	}
	if len(named) > 0 && !goesOn {
		g.roots = named
		return nil
	}
	usual, err := g.usualFolders(otherwise)
	if err != nil {
		return err
	}
	g.joining = named
	g.roots = usual
	for _, root := range named {
		if !slices.Contains(g.roots, root) {
			g.roots = append(g.roots, root)
		}
	}
	return nil
}

// usualFolders returns the folders that are granted without --root: the configured ones, or else
// those of otherwise that exist.
func (g *globals) usualFolders(otherwise []string) ([]string, error) {
	if g.set.Roots != nil {
		return workspace.ResolveFolders(g.set.Roots)
	}
	roots, err := workspace.ResolveFolders(otherwise)
	if scrollback.CodeOf(err) == scrollback.Invalid { // the current folder was removed
		return []string{}, nil
	}
	return roots, err
}

// withApp runs fn over the opened program; kept does so for what exists already, and creates
// nothing. A database that was named must be there to be read: the name may be mistyped.
func (g *globals) withApp(fn func(a *app) error) error { return g.withMode(local.Make, fn) }
func (g *globals) withExisting(fn func(a *app) error) error {
	if err := home.CheckStored(g.set.Store); err != nil {
		return err
	}
	return g.withMode(local.Existing, fn)
}

func (g *globals) withMode(mode local.Mode, fn func(a *app) error) (err error) {
	a, err := g.openApp(mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a)
}
