package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/identity"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// keys returns the keys by which files are encrypted and opened. The identity is beside the config file, not with the
// data: a backup is restored into another folder, and what opens it must not be lost with what it is a backup of.
func (g *globals) keys() identity.Keys {
	k := identity.Keys{Given: g.set.Identity, Recipients: g.set.Recipients}
	if own, err := home.UserFolders(); err == nil {
		k.File = filepath.Join(own.Config, identity.FileName)
	}
	return k
}

// showNewIdentity makes the identity of this machine where there is none, and then shows it.
func (g *globals) showNewIdentity() error {
	own, err := g.keys().Own()
	if err == nil && own.Made {
		g.printNewIdentity(own)
	}
	return err
}

func (g *globals) printNewIdentity(own identity.Own) {
	fmt.Fprintln(g.stderr, g.localeTexts().Say(i18n.IdentityMade, columns.StripControls(own.File), own.Recipient))
}

type identityCmd struct{}

// Run implements the command.
func (c *identityCmd) Run(g *globals) error {
	own, err := g.keys().Make()
	if err != nil {
		return err
	}
	if own.Made {
		g.printNewIdentity(own)
	}
	return g.printResult(own, func(w io.Writer) error {
		at := own.File
		if at == "" {
			at = "SCROLLBACK_IDENTITY"
		}
		_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.IdentityLine, own.Recipient, columns.StripControls(at)))
		return err
	})
}
