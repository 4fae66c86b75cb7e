package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/server"
)

type serveCmd struct {
	Addr     string `help:"Address to listen on ($$SCROLLBACK_ADDR). Default: 127.0.0.1:7077." placeholder:"HOST:PORT"`
	Insecure bool   `help:"Serve other machines, without keys."`
	Rate     string `name:"rate-limit" help:"Chats of each key, or else address, such as 100/h; off for no limit ($$SCROLLBACK_RATE_LIMIT). Default: 20/h where other machines reach the server." placeholder:"N/h"`
}

// Run implements the command.
func (c *serveCmd) Run(g *globals) (err error) {
	if err := g.grant(false); err != nil {
		return err
	}
	if c.Rate != "" {
		if g.set.Rate, err = scrollback.ParseRate(c.Rate); err != nil {
			return err
		}
	}
	a, err := g.open(local.Make)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	dir, err := g.dataDir()
	if err != nil {
		return err
	}
	if g.set.TrashDays > 0 {
		var sweeping sync.WaitGroup
		ctx, stop := context.WithCancel(g.ctx)
		sweeping.Go(func() { g.sweep(ctx, a) })
		defer func() { stop(); sweeping.Wait() }()
	}
	return server.Serve(g.ctx, a.Engine, a.Transfer, server.Options{Addr: cmp.Or(c.Addr, g.set.Addr), Insecure: c.Insecure, Rate: g.set.Rate, Version: version(), Log: g.logger(),
		Started: func(url string) {
			fmt.Fprintf(g.stdout, "scrollback is at %s\ndata: %s\nmodel: %s\n", url, dir, g.set.Model)
		}})
}

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
