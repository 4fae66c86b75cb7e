package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

type healthCmd struct {
	Addr string `help:"address-server-listens-on" placeholder:"HOST:PORT"`
}

// Run implements the command.
func (c *healthCmd) Run(g *globals) error {
	if err := askHealth(g.ctx, cmp.Or(c.Addr, g.set.Addr), string(g.localeTexts())); err != nil {
		return err
	}
	return g.printResult(map[string]bool{"ok": true}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.HealthReady))
		return err
	})
}
