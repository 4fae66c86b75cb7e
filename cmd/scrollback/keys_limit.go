package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// keysLimitCmd says what a key may do.
type keysLimitCmd struct {
	Key          string   `arg:"" help:"id-or-name-key"`
	Chats        string   `help:"chats-period" placeholder:"N/h"`
	TokensPerDay *int64   `help:"tokens-day" placeholder:"N"`
	MoneyPerDay  *float64 `help:"money-day" placeholder:"AMOUNT"`
	Currency     string   `help:"currency-money-2" placeholder:"NAME"`
}

// limitOf is a key's limits as JSON shows them.
type limitOf struct {
	Key   scrollback.KeyID `json:"key"`
	Name  string           `json:"name"`
	Chats string           `json:"chats"` // as in rate_limit, or default
	scrollback.Allowance
}

// Run implements the command. What is not named stays; without anything it only shows.
func (c *keysLimitCmd) Run(g *globals) error {
	return g.kept(func(a *app) error {
		k, err := a.Store.Keys.Named(g.ctx, c.Key)
		if err != nil {
			return err
		}
		admin, err := a.Admin()
		if err != nil {
			return err
		}
		l, err := admin.KeyLimits(g.ctx, k.ID)
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
			if err := admin.SetKeyLimits(g.ctx, k.ID, l); err != nil {
				return err
			}
		}
		shown := limitOf{k.ID, k.Name, "default", l.Allowance}
		if l.Rate.Chats != 0 {
			shown.Chats = l.Rate.String()
		}
		return g.print(shown, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "key %s (%s) · chats: %s · tokens a day: %s · money a day: %s\n", k.Name, k.ID, shown.Chats,
				upTo(l.Tokens, "%d", l.Tokens), upTo(l.Money, "%.2f %s", l.Money, cmp.Or(l.Currency, "USD")))
			return err
		})
	})
}

// limitsOf are the limits of a key in few words; a dash where none were set for it.
func limitsOf(l scrollback.Limits) string {
	var out []string
	if l.Rate.Chats == scrollback.Unlimited {
		out = append(out, "any number of chats")
	} else if l.Rate.Chats != 0 {
		out = append(out, l.Rate.String()+" chats")
	}
	if l.Tokens > 0 {
		out = append(out, columns.Thousands(l.Tokens)+" tokens/d")
	}
	if l.Money > 0 {
		out = append(out, fmt.Sprintf("%.2f %s/d", l.Money, cmp.Or(l.Currency, "USD")))
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// upTo is a limit as people read it, unless there is none.
func upTo[N int64 | float64](most N, format string, args ...any) string {
	if most == 0 {
		return "unlimited"
	}
	return fmt.Sprintf(format, args...)
}
