package main

import (
	"context"
	"log"
	"os"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/markdown"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/workspace"
)

type chatCmd struct {
	Conversation string `arg:"" optional:"" help:"conversation-continue-which-root-adds-folder"`
	Resume       resume `help:"continue-id" placeholder:"ID|latest|N"`
	Project      string `help:"project-new-conversation-or-resume" placeholder:"P"`
	agentsFlag
	leavingFlags
}

// resume is a flag that may stand alone: the person picks a conversation, or without
// a screen it is the latest.
type resume string

const whichever = "?"

// Take implements line.Taker.
func (r *resume) Take(next string, there bool) (took bool) {
	*r = whichever
	if there {
		*r = resume(next)
	}
	return there
}

// Run implements the command.
func (c *chatCmd) Run(g *globals) error {
	if c.Conversation != "" && c.Resume != "" {
		return scrollback.ParamErrorf("scrollback", "resume", i18n.NameConversationOnce,
			c.Conversation, c.Resume)
	}
	name := c.Conversation + string(c.Resume)
	if err := g.grantFolders(name != "", "."); err != nil {
		return err
	}
	c.allowAgents(g)
	g.attended = true
	return g.withApp(func(a *app) error {
		o := terminal.Options{View: a.View, New: scrollback.Conversation{Project: c.Project, Roots: g.roots, Model: g.Model,
			Settings: scrollback.Settings{Agents: c.Agents}}, Overrides: g.turnOverrides(), Model: g.set.Model, JSON: g.JSON,
			Zone:  g.zone,
			Texts: g.localeTexts(), Color: os.Getenv("NO_COLOR") == "", Reflows: terminalReflows(),
			Save: a.saveConversation,
			HandOver: func(ctx context.Context, id scrollback.ConversationID, agent string) (string, error) {
				return g.handOverTo(a, id, agent)
			},
			Listing:    func(items []scrollback.Conversation) terminal.Listing { return a.newListing(g, items, nil) },
			Listed:     a.lists.RememberList,
			Explain:    explainError,
			Files:      a.completeFiles,
			CheckModel: a.CheckModel}
		if err := o.CheckModel(o.Model); err != nil {
			return err
		}
		o.Overrides.Model = "" // the conversation has it, and keeps it
		in, _ := g.stdin.(*os.File)
		out, _ := g.stdout.(*os.File)
		screen := isTerminal(in) && isTerminal(out) && os.Getenv("TERM") != "dumb" && !g.JSON
		if screen && isTerminal(g.stderr) {
			o.Logs = g.logs
			log.SetOutput(g.logs) // that of libraries
			defer log.SetOutput(os.Stderr)
		}
		var err error
		switch {
		case name == whichever && screen:
			o.Conversation, err = terminal.PickConversation(g.ctx, o, in, out)
		case c.Project != "" && (name == whichever || name == "latest"):
			o.Conversation, err = a.latestIn(g.ctx, c.Project)
		case name == whichever:
			o.Conversation, err = a.Resolve(g.ctx, "latest")
		case name != "":
			o.Conversation, err = a.Resolve(g.ctx, name)
		}
		if err == nil && o.Conversation != "" {
			err = a.joinFolders(g, o.Conversation)
		}
		if err == nil && o.Conversation != "" {
			err = c.enableAgents(g, a, o.Conversation)
		}
		if err == nil && o.Conversation != "" && g.Model != "" {
			_, err = a.Patch(g.ctx, o.Conversation, 0, func(v *scrollback.Conversation) error { v.Model = g.Model; return nil })
		}
		if err == nil && o.Conversation != "" {
			o.Without, err = c.leftOutList(g, a, o.Conversation)
		}
		if err != nil {
			return err
		}
		if screen {
			return terminal.RunScreen(g.ctx, o, in, out)
		}
		return terminal.RunPipe(g.ctx, o, g.standardInput(), g.stdout, g.stderr)
	})
}

// latestIn returns the conversation of a project that changed last.
func (a *app) latestIn(ctx context.Context, project string) (scrollback.ConversationID, error) {
	items, _, err := a.List(ctx, scrollback.ListQuery{Project: project, Limit: 1})
	if err == nil && len(items) == 0 {
		err = scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.NoConversationInProjectYet, project)
	}
	if err != nil {
		return "", err
	}
	return items[0].ID, nil
}

// localeTexts returns those of the user's locale.
func (g *globals) localeTexts() words.Texts { return localeLanguage() }

func localeLanguage() words.Texts {
	return words.Of(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
}

// turnPrinter shows turns on plain streams.
func (g *globals) turnPrinter() *terminal.Printer {
	p := &terminal.Printer{Answer: g.stdout, Notes: g.stderr, JSON: g.JSON, Texts: g.localeTexts()}
	if isTerminal(g.stdout) && !g.JSON {
		p.Answer = terminal.AnswerWriter(g.stdout, func() markdown.Look { return answerLook(g.stdout) })
	}
	return p
}

// turnOverrides returns what the flags set for a turn, in place of its conversation's settings.
func (g *globals) turnOverrides() engine.Overrides {
	return engine.Overrides{Model: g.Model, Limit: g.Limit, Thinking: scrollback.Thinking{Effort: g.Effort}}
}

// completeFiles completes a reference: in a conversation, or in the folders that a new one will have.
func (a *app) completeFiles(ctx context.Context, id scrollback.ConversationID, roots []string,
	typed string) ([]string, error) {
	var found []workspace.Completion
	var err error
	if id == "" {
		found, err = workspace.Complete(ctx, roots, typed, engine.FilesMax)
	} else {
		found, err = a.Files(ctx, id, typed, engine.FilesMax)
	}
	var out []string
	for _, f := range found {
		out = append(out, f.Path)
	}
	return out, err
}
