package drivertest

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// rich is an entry with every field set and every kind of part. Its payloads
// hold what JSON encoders like to rewrite.
func rich(w *bench) driver.Entry {
	raw := json.RawMessage(`{"z":"<&> \u00e9 é","a":[1.50,1e3,12345678901234567890]}`)
	e := w.entry(scrollback.RoleAssistant, "rich")
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
func testMessageRoundTrip(w *bench) {
	c := w.conversation()
	e := rich(w)
	want := e.Message
	want.ConversationID = c.ID
	want.Branch = c.Branch
	want.Seq = 1
	want.Sum = e.Weight
	e.ConversationID = "not"
	e.Branch = "the caller's"
	e.Seq = 77
	e.Sum = scrollback.Weight{Tokens: 5}
	same(w.t, "answer", []scrollback.Message{want}, w.append(c.ID, e))
	got := w.messages(c.Branch, 1, 1)
	same(w.t, "stored", []scrollback.Message{want}, got)
	same(w.t, "found", []scrollback.Message{want},
		w.search("r"))
	wantHash, err := scrollback.HashMessages([]scrollback.Message{want})
	w.ok(err)
	gotHash, err := scrollback.HashMessages(got)
	w.ok(err)
	same(w.t, "hash", wantHash, gotHash)
}

// testSeqs: 1, 2, 3 … whichever way messages come, with sums that add up.
func testSeqs(w *bench) {
	c := w.conversation()
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
		same(w.t, "stored head", w.head(c.ID), head)
	}
	for range 3 {
		got, err := w.tryAppend(c.ID, nil, w.entry(scrollback.RoleSystem, ""), w.entry(scrollback.RoleUser, ""))
		w.ok(err)
		add(got.Head, got.Messages)
		begun := w.begin(c.ID, w.entry(scrollback.RoleUser, ""), w.entry(scrollback.RoleUser, ""))
		add(begun.Head, begun.Messages)
		step := w.finish(begun.Turn, scrollback.TurnOpen, w.entry(scrollback.RoleAssistant, ""),
			w.entry(scrollback.RoleTool, ""))
		add(step.Head, step.Messages)
		end := w.finish(begun.Turn, scrollback.TurnComplete, w.entry(scrollback.RoleAssistant, ""))
		add(end.Head, end.Messages)
	}
	same(w.t, "stored", all, w.messages(c.Branch, 1, 1000))
}

// testForkSeqs: a branch goes on from its parent and leaves it alone.
func testForkSeqs(w *bench) {
	parent := w.conversation()
	old := w.say(parent.ID, 5)
	child := w.fork(parent, 3)
	new1 := w.say(child.ID, 2)
	grand := w.fork(child, 4)
	new2 := w.say(grand.ID, 1)
	start := w.fork(parent, 0)
	new3 := w.say(start.ID, 1)
	more := w.say(parent.ID, 1)
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
	same(w.t, "the child's path", append(old[:3:3], new1...), w.messages(child.Branch, 1, 1000))
	same(w.t, "the grandchild's path", append(old[:3:3], new1[0], new2[0]), w.messages(grand.Branch, 1, 1000))
	same(w.t, "across the way in", append(old[2:3:3], new1[0]), w.messages(grand.Branch, 3, 4))
	same(w.t, "before it", old[:2], w.messages(grand.Branch, 1, 2))
	same(w.t, "the parent's", append(old, more...), w.messages(parent.Branch, 1, 1000))
	if h := w.head(child.ID); h.Branch.AtSeq != 3 || h.Branch.HeadSeq != 5 || h.Messages != 5 {
		w.t.Errorf("child's head %+v", h)
	}
	Check(w.t, w.Driver)
}

// testMessageRuns: both ends count, and what is beyond the path is not there.
func testMessageRuns(w *bench) {
	c := w.conversation()
	ms := w.say(c.ID, 6)
	w.say(w.conversation().ID, 3)
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
		w.ok(err)
		same(w.t, fmt.Sprintf("%+v", rule), want, got)
	}
	got, err := w.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: "x", From: 1, To: 9})
	w.ok(err)
	same(w.t, "of no branch", []scrollback.Message(nil), got)
}

// twice makes the same thing two times, sharing nothing.
func twice[T any](w *bench, mk func() T) (want, in T) {
	now := w.now
	n := w.n
	want = mk()
	w.now = now
	w.n = n
	return want, mk()
}

// scribble overwrites all that v points at.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
			v.Index(i).SetZero()
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			scribble(v.Elem())
			if v.Kind() == reflect.Pointer {
				v.Elem().SetZero()
			}
		}
	}
}

func scribbleAll(vs ...any) {
	for _, v := range vs {
		scribble(reflect.ValueOf(v))
	}
}

// testCopies: neither what was passed in nor what was returned leads back to
// what is stored.
func testCopies(w *bench) {
	type created struct {
		C scrollback.Conversation
		B scrollback.Branch
	}
	elder(w)
	want, in := twice(w, func() created { c, b := full(w); return created{c, b} })
	got, _, err := w.Log.CreateConversation(w.ctx, in.C, in.B)
	w.ok(err)
	head := w.head(in.C.ID)
	list, err := w.Log.ListConversations(w.ctx, driver.ListQuery{Limit: 9})
	w.ok(err)
	known, _, err := w.Log.CreateConversation(w.ctx, in.C, in.B)
	w.ok(err)
	id := in.C.ID
	scribbleAll(in, got, head, list, known)
	same(w.t, "conversation", driver.Head{Conversation: want.C, Branch: want.B}, w.head(id))
	var edited *scrollback.Conversation
	got, err = w.Log.PatchConversation(w.ctx, id, w.tick(),
		func(c *scrollback.Conversation) error { edited = c; return nil })
	w.ok(err)
	scribbleAll(edited.Settings.Tools, edited.Roots, got)
	same(w.t, "patched", want.C.Settings, w.head(id).Settings)
	same(w.t, "patched", want.C.Roots, w.head(id).Roots)
	copiesOfLog(w)
}

// copiesOfLog is testCopies for messages, turns and folds.
func copiesOfLog(w *bench) {
	c := w.conversation()
	entry, inEntry := twice(w, func() driver.Entry { return rich(w) })
	answer := w.append(c.ID, inEntry)
	found := w.search("r")
	scribbleAll(inEntry, answer, found, w.messages(c.Branch, 1, 9))
	same(w.t, "parts", entry.Parts, w.messages(c.Branch, 1, 9)[0].Parts)
	same(w.t, "usage", entry.Usage, w.messages(c.Branch, 1, 9)[0].Usage)

	turn := w.begin(c.ID).Turn
	d := draft("text")
	_, err := w.save(turn, d)
	w.ok(err)
	scribbleAll(d, w.turn(turn.ID))
	same(w.t, "draft", draft("text"), w.turn(turn.ID).Draft)
	f := driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.tick(), State: scrollback.TurnWaiting,
		OpenCalls: draft("").ToolCalls, Failure: &scrollback.Failure{Message: "m"}, Window: mark("w")}
	_, err = w.Turns.FinishStep(w.ctx, f)
	w.ok(err)
	last, err := w.Turns.GetLast(w.ctx, c.ID)
	w.ok(err)
	scribbleAll(f, last)
	begun, err := w.tryBegin(c.ID, func(b *driver.BeginRequest) {
		b.Admit = func(last *scrollback.Turn) error { scribbleAll(last); return nil }
	})
	w.ok(err)
	scribbleAll(begun)
	stored := w.turn(turn.ID)
	same(w.t, "window", mark("w"), stored.Window)
	same(w.t, "open calls", draft("").ToolCalls, stored.OpenCalls)
	same(w.t, "failure", &scrollback.Failure{Message: "m"}, stored.Failure)

	cm, inCommit := twice(w, func() driver.FoldCommit {
		cm := plainCommit(w, c, 1, 1)
		cm.Segments[0].Children = []scrollback.SegmentID{"child"}
		return cm
	})
	w.ok(w.Views.CommitFold(w.ctx, inCommit))
	scribbleAll(inCommit, w.head(c.ID))
	for range 2 {
		segments, err := w.Views.ReadSegments(w.ctx, cm.Receipt.Segments)
		w.ok(err)
		same(w.t, "segments", cm.Segments, segments)
		scribbleAll(segments)
	}
	same(w.t, "view", cm.View, w.head(c.ID).Branch.View)
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.ok(err)
	scribbleAll(receipts)
	receipt, err := w.unfold(c.Branch)
	w.ok(err)
	same(w.t, "receipt", cm.Receipt, receipt)
}

// testMessageIDs: an id that some message has is refused, wherever it comes from,
// and nothing of that write is kept.
func testMessageIDs(w *bench) {
	c := w.conversation()
	other := w.conversation()
	taken := w.entry(scrollback.RoleUser, "first")
	_, err := w.Log.AppendEntries(w.ctx, driver.Append{Conversation: c.ID, Now: w.tick(), IfHead: -1,
		Entries: []driver.Entry{taken}})
	w.ok(err)
	twice := []driver.Entry{w.entry(scrollback.RoleUser, "kept away"), taken}
	for _, id := range []scrollback.ConversationID{c.ID, other.ID} {
		_, err = w.Log.AppendEntries(w.ctx, driver.Append{Conversation: id, Now: w.tick(), IfHead: -1, Entries: twice})
		w.code(err, scrollback.Conflict)
		_, err = w.tryBegin(id, nil, twice...)
		w.code(err, scrollback.Conflict)
	}
	turn := w.begin(other.ID).Turn
	_, err = w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: w.tick(),
		State: scrollback.TurnComplete, Entries: twice})
	w.code(err, scrollback.Conflict)
	for id, want := range map[scrollback.ConversationID]int64{c.ID: 1, other.ID: 0} {
		h, err := w.Log.ReadHead(w.ctx, id)
		w.ok(err)
		same(w.t, fmt.Sprint("messages of ", id), want, h.Messages)
	}
}
