package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/server"
	"github.com/scrollback-ai/scrollback/server/metrics"
)

type serveCmd struct {
	Addr     string `help:"Address to listen on ($$SCROLLBACK_ADDR). Default: 127.0.0.1:7077." placeholder:"HOST:PORT"`
	Insecure bool   `help:"Serve other machines although there are no keys: whoever reaches the address may do everything."`
	ReadOnly bool   `help:"Change nothing: conversations can be read, searched and exported. The data folder need not be writable."`
	agentsFlag
	Watch bool   `help:"Follow what other tools keep on this machine, as scrollback watch does; the config file says which."`
	Rate  string `name:"rate-limit" help:"Chats of each key, or else address, such as 100/h; off for no limit ($$SCROLLBACK_RATE_LIMIT). Default: 20/h where other machines reach the server." placeholder:"N/h"`
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
		if g.set.Rate, err = scrollback.ParseRate(c.Rate); err != nil {
			return err
		}
	}
	if c.Watch && c.ReadOnly {
		return scrollback.ParamErrorf("scrollback", "watch", "--watch imports, and --read-only changes nothing: leave one out")
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
	dir, err := g.dataDir()
	if err != nil {
		return err
	}
	var beside sync.WaitGroup
	ctx, stop := context.WithCancel(g.ctx)
	defer func() { stop(); beside.Wait() }()
	if g.set.TrashDays > 0 && !c.ReadOnly {
		beside.Go(func() { g.sweep(ctx, a) })
	}
	if (c.Watch || g.set.Watch) && !c.ReadOnly {
		p := g.gathering(a)
		p.Ctx = ctx
		beside.Go(func() { gather.Beside(p) })
	}
	return server.Serve(g.ctx, a.Engine, a.Transfer, server.Options{Addr: cmp.Or(c.Addr, g.set.Addr), Insecure: c.Insecure, ReadOnly: c.ReadOnly, Version: version(), Log: g.logger(), Metrics: counts, Rate: g.set.Rate, Limits: g.set.Limits.API(),
		Keys: a.Store.Keys, TrustedProxies: g.set.TrustedProxies, Hosts: g.set.Hosts,
		Started: func(url string) {
			fmt.Fprintf(g.stdout, "scrollback is at %s\ndata: %s\nmodel: %s\n", url, dir, g.set.Model)
		}})
}

// lastTraces is how long a server that ends waits for its last traces to be taken.
const lastTraces = 2 * time.Second

// sweepEvery is how often a server looks for what has been in the trash for long
// enough.
const sweepEvery = time.Hour

// sweep purges what has been in the trash for as long as the configuration says.
func (g *globals) sweep(ctx context.Context, a *app) {
	admin, err := a.Admin()
	if err != nil {
		g.logger().Warn("the trash could not be emptied", "error", err)
		return
	}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		n, err := admin.PurgeTrash(ctx, g.set.TrashDays*24*time.Hour.Milliseconds())
		if err != nil && ctx.Err() == nil {
			g.logger().Warn("the trash could not be emptied", "error", err)
		}
		if n > 0 {
			g.logger().Warn("purged old conversations from the trash", "conversations", n, "days", g.set.TrashDays)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
