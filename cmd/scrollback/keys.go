package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

type keysCmd struct {
	List   keysListCmd   `cmd:"" default:"1" help:"list-all-keys-oldest-first"`
	Add    keysAddCmd    `cmd:"" help:"make-key-print"`
	Limit  keysLimitCmd  `cmd:"" help:"show-or-set-what-key-may-do"`
	Revoke keysRevokeCmd `cmd:"" help:"end-key"`
}

type keysAddCmd struct {
	Name    string   `help:"what-key" required:"" placeholder:"NAME"`
	Role    string   `help:"what-may-do" enum:"read,write,admin" required:"" placeholder:"ROLE"`
	Project []string `help:"project" placeholder:"PROJECT" sep:"none"`
	Expires string   `help:"when-ends" placeholder:"TIME"`
	Door    string   `help:"how-clients-of-key-are-answered" placeholder:"faithful|window|record"`
}

// madeKey is a new key, as --json prints it.
type madeKey struct {
	Secret string `json:"key"`
	scrollback.Key
}

// Run implements the command.
func (c *keysAddCmd) Run(g *globals) error {
	k := scrollback.Key{Name: c.Name, Projects: c.Project, Door: c.Door}
	if err := k.Role.UnmarshalText([]byte(c.Role)); err != nil {
		return scrollback.ParamErrorf("scrollback", "role", "%w", err)
	}
	after, err := config.ParseLifetime("--expires", c.Expires)
	if err != nil {
		return err
	}
	return g.withApp(func(a *app) error {
		if after > 0 {
			k.ExpiresAt = a.Store.Now() + after.Milliseconds()
		}
		k, secret, err := a.Store.Keys.Add(g.ctx, k)
		if err != nil {
			return err
		}
		return g.printResult(madeKey{secret, k}, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, secret)
			if err == nil {
				_, err = fmt.Fprintf(g.stderr, "%s\n%s · %s · %s · %s\n", g.localeTexts().Say(i18n.KeyShownOnce),
					k.Name, g.roleOf(k), g.projectsOf(k), g.formatExpiry(k))
			}
			return err
		})
	})
}

type keysListCmd struct{}

// listedKey is a key in the list, with the limits that were set for it.
type listedKey struct {
	scrollback.Key
	Limits scrollback.KeyLimits `json:"limits,omitzero"`
}

// Run implements the command.
func (keysListCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		made, err := a.Store.Keys.List(g.ctx)
		if err != nil {
			return err
		}
		admin, err := a.Admin()
		if err != nil {
			return err
		}
		keys := make([]listedKey, len(made))
		for i, k := range made {
			if keys[i].Limits, err = admin.KeyLimits(g.ctx, k.ID); err != nil {
				return err
			}
			keys[i].Key = k
		}
		return g.printResult(map[string]any{"keys": keys}, func(w io.Writer) error {
			if len(keys) == 0 {
				_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.KeysNone))
				return err
			}
			rows := [][]string{g.localeTexts().Head(i18n.ColumnID, i18n.ColumnName, i18n.ColumnRole, i18n.ColumnProjects,
				i18n.ColumnLimits, i18n.ColumnUsed, i18n.ColumnState)}
			for _, k := range keys {
				rows = append(rows, []string{string(k.ID), k.Name, g.roleOf(k.Key), g.projectsOf(k.Key), g.limitsOf(k.Limits),
					g.formatLastUsed(k.Key), g.keyState(k.Key, a.Store.Now())})
			}
			return columns.WriteTable(w, rows)
		})
	})
}

type keysRevokeCmd struct {
	Key string `arg:"" help:"id-or-name-key"`
}

// Run implements the command.
func (c *keysRevokeCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		k, err := a.Store.Keys.Revoke(g.ctx, c.Key)
		if err != nil {
			return err
		}
		return g.printResult(k, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.KeyRevoked, k.Name, k.ID))
			return err
		})
	})
}

func (g *globals) roleOf(k scrollback.Key) string {
	return g.localeTexts().Named("key-role", k.Role.String())
}

func (g *globals) projectsOf(k scrollback.Key) string {
	return cmp.Or(strings.Join(k.Projects, ", "), g.localeTexts().Say(i18n.KeyAllProjects))
}

func (g *globals) formatExpiry(k scrollback.Key) string {
	if k.ExpiresAt == 0 {
		return g.localeTexts().Say(i18n.KeyUntilRevoked)
	}
	return g.localeTexts().Say(i18n.KeyUntil, columns.FormatTime(k.ExpiresAt, g.zone))
}

func (g *globals) formatLastUsed(k scrollback.Key) string {
	if k.LastUsedAt == 0 {
		return g.localeTexts().Say(i18n.KeyNeverUsed)
	}
	return columns.FormatTime(k.LastUsedAt, g.zone)
}

func (g *globals) keyState(k scrollback.Key, now int64) string {
	switch {
	case k.RevokedAt > 0:
		return g.localeTexts().Say(i18n.KeyRevokedAt, columns.FormatTime(k.RevokedAt, g.zone))
	case k.HasEnded(now):
		return g.localeTexts().Say(i18n.KeyExpiredAt, columns.FormatTime(k.ExpiresAt, g.zone))
	}
	return g.formatExpiry(k)
}
