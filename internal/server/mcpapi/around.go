package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// beside is how many messages on each side are opened with one.
const beside = 3

// conversationOn returns a conversation as it stands on a branch; with none that is the current one.
func (a requestSender) conversationOn(ctx context.Context, id scrollback.ConversationID,
	branch scrollback.BranchID) (scrollback.Conversation, error) {
	c, err := a.Conversation(ctx, id)
	if err != nil || branch == "" || branch == c.Branch {
		return c, err
	}
	all, err := a.view.Branches().List(ctx, id)
	if err != nil {
		return c, err
	}
	i := slices.IndexFunc(all, func(b scrollback.BranchEntry) bool {
		return b.ID == branch || slices.Contains(b.Joined, branch)
	})
	if i < 0 {
		return c, scrollback.Errorf(scrollback.NotFound, "mcpapi.call", i18n.ConversationHasNoBranch, branch)
	}
	c.Branch = all[i].ID
	c.Messages = all[i].HeadSeq
	return c, nil
}

func newNoMessageError(c scrollback.Conversation) error {
	return scrollback.Errorf(scrollback.NotFound, "mcpapi.call", i18n.ConversationHasOnlyMessages, c.Messages)
}

// runAround opens the original around a message, compacted or not, also on a branch that was
// left. What of a long text does not fit is read with context_messages.
func (f *mcpFace) runAround(ctx context.Context, a requestSender, id scrollback.ConversationID,
	raw json.RawMessage) (string, error) {
	type args struct {
		Seq    int64
		Branch scrollback.BranchID
	}
	q, err := recall.DecodeArguments[args](raw)
	if err == nil && q.Seq < 1 {
		err = scrollback.ParamErrorf("mcpapi.call", "ref", i18n.GiveRefOrSeq)
	}
	if err != nil {
		return "", err
	}
	c, err := a.conversationOn(ctx, id, q.Branch)
	if err != nil {
		return "", err
	}
	if q.Seq > c.Messages {
		return "", newNoMessageError(c)
	}
	from := max(0, q.Seq-1-beside)
	page, err := a.view.Turns().Page(ctx, id,
		scrollback.PageQuery{Branch: c.Branch, After: &from, Limit: int(q.Seq - from + beside)})
	if err != nil {
		return "", err
	}
	type opened struct {
		Conversation scrollback.ConversationID `json:"conversation_id"`
		Seq          int64                     `json:"seq"`
		Content      string                    `json:"content"`
	}
	return recall.FitRoom(recall.RoomMax, func(try int) (any, bool) {
		runes := max(1, 4*textRunes>>try)
		var text strings.Builder
		for _, m := range page.Messages {
			s := newSpoken(m)
			room := runes
			if m.Seq != q.Seq { // the message itself counts for more
				room = max(1, runes/4)
			}
			s.cutText(0, room)
			fmt.Fprintf(&text, "#%d %s %s\n%s\n", s.Seq, s.Role, s.Date, s.Text)
			if s.NextOffset > 0 {
				fmt.Fprintf(&text, "[goes on: context_messages, seq %d, offset %d]\n", s.Seq, s.NextOffset)
			}
			text.WriteByte('\n')
		}
		return opened{id, q.Seq, strings.TrimSpace(text.String())}, runes > 1
	})
}
