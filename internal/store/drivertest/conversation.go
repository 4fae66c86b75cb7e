package drivertest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// fullConversation returns a conversation with every field set.
func fullConversation(w *harness) (scrollback.Conversation, scrollback.Branch) {
	c, b := newConversation(w)
	c.Project = "a project"
	c.Title = "A <title> & 标题"
	c.Model = "maker/name"
	c.Instructions = "Be \"brief\".\n"
	c.Policy = "rolling"
	c.Limit = 32000
	c.Roots = []string{"/a b", "/ü"}
	c.PinnedSeqs = []int64{2, 3}
	c.Settings = scrollback.Settings{Pinned: true, Compaction: map[string]float64{"keep_share": 0.25},
		Tools: []scrollback.Tool{
			{Name: "look", Description: "looks", Parameters: json.RawMessage(`{"type":"object"}`)},
		}}
	c.Version = 4
	c.Messages = 5
	c.UpdatedAt = w.advanceClock()
	c.TitleBy = scrollback.TitlePrompt
	parent := forkPoint(w)
	c.Parent = &scrollback.ParentRef{ID: parent.ConversationID, Branch: parent.Branch, Seq: 5}
	c.Ancestors = []scrollback.ConversationID{parent.ConversationID, "older"}
	c.AgentOf = &scrollback.AgentRef{ID: "boss", TurnID: "a turn", CallID: "call_1"}
	c.Meta = json.RawMessage(`{"k":["v",1]}`)
	c.Environment = &scrollback.Environment{Text: "<here>",
		First: scrollback.EnvironmentState{Date: "2026-11-21", Roots: []string{"/a"}},
		Told: scrollback.EnvironmentState{Date: "2026-11-22",
			Memory: []scrollback.MemoryFile{{Path: "/a/b", SHA256: "ab", Bytes: 3}}}}
	b.Parent = parent.Branch
	b.AtSeq = 5
	b.HeadSeq = 5
	b.Sum = parent.Sum
	b.View = scrollback.View{
		Boundary: 3, Sum: scrollback.Weight{Tokens: 60, Bytes: 500, Images: 1}, RetryAt: 77,
		Segments: []scrollback.ViewItem{{ID: "s1", FirstSeq: 1, LastSeq: 2, Level: 1}, {ID: "s2", FirstSeq: 3, LastSeq: 3}},
	}
	return c, b
}

// testCreate: what goes in comes out, of the call and of every reader.
func testCreate(w *harness) {
	forkPoint(w)
	c, b := fullConversation(w)
	got, created, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	if !created {
		w.t.Fatal("not created")
	}
	wantSame(w.t, "created", c, got)
	wantSame(w.t, "head", driver.Head{Conversation: c, Branch: b}, w.readHead(c.ID))
	branch, err := w.Log.FindBranch(w.ctx, b.ID)
	w.wantOK(err)
	wantSame(w.t, "branch", b, branch)
}

// testCreateKnown: a known id returns what is stored, also from the trash.
func testCreateKnown(w *harness) {
	forkPoint(w)
	c, b := fullConversation(w)
	_, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	stored, err := w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(), func(c *scrollback.Conversation) error {
		c.DeletedAt = 9
		return nil
	})
	w.wantOK(err)
	other, branch := newConversation(w)
	other.ID = c.ID
	branch.Conversation = c.ID
	w.wantUnchanged(func() {
		got, created, err := w.Log.CreateConversation(w.ctx, other, branch)
		w.wantOK(err)
		if created {
			w.t.Fatal("created twice")
		}
		wantSame(w.t, "known", stored, got)
	})
	_, err = w.Log.FindBranch(w.ctx, branch.ID)
	w.wantCode(err, scrollback.NotFound)
}

// testPatch: each own field can be changed, and a version is added.
func testPatch(w *harness) {
	c := w.addConversation()
	w.addConversation()
	want, _ := fullConversation(w)
	want.ID = c.ID
	want.Branch = c.Branch
	want.Messages = c.Messages
	want.Parent = c.Parent
	want.Ancestors = c.Ancestors
	want.AgentOf = c.AgentOf
	want.CreatedAt = c.CreatedAt
	want.Version = c.Version + 1
	want.DeletedAt = 12
	before := w.readHead(c.ID)
	want.UpdatedAt = w.advanceClock()
	got, err := w.Log.PatchConversation(w.ctx, c.ID, w.now, func(got *scrollback.Conversation) error {
		wantSame(w.t, "edited", c, *got)
		*got = want
		got.Version = c.Version
		got.UpdatedAt = c.UpdatedAt
		return nil
	})
	w.wantOK(err)
	wantSame(w.t, "patched", want, got)
	wantSame(w.t, "stored", want, w.wantOneWrite(before).Conversation)
}

// testPatchError: an error of edit comes back as it is, and changes nothing.
func testPatchError(w *harness) {
	c := w.addConversation(func(c *scrollback.Conversation) { c.Roots = []string{"/a"} })
	no := errors.New("no")
	w.wantUnchanged(func() {
		_, err := w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(), func(c *scrollback.Conversation) error {
			c.Title = "changed"
			c.Roots[0] = "/changed"
			return no
		})
		if err != no {
			w.t.Fatalf("error %v, want edit's own", err)
		}
	})
}

// testPatchKeepsTheLog: what the log decides is not edit's to change.
func testPatchKeepsTheLog(w *harness) {
	parent := w.addConversation()
	w.appendMessages(parent.ID, 1)
	c := w.addFork(parent, 1)
	w.appendMessages(c.ID, 2)
	before := w.readHead(c.ID)
	got, err := w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(), func(c *scrollback.Conversation) error {
		c.Parent.Seq = 99
		c.ID = "x"
		c.Branch = "y"
		c.Messages = 99
		c.Version = 99
		c.CreatedAt = 1
		c.UpdatedAt = 1
		c.Parent = &scrollback.ParentRef{ID: "z"}
		c.AgentOf = &scrollback.AgentRef{ID: "z"}
		return nil
	})
	w.wantOK(err)
	want := before
	want.Version = before.Version + 1
	want.UpdatedAt = w.now
	wantSame(w.t, "answer", want.Conversation, got)
	wantSame(w.t, "stored", want, w.wantOneWrite(before))
}

// testNotFound: every method that names a thing says so when there is none.
func testNotFound(w *harness) {
	w.addConversation()
	calls := map[string]func() error{
		"Head":     func() error { _, err := w.Log.ReadHead(w.ctx, "x"); return err },
		"Branch":   func() error { _, err := w.Log.FindBranch(w.ctx, "x"); return err },
		"Turn":     func() error { _, err := w.Turns.Get(w.ctx, "x"); return err },
		"LastTurn": func() error { _, err := w.Turns.GetLast(w.ctx, "x"); return err },
		"Patch": func() error {
			_, err := w.Log.PatchConversation(w.ctx, "x", 1, func(*scrollback.Conversation) error { return nil })
			return err
		},
		"Begin":  func() error { _, err := w.tryBegin("x", nil); return err },
		"Append": func() error { _, err := w.tryAppend("x", nil); return err },
		"Stop":   func() error { return w.Turns.Stop(w.ctx, "x") },
		"Commit": func() error { return w.Views.CommitFold(w.ctx, driver.FoldCommit{Conversation: "x", Branch: "x"}) },
		"Unfold": func() error { _, err := w.undoFold("x"); return err },
		"Rewind": func() error { _, err := w.Log.RewindHead(w.ctx, driver.Rewind{Conversation: "x"}); return err },
	}
	for name, call := range calls {
		if err := call(); scrollback.CodeOf(err) != scrollback.NotFound {
			w.t.Errorf("%s of an unknown id: %v", name, err)
		}
	}
}

// listAllPages reads a whole list, page by page.
func listAllPages(w *harness, q driver.ListQuery) []scrollback.Conversation {
	w.t.Helper()
	var out []scrollback.Conversation
	for range 1000 {
		page, err := w.Log.ListConversations(w.ctx, q)
		w.wantOK(err)
		if len(page) > q.Limit {
			w.t.Fatalf("%d on a page of %d", len(page), q.Limit)
		}
		if out = append(out, page...); len(page) < q.Limit || q.Prefix != "" {
			return out
		}
		last := page[len(page)-1]
		q.Before = &driver.ListKey{At: last.UpdatedAt, ID: string(last.ID)}
	}
	w.t.Fatal("the list does not end")
	return nil
}

// testList: the newest change first, then the higher id, on pages of any size.
func testList(w *harness) {
	var want []scrollback.Conversation
	for i := range 7 { // three share each time
		at := int64(1000 + i/3)
		c := w.addConversation(func(c *scrollback.Conversation) { c.UpdatedAt = at })
		want = append([]scrollback.Conversation{c}, want...)
	}
	for limit := 1; limit <= 8; limit++ {
		wantSame(w.t, fmt.Sprint("pages of ", limit), want, listAllPages(w, driver.ListQuery{Limit: limit}))
	}
	moved := want[6]
	w.appendMessages(moved.ID, 1)
	got := listAllPages(w, driver.ListQuery{Limit: 10})
	wantSame(w.t, "after a write", w.readHead(moved.ID).Conversation, got[0])
	wantSame(w.t, "the others", want[:6], got[1:])
}

// testListFilters: project, title and trash.
func testListFilters(w *harness) {
	mk := func(project, title string, deleted int64) scrollback.Conversation {
		return w.addConversation(func(c *scrollback.Conversation) {
			c.Project = project
			c.Title = title
			c.DeletedAt = deleted
		})
	}
	a := mk("one", "Fix the PORT", 0)
	b := mk("two", "100% of a_b", 0)
	c := mk("two", "修复端口", 0)
	gone := mk("two", "port of yesterday", 5)
	for name, rule := range map[string]struct {
		q    driver.ListQuery
		want []scrollback.Conversation
	}{
		"all":            {driver.ListQuery{}, []scrollback.Conversation{c, b, a}},
		"trash":          {driver.ListQuery{Trash: true}, []scrollback.Conversation{gone}},
		"project":        {driver.ListQuery{Projects: []string{"two"}}, []scrollback.Conversation{c, b}},
		"its trash":      {driver.ListQuery{Projects: []string{"two"}, Trash: true}, []scrollback.Conversation{gone}},
		"no trash":       {driver.ListQuery{Projects: []string{"one"}, Trash: true}, nil},
		"no project":     {driver.ListQuery{Projects: []string{"TWO"}}, nil},
		"title":          {driver.ListQuery{Title: "port"}, []scrollback.Conversation{a}},
		"title in trash": {driver.ListQuery{Title: "Port", Trash: true}, []scrollback.Conversation{gone}},
		"title, dense":   {driver.ListQuery{Title: "端口"}, []scrollback.Conversation{c}},
		"percent":        {driver.ListQuery{Title: "0%"}, []scrollback.Conversation{b}},
		"no wildcard":    {driver.ListQuery{Title: "1%0"}, nil},
		"underscore":     {driver.ListQuery{Title: "A_B"}, []scrollback.Conversation{b}},
		"no wildcard _":  {driver.ListQuery{Title: "F_x"}, nil},
		"backslash":      {driver.ListQuery{Title: `\`}, nil},
		"of none":        {driver.ListQuery{Projects: []string{}}, nil},
		"two projects": {driver.ListQuery{Projects: []string{"none", "one", "two"}, Title: "port"},
			[]scrollback.Conversation{a}},
		"both": {driver.ListQuery{Projects: []string{"one"}, Title: "the"}, []scrollback.Conversation{a}},
	} {
		rule.q.Limit = 2
		wantSame(w.t, name, rule.want, listAllPages(w, rule.q))
	}
	kept := w.addConversation(func(c *scrollback.Conversation) { c.Settings.Pinned = true })
	w.addConversation(func(c *scrollback.Conversation) {
		c.Settings.Tools = []scrollback.Tool{{Description: `{"pinned":true`}}
	})
	wantSame(w.t, "pinned", []scrollback.Conversation{kept}, listAllPages(w, driver.ListQuery{Pinned: true, Limit: 2}))
}

// testProjects: by name, counting what is not in the trash.
func testProjects(w *harness) {
	got, err := w.Access.ListProjects(w.ctx)
	w.wantOK(err)
	wantSame(w.t, "of nothing", []scrollback.Project(nil), got)
	for _, name := range []string{"b", "a", "b", "c"} {
		w.addConversation(func(c *scrollback.Conversation) { c.Project = name })
	}
	for _, name := range []string{"t", "a"} {
		w.addConversation(func(c *scrollback.Conversation) {
			c.Project = name
			c.DeletedAt = 1
		})
	}
	got, err = w.Access.ListProjects(w.ctx)
	w.wantOK(err)
	wantSame(w.t, "projects", []scrollback.Project{{Name: "a", Conversations: 1}, {Name: "b", Conversations: 2},
		{Name: "c", Conversations: 1}}, got)
}

// testPrefix: ids that begin so, ascending.
func testPrefix(w *harness) {
	for _, id := range []scrollback.ConversationID{"abc-2", "abd-1", "abc-1", "b", "abc"} {
		w.addConversation(func(c *scrollback.Conversation) { c.ID = id })
	}
	for _, rule := range []struct {
		prefix string
		limit  int
		want   []scrollback.ConversationID
	}{
		{"abc", 9, []scrollback.ConversationID{"abc", "abc-1", "abc-2"}},
		{"abc", 2, []scrollback.ConversationID{"abc", "abc-1"}},
		{"abc-2", 9, []scrollback.ConversationID{"abc-2"}},
		{"bc", 9, nil}, {"ABC", 9, nil}, {"a%", 9, nil}, {"ab_", 9, nil},
	} {
		found := listAllPages(w, driver.ListQuery{Prefix: rule.prefix, Limit: rule.limit, Title: "none", Trash: true})
		wantSame(w.t, rule.prefix+" elsewhere", 0,
			len(listAllPages(w, driver.ListQuery{Prefix: rule.prefix, Limit: 1, Projects: []string{"none", "nowhere"}})))
		var got []scrollback.ConversationID
		for _, c := range found {
			got = append(got, c.ID)
		}
		wantSame(w.t, rule.prefix, rule.want, got)
	}
}
