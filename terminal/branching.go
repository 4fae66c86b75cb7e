package terminal

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/terminal/columns"
	"github.com/scrollback-ai/scrollback/terminal/words"
	"github.com/scrollback-ai/scrollback/title"
)

// listed is how many conversations or messages a command lists to choose from.
const listed = 10

// resume continues another conversation, or lists them.
func (c *chat) resume(ctx context.Context, w io.Writer, name string) error {
	if name == "" {
		items, _, err := c.o.View.List(ctx, scrollback.ListQuery{Limit: listed})
		if err != nil {
			return err
		}
		c.listed = nil
		for _, it := range items {
			c.listed = append(c.listed, it.ID)
		}
		if c.o.Listed != nil {
			c.o.Listed(c.listed)
		}
		l := Listing{Zone: c.o.Zone, Texts: c.o.Texts}
		if c.o.Listing != nil {
			l = c.o.Listing(items)
			if l.Width > 0 {
				l.Width = room(l.Width)
			}
		}
		if err := l.Conversations(w, items, nil); err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatResumeHint))
		return err
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(c.listed) {
		return c.goOn(ctx, w, c.listed[n-1]) // the list has moved since it was shown
	}
	id, err := c.o.View.Resolve(ctx, name)
	if err != nil {
		return err
	}
	return c.goOn(ctx, w, id)
}

// resumed says which conversation goes on, and how long it is.
func resumed(t words.Texts, title string, messages int64) string {
	title = columns.Clip(title, 60)
	if messages == 1 {
		return fmt.Sprintf(t.Say(i18n.ChatResumedOne), title)
	}
	return fmt.Sprintf(t.Say(i18n.ChatResumed), title, columns.Thousands(messages))
}

// goOn makes a conversation the current one.
func (c *chat) goOn(ctx context.Context, w io.Writer, id scrollback.ConversationID) error {
	conv, err := c.o.View.Get(ctx, id)
	if err != nil {
		return err
	}
	c.id = conv.ID
	fmt.Fprintln(w, resumed(c.o.Texts, conv.Title, conv.Messages))
	c.checkModel(ctx)
	return c.tail(ctx, w)
}

// tail shows the last messages of the conversation.
func (c *chat) tail(ctx context.Context, w io.Writer) error {
	page, err := c.o.View.Turns().Page(ctx, c.id, scrollback.PageQuery{Limit: earlier})
	if err != nil {
		return err
	}
	if page.Next != nil {
		fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatEarlier, columns.Thousands(*page.Next-1)))
	}
	for _, m := range page.Messages {
		mark := "  "
		if m.Role == scrollback.RoleUser {
			mark = prompt
		}
		text := strings.TrimSpace(m.Parts.Text())
		if text != "" && (m.Role == scrollback.RoleUser || m.Role == scrollback.RoleAssistant) {
			fmt.Fprintln(w, strings.TrimRight(mark+columns.Clip(text, 280)+" "+c.o.Texts.Unfinished(m.Status), " "))
		}
		for _, e := range page.After(m.Seq) {
			if e.Content != "" {
				fmt.Fprintln(w, "  "+columns.Clip(e.Content, 280))
			}
			fmt.Fprintln(w, "  "+c.o.Texts.Left(e))
		}
	}
	return nil
}

// rewind goes back to a message, or lists what was asked.
func (c *chat) rewind(ctx context.Context, w io.Writer, arg string) error {
	if arg == "" {
		return c.asked(ctx, w)
	}
	seq, err := seqOf(arg)
	if err != nil {
		return err
	}
	conv, err := c.o.View.Branches().Rewind(ctx, c.id, engine.Point{Seq: &seq})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatRewound, columns.Thousands(conv.Messages)))
	return c.tail(ctx, w)
}

// seqOf reads a seq as a person writes it: 12 or #12.
func seqOf(s string) (int64, error) {
	seq, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 10, 64)
	if err != nil || seq < 0 {
		return 0, scrollback.ParamErrorf("terminal.command", "seq", i18n.NotASeq, s)
	}
	return seq, nil
}

// asked lists the person's latest questions by seq.
func (c *chat) asked(ctx context.Context, w io.Writer) error {
	ms, _, err := c.o.View.Recall().Messages(ctx, c.id, scrollback.PageQuery{Limit: 10 * listed})
	if err != nil {
		return err
	}
	var rows [][]string
	before := int64(0)
	for _, m := range ms {
		if m.Role == scrollback.RoleUser {
			rows = append(rows, []string{fmt.Sprintf("/rewind %d", before), fmt.Sprintf("#%d", m.Seq),
				columns.Clip(m.Parts.Text(), 60)})
		}
		before = m.Seq
	}
	if err := columns.Table(w, rows[max(0, len(rows)-listed):], 1); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatRewindHint))
	return err
}

// branches lists the branches, or switches to one by its number in the list.
func (c *chat) branches(ctx context.Context, w io.Writer, arg string) error {
	bs, err := c.o.View.Branches().List(ctx, c.id)
	if err != nil {
		return err
	}
	if arg == "" {
		if err := numberedBranches(w, c.o.Texts, bs, c.o.Zone); err != nil {
			return err
		}
		_, err := fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatBranchHint))
		return err
	}
	to := scrollback.BranchID(arg)
	if n, err := strconv.Atoi(arg); err == nil {
		if n < 1 || n > len(bs) {
			return scrollback.ParamErrorf("terminal.command", "branch", i18n.NoBranchInList, n, len(bs))
		}
		to = bs[n-1].ID
	}
	conv, err := c.o.View.Branches().Rewind(ctx, c.id, engine.Point{Branch: to})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatRewound, columns.Thousands(conv.Messages)))
	return c.tail(ctx, w)
}

// fork continues in a new conversation, from a message or from the end of this one.
func (c *chat) fork(ctx context.Context, w io.Writer, arg string) error {
	var at engine.Point
	if arg != "" {
		seq, err := seqOf(arg)
		if err != nil {
			return err
		}
		at.Seq = &seq
	}
	from, err := c.o.View.Get(ctx, c.id)
	if err != nil {
		return err
	}
	conv, err := c.o.View.Branches().Fork(ctx, c.id, at, title.Copy(c.o.Texts.Say(i18n.ChatCopyOf), from.Title))
	if err != nil {
		return err
	}
	return c.goOn(ctx, w, conv.ID)
}

// retry asks for another answer to the last question; the one there was stays on
// its branch.
func (c *chat) retry(ctx context.Context, _ io.Writer, _ string) error {
	ms, _, err := c.o.View.Recall().Messages(ctx, c.id, scrollback.PageQuery{Limit: scrollback.ListMax})
	if err != nil {
		return err
	}
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role != scrollback.RoleUser {
			continue
		}
		if i < len(ms)-1 {
			if _, err := c.o.View.Branches().Rewind(ctx, c.id, engine.Point{Seq: &ms[i].Seq}); err != nil {
				return err
			}
		}
		return c.turn(ctx, engine.TurnRequest{Conversation: c.id, WebSearch: c.web, Zone: c.o.Zone, Overrides: c.o.Overrides})
	}
	return scrollback.ParamErrorf("terminal.command", "retry", i18n.ChatNothing)
}

// save writes the conversation to a file.
func (c *chat) save(ctx context.Context, w io.Writer, name string) error {
	if err := c.o.Save(ctx, c.id, name); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatSaved, columns.Plain(name)))
	return err
}

// add allows the conversation to work in a folder: the person at the terminal may grant
// it.
func (c *chat) add(ctx context.Context, w io.Writer, folder string) error {
	admin, err := c.o.View.Admin()
	if err != nil {
		return err
	}
	root, err := admin.Grant(folder)
	if err != nil {
		return err
	}
	if c.id == "" {
		c.o.New.Roots = append(c.o.New.Roots, root)
	} else if _, err := c.o.View.Patch(ctx, c.id, 0, func(v *scrollback.Conversation) error {
		v.Roots = append(v.Roots, root)
		return nil
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatAdded, columns.Plain(root)))
	return err
}
