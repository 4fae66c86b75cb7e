package drivertest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunOrigins runs the suite. Each call of open returns an empty driver.
func RunOrigins(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*originsHarness){
		"PutOrigin": testOriginsPut, "PutOriginRefused": testPutRefused, "Origins": testOriginsList,
		"OriginFolders": testFolders,
		"OriginPages":   testPages, "OriginsOfTheTrash": testTrash, "OriginsPurged": testOriginsPurged,
		"OriginsAtRandom": testAtRandom,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&originsHarness{driverHarness: newDriverHarness(t, d, 1_000_000)})
		})
	}
}

// originsHarness is a driver under test with a clock and a source of ids.
type originsHarness struct {
	driverHarness
}

// addConversation makes an empty one in a project.
func (w *originsHarness) addConversation(project string) scrollback.ConversationID {
	w.t.Helper()
	w.n++
	c := scrollback.Conversation{ID: scrollback.ConversationID(fmt.Sprintf("c%02d", w.n)), Project: project, Version: 1,
		CreatedAt: w.now, UpdatedAt: w.now}
	made, _, err := w.Log.CreateConversation(w.ctx, c, scrollback.Branch{ID: scrollback.BranchID(fmt.Sprint("b", w.n)),
		Conversation: c.ID})
	w.wantOK(err)
	return made.ID
}

func (w *originsHarness) putOrigin(o scrollback.Origin) scrollback.Origin {
	w.t.Helper()
	w.wantOK(w.Log.PutOrigin(w.ctx, o, ""))
	return o
}

func (w *originsHarness) listOrigins(q driver.OriginQuery) []scrollback.Origin {
	w.t.Helper()
	out, err := w.Log.ListOrigins(w.ctx, q)
	w.wantOK(err)
	return out
}

// originsFull returns an origin with something in each field.
func originsFull(of scrollback.ConversationID) scrollback.Origin {
	return scrollback.Origin{Tool: "a-tool", ID: "its \"id\" 会话", Conversation: of, Root: "first", Folder: "/home/me/work",
		GitBranch: "feature/x",
		Place:     "/home/me/.a-tool", Name: "2026/11/one.jsonl", Stamp: "12:34", Shared: true, ImportedAt: 5, GoneAt: 7}
}

// testPut: what goes in comes out; the same tool, id and conversation is replaced, and so is
// what the conversation that is named had of them.
func testOriginsPut(w *originsHarness) {
	a := w.addConversation("p")
	b := w.addConversation("p")
	c := w.addConversation("p")
	w.wantSame("at first", []scrollback.Origin{}, w.listOrigins(driver.OriginQuery{}))
	o := w.putOrigin(originsFull(a))
	w.wantSame("put", []scrollback.Origin{o}, w.listOrigins(driver.OriginQuery{}))
	o = w.putOrigin(scrollback.Origin{Tool: o.Tool, ID: o.ID, Conversation: a, Stamp: "later", ImportedAt: 9})
	w.wantSame("put again", []scrollback.Origin{o}, w.listOrigins(driver.OriginQuery{}))
	second := w.putOrigin(originsFull(b))
	w.wantSame("of two conversations", []scrollback.Origin{o, second}, w.listOrigins(driver.OriginQuery{}))
	other := originsFull(a)
	other.ID = "z"
	w.putOrigin(other)

	moved := originsFull(c)
	w.wantOK(w.Log.PutOrigin(w.ctx, moved, a))
	w.wantSame("moved", []scrollback.Origin{second, moved, other}, w.listOrigins(driver.OriginQuery{}))
	moved.Stamp = "again"
	w.wantOK(w.Log.PutOrigin(w.ctx, moved, c))
	w.wantSame("instead of itself", []scrollback.Origin{second, moved, other}, w.listOrigins(driver.OriginQuery{}))
}

// testPutRefused: an origin is of a conversation.
func testPutRefused(w *originsHarness) {
	a := w.addConversation("p")
	w.putOrigin(originsFull(a))
	for _, id := range []scrollback.ConversationID{"nobody", ""} {
		if err := w.Log.PutOrigin(w.ctx, originsFull(id), a); scrollback.CodeOf(err) != scrollback.NotFound {
			w.t.Errorf("of conversation %q: %v", id, err)
		}
	}
	w.wantSame("after that", []scrollback.Origin{originsFull(a)}, w.listOrigins(driver.OriginQuery{}))
}

// testList: each field that is set narrows a list, and lists are in order.
func testOriginsList(w *originsHarness) {
	a := w.addConversation("p")
	b := w.addConversation("q")
	one := w.putOrigin(scrollback.Origin{Tool: "x", ID: "2", Conversation: a, Root: "r", Place: "/x", Name: "n",
		Folder: "/f"})
	two := w.putOrigin(scrollback.Origin{Tool: "x", ID: "2", Conversation: b, Root: "r", Place: "/y", Name: "n",
		Folder: "/g"})
	three := w.putOrigin(scrollback.Origin{Tool: "x", ID: "10", Conversation: b, Root: "s", Place: "/x", Name: "m",
		Folder: "/f"})
	four := w.putOrigin(scrollback.Origin{Tool: "w", ID: "2", Conversation: a, Root: "r", Place: "/x", Name: "n"})
	for _, c := range []struct {
		q    driver.OriginQuery
		want []scrollback.Origin
	}{
		{driver.OriginQuery{}, []scrollback.Origin{four, three, one, two}},
		{driver.OriginQuery{Tool: "x"}, []scrollback.Origin{three, one, two}},
		{driver.OriginQuery{Tool: "x", ID: "2"}, []scrollback.Origin{one, two}},
		{driver.OriginQuery{Tool: "x", ID: "3"}, nil},
		{driver.OriginQuery{Tool: "x", Root: "r"}, []scrollback.Origin{one, two}},
		{driver.OriginQuery{Place: "/x"}, []scrollback.Origin{four, three, one}},
		{driver.OriginQuery{Tool: "x", Place: "/x", Name: "n"}, []scrollback.Origin{one}},
		{driver.OriginQuery{Folder: "/f", Tool: "x"}, []scrollback.Origin{three, one}},
		{driver.OriginQuery{Conversations: []scrollback.ConversationID{b, a, b, "nobody"}},
			[]scrollback.Origin{four, three, one, two}},
		{driver.OriginQuery{Conversations: []scrollback.ConversationID{b}, Folder: "/f"}, []scrollback.Origin{three}},
		{driver.OriginQuery{Tool: "x", Conversations: []scrollback.ConversationID{a}}, []scrollback.Origin{one}},
		{driver.OriginQuery{Projects: []string{"q", "other"}}, []scrollback.Origin{three, two}},
		{driver.OriginQuery{Projects: []string{"p"}, Tool: "x", Root: "r"}, []scrollback.Origin{one}},
	} {
		w.wantSame(fmt.Sprintf("%+v", c.q), c.want, w.listOrigins(c.q))
	}
}

// testFolders: a folder is itself and what is below it, whatever its name has of what
// patterns are made of.
func testFolders(w *originsHarness) {
	folders := []string{"/", "/a", "/a/b", "/a/b/c", "/a/bc", "/a/b-c", "/a/b.c", "/a/B", "/a/%", "/a/%/x", "/a/_", "/a/x",
		"/a/b/", "/ä/b", "",
		`C:\`, `C:\a`, `C:\a\b`, `C:\ab`}
	for i, f := range folders {
		w.putOrigin(scrollback.Origin{Tool: "x", ID: fmt.Sprintf("%02d", i), Conversation: w.addConversation("p"), Folder: f})
	}
	for folder, want := range map[string]string{
		"/a/b":  "/a/b /a/b/c /a/b/",
		"/a/%":  "/a/% /a/%/x",
		"/a/_":  "/a/_",
		"/a/bc": "/a/bc",
		"/ä":    "/ä/b",
		"/nope": "",
		"/":     "/ /a /a/b /a/b/c /a/bc /a/b-c /a/b.c /a/B /a/% /a/%/x /a/_ /a/x /a/b/ /ä/b",
		`C:\a`:  `C:\a C:\a\b`,
		`C:\`:   `C:\ C:\a C:\a\b C:\ab`,
	} {
		var got []string
		for _, o := range w.listOrigins(driver.OriginQuery{Folder: folder}) {
			got = append(got, o.Folder)
		}
		w.wantSame("below "+folder, want, strings.Join(got, " "))
	}
}

// testPages: pages one behind the other are the whole list, whatever is between them that
// was not asked for.
func testPages(w *originsHarness) {
	var all []scrollback.Origin
	for i := range 60 {
		of := w.addConversation([]string{"mine", "theirs", "theirs"}[i%3])
		all = append(all, w.putOrigin(scrollback.Origin{Tool: []string{"x", "y"}[i%2], ID: fmt.Sprintf("%02d", 59-i/4),
			Conversation: of, Place: "/p", Folder: "/f"}))
	}
	slices.SortFunc(all, func(a, b scrollback.Origin) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Conversation, b.Conversation))
	})
	mine := slices.DeleteFunc(slices.Clone(all), func(o scrollback.Origin) bool {
		h, err := w.Log.ReadHead(w.ctx, o.Conversation)
		w.wantOK(err)
		return h.Project != "mine"
	})
	for _, q := range []driver.OriginQuery{{}, {Place: "/p"}, {Folder: "/f"}, {Projects: []string{"mine"}}} {
		want := all
		if q.Projects != nil {
			want = mine
		}
		for _, q.Limit = range []int{1, 7, 20, 60} {
			var got []scrollback.Origin
			q.After = scrollback.Origin{}
			for {
				page := w.listOrigins(q)
				if got = append(got, page...); len(page) < q.Limit {
					break
				}
				q.After = page[len(page)-1]
			}
			w.wantSame(fmt.Sprintf("pages of %+v", q), want, got)
		}
	}
}

// testTrash: what is in the trash is listed if that is asked for.
func testTrash(w *originsHarness) {
	a := w.addConversation("p")
	b := w.addConversation("p")
	one := w.putOrigin(originsFull(a))
	two := w.putOrigin(originsFull(b))
	_, err := w.Log.PatchConversation(w.ctx, a, w.advanceClock(),
		func(c *scrollback.Conversation) error { c.DeletedAt = w.now; return nil })
	w.wantOK(err)
	for _, q := range []driver.OriginQuery{{}, {Tool: one.Tool, ID: one.ID}, {Folder: "/home/me"},
		{Conversations: []scrollback.ConversationID{a, b}}} {
		w.wantSame("without the trash", []scrollback.Origin{two}, w.listOrigins(q))
		q.Trash = true
		w.wantSame("with the trash", []scrollback.Origin{one, two}, w.listOrigins(q))
	}
	one.Stamp = "in the trash"
	w.putOrigin(one)
	w.wantSame("put there", []scrollback.Origin{one, two}, w.listOrigins(driver.OriginQuery{Trash: true}))
}

// testPurged: origins go with their conversation, and leave a mark that one of the same
// name takes away.
func testOriginsPurged(w *originsHarness) {
	a := w.addConversation("p")
	b := w.addConversation("q")
	o := w.putOrigin(originsFull(a))
	rest := w.putOrigin(originsFull(b))
	purged := func(what string, want bool, tool, id string, projects []string) {
		w.t.Helper()
		got, err := w.Log.WasOriginPurged(w.ctx, tool, id, projects)
		w.wantOK(err)
		if got != want {
			w.t.Fatalf("%s: purged %v", what, got)
		}
	}
	purged("before", false, o.Tool, o.ID, nil)
	_, err := w.Log.PurgeConversation(w.ctx, driver.Purge{Conversation: a, Now: w.advanceClock(), Limit: 100})
	w.wantOK(err)
	w.wantSame("after", []scrollback.Origin{rest}, w.listOrigins(driver.OriginQuery{Trash: true}))
	purged("after", true, o.Tool, o.ID, nil)
	purged("in its project", true, o.Tool, o.ID, []string{"other", "p"})
	purged("in another project", false, o.Tool, o.ID, []string{"q"})
	purged("in none", false, o.Tool, o.ID, []string{})
	purged("of another tool", false, "other", o.ID, nil)
	purged("of another id", false, o.Tool, "other", nil)
	w.putOrigin(rest)
	purged("come back elsewhere", true, o.Tool, o.ID, nil)
	c := w.addConversation("p")
	w.putOrigin(originsFull(c))
	purged("come back", false, o.Tool, o.ID, nil)
	w.wantSame("come back", []scrollback.Origin{rest, originsFull(c)}, w.listOrigins(driver.OriginQuery{}))
}

// testAtRandom: lists say the same as a plain walk over all that was put.
func testAtRandom(w *originsHarness) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var of []scrollback.ConversationID
	project := map[scrollback.ConversationID]string{}
	for range 12 {
		p := pick("p", "q")
		id := w.addConversation(p)
		of = append(of, id)
		project[id] = p
	}
	kept := map[string]scrollback.Origin{}
	for range 200 {
		o := scrollback.Origin{Tool: pick("x", "y"), ID: pick("1", "2", "3", "4"), Conversation: of[r.IntN(len(of))],
			Root:   pick("", "r", "s"),
			Folder: pick("", "/a", "/a/b", "/a/bc"), Place: pick("", "/p", "/q"), Name: pick("n", "m"),
			Stamp: fmt.Sprint(r.IntN(9)), Shared: r.IntN(2) == 0}
		w.putOrigin(o)
		kept[o.Tool+" "+o.ID+" "+string(o.Conversation)] = o

		q := driver.OriginQuery{Tool: pick("", "x"), ID: pick("", "", "2"), Root: pick("", "", "r"),
			Folder: pick("", "", "/a/b", "/a"), Place: pick("", "/p"), Name: pick("", "n")}
		if r.IntN(3) == 0 {
			q.Projects = []string{"q"}
		}
		if r.IntN(3) == 0 {
			q.Conversations = of[:1+r.IntN(len(of))]
		}
		var want []scrollback.Origin
		for _, o := range kept {
			within := q.Folder == "" || o.Folder == q.Folder || strings.HasPrefix(o.Folder, q.Folder+"/")
			if within && (q.Tool == "" || q.Tool == o.Tool) && (q.ID == "" || q.ID == o.ID) &&
				(q.Root == "" || q.Root == o.Root) &&
				(q.Place == "" || q.Place == o.Place) && (q.Name == "" || q.Name == o.Name) &&
				(q.Projects == nil || project[o.Conversation] == "q") &&
				(q.Conversations == nil || slices.Contains(q.Conversations, o.Conversation)) {
				want = append(want, o)
			}
		}
		slices.SortFunc(want, func(a, b scrollback.Origin) int {
			return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Conversation, b.Conversation))
		})
		w.wantSame(fmt.Sprintf("%+v", q), want, w.listOrigins(q))
	}
}
