package drivertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// full is a conversation with every field set.
func full(w *bench) (scrollback.Conversation, scrollback.Branch) {
	c, b := plan(w)
	c.Project, c.Title, c.Model = "a project", "A <title> & 标题", "maker/name"
	c.Instructions, c.Policy, c.Limit = "Be \"brief\".\n", "rolling", 32000
	c.Roots, c.PinnedSeqs = []string{"/a b", "/ü"}, []int64{2, 3}
	c.Settings = scrollback.Settings{Pinned: true, Compaction: map[string]float64{"keep_share": 0.25}, Tools: []scrollback.Tool{
		{Name: "look", Description: "looks", Parameters: json.RawMessage(`{"type":"object"}`)},
	}}
	c.Version, c.Messages, c.UpdatedAt, c.TitleBy = 4, 5, w.tick(), scrollback.TitlePrompt
	parent := elder(w)
	c.Parent = &scrollback.ParentRef{ID: parent.ConversationID, Branch: parent.Branch, Seq: 5}
	c.Ancestors = []scrollback.ConversationID{parent.ConversationID, "older"}
	c.Meta = json.RawMessage(`{"k":["v",1]}`)
	c.Environment = &scrollback.Environment{Text: "<here>", First: scrollback.EnvironmentState{Date: "2026-11-21", Roots: []string{"/a"}},
		Told: scrollback.EnvironmentState{Date: "2026-11-22", Memory: []scrollback.MemoryFile{{Path: "/a/b", SHA256: "ab", Bytes: 3}}}}
	b.Parent, b.AtSeq, b.HeadSeq, b.Sum = parent.Branch, 5, 5, parent.Sum
	b.View = scrollback.View{
		Boundary: 3, Sum: scrollback.Weight{Tokens: 60, Bytes: 500, Images: 1}, RetryAt: 77,
		Segments: []scrollback.ViewItem{{ID: "s1", FirstSeq: 1, LastSeq: 2, Level: 1}, {ID: "s2", FirstSeq: 3, LastSeq: 3}},
	}
	return c, b
}

// testCreate: what goes in comes out, of the call and of every reader.
func testCreate(w *bench) {
	elder(w)
	c, b := full(w)
	got, created, err := w.Log.Create(w.ctx, c, b)
	w.ok(err)
	if !created {
		w.t.Fatal("not created")
	}
	same(w.t, "created", c, got)
	same(w.t, "head", driver.Head{Conversation: c, Branch: b}, w.head(c.ID))
	branch, err := w.Read.Branch(w.ctx, b.ID)
	w.ok(err)
	same(w.t, "branch", b, branch)
}

// testCreateKnown: a known id returns what is stored, also from the trash.
func testCreateKnown(w *bench) {
	elder(w)
	c, b := full(w)
	_, _, err := w.Log.Create(w.ctx, c, b)
	w.ok(err)
	stored, err := w.Log.Patch(w.ctx, c.ID, w.tick(), func(c *scrollback.Conversation) error {
		c.DeletedAt = 9
		return nil
	})
	w.ok(err)
	other, branch := plan(w)
	other.ID, branch.Conversation = c.ID, c.ID
	w.unchanged(func() {
		got, created, err := w.Log.Create(w.ctx, other, branch)
		w.ok(err)
		if created {
			w.t.Fatal("created twice")
		}
		same(w.t, "known", stored, got)
	})
	_, err = w.Read.Branch(w.ctx, branch.ID)
	w.code(err, scrollback.NotFound)
}

// testPatch: each own field can be changed, and a version is added.
func testPatch(w *bench) {
	c := w.conversation()
	w.conversation()
	want, _ := full(w)
	want.ID, want.Branch, want.Messages, want.Parent, want.Ancestors = c.ID, c.Branch, c.Messages, c.Parent, c.Ancestors
	want.CreatedAt, want.Version, want.DeletedAt = c.CreatedAt, c.Version+1, 12
	before := w.head(c.ID)
	want.UpdatedAt = w.tick()
	got, err := w.Log.Patch(w.ctx, c.ID, w.now, func(got *scrollback.Conversation) error {
		same(w.t, "edited", c, *got)
		*got = want
		got.Version, got.UpdatedAt = c.Version, c.UpdatedAt
		return nil
	})
	w.ok(err)
	same(w.t, "patched", want, got)
	same(w.t, "stored", want, w.wrote(before).Conversation)
}

// testPatchError: an error of edit comes back as it is, and changes nothing.
func testPatchError(w *bench) {
	c := w.conversation(func(c *scrollback.Conversation) { c.Roots = []string{"/a"} })
	no := errors.New("no")
	w.unchanged(func() {
		_, err := w.Log.Patch(w.ctx, c.ID, w.tick(), func(c *scrollback.Conversation) error {
			c.Title, c.Roots[0] = "changed", "/changed"
			return no
		})
		if err != no {
			w.t.Fatalf("error %v, want edit's own", err)
		}
	})
}

// testPatchKeepsTheLog: what the log decides is not edit's to change.
func testPatchKeepsTheLog(w *bench) {
	parent := w.conversation()
	w.say(parent.ID, 1)
	c := w.fork(parent, 1)
	w.say(c.ID, 2)
	before := w.head(c.ID)
	got, err := w.Log.Patch(w.ctx, c.ID, w.tick(), func(c *scrollback.Conversation) error {
		c.Parent.Seq = 99
		c.ID, c.Branch, c.Messages, c.Version = "x", "y", 99, 99
		c.CreatedAt, c.UpdatedAt, c.Parent = 1, 1, &scrollback.ParentRef{ID: "z"}
		return nil
	})
	w.ok(err)
	want := before
	want.Version, want.UpdatedAt = before.Version+1, w.now
	same(w.t, "answer", want.Conversation, got)
	same(w.t, "stored", want, w.wrote(before))
}

// testNotFound: every method that names a thing says so when there is none.
func testNotFound(w *bench) {
	w.conversation()
	calls := map[string]func() error{
		"Head":     func() error { _, err := w.Read.Head(w.ctx, "x"); return err },
		"Branch":   func() error { _, err := w.Read.Branch(w.ctx, "x"); return err },
		"Turn":     func() error { _, err := w.Turns.Get(w.ctx, "x"); return err },
		"LastTurn": func() error { _, err := w.Turns.Last(w.ctx, "x"); return err },
		"Patch": func() error {
			_, err := w.Log.Patch(w.ctx, "x", 1, func(*scrollback.Conversation) error { return nil })
			return err
		},
		"Begin":  func() error { _, err := w.tryBegin("x", nil); return err },
		"Append": func() error { _, err := w.tryAppend("x", nil); return err },
		"Stop":   func() error { return w.Turns.Stop(w.ctx, "x") },
		"Commit": func() error { return w.Views.Commit(w.ctx, driver.Commit{Conversation: "x", Branch: "x"}) },
		"Unfold": func() error { _, err := w.unfold("x"); return err },
		"Rewind": func() error { _, err := w.Log.Rewind(w.ctx, driver.Rewind{Conversation: "x"}); return err },
	}
	for name, call := range calls {
		if err := call(); scrollback.CodeOf(err) != scrollback.NotFound {
			w.t.Errorf("%s of an unknown id: %v", name, err)
		}
	}
}

// listed reads a whole list, page by page.
func listed(w *bench, q driver.ListQuery) []scrollback.Conversation {
	w.t.Helper()
	var out []scrollback.Conversation
	for range 1000 {
		page, err := w.Read.Conversations(w.ctx, q)
		w.ok(err)
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
func testList(w *bench) {
	var want []scrollback.Conversation
	for i := range 7 { // three share each time
		at := int64(1000 + i/3)
		c := w.conversation(func(c *scrollback.Conversation) { c.UpdatedAt = at })
		want = append([]scrollback.Conversation{c}, want...)
	}
	for limit := 1; limit <= 8; limit++ {
		same(w.t, fmt.Sprint("pages of ", limit), want, listed(w, driver.ListQuery{Limit: limit}))
	}
	moved := want[6]
	w.say(moved.ID, 1)
	got := listed(w, driver.ListQuery{Limit: 10})
	same(w.t, "after a write", w.head(moved.ID).Conversation, got[0])
	same(w.t, "the others", want[:6], got[1:])
}

// testListFilters: project, title and trash.
func testListFilters(w *bench) {
	mk := func(project, title string, deleted int64) scrollback.Conversation {
		return w.conversation(func(c *scrollback.Conversation) {
			c.Project, c.Title, c.DeletedAt = project, title, deleted
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
		"two projects":   {driver.ListQuery{Projects: []string{"none", "one", "two"}, Title: "port"}, []scrollback.Conversation{a}},
		"both":           {driver.ListQuery{Projects: []string{"one"}, Title: "the"}, []scrollback.Conversation{a}},
	} {
		rule.q.Limit = 2
		same(w.t, name, rule.want, listed(w, rule.q))
	}
}

// testProjects: by name, counting what is not in the trash.
func testProjects(w *bench) {
	got, err := w.Read.Projects(w.ctx)
	w.ok(err)
	same(w.t, "of nothing", []scrollback.Project(nil), got)
	for _, name := range []string{"b", "a", "b", "c"} {
		w.conversation(func(c *scrollback.Conversation) { c.Project = name })
	}
	for _, name := range []string{"t", "a"} {
		w.conversation(func(c *scrollback.Conversation) { c.Project, c.DeletedAt = name, 1 })
	}
	got, err = w.Read.Projects(w.ctx)
	w.ok(err)
	same(w.t, "projects", []scrollback.Project{{Name: "a", Conversations: 1}, {Name: "b", Conversations: 2},
		{Name: "c", Conversations: 1}}, got)
}

// testPrefix: ids that begin so, ascending.
func testPrefix(w *bench) {
	for _, id := range []scrollback.ConversationID{"abc-2", "abd-1", "abc-1", "b", "abc"} {
		w.conversation(func(c *scrollback.Conversation) { c.ID = id })
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
		found := listed(w, driver.ListQuery{Prefix: rule.prefix, Limit: rule.limit, Title: "none", Trash: true})
		same(w.t, rule.prefix+" elsewhere", 0, len(listed(w, driver.ListQuery{Prefix: rule.prefix, Limit: 1, Projects: []string{"none", "nowhere"}})))
		var got []scrollback.ConversationID
		for _, c := range found {
			got = append(got, c.ID)
		}
		same(w.t, rule.prefix, rule.want, got)
	}
}

// storedProject sets every field of a project.
func storedProject(p *scrollback.Project) error {
	yes := true
	p.Title, p.Instructions, p.Model, p.Policy, p.Limit = "A <title> & 标题", "Be \"brief\".\n", "maker/name", "rolling", 32000
	p.Settings = scrollback.Settings{RecallScope: scrollback.ScopeProject, Compaction: map[string]float64{"keep_share": 0.25}, Thinking: &yes}
	p.Budget = &scrollback.DailyBudget{TokensPerDay: 5, MoneyPerDay: 0.25, Currency: "EUR"}
	return nil
}

// stored is what a driver returns of a project.
func (w *bench) stored(name string) scrollback.Project {
	w.t.Helper()
	p, err := w.Projects.Get(w.ctx, name)
	w.ok(err)
	return p
}

// testStoredProject: what goes in comes out, version by version, beside the conversations.
func testStoredProject(w *bench) {
	c := w.conversation(func(c *scrollback.Conversation) { c.Project = "named" })
	before := w.head(c.ID)
	same(w.t, "not stored", scrollback.Project{Name: "named"}, w.stored("named"))

	var want scrollback.Project
	w.ok(storedProject(&want))
	want.Name, want.Version, want.CreatedAt = "named", 1, w.tick()
	want.UpdatedAt = want.CreatedAt
	got, err := w.Projects.Put(w.ctx, "named", w.now, func(p *scrollback.Project) error {
		same(w.t, "edited first", scrollback.Project{Name: "named"}, *p)
		p.Name, p.Version, p.CreatedAt, p.Conversations = "other", 9, 9, 9
		return storedProject(p)
	})
	w.ok(err)
	same(w.t, "put", want, got)
	same(w.t, "got", want, w.stored("named"))

	want.Title, want.Budget, want.Version, want.UpdatedAt = "", nil, 2, w.tick()
	got, err = w.Projects.Put(w.ctx, "named", w.now, func(p *scrollback.Project) error {
		p.Title, p.Budget = "", nil
		p.Settings.Compaction["keep_share"] = 0.25 // nobody else holds it
		return nil
	})
	w.ok(err)
	same(w.t, "put again", want, got)
	same(w.t, "got again", want, w.stored("named"))
	same(w.t, "the conversation", before, w.head(c.ID))

	_, err = w.Projects.Put(w.ctx, "empty", w.tick(), func(p *scrollback.Project) error { p.Title = "None yet"; return nil })
	w.ok(err)
	list, err := w.Read.Projects(w.ctx)
	w.ok(err)
	same(w.t, "the list", []scrollback.Project{{Name: "empty", Title: "None yet", Version: 1, CreatedAt: w.now, UpdatedAt: w.now},
		{Name: "named", Conversations: 1, Version: 2, CreatedAt: want.CreatedAt, UpdatedAt: want.UpdatedAt}}, list)
}

// testStoredProjectRefused: an error of edit comes back as it is, and changes nothing.
func testStoredProjectRefused(w *bench) {
	_, err := w.Projects.Put(w.ctx, "p", w.tick(), storedProject)
	w.ok(err)
	no := errors.New("no")
	w.unchanged(func() {
		for _, name := range []string{"p", "q"} {
			_, err := w.Projects.Put(w.ctx, name, w.tick(), func(p *scrollback.Project) error {
				if p.Settings.Compaction != nil {
					p.Settings.Compaction["keep_share"], p.Budget.TokensPerDay = 0.9, 99
				}
				return no
			})
			if err != no {
				w.t.Fatalf("error %v, want edit's own", err)
			}
		}
		if err := w.Projects.Delete(w.ctx, "p", func(scrollback.Project) error { return no }); err != no {
			w.t.Fatalf("error %v, want the judge's own", err)
		}
	})
	same(w.t, "q", scrollback.Project{Name: "q"}, w.stored("q"))
}

// testDeletedProject: what was stored is gone, its conversations are not.
func testDeletedProject(w *bench) {
	c := w.conversation(func(c *scrollback.Conversation) { c.Project = "p" })
	w.code(w.Projects.Delete(w.ctx, "p", func(scrollback.Project) error { return nil }), scrollback.NotFound)
	put, err := w.Projects.Put(w.ctx, "p", w.tick(), storedProject)
	w.ok(err)
	before := w.head(c.ID)
	w.ok(w.Projects.Delete(w.ctx, "p", func(p scrollback.Project) error { same(w.t, "judged", put, p); return nil }))
	same(w.t, "deleted", scrollback.Project{Name: "p"}, w.stored("p"))
	same(w.t, "the conversation", before, w.head(c.ID))
	list, err := w.Read.Projects(w.ctx)
	w.ok(err)
	same(w.t, "the list", []scrollback.Project{{Name: "p", Conversations: 1}}, list)
}

// testConcurrentProject: of those who saw the same version, one wins; no change is lost.
func testConcurrentProject(w *bench) {
	const n = 8
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			_, err := w.Projects.Put(w.ctx, "p", 1, func(p *scrollback.Project) error { p.Title += "x"; return nil })
			w.ok(err)
		})
	}
	all.Wait()
	if p := w.stored("p"); p.Version != n || len(p.Title) != n {
		w.t.Fatalf("%d changes left %+v", n, p)
	}
}

// titled is a call that a title cost.
func titled(c scrollback.Conversation, at int64) []scrollback.UsageRecord {
	return []scrollback.UsageRecord{{Conversation: c.ID, Model: "a/x", Purpose: "title", At: at, Usage: scrollback.Usage{InputTokens: 7, OutputTokens: 2, TotalTokens: 9}}}
}

// testEntitle: a claim changes nothing that anybody sees, a title does, and is a commit.
func testEntitle(w *bench) {
	c := w.conversation(func(c *scrollback.Conversation) { c.Title, c.TitleBy = "the prompt", scrollback.TitlePrompt })
	w.conversation()
	before := w.head(c.ID)
	ok, err := w.Log.Entitle(w.ctx, driver.Entitle{Conversation: c.ID, Now: w.tick(), From: scrollback.TitlePrompt, To: scrollback.TitleAsked})
	w.ok(err)
	before.TitleBy = scrollback.TitleAsked
	if same(w.t, "claimed", before, w.head(c.ID)); !ok {
		w.t.Fatal("not claimed")
	}
	ok, err = w.Log.Entitle(w.ctx, driver.Entitle{Conversation: c.ID, Now: w.tick(), From: scrollback.TitleAsked, To: scrollback.TitleModel,
		Title: "Tides 潮汐", Usage: titled(c, w.now)})
	w.ok(err)
	before.TitleBy, before.Title, before.Version, before.UpdatedAt = scrollback.TitleModel, "Tides 潮汐", before.Version+1, w.now
	if same(w.t, "titled", before, w.head(c.ID)); !ok {
		w.t.Fatal("not titled")
	}
	days, err := w.Book.UsageDays(w.ctx, 0, 1<<40)
	w.ok(err)
	if len(days) != 1 || days[0].Project != c.Project || days[0].Calls != 1 || days[0].TotalTokens != 9 {
		w.t.Fatalf("the books hold %+v", days)
	}
	_, err = w.Log.Entitle(w.ctx, driver.Entitle{Conversation: "x", To: scrollback.TitleModel})
	w.code(err, scrollback.NotFound)
}

// testEntitleTooLate: a title that somebody gave meanwhile stays, and so does one in the
// trash; what the call cost is in the books.
func testEntitleTooLate(w *bench) {
	late := driver.Entitle{Now: w.tick(), From: scrollback.TitleAsked, To: scrollback.TitleModel, Title: "late"}
	given := w.conversation(func(c *scrollback.Conversation) { c.Title = "given" })
	gone := w.conversation(func(c *scrollback.Conversation) { c.Title, c.TitleBy, c.DeletedAt = "gone", scrollback.TitleAsked, 5 })
	for i, c := range []scrollback.Conversation{given, gone} {
		before := w.head(c.ID)
		late.Conversation, late.Usage = c.ID, titled(c, w.now)
		ok, err := w.Log.Entitle(w.ctx, late)
		w.ok(err)
		if same(w.t, c.Title, before, w.head(c.ID)); ok {
			w.t.Fatalf("%s: it says that it was titled", c.Title)
		}
		days, err := w.Book.UsageDays(w.ctx, 0, 1<<40)
		w.ok(err)
		if len(days) != 1 || days[0].Calls != int64(i+1) {
			w.t.Fatalf("the books hold %+v", days)
		}
	}
}

// testConcurrentEntitle: of all who claim the same title, one may ask.
func testConcurrentEntitle(w *bench) {
	c := w.conversation(func(c *scrollback.Conversation) { c.TitleBy = scrollback.TitlePrompt })
	var all sync.WaitGroup
	won := make(chan bool, 8)
	for range cap(won) {
		all.Go(func() {
			ok, err := w.Log.Entitle(w.ctx, driver.Entitle{Conversation: c.ID, Now: 1, From: scrollback.TitlePrompt, To: scrollback.TitleAsked})
			w.ok(err)
			won <- ok
		})
	}
	all.Wait()
	close(won)
	n := 0
	for ok := range won {
		if ok {
			n++
		}
	}
	if n != 1 {
		w.t.Fatalf("%d claimed it", n)
	}
}

// project changes, reads or deletes a project.
func (w *walk) project() {
	name := some(w, "default", "other", "more")
	if w.often(30) {
		errand(w, "Delete "+name, func(d *driver.Driver) error {
			return d.Projects.Delete(w.ctx, name, func(scrollback.Project) error { return nil })
		})
		return
	}
	title := fmt.Sprint("title ", w.rng.IntN(5))
	both(w, "Put "+name, func(d *driver.Driver) (scrollback.Project, error) {
		return d.Projects.Put(w.ctx, name, w.now, func(p *scrollback.Project) error { p.Title = title; return nil })
	})
	both(w, "Get "+name, func(d *driver.Driver) (scrollback.Project, error) { return d.Projects.Get(w.ctx, name) })
	both(w, "Projects", func(d *driver.Driver) ([]scrollback.Project, error) { return d.Read.Projects(w.ctx) })
}

// entitle moves the title of a conversation on, or tries to.
func (w *walk) entitle() {
	c := w.conversation()
	states := []scrollback.TitleState{scrollback.TitleGiven, scrollback.TitlePrompt, scrollback.TitleAsked, scrollback.TitleModel}
	e := driver.Entitle{Conversation: c.ID, Now: w.now, From: some(w, states...), To: some(w, states...), Title: some(w, "", "a title"), Usage: titled(c, w.now)}
	both(w, fmt.Sprintf("Entitle %s %q to %q", c.ID, e.From, e.To), func(d *driver.Driver) (bool, error) { return d.Log.Entitle(w.ctx, e) })
}
