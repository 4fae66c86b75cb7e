package drivertest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// makeArtifact returns the record of some bytes, named after them.
func (w *harness) makeArtifact(name string, at int64) scrollback.Artifact {
	return scrollback.Artifact{ID: artifactID(name), MediaType: "text/x-" + name, Name: name,
		Size: int64(len(name)), CreatedAt: at}
}

// refsOf reads a whole list of refs, page by page.
func refsOf(w *harness, q driver.RefQuery) []scrollback.RefEntry {
	w.t.Helper()
	var out []scrollback.RefEntry
	for range 1000 {
		page, err := w.Log.ListRefs(w.ctx, q)
		w.wantOK(err)
		if len(page) > q.Limit {
			w.t.Fatalf("%d on a page of %d", len(page), q.Limit)
		}
		if out = append(out, page...); len(page) < q.Limit {
			return out
		}
		last := page[len(page)-1]
		q.Before = &driver.ListKey{At: last.CreatedAt, ID: string(last.Ref)}
	}
	w.t.Fatal("the list does not end")
	return nil
}

// noRefs wants a conversation that mentions nothing.
func noRefs(w *harness, id scrollback.ConversationID) {
	w.t.Helper()
	wantSame(w.t, "refs", []scrollback.RefEntry(nil),
		refsOf(w, driver.RefQuery{Conversations: []scrollback.ConversationID{id}, Limit: 9}))
}

// testRefEntries: what an entry says of a segment and of an artifact.
func testRefEntries(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 5)
	s := w.commitFold(c, 2, 4).Segments[0]
	a := w.makeArtifact("log", s.CreatedAt-1)
	w.wantOK(w.Log.PutArtifact(w.ctx, a, c.ID))
	want := []scrollback.RefEntry{{
		Ref: scrollback.HistoryRef(s.ID), Kind: scrollback.RefHistory, Conversation: c.ID, Branch: c.Branch,
		FirstSeq: 2, LastSeq: 4, From: s.From, To: s.To, Bytes: s.Bytes, Messages: 3,
		MediaType: "text/markdown", Hint: "what was said", SHA256: s.SHA256, CreatedAt: s.CreatedAt,
	}, {
		Ref: scrollback.ArtifactRef(a.ID), Kind: scrollback.RefArtifact, Conversation: c.ID, Bytes: 3,
		MediaType: "text/x-log", Hint: "log", SHA256: string(a.ID), CreatedAt: a.CreatedAt,
	}}
	ids := []scrollback.ConversationID{c.ID}
	wantSame(w.t, "all", want, refsOf(w, driver.RefQuery{Conversations: ids, Limit: 9}))
	wantSame(w.t, "history", want[:1],
		refsOf(w, driver.RefQuery{Conversations: ids, Kind: scrollback.RefHistory, Limit: 9}))
	wantSame(w.t, "artifacts", want[1:], refsOf(w,
		driver.RefQuery{Conversations: ids, Kind: scrollback.RefArtifact, Limit: 9}))
	for i, e := range want {
		wantSame(w.t, "one", want[i:i+1], refsOf(w, driver.RefQuery{Conversations: ids, Ref: e.Ref, Limit: 9}))
		for _, among := range [][]string{{c.Project}, {"none", c.Project}} {
			wantSame(w.t, "one, of its project", want[i:i+1], refsOf(w, driver.RefQuery{Ref: e.Ref, Projects: among, Limit: 9}))
		}
		for _, among := range [][]string{{}, {"none"}} {
			wantSame(w.t, "one, of others", []scrollback.RefEntry(nil),
				refsOf(w, driver.RefQuery{Ref: e.Ref, Projects: among, Limit: 9}))
			wantSame(w.t, "one, of others, named", []scrollback.RefEntry(nil),
				refsOf(w, driver.RefQuery{Conversations: ids, Ref: e.Ref, Projects: among, Limit: 9}))
		}
	}
	wantSame(w.t, "one of another kind", []scrollback.RefEntry(nil),
		refsOf(w, driver.RefQuery{Conversations: ids, Ref: want[0].Ref, Kind: scrollback.RefArtifact, Limit: 9}))
}

// testRefPages: newest first, then the higher ref, on pages of any size, over
// several conversations.
func testRefPages(w *harness) {
	a := w.addConversation()
	b := w.addConversation()
	w.appendMessages(a.ID, 4)
	for i := range int64(4) {
		cm := plainCommit(w, a, i+1, i+1)
		cm.Segments[0].CreatedAt = 1000 + i/2
		w.wantOK(w.Views.CommitFold(w.ctx, cm))
	}
	for i, name := range []string{"p", "q", "r", "s", "t", "u"} {
		on := []scrollback.ConversationID{a.ID, b.ID}[i%2]
		w.wantOK(w.Log.PutArtifact(w.ctx, w.makeArtifact(name, 1000+int64(i)/3), on))
	}
	for _, ids := range [][]scrollback.ConversationID{{a.ID, b.ID}, {a.ID}} {
		all := refsOf(w, driver.RefQuery{Conversations: ids, Limit: 100})
		if want := map[int]int{1: 7, 2: 10}[len(ids)]; len(all) != want {
			w.t.Fatalf("%d refs, want %d", len(all), want)
		}
		sorted := slices.IsSortedFunc(all, func(x, y scrollback.RefEntry) int {
			return cmp.Or(cmp.Compare(y.CreatedAt, x.CreatedAt), cmp.Compare(y.Ref, x.Ref))
		})
		if !sorted {
			w.t.Fatalf("not newest first: %+v", all)
		}
		for limit := 1; limit <= 11; limit++ {
			wantSame(w.t, fmt.Sprint("pages of ", limit), all, refsOf(w, driver.RefQuery{Conversations: ids, Limit: limit}))
		}
	}
}

// testRefScope: a ref is found only through a conversation that mentions it, or
// through any when none is named.
func testRefScope(w *harness) {
	a := w.addConversation()
	b := w.addConversation()
	w.appendMessages(a.ID, 1)
	s := w.commitFold(a, 1, 1).Segments[0]
	art := w.makeArtifact("x", w.now)
	w.wantOK(w.Log.PutArtifact(w.ctx, art, a.ID))
	for _, ref := range []scrollback.Ref{"", scrollback.HistoryRef(s.ID), scrollback.ArtifactRef(art.ID)} {
		for _, ids := range [][]scrollback.ConversationID{{b.ID}, {"unknown"}} {
			got := refsOf(w, driver.RefQuery{Conversations: ids, Ref: ref, Limit: 9})
			wantSame(w.t, fmt.Sprintf("%q through %v", ref, ids), []scrollback.RefEntry(nil), got)
		}
		got := refsOf(w, driver.RefQuery{Ref: ref, Limit: 9})
		wantSame(w.t, fmt.Sprintf("%q through any", ref), ref != "", len(got) == 1 && got[0].Conversation == a.ID)
	}
}

// testArtifacts: one that is known stays as first recorded, no matter who mentions it;
// without a conversation nothing is mentioned.
func testArtifacts(w *harness) {
	a := w.addConversation()
	b := w.addConversation()
	first := w.makeArtifact("x", w.advanceClock())
	before := w.readHead(a.ID)
	w.wantOK(w.Log.PutArtifact(w.ctx, first, ""))
	noRefs(w, a.ID)
	later := first
	later.MediaType = "image/png"
	later.Name = "other"
	later.Size = 99
	later.CreatedAt = w.advanceClock()
	w.wantOK(w.Log.PutArtifact(w.ctx, later, a.ID))
	wantSame(w.t, "head", before, w.readHead(a.ID))
	entry := func(c scrollback.Conversation, name string, at int64) []scrollback.RefEntry {
		return []scrollback.RefEntry{{Ref: scrollback.ArtifactRef(first.ID), Kind: scrollback.RefArtifact,
			Conversation: c.ID, Bytes: first.Size, MediaType: first.MediaType, Hint: name,
			SHA256: string(first.ID), CreatedAt: at}}
	}
	ids := []scrollback.ConversationID{a.ID}
	wantSame(w.t, "mentioned", entry(a, "other", later.CreatedAt),
		refsOf(w, driver.RefQuery{Conversations: ids, Limit: 9}))
	again := later
	again.Name = "third"
	again.CreatedAt = w.advanceClock()
	w.wantOK(w.Log.PutArtifact(w.ctx, again, a.ID))
	wantSame(w.t, "mentioned again", entry(a, "other", later.CreatedAt),
		refsOf(w, driver.RefQuery{Conversations: ids, Limit: 9}))
	w.wantOK(w.Log.PutArtifact(w.ctx, again, b.ID))
	ids[0] = b.ID
	wantSame(w.t, "by another", entry(b, "third", again.CreatedAt),
		refsOf(w, driver.RefQuery{Conversations: ids, Limit: 9}))
}

// testMentions: what an entry mentions is recorded with it, on every way in.
func testMentions(w *harness) {
	c := w.addConversation()
	var want []string
	entry := func(names ...string) driver.Entry {
		e := w.makeEntry(scrollback.RoleTool, "mentioning")
		for _, name := range names {
			e.Mentions = append(e.Mentions, w.makeArtifact(name, w.advanceClock()))
			want = append([]string{name}, want...)
		}
		return e
	}
	w.appendEntries(c.ID, entry("a", "b"), entry())
	turn := w.beginTurn(c.ID, entry("c")).Turn
	w.finishTurn(turn, scrollback.TurnOpen, entry("d"), entry("e"))
	w.now += leaseTime + 1
	salvaged := entry("f")
	mine := entry("g")
	_, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Salvage = func(scrollback.Turn) []driver.Entry { return []driver.Entry{salvaged} }
	}, mine)
	w.wantOK(err)
	lost := w.makeArtifact("lost", w.advanceClock())
	e := w.makeEntry(scrollback.RoleUser, "")
	e.Mentions = []scrollback.Artifact{lost}
	_, err = w.tryBegin(c.ID, nil, e)
	w.wantCode(err, scrollback.Conflict)
	_, err = w.tryAppend(c.ID, nil, e)
	w.wantCode(err, scrollback.Conflict)
	var got []string
	for _, e := range refsOf(w, driver.RefQuery{Conversations: []scrollback.ConversationID{c.ID}, Limit: 3}) {
		got = append(got, e.Hint)
	}
	wantSame(w.t, "mentioned, newest first", want, got)
}

// sourceNames are those of all sources in tests.
var sourceNames = []string{"notes/a.md", "计划.md"}

// randomSources returns some sources of a message.
func (w *randomWalk) randomSources() (out []driver.SourceVersion) {
	for _, name := range sourceNames {
		if w.chance(8) {
			out = append(out, driver.SourceVersion{Name: name, Version: 1 + w.rng.IntN(4), SHA256: pickOne(w, "x", "y")})
		}
	}
	return out
}
