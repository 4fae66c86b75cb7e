package drivertest

import (
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/filltest"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// inOrder makes seqs ascend, as those of views do.
func inOrder(v *scrollback.View) { slices.Sort(v.Without) }

// testFieldsOfConversations: whatever a conversation has is stored by every call that may store it.
func testFieldsOfConversations(w *harness) {
	f := &filltest.Filler{}
	of := func(c scrollback.Conversation, was scrollback.Conversation) scrollback.Conversation {
		// What the log decides, and what the store never changes.
		c.ID = was.ID
		c.Branch = was.Branch
		c.Messages = was.Messages
		c.Version = was.Version
		c.Parent = was.Parent
		c.AgentOf = was.AgentOf
		c.Ancestors = was.Ancestors
		c.CreatedAt = was.CreatedAt
		c.UpdatedAt = was.UpdatedAt
		c.PurgedAt = was.PurgedAt
		c.DeletedAt = was.DeletedAt
		return c
	}
	parent := w.addConversation()
	w.appendMessages(parent.ID, 2)
	c, b := newConversation(w)
	full := filltest.Filled[scrollback.Conversation](f)
	full.ID = c.ID
	full.Branch = c.Branch
	full.Messages = 0
	full.PurgedAt = 0
	full.DeletedAt = 0
	created, _, err := w.Log.CreateConversation(w.ctx, full, b)
	w.wantOK(err)
	wantSame(w.t, "what Create returns", full, created)
	wantSame(w.t, "what Create stores", full, w.readHead(c.ID).Conversation)

	edited := filltest.Filled[scrollback.Conversation](f)
	_, err = w.Log.PatchConversation(w.ctx, c.ID, w.advanceClock(), func(c *scrollback.Conversation) error {
		deleted := c.DeletedAt
		*c = edited
		c.DeletedAt = deleted
		return nil
	})
	w.wantOK(err)
	now := w.readHead(c.ID).Conversation
	wantSame(w.t, "what Patch stores", of(edited, now), now)
	wantSame(w.t, "what Patch leaves", []any{full.Parent, full.AgentOf, full.Ancestors, full.CreatedAt},
		[]any{now.Parent, now.AgentOf, now.Ancestors, now.CreatedAt})

	edited = filltest.Filled[scrollback.Conversation](f)
	begun, err := w.Turns.Begin(w.ctx, driver.BeginRequest{Now: w.advanceClock(), Turn: scrollback.Turn{
		ID: scrollback.TurnID(w.newID("turn")), Conversation: c.ID, Owner: "o", LeaseUntil: w.now + leaseTime},
		Edit: func(c *scrollback.Conversation) { *c = edited }})
	w.wantOK(err)
	now = w.readHead(c.ID).Conversation
	wantSame(w.t, "what Begin stores", of(edited, now), now)
	w.finishTurn(begun.Turn, scrollback.TurnComplete, w.makeEntry(scrollback.RoleAssistant, "an answer"))

	edited = filltest.Filled[scrollback.Conversation](f)
	_, err = w.Log.RewindHead(w.ctx, driver.Rewind{Conversation: c.ID, Now: w.advanceClock(),
		To:   scrollback.Branch{ID: scrollback.BranchID(w.newID("branch"))},
		Edit: func(c *scrollback.Conversation) { *c = edited }})
	w.wantOK(err)
	now = w.readHead(c.ID).Conversation
	wantSame(w.t, "what Rewind stores", of(edited, now), now)
}

// testFieldsOfMessages: so with messages, and what they mention.
func testFieldsOfMessages(w *harness) {
	f := &filltest.Filler{}
	c := w.addConversation()
	m := filltest.Filled[scrollback.Message](f)
	m.ID = scrollback.MessageID(w.newID("message"))
	m.Role = scrollback.RoleUser
	a := filltest.Filled[scrollback.Artifact](f)
	a.ID = artifactID("filled")
	s := filltest.Filled[driver.SourceVersion](f)
	k := filltest.Filled[scrollback.Kept](f)
	k.Change = ""
	out, err := w.Log.AppendEntries(w.ctx, driver.Append{Conversation: c.ID, Now: w.advanceClock(), IfHead: 0,
		Entries: []driver.Entry{{Message: m, Mentions: []scrollback.Artifact{a}, Sources: []driver.SourceVersion{s},
			Kept: []scrollback.Kept{k}}}})
	w.wantOK(err)
	m.ConversationID = c.ID
	m.Branch = c.Branch
	m.Seq = 1
	m.Sum = m.Weight
	wantSame(w.t, "what Append returns", []scrollback.Message{m}, out.Messages)
	stored, err := w.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: c.Branch, From: 1, To: 1})
	w.wantOK(err)
	wantSame(w.t, "a stored message", []scrollback.Message{m}, stored)
	s.Branch = c.Branch
	s.Seq = 1
	sources, err := w.Log.FindSources(w.ctx, []scrollback.ConversationID{c.ID}, []string{s.Name})
	w.wantOK(err)
	wantSame(w.t, "a stored source", []driver.SourceVersion{s}, sources)
	k.Message = m.ID
	k.Conversation = c.ID
	k.Branch = c.Branch
	k.Seq = 1
	change := filltest.Filled[scrollback.Kept](f)
	change.Message = m.ID
	change.Conversation = c.ID
	change.Branch = c.Branch
	change.Seq = 1
	w.wantOK(w.Log.ChangeKept(w.ctx, driver.KeptChange{Row: change, Now: w.advanceClock()}))
	kept, err := w.Log.ReadKept(w.ctx, driver.KeptQuery{Branch: c.Branch, To: 1, Limit: 9,
		Conversations: []scrollback.ConversationID{c.ID}})
	w.wantOK(err)
	wantSame(w.t, "what is kept of a message", []scrollback.Kept{k, change}, kept)
	var walked []scrollback.Artifact
	var heads []scrollback.Branch
	w.wantOK(w.Admin.WalkRows(w.ctx, driver.AuditWalk{
		Total:        func(int64) error { return nil },
		Conversation: func(scrollback.Conversation) error { return nil },
		Branch:       func(b scrollback.Branch) error { heads = append(heads, b); return nil },
		Message:      func(scrollback.Message) error { return nil },
		Segment:      func(scrollback.Segment) error { return nil },
		Artifact:     func(a scrollback.Artifact, _ int64) error { walked = append(walked, a); return nil },
		Turn:         func(scrollback.Turn) error { return nil },
		Flaw:         func(driver.Flaw) error { return nil }}))
	wantSame(w.t, "a stored artifact", []scrollback.Artifact{a}, walked)
	wantSame(w.t, "the branch", []scrollback.Branch{w.readHead(c.ID).Branch}, heads)
	if b := heads[0]; b.Sum != m.Weight || b.HeadSeq != 1 || b.UpdatedAt == 0 {
		w.t.Errorf("the branch has not grown: %+v", b)
	}
}

// testFieldsOfTurns: so with turns, what their steps sent, and what was used.
func testFieldsOfTurns(w *harness) {
	f := &filltest.Filler{}
	c := w.addConversation()
	t := filltest.Filled[scrollback.Turn](f)
	t.ID = scrollback.TurnID(w.newID("turn"))
	t.Conversation = c.ID
	t.LeaseUntil = w.now + leaseTime
	t.StartedAt = w.now
	t.Cancel = false
	b, err := w.Turns.Begin(w.ctx, driver.BeginRequest{Turn: t, Now: w.advanceClock()})
	w.wantOK(err)
	t.Branch = c.Branch
	t.Seq = 0
	t.LastSeq = 0
	t.State = scrollback.TurnOpen
	wantSame(w.t, "what Begin returns", t, b.Turn)
	get := func() scrollback.Turn {
		w.t.Helper()
		got, err := w.Turns.Get(w.ctx, t.ID)
		w.wantOK(err)
		return got
	}
	wantSame(w.t, "what Begin stores", t, get())

	meta := filltest.Filled[scrollback.TurnMeta](f)
	t.Draft = filltest.Filled[scrollback.Draft](f)
	t.LeaseUntil++
	t.Meta = &meta
	_, err = w.Turns.SaveDraft(w.ctx, driver.SavedDraft{Turn: t.ID, Owner: t.Owner, Draft: t.Draft, Meta: &meta,
		LeaseUntil: t.LeaseUntil})
	w.wantOK(err)
	wantSame(w.t, "what Save stores", t, get())
	w.wantOK(w.Turns.Stop(w.ctx, t.ID))
	t.Cancel = true
	wantSame(w.t, "what Stop stores", t, get())

	end := filltest.Filled[driver.FinishedStep](&filltest.Filler{N: 1000})
	end.Turn = t.ID
	end.Owner = t.Owner
	end.State = scrollback.TurnFailed
	end.Entries = []driver.Entry{w.makeEntry(scrollback.RoleAssistant, "an answer")}
	end.Sent.Step = 1
	end.Thread = nil // whose fields have a test of their own
	end.Learn = func(float64, scrollback.UsageRecord) float64 { return 1.25 }
	u := &end.Usage[0]
	u.Conversation = c.ID
	u.Currency = "USD"
	end.Usage = end.Usage[:1]
	if _, err = w.Turns.FinishStep(w.ctx, end); err != nil {
		w.t.Fatal(err)
	}
	t.State = end.State
	t.Draft = scrollback.Draft{}
	t.LeaseUntil = get().LeaseUntil // which matters to nobody
	t.OpenCalls = end.OpenCalls
	t.FinishReason = end.FinishReason
	t.Failure = end.Failure
	t.Window = end.Window
	t.Meta = end.Meta
	t.Reply = end.Entries[0].ID
	t.LastSeq = 1
	t.EndedAt = end.Now
	wantSame(w.t, "what Finish stores", t, get())
	steps, err := w.Turns.ReadSteps(w.ctx, t.ID)
	w.wantOK(err)
	wantSame(w.t, "what the step sent", []scrollback.SentRequest{*end.Sent}, steps)
	metas, err := w.Turns.ReadMeta(w.ctx, []scrollback.TurnID{t.ID})
	w.wantOK(err)
	wantSame(w.t, "the meta of the turn", *end.Meta, metas[t.ID])
	for hash, text := range end.Texts {
		texts, err := w.Turns.ReadTexts(w.ctx, c.ID, []string{hash})
		w.wantOK(err)
		wantSame(w.t, "a text that the step named", map[string]string{hash: text}, texts)
	}
	day := scrollback.DayOf(u.At)
	days, err := w.Access.ListUsageDays(w.ctx, day, day)
	w.wantOK(err)
	sum := scrollback.UsageDay{Day: day, Model: u.Model, Project: c.Project}
	sum.Currency = u.Currency
	sum.AddCall(u.Usage)
	wantSame(w.t, "the sums of the day", []scrollback.UsageDay{sum}, days)
	parts, err := w.Access.DivideUsage(w.ctx,
		driver.UsagePartsQuery{First: day, Last: day, ByKey: true, ByConversation: true,
			ByPurpose: true})
	w.wantOK(err)
	sum.Key = u.Key
	sum.Conversation = c.ID
	sum.Purpose = u.Purpose
	wantSame(w.t, "the record", []scrollback.UsageDay{sum}, parts)

	l := filltest.Filled[scrollback.Learned](f)
	l.Factor = 1.25
	w.wantOK(w.Turns.UpdateLearned(w.ctx, "filled", func(was *scrollback.Learned) { *was = l }))
	known, err := w.Turns.ReadLearned(w.ctx, "filled")
	w.wantOK(err)
	wantSame(w.t, "what was learned", l, known)
}

// testFieldsOfViews: so with segments, views and receipts.
func testFieldsOfViews(w *harness) {
	f := &filltest.Filler{}
	c := w.addConversation()
	w.appendMessages(c.ID, 4)
	commit := driver.FoldCommit{Conversation: c.ID, Branch: c.Branch, Now: w.advanceClock(),
		View: filltest.Filled[scrollback.View](f), Receipt: filltest.Filled[scrollback.Receipt](f),
		Segments: []scrollback.Segment{filltest.Filled[scrollback.Segment](f)},
		Kept:     []scrollback.Kept{filltest.Filled[scrollback.Kept](f)}}
	k := &commit.Kept[0]
	k.Change = ""
	k.Conversation = c.ID
	k.Branch = c.Branch
	k.Seq = 2
	inOrder(&commit.View)
	commit.View.Without = nil // which a fold leaves as it is
	s := &commit.Segments[0]
	s.ID = scrollback.SegmentID(w.newID("segment"))
	s.Conversation = c.ID
	s.Branch = c.Branch
	w.wantOK(w.Views.CommitFold(w.ctx, commit))
	got, err := w.Views.ReadSegments(w.ctx, []scrollback.SegmentID{s.ID})
	w.wantOK(err)
	wantSame(w.t, "a stored segment", commit.Segments, got)
	kept, err := w.Log.ReadKept(w.ctx, driver.KeptQuery{Branch: c.Branch, To: 4, Limit: 9})
	w.wantOK(err)
	wantSame(w.t, "what is kept with a fold", commit.Kept, kept)
	b := w.readHead(c.ID).Branch
	wantSame(w.t, "a stored view", commit.View, b.View)
	if b.ViewVersion != 1 {
		w.t.Errorf("the view has version %d", b.ViewVersion)
	}
	receipts, err := w.Views.ListReceipts(w.ctx, c.ID, 9)
	w.wantOK(err)
	shown := storedJSON(w, commit.Receipt)
	shown.Undone = false
	wantSame(w.t, "a stored receipt", []scrollback.Receipt{shown}, receipts)
	whole, err := w.Views.ListStoredReceipts(w.ctx, c.ID, 0, 9)
	w.wantOK(err)
	if len(whole) != 1 {
		w.t.Fatalf("%d receipts are stored", len(whole))
	}
	wantSame(w.t, "the receipt with its view", storedJSON(w, commit.Receipt), whole[0].Receipt)
	if whole[0].Branch != c.Branch || !whole[0].Folded || whole[0].Undone {
		w.t.Errorf("the receipt is stored as %+v", whole[0])
	}
	before := filltest.Filled[scrollback.View](f)
	inOrder(&before)
	w.wantOK(w.Admin.Repair(w.ctx,
		driver.Repair{View: &driver.ViewRepair{Branch: c.Branch, IfViewVersion: 1, View: before},
			Now: w.advanceClock()}))
	wantSame(w.t, "a view with what is left out", before, w.readHead(c.ID).Branch.View)
}

// storedJSON returns a value as its JSON keeps it: some figures are made when it is shown.
func storedJSON[T any](w *harness, v T) (out T) {
	text, err := json.Marshal(v)
	w.wantOK(err)
	w.wantOK(json.Unmarshal(text, &out))
	return out
}

// testFieldsOfAccess: so with keys, their limits and projects, and with origins and changes.
func testFieldsOfAccess(w *harness) {
	f := &filltest.Filler{}
	k := filltest.Filled[scrollback.Key](f)
	w.wantOK(w.Access.AddKey(w.ctx, driver.NewKey{Key: k, Hash: driver.SecretHash{1}, Now: 1, Most: 9}))
	keys, err := w.Access.ListKeys(w.ctx)
	w.wantOK(err)
	wantSame(w.t, "a stored key", []scrollback.Key{k}, keys)
	found, err := w.Access.FindKey(w.ctx, driver.SecretHash{1})
	w.wantOK(err)
	wantSame(w.t, "a key by its secret", k, found)
	w.wantOK(w.Access.SignIn(w.ctx, driver.NewSignIn{Hash: driver.SecretHash{2}, Key: k.ID, Now: 1, Ends: 77, Most: 9}))
	found, ends, err := w.Access.FindSignIn(w.ctx, driver.SecretHash{2}, 2)
	w.wantOK(err)
	wantSame(w.t, "the key of a sign-in", k, found)
	wantSame(w.t, "its end", int64(77), ends)
	l := filltest.Filled[scrollback.KeyLimits](f)
	w.wantOK(w.Access.SetKeyLimits(w.ctx, k.ID, l))
	limits, err := w.Access.ReadKeyLimits(w.ctx, k.ID)
	w.wantOK(err)
	wantSame(w.t, "the limits of a key", l, limits)
	for range 2 { // stored, and stored again
		p := filltest.Filled[scrollback.Project](f)
		stored, err := w.Access.PutProject(w.ctx, "filled", w.advanceClock(), func(was *scrollback.Project) error {
			p.CreatedAt = was.CreatedAt
			*was = p
			return nil
		})
		w.wantOK(err)
		p.Name = "filled"
		p.Conversations = 0
		p.Version = stored.Version
		p.CreatedAt = stored.CreatedAt
		p.UpdatedAt = w.now
		wantSame(w.t, "what PutProject returns", p, stored)
		read, err := w.Access.ReadProject(w.ctx, "filled")
		w.wantOK(err)
		wantSame(w.t, "a stored project", p, read)
	}
	c := w.addConversation(func(c *scrollback.Conversation) { c.Project = "filled" })
	for range 2 {
		o := filltest.Filled[scrollback.Origin](f)
		o.Tool = "tool"
		o.ID = "id"
		o.Conversation = c.ID
		w.wantOK(w.Log.PutOrigin(w.ctx, o, ""))
		origins, err := w.Log.ListOrigins(w.ctx, driver.OriginQuery{Tool: "tool", ID: "id"})
		w.wantOK(err)
		wantSame(w.t, "a stored origin", []scrollback.Origin{o}, origins)
	}
	claim := filltest.Filled[driver.Claim](f)
	claim.Now = 1
	claim.Until = 2
	got, err := w.Turns.ClaimWork(w.ctx, claim)
	w.wantOK(err)
	wantSame(w.t, "a claim", true, got)
	tally := driver.Tally{Actor: "actor", Start: 1, Until: 9, Most: 5}
	_, err = w.Access.CountTally(w.ctx, tally)
	w.wantOK(err)
	used, err := w.Access.ReadTally(w.ctx, tally)
	w.wantOK(err)
	wantSame(w.t, "a tally", int64(1), used)
}

// testHashesMade: every message has the hash of its row, and making them begins again when it is
// asked for.
func testHashesMade(w *harness) {
	c := w.addConversation()
	w.appendMessages(c.ID, 3)
	for range 2 {
		for done := false; !done; {
			made, err := w.Admin.FillHashes(w.ctx, 2)
			w.wantOK(err)
			done = made.Done
		}
		got, err := w.Admin.VerifyHashes(w.ctx, driver.MessageQuery{Branch: c.Branch, From: 1, To: 3})
		w.wantOK(err)
		if len(got.Damaged) > 0 || got.Without > 0 {
			w.t.Fatalf("after all hashes are made: %+v", got)
		}
		w.wantOK(w.Admin.RefillHashes(w.ctx))
	}
}
