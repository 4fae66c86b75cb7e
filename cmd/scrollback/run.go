package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

type runCmd struct {
	Prompt       string `arg:"" optional:"" help:"What to ask; - or nothing reads standard input."`
	Conversation string `help:"Go on with this conversation; without it, a new one." placeholder:"ID"`
	Project      string `help:"Project of a new conversation." placeholder:"P"`
}

// maxPrompt bounds what is read from standard input, in bytes.
const maxPrompt = 4 << 20

// Run implements the command.
func (c *runCmd) Run(g *globals) error {
	if c.Prompt == "" || c.Prompt == "-" {
		b, err := io.ReadAll(io.LimitReader(g.standardInput(), maxPrompt))
		if err != nil {
			return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
		}
		c.Prompt = strings.TrimRight(string(b), "\r\n")
	}
	message := scrollback.Parts{scrollback.Text{Text: c.Prompt}}
	return g.with(func(a *app) error {
		// What would be refused leaves no conversation behind.
		if err := a.CheckMessage(message); err != nil {
			return err
		}
		id, err := c.conversation(g, a)
		if err != nil {
			return err
		}
		turn, events, err := a.Open(context.WithoutCancel(g.ctx), engine.TurnRequest{Conversation: id,
			Message: message, Shape: engine.Shape{Limit: g.Limit}})
		if err != nil {
			return err
		}
		// Ctrl-C stops the turn, and what it wrote is saved and shown.
		stop := context.AfterFunc(g.ctx, func() {
			if err := a.Cancel(context.WithoutCancel(g.ctx), id, turn); err != nil {
				fmt.Fprintln(g.stderr, "scrollback:", explain(err))
			}
		})
		defer stop()
		p := printer{g: g, id: id}
		for n, err := range events {
			if err != nil {
				return err
			}
			if err := p.event(n.Event); err != nil {
				return scrollback.Wrap(scrollback.Canceled, "scrollback", err) // closing saves the reply
			}
		}
		return p.end()
	})
}

func (c *runCmd) conversation(g *globals, a *app) (scrollback.ConversationID, error) {
	if c.Conversation != "" {
		return a.Resolve(g.ctx, c.Conversation)
	}
	made, _, err := a.Create(g.ctx, scrollback.Conversation{Project: c.Project})
	return made.ID, err
}

// printer shows a turn in the terminal: the answer on standard output, the rest
// beside it.
type printer struct {
	g      *globals
	id     scrollback.ConversationID
	wrote  bool
	failed *scrollback.Failure
	done   scrollback.DoneEvent
}

func (p *printer) event(ev scrollback.Event) error {
	if p.g.JSON {
		b, err := scrollback.EncodeEvent(ev)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.g.stdout, "%s\n", b); err != nil {
			return err
		}
	}
	switch ev := ev.(type) {
	case scrollback.DeltaEvent:
		if !p.g.JSON {
			p.wrote = true
			if _, err := io.WriteString(p.g.stdout, plain(ev.Content)); err != nil {
				return err
			}
		}
	case scrollback.ToolCallEvent:
		p.note("→ %s %s", plain(ev.Name), plain(string(ev.Arguments)))
	case scrollback.CompactionEvent:
		p.note("folded #%d–#%d: %s → %s tokens", ev.FirstSeq, ev.LastSeq, thousands(ev.TokensBefore), thousands(ev.TokensAfter))
	case scrollback.ErrorEvent:
		p.failed = &ev.Failure
	case scrollback.DoneEvent:
		p.done = ev
	}
	return nil
}

func (p *printer) note(format string, args ...any) {
	if !p.g.JSON {
		fmt.Fprintf(p.g.stderr, format+"\n", args...)
	}
}

func (p *printer) end() error {
	if p.wrote {
		fmt.Fprintln(p.g.stdout)
	}
	p.note("(conversation %s)", p.id)
	switch {
	case p.failed != nil:
		return scrollback.Errorf(p.failed.Code, "scrollback", "%s", p.failed.Message)
	case p.done.Status == scrollback.TurnInterrupted:
		return scrollback.Errorf(scrollback.Canceled, "scrollback", "interrupted; what was written is saved")
	}
	return nil
}
