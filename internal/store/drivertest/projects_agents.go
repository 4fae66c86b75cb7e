package drivertest

import (
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// testAgents: sub-agents are in the lists of those they work for, in the trash and in no
// other list; who they work for stays as it is.
func testAgents(w *projectsHarness) {
	mk := func(of scrollback.ConversationID, project string, deleted int64) scrollback.Conversation {
		return w.addConversation(func(c *scrollback.Conversation) {
			c.Project = project
			c.DeletedAt = deleted
			c.UpdatedAt = w.advanceClock()
			if of != "" {
				c.AgentOf = &scrollback.AgentRef{ID: of, TurnID: "t", CallID: "c"}
			}
		})
	}
	a := mk("", "one", 0)
	b := mk("", "two", 0)
	a1 := mk(a.ID, "one", 0)
	b1 := mk(b.ID, "two", 0)
	a2 := mk(a.ID, "one", 0)
	deep := mk(a1.ID, "one", 0)
	gone := mk(a.ID, "one", 5)
	of := func(cs ...scrollback.Conversation) []scrollback.ConversationID {
		out := []scrollback.ConversationID{}
		for _, c := range cs {
			out = append(out, c.ID)
		}
		return out
	}
	for name, rule := range map[string]struct {
		q    driver.ListQuery
		want []scrollback.Conversation
	}{
		"neither":          {driver.ListQuery{}, []scrollback.Conversation{b, a}},
		"nor in a project": {driver.ListQuery{Projects: []string{"one"}}, []scrollback.Conversation{a}},
		"trash":            {driver.ListQuery{Trash: true}, []scrollback.Conversation{gone}},
		"of one":           {driver.ListQuery{AgentOf: of(a)}, []scrollback.Conversation{a2, a1}},
		"of one, in trash": {driver.ListQuery{AgentOf: of(a), Trash: true}, []scrollback.Conversation{gone}},
		"of both":          {driver.ListQuery{AgentOf: of(b, a, b)}, []scrollback.Conversation{a2, b1, a1}},
		"of both, for some": {driver.ListQuery{AgentOf: of(a, b), Projects: []string{"two", "no"}},
			[]scrollback.Conversation{b1}},
		"of a sub-agent": {driver.ListQuery{AgentOf: of(a1)}, []scrollback.Conversation{deep}},
		"of none":        {driver.ListQuery{AgentOf: of()}, nil},
		"of nobody":      {driver.ListQuery{AgentOf: []scrollback.ConversationID{"x", ""}}, nil},
		"for nobody":     {driver.ListQuery{AgentOf: of(a), Projects: []string{}}, nil},
	} {
		for limit := 1; limit <= 3; limit++ {
			rule.q.Limit = limit
			rule.q.Before = nil
			var got []scrollback.Conversation
			for len(got) <= len(rule.want) {
				page, err := w.Log.ListConversations(w.ctx, rule.q)
				w.wantOK(err)
				if got = append(got, page...); len(page) < limit {
					break
				}
				rule.q.Before = &driver.ListKey{At: page[limit-1].UpdatedAt, ID: string(page[limit-1].ID)}
			}
			w.wantSame(fmt.Sprint(name, ", pages of ", limit), rule.want, got)
		}
	}
	projects, err := w.Access.ListProjects(w.ctx)
	w.wantOK(err)
	wantSame(
		w.t,
		"projects",
		[]scrollback.Project{{Name: "one", Conversations: 1}, {Name: "two", Conversations: 1}},
		projects,
	)
	got, err := w.Log.PatchConversation(w.ctx, a1.ID, w.advanceClock(),
		func(c *scrollback.Conversation) error { c.AgentOf.ID = "z"; return nil })
	w.wantOK(err)
	w.wantSame("patched", a1.AgentOf, got.AgentOf)
	_, err = w.Log.AppendEntries(w.ctx, driver.Append{Conversation: a1.ID, Now: w.advanceClock(), IfHead: -1})
	w.wantOK(err)
	w.wantSame("after a write", a1.AgentOf, w.readHead(a1.ID).AgentOf)
}
