package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/local"
)

type usageCmd struct {
	From string   `help:"first-day" placeholder:"YYYY-MM-DD"`
	To   string   `help:"last-day" placeholder:"YYYY-MM-DD"`
	By   []string `help:"group-any-day-model-project-key-conversation" default:"day,model" enum:"day,model,project,key,conversation,purpose,tool" placeholder:"WHAT"`
}

// Run implements the command.
func (c *usageCmd) Run(g *globals) error {
	q, err := c.buildQuery(g.zone)
	if err != nil {
		return err
	}
	return g.withExisting(func(a *app) error {
		sums, err := a.Usage(g.ctx, q)
		if err != nil {
			return err
		}
		total, err := a.Usage(g.ctx, scrollback.UsageQuery{From: q.From, To: q.To, Zone: q.Zone})
		if err != nil {
			return err
		}
		names := map[scrollback.KeyID]string{}
		if q.ByKey && !g.JSON {
			keys, err := a.Store.Keys.List(g.ctx)
			if err != nil {
				return err
			}
			names = keyNames(keys)
		}
		return g.printResult(map[string]any{"usage": sums, "total": total}, func(w io.Writer) error {
			if len(sums) == 0 {
				_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.UsageNone))
				return err
			}
			head := []string{}
			for _, by := range c.By {
				head = append(head, g.localeTexts().Named("usage-by", by))
			}
			rows := [][]string{append(head, g.localeTexts().Head(i18n.ColumnCalls, i18n.ColumnInput, i18n.ColumnCached,
				i18n.ColumnOutput, i18n.ColumnCost)...)}
			imported := slices.ContainsFunc(total, func(s scrollback.UsageSum) bool { return s.Imported })
			if imported {
				rows[0] = append(rows[0], "")
			}
			add := func(s scrollback.UsageSum, name string) {
				row := c.formatRow(g.localeTexts(), s, names)
				if name != "" {
					row[0] = name
				}
				switch {
				case s.Imported:
					row = append(row, g.localeTexts().Say(i18n.UsageImported))
				case imported:
					row = append(row, "")
				}
				rows = append(rows, row)
			}
			for _, s := range sums {
				add(s, "")
			}
			if len(sums) > 1 {
				for _, s := range total {
					add(s, g.localeTexts().Say(i18n.UsageTotal))
				}
			}
			n := len(head)
			return columns.WriteTable(w, rows, n, n+1, n+2, n+3, n+4)
		})
	})
}

func (c *usageCmd) buildQuery(zone *time.Location) (q scrollback.UsageQuery, err error) {
	day := func(param, text string) (int64, error) {
		if text == "" {
			return 0, nil
		}
		t, err := time.ParseInLocation(time.DateOnly, text, zone)
		if err != nil {
			return 0, scrollback.ParamErrorf("scrollback", param, i18n.FlagIsNoDay, param, text)
		}
		return t.UnixMilli(), nil
	}
	if q.From, err = day("from", c.From); err != nil {
		return q, err
	}
	if q.To, err = day("to", c.To); err != nil {
		return q, err
	}
	q.Zone = zone
	now := time.Now().In(zone)
	switch {
	case c.From != "" && c.To != "" && q.From > q.To:
		return q, scrollback.ParamErrorf("scrollback", "from", i18n.FromLaterThanTo, c.From, c.To)
	case c.From != "" && q.From > now.UnixMilli():
		return q, scrollback.ParamErrorf("scrollback", "from", i18n.FromNotComeYet, c.From,
			now.Format(time.DateOnly))
	}
	for _, by := range c.By {
		q.ByDay = q.ByDay || by == "day"
		q.ByModel = q.ByModel || by == "model"
		q.ByProject = q.ByProject || by == "project"
		q.ByKey = q.ByKey || by == "key"
		q.ByConversation = q.ByConversation || by == "conversation"
		q.ByPurpose = q.ByPurpose || by == "purpose"
		q.ByTool = q.ByTool || by == "tool"
	}
	return q, nil
}

// keyNames returns what keys are called, by their ids. Keys that had a name one after the other
// are told apart by their ids.
func keyNames(keys []scrollback.Key) map[scrollback.KeyID]string {
	count := map[string]int{}
	for _, k := range keys {
		count[k.Name]++
	}
	names := map[scrollback.KeyID]string{}
	for _, k := range keys {
		if names[k.ID] = k.Name; count[k.Name] > 1 {
			names[k.ID] += " (" + string(k.ID) + ")"
		}
	}
	return names
}

func (c *usageCmd) formatRow(t words.Texts, s scrollback.UsageSum, names map[scrollback.KeyID]string) []string {
	var out []string
	for _, by := range c.By {
		out = append(out, map[string]string{"day": s.Day, "model": columns.StripControls(s.Model),
			"project": columns.StripControls(s.Project),
			"key":     columns.StripControls(cmp.Or(names[s.Key], string(s.Key), "-")), "conversation": string(s.Conversation),
			"purpose": t.Named("usage-purpose", s.Purpose), "tool": columns.StripControls(cmp.Or(s.Tool, "-"))}[by])
	}
	count := func(n int64) string {
		if s.Estimated {
			return "~" + columns.FormatThousands(n) // some of it was counted here
		}
		return columns.FormatThousands(n)
	}
	cost := "-"
	if s.Currency != "" {
		cost = fmt.Sprintf("%.4f %s", s.Cost, s.Currency)
	}
	return append(out, columns.FormatThousands(s.Calls), count(s.InputTokens), count(s.CachedTokens),
		count(s.OutputTokens),
		cost)
}

type modelsCmd struct {
	Forget string `help:"forget-what-was-learned-from-model-server" placeholder:"NAME"`
}

// Run implements the command.
func (c modelsCmd) Run(g *globals) error {
	return g.withMode(local.Existing, func(a *app) error {
		if c.Forget != "" {
			admin, err := a.Admin()
			if err == nil {
				err = admin.ForgetModel(g.ctx, c.Forget)
			}
			if err != nil {
				return err
			}
		}
		models, err := a.Models(g.ctx)
		if err != nil {
			return err
		}
		return g.printResult(map[string]any{"models": models}, func(w io.Writer) error {
			rows := [][]string{g.localeTexts().Head("", i18n.ColumnModel, i18n.ColumnWindow, i18n.ColumnInput, i18n.ColumnOutput,
				i18n.ColumnFactor)}
			for _, m := range models {
				mark := ""
				in := "-"
				out := "-"
				if m.Default {
					mark = "*"
				}
				if m.Price != nil {
					in = fmt.Sprintf("%.2f %s", m.Price.Input, m.Price.Currency)
					out = fmt.Sprintf("%.2f %s", m.Price.Output, m.Price.Currency)
				}
				window := columns.FormatThousands(m.Limit)
				if m.LimitFrom == "assumed" {
					window += "?"
				}
				factor := fmt.Sprintf("%.2f", m.Factor)
				if !m.Learned {
					factor += "?"
				}
				rows = append(rows, []string{mark, columns.StripControls(m.Name), window, in, out, factor})
			}
			if err := columns.WriteTable(w, rows, 2, 3, 4, 5); err != nil {
				return err
			}
			_, err := fmt.Fprintln(w, "\n"+g.localeTexts().Say(i18n.ModelsExplained))
			return err
		})
	})
}
