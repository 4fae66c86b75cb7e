package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// The first word of a cursor says which part of a list it is in: what was worked on where the
// asker works, or everything else.
const (
	cursorHere = "here "
	cursorElse = "else "
)

// resolveConversation returns the conversation that a client names. What the asker does not see does not exist.
func (a requestSender) resolveConversation(ctx context.Context, name string) (scrollback.ConversationID, error) {
	if name == "latest" && a.isBounded() {
		list, _, err := a.listPage(ctx, scrollback.ListQuery{Limit: 1})
		if err == nil && len(list) == 0 {
			err = scrollback.Errorf(scrollback.NotFound, "mcpapi", i18n.NoConversationYet)
		}
		if err != nil {
			return "", err
		}
		return list[0].ID, nil
	}
	id, err := a.view.Resolve(ctx, name)
	if err != nil && a.isBounded() && scrollback.CodeOf(err) == scrollback.Invalid { // it would name others
		return "", scrollback.ParamErrorf("mcpapi", "conversation", i18n.NameConversationByWholeID)
	}
	if err == nil && a.isBounded() {
		_, err = a.Conversation(ctx, id)
	}
	return id, err
}

// listPage lists conversations that the asker sees: first those that were worked on where it
// works, the one in which something was said last before all others, then the rest as they
// changed.
func (a requestSender) listPage(ctx context.Context,
	q scrollback.ListQuery) ([]scrollback.Conversation, string, error) {
	if len(a.ground.Folders) == 0 {
		if a.isBounded() {
			return nil, "", nil
		}
		return a.view.List(ctx, q)
	}
	here, err := a.LocalConversations(ctx)
	if err != nil {
		return nil, "", err
	}
	var out []scrollback.Conversation
	rest, elsewhere := strings.CutPrefix(q.Cursor, cursorElse)
	if !elsewhere {
		var next string
		if out, next, err = a.listLocal(ctx, here, q); err != nil || next != "" || a.only ||
			a.ground.Scope == recall.ScopeFolder {
			return out, next, err
		}
		if rest = ""; len(out) == q.Limit {
			return out, cursorElse, nil
		}
	}
	more, next, err := a.listOthers(ctx, here, q, rest, len(out))
	return append(out, more...), next, err
}

// listLocal returns a page of the conversations that were worked on where the asker works. They changed
// when something was last said in them.
func (a requestSender) listLocal(ctx context.Context, all []recall.LocalConversation,
	q scrollback.ListQuery) (out []scrollback.Conversation, next string, err error) {
	if q.Cursor != "" {
		after, err := hereAfter(q.Cursor)
		if err != nil {
			return nil, "", err
		}
		i := slices.IndexFunc(all, func(h recall.LocalConversation) bool {
			return cmp.Or(cmp.Compare(after.At, h.At), cmp.Compare(after.ID, h.ID)) > 0
		})
		if i < 0 {
			return nil, "", nil
		}
		all = all[i:]
	}
	for i, h := range all {
		c, err := a.Conversation(ctx, h.ID)
		switch {
		case scrollback.CodeOf(err) == scrollback.NotFound: // gone meanwhile
			continue
		case err != nil:
			return nil, "", err
		case q.Project != "" && c.Project != q.Project ||
			!strings.Contains(strings.ToLower(c.Title), strings.ToLower(q.Title)):
			continue
		}
		c.UpdatedAt = cmp.Or(h.At, c.UpdatedAt)
		if out = append(out, c); len(out) == q.Limit && i+1 < len(all) {
			return out, fmt.Sprintf("%s%d %s", cursorHere, h.At, h.ID), nil
		}
	}
	return out, "", nil
}

// hereAfter reads a cursor of the first part of a list.
func hereAfter(cursor string) (after recall.LocalConversation, err error) {
	rest, ok := strings.CutPrefix(cursor, cursorHere)
	at, id, two := strings.Cut(rest, " ")
	after.ID = scrollback.ConversationID(id)
	if after.At, err = strconv.ParseInt(at, 10, 64); !ok || !two || err != nil {
		return after, scrollback.ParamErrorf("mcpapi", "cursor", i18n.NotACursorOfOurs)
	}
	return after, nil
}

// listOthers fill a page, of which there are some conversations already, with those that were
// worked on elsewhere.
func (a requestSender) listOthers(ctx context.Context, here []recall.LocalConversation, q scrollback.ListQuery,
	cursor string,
	have int) ([]scrollback.Conversation, string, error) {
	first := map[scrollback.ConversationID]bool{}
	for _, h := range here {
		first[h.ID] = true
	}
	var err error
	if q.Projects, err = a.SeenProjects(q.Project); err != nil {
		return nil, "", err
	}
	var out []scrollback.Conversation
	q.Cursor = cursor
	for room := q.Limit - have; ; {
		q.Limit = room - len(out)
		list, next, err := a.view.List(ctx, q)
		if err != nil {
			return nil, "", err
		}
		out = append(out, slices.DeleteFunc(list, func(c scrollback.Conversation) bool { return first[c.ID] })...)
		switch q.Cursor = next; {
		case next == "":
			return out, "", nil
		case len(out) == room:
			return out, cursorElse + next, nil
		}
	}
}
