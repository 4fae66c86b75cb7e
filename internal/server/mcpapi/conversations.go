package mcpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// Bounds of the tools that only this face has.
const (
	pageDefault = 20
	pageMax     = 100
	titleRunes  = 200  // of a title in a list
	textRunes   = 4000 // of one message among others
	leastRunes  = 250  // fewer messages are returned rather than have shorter texts
)

// foundConversation is a conversation in a list. Times are in UTC.
type foundConversation struct {
	ID       scrollback.ConversationID `json:"id"`
	Title    string                    `json:"title"`
	Project  string                    `json:"project"`
	Messages int64                     `json:"messages"`
	Created  string                    `json:"created"`
	Updated  string                    `json:"updated"`

	Tool      string `json:"tool,omitempty"` // that it was imported from
	Folder    string `json:"folder,omitempty"`
	GitBranch string `json:"git_branch,omitempty"`
}

// listConversations lists conversations: those of the asker's folder first, unless they are
// looked for, or those of a folder that is named alone.
func (f *mcpFace) listConversations(ctx context.Context, by requestSender, raw json.RawMessage) (string, error) {
	type args struct {
		Query, Project, Folder, Cursor string
		Limit                          int
	}
	a, err := recall.DecodeArguments[args](orEmpty(raw))
	sees := by
	if err == nil {
		err = checkLimit(a.Limit)
	}
	if err == nil && a.Folder != "" {
		by, err = by.atFolder(a.Folder)
		by.only = true
	}
	if err != nil {
		return "", err
	}
	type page struct {
		Conversations []foundConversation `json:"conversations"`
		Next          string              `json:"next,omitempty"`
		Note          string              `json:"note,omitempty"`
	}
	text, fits := recall.FitRoom(recall.RoomMax, func(try int) (any, bool) {
		limit := max(1, cmp.Or(a.Limit, pageDefault)>>try)
		list, next, failed := by.listMatching(ctx,
			scrollback.ListQuery{Title: strings.TrimSpace(a.Query), Project: a.Project, Cursor: a.Cursor, Limit: limit})
		if err = failed; err != nil {
			return nil, false
		}
		p := page{Conversations: []foundConversation{}, Next: next}
		if p.Conversations, err = by.describeList(ctx, list); err != nil {
			return nil, false
		}
		if len(list) == 0 {
			p.Note = f.describeNothing(ctx, sees)
		}
		return p, limit > 1
	})
	return text, cmp.Or(err, fits)
}

// describeList returns conversations as a list tells of them.
func (a requestSender) describeList(ctx context.Context, list []scrollback.Conversation) ([]foundConversation, error) {
	out := []foundConversation{}
	ids := []scrollback.ConversationID{}
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	from, err := a.Origins(ctx, ids)
	for _, c := range list {
		o := from[c.ID]
		if o.Folder == "" && len(c.Roots) > 0 {
			o.Folder = c.Roots[0]
		}
		out = append(out, foundConversation{c.ID, clip.ClipLine(c.Title, titleRunes), c.Project, c.Messages,
			formatMinute(c.CreatedAt),
			formatMinute(c.UpdatedAt),
			o.Tool, o.Folder, o.GitBranch})
	}
	return out, err
}

// listMatching lists by title, and first the conversation whose id begins as the query does.
func (a requestSender) listMatching(ctx context.Context,
	q scrollback.ListQuery) ([]scrollback.Conversation, string, error) {
	list, next, err := a.listPage(ctx, q)
	if err != nil || q.Title == "" || q.Cursor != "" || strings.Trim(strings.ToLower(q.Title), "0123456789abcdef-") != "" {
		return list, next, err
	}
	id, err := a.resolveConversation(ctx, q.Title)
	if err != nil || !strings.HasPrefix(string(id), strings.ToLower(q.Title)) {
		return list, next, nil // then it is a title
	}
	c, err := a.Conversation(ctx, id)
	if err != nil || q.Project != "" && c.Project != q.Project {
		return list, next, nil
	}
	list = slices.DeleteFunc(list, func(o scrollback.Conversation) bool { return o.ID == c.ID })
	return slices.Insert(list, 0, c), next, nil
}

// spokenMessage is a message as it was said. Text beyond NextOffset, in characters, did not fit.
type spokenMessage struct {
	Seq        int64             `json:"seq"`
	Role       scrollback.Role   `json:"role"`
	Name       string            `json:"name,omitempty"`
	Date       string            `json:"date"`
	Status     scrollback.Status `json:"status,omitempty"` // unless complete
	Text       string            `json:"text"`
	NextOffset int               `json:"next_offset,omitempty"`
}

// messagePage is a page of a conversation. Before and After lead to the pages beside it.
type messagePage struct {
	Conversation scrollback.ConversationID `json:"conversation_id"`
	Title        string                    `json:"title"`
	Total        int64                     `json:"total"`
	Messages     []spokenMessage           `json:"messages"`
	Turns        []unstoredTurn            `json:"turns,omitempty"`
	Before       int64                     `json:"before,omitempty"`
	After        int64                     `json:"after,omitempty"`
}

// unstoredTurn is a turn without a stored answer, behind message AfterSeq: one that runs, was
// cut off or failed. Text is what it said so far.
type unstoredTurn struct {
	AfterSeq int64                `json:"after_seq"`
	State    scrollback.TurnState `json:"state"`
	Text     string               `json:"text,omitempty"`
	Error    string               `json:"error,omitempty"`
}

// messagesArguments are the arguments of context_messages.
type messagesArguments struct {
	Before, Seq int64
	After       *int64
	Offset      int
	Limit       int
	Branch      scrollback.BranchID
}

func (a messagesArguments) checkArguments() error {
	switch {
	case a.Before < 0 || a.Before == 1 || a.Seq < 0 || a.Offset < 0 || a.After != nil && *a.After < 0:
		return scrollback.ParamErrorf("mcpapi.call", "seq", i18n.SeqCountsFromOne)
	case a.Seq > 0 && (a.Before > 0 || a.After != nil), a.Before > 0 && a.After != nil:
		return scrollback.ParamErrorf("mcpapi.call", "seq", i18n.GiveOneOfSeqBeforeAfter)
	case a.Offset > 0 && a.Seq == 0:
		return scrollback.ParamErrorf("mcpapi.call", "offset", i18n.OffsetNeedsSeq)
	}
	return checkLimit(a.Limit)
}

// readMessages reads a page of a conversation.
func (f *mcpFace) readMessages(ctx context.Context, by requestSender, id scrollback.ConversationID,
	raw json.RawMessage) (string, error) {
	a, err := recall.DecodeArguments[messagesArguments](raw)
	if err == nil {
		err = a.checkArguments()
	}
	if err != nil {
		return "", err
	}
	c, err := by.conversationOn(ctx, id, a.Branch)
	if err != nil {
		return "", err
	}
	q := scrollback.PageQuery{Branch: a.Branch, Before: a.Before, After: a.After, Limit: cmp.Or(a.Limit, pageDefault)}
	if a.Seq > 0 {
		if a.Seq > c.Messages {
			return "", newNoMessageError(c)
		}
		q.After = new(a.Seq - 1)
		q.Limit = 1
	}
	found, err := by.view.Turns().Page(ctx, id, q)
	if err != nil {
		return "", err
	}
	all := make([]spokenMessage, len(found.Messages))
	for i, m := range found.Messages {
		all[i] = newSpoken(m)
	}
	return recall.FitRoom(recall.RoomMax, func(try int) (any, bool) {
		page := messagePage{Conversation: id, Title: clip.ClipLine(c.Title, titleRunes), Total: c.Messages}
		runes, most := shareRoom(a, len(all), try)
		page.Messages = slices.Clone(all[len(all)-most:])
		if a.After != nil {
			page.Messages = slices.Clone(all[:most])
		}
		for i := range page.Messages {
			page.Messages[i].cutText(a.Offset, runes)
		}
		page.Turns = listUnanswered(found.Turns, page.Messages, runes)
		if n := len(page.Messages); n > 0 && a.Seq == 0 {
			if first := page.Messages[0].Seq; first > 1 {
				page.Before = first
			}
			if last := page.Messages[n-1].Seq; last < c.Messages {
				page.After = last
			}
		}
		return page, runes > 1
	})
}

// listUnanswered lists the turns that belong to the messages of a page, each text with at
// most that number of characters.
func listUnanswered(turns []scrollback.TurnEntry, page []spokenMessage, runes int) (out []unstoredTurn) {
	for _, t := range turns {
		if len(page) == 0 || t.AfterSeq < page[0].Seq || t.AfterSeq > page[len(page)-1].Seq {
			continue
		}
		u := unstoredTurn{AfterSeq: t.AfterSeq, State: t.State, Text: clip.ClipLine(t.Content, runes)}
		if t.Error != nil {
			u.Error = clip.ClipLine(t.Error.Message, titleRunes)
		}
		out = append(out, u)
	}
	return out
}

// shareRoom returns how long a text may be, and how many of n messages a page has, at a try to
// make it fit: first the texts become shorter, then there are fewer.
func shareRoom(a messagesArguments, n, try int) (runes, most int) {
	if a.Seq > 0 || n == 0 {
		return max(1, recall.RoomMax.Bytes>>try), n
	}
	for runes = textRunes; try > 0 && runes > leastRunes; try-- {
		runes /= 2
	}
	if most = n - try*max(1, n/8); most > 0 {
		return runes, most
	}
	return max(1, leastRunes>>(1-most)), 1
}

// cutText leaves the part of a text from an offset on, of at most runes characters.
func (s *spokenMessage) cutText(offset, runes int) {
	all := []rune(s.Text)
	from := min(offset, len(all))
	to := min(from+runes, len(all))
	s.Text = string(all[from:to])
	if to < len(all) {
		s.NextOffset = to
	}
}

// newSpoken returns a message with all of its text: what was said, calls of tools and their results,
// files by their refs. Reasoning was not said to anyone.
func newSpoken(m scrollback.Message) spokenMessage {
	out := spokenMessage{Seq: m.Seq, Role: m.Role, Name: m.Name, Date: formatMinute(m.CreatedAt)}
	if m.Status != scrollback.StatusComplete {
		out.Status = m.Status
	}
	var lines []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			lines = append(lines, p.Text)
		case scrollback.ToolCall:
			lines = append(lines, fmt.Sprintf("[calls %s %s]", p.Name, plainjson.Unescape(p.Arguments)))
		case scrollback.ToolResult:
			line := fmt.Sprintf("[result of %s] %s", p.Name, p.Text)
			if p.IsError {
				line = fmt.Sprintf("[error of %s] %s", p.Name, p.Text)
			}
			if p.Artifact != "" {
				line += fmt.Sprintf(" [whole: %s]", scrollback.ArtifactRef(p.Artifact))
			}
			lines = append(lines, line)
		case scrollback.Image:
			lines = append(lines, fmt.Sprintf("[image %s: %s]", cmp.Or(p.Name, p.MediaType), p.Location()))
		case scrollback.File:
			lines = append(lines, fmt.Sprintf("[file %s: %s]", cmp.Or(p.Name, p.MediaType), scrollback.ArtifactRef(p.Artifact)))
		case scrollback.Reasoning:
		}
	}
	out.Text = strings.Join(lines, "\n")
	return out
}

func checkLimit(limit int) error {
	if limit < 0 || limit > pageMax {
		return scrollback.ParamErrorf("mcpapi.call", "limit", i18n.LimitOutOfRange, pageMax)
	}
	return nil
}

// orEmpty returns arguments, of which a client may send none.
func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(strings.TrimSpace(string(raw))) == 0 {
		return json.RawMessage(`{}`)
	}
	return raw
}

// formatMinute returns a time in UTC.
func formatMinute(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04Z") }
