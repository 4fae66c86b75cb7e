package drivertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// randomWalk does the same things to two drivers.
type randomWalk struct {
	t             testing.TB
	ctx           context.Context
	rng           *rand.Rand
	seed          uint64
	a, b          *driver.Driver
	now           int64
	n             int
	cut           int                       // of the index
	conversations []scrollback.Conversation // as planned, for id and branch
	turns         []scrollback.Turn         // as planned, for id and owner
	talks         []*clientTalk             // of clients that resend their histories
	requests      []*clientRequest          // of theirs, that run
	log           []string                  // the calls made so far
}

// walkMoves lists what a walk does and how often, of their sum.
var walkMoves = []struct {
	often int
	move  func(*randomWalk)
}{
	{6, (*randomWalk).createConversation}, {5, (*randomWalk).patchConversation}, {22,
		(*randomWalk).beginTurn}, {10, (*randomWalk).saveDraft}, {20, (*randomWalk).finishStep},
	{10, (*randomWalk).appendEntries}, {10, (*randomWalk).commitFold}, {5, (*randomWalk).undoFold}, {3,
		(*randomWalk).stopTurn}, {4, (*randomWalk).putArtifact},
	{5, (*randomWalk).searchIndex}, {4, (*randomWalk).listAll}, {3, (*randomWalk).updateLearned}, {8,
		(*randomWalk).rewindHead}, {2, (*randomWalk).purgeConversation},
	{4, walkOrigins}, {3, walkAliases}, {4, (*randomWalk).changeKept}, {14, (*randomWalk).beginBeside},
	{6, (*randomWalk).appendBeside},
	{4, (*randomWalk).takeOver},
	{20, (*randomWalk).sendRequest}, {18, (*randomWalk).answerRequest},
}

// RunWalk does n things, chosen by seed, to two empty drivers and compares every
// answer, then all that can be read of them.
func RunWalk(t testing.TB, seed uint64, n int, a, b *driver.Driver) {
	t.Helper()
	w := &randomWalk{t: t, ctx: t.Context(), rng: rand.New(rand.NewPCG(seed, 1)), seed: seed, a: a, b: b, now: 1_000_000}
	sum := 0
	for _, m := range walkMoves {
		sum += m.often
	}
	w.createConversation()
	for range n {
		w.advanceClock()
		at := w.rng.IntN(sum)
		for _, m := range walkMoves {
			if at -= m.often; at < 0 {
				m.move(w)
				break
			}
		}
	}
	for _, turn := range w.turns {
		w.readTurn(turn.ID)
	}
	wantSame(t, fmt.Sprintf("seed %d: all that can be read", seed), readAll(t, a), readAll(t, b))
	for _, d := range []*driver.Driver{a, b} {
		CheckInvariants(t, d)
		checkSound(t, d)
	}
}

// callBoth makes a call on both drivers, compares what they answer, and hands it on.
func callBoth[T any](w *randomWalk, op string, call func(*driver.Driver) (T, error)) (T, bool) {
	w.t.Helper()
	w.log = append(w.log, op)
	va, ea := call(w.a)
	vb, eb := call(w.b)
	type outcome struct {
		Code  scrollback.Code
		Lost  bool
		Value T
	}
	oa := outcome{scrollback.CodeOf(ea), errors.Is(ea, scrollback.ErrLostLease), va}
	ob := outcome{scrollback.CodeOf(eb), errors.Is(eb, scrollback.ErrLostLease), vb}
	if ea != nil && eb != nil { // what comes with an error means nothing
		oa.Value = *new(T)
		ob.Value = *new(T)
	}
	if d := describeDifference(oa, ob); d != "" {
		from := max(0, len(w.log)-20)
		w.t.Fatalf("seed %d, after %d calls, ending in\n  %s\nanswers differ (-a +b), errors %v and %v:\n%s",
			w.seed, len(w.log), strings.Join(w.log[from:], "\n  "), ea, eb, d)
	}
	return va, ea == nil
}

// callBothError is callBoth for a call that returns nothing but an error.
func callBothError(w *randomWalk, op string, call func(*driver.Driver) error) bool {
	w.t.Helper()
	_, ok := callBoth(w, op, func(d *driver.Driver) (struct{}, error) { return struct{}{}, call(d) })
	return ok
}

// advanceClock moves the clock on. It stays even, and leases end on odd times.
func (w *randomWalk) advanceClock() int64 {
	w.now += 2 * int64(1+w.rng.IntN(20))
	return w.now
}

func (w *randomWalk) newID(kind string) string {
	w.n++
	return makeID(w.n, kind)
}

// chance returns true in that percentage of cases.
func (w *randomWalk) chance(percent int) bool { return w.rng.IntN(100) < percent }

// pickOne picks one of vs.
func pickOne[T any](w *randomWalk, vs ...T) T { return vs[w.rng.IntN(len(vs))] }

// pickConversation picks one, a recent one more often.
func (w *randomWalk) pickConversation() scrollback.Conversation {
	if w.chance(70) {
		return pickOne(w, w.conversations[max(0, len(w.conversations)-3):]...)
	}
	return pickOne(w, w.conversations...)
}

// pickTurn picks one, a recent one more often.
func (w *randomWalk) pickTurn() (scrollback.Turn, bool) {
	if len(w.turns) == 0 {
		return scrollback.Turn{}, false
	}
	t := pickOne(w, w.turns...)
	if w.chance(85) {
		t = pickOne(w, w.turns[max(0, len(w.turns)-3):]...)
	}
	if w.chance(8) {
		t.Owner = "thief"
	}
	return t, true
}

// walkWords are what the walk's messages are found by.
var walkWords = []string{"red", "redder", "blue", "green", "7077", "port", "数据", "据库", "库", "库房", "端口", "口"}

func (w *randomWalk) randomTerms(n int) []string {
	out := make([]string, w.rng.IntN(n+1))
	for i := range out {
		out[i] = pickOne(w, walkWords...)
	}
	return out
}

// randomEntries makes up to n messages.
func (w *randomWalk) randomEntries(n int) []driver.Entry {
	var out []driver.Entry
	for range w.rng.IntN(n + 1) {
		w.now += 2
		e := driver.Entry{Message: scrollback.Message{
			ID: scrollback.MessageID(w.newID("message")), Status: scrollback.StatusComplete, CreatedAt: w.now,
			Role:   pickOne(w, scrollback.RoleUser, scrollback.RoleAssistant, scrollback.RoleTool, scrollback.RoleSystem),
			Weight: scrollback.Weight{Tokens: w.rng.Int64N(1000), Bytes: w.rng.Int64N(9000), Images: w.rng.Int64N(2)},
		}}
		text := strings.Join(w.randomTerms(5), " ")
		e.Parts = pickOne(w, nil, scrollback.Parts{scrollback.Text{Text: "<" + text + ">"}},
			scrollback.Parts{scrollback.ToolResult{CallID: "c", Name: "t", Text: text}})
		if w.chance(15) {
			e.Usage = &scrollback.Usage{InputTokens: w.rng.Int64N(99), Cost: 0.125}
			e.TurnID = "t"
			e.Name = "n"
		}
		e.Sources = w.randomSources()
		e.Kept = w.randomKept(e.ID)
		for range w.rng.IntN(6) / 4 {
			e.Mentions = append(e.Mentions, w.newArtifact())
		}
		out = append(out, e)
	}
	return out
}

func (w *randomWalk) newArtifact() scrollback.Artifact {
	return scrollback.Artifact{ID: artifactID(pickOne(w, "a", "b", "c", "d", "e")),
		MediaType: pickOne(w, "text/plain", "image/png"),
		Name:      pickOne(w, "", "one", "two"), Size: w.rng.Int64N(1 << 20), CreatedAt: w.now}
}

// errNo is what the walk's own functions answer now and then.
var errNo error = scrollback.Errorf(scrollback.Refused, "drivertest.RunWalk", "no")

// createConversation makes a conversation, a fork of one, or one that exists.
func (w *randomWalk) createConversation() {
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch"))}
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.newID("conversation")), Project: pickOne(w, "one", "two"),
		Title: pickOne(w, "", "Red Port", "端口"), Version: 1, Branch: b.ID, CreatedAt: w.now, UpdatedAt: w.now,
		Meta: json.RawMessage(`{}`)}
	if len(w.conversations) > 0 && w.chance(50) {
		from := w.pickConversation()
		if w.chance(20) {
			c.ID = from.ID
		} else if h, ok := w.readHead(from.ID); ok {
			w.continueFrom(h, &c, &b)
		}
	}
	c.AgentOf = pickOne(w, nil, nil, &scrollback.AgentRef{ID: "a"}, &scrollback.AgentRef{ID: "b"})
	b.Conversation = c.ID
	type answer struct {
		C       scrollback.Conversation
		Created bool
	}
	got, ok := callBoth(w, fmt.Sprint("create ", c.ID), func(d *driver.Driver) (answer, error) {
		c, created, err := d.Log.CreateConversation(w.ctx, c, b)
		return answer{c, created}, err
	})
	if ok && got.Created {
		w.conversations = append(w.conversations, c)
	}
}

// continueFrom makes c a fork somewhere on h's path.
func (w *randomWalk) continueFrom(h driver.Head, c *scrollback.Conversation, b *scrollback.Branch) {
	at := w.rng.Int64N(h.Messages + 1)
	c.Parent = &scrollback.ParentRef{ID: h.ID, Branch: h.Branch.ID, Seq: at}
	c.Ancestors = append([]scrollback.ConversationID{h.ID}, h.Ancestors...)
	c.Messages = at
	*b = w.leavingBranch(h.Branch, at, b.ID)
}

// leavingBranch returns a branch that leaves another's path behind a seq, with what is left of
// the view there.
func (w *randomWalk) leavingBranch(from scrollback.Branch, at int64, id scrollback.BranchID) scrollback.Branch {
	b := scrollback.Branch{ID: id, AtSeq: at, HeadSeq: at}
	if from.View.Boundary <= at {
		b.View = from.View
	}
	b.View = b.View.WithLeftOut(slices.DeleteFunc(slices.Clone(from.View.Without),
		func(out int64) bool { return out > at }))
	if at == 0 {
		return b
	}
	ms, ok := callBoth(w, fmt.Sprint("message ", at), func(d *driver.Driver) ([]scrollback.Message, error) {
		return d.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: from.ID, From: at, To: at})
	})
	if !ok || len(ms) != 1 {
		w.t.Fatalf("seed %d: no message %d on the path of branch %s", w.seed, at, from.ID)
	}
	b.Parent = ms[0].Branch
	b.Sum = ms[0].Sum
	return b
}

// rewindHead goes back on the current path, over to another branch, or where it may
// not.
func (w *randomWalk) rewindHead() {
	h, ok := w.readHead(w.pickConversation().ID)
	if !ok {
		return
	}
	from := h.Branch
	if w.chance(40) {
		all, _ := callBoth(w, fmt.Sprint("branches of ", h.ID),
			func(d *driver.Driver) ([]scrollback.Branch, error) { return d.Log.ListBranches(w.ctx, h.ID) })
		from = pickOne(w, all...)
	}
	at := from.HeadSeq
	if w.chance(70) {
		at = w.rng.Int64N(at + 1)
	}
	to := w.leavingBranch(from, at, scrollback.BranchID(w.newID("branch")))
	switch {
	case w.chance(5):
		to.AtSeq++
	case w.chance(5):
		to.Parent = w.pickConversation().Branch
	}
	salvaged := w.randomEntries(2)
	title := pickOne(w, "", "Red")
	callBoth(w, fmt.Sprintf("rewind %s to %d of %s", h.ID, at, from.ID), func(d *driver.Driver) (driver.Head, error) {
		return d.Log.RewindHead(w.ctx, driver.Rewind{Conversation: h.ID, Now: w.now, To: to,
			Salvage: func(scrollback.Turn) []driver.Entry { return salvaged },
			Edit: func(c *scrollback.Conversation) {
				if title != "" {
					c.Title = title
					c.Branch = "x"
					c.Ancestors = nil
				}
			}})
	})
}

// purgeConversation takes a step or goes to the end. Where each step gets to with the atoms of a thread is each
// database's own.
func (w *randomWalk) purgeConversation() {
	p := driver.Purge{Conversation: w.pickConversation().ID, Now: w.now, Limit: pickOne(w, 2, 5, 1000)}
	if t, err := w.a.Threads.IndexAt(w.now).Thread(w.ctx, threading.ThreadID(p.Conversation)); err != nil || t != nil {
		p.Limit = 1000
	}
	callBoth(w, fmt.Sprintf("purge %+v", p),
		func(d *driver.Driver) (driver.PurgeResult, error) { return d.Log.PurgeConversation(w.ctx, p) })
}

func (w *randomWalk) readHead(id scrollback.ConversationID) (driver.Head, bool) {
	return callBoth(w, fmt.Sprint("head ", id),
		func(d *driver.Driver) (driver.Head, error) { return d.Log.ReadHead(w.ctx, id) })
}

func (w *randomWalk) readTurn(id scrollback.TurnID) {
	callBoth(w, fmt.Sprint("turn ", id), func(d *driver.Driver) (scrollback.Turn, error) {
		t, err := d.Turns.Get(w.ctx, id)
		return withoutLease(t), err
	})
}

// patchConversation renames, moves, trashes or restores.
func (w *randomWalk) patchConversation() {
	id := w.pickConversation().ID
	title := pickOne(w, "Blue", "100%")
	project := pickOne(w, "one", "two", "three")
	deleted := pickOne(w, 0, 0, w.now)
	no := w.chance(10)
	callBoth(w, fmt.Sprint("patch ", id, deleted), func(d *driver.Driver) (scrollback.Conversation, error) {
		return d.Log.PatchConversation(w.ctx, id, w.now, func(c *scrollback.Conversation) error {
			c.Title = title
			c.Project = project
			c.DeletedAt = deleted
			c.Roots = append(c.Roots, title)
			if no {
				return errNo
			}
			return nil
		})
	})
}

// beginTurn opens a turn, with or without a key, and now and then is not admitted.
func (w *randomWalk) beginTurn() {
	salvaged := w.randomEntries(2)
	entries := w.randomEntries(3)
	now := w.advanceClock()
	t := scrollback.Turn{ID: scrollback.TurnID(w.newID("turn")), Conversation: w.pickConversation().ID,
		State: scrollback.TurnOpen,
		Owner: fmt.Sprint("owner ", w.n), LeaseUntil: now + pickOne[int64](w, 41, 401, 4001), StartedAt: now}
	t.Idempotency = pickOne(w, scrollback.Idempotency{}, scrollback.Idempotency{},
		scrollback.Idempotency{Key: pickOne(w, "k", "l"), Hash: pickOne(w, "g", "g", "h")})
	no := w.chance(10)
	title := pickOne(w, "", "Red", "Port")
	type answer struct {
		driver.BeginResult
		Admitted, Expired *scrollback.Turn
	}
	var edit func(*scrollback.Conversation)
	if title != "" {
		edit = func(c *scrollback.Conversation) {
			c.Title = title
			c.PinnedSeqs = append(c.PinnedSeqs, c.Messages)
			c.Messages = 99
			c.DeletedAt = 99
		}
	}
	var without *[]int64
	if w.chance(25) {
		without = new(pickOne(w, nil, []int64{}, []int64{1}, []int64{1, 3}, []int64{2}))
	}
	got, ok := callBoth(w, fmt.Sprintf("begin %s on %s, key %v", t.ID, t.Conversation, t.Idempotency),
		func(d *driver.Driver) (out answer, err error) {
			out.BeginResult, err = d.Turns.Begin(w.ctx,
				driver.BeginRequest{Turn: t, Now: now, KeysSince: now - 3000, Entries: entries, Edit: edit, Without: without,
					Admit: func(last *scrollback.Turn) error {
						if last != nil {
							seen := withoutLease(*last)
							out.Admitted = &seen
						}
						if no {
							return errNo
						}
						return nil
					},
					Salvage: func(expired scrollback.Turn) []driver.Entry {
						out.Expired = &scrollback.Turn{ID: expired.ID, Draft: expired.Draft}
						return salvaged
					}})
			out.Turn = withoutLease(out.Turn)
			if out.Previous != nil {
				seen := withoutLease(*out.Previous)
				out.Previous = &seen
			}
			return out, err
		})
	if ok && !got.Replayed {
		w.turns = append(w.turns, t)
	}
}

func (w *randomWalk) saveDraft() {
	t, ok := w.pickTurn()
	if !ok {
		return
	}
	s := driver.SavedDraft{Turn: t.ID, Owner: t.Owner, LeaseUntil: w.now + pickOne[int64](w, 41, 401),
		Draft: pickOne(w, scrollback.Draft{}, textDraft(pickOne(w, walkWords...)))}
	callBoth(w, fmt.Sprint("save ", t.ID), func(d *driver.Driver) (bool, error) { return d.Turns.SaveDraft(w.ctx, s) })
	w.readTurn(t.ID)
}

func (w *randomWalk) finishStep() {
	t, ok := w.pickTurn()
	if !ok {
		return
	}
	f := driver.FinishedStep{Turn: t.ID, Owner: t.Owner, Entries: w.randomEntries(3), Now: w.advanceClock(),
		LeaseUntil: w.now + pickOne[int64](w, 41, 401),
		State:      pickOne(w, scrollback.TurnOpen, scrollback.TurnComplete, scrollback.TurnWaiting, scrollback.TurnFailed),
		Window:     pickOne(w, nil, newWindowMark("w"), newWindowMark("v")), Meta: pickOne(w, nil,
			&scrollback.TurnMeta{ThinkingMS: 3}),
		FinishReason: pickOne(w, "", "stop"), OpenCalls: pickOne(w, nil, textDraft("").ToolCalls),
		Failure: pickOne(w, nil, &scrollback.Failure{Code: scrollback.Internal, Message: "m"}),
		Learn:   learnLast, Usage: pickOne(w, nil,
			[]scrollback.UsageRecord{{Conversation: t.Conversation, TurnID: t.ID, At: w.now}}, []scrollback.UsageRecord{
				{Conversation: t.Conversation, Model: "m", At: w.now, WindowTokens: 10,
					Usage: scrollback.Usage{InputTokens: w.rng.Int64N(99), Cost: 0.125, Currency: "USD"}}})}
	if w.chance(70) {
		markEntries(f.Entries, t.ID)
	}
	callBoth(w, fmt.Sprint("finish ", t.ID, f.State),
		func(d *driver.Driver) (driver.AppendResult, error) { return d.Turns.FinishStep(w.ctx, f) })
	w.readTurn(t.ID)
}

func (w *randomWalk) appendEntries() {
	id := w.pickConversation().ID
	entries := append(w.randomEntries(2), w.randomEntries(4)...)
	if len(entries) == 0 {
		return
	}
	a := driver.Append{Conversation: id, Now: w.advanceClock(), IfHead: -1, Entries: entries, Elsewhere: w.chance(30)}
	if w.chance(50) {
		if h, ok := w.readHead(id); ok {
			a.IfHead = max(0, h.Messages-pickOne[int64](w, 0, 0, 1))
			a.IfBranch = pickOne(w, "", h.Branch.ID, "x")
		}
	}
	salvaged := w.randomEntries(2)
	type answer struct {
		driver.AppendResult
		Expired *scrollback.Turn
	}
	callBoth(w, fmt.Sprintf("append to %s from %d", id, a.IfHead), func(d *driver.Driver) (out answer, err error) {
		a.Salvage = func(expired scrollback.Turn) []driver.Entry {
			out.Expired = &scrollback.Turn{ID: expired.ID, Draft: expired.Draft}
			return salvaged
		}
		out.AppendResult, err = d.Log.AppendEntries(w.ctx, a)
		return out, err
	})
}

// commitFold folds up to the head, notes that it could not, or comes too late.
func (w *randomWalk) commitFold() {
	h, ok := w.readHead(w.pickConversation().ID)
	if !ok {
		return
	}
	cm := driver.FoldCommit{Conversation: h.ID, Branch: h.Branch.ID, IfViewVersion: h.Branch.ViewVersion,
		View:    h.Branch.View,
		Now:     w.now,
		Receipt: scrollback.Receipt{Result: scrollback.ResultInflated, TokensBefore: w.rng.Int64N(99), CreatedAt: w.now}}
	cm.View.RetryAt = w.rng.Int64N(500)
	if first := max(h.Branch.View.Boundary, h.Branch.AtSeq) + 1; first <= h.Messages && w.chance(70) {
		s := scrollback.Segment{ID: scrollback.SegmentID(w.newID("segment")), Conversation: h.ID, Branch: h.Branch.ID,
			FirstSeq: first,
			LastSeq:  h.Messages, Messages: int(h.Messages - first + 1), Hash: "h", From: 1, To: 2, Bytes: 3, SHA256: "ab",
			CreatedAt: w.now,
			Summary:   pickOne(w, "", "one line", "two\nlines", "\n")}
		cm.Segments = []scrollback.Segment{s}
		cm.View.Boundary = h.Messages
		cm.View.Sum = h.Branch.Sum
		cm.View.Segments = append(cm.View.Segments[:len(cm.View.Segments):len(cm.View.Segments)],
			scrollback.ViewItem{ID: s.ID, FirstSeq: first, LastSeq: h.Messages})
		cm.Receipt.Result = scrollback.ResultCompacted
		cm.Receipt.Segments = []scrollback.SegmentID{s.ID}
	}
	if w.chance(10) {
		cm.IfViewVersion--
	}
	callBothError(w, fmt.Sprintf("commit %d segments on %s", len(cm.Segments), h.ID),
		func(d *driver.Driver) error { return d.Views.CommitFold(w.ctx, cm) })
}

func (w *randomWalk) undoFold() {
	h, ok := w.readHead(w.pickConversation().ID)
	if !ok {
		return
	}
	u := driver.FoldUndo{Branch: h.Branch.ID, Now: w.now, IfViewVersion: h.Branch.ViewVersion - pickOne[int64](w, 0, 0, 1),
		View: pickOne(w, nil, &scrollback.View{RetryAt: 7})}
	callBoth(w, fmt.Sprintf("unfold %+v", u), func(d *driver.Driver) (scrollback.Receipt, error) {
		return d.Views.UndoFold(w.ctx, u)
	})
}

func (w *randomWalk) stopTurn() {
	if t, ok := w.pickTurn(); ok {
		callBothError(w, fmt.Sprint("stop ", t.ID), func(d *driver.Driver) error { return d.Turns.Stop(w.ctx, t.ID) })
		w.readTurn(t.ID)
	}
}

func (w *randomWalk) putArtifact() {
	a := w.newArtifact()
	id := pickOne(w, "", w.pickConversation().ID)
	callBothError(w, fmt.Sprint("artifact ", a.ID, id),
		func(d *driver.Driver) error { return d.Log.PutArtifact(w.ctx, a, id) })
}

// walkOrigins says where a conversation comes from, and looks for some that come from there.
func walkOrigins(w *randomWalk) {
	o := scrollback.Origin{Tool: pickOne(w, "x", "y"), ID: pickOne(w, "1", "2", "3"),
		Conversation: w.pickConversation().ID,
		Root:         pickOne(w, "", "r"),
		Folder:       pickOne(w, "", "/a", "/a/b", "/ab"), Place: pickOne(w, "", "/p"), Name: pickOne(w, "n",
			"m"), ImportedAt: w.now}
	instead := pickOne(w, "", w.pickConversation().ID)
	callBothError(w, fmt.Sprintf("origin %+v instead %s", o, instead),
		func(d *driver.Driver) error { return d.Log.PutOrigin(w.ctx, o, instead) })
	q := driver.OriginQuery{Tool: pickOne(w, "", "x"), Root: pickOne(w, "", "r"), Folder: pickOne(w, "", "/a"),
		Place: pickOne(w, "", "/p"), Trash: w.chance(50),
		Projects: pickOne(w, nil, []string{"one"}), Limit: 1 + w.rng.IntN(5),
		After: scrollback.Origin{Tool: pickOne(w, "", "x"), ID: pickOne(w, "", "2")}}
	callBoth(w, fmt.Sprintf("origins %+v", q), func(d *driver.Driver) ([]scrollback.Origin,
		error) {
		return d.Log.ListOrigins(w.ctx, q)
	})
	callBoth(w, "purged origin", func(d *driver.Driver) (bool, error) {
		return d.Log.WasOriginPurged(w.ctx, o.Tool, o.ID, q.Projects)
	})
}

// walkAliases gives up an id, and looks for those that were.
func walkAliases(w *randomWalk) {
	a := driver.Alias{Kind: pickOne(w, driver.AliasConversation, driver.AliasTurn), ID: pickOne(w, "a", "ab", "b", "c"),
		Now: pickOne(w, "a", "ab", "b", "c", "d")}
	callBothError(w, fmt.Sprintf("alias %+v", a),
		func(d *driver.Driver) error {
			return d.Log.PutAliases(w.ctx, []driver.Alias{a, {Kind: a.Kind, ID: "x", Now: a.ID}})
		})
	prefix := pickOne(w, "", "a")
	callBoth(w, "aliases", func(d *driver.Driver) ([]driver.Alias, error) {
		return d.Log.FindAliases(w.ctx, a.Kind, prefix, 3)
	})
}

// listAll pages through conversations and refs.
func (w *randomWalk) listAll() {
	q := driver.ListQuery{Projects: pickOne(w, nil, []string{"one"}, []string{"one", "none"}),
		Title: pickOne(w, "", "red", "%"),
		Trash: w.chance(30), Pinned: w.chance(20), Limit: 1 + w.rng.IntN(5),
		AgentOf: pickOne(w, nil, nil, []scrollback.ConversationID{"a", "b"})}
	r := driver.RefQuery{Kind: pickOne(w, "", scrollback.RefHistory, scrollback.RefArtifact), Limit: 1 + w.rng.IntN(5),
		Conversations: []scrollback.ConversationID{w.pickConversation().ID}}
	if w.chance(30) {
		r.Conversations = append(r.Conversations, w.pickConversation().ID, w.pickConversation().ID)
	}
	if w.chance(20) {
		r.Ref = scrollback.ArtifactRef(artifactID(pickOne(w, "a", "b", "c")))
		r.Kind = ""
		r.Conversations = pickOne(w, nil, r.Conversations)
	}
	if w.chance(50) {
		c := w.pickConversation()
		q.Before = &driver.ListKey{At: c.CreatedAt, ID: string(c.ID)}
		r.Before = &driver.ListKey{At: w.now - w.rng.Int64N(2000), ID: string(scrollback.ArtifactRef(artifactID("c")))}
	}
	callBoth(w, fmt.Sprintf("list %+v", q), func(d *driver.Driver) ([]scrollback.Conversation,
		error) {
		return d.Log.ListConversations(w.ctx, q)
	})
	callBoth(w, fmt.Sprintf("refs %+v", r), func(d *driver.Driver) ([]scrollback.RefEntry, error) {
		return d.Log.ListRefs(w.ctx, r)
	})
}
