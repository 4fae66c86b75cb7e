package drivertest

import (
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// addWithTexts creates a conversation that says something, unless it is nothing.
func addWithTexts(w *indexHarness, c scrollback.Conversation, texts ...string) scrollback.Conversation {
	w.t.Helper()
	c = w.createConversation(c, scrollback.Branch{ID: scrollback.BranchID(w.newID("branch"))})
	if len(texts) > 0 {
		w.appendMessages(c.ID, texts...)
	}
	return c
}

// wantWorked wants what was worked on in some folders to be some conversations, in the order in
// which they were made.
func wantWorked(w *indexHarness, q driver.FolderQuery, want ...scrollback.Conversation) []driver.WorkedBranch {
	w.t.Helper()
	got, err := w.Index.FindWorkedBranches(w.ctx, q)
	w.wantOK(err)
	var ids, wanted []scrollback.ConversationID
	for _, g := range got {
		ids = append(ids, g.Conversation)
	}
	for _, c := range want {
		wanted = append(wanted, c.ID)
	}
	w.wantSame("worked on in "+string(mustEncode(json.Marshal(q))), wanted, ids)
	lines, err := w.Index.ListWorkedNumbers(w.ctx, q)
	w.wantOK(err)
	w.wantSame("the numbers are sorted", true, slices.IsSorted(lines))
	let, err := w.Index.FindBranches(w.ctx, driver.IndexedBranchQuery{Numbers: lines, Projects: q.Projects})
	w.wantOK(err)
	w.wantSame("the numbers", len(got), len(let))
	for _, g := range got {
		w.wantSame("the line", g.IndexedBranch, let[g.Number])
	}
	return got
}

func mustEncode(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// testWorked: conversations are found by their own folders and by those where they come from,
// and by the folders above; so are their sub-agents, and theirs. Names that only begin alike,
// that differ in capitals or hold signs of a query language are others.
func testWorked(w *indexHarness) {
	from := func(c scrollback.Conversation, folder string) {
		w.wantOK(w.Log.PutOrigin(w.ctx, scrollback.Origin{Tool: "t", ID: folder + string(c.ID), Conversation: c.ID,
			Folder: folder},
			""))
	}
	own := func(project string, roots ...string) scrollback.Conversation {
		return addWithTexts(w, scrollback.Conversation{Project: project, Roots: append([]string{}, roots...)}, "one", "two")
	}
	agent := func(of scrollback.Conversation) scrollback.Conversation {
		return addWithTexts(w, scrollback.Conversation{Project: of.Project, Roots: []string{},
			AgentOf: &scrollback.AgentRef{ID: of.ID}})
	}
	brought := own("one")
	from(brought, "/src/app")
	from(brought, "/src/other/copy") // its copy
	below := own("two")
	from(below, "/src/app/cmd")
	rooted := own("one", "/elsewhere", "/src/app/docs")
	agents := agent(brought)
	deep := agent(agents)
	for _, folder := range []string{"/src/application", "/src/APP", "/src/ap_", "/src", "src/app", "", "/src/app%"} {
		from(own("one"), folder)
		own("one", folder)
	}
	quoted := own("one", `/src/a"b&c`)
	windows := own("two", `C:\Users\me\app`)
	from(windows, `C:\Users\me\app`)
	gone := addWithTexts(w, scrollback.Conversation{Project: "one", Roots: []string{"/src/app"}, DeletedAt: 5})
	from(gone, "/src/app")

	app := driver.FolderQuery{Folders: []string{"/src/app"}}
	got := wantWorked(w, app, brought, below, rooted, agents, deep)
	for i, g := range got {
		w.wantSame("is a sub-agent", i > 2, g.Agent)
		w.wantSame("is current", true, g.Current)
	}
	w.wantSame("the newest message", messageAt(w, brought, 2).CreatedAt, got[0].At)
	w.wantSame("of one without messages", int64(0), got[3].At)
	w.wantSame("project", "two", got[1].Project)
	app.Projects = []string{"two", "three"}
	wantWorked(w, app, below)
	app.Projects = []string{}
	wantWorked(w, app)
	wantWorked(w, driver.FolderQuery{Folders: []string{"/src/app/cmd", "/elsewhere"}}, below, rooted)
	wantWorked(w, driver.FolderQuery{Folders: []string{"/src/other"}}, brought, agents, deep)
	wantWorked(w, driver.FolderQuery{Folders: []string{`/src/a"b&c`}}, quoted)
	wantWorked(w, driver.FolderQuery{Folders: []string{`C:\Users`}}, windows)
	wantWorked(w, driver.FolderQuery{Folders: []string{`C:\users`, "/nowhere"}})
	wantWorked(w, driver.FolderQuery{})
	wantWorked(w, driver.FolderQuery{Folders: []string{"/src/app", "/src/other"}}, brought, below, rooted, agents, deep)
	all, err := w.Index.FindWorkedBranches(w.ctx, driver.FolderQuery{Folders: []string{""}, Projects: []string{"two"}})
	w.wantOK(err)
	w.wantSame("of all of a disk", 1, len(all))
}

// testWorkedMoves: conversations are found where they are worked on now, with those that work for them: when an origin
// names another folder or goes to another conversation, when folders of their own change, when a branch is added, and
// when they are purged.
func testWorkedMoves(w *indexHarness) {
	put := func(c scrollback.Conversation, id, folder string, instead scrollback.ConversationID) {
		o := scrollback.Origin{Tool: "t", ID: id, Conversation: c.ID, Folder: folder}
		w.wantOK(w.Log.PutOrigin(w.ctx, o, instead))
	}
	patch := func(c scrollback.Conversation, roots ...string) {
		_, err := w.Log.PatchConversation(w.ctx, c.ID, 9, func(c *scrollback.Conversation) error {
			c.Roots = append([]string{}, roots...)
			return nil
		})
		w.wantOK(err)
	}
	in := func(folders ...string) driver.FolderQuery { return driver.FolderQuery{Folders: folders} }
	early := addWithTexts(w, scrollback.Conversation{Roots: []string{}}, "one", "two", "three")
	worker := func(of scrollback.Conversation) scrollback.Conversation {
		return addWithTexts(w, scrollback.Conversation{Roots: []string{}, AgentOf: &scrollback.AgentRef{ID: of.ID}}, "one")
	}
	agent := worker(early)
	deep := worker(agent)
	own := addWithTexts(w, scrollback.Conversation{Roots: []string{"/a", "/b"}}, "one", "two")
	wantWorked(w, in("/a"), own)
	put(early, "1", "/a", "")
	put(early, "2", "/a/below", "")
	wantWorked(w, in("/a"), early, agent, deep, own)
	put(early, "1", "/c", "") // it stays by the other one
	wantWorked(w, in("/a"), early, agent, deep, own)
	wantWorked(w, in("/c"), early, agent, deep)
	put(own, "2", "/c", early.ID)
	wantWorked(w, in("/a"), own)
	wantWorked(w, in("/c"), early, agent, deep, own)
	patch(own, "/b")
	wantWorked(w, in("/a"))
	wantWorked(w, in("/b"), own)
	patch(early, "/b/more")
	patch(own)
	wantWorked(w, in("/b"), early, agent, deep)
	wantWorked(w, in("/c"), early, agent, deep, own)
	for range 70 { // they need more than one row
		addWithTexts(w, scrollback.Conversation{Roots: []string{"/many"}})
	}
	many, err := w.Index.ListWorkedNumbers(w.ctx, in("/many"))
	w.wantOK(err)
	w.wantSame("many", 70, len(many))
	_, err = w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: agent.ID, Now: 9, Limit: 100})
	w.wantOK(err)
	got, err := w.Index.ListWorkedNumbers(w.ctx, in("/c"))
	w.wantOK(err)
	found, err := w.Index.FindWorkedBranches(w.ctx, in("/c"))
	w.wantOK(err)
	live, err := w.Index.FindBranches(w.ctx, driver.IndexedBranchQuery{Numbers: got})
	w.wantOK(err)
	w.wantSame("of a purged conversation", len(found), len(live))
}

// messageAt returns a message of a conversation's first branch.
func messageAt(w *indexHarness, c scrollback.Conversation, seq int64) scrollback.Message {
	w.t.Helper()
	ms, err := w.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: c.Branch, From: seq, To: seq})
	w.wantOK(err)
	return ms[0]
}
