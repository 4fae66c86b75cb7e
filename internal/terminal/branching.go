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
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/title"
)

// listed is how many conversations or messages a command lists to choose from.
const listed = 10

// resumeConversation continues another conversation, or lists them.
func (c *chat) resumeConversation(ctx context.Context, w io.Writer, name string) error {
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
				l.Width = rowWidth(l.Width)
			}
		}
		if err := l.WriteConversations(w, items, nil); err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatResumeHint))
		return err
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(c.listed) {
		return c.switchTo(ctx, w, c.listed[n-1]) // the list has moved since it was shown
	}
	id, err := c.o.View.Resolve(ctx, name)
	if err != nil {
		return err
	}
	return c.switchTo(ctx, w, id)
}

// describeResumed returns which conversation goes on, and how long it is.
func describeResumed(t words.Texts, title string, messages int64) string {
	title = columns.ClipText(title, 60)
	if messages == 1 {
		return fmt.Sprintf(t.Say(i18n.ChatResumedOne), title)
	}
	return fmt.Sprintf(t.Say(i18n.ChatResumed), title, columns.FormatThousands(messages))
}

// switchTo makes a conversation the current one.
func (c *chat) switchTo(ctx context.Context, w io.Writer, id scrollback.ConversationID) error {
	conv, err := c.o.View.Get(ctx, id)
	if err != nil {
		return err
	}
	c.id = conv.ID
	fmt.Fprintln(w, describeResumed(c.o.Texts, conv.Title, conv.Messages))
	c.checkModel(ctx)
	return c.showTail(ctx, w)
}

// showTail shows the last messages of the conversation.
func (c *chat) showTail(ctx context.Context, w io.Writer) error {
	page, err := c.o.View.Turns().Page(ctx, c.id, scrollback.PageQuery{Limit: earlier})
	if err != nil {
		return err
	}
	if page.Next != nil {
		fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatEarlier, columns.FormatThousands(*page.Next-1)))
	}
	for _, m := range page.Messages {
		mark := "  "
		if m.Role == scrollback.RoleUser {
			mark = prompt
		}
		text := strings.TrimSpace(m.Parts.Text())
		if text != "" && (m.Role == scrollback.RoleUser || m.Role == scrollback.RoleAssistant) {
			fmt.Fprintln(w, strings.TrimRight(mark+columns.ClipText(text, 280)+" "+c.o.Texts.Unfinished(m.Status), " "))
		}
		for _, e := range page.TurnsAfter(m.Seq) {
			if e.Content != "" {
				fmt.Fprintln(w, "  "+columns.ClipText(e.Content, 280))
			}
			fmt.Fprintln(w, "  "+c.o.Texts.Left(e))
		}
	}
	return nil
}

// rewindTo goes back to a message, or lists what was asked.
func (c *chat) rewindTo(ctx context.Context, w io.Writer, arg string) error {
	if arg == "" {
		return c.listQuestions(ctx, w)
	}
	seq, err := parseSeq(arg)
	if err != nil {
		return err
	}
	conv, err := c.o.View.Branches().Rewind(ctx, c.id, engine.Point{Seq: &seq})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatRewound, columns.FormatThousands(conv.Messages)))
	return c.showTail(ctx, w)
}

// parseSeq reads a seq as a person writes it: 12 or #12.
func parseSeq(s string) (int64, error) {
	seq, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 10, 64)
	if err != nil || seq < 0 {
		return 0, scrollback.ParamErrorf("terminal.command", "seq", i18n.NotASeq, s)
	}
	return seq, nil
}

// listQuestions lists the person's latest questions by seq.
func (c *chat) listQuestions(ctx context.Context, w io.Writer) error {
	ms, _, err := c.o.View.Recall().Messages(ctx, c.id, scrollback.PageQuery{Limit: 10 * listed})
	if err != nil {
		return err
	}
	var rows [][]string
	before := int64(0)
	for _, m := range ms {
		if m.Role == scrollback.RoleUser {
			rows = append(rows, []string{fmt.Sprintf("/rewind %d", before), fmt.Sprintf("#%d", m.Seq),
				columns.ClipText(m.Parts.Text(), 60)})
		}
		before = m.Seq
	}
	if err := columns.WriteTable(w, rows[max(0, len(rows)-listed):], 1); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatRewindHint))
	return err
}

// listBranches lists the branches, or switches to one by its number in the list.
func (c *chat) listBranches(ctx context.Context, w io.Writer, arg string) error {
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
	fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatRewound, columns.FormatThousands(conv.Messages)))
	return c.showTail(ctx, w)
}

// forkConversation continues in a new conversation, from a message or from the end of this one.
func (c *chat) forkConversation(ctx context.Context, w io.Writer, arg string) error {
	var at engine.Point
	if arg != "" {
		seq, err := parseSeq(arg)
		if err != nil {
			return err
		}
		at.Seq = &seq
	}
	from, err := c.o.View.Get(ctx, c.id)
	if err != nil {
		return err
	}
	conv, err := c.o.View.Branches().Fork(ctx, c.id, at, title.CopyTitle(c.o.Texts.Say(i18n.ChatCopyOf), from.Title))
	if err != nil {
		return err
	}
	return c.switchTo(ctx, w, conv.ID)
}

// retryAnswer asks for another answer to the last question; the one there was stays on
// its branch.
func (c *chat) retryAnswer(ctx context.Context, _ io.Writer, _ string) error {
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
		return c.runTurn(ctx, engine.TurnRequest{Conversation: c.id, WebSearch: c.web, Zone: c.o.Zone,
			Overrides: c.o.Overrides})
	}
	return scrollback.ParamErrorf("terminal.command", "retry", i18n.ChatNothing)
}

// saveFile writes the conversation to a file.
func (c *chat) saveFile(ctx context.Context, w io.Writer, name string) error {
	if err := c.o.Save(ctx, c.id, name); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatSaved, columns.StripControls(name)))
	return err
}

// handOver lets another agent go on with the conversation.
func (c *chat) handOver(ctx context.Context, w io.Writer, agent string) error {
	told, err := c.o.HandOver(ctx, c.id, agent)
	if err == nil {
		_, err = io.WriteString(w, told)
	}
	return err
}

// addFolder allows the conversation to work in a folder: the person at the terminal may grant
// it.
func (c *chat) addFolder(ctx context.Context, w io.Writer, folder string) error {
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
	_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatAdded, columns.StripControls(root)))
	return err
}
