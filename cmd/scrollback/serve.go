package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback/server"
)

type serveCmd struct {
	Addr     string `help:"Address to listen on ($$SCROLLBACK_ADDR); without it, 127.0.0.1:7077." placeholder:"HOST:PORT"`
	Insecure bool   `help:"Serve other machines without keys."`
}

// Run implements the command.
func (c *serveCmd) Run(g *globals) (err error) {
	if err := g.grant(); err != nil {
		return err
	}
	a, err := g.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	dir, err := g.dataDir()
	if err != nil {
		return err
	}
	return server.Serve(g.ctx, a.Engine, server.Options{Addr: cmp.Or(c.Addr, g.set.Addr), Insecure: c.Insecure, Version: version(), Log: g.logger(),
		Started: func(url string) {
			fmt.Fprintf(g.stdout, "scrollback is at %s\ndata: %s\nmodel: %s\n", url, dir, g.set.Model)
		}})
}
