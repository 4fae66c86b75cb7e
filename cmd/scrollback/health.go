package main

import (
	"cmp"
	"fmt"
	"io"
)

type healthCmd struct {
	Addr string `help:"Address the server listens on ($$SCROLLBACK_ADDR). Default: 127.0.0.1:7077." placeholder:"HOST:PORT"`
}

// Run implements the command.
func (c *healthCmd) Run(g *globals) error {
	if err := askHealth(g.ctx, cmp.Or(c.Addr, g.set.Addr), language().Language); err != nil {
		return err
	}
	return g.print(map[string]bool{"ok": true}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "ready")
		return err
	})
}
