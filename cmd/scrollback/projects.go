package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

type projectsCmd struct {
	List   projectsListCmd   `cmd:"" default:"1" help:"list-projects-how-many-conversations-they-have"`
	Show   projectsShowCmd   `cmd:"" help:"show-what-conversations-project-inherit"`
	Set    projectsSetCmd    `cmd:"" help:"store-what-conversations-project-inherit"`
	Delete projectsDeleteCmd `cmd:"" help:"remove-what-stored-project-no-conversation"`
}

type projectsListCmd struct{}

// Run implements the command.
func (projectsListCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		ps, err := a.Scrollback.Projects().List(g.ctx)
		if err != nil {
			return err
		}
		return g.printResult(map[string]any{"projects": ps}, func(w io.Writer) error {
			rows := [][]string{g.localeTexts().Head(i18n.ColumnProject, i18n.ColumnConversations, i18n.ColumnStored,
				i18n.ColumnTitle)}
			for _, p := range ps {
				stored := "-"
				if p.Version > 0 {
					stored = columns.FormatTime(p.UpdatedAt, g.zone)
				}
				rows = append(rows, []string{columns.StripControls(p.Name), columns.FormatThousands(p.Conversations), stored,
					columns.ClipText(p.Title, 60)})
			}
			return columns.WriteTable(w, rows, 1)
		})
	})
}

// oneProject is a command about one project.
type oneProject struct {
	Name string `arg:"" help:"name-project"`
}

type projectsShowCmd struct{ oneProject }

// Run implements the command.
func (c *projectsShowCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error { return g.printProject(a.Scrollback.Projects().Get(g.ctx, c.Name)) })
}

type projectsSetCmd struct {
	oneProject
	Title        string             `help:"title" placeholder:"TEXT"`
	Instructions string             `help:"file-instructions-stand-before-conversation-own" placeholder:"FILE"`
	Policy       string             `help:"policy-conversations-name-none" placeholder:"P"`
	Set          map[string]float64 `help:"number-policy" placeholder:"NAME=NUMBER"`
	RecallScope  string             `help:"how-far-models-look" placeholder:"SCOPE"`
	Keep         string             `help:"how-far-kept-sentences-go" placeholder:"HOW-FAR"`
	Door         string             `help:"how-clients-of-project-are-answered" placeholder:"faithful|window|record"`
	Tokens       int64              `help:"tokens-calls-may-use-day" placeholder:"N"`
	Money        float64            `help:"money-calls-may-cost-day" placeholder:"AMOUNT"`
	Currency     string             `help:"currency-money" placeholder:"NAME"`
	Clear        []string           `help:"empty" placeholder:"WHAT" sep:"none"`
	IfVersion    int64              `help:"refuse-if-project-at-another-version" placeholder:"N"`
}

// Run implements the command.
func (c *projectsSetCmd) Run(g *globals) error {
	var text string
	if c.Instructions != "" {
		var err error
		if text, err = g.readTextFile(c.Instructions); err != nil {
			return err
		}
	}
	return g.withApp(func(a *app) error {
		return g.printProject(a.Scrollback.Projects().Put(g.ctx, c.Name, c.IfVersion, func(p *scrollback.Project) error {
			if err := c.clearFields(p); err != nil {
				return err
			}
			c.applyTo(g, p, text)
			return nil
		}))
	})
}

// clearFields empties what is to be cleared.
func (c *projectsSetCmd) clearFields(p *scrollback.Project) error {
	p.Settings.Compaction = maps.Clone(p.Settings.Compaction)
	for _, what := range c.Clear {
		switch what {
		case "title":
			p.Title = ""
		case "instructions":
			p.Instructions = ""
		case "model":
			p.Model = ""
		case "policy":
			p.Policy = ""
		case "limit":
			p.Limit = 0
		case "effort":
			p.Settings.ReasoningEffort = ""
			p.Settings.Thinking = nil
			p.Settings.ThinkingBudget = 0
		case "recall_scope":
			p.Settings.RecallScope = ""
		case "keep":
			p.Settings.Keep = ""
		case "door":
			p.Settings.Door = ""
		case "budget":
			p.Budget = nil
		default:
			if _, ok := p.Settings.Compaction[what]; !ok {
				return scrollback.ParamErrorf("scrollback", "clear", i18n.ClearNamesNothingOfProject, what,
					p.Name)
			}
			delete(p.Settings.Compaction, what)
		}
	}
	return nil
}

// applyTo changes what is given.
func (c *projectsSetCmd) applyTo(g *globals, p *scrollback.Project, instructions string) {
	p.Title = cmp.Or(c.Title, p.Title)
	p.Instructions = cmp.Or(instructions, p.Instructions)
	p.Policy = cmp.Or(c.Policy, p.Policy)
	p.Model = cmp.Or(g.Model, p.Model)
	p.Limit = cmp.Or(int(g.Limit), p.Limit)
	p.Settings.RecallScope = cmp.Or(c.RecallScope, p.Settings.RecallScope)
	p.Settings.Keep = cmp.Or(c.Keep, p.Settings.Keep)
	p.Settings.Door = cmp.Or(c.Door, p.Settings.Door)
	if g.Effort != "" {
		p.Settings.ReasoningEffort = g.Effort
		p.Settings.Thinking = nil
	}
	if len(c.Set) > 0 && p.Settings.Compaction == nil {
		p.Settings.Compaction = map[string]float64{}
	}
	maps.Copy(p.Settings.Compaction, c.Set)
	given := scrollback.DailyBudget{TokensPerDay: c.Tokens, MoneyPerDay: c.Money, Currency: c.Currency}
	if given == (scrollback.DailyBudget{}) {
		return
	}
	var b scrollback.DailyBudget
	if p.Budget != nil {
		b = *p.Budget
	}
	p.Budget = &scrollback.DailyBudget{TokensPerDay: cmp.Or(c.Tokens, b.TokensPerDay),
		MoneyPerDay: cmp.Or(c.Money, b.MoneyPerDay), Currency: cmp.Or(c.Currency, b.Currency)}
}

type projectsDeleteCmd struct {
	oneProject
	IfVersion int64 `help:"refuse-if-project-at-another-version" placeholder:"N"`
}

// Run implements the command.
func (c *projectsDeleteCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		if err := a.Scrollback.Projects().Delete(g.ctx, c.Name, c.IfVersion); err != nil {
			return err
		}
		return g.printResult(map[string]any{"name": c.Name, "deleted": true}, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.ProjectDeleted, columns.StripControls(c.Name)))
			return err
		})
	})
}

// printProject prints a project.
func (g *globals) printProject(p scrollback.Project, err error) error {
	if err != nil {
		return err
	}
	return g.printResult(p, func(w io.Writer) error {
		var rows [][]string
		row := func(name, value string, set bool) {
			if set {
				rows = append(rows, []string{g.localeTexts().Named("project-field", name), columns.StripControls(value)})
			}
		}
		row("name", p.Name, true)
		row("conversations", columns.FormatThousands(p.Conversations), true)
		row("title", p.Title, p.Title != "")
		row("model", p.Model, p.Model != "")
		row("policy", p.Policy, p.Policy != "")
		row("limit", columns.FormatThousands(int64(p.Limit)), p.Limit != 0)
		row("recall_scope", p.Settings.RecallScope, p.Settings.RecallScope != "")
		row("keep", p.Settings.Keep, p.Settings.Keep != "")
		row("door", p.Settings.Door, p.Settings.Door != "")
		row("reasoning_effort", p.Settings.ReasoningEffort, p.Settings.ReasoningEffort != "")
		for _, name := range slices.Sorted(maps.Keys(p.Settings.Compaction)) {
			row("compaction."+name, fmt.Sprint(p.Settings.Compaction[name]), true)
		}
		if b := p.Budget; b != nil {
			row("tokens_per_day", columns.FormatThousands(b.TokensPerDay), b.TokensPerDay != 0)
			row("money_per_day", fmt.Sprint(b.MoneyPerDay, " ", b.Currency), b.MoneyPerDay != 0)
		}
		if p.Version == 0 {
			row("stored", g.localeTexts().Say(i18n.ProjectNothingStored, p.Name), true)
		} else {
			row("version", fmt.Sprint(p.Version), true)
			row("changed", columns.FormatTime(p.UpdatedAt, g.zone), true)
		}
		if err := columns.WriteTable(w, rows); err != nil || p.Instructions == "" {
			return err
		}
		_, err := fmt.Fprintf(w, "\n%s\n", columns.StripControls(strings.TrimRight(p.Instructions, "\n")))
		return err
	})
}

// readTextFile reads a file, or standard input for "-".
func (g *globals) readTextFile(name string) (string, error) {
	from := g.standardInput()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", scrollback.ParamErrorf("scrollback", "instructions", "%w", err)
		}
		defer f.Close()
		from = f
	}
	const most = 1 << 20 // more than instructions may have, in bytes
	text, err := io.ReadAll(io.LimitReader(from, most))
	if err != nil {
		return "", scrollback.ParamErrorf("scrollback", "instructions", "%w", err)
	}
	return strings.ToValidUTF8(strings.TrimRight(string(text), "\r\n"), "\uFFFD"), nil
}
