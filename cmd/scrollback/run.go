package main

import (
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

type runCmd struct {
	Prompt       string `arg:"" optional:"" help:"What to ask. Default, or with -: standard input."`
	Conversation string `help:"Continue this conversation. Default: a new one." placeholder:"ID"`
	Project      string `help:"Project of a new conversation." placeholder:"P"`
	Retry        bool   `help:"Say nothing new: have the last question of --conversation answered again, after a failure or an interruption."`
}

// again is the command that has the last question of a conversation answered again.
func again(id scrollback.ConversationID) string {
	return "scrollback run --conversation " + string(id) + " --retry"
}

// maxPrompt bounds what is read from standard input, in bytes.
const maxPrompt = 4 << 20

// Run implements the command.
func (c *runCmd) Run(g *globals) error {
	if c.Retry && (c.Conversation == "" || c.Prompt != "") {
		return scrollback.ParamErrorf("scrollback", "retry", "--retry takes a --conversation and no prompt")
	}
	if !c.Retry && (c.Prompt == "" || c.Prompt == "-") {
		b, err := io.ReadAll(io.LimitReader(g.standardInput(), maxPrompt))
		if err != nil {
			return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
		}
		c.Prompt = strings.TrimRight(string(b), "\r\n")
	}
	if err := g.grant("."); err != nil {
		return err
	}
	var message scrollback.Parts
	if !c.Retry {
		message = scrollback.Parts{scrollback.Text{Text: c.Prompt}}
	}
	return g.with(func(a *app) error {
		// A message that is refused must leave no conversation behind.
		if err := a.Limits().Check(message); err != nil && !c.Retry {
			return err
		}
		id, err := c.conversation(g, a)
		if err != nil {
			return err
		}
		p := g.printer()
		p.Again = again(id)
		err = p.Turn(g.ctx, a.View, engine.TurnRequest{Conversation: id, Message: message, Overrides: g.shape()})
		p.Note("(conversation %s)", id)
		return err
	})
}

func (c *runCmd) conversation(g *globals, a *app) (scrollback.ConversationID, error) {
	if c.Conversation != "" {
		return a.Resolve(g.ctx, c.Conversation)
	}
	made, _, err := a.Create(g.ctx, scrollback.Conversation{Project: c.Project, Roots: g.roots})
	return made.ID, err
}
