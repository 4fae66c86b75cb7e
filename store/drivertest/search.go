package drivertest

import (
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// corpus appends one message per line of terms.
func corpus(w *bench, id scrollback.ConversationID, lines ...string) []scrollback.Message {
	w.t.Helper()
	var entries []driver.Entry
	for _, line := range lines {
		entries = append(entries, w.entry(scrollback.RoleUser, line))
	}
	return w.append(id, entries...)
}

// pick lists messages by their places in ms.
func pick(ms []scrollback.Message, at ...int) []scrollback.Message {
	var out []scrollback.Message
	for _, i := range at {
		out = append(out, ms[i])
	}
	return out
}

func anyOf(terms ...string) driver.Match { return driver.Match{Any: terms} }

func allOf(phrases ...[]string) driver.Match { return driver.Match{Must: phrases} }

// testSearchAny: one term is enough; terms are whole.
func testSearchAny(w *bench) {
	ms := corpus(w, w.conversation().ID, "red blue", "blue green", "redder", "", "数据 据库 库", "7077 端口 口")
	w.finds(anyOf("red"), pick(ms, 0)...)
	w.finds(anyOf("blue"), pick(ms, 0, 1)...)
	w.finds(anyOf("red", "green"), pick(ms, 0, 1)...)
	w.finds(anyOf("数据"), pick(ms, 4)...)
	w.finds(anyOf("库"), pick(ms, 4)...)
	w.finds(anyOf("数"))
	w.finds(anyOf("7077", "none"), pick(ms, 5)...)
	w.finds(anyOf("none"))
	w.finds(anyOf("and", "or", "not", "near", "null"))
}

// testSearchMust: every phrase, its terms one after the other; Any is then a wish.
func testSearchMust(w *bench) {
	ms := corpus(w, w.conversation().ID, "a b c d", "b a d c", "a x b c", "a b", "c d a b", "数据 据库 库", "据库 库 数据")
	w.finds(allOf([]string{"a", "b"}), pick(ms, 0, 3, 4)...)
	w.finds(allOf([]string{"b", "c"}), pick(ms, 0, 2)...)
	w.finds(allOf([]string{"b"}), pick(ms, 0, 1, 2, 3, 4)...)
	w.finds(allOf([]string{"a", "b"}, []string{"c", "d"}), pick(ms, 0, 4)...)
	w.finds(allOf([]string{"a", "b"}, []string{"none"}))
	w.finds(allOf([]string{"d", "a", "b"}), pick(ms, 4)...)
	w.finds(allOf([]string{"数据", "据库"}), pick(ms, 5)...)
	w.finds(driver.Match{Must: [][]string{{"a", "b"}}, Any: []string{"none"}}, pick(ms, 0, 3, 4)...)
	w.finds(driver.Match{Must: [][]string{{"a", "b"}}, Any: []string{"d"}}, pick(ms, 0, 3, 4)...)
	w.finds(driver.Match{Must: [][]string{{"none"}}, Any: []string{"a"}})
	other := w.conversation() // a phrase does not reach into the next message
	corpus(w, other.ID, "p", "q")
	w.finds(allOf([]string{"p", "q"}))
}

// testSearchPrefix: a term with a star is the beginning of some term.
func testSearchPrefix(w *bench) {
	ms := corpus(w, w.conversation().ID, "数据 据库 库", "库房 房 port", "库 port", "portal 门 库", "port")
	w.finds(anyOf("库*"), pick(ms, 0, 1, 2, 3)...)
	w.finds(anyOf("port*"), pick(ms, 1, 2, 3, 4)...)
	w.finds(anyOf("数*", "门*"), pick(ms, 0, 3)...)
	w.finds(allOf([]string{"据*"}), pick(ms, 0)...)
	w.finds(allOf([]string{"据库", "库*"}), pick(ms, 0)...)
	w.finds(allOf([]string{"库*", "port"}), pick(ms, 2)...)
	w.finds(allOf([]string{"库*", "port*"}), pick(ms, 2)...)
	w.finds(allOf([]string{"库*", "房"}), pick(ms, 1)...)
}

// testSearchFilters: conversation, project, role and time narrow, alone and together.
func testSearchFilters(w *bench) {
	a := w.conversation(func(c *scrollback.Conversation) { c.Project = "one" })
	b := w.conversation(func(c *scrollback.Conversation) { c.Project = "two" })
	c := w.conversation(func(c *scrollback.Conversation) { c.Project = "two" })
	var ms []scrollback.Message
	for _, conv := range []scrollback.Conversation{a, b, c} {
		ms = append(ms, w.append(conv.ID, w.entry(scrollback.RoleUser, "word"), w.entry(scrollback.RoleAssistant, "word user"))...)
	}
	find := func(q driver.SearchQuery, want ...int) {
		w.t.Helper()
		for _, m := range []driver.Match{anyOf("word"), allOf([]string{"word"})} {
			q.Match = m
			same(w.t, fmt.Sprintf("%+v", q), pick(ms, want...), w.search(q).Found)
		}
	}
	ids := func(ids ...scrollback.ConversationID) []scrollback.ConversationID { return ids }
	find(driver.SearchQuery{}, 0, 1, 2, 3, 4, 5)
	find(driver.SearchQuery{Conversations: ids(b.ID)}, 2, 3)
	find(driver.SearchQuery{Conversations: ids(a.ID, c.ID)}, 0, 1, 4, 5)
	find(driver.SearchQuery{Conversations: ids("unknown")})
	find(driver.SearchQuery{Projects: []string{"two"}}, 2, 3, 4, 5)
	find(driver.SearchQuery{Projects: []string{"none"}})
	find(driver.SearchQuery{Projects: []string{"none", "two"}}, 2, 3, 4, 5)
	find(driver.SearchQuery{Projects: []string{}})
	find(driver.SearchQuery{Role: scrollback.RoleUser}, 0, 2, 4)
	find(driver.SearchQuery{Role: scrollback.RoleTool})
	find(driver.SearchQuery{Projects: []string{"two"}, Role: scrollback.RoleAssistant, Conversations: ids(a.ID, b.ID)}, 3)
	same(w.t, "a role is no term", 3, len(w.search(driver.SearchQuery{Match: anyOf("user")}).Found))
	from, to := ms[2].CreatedAt, ms[4].CreatedAt
	find(driver.SearchQuery{From: from}, 2, 3, 4, 5)
	find(driver.SearchQuery{To: to}, 0, 1, 2, 3)
	find(driver.SearchQuery{From: from, To: to}, 2, 3)
	find(driver.SearchQuery{From: from + 1, To: to, Role: scrollback.RoleAssistant}, 3)
	find(driver.SearchQuery{From: from, To: from})
	find(driver.SearchQuery{From: from, To: to + 1, Conversations: ids(a.ID, c.ID)}, 4)
	_, err := w.Log.Patch(w.ctx, a.ID, w.tick(), func(c *scrollback.Conversation) error { c.Project = "two"; return nil })
	w.ok(err)
	find(driver.SearchQuery{Projects: []string{"two"}}, 0, 1, 2, 3, 4, 5)
}

// testSearchTrash: what is in the trash is found only by who names the
// conversation, and by everybody once restored.
func testSearchTrash(w *bench) {
	a, b := w.conversation(), w.conversation()
	ms := append(corpus(w, a.ID, "word"), corpus(w, b.ID, "word")...)
	w.trash(a.ID)
	w.finds(anyOf("word"), ms[1])
	same(w.t, "asked for by id", ms[:1], w.search(driver.SearchQuery{Match: anyOf("word"),
		Conversations: []scrollback.ConversationID{a.ID}}).Found)
	same(w.t, "asked for by id in another project", 0, len(w.search(driver.SearchQuery{Match: anyOf("word"), Projects: []string{"none"},
		Conversations: []scrollback.ConversationID{a.ID}}).Found))
	_, err := w.Log.Patch(w.ctx, a.ID, w.tick(), func(c *scrollback.Conversation) error { c.DeletedAt = 0; return nil })
	w.ok(err)
	w.finds(anyOf("word"), ms...)
}

// testSearchCounts: Documents and Holding speak of the whole store, whatever the
// query narrows to, so that a hit ranks alike wherever it is looked for.
func testSearchCounts(w *bench) {
	a, b := w.conversation(), w.conversation()
	corpus(w, a.ID, "red red", "red blue", "", "库房 库")
	corpus(w, b.ID, "red", "blueish")
	w.fork(a, 2)
	for _, q := range []driver.SearchQuery{
		{}, {Conversations: []scrollback.ConversationID{b.ID}}, {Role: scrollback.RoleTool}, {Projects: []string{"none"}}, {Limit: 1},
	} {
		q.Any = []string{"red", "none", "blue", "blue*", "库*"}
		got := w.search(q)
		same(w.t, fmt.Sprintf("documents for %+v", q), int64(6), got.Documents)
		same(w.t, fmt.Sprintf("holding for %+v", q), []int64{3, 0, 1, 2, 1}, got.Holding)
	}
	got := w.search(driver.SearchQuery{Match: allOf([]string{"red"})})
	same(w.t, "without Any", []int64{}, got.Holding)
}

// testSearchTruncated: over the limit, messages with every word that there is are
// kept before any other; guesses do not count as words.
func testSearchTruncated(w *bench) {
	c := w.conversation()
	ms := corpus(w, c.ID, "a b c", "a b", "a a a a", "b c", "a", "c", "c a b")
	for limit := 1; limit <= len(ms)+1; limit++ {
		got := w.search(driver.SearchQuery{Match: anyOf("a", "b", "c"), Limit: limit})
		same(w.t, fmt.Sprint("found at ", limit), min(limit, len(ms)), len(got.Found))
		same(w.t, fmt.Sprint("truncated at ", limit), limit < len(ms), got.Truncated)
		full := 0
		for _, m := range got.Found {
			if m.Seq == ms[0].Seq || m.Seq == ms[6].Seq {
				full++
			}
		}
		same(w.t, fmt.Sprint("with every term at ", limit), min(limit, 2), full)
	}
	for _, q := range []driver.SearchQuery{
		{Match: anyOf("a", "b", "none", "c"), Limit: 2},
		{Match: anyOf("a", "b", "c", "d"), Words: 3, Limit: 2},
		{Match: anyOf("a", "b", "c", "d", "e"), Words: 3, Limit: 2, To: ms[6].CreatedAt + 1},
	} {
		corpus(w, c.ID, "d", "d e", "e d d")
		same(w.t, fmt.Sprintf("with every word of %+v", q), pick(ms, 0, 6), w.search(q).Found)
	}
	got := w.search(driver.SearchQuery{Match: driver.Match{Any: []string{"b", "c"}, Must: [][]string{{"a*"}}}, Limit: 2})
	same(w.t, "with a must", pick(ms, 0, 6), got.Found)
}

// testSearchAtomic: what was not written is not found, however it failed.
func testSearchAtomic(w *bench) {
	c := w.conversation()
	lost := func() driver.Entry { return w.entry(scrollback.RoleUser, "lost") }
	no := errors.New("no")
	_, err := w.tryBegin(c.ID, func(b *driver.Begin) {
		b.Admit = func(*scrollback.Turn) error { return no }
	}, lost())
	if !errors.Is(err, no) {
		w.t.Fatalf("error %v, want Admit's own", err)
	}
	turn := w.begin(c.ID, w.entry(scrollback.RoleUser, "kept")).Turn
	_, err = w.tryBegin(c.ID, nil, lost())
	w.code(err, scrollback.Conflict)
	_, err = w.tryAppend(c.ID, nil, lost())
	w.code(err, scrollback.Conflict)
	_, err = w.Turns.Finish(w.ctx, driver.Finish{Turn: turn.ID, Owner: "thief", Now: w.tick(),
		State: scrollback.TurnComplete, Entries: []driver.Entry{lost()}})
	w.lost(err)
	got := w.search(driver.SearchQuery{Match: anyOf("lost", "kept")})
	if len(got.Found) != 1 || got.Documents != 1 {
		w.t.Fatalf("found %d of %d messages", len(got.Found), got.Documents)
	}
	same(w.t, "holding", []int64{0, 1}, got.Holding)
}

// search asks for random terms, phrases and filters.
func (w *walk) search() {
	w.index()
	w.look()
	q := driver.SearchQuery{Projects: some(w, nil, nil, []string{"one"}, []string{"one", "none"}), Role: some(w, "", "", scrollback.RoleUser), Limit: 10_000}
	seen := map[string]bool{}
	for _, t := range w.terms(3) {
		if t += some(w, "", "", "*"); !seen[t] {
			seen[t] = true
			q.Any = append(q.Any, t)
		}
	}
	if phrase := w.terms(2); len(phrase) > 0 && (w.often(50) || len(q.Any) == 0) {
		phrase[0] += some(w, "", "", "*")
		q.Must = [][]string{phrase}
	}
	if len(q.Any)+len(q.Must) == 0 {
		return
	}
	if w.often(30) {
		q.Conversations = []scrollback.ConversationID{w.conversation().ID, w.conversation().ID}
	}
	if w.often(30) {
		q.From, q.To = w.now-int64(w.rng.IntN(2000)), w.now-int64(w.rng.IntN(500))
	}
	q.Words = w.rng.IntN(len(q.Any) + 1)
	both(w, fmt.Sprintf("search %+v", q), func(d *driver.Driver) (driver.SearchResult, error) {
		got, err := d.Find.Search(w.ctx, q)
		byID(got.Found)
		return got, err
	})
}
