package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/metrics"
	"github.com/scrollback-ai/scrollback/local"
)

type serveCmd struct {
	Addr     string `help:"address-listen-on" placeholder:"HOST:PORT"`
	Insecure bool   `help:"serve-other-machines-although-there-no-keys"`
	ReadOnly bool   `help:"change-nothing"`
	agentsFlag
	Watch bool   `help:"follow-what-other-tools-keep-on-machine-as-scrollback-watch-does"`
	Rate  string `name:"rate-limit" help:"chats-each-key-or-else-address" placeholder:"N/h"`
	Grace string `help:"how-long-goes-on-once-told-end" placeholder:"TIME"`
	Door  string `help:"how-clients-other-apis-are-answered" placeholder:"faithful|window|record"`
}

// Run implements the command.
func (c *serveCmd) Run(g *globals) (err error) {
	if err := g.grantFolders(false); err != nil {
		return err
	}
	counts, err := metrics.New(g.ctx, metrics.Options{Version: programVersion(), Traces: g.set.Traces})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(g.ctx), lastTraces)
		defer cancel()
		if err := counts.Close(ctx); err != nil {
			g.newLogger().Warn("the last traces could not be sent", "error", err)
		}
	}()
	if g.watch, err = watch.New(counts.Tracers(), counts.Meters()); err != nil {
		return scrollback.Wrap(scrollback.Internal, "scrollback", err)
	}
	if c.Rate != "" {
		g.set.Rate, err = scrollback.ParseRate(c.Rate)
	}
	if c.Door != "" && err == nil {
		g.set.Door.Mode = c.Door
		err = config.ParseDoorMode(c.Door)
	}
	if c.Grace != "" && err == nil {
		g.set.Grace, err = config.ParseGrace(c.Grace)
	}
	if err != nil {
		return err
	}
	if c.Watch && c.ReadOnly {
		return scrollback.ParamErrorf("scrollback", "watch",
			i18n.WatchContradictsReadOnly)
	}
	c.allowAgents(g)
	if err := g.openSideCalls(); err != nil {
		return err
	}
	mode := local.Make
	if c.ReadOnly {
		mode = local.ReadOnly
	}
	a, err := g.openApp(mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.StartObjects(g.ctx, !c.ReadOnly, g.newLogger()); err != nil {
		return err
	}
	g.warnOfModels(a)
	images, err := a.DownloadsFrom(g.ctx)
	if err != nil {
		return err
	}
	dir, err := g.dataDir()
	if err != nil {
		return err
	}
	ctx, stop, beside := startBeside(g.ctx)
	defer stop()
	systemd := systemdNotifier{socket: os.Getenv("NOTIFY_SOCKET"), log: g.newLogger()}
	beside.Go(func() { systemd.notifyEnd(ctx, g.ctx) })
	kept := &servedBackups{globals: g, ctx: ctx}
	if !c.ReadOnly {
		beside.Go(func() { tidyHourly(ctx, a.Scrollback, g.set.TrashDays, g.newLogger()) })
		beside.Go(func() { makeHashesHourly(ctx, a.Scrollback, g.newLogger()) })
		beside.Go(func() { findKeptHourly(ctx, a.Scrollback, g.newLogger()) })
		beside.Go(func() { a.Engine.KeepVectors(ctx) })
		beside.Go(func() { g.answerHooks(ctx, a) })
		if g.set.Backup.To != "" {
			beside.Go(func() { kept.backUpNightly(ctx, g.newLogger()) })
		}
	}
	if (c.Watch || g.set.Watch) && !c.ReadOnly {
		p := g.gatherProgram(a)
		p.Ctx = ctx
		if len(g.set.Import.From) == 0 {
			defer g.holdWatch()()
		}
		beside.Go(func() { gather.FollowBeside(p) })
	}
	return server.Serve(g.ctx, a.Engine, a.Transfer,
		server.Options{Addr: cmp.Or(c.Addr, g.set.Addr), Insecure: c.Insecure, ReadOnly: c.ReadOnly,
			Version: programVersion(), Agents: g.offerAgents(a), Backups: kept, Meet: a.meetStore,
			Remotes: g.listRemotes,
			Door:    g.makeDoor(a, c.isOwn(g)), DoorBytes: g.set.Door.BodyBytes, Data: g.markData(), Place: listPlace(dir),
			Budgets: func(ctx context.Context) string { return g.describeBudgets(ctx, a) },
			Log:     g.newLogger(), Metrics: counts, Rate: g.set.Rate, Grace: g.set.Grace, Limits: g.set.Limits.APILimits(),
			Keys: a.Store.Keys, TrustedProxies: g.set.TrustedProxies, Hosts: g.set.Hosts, Images: images,
			Started: func(url string) {
				systemd.sendState("READY=1\nSTATUS=Serving at " + url)
				t := g.localeTexts()
				fmt.Fprintf(g.stdout, "%s\n%s\n%s\n", t.Say(i18n.ServeStarted, url), t.Say(i18n.ServeData, dir),
					t.Say(i18n.ServeModel, g.set.Model))
			}})
}

// isOwn reports whether only this machine reaches the server, and no key is needed.
func (c *serveCmd) isOwn(g *globals) bool {
	host, _, err := net.SplitHostPort(cmp.Or(c.Addr, g.set.Addr))
	return err == nil && access.IsLoopback(host) && len(g.set.TrustedProxies) == 0 && !c.Insecure
}

// openSideCalls reads the table of side calls that the configuration names, if it does.
func (g *globals) openSideCalls() error {
	if g.set.Door.SideCalls == "" {
		return nil
	}
	f, err := door.OpenTable(g.set.Door.SideCalls, g.newLogger())
	if err != nil {
		return scrollback.ParamErrorf("scrollback", "door.side_calls", i18n.SideCallsCannotBeRead, g.set.Door.SideCalls, err)
	}
	g.sideCalls = f.Table
	return nil
}

// makeDoor makes what answers the clients of other APIs. Their own credentials go on to their providers where only this
// machine reaches the server and no key is needed, which own says, unless the configuration says otherwise.
func (g *globals) makeDoor(a *app, own bool) *door.Door {
	pass := own
	if g.set.Door.PassCredentials != nil {
		pass = *g.set.Door.PassCredentials
	}
	return door.New(door.Options{Mode: g.set.Door.Mode, Models: g.set.Door.Models, PassCredentials: pass,
		Recall: g.set.Door.Recall,
		Serves: func(provider string) bool { return a.CheckModel(provider+"/x") == nil }, Log: g.newLogger()})
}

// warnOfModels says which of the configured models cannot be asked: one that is unknown, not
// set up, or without its key. The server goes on, since conversations may name others.
func (g *globals) warnOfModels(a *app) {
	for _, of := range []struct {
		setting string
		names   []string
	}{{"model", []string{g.set.Model}}, {"title_model", []string{g.set.TitleModel}},
		{"summary_model", g.set.SummaryModels}} {
		for _, name := range of.names {
			if name == "" {
				continue
			}
			if err := a.CheckModel(name); err != nil {
				g.warnOfModel(of.setting, name, err)
			}
		}
	}
	if err := a.Engine.CheckEmbedder(g.ctx, false); err != nil {
		g.warnOfModel("embeddings.model", g.set.Embeddings, err)
	}
}

// warnOfModel says why a model that a setting names cannot be asked.
func (g *globals) warnOfModel(setting, name string, why error) {
	fmt.Fprintf(g.stderr, "scrollback: %s = %q: %s\n", setting, name, joinLines(explainError(why)))
}

// joinLines returns a text without its line breaks.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

// startBeside is for what goes on beside a server; stop ends it, and waits for it.
func startBeside(of context.Context) (ctx context.Context, stop func(), all *sync.WaitGroup) {
	ctx, cancel := context.WithCancel(of)
	all = &sync.WaitGroup{}
	return ctx, func() { cancel(); all.Wait() }, all
}

// lastTraces is how long a server that ends waits for its last traces to be taken.
const lastTraces = 2 * time.Second
