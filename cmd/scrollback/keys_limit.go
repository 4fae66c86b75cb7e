package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback"
)

// keysLimitCmd says what a key may do.
type keysLimitCmd struct {
	ID           string   `arg:"" help:"Id of the key."`
	Chats        string   `help:"Chats in a period: a number per s, m, h or d, such as 100/h; off for no limit; default for the server's."`
	TokensPerDay *int64   `help:"Tokens a day (UTC); 0 for no limit."`
	MoneyPerDay  *float64 `help:"Money a day (UTC); 0 for no limit."`
	Currency     string   `help:"Currency of the money. Default: USD."`
}

// limitOf is a key's limits as JSON shows them.
type limitOf struct {
	Key   scrollback.KeyID `json:"key"`
	Chats string           `json:"chats"` // as in rate_limit, or default
	scrollback.Allowance
}

// Run implements the command. What is not named stays; without anything it only shows.
func (c *keysLimitCmd) Run(g *globals) error {
	return g.with(func(a *app) error {
		admin, err := a.Admin()
		if err != nil {
			return err
		}
		id := scrollback.KeyID(c.ID)
		l, err := admin.KeyLimits(g.ctx, id)
		if err != nil {
			return err
		}
		was := l
		if c.Chats == "default" {
			l.Rate = scrollback.Rate{}
		} else if c.Chats != "" {
			if l.Rate, err = scrollback.ParseRate(c.Chats); err != nil {
				return err
			}
		}
		if c.TokensPerDay != nil {
			l.Tokens = *c.TokensPerDay
		}
		if c.MoneyPerDay != nil {
			l.Money = *c.MoneyPerDay
		}
		l.Currency = cmp.Or(c.Currency, l.Currency)
		if l != was {
			if err := admin.SetKeyLimits(g.ctx, id, l); err != nil {
				return err
			}
		}
		shown := limitOf{id, "default", l.Allowance}
		if l.Rate.Chats != 0 {
			shown.Chats = l.Rate.String()
		}
		return g.print(shown, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "key %s · chats: %s · tokens a day: %s · money a day: %s\n", shown.Key, shown.Chats,
				upTo(l.Tokens, "%d", l.Tokens), upTo(l.Money, "%.2f %s", l.Money, cmp.Or(l.Currency, "USD")))
			return err
		})
	})
}

// upTo is a limit as people read it, unless there is none.
func upTo[N int64 | float64](most N, format string, args ...any) string {
	if most == 0 {
		return "unlimited"
	}
	return fmt.Sprintf(format, args...)
}
