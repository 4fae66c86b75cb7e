package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	places "github.com/scrollback-ai/scrollback/internal/place"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// hookCmd has the events, which agents run, and what people do with hooks. The events never come here: [answerHook]
// answers them before the command line is read as a person's.
type hookCmd struct {
	SessionStart hookEventCmd `cmd:"" help:"say-where-work-stood"`
	Prompt       hookEventCmd `cmd:"" help:"say-what-answers-prompt"`
	PreCompact   hookEventCmd `cmd:"" help:"say-what-summary-keeps"`
	Stop         hookEventCmd `cmd:"" help:"import-what-was-said"`
	Log          hookLogCmd   `cmd:"" help:"list-what-agents-were-told"`
	Off          hookOffCmd   `cmd:"" help:"tell-agents-nothing"`
	On           hookOnCmd    `cmd:"" help:"tell-agents-again"`

	Import hookImportCmd `cmd:"" hidden:"" help:"import-what-was-said"`
}

// hookEventCmd is an event.
type hookEventCmd struct {
	Agent string `help:"agent-that-asks" required:"" placeholder:"A"`
}

// Run implements the command.
func (hookEventCmd) Run(*globals) error { return nil }

// withLedger runs fn over the ledger of the data folder; made says that one is made where there is none, else fn gets
// nil.
func (g *globals) withLedger(made bool, fn func(l *ledger.Ledger) error) error {
	dir, err := g.dataDir()
	if err != nil {
		return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	open := ledger.OpenExisting
	if made {
		open = ledger.Open
		if err := home.MakeDataFolder(dir); err != nil {
			return err
		}
	}
	l, err := open(g.ctx, dir)
	if err != nil {
		return scrollback.Errorf(scrollback.Unavailable, "hook", i18n.LedgerCannotBeOpened,
			filepath.Join(dir, ledger.FileName), err)
	}
	if l == nil {
		return fn(nil)
	}
	defer func() { _ = l.Close() }() // what it holds is committed
	return fn(l)
}

// hookLogCmd lists what was told.
type hookLogCmd struct {
	Told bool `help:"only-when-something-was-told"`
}

// hookLogRows is how many runs are listed without --limit.
const hookLogRows = 50

// Run implements the command.
func (c *hookLogCmd) Run(g *globals) error {
	rows := []ledger.Row{}
	err := g.withLedger(false, func(l *ledger.Ledger) error {
		if l == nil {
			return nil
		}
		all, err := l.List(g.ctx, g.listLimit(hookLogRows))
		for _, r := range all {
			if !c.Told || r.Notes > 0 {
				rows = append(rows, r)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return g.printResult(map[string]any{"asked": rows}, func(w io.Writer) error {
		w = columns.PlainWriter(w) // folders are named by others
		if len(rows) == 0 {
			_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.NoHookWasRun))
			return err
		}
		for _, r := range rows {
			told := make([]string, 0, len(r.Told))
			for _, t := range r.Told {
				told = append(told, fmt.Sprintf("%s #%d", string(t.Conversation)[:min(13, len(t.Conversation))], t.Seq))
			}
			line := fmt.Sprintf("%s  %-12s %-13s %4.0f ms  %s", time.UnixMilli(r.At).In(g.zone).Format("2006-01-02 15:04:05"),
				r.Agent, r.Event, r.MS, cmp.Or(strings.Join(told, ", "), "–"))
			if r.Why != "" {
				line += "  (" + r.Why + ")"
			}
			if _, err := fmt.Fprintln(w, line+"  "+r.Folder); err != nil {
				return err
			}
		}
		return nil
	})
}

// hookTarget is what is silenced: one of an agent, a project or a folder, or else the current folder.
type hookTarget struct {
	Folder  string `help:"folder-silence" placeholder:"DIR" xor:"target"`
	Project string `help:"project-silence" placeholder:"P" xor:"target"`
	Agent   string `help:"agent-silence" placeholder:"A" xor:"target"`
}

type (
	hookOffCmd struct{ hookTarget }
	hookOnCmd  struct{ hookTarget }
)

// Run implements the command.
func (c *hookOffCmd) Run(g *globals) error { return c.set(g, true) }

// Run implements the command.
func (c *hookOnCmd) Run(g *globals) error { return c.set(g, false) }

// resolve returns what is meant, as the ledger names it.
func (t hookTarget) resolve() (kind, name string, err error) {
	switch {
	case t.Agent != "":
		a, known := agents.Find(t.Agent)
		if !known {
			return "", "", scrollback.ParamErrorf("hook", "agent", i18n.ClientUnknown, t.Agent,
				strings.Join(agents.Names(), ", "))
		}
		return ledger.OffAgent, a.Name, nil
	case t.Project != "":
		return ledger.OffProject, t.Project, nil
	}
	dir := t.Folder
	if dir == "" {
		if dir, err = os.Getwd(); err != nil {
			return "", "", err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", "", err
	}
	return ledger.OffFolder, places.Find(dir).Key(), nil
}

func (t hookTarget) set(g *globals, off bool) error {
	kind, name, err := t.resolve()
	if err != nil {
		return err
	}
	return g.withLedger(true, func(l *ledger.Ledger) error {
		changed, err := l.SetOff(g.ctx, kind, name, off, time.Now())
		if err != nil {
			return scrollback.Wrap(scrollback.Unavailable, "hook", err)
		}
		return g.printResult(map[string]any{"kind": kind, "name": name, "off": off, "changed": changed},
			func(w io.Writer) error {
				w = columns.PlainWriter(w)
				said := i18n.HooksAreOnFor
				if off {
					said = i18n.HooksAreOffFor
				}
				_, err := fmt.Fprintln(w, g.localeTexts().Say(said, name))
				return err
			})
	})
}
