package main

import (
	"context"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/workspace"
)

type runCmd struct {
	Prompt       string `arg:"" optional:"" help:"what-ask"`
	Conversation string `help:"continue-conversation" placeholder:"ID"`
	Project      string `help:"project-new-conversation" placeholder:"P"`
	Stdin        string `help:"standard-input-beside-prompt" enum:"auto,wait,ignore" default:"auto" placeholder:"HOW"`
	WebSearch    bool   `help:"search-web-before-answer-model-provider-or"`
	agentsFlag
	leavingFlags
	Retry bool `help:"say-nothing-new"`
}

// leavingFlags say which messages the requests of a conversation leave out.
type leavingFlags struct {
	Without []int64 `help:"leave-message-seq-out-later-requests-conversation" placeholder:"SEQ"`
	With    []int64 `help:"take-message-seq-back-into-requests" placeholder:"SEQ"`
}

// leftOutList returns what requests leave out from now on; nil if nothing is said about it.
func (f *leavingFlags) leftOutList(g *globals, a *app, id scrollback.ConversationID) (*[]int64, error) {
	if len(f.Without)+len(f.With) == 0 {
		return nil, nil
	}
	out, err := a.LeavingOut(g.ctx, id, f.Without, f.With)
	return &out, err
}

// retryCommand returns the command that has the last question of a conversation answered again.
func retryCommand(id scrollback.ConversationID) string {
	return "scrollback run --conversation " + string(id) + " --retry"
}

// refusalWays returns the commands out of a refusal that comes again.
func refusalWays(id scrollback.ConversationID) words.Ways {
	return words.Ways{Back: "scrollback rewind " + string(id) + " %d",
		Without: "scrollback run --conversation " + string(id) + " --without %d"}
}

// Run implements the command.
func (c *runCmd) Run(g *globals) (err error) {
	if c.Retry && (c.Conversation == "" || c.Prompt != "") {
		return scrollback.ParamErrorf("scrollback", "retry", i18n.RetryTakesConversationOnly)
	}
	if c.Conversation == "" && len(c.Without)+len(c.With) > 0 {
		return scrollback.ParamErrorf("scrollback", "without", i18n.WithoutAndWithNeedConversation)
	}
	alone := c.Prompt == "" || c.Prompt == "-"
	if alone && !c.Retry {
		if c.Prompt, err = g.readPrompt(); err != nil {
			return err
		}
	}
	if err := g.grantFolders(c.Conversation != "", "."); err != nil {
		return err
	}
	var message scrollback.Parts
	if !c.Retry {
		message = scrollback.Parts{scrollback.Text{Text: c.Prompt}}
	}
	g.brief = true
	g.attended = true
	c.allowAgents(g)
	return g.withApp(func(a *app) error {
		// A message that is refused must leave no conversation behind.
		if err := a.Limits().Check(message); err != nil && !c.Retry {
			return err
		}
		var input []byte
		if !alone {
			if input, err = g.readStdinBeside(c.Stdin, a.Limits().ArtifactBytes); err != nil {
				return err
			}
		}
		id, err := c.chooseConversation(g, a, message, input != nil)
		if err != nil {
			return err
		}
		if input != nil {
			part, err := a.stdinPart(g, id, input, a.Limits().MessageChars-utf8.RuneCountInString(c.Prompt))
			if err != nil {
				return err
			}
			message = append(message, part)
		}
		without, err := c.leftOutList(g, a, id)
		if err != nil {
			return err
		}
		p := g.turnPrinter()
		p.Again = retryCommand(id)
		p.Ways = refusalWays(id)
		err = p.RunTurn(g.ctx, a.View, engine.TurnRequest{Conversation: id, Message: message, Without: without,
			PlainMarks: true,
			WebSearch:  c.WebSearch, Zone: g.zone, Overrides: g.turnOverrides()})
		if err != nil && c.Conversation == "" && a.removeUnused(g.ctx, id) {
			return err
		}
		p.PrintNote("%s", p.Texts.Say(i18n.RunConversation, id))
		if err == nil {
			a.waitSettled(g.ctx, g.set.SummaryTimeout, func() { p.PrintNote("%s", p.Texts.Say(i18n.ChatCompacting)) })
		}
		return err
	})
}

// chooseConversation returns the one to say something in. What is asked beside other input gives the
// title of a new one.
func (c *runCmd) chooseConversation(g *globals, a *app, message scrollback.Parts,
	beside bool) (scrollback.ConversationID, error) {
	if c.Conversation != "" {
		id, err := a.Resolve(g.ctx, c.Conversation)
		if err == nil {
			err = a.joinFolders(g, id)
		}
		if err == nil {
			err = c.enableAgents(g, a, id)
		}
		return id, err
	}
	fresh := scrollback.Conversation{Project: c.Project, Roots: g.roots, Model: g.Model,
		Settings: scrollback.Settings{Agents: c.Agents}}
	if beside {
		a.Engine.SetTitle(&fresh, message)
	}
	made, _, err := a.Create(g.ctx, fresh)
	return made.ID, err
}

// removeUnused takes away a conversation that was made for a message which was then refused, and
// reports whether it did.
func (a *app) removeUnused(ctx context.Context, id scrollback.ConversationID) bool {
	ctx = context.WithoutCancel(ctx) // an interrupted run leaves nothing empty behind, either
	c, err := a.Get(ctx, id)
	if err != nil || c.Messages > 0 {
		return false
	}
	_, err = a.Purge(ctx, id)
	return err == nil
}

// joinFolders lets a conversation that goes on work in the folders of --root too, and names those
// of its folders that it cannot use now; the next turn tells its model of both.
func (a *app) joinFolders(g *globals, id scrollback.ConversationID) error {
	c, err := a.Get(g.ctx, id)
	if err != nil {
		return err
	}
	for _, root := range c.Roots {
		if _, err := workspace.Narrow(g.roots, []string{root}); err == nil {
			continue
		}
		text := i18n.ChatNotGranted
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			text = i18n.ChatFolderGone
		}
		g.turnPrinter().PrintNote("%s", g.localeTexts().Say(text, columns.StripControls(root)))
	}
	fresh := slices.DeleteFunc(slices.Clone(g.joining), func(root string) bool { return slices.Contains(c.Roots, root) })
	if len(fresh) == 0 {
		return nil
	}
	_, err = a.Patch(g.ctx, id, 0, func(c *scrollback.Conversation) error {
		c.Roots = append(slices.Clone(c.Roots), fresh...)
		return nil
	})
	for _, root := range fresh {
		if err == nil {
			g.turnPrinter().PrintNote(g.localeTexts().Say(i18n.ChatAdded), root)
		}
	}
	return err
}
