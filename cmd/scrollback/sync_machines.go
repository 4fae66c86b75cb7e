package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/relay"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/vault"
)

// remoteArg names a folder or a bucket through which machines meet.
type remoteArg struct {
	Remote string `arg:"" help:"folder-or-bucket-to-meet-through"`
}

type syncInitCmd struct {
	remoteArg
	Phrase string `help:"recovery-phrase-to-join-with" placeholder:"-"`
	Name   string `help:"name-of-this-machine" placeholder:"NAME"`
}

// initialized is what became of a remote.
type initialized struct {
	Phrase    string `json:"phrase,omitempty"`
	Recipient string `json:"recipient"`
}

// Run implements the command.
func (c *syncInitCmd) Run(g *globals) error {
	phrase := c.Phrase
	if phrase == "-" {
		text, err := io.ReadAll(io.LimitReader(g.stdin, 4<<10))
		if err != nil {
			return scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
		}
		phrase = strings.TrimSpace(string(text))
	}
	own, err := g.keys().Make()
	if err != nil {
		return err
	}
	if own.Made {
		g.printNewIdentity(own)
	}
	place, release, err := g.holdRemote(c.Remote)
	if err != nil {
		return err
	}
	defer release()
	o, done, err := g.openObjects(c.Remote)
	if err != nil {
		return err
	}
	defer done()
	name := c.Name
	if name == "" {
		name, _ = os.Hostname() // without one, the recipient is the name
	}
	save := func(s vault.State) error { return place.Write(relay.State{Remote: c.Remote, Vault: s}) }
	out := initialized{Recipient: own.Recipient}
	if c.Phrase != "" {
		_, err = vault.Join(g.ctx, o, g.keys(), name, phrase, save)
	} else {
		_, out.Phrase, err = vault.Init(g.ctx, o, g.keys(), name, save)
	}
	if err != nil {
		return err
	}
	return g.printResult(out, func(w io.Writer) error {
		t := g.localeTexts()
		if out.Phrase == "" {
			_, err := fmt.Fprintln(w, t.Say(i18n.SyncJoined, name))
			return err
		}
		_, err := fmt.Fprintln(w, t.Say(i18n.SyncMade, out.Phrase))
		return err
	})
}

// withVault opens the vault of a remote.
func (g *globals) withVault(remote string, do func(context.Context, *vault.Vault) error) error {
	place, release, err := g.holdRemote(remote)
	if err != nil {
		return err
	}
	defer release()
	o, done, err := g.openObjects(remote)
	if err != nil {
		return err
	}
	defer done()
	state, err := place.Read()
	if err != nil {
		return err
	}
	v, err := vault.Open(g.ctx, o, g.keys(), state.Vault, func(s vault.State) error {
		state.Remote = remote
		state.Vault = s
		return place.Write(state)
	})
	if err != nil {
		return err
	}
	return do(g.ctx, v)
}

type syncMachinesCmd struct{ remoteArg }

// Run implements the command.
func (c *syncMachinesCmd) Run(g *globals) error {
	return g.withVault(c.Remote, func(_ context.Context, v *vault.Vault) error {
		all := v.Machines()
		return g.printResult(map[string]any{"machines": all}, func(w io.Writer) error {
			t := g.localeTexts()
			rows := [][]string{t.Head(i18n.ColumnMachine, i18n.ColumnRecipient)}
			for _, m := range all {
				name := m.Name
				if m.This {
					name = t.Say(i18n.SyncThisMachine, name)
				}
				rows = append(rows, []string{columns.StripControls(name), m.Recipient})
			}
			return columns.WriteTable(w, rows)
		})
	})
}

// printMachines says what became of a machine; as JSON, who is a member.
func (g *globals) printMachines(v *vault.Vault, id i18n.ID, name string) error {
	return g.printResult(map[string]any{"machines": v.Machines()}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, g.localeTexts().Say(id, columns.StripControls(name)))
		return err
	})
}

type syncAddCmd struct {
	remoteArg
	Recipient string `arg:"" help:"recipient-of-machine"`
	Name      string `help:"name-of-that-machine" placeholder:"NAME"`
}

// Run implements the command.
func (c *syncAddCmd) Run(g *globals) error {
	return g.withVault(c.Remote, func(ctx context.Context, v *vault.Vault) error {
		if err := v.Add(ctx, c.Recipient, c.Name); err != nil {
			return err
		}
		return g.printMachines(v, i18n.SyncAdded, cmp.Or(c.Name, c.Recipient))
	})
}

type syncRemoveCmd struct {
	remoteArg
	Name string `arg:"" help:"name-of-machine-to-remove"`
}

// Run implements the command.
func (c *syncRemoveCmd) Run(g *globals) error {
	return g.withVault(c.Remote, func(ctx context.Context, v *vault.Vault) error {
		if err := v.Remove(ctx, c.Name); err != nil {
			return err
		}
		return g.printMachines(v, i18n.SyncRemoved, c.Name)
	})
}
