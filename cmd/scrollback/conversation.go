package main

import (
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

type listCmd struct {
	Project string `help:"only-project" placeholder:"P"`
	Trash   bool   `help:"list-those-trash"`
	Max     int    `help:"how-many-list" default:"50"`
	Cursor  string `help:"continue-previous-list" placeholder:"CURSOR"`
}

// Run implements the command.
func (c *listCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		items, next, err := a.List(g.ctx, scrollback.ListQuery{Project: c.Project, Trash: c.Trash, Cursor: c.Cursor,
			Limit: g.listLimit(c.Max)})
		if err != nil {
			return err
		}
		agents, err := listSubagents(g.ctx, a.View, items)
		if err != nil {
			return err
		}
		var cursor *string
		if next != "" {
			cursor = &next
		}
		return g.printResult(listedPage{items, cursor, agents}, func(w io.Writer) error {
			if len(items) == 0 {
				hint := g.localeTexts().Say(i18n.ChatNoneHere)
				if c.Project == "" && !c.Trash && c.Cursor == "" {
					hint = g.localeTexts().Say(i18n.ChatNoTalks, `scrollback run "Hello"`)
				}
				_, err := fmt.Fprintln(w, hint)
				return err
			}
			ids := make([]scrollback.ConversationID, len(items))
			for i, it := range items {
				ids[i] = it.ID
			}
			a.lists.RememberList(ids)
			if err := a.newListing(g, items, agents).WriteConversations(w, items, agents); err != nil || next == "" {
				return err
			}
			_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.MoreCursor, next))
			return err
		})
	})
}

// listedPage is a page of the list as JSON, with the sub-agents below it.
type listedPage struct {
	Conversations []scrollback.Conversation `json:"conversations"`
	Next          *string                   `json:"next"`
	Agents        []scrollback.Conversation `json:"agents,omitempty"`
}

// oneConversation is a command about one conversation.
type oneConversation struct {
	Conversation string `arg:"" help:"id-unique-prefix-latest-or-number-list"`
}

// withConversation resolves the conversation and runs fn on it.
func (o *oneConversation) withConversation(g *globals, fn func(a *app, id scrollback.ConversationID) error) error {
	return g.withExisting(func(a *app) error {
		id, err := a.Resolve(g.ctx, o.Conversation)
		if err != nil {
			return err
		}
		return fn(a, id)
	})
}

type showCmd struct {
	oneConversation
	After  *int64 `help:"messages-after-seq" placeholder:"SEQ"`
	Before int64  `help:"messages-before-seq" placeholder:"SEQ"`
	Max    int    `help:"how-many-print" default:"50"`
	Branch string `help:"branch" placeholder:"ID"`
	All    bool   `help:"print-everything"`
	Raw    bool   `help:"print-answers-as-they-were-written-terminal"`
}

// Run implements the command.
func (c *showCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		if c.All {
			return c.printAll(g, a, id)
		}
		page, err := a.Turns().Page(g.ctx, id,
			scrollback.PageQuery{Branch: scrollback.BranchID(c.Branch), After: c.After, Before: c.Before,
				Limit: g.listLimit(c.Max)})
		if err != nil {
			return err
		}
		return g.printResult(page, func(w io.Writer) error {
			if err := c.pageWriter(g, id).WritePage(w, page); err != nil || page.Next == nil {
				return err
			}
			direction := "before"
			if c.After != nil {
				direction = "after"
			}
			_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.MorePage, direction, *page.Next))
			return err
		})
	})
}

// pageWriter returns how messages are printed.
func (c *showCmd) pageWriter(g *globals, id scrollback.ConversationID) terminal.Pages {
	p := terminal.Pages{Texts: g.localeTexts(), Again: retryCommand(id), Ways: refusalWays(id), Whole: c.All, Zone: g.zone}
	if isTerminal(g.stdout) && !c.Raw {
		p.Look = answerLook(g.stdout)
	}
	return p
}

// printAll prints the whole conversation, a page at a time.
func (c *showCmd) printAll(g *globals, a *app, id scrollback.ConversationID) error {
	if c.After != nil || c.Before != 0 {
		return scrollback.ParamErrorf("scrollback.show", "all",
			i18n.AllPrintsEverything)
	}
	whole := scrollback.MessagePage{}
	pages := c.pageWriter(g, id)
	if c.Branch == "" {
		m, err := a.Context(g.ctx, id)
		if err != nil {
			return err
		}
		pages.Excluded = m.Excluded
	}
	pages.Artifact = func(ref scrollback.Ref) (string, error) { return readWholeArtifact(g.ctx, a.View, id, ref) }
	from := int64(0)
	for at := &from; at != nil; {
		page, err := a.Turns().Page(g.ctx, id,
			scrollback.PageQuery{Branch: scrollback.BranchID(c.Branch), After: at, Limit: scrollback.ListMax})
		if err != nil {
			return err
		}
		if at = page.Next; !g.JSON {
			if err := pages.WritePage(g.stdout, page); err != nil {
				return err
			}
			continue
		}
		if whole.Meta == nil {
			whole.Meta = page.Meta
		}
		maps.Copy(whole.Meta, page.Meta)
		whole.Messages = append(whole.Messages, page.Messages...)
		whole.Turns = append(whole.Turns, page.Turns...)
	}
	if !g.JSON {
		return nil
	}
	return g.printResult(whole, nil)
}

type renameCmd struct {
	oneConversation
	Title string `arg:"" help:"new-title"`
}

// Run implements the command.
func (c *renameCmd) Run(g *globals) error {
	if strings.TrimSpace(c.Title) == "" {
		return scrollback.ParamErrorf("scrollback.rename", "title", i18n.NewTitleIsEmpty)
	}
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		return g.printConversation(a.Patch(g.ctx, id, 0,
			func(conv *scrollback.Conversation) error { conv.Title = c.Title; return nil }))
	})
}

// wholeID is a command that takes a whole id: a conversation is never removed by a
// prefix of its id.
type wholeID struct {
	Conversation string `arg:"" help:"full-id"`
}

// withConversation checks the id and runs fn on it.
func (o *wholeID) withConversation(g *globals, fn func(a *app, id scrollback.ConversationID) error) error {
	id, err := scrollback.ParseConversationID(o.Conversation)
	if err != nil {
		return err
	}
	return g.withExisting(func(a *app) error { return fn(a, id) })
}

type trashCmd struct{ wholeID }

// Run implements the command.
func (c *trashCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app,
		id scrollback.ConversationID) error {
		return g.printConversation(a.Trash(g.ctx, id))
	})
}

type restoreCmd struct{ oneConversation }

// Run implements the command.
func (c *restoreCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app,
		id scrollback.ConversationID) error {
		return g.printConversation(a.Restore(g.ctx, id))
	})
}

type purgeCmd struct{ wholeID }

// Run implements the command.
func (c *purgeCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		p, err := a.Purge(g.ctx, id)
		if err != nil {
			return err
		}
		return g.printResult(p, func(w io.Writer) error {
			t := g.localeTexts()
			messages := func(n int64) string { return t.Count(n, i18n.CountOneMessage, i18n.CountMessages) }
			artifacts := func(n int) string { return t.Count(int64(n), i18n.CountOneArtifact, i18n.CountArtifacts) }
			fmt.Fprintln(w, t.Say(i18n.PurgeRemoved, p.ID, messages(p.Removed), artifacts(p.Artifacts)))
			if p.Kept > 0 {
				fmt.Fprintln(w, t.Say(i18n.PurgeKept, messages(p.Kept)))
			}
			if p.Waiting > 0 {
				fmt.Fprintln(w, t.Say(i18n.PurgeWaiting, artifacts(p.Waiting)))
			}
			return nil
		})
	})
}

// printConversation prints a conversation that a command changed.
func (g *globals) printConversation(c scrollback.Conversation, err error) error {
	if err != nil {
		return err
	}
	return g.printResult(c, func(w io.Writer) error {
		state := ""
		if c.DeletedAt != 0 {
			state = g.localeTexts().Say(i18n.InTheTrash)
		}
		_, err := fmt.Fprintf(w, "%s  %s%s\n", c.ID, columns.StripControls(c.Title), state)
		return err
	})
}
