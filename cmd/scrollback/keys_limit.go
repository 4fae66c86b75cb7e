package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
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
	scrollback.SpendLimit
}

// Run implements the command. What is not named stays; without anything it only shows.
func (c *keysLimitCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		k, err := a.Store.Keys.FindNamed(g.ctx, c.Key)
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
		shown := limitOf{k.ID, k.Name, "default", l.SpendLimit}
		if l.Rate.Chats != 0 {
			shown.Chats = l.Rate.String()
		}
		chats := shown.Chats
		if l.Rate.Chats == 0 {
			chats = g.localeTexts().Say(i18n.KeyDefaultLimit)
		}
		return g.printResult(shown, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.KeyLimits, k.Name, k.ID, chats,
				formatLimit(g.localeTexts(), l.Tokens, "%s", columns.FormatThousands(l.Tokens)),
				formatLimit(g.localeTexts(), l.Money, "%.2f %s", l.Money, cmp.Or(l.Currency, "USD"))))
			return err
		})
	})
}

// limitsOf returns the limits of a key in few words; a dash where none were set for it.
func (g *globals) limitsOf(l scrollback.KeyLimits) string {
	var out []string
	if l.Rate.Chats == scrollback.Unlimited {
		out = append(out, g.localeTexts().Say(i18n.KeyAnyNumberOfChats))
	} else if l.Rate.Chats != 0 {
		out = append(out, g.localeTexts().Say(i18n.KeyChats, l.Rate.String()))
	}
	if l.Tokens > 0 {
		out = append(out, g.localeTexts().Say(i18n.KeyTokensPerDay, columns.FormatThousands(l.Tokens)))
	}
	if l.Money > 0 {
		out = append(out, g.localeTexts().Say(i18n.KeyMoneyPerDay, l.Money, cmp.Or(l.Currency, "USD")))
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// formatLimit returns a limit as people read it, unless there is none.
func formatLimit[N int64 | float64](t words.Texts, most N, format string, args ...any) string {
	if most == 0 {
		return t.Say(i18n.KeyUnlimited)
	}
	return fmt.Sprintf(format, args...)
}
