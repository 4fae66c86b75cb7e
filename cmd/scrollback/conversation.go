package main

import (
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

type listCmd struct {
	Project string `help:"only-project" placeholder:"P"`
	Trash   bool   `help:"list-those-trash"`
	Max     int    `help:"how-many-list" default:"50"`
	Cursor  string `help:"continue-previous-list" placeholder:"CURSOR"`
}

// Run implements the command.
func (c *listCmd) Run(g *globals) error {
	return g.kept(func(a *app) error {
		items, next, err := a.List(g.ctx, scrollback.ListQuery{Project: c.Project, Trash: c.Trash, Cursor: c.Cursor,
			Limit: g.count(c.Max)})
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
		return g.print(listed{items, cursor, agents}, func(w io.Writer) error {
			if len(items) == 0 {
				hint := g.texts().Say(i18n.ChatNoneHere)
				if c.Project == "" && !c.Trash && c.Cursor == "" {
					hint = g.texts().Say(i18n.ChatNoTalks, `scrollback run "Hello"`)
				}
				_, err := fmt.Fprintln(w, hint)
				return err
			}
			ids := make([]scrollback.ConversationID, len(items))
			for i, it := range items {
				ids[i] = it.ID
			}
			a.lists.Keep(ids)
			if err := a.listing(g, items, agents).Conversations(w, items, agents); err != nil || next == "" {
				return err
			}
			_, err := fmt.Fprintln(w, g.texts().Say(i18n.MoreCursor, next))
			return err
		})
	})
}

// listed is a page of the list as JSON, with the sub-agents below it.
type listed struct {
	Conversations []scrollback.Conversation `json:"conversations"`
	Next          *string                   `json:"next"`
	Agents        []scrollback.Conversation `json:"agents,omitempty"`
}

// one is a command about one conversation.
type one struct {
	Conversation string `arg:"" help:"id-unique-prefix-latest-or-number-list"`
}

// with resolves the conversation and runs fn on it.
func (o *one) with(g *globals, fn func(a *app, id scrollback.ConversationID) error) error {
	return g.kept(func(a *app) error {
		id, err := a.Resolve(g.ctx, o.Conversation)
		if err != nil {
			return err
		}
		return fn(a, id)
	})
}

type showCmd struct {
	one
	After  *int64 `help:"messages-after-seq" placeholder:"SEQ"`
	Before int64  `help:"messages-before-seq" placeholder:"SEQ"`
	Max    int    `help:"how-many-print" default:"50"`
	Branch string `help:"branch" placeholder:"ID"`
	All    bool   `help:"print-everything"`
	Raw    bool   `help:"print-answers-as-they-were-written-terminal"`
}

// Run implements the command.
func (c *showCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		if c.All {
			return c.everything(g, a, id)
		}
		page, err := a.Turns().Page(g.ctx, id,
			scrollback.PageQuery{Branch: scrollback.BranchID(c.Branch), After: c.After, Before: c.Before, Limit: g.count(c.Max)})
		if err != nil {
			return err
		}
		return g.print(page, func(w io.Writer) error {
			if err := c.pages(g, id).Page(w, page); err != nil || page.Next == nil {
				return err
			}
			direction := "before"
			if c.After != nil {
				direction = "after"
			}
			_, err := fmt.Fprintln(w, g.texts().Say(i18n.MorePage, direction, *page.Next))
			return err
		})
	})
}

// pages are how messages are printed.
func (c *showCmd) pages(g *globals, id scrollback.ConversationID) terminal.Pages {
	p := terminal.Pages{Texts: g.texts(), Again: again(id), Ways: ways(id), Whole: c.All, Zone: g.zone}
	if isTerminal(g.stdout) && !c.Raw {
		p.Look = answerLook(g.stdout)
	}
	return p
}

// everything prints the whole conversation, a page at a time.
func (c *showCmd) everything(g *globals, a *app, id scrollback.ConversationID) error {
	if c.After != nil || c.Before != 0 {
		return scrollback.ParamErrorf("scrollback.show", "all",
			i18n.AllPrintsEverything)
	}
	whole := scrollback.MessagePage{}
	pages := c.pages(g, id)
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
			if err := pages.Page(g.stdout, page); err != nil {
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
	return g.print(whole, nil)
}

type renameCmd struct {
	one
	Title string `arg:"" help:"new-title"`
}

// Run implements the command.
func (c *renameCmd) Run(g *globals) error {
	if strings.TrimSpace(c.Title) == "" {
		return scrollback.ParamErrorf("scrollback.rename", "title", i18n.NewTitleIsEmpty)
	}
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		return g.changed(a.Patch(g.ctx, id, 0,
			func(conv *scrollback.Conversation) error { conv.Title = c.Title; return nil }))
	})
}

// whole is a command that takes a whole id: a conversation is never removed by a
// prefix of its id.
type whole struct {
	Conversation string `arg:"" help:"full-id"`
}

// with checks the id and runs fn on it.
func (o *whole) with(g *globals, fn func(a *app, id scrollback.ConversationID) error) error {
	id, err := scrollback.ParseConversationID(o.Conversation)
	if err != nil {
		return err
	}
	return g.kept(func(a *app) error { return fn(a, id) })
}

type trashCmd struct{ whole }

// Run implements the command.
func (c *trashCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error { return g.changed(a.Trash(g.ctx, id)) })
}

type restoreCmd struct{ one }

// Run implements the command.
func (c *restoreCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error { return g.changed(a.Restore(g.ctx, id)) })
}

type purgeCmd struct{ whole }

// Run implements the command.
func (c *purgeCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		p, err := a.Purge(g.ctx, id)
		if err != nil {
			return err
		}
		return g.print(p, func(w io.Writer) error {
			t := g.texts()
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

// changed prints a conversation that a command changed.
func (g *globals) changed(c scrollback.Conversation, err error) error {
	if err != nil {
		return err
	}
	return g.print(c, func(w io.Writer) error {
		state := ""
		if c.DeletedAt != 0 {
			state = g.texts().Say(i18n.InTheTrash)
		}
		_, err := fmt.Fprintf(w, "%s  %s%s\n", c.ID, columns.Plain(c.Title), state)
		return err
	})
}
