package drivertest

import (
	"fmt"
	"math"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// addIndexed says texts in a conversation of its own and indexes them.
func (w *indexHarness) addIndexed(texts ...string) []scrollback.Message {
	w.t.Helper()
	ms := w.appendMessages(w.addConversation("one").ID, texts...)
	w.catchUp(0)
	return ms
}

// testPostings: a term is found where it is whole, as often as it is there, in the order
// of places; results are parallel to terms, whatever those are.
func testPostings(w *indexHarness) {
	w.addIndexed("red blue red", "blue green", "redder", "", "数据 据库 库", "7077 端口 口", "and or not near null")
	for _, terms := range [][]string{{"red"}, {"blue"}, {"red", "green", "blue"}, {"数据"}, {"库"}, {"数"}, {"7077", "none"},
		{"none"},
		{"and", "or", "not", "near", "null"}, {"red", "red"}, {"RED"}, {"r"}, {"z"}, {"\"red\""}, {"r%"}, {"re_"}, {"\x00"},
		{""}} {
		w.checkQuery(driver.PostingQuery{Terms: terms})
	}
	got := w.findPostings(driver.PostingQuery{Terms: []string{"red"}})[0]
	w.wantSame("counts", []uint8{2}, got.Counts)
	w.addIndexed(strings.TrimSpace(strings.Repeat("many ", 300)), strings.TrimSpace(strings.Repeat("many ", 255)), "many")
	w.wantSame("counts of many", []uint8{255, 255, 1},
		w.findPostings(driver.PostingQuery{Terms: []string{"many"}})[0].Counts)
}

// testPrefixes: a term with a star is every term that begins so; one with several of them
// counts once.
func testPrefixes(w *indexHarness) {
	w.addIndexed("数据 据库 库", "库房 房 port", "库 port", "portal 门 库 port", "port", "por po", "porz")
	for _, terms := range [][]string{{"库*"}, {"port*"}, {"数*", "门*"}, {"p*"},
		{"po*", "por*", "port*", "porta*", "portal*", "portals*"}, {"q*"},
		{"port*", "port"}, {"库*", "房"}, {"\U0010ffff*"}} {
		w.checkQuery(driver.PostingQuery{Terms: terms})
	}
	got := w.findPostings(driver.PostingQuery{Terms: []string{"port*"}})[0]
	w.wantSame("holding", int64(4), got.Holding)
	w.wantSame("counts", []uint8{1, 1, 2, 1}, got.Counts)
}

// testNarrowed: runs of places, role and time narrow where a term is found, alone and
// together, and not how many hold it.
func testNarrowed(w *indexHarness) {
	a := w.addIndexed("word x", "word", "word", "word")
	b := w.addIndexed("word", "x", "word", "word")
	na := w.branchNumber(a[0].Branch)
	nb := w.branchNumber(b[0].Branch)
	runs := func(rs ...driver.PlaceRun) []driver.PlaceRun { return rs }
	run := func(n, from, to int64) driver.PlaceRun {
		return driver.PlaceRun{First: driver.NewPlace(n, from), Last: driver.NewPlace(n, to)}
	}
	for i, q := range []driver.PostingQuery{
		{Within: runs(run(na, 1, 4))}, {Within: runs(run(na, 2, 2), run(nb, 3, math.MaxUint32))},
		{Within: runs(run(nb, 2, 2))},
		{Within: runs()}, {Within: runs(run(nb+1, 1, 9))},
		{Within: runs(run(na, 1, 1), run(na, 3, 3), run(nb, 1, 1), run(nb, 4, 4))},
		{Role: scrollback.RoleUser}, {Role: scrollback.RoleAssistant}, {Role: scrollback.RoleTool}, {Role: "nobody"},
		{From: a[2].CreatedAt}, {To: a[2].CreatedAt}, {From: a[1].CreatedAt, To: b[2].CreatedAt},
		{From: a[1].CreatedAt, To: a[1].CreatedAt},
		{From: math.MaxInt64}, {Within: runs(run(na, 1, 4)), Role: scrollback.RoleUser, From: a[1].CreatedAt,
			To: b[0].CreatedAt},
	} {
		q.Terms = []string{"word", "wo*", "x"}
		w.checkQuery(q)
		w.wantSame(fmt.Sprint("holding in ", i), int64(7), w.findPostings(q)[0].Holding)
	}
}

// testMost: of a term that too many hold only their number is read.
func testMost(w *indexHarness) {
	w.addIndexed("a b c", "a b", "a", "ab a")
	for most := range 6 {
		w.checkQuery(driver.PostingQuery{Terms: []string{"a", "b", "c", "none", "a*"}, Most: most})
		w.checkQuery(driver.PostingQuery{Terms: []string{"a", "b", "c"}, Most: most, Role: scrollback.RoleUser})
	}
}

// testLong: documents of many terms, and terms of many bytes, are found as any other.
func testLong(w *indexHarness) {
	var many []string
	for i := range 4000 {
		many = append(many, fmt.Sprintf("t%04x", i*7))
	}
	wide := strings.Repeat("w", 64)
	texts := []string{strings.Join(many, " "), wide + " " + wide[:63] + "v " + strings.Repeat("库", 21),
		strings.Join(many[1000:3000], " ")}
	for i := range 40 {
		texts = append(texts, strings.Join(many[i*100:i*100+60], " "))
	}
	w.addIndexed(texts...)
	w.addIndexed(texts[2], wide)
	for range 2 {
		for _, terms := range [][]string{{many[0], many[999], many[1000], many[2999], many[3999]}, {"t0*", "t1*", "t6d*"},
			{wide, wide + "*", wide[:60] + "*"},
			{strings.Repeat("库", 21), "库*"}, {"t", "t*", "t0000", "tffff", "u"}} {
			w.checkQuery(driver.PostingQuery{Terms: terms})
			w.checkQuery(driver.PostingQuery{Terms: terms, Role: scrollback.RoleAssistant, Most: 30})
		}
		w.maintainAll()
	}
}

// testAgree: whatever is put, maintained and asked for, the index agrees with a plain list.
func testAgree(w *indexHarness) {
	var ids []scrollback.ConversationID
	for range 4 {
		ids = append(ids, w.addConversation("one").ID)
	}
	for range 60 {
		w.appendMessages(ids[w.randomBelow(len(ids))], w.randomTexts(1+w.randomBelow(5))...)
		if w.randomBelow(2) == 0 {
			w.catchUp(w.randomBelow(9))
		}
		if w.randomBelow(4) == 0 {
			_, err := w.Index.Maintain(w.ctx)
			w.wantOK(err)
		}
		if w.randomBelow(3) > 0 {
			continue
		}
		q := driver.PostingQuery{Most: w.randomBelow(3) * 20}
		for range 1 + w.randomBelow(4) {
			q.Terms = append(q.Terms, indexVocabulary[w.randomBelow(len(indexVocabulary))]+[]string{"", "",
				"*"}[w.randomBelow(3)])
		}
		if w.randomBelow(3) == 0 {
			q.Role = scrollback.RoleUser
		}
		if w.randomBelow(3) == 0 {
			q.From = w.now - int64(w.randomBelow(3000))
			q.To = w.now - int64(w.randomBelow(1000))
		}
		for n := int64(1); w.randomBelow(3) == 0 && n < 6; n += 2 {
			first := int64(1 + w.randomBelow(20))
			q.Within = append(q.Within, driver.PlaceRun{First: driver.NewPlace(n, first),
				Last: driver.NewPlace(n, first+int64(w.randomBelow(20)))})
		}
		w.checkQuery(q)
	}
	w.catchUp(0)
	w.checkAll()
}

// testLines: branches by number, of the projects that are let through, and of the trash
// only if asked for; a conversation's branches, whether in the trash or not.
func testLines(w *indexHarness) {
	a := w.addConversation("one")
	b := w.addConversation("two")
	w.appendMessages(a.ID, "", "", "")
	na := w.branchNumber(a.Branch)
	nb := w.branchNumber(b.Branch)
	if na < 1 || nb <= na || nb >= 1<<31 {
		w.t.Fatalf("branches have the numbers %d and %d", na, nb)
	}
	line := map[int64]driver.IndexedBranch{na: {Number: na, Branch: a.Branch, Conversation: a.ID, First: 1, Head: 3},
		nb: {Number: nb, Branch: b.Branch, Conversation: b.ID, First: 1}}
	find := func(q driver.IndexedBranchQuery, want ...int64) {
		w.t.Helper()
		got, err := w.Index.FindBranches(w.ctx, q)
		w.wantOK(err)
		lines := map[int64]driver.IndexedBranch{}
		for _, n := range want {
			lines[n] = line[n]
		}
		w.wantSame(fmt.Sprintf("%+v", q), lines, got)
	}
	all := []int64{na, nb, nb + 7, 0}
	find(driver.IndexedBranchQuery{})
	find(driver.IndexedBranchQuery{Numbers: all}, na, nb)
	find(driver.IndexedBranchQuery{Numbers: []int64{nb}}, nb)
	find(driver.IndexedBranchQuery{Numbers: all, Projects: []string{"two", "none"}}, nb)
	find(driver.IndexedBranchQuery{Numbers: all, Projects: []string{}})
	patch := func(id scrollback.ConversationID, edit func(*scrollback.Conversation)) {
		_, err := w.Log.PatchConversation(w.ctx, id, w.advanceClock(),
			func(c *scrollback.Conversation) error { edit(c); return nil })
		w.wantOK(err)
	}
	patch(a.ID, func(c *scrollback.Conversation) { c.DeletedAt = w.now })
	find(driver.IndexedBranchQuery{Numbers: all}, nb)
	find(driver.IndexedBranchQuery{Numbers: all, Trash: true}, na, nb)
	find(driver.IndexedBranchQuery{Numbers: all, Trash: true, Projects: []string{"two"}}, nb)
	patch(a.ID, func(c *scrollback.Conversation) {
		c.DeletedAt = 0
		c.Project = "two"
	})
	find(driver.IndexedBranchQuery{Numbers: all, Projects: []string{"two"}}, na, nb)
	got, err := w.Index.ListBranchesOf(w.ctx, []scrollback.ConversationID{b.ID, "unknown", a.ID})
	w.wantOK(err)
	w.wantSame("lines of both", []driver.IndexedBranch{line[na], line[nb]}, got)
	got, err = w.Index.ListBranchesOf(w.ctx, nil)
	w.wantOK(err)
	w.wantSame("lines of none", 0, len(got))
}

// testLinesOfForks: a branch that continues another one names it and where its own begins.
func testLinesOfForks(w *indexHarness) {
	a := w.addConversation("one")
	ms := w.appendMessages(a.ID, "", "", "", "")
	child := w.addFork(a, ms[1])
	w.appendMessages(child.ID, "", "")
	h, err := w.Log.RewindHead(w.ctx, driver.Rewind{Conversation: a.ID, Now: w.advanceClock(),
		To: scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")),
			Conversation: a.ID, Parent: a.Branch, AtSeq: 3, HeadSeq: 3, Sum: ms[2].Sum},
		Edit: func(*scrollback.Conversation) {}})
	w.wantOK(err)
	w.appendMessages(a.ID, "")
	n := w.branchNumber(a.Branch)
	other := w.branchNumber(h.Branch.ID)
	got, err := w.Index.ListBranchesOf(w.ctx, []scrollback.ConversationID{a.ID, child.ID})
	w.wantOK(err)
	w.wantSame("lines", []driver.IndexedBranch{{Number: n, Branch: a.Branch, Conversation: a.ID, First: 1, Head: 4},
		{Number: w.branchNumber(child.Branch), Branch: child.Branch, Conversation: child.ID, Parent: n, First: 3, Head: 4},
		{Number: other, Branch: h.Branch.ID, Conversation: a.ID, Parent: n, First: 4, Head: 4}}, got)
}

// testMarks: who said it, when, and how long it is; nothing for a place without a document.
func testMarks(w *indexHarness) {
	ms := w.addIndexed("red red", "", "blue", "green and more")
	n := w.branchNumber(ms[0].Branch)
	at := func(seq int64) driver.Place { return driver.NewPlace(n, seq) }
	got, err := w.Index.ReadMarks(w.ctx, []driver.Place{0, at(1), at(2), at(4), at(5), driver.NewPlace(n+1, 1)})
	w.wantOK(err)
	w.wantSame("marks", []driver.Mark{{Place: at(1), Role: scrollback.RoleUser, CreatedAt: ms[0].CreatedAt, Length: 2},
		{Place: at(4), Role: scrollback.RoleAssistant, CreatedAt: ms[3].CreatedAt, Length: 3}}, got)
	w.appendMessages(ms[0].ConversationID, "behind")
	got, err = w.Index.ReadMarks(w.ctx, []driver.Place{at(5)})
	w.wantOK(err)
	w.wantSame("marks of what is behind", 0, len(got))
	w.checkAll()
}

// testLocated: messages as they are read elsewhere, whether indexed or not.
func testLocated(w *indexHarness) {
	a := w.addIndexed("red", "", "blue")
	b := w.appendMessages(a[0].ConversationID, "behind")
	c := w.addIndexed("green")
	n := w.branchNumber(a[0].Branch)
	at := func(seq int64) driver.Place { return driver.NewPlace(n, seq) }
	got, err := w.Index.ReadMessagesAt(w.ctx, []driver.Place{0, at(1), at(2), at(4), at(5),
		driver.NewPlace(w.branchNumber(c[0].Branch), 1), driver.NewPlace(1<<30, 1)})
	w.wantOK(err)
	w.wantSame("messages", []scrollback.Message{a[0], a[1], b[0], c[0]}, got)
	got, err = w.Index.ReadMessagesAt(w.ctx, nil)
	w.wantOK(err)
	w.wantSame("nothing", 0, len(got))
}
