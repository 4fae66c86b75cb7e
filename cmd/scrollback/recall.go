package main

import (
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
)

type searchCmd struct {
	Query        string `arg:"" help:"words"`
	Conversation string `help:"conversation-only" placeholder:"ID"`
	Project      string `help:"project-only" placeholder:"P"`
	Role         string `help:"messages-role-only" placeholder:"ROLE"`
	Around       int    `help:"neighbouring-messages-show-on-each-side-best" default:"1"`
	Order        string `help:"relevance-or-time" default:"relevance" placeholder:"ORDER"`
}

// Run implements the command.
func (c *searchCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		q := scrollback.SearchQuery{Query: c.Query, Project: c.Project, Role: scrollback.Role(c.Role), Limit: g.listLimit(0),
			Around: c.Around, Order: c.Order, Zone: g.zone}
		if c.Conversation != "" {
			id, err := a.Resolve(g.ctx, c.Conversation)
			if err != nil {
				return err
			}
			q.Conversation = id
		}
		found, err := a.Recall().Search(g.ctx, q)
		if err != nil {
			return err
		}
		return g.printResult(found, func(w io.Writer) error { return terminal.WriteHits(w, localeLanguage(), found, g.zone) })
	})
}

type contextCmd struct {
	Show contextShowCmd `cmd:"" default:"withargs" help:"show-what-next-request-sends-2"`
	List contextListCmd `cmd:"" help:"list-refs-newest-first"`
	Read contextReadCmd `cmd:"" help:"read-what-ref-points-at"`
	Tail contextTailCmd `cmd:"" help:"print-last-lines-what-ref-points-at"`
	Grep contextGrepCmd `cmd:"" help:"find-lines-match-regular-expression"`

	Receipts contextReceiptsCmd `cmd:"" help:"list-compactions-so-far-newest-first"`
}

type contextShowCmd struct{ oneConversation }

// Run implements the command.
func (c *contextShowCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		// What flags ask for is refused as a request with them would be; without any, a model that
		// is not set up here hides nothing.
		asked := g.Model != "" || g.Limit != 0 || g.Effort != ""
		m, err := a.Context(g.ctx, id, engine.ContextRequest{Overrides: g.turnOverrides(), Sending: asked})
		if err != nil {
			return err
		}
		return g.printResult(m, func(w io.Writer) error { return terminal.WriteContext(w, g.localeTexts(), m) })
	})
}

type contextListCmd struct {
	oneConversation
	Kind   string `help:"refs-kind-only" placeholder:"KIND"`
	Max    int    `help:"how-many-list" default:"50"`
	Cursor string `help:"continue-previous-list" placeholder:"CURSOR"`
}

// Run implements the command.
func (c *contextListCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		refs, next, err := a.Recall().Refs(g.ctx, id,
			scrollback.RefQuery{Kind: c.Kind, Cursor: c.Cursor, Limit: g.listLimit(c.Max)})
		if err != nil {
			return err
		}
		page := struct {
			Refs []scrollback.RefEntry `json:"refs"`
			Next *string               `json:"next"`
		}{Refs: refs}
		if next != "" {
			page.Next = &next
		}
		return g.printResult(page, func(w io.Writer) error {
			if err := terminal.WriteRefs(w, localeLanguage(), refs, g.zone); err != nil || next == "" {
				return err
			}
			_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.MoreCursor, next))
			return err
		})
	})
}

type contextReceiptsCmd struct {
	oneConversation
	Max int `help:"how-many-list" default:"50"`
}

// Run implements the command.
func (c *contextReceiptsCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		rs, err := a.Receipts(g.ctx, id, g.listLimit(c.Max))
		if err != nil {
			return err
		}
		return g.printResult(map[string]any{"receipts": rs},
			func(w io.Writer) error { return terminal.WriteReceipts(w, g.localeTexts(), rs, g.zone) })
	})
}

// originalArguments name what is read: a ref, or a conversation and the numbers of its messages.
type originalArguments struct {
	Ref     string `arg:"" help:"ref-or-conversation-before-numbers"`
	Numbers string `arg:"" optional:"" help:"numbers-of-messages"`
}

// resolve returns the ref, or numbers as one, and the conversation through which it is read.
func (o *originalArguments) resolve(g *globals, a *app) (scrollback.ConversationID, scrollback.Ref, error) {
	if o.Numbers == "" {
		ref := scrollback.Ref(o.Ref)
		id, err := a.Recall().Owner(g.ctx, ref)
		return id, ref, err
	}
	id, err := a.Resolve(g.ctx, o.Ref)
	return id, scrollback.Ref(o.Numbers), err
}

type contextReadCmd struct {
	originalArguments
	Offset int64 `help:"start-at-byte"`
	Bytes  int   `help:"print-one-page-size"`
}

// Run implements the command.
func (c *contextReadCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		id, ref, err := c.resolve(g, a)
		if err != nil {
			return err
		}
		if size := g.listLimit(c.Bytes); size != 0 || g.JSON {
			page, err := a.Recall().Read(g.ctx, id, ref, c.Offset, size)
			if err != nil {
				return err
			}
			return g.printResult(page, func(io.Writer) error {
				_, err := io.WriteString(g.safeOutput(), page.Content)
				return err
			})
		}
		out := g.safeOutput()
		for offset := c.Offset; ; {
			page, err := a.Recall().Read(g.ctx, id, ref, offset, scrollback.ReadMax)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(out, page.Content); err != nil || page.Done {
				return err
			}
			offset = page.NextOffset
		}
	})
}

type contextTailCmd struct {
	originalArguments
	Lines int `help:"how-many-lines" default:"200"`
}

// Run implements the command.
func (c *contextTailCmd) Run(g *globals) error {
	return g.withExisting(func(a *app) error {
		id, ref, err := c.resolve(g, a)
		if err != nil {
			return err
		}
		tail, err := a.Recall().Tail(g.ctx, id, ref, g.listLimit(c.Lines))
		if err != nil {
			return err
		}
		return g.printResult(tail, func(io.Writer) error {
			_, err := io.WriteString(g.safeOutput(), tail.Content)
			return err
		})
	})
}

type contextGrepCmd struct {
	oneConversation
	Pattern       string `arg:"" help:"regular-expression"`
	Ref           string `help:"search-behind-ref-only" placeholder:"REF"`
	Max           int    `help:"how-many-matches-print" default:"50"`
	Lines         int    `help:"lines-show-around-match" default:"0"`
	CaseSensitive bool   `help:"match-case"`
}

// Run implements the command.
func (c *contextGrepCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		found, err := a.Recall().Grep(g.ctx, id,
			scrollback.GrepQuery{Ref: scrollback.Ref(c.Ref), Pattern: c.Pattern, MaxResults: g.listLimit(c.Max),
				ContextLines: c.Lines, CaseSensitive: c.CaseSensitive})
		if err != nil {
			return err
		}
		return g.printResult(found, func(w io.Writer) error { return terminal.WriteMatches(w, localeLanguage(), found) })
	})
}
