package drivertest

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// fullEntry returns an entry with every field set and every kind of part. Its payloads
// hold what JSON encoders like to rewrite.
func fullEntry(w *harness) driver.Entry {
	raw := json.RawMessage(`{"z":"<&> \u00e9 é","a":[1.50,1e3,12345678901234567890]}`)
	e := w.makeEntry(scrollback.RoleAssistant, "rich")
	e.TurnID = "turn"
	e.Name = "name"
	e.Model = "maker/model"
	e.Meta = raw
	e.Usage = &scrollback.Usage{InputTokens: 1, CachedTokens: 2, CacheWriteTokens: 3, OutputTokens: 4,
		ReasoningTokens: 5, TotalTokens: 6, Cost: 0.25, Currency: "USD", Estimated: true}
	e.Status = scrollback.StatusInterrupted
	e.Parts = scrollback.Parts{
		scrollback.Text{Text: "a <b>\x00 \u2028 \"q\" 数据库 🙂\r\n", Opaque: raw},
		scrollback.Image{Artifact: artifactID("i"), MediaType: "image/png", Name: "i.png", Size: 9, Width: 2, Height: 3,
			Detail: "low", Opaque: raw},
		scrollback.File{Artifact: artifactID("f"), MediaType: "text/plain", Name: "f", Size: 1 << 40, Opaque: raw},
		scrollback.ToolCall{ID: "c", Name: "t", Arguments: raw, Opaque: raw},
		scrollback.ToolResult{CallID: "c", Name: "t", Text: "r", Artifact: artifactID("r"), IsError: true, Recall: true,
			Opaque: raw},
		scrollback.Reasoning{Text: "hm", Opaque: raw},
	}
	return e
}

// testMessageRoundTrip: a message reads as it was written, to the byte.
func testMessageRoundTrip(w *harness) {
	c := w.addConversation()
	e := fullEntry(w)
	want := e.Message
	want.ConversationID = c.ID
	want.Branch = c.Branch
	want.Seq = 1
	want.Sum = e.Weight
	e.ConversationID = "not"
	e.Branch = "the caller's"
	e.Seq = 77
	e.Sum = scrollback.Weight{Tokens: 5}
	wantSame(w.t, "answer", []scrollback.Message{want}, w.appendEntries(c.ID, e))
	got := w.readMessages(c.Branch, 1, 1)
	wantSame(w.t, "stored", []scrollback.Message{want}, got)
	wantSame(w.t, "found", []scrollback.Message{want},
		w.searchTerms("r"))
	wantHash, err := scrollback.HashMessages([]scrollback.Message{want})
	w.wantOK(err)
	gotHash, err := scrollback.HashMessages(got)
	w.wantOK(err)
	wantSame(w.t, "hash", wantHash, gotHash)
}

// testSeqs: 1, 2, 3 … whichever way messages come, with sums that add up.
func testSeqs(w *harness) {
	c := w.addConversation()
	var all []scrollback.Message
	var sum scrollback.Weight
	add := func(head driver.Head, ms []scrollback.Message) {
		w.t.Helper()
		for _, m := range ms {
			sum = sum.Add(m.Weight)
			if m.Seq != int64(len(all)+1) || m.Sum != sum {
				w.t.Fatalf("seq %d sum %v, want %d and %v", m.Seq, m.Sum, len(all)+1, sum)
			}
			if m.ConversationID != c.ID || m.Branch != c.Branch {
				w.t.Fatalf("message of %s, %s", m.ConversationID, m.Branch)
			}
			all = append(all, m)
		}
		if head.Branch.HeadSeq != int64(len(all)) || head.Branch.Sum != sum || head.Messages != int64(len(all)) {
			w.t.Fatalf("head %d of %d messages, sum %v; want %d, %v",
				head.Branch.HeadSeq, head.Messages, head.Branch.Sum, len(all), sum)
		}
		wantSame(w.t, "stored head", w.readHead(c.ID), head)
	}
	for range 3 {
		got, err := w.tryAppend(c.ID, nil, w.makeEntry(scrollback.RoleSystem, ""), w.makeEntry(scrollback.RoleUser, ""))
		w.wantOK(err)
		add(got.Head, got.Messages)
		begun := w.beginTurn(c.ID, w.makeEntry(scrollback.RoleUser, ""), w.makeEntry(scrollback.RoleUser, ""))
		add(begun.Head, begun.Messages)
		step := w.finishTurn(begun.Turn, scrollback.TurnOpen, w.makeEntry(scrollback.RoleAssistant, ""),
			w.makeEntry(scrollback.RoleTool, ""))
		add(step.Head, step.Messages)
		end := w.finishTurn(begun.Turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, ""))
		add(end.Head, end.Messages)
	}
	wantSame(w.t, "stored", all, w.readMessages(c.Branch, 1, 1000))
}

// testForkSeqs: a branch goes on from its parent and leaves it alone.
func testForkSeqs(w *harness) {
	parent := w.addConversation()
	old := w.appendMessages(parent.ID, 5)
	child := w.addFork(parent, 3)
	new1 := w.appendMessages(child.ID, 2)
	grand := w.addFork(child, 4)
	new2 := w.appendMessages(grand.ID, 1)
	start := w.addFork(parent, 0)
	new3 := w.appendMessages(start.ID, 1)
	more := w.appendMessages(parent.ID, 1)
	for _, rule := range []struct {
		name string
		m    scrollback.Message
		seq  int64
		base scrollback.Weight
	}{
		{"fork at 3", new1[0], 4, old[2].Sum},
		{"fork, next", new1[1], 5, new1[0].Sum},
		{"fork of the fork", new2[0], 5, new1[0].Sum},
		{"fork at 0", new3[0], 1, scrollback.Weight{}},
		{"parent", more[0], 6, old[4].Sum},
	} {
		if rule.m.Seq != rule.seq || rule.m.Sum != rule.base.Add(rule.m.Weight) {
			w.t.Errorf("%s: seq %d sum %v, want %d on top of %v", rule.name, rule.m.Seq, rule.m.Sum, rule.seq, rule.base)
		}
	}
	wantSame(w.t, "the child's path", append(old[:3:3], new1...), w.readMessages(child.Branch, 1, 1000))
	wantSame(w.t, "the grandchild's path", append(old[:3:3], new1[0], new2[0]), w.readMessages(grand.Branch, 1, 1000))
	wantSame(w.t, "across the way in", append(old[2:3:3], new1[0]), w.readMessages(grand.Branch, 3, 4))
	wantSame(w.t, "before it", old[:2], w.readMessages(grand.Branch, 1, 2))
	wantSame(w.t, "the parent's", append(old, more...), w.readMessages(parent.Branch, 1, 1000))
	if h := w.readHead(child.ID); h.Branch.AtSeq != 3 || h.Branch.HeadSeq != 5 || h.Messages != 5 {
		w.t.Errorf("child's head %+v", h)
	}
	CheckInvariants(w.t, w.Driver)
}

// testMessageRuns: both ends count, and what is beyond the path is not there.
func testMessageRuns(w *harness) {
	c := w.addConversation()
	ms := w.appendMessages(c.ID, 6)
	w.appendMessages(w.addConversation().ID, 3)
	for _, rule := range []struct {
		from, to int64
		want     []int
	}{
		{1, 6, []int{1, 2, 3, 4, 5, 6}},
		{2, 4, []int{2, 3, 4}},
		{3, 3, []int{3}},
		{5, 99, []int{5, 6}},
		{0, 2, []int{1, 2}},
		{-9, 1, []int{1}},
		{4, 3, nil},
		{7, 9, nil},
	} {
		var want []scrollback.Message
		for _, seq := range rule.want {
			want = append(want, ms[seq-1])
		}
		got, err := w.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: c.Branch, From: rule.from, To: rule.to})
		w.wantOK(err)
		wantSame(w.t, fmt.Sprintf("%+v", rule), want, got)
	}
	got, err := w.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: "x", From: 1, To: 9})
	w.wantOK(err)
	wantSame(w.t, "of no branch", []scrollback.Message(nil), got)
}

// makeTwice makes the same thing two times, sharing nothing.
func makeTwice[T any](w *harness, mk func() T) (want, in T) {
	now := w.now
	n := w.n
	want = mk()
	w.now = now
	w.n = n
	return want, mk()
}

// overwrite overwrites all that v points at.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			overwrite(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			overwrite(v.Index(i))
			v.Index(i).SetZero()
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			overwrite(v.Elem())
			if v.Kind() == reflect.Pointer {
				v.Elem().SetZero()
			}
		}
	}
}

func scribbleAll(vs ...any) {
	for _, v := range vs {
		overwrite(reflect.ValueOf(v))
	}
}

// testCopies: neither what was passed in nor what was returned leads back to
// what is stored.
func testCopies(w *harness) {
	type created struct {
		C scrollback.Conversation
		B scrollback.Branch
	}
	forkPoint(w)
	want, in := makeTwice(w, func() created { c, b := fullConversation(w); return created{c, b} })
	got, _, err := w.Log.CreateConversation(w.ctx, in.C, in.B)
	w.wantOK(err)
	head := w.readHead(in.C.ID)
	list, err := w.Log.ListConversations(w.ctx, driver.ListQuery{Limit: 9})
	w.wantOK(err)
	known, _, err := w.Log.CreateConversation(w.ctx, in.C, in.B)
	w.wantOK(err)
	id := in.C.ID
	scribbleAll(in, got, head, list, known)
	wantSame(w.t, "conversation", driver.Head{Conversation: want.C, Branch: want.B}, w.readHead(id))
	var edited *scrollback.Conversation
	got, err = w.Log.PatchConversation(w.ctx, id, w.advanceClock(),
		func(c *scrollback.Conversation) error { edited = c; return nil })
	w.wantOK(err)
	scribbleAll(edited.Settings.Tools, edited.Roots, got)
	wantSame(w.t, "patched", want.C.Settings, w.readHead(id).Settings)
	wantSame(w.t, "patched", want.C.Roots, w.readHead(id).Roots)
	copiesOfLog(w)
}

// copiesOfLog is testCopies for messages, turns and folds.
func copiesOfLog(w *harness) {
	c := w.addConversation()
	entry, inEntry := makeTwice(w, func() driver.Entry { return fullEntry(w) })
	answer := w.appendEntries(c.ID, inEntry)
	found := w.searchTerms("r")
	scribbleAll(inEntry, answer, found, w.readMessages(c.Branch, 1, 9))
	wantSame(w.t, "parts", entry.Parts, w.readMessages(c.Branch, 1, 9)[0].Parts)
	wantSame(w.t, "usage", entry.Usage, w.readMessages(c.Branch, 1, 9)[0].Usage)

	turn := w.beginTurn(c.ID).Turn
	d := textDraft("text")
	_, err := w.saveDraft(turn, d)
	w.wantOK(err)
	scribbleAll(d, w.readTurn(turn.ID))
	wantSame(w.t, "draft", textDraft("text"), w.readTurn(turn.ID).Draft)
	f := driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(), State: scrollback.TurnWaiting,
		OpenCalls: textDraft("").ToolCalls, Failure: &scrollback.Failure{Message: "m"}, Window: newWindowMark("w")}
	_, err = w.Turns.FinishStep(w.ctx, f)
	w.wantOK(err)
	last, err := w.Turns.GetLast(w.ctx, c.ID)
	w.wantOK(err)
	scribbleAll(f, last)
	begun, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Admit = func(last *scrollback.Turn) error { scribbleAll(last); return nil }
	})
	w.wantOK(err)
	scribbleAll(begun)
	stored := w.readTurn(turn.ID)
	wantSame(w.t, "window", newWindowMark("w"), stored.Window)
	wantSame(w.t, "open calls", textDraft("").ToolCalls, stored.OpenCalls)
	wantSame(w.t, "failure", &scrollback.Failure{Message: "m"}, stored.Failure)

	cm, inCommit := makeTwice(w, func() driver.FoldCommit {
		cm := plainCommit(w, c, 1, 1)
		cm.Segments[0].Children = []scrollback.SegmentID{"child"}
		return cm
	})
	w.wantOK(w.Views.CommitFold(w.ctx, inCommit))
	scribbleAll(inCommit, w.readHead(c.ID))
	for range 2 {
		segments, err := w.Views.ReadSegments(w.ctx, cm.Receipt.Segments)
		w.wantOK(err)
		wantSame(w.t, "segments", cm.Segments, segments)
		scribbleAll(segments)
	}
	wantSame(w.t, "view", cm.View, w.readHead(c.ID).Branch.View)
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.wantOK(err)
	scribbleAll(receipts)
	receipt, err := w.undoFold(c.Branch)
	w.wantOK(err)
	wantSame(w.t, "receipt", cm.Receipt, receipt)
}

// testMessageIDs: an id that some message has is refused, wherever it comes from,
// and nothing of that write is kept.
func testMessageIDs(w *harness) {
	c := w.addConversation()
	other := w.addConversation()
	taken := w.makeEntry(scrollback.RoleUser, "first")
	_, err := w.Log.AppendEntries(w.ctx, driver.Append{Conversation: c.ID, Now: w.advanceClock(), IfHead: -1,
		Entries: []driver.Entry{taken}})
	w.wantOK(err)
	twice := []driver.Entry{w.makeEntry(scrollback.RoleUser, "kept away"), taken}
	for _, id := range []scrollback.ConversationID{c.ID, other.ID} {
		_, err = w.Log.AppendEntries(w.ctx,
			driver.Append{Conversation: id, Now: w.advanceClock(), IfHead: -1, Entries: twice})
		w.wantCode(err, scrollback.Conflict)
		_, err = w.tryBegin(id, nil, twice...)
		w.wantCode(err, scrollback.Conflict)
	}
	turn := w.beginTurn(other.ID).Turn
	_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.advanceClock(),
		State: scrollback.TurnComplete, Entries: twice})
	w.wantCode(err, scrollback.Conflict)
	for id, want := range map[scrollback.ConversationID]int64{c.ID: 1, other.ID: 0} {
		h, err := w.Log.ReadHead(w.ctx, id)
		w.wantOK(err)
		wantSame(w.t, fmt.Sprint("messages of ", id), want, h.Messages)
	}
}
