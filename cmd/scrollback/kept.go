package main

import (
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
)

type keptCmd struct {
	Conversation string `arg:"" optional:"" help:"id-unique-prefix-latest-or-number-list"`
	Sentence     string `arg:"" optional:"" help:"sentence-keep-word-for-word"`
	All          bool   `help:"also-what-no-longer-stands"`
	Keep         int64  `help:"keep-sentence-of-message" placeholder:"SEQ" xor:"change"`
	As           string `help:"what-sentence-is" placeholder:"KIND"`
	Drop         string `help:"carry-sentence-no-longer" placeholder:"ID" xor:"change"`
	Done         string `help:"tick-to-do-off" placeholder:"ID" xor:"change"`
	Open         string `help:"let-sentence-stand-again" placeholder:"ID" xor:"change"`
	Project      string `help:"list-what-stands-conversations-project" placeholder:"NAME"`
}

// Run implements the command.
func (c *keptCmd) Run(g *globals) error {
	const op = "kept"
	changes := c.Keep != 0 || c.Drop != "" || c.Done != "" || c.Open != ""
	switch {
	case (c.Conversation == "") == (c.Project == ""):
		return scrollback.ParamErrorf(op, "conversation", i18n.NameConversationOrProject)
	case c.Project != "" && (changes || c.All):
		return scrollback.ParamErrorf(op, "project", i18n.ProjectKeptIsOnlyListed)
	case (c.Keep != 0) != (c.Sentence != ""), c.As != "" && c.Keep == 0:
		return scrollback.ParamErrorf(op, "keep", i18n.KeepTakesSeqAndSentence)
	case changes && c.All:
		return scrollback.ParamErrorf(op, "all", i18n.AllIsForLists)
	case c.Project != "":
		return g.withExisting(func(a *app) error {
			list, err := a.Kept().ListProject(g.ctx, c.Project)
			return g.printKeptList(terminal.KeptList{Kept: list, Conversations: true}, err)
		})
	}
	of := oneConversation{c.Conversation}
	return of.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		if changes {
			return g.printKept(c.change(g, a.Kept(), id))
		}
		list, err := a.Kept().List(g.ctx, id, c.All)
		return g.printKeptList(terminal.KeptList{Kept: list, States: c.All}, err)
	})
}

// change does what the flags say to one sentence.
func (c *keptCmd) change(g *globals, k engine.Kept, id scrollback.ConversationID) (scrollback.Kept, error) {
	which := func(typed string) scrollback.KeptID {
		if !strings.HasPrefix(typed, "k_") {
			typed = "k_" + typed
		}
		return scrollback.KeptID(typed)
	}
	switch {
	case c.Keep != 0:
		return k.Keep(g.ctx, id, c.Keep, c.Sentence, scrollback.KeptKind(c.As))
	case c.Drop != "":
		return k.SetState(g.ctx, id, which(c.Drop), scrollback.KeptDropped)
	case c.Done != "":
		return k.SetState(g.ctx, id, which(c.Done), scrollback.KeptDone)
	}
	return k.SetState(g.ctx, id, which(c.Open), scrollback.KeptOpen)
}

// printKept prints a sentence that was changed, with what became of it.
func (g *globals) printKept(k scrollback.Kept, err error) error {
	if err != nil {
		return err
	}
	return g.printResult(k, func(w io.Writer) error {
		return terminal.WriteKept(w, g.localeTexts(), terminal.KeptList{Kept: []scrollback.Kept{k}, States: true})
	})
}

func (g *globals) printKeptList(l terminal.KeptList, err error) error {
	if err != nil {
		return err
	}
	return g.printResult(map[string]any{"kept": l.Kept},
		func(w io.Writer) error { return terminal.WriteKept(w, g.localeTexts(), l) })
}
