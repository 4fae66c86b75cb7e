package drivertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunProjects runs the suite. Each call of open returns an empty driver.
func RunProjects(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*projectsHarness){
		"StoredProject": testStoredProject, "StoredProjectRefused": testStoredProjectRefused,
		"DeletedProject":    testDeletedProject,
		"ConcurrentProject": testConcurrentProject, "Entitle": testEntitle, "EntitleTooLate": testEntitleTooLate,
		"ConcurrentEntitle": testConcurrentEntitle, "Agents": testAgents,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&projectsHarness{driverHarness: newDriverHarness(t, d, 1_000_000)})
		})
	}
}

// projectsHarness is a driver under test with a clock and a source of ids.
type projectsHarness struct {
	driverHarness
}

// addConversation makes an empty one.
func (w *projectsHarness) addConversation(set func(c *scrollback.Conversation)) scrollback.Conversation {
	w.t.Helper()
	w.n++
	c := scrollback.Conversation{ID: scrollback.ConversationID(fmt.Sprint("c", w.n)), Project: "default", Version: 1,
		CreatedAt: w.now, UpdatedAt: w.now}
	set(&c)
	made, _, err := w.Log.CreateConversation(w.ctx, c, scrollback.Branch{ID: scrollback.BranchID(fmt.Sprint("b", w.n)),
		Conversation: c.ID})
	w.wantOK(err)
	return made
}

// storedProject sets every field of a project.
func storedProject(p *scrollback.Project) error {
	yes := true
	p.Title = "A <title> & 标题"
	p.Instructions = "Be \"brief\".\n"
	p.Model = "maker/name"
	p.Policy = "rolling"
	p.Limit = 32000
	p.Settings = scrollback.Settings{RecallScope: scrollback.ScopeProject,
		Compaction: map[string]float64{"keep_share": 0.25}, Thinking: &yes}
	p.Budget = &scrollback.DailyBudget{TokensPerDay: 5, MoneyPerDay: 0.25, Currency: "EUR"}
	return nil
}

// readProject returns what a driver returns of a project.
func (w *projectsHarness) readProject(name string) scrollback.Project {
	w.t.Helper()
	p, err := w.Access.ReadProject(w.ctx, name)
	w.wantOK(err)
	return p
}

// testStoredProject: what goes in comes out, version by version, beside the conversations.
func testStoredProject(w *projectsHarness) {
	c := w.addConversation(func(c *scrollback.Conversation) { c.Project = "named" })
	before := w.readHead(c.ID)
	w.wantSame("not stored", scrollback.Project{Name: "named"}, w.readProject("named"))

	var want scrollback.Project
	w.wantOK(storedProject(&want))
	want.Name = "named"
	want.Version = 1
	want.CreatedAt = w.advanceClock()
	want.UpdatedAt = want.CreatedAt
	got, err := w.Access.PutProject(w.ctx, "named", w.now, func(p *scrollback.Project) error {
		w.wantSame("edited first", scrollback.Project{Name: "named"}, *p)
		p.Name = "other"
		p.Version = 9
		p.CreatedAt = 9
		p.Conversations = 9
		return storedProject(p)
	})
	w.wantOK(err)
	w.wantSame("put", want, got)
	w.wantSame("got", want, w.readProject("named"))

	want.Title = ""
	want.Budget = nil
	want.Version = 2
	want.UpdatedAt = w.advanceClock()
	got, err = w.Access.PutProject(w.ctx, "named", w.now, func(p *scrollback.Project) error {
		p.Title = ""
		p.Budget = nil
		p.Settings.Compaction["keep_share"] = 0.25 // nobody else holds it
		return nil
	})
	w.wantOK(err)
	w.wantSame("put again", want, got)
	w.wantSame("got again", want, w.readProject("named"))
	w.wantSame("the conversation", before, w.readHead(c.ID))

	_, err = w.Access.PutProject(w.ctx, "empty", w.advanceClock(),
		func(p *scrollback.Project) error { p.Title = "None yet"; return nil })
	w.wantOK(err)
	list, err := w.Access.ListProjects(w.ctx)
	w.wantOK(err)
	w.wantSame("the list", []scrollback.Project{{Name: "empty", Title: "None yet", Version: 1, CreatedAt: w.now,
		UpdatedAt: w.now},
		{Name: "named", Conversations: 1, Version: 2, CreatedAt: want.CreatedAt, UpdatedAt: want.UpdatedAt}}, list)
}

// testStoredProjectRefused: an error of edit comes back as it is, and changes nothing.
func testStoredProjectRefused(w *projectsHarness) {
	_, err := w.Access.PutProject(w.ctx, "p", w.advanceClock(), storedProject)
	w.wantOK(err)
	no := errors.New("no")
	before := w.readProject("p")
	for _, name := range []string{"p", "q"} {
		_, err := w.Access.PutProject(w.ctx, name, w.advanceClock(), func(p *scrollback.Project) error {
			if p.Settings.Compaction != nil {
				p.Settings.Compaction["keep_share"] = 0.9
				p.Budget.TokensPerDay = 99
			}
			return no
		})
		if err != no {
			w.t.Fatalf("error %v, want edit's own", err)
		}
	}
	if err := w.Access.DeleteProject(w.ctx, "p", w.now, func(scrollback.Project) error { return no }); err != no {
		w.t.Fatalf("error %v, want the judge's own", err)
	}
	w.wantSame("unchanged", before, w.readProject("p"))
	w.wantSame("q", scrollback.Project{Name: "q"}, w.readProject("q"))
}

// testDeletedProject: what was stored is gone, its conversations are not.
func testDeletedProject(w *projectsHarness) {
	c := w.addConversation(func(c *scrollback.Conversation) { c.Project = "p" })
	err := w.Access.DeleteProject(w.ctx, "p", w.now, func(scrollback.Project) error { return nil })
	w.wantCode(err, scrollback.NotFound)
	put, err := w.Access.PutProject(w.ctx, "p", w.advanceClock(), storedProject)
	w.wantOK(err)
	before := w.readHead(c.ID)
	w.wantOK(
		w.Access.DeleteProject(w.ctx, "p", w.now, func(p scrollback.Project) error {
			w.wantSame("judged", put, p)
			return nil
		}),
	)
	w.wantSame("deleted", scrollback.Project{Name: "p"}, w.readProject("p"))
	w.wantSame("the conversation", before, w.readHead(c.ID))
	list, err := w.Access.ListProjects(w.ctx)
	w.wantOK(err)
	w.wantSame("the list", []scrollback.Project{{Name: "p", Conversations: 1}}, list)
}

// testConcurrentProject: of those who saw the same version, one wins; no change is lost.
func testConcurrentProject(w *projectsHarness) {
	const n = 8
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			_, err := w.Access.PutProject(w.ctx, "p", 1, func(p *scrollback.Project) error { p.Title += "x"; return nil })
			w.wantOK(err)
		})
	}
	all.Wait()
	if p := w.readProject("p"); p.Version != n || len(p.Title) != n {
		w.t.Fatalf("%d changes left %+v", n, p)
	}
}

// titleUsage returns a call that a title cost.
func titleUsage(c scrollback.Conversation, at int64) []scrollback.UsageRecord {
	return []scrollback.UsageRecord{{Conversation: c.ID, Model: "a/x", Purpose: "title", At: at,
		Usage: scrollback.Usage{InputTokens: 7, OutputTokens: 2, TotalTokens: 9}}}
}

// testEntitle: a claim changes nothing that anybody sees, a title does, and is a commit.
func testEntitle(w *projectsHarness) {
	c := w.addConversation(func(c *scrollback.Conversation) {
		c.Title = "the prompt"
		c.TitleBy = scrollback.TitlePrompt
	})
	w.addConversation(func(*scrollback.Conversation) {})
	before := w.readHead(c.ID)
	ok, err := w.Log.ChangeTitle(w.ctx,
		driver.TitleChange{Conversation: c.ID, Now: w.advanceClock(), From: scrollback.TitlePrompt,
			To: scrollback.TitleAsked})
	w.wantOK(err)
	before.TitleBy = scrollback.TitleAsked
	if w.wantSame("claimed", before, w.readHead(c.ID)); !ok {
		w.t.Fatal("not claimed")
	}
	ok, err = w.Log.ChangeTitle(w.ctx,
		driver.TitleChange{Conversation: c.ID, Now: w.advanceClock(), From: scrollback.TitleAsked,
			To:    scrollback.TitleModel,
			Title: "Tides 潮汐", Usage: titleUsage(c, w.now)})
	w.wantOK(err)
	before.TitleBy = scrollback.TitleModel
	before.Title = "Tides 潮汐"
	before.Version += 1
	before.UpdatedAt = w.now
	if w.wantSame("titled", before, w.readHead(c.ID)); !ok {
		w.t.Fatal("not titled")
	}
	days, err := w.Access.ListUsageDays(w.ctx, 0, 1<<40)
	w.wantOK(err)
	if len(days) != 1 || days[0].Project != c.Project || days[0].Calls != 1 || days[0].TotalTokens != 9 {
		w.t.Fatalf("the books hold %+v", days)
	}
	_, err = w.Log.ChangeTitle(w.ctx, driver.TitleChange{Conversation: "x", To: scrollback.TitleModel})
	w.wantCode(err, scrollback.NotFound)
}

// testEntitleTooLate: a title that somebody gave meanwhile stays, and so does one in the
// trash; what the call cost is in the books.
func testEntitleTooLate(w *projectsHarness) {
	late := driver.TitleChange{Now: w.advanceClock(), From: scrollback.TitleAsked, To: scrollback.TitleModel,
		Title: "late"}
	given := w.addConversation(func(c *scrollback.Conversation) { c.Title = "given" })
	gone := w.addConversation(func(c *scrollback.Conversation) {
		c.Title = "gone"
		c.TitleBy = scrollback.TitleAsked
		c.DeletedAt = 5
	})
	for i, c := range []scrollback.Conversation{given, gone} {
		before := w.readHead(c.ID)
		late.Conversation = c.ID
		late.Usage = titleUsage(c, w.now)
		ok, err := w.Log.ChangeTitle(w.ctx, late)
		w.wantOK(err)
		if w.wantSame(c.Title, before, w.readHead(c.ID)); ok {
			w.t.Fatalf("%s: it says that it was titled", c.Title)
		}
		days, err := w.Access.ListUsageDays(w.ctx, 0, 1<<40)
		w.wantOK(err)
		if len(days) != 1 || days[0].Calls != int64(i+1) {
			w.t.Fatalf("the books hold %+v", days)
		}
	}
}

// testConcurrentEntitle: of all who claim the same title, one may ask.
func testConcurrentEntitle(w *projectsHarness) {
	c := w.addConversation(func(c *scrollback.Conversation) { c.TitleBy = scrollback.TitlePrompt })
	var all sync.WaitGroup
	won := make(chan bool, 8)
	for range cap(won) {
		all.Go(func() {
			ok, err := w.Log.ChangeTitle(w.ctx, driver.TitleChange{Conversation: c.ID, Now: 1, From: scrollback.TitlePrompt,
				To: scrollback.TitleAsked})
			w.wantOK(err)
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
