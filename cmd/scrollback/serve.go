package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/server"
	"github.com/scrollback-ai/scrollback/server/metrics"
)

type serveCmd struct {
	Addr     string `help:"address-listen-on" placeholder:"HOST:PORT"`
	Insecure bool   `help:"serve-other-machines-although-there-no-keys"`
	ReadOnly bool   `help:"change-nothing"`
	agentsFlag
	Watch bool   `help:"follow-what-other-tools-keep-on-machine-as-scrollback-watch-does"`
	Rate  string `name:"rate-limit" help:"chats-each-key-or-else-address" placeholder:"N/h"`
	Grace string `help:"how-long-goes-on-once-told-end" placeholder:"TIME"`
}

// Run implements the command.
func (c *serveCmd) Run(g *globals) (err error) {
	if err := g.grant(false); err != nil {
		return err
	}
	counts, err := metrics.New(g.ctx, metrics.Options{Version: version(), Traces: g.set.Traces})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(g.ctx), lastTraces)
		defer cancel()
		if err := counts.Close(ctx); err != nil {
			g.logger().Warn("the last traces could not be sent", "error", err)
		}
	}()
	if g.watch, err = watch.New(counts.Tracers(), counts.Meters()); err != nil {
		return scrollback.Wrap(scrollback.Internal, "scrollback", err)
	}
	if c.Rate != "" {
		g.set.Rate, err = scrollback.ParseRate(c.Rate)
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
	c.allow(g)
	mode := local.Make
	if c.ReadOnly {
		mode = local.ReadOnly
	}
	a, err := g.open(mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.StartObjects(g.ctx, !c.ReadOnly, g.logger()); err != nil {
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
	ctx, stop, beside := beside(g.ctx)
	defer stop()
	systemd := systemdNotifier{socket: os.Getenv("NOTIFY_SOCKET"), log: g.logger()}
	beside.Go(func() { systemd.notifyEnd(ctx, g.ctx) })
	if !c.ReadOnly {
		beside.Go(func() { tidyHourly(ctx, a.Scrollback, g.set.TrashDays, g.logger()) })
		beside.Go(func() { makeHashesHourly(ctx, a.Scrollback, g.logger()) })
	}
	if (c.Watch || g.set.Watch) && !c.ReadOnly {
		p := g.gathering(a)
		p.Ctx = ctx
		beside.Go(func() { gather.Beside(p) })
	}
	return server.Serve(g.ctx, a.Engine, a.Transfer,
		server.Options{Addr: cmp.Or(c.Addr, g.set.Addr), Insecure: c.Insecure, ReadOnly: c.ReadOnly, Version: version(),
			Log: g.logger(), Metrics: counts, Rate: g.set.Rate, Grace: g.set.Grace, Limits: g.set.Limits.API(),
			Keys: a.Store.Keys, TrustedProxies: g.set.TrustedProxies, Hosts: g.set.Hosts, Images: images,
			Started: func(url string) {
				systemd.notify("READY=1\nSTATUS=Serving at " + url)
				t := g.texts()
				fmt.Fprintf(g.stdout, "%s\n%s\n%s\n", t.Say(i18n.ServeStarted, url), t.Say(i18n.ServeData, dir),
					t.Say(i18n.ServeModel, g.set.Model))
			}})
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
				fmt.Fprintf(g.stderr, "scrollback: %s = %q: %s\n", of.setting, name, oneLine(explain(err)))
			}
		}
	}
}

// oneLine is a text without its line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// beside is for what goes on beside a server; stop ends it, and waits for it.
func beside(of context.Context) (ctx context.Context, stop func(), all *sync.WaitGroup) {
	ctx, cancel := context.WithCancel(of)
	all = &sync.WaitGroup{}
	return ctx, func() { cancel(); all.Wait() }, all
}

// lastTraces is how long a server that ends waits for its last traces to be taken.
const lastTraces = 2 * time.Second
