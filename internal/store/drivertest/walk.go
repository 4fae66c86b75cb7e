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
)

// walk does the same things to two drivers.
type walk struct {
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
	trail         []string                  // the calls made so far
}

// moves lists what a walk does and how often, of their sum.
var moves = []struct {
	often int
	move  func(*walk)
}{
	{6, (*walk).create}, {5, (*walk).patch}, {22, (*walk).begin}, {10, (*walk).save}, {20, (*walk).finish},
	{10, (*walk).append}, {10, (*walk).commit}, {5, (*walk).unfold}, {3, (*walk).stop}, {4, (*walk).artifact},
	{5, (*walk).search}, {4, (*walk).list}, {3, (*walk).teach}, {8, (*walk).rewind}, {2, (*walk).purge},
	{4, walkOrigins},
}

// Walk does n things, chosen by seed, to two empty drivers and compares every
// answer, then all that can be read of them.
func Walk(t testing.TB, seed uint64, n int, a, b *driver.Driver) {
	t.Helper()
	w := &walk{t: t, ctx: t.Context(), rng: rand.New(rand.NewPCG(seed, 1)), seed: seed, a: a, b: b, now: 1_000_000}
	sum := 0
	for _, m := range moves {
		sum += m.often
	}
	w.create()
	for range n {
		w.tick()
		at := w.rng.IntN(sum)
		for _, m := range moves {
			if at -= m.often; at < 0 {
				m.move(w)
				break
			}
		}
	}
	for _, turn := range w.turns {
		w.readTurn(turn.ID)
	}
	same(t, fmt.Sprintf("seed %d: all that can be read", seed), readAll(t, a), readAll(t, b))
	Check(t, a)
	Check(t, b)
}

// both makes a call on both drivers, compares what they answer, and hands it on.
func both[T any](w *walk, op string, call func(*driver.Driver) (T, error)) (T, bool) {
	w.t.Helper()
	w.trail = append(w.trail, op)
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
	if d := diff(oa, ob); d != "" {
		from := max(0, len(w.trail)-20)
		w.t.Fatalf("seed %d, after %d calls, ending in\n  %s\nanswers differ (-a +b), errors %v and %v:\n%s",
			w.seed, len(w.trail), strings.Join(w.trail[from:], "\n  "), ea, eb, d)
	}
	return va, ea == nil
}

// errand is both for a call with nothing but an error to answer.
func errand(w *walk, op string, call func(*driver.Driver) error) bool {
	w.t.Helper()
	_, ok := both(w, op, func(d *driver.Driver) (struct{}, error) { return struct{}{}, call(d) })
	return ok
}

// tick moves the clock on. It stays even, and leases end on odd times.
func (w *walk) tick() int64 {
	w.now += 2 * int64(1+w.rng.IntN(20))
	return w.now
}

func (w *walk) id(kind string) string {
	w.n++
	return uuid(w.n, kind)
}

// often is true in so many of a hundred cases.
func (w *walk) often(percent int) bool { return w.rng.IntN(100) < percent }

// some picks one of vs.
func some[T any](w *walk, vs ...T) T { return vs[w.rng.IntN(len(vs))] }

// conversation picks one, a recent one more often.
func (w *walk) conversation() scrollback.Conversation {
	if w.often(70) {
		return some(w, w.conversations[max(0, len(w.conversations)-3):]...)
	}
	return some(w, w.conversations...)
}

// turn picks one, a recent one more often.
func (w *walk) turn() (scrollback.Turn, bool) {
	if len(w.turns) == 0 {
		return scrollback.Turn{}, false
	}
	t := some(w, w.turns...)
	if w.often(85) {
		t = some(w, w.turns[max(0, len(w.turns)-3):]...)
	}
	if w.often(8) {
		t.Owner = "thief"
	}
	return t, true
}

// words are what the walk's messages are found by.
var words = []string{"red", "redder", "blue", "green", "7077", "port", "数据", "据库", "库", "库房", "端口", "口"}

func (w *walk) terms(n int) []string {
	out := make([]string, w.rng.IntN(n+1))
	for i := range out {
		out[i] = some(w, words...)
	}
	return out
}

// entries makes up to n messages.
func (w *walk) entries(n int) []driver.Entry {
	var out []driver.Entry
	for range w.rng.IntN(n + 1) {
		w.now += 2
		e := driver.Entry{Message: scrollback.Message{
			ID: scrollback.MessageID(w.id("message")), Status: scrollback.StatusComplete, CreatedAt: w.now,
			Role:   some(w, scrollback.RoleUser, scrollback.RoleAssistant, scrollback.RoleTool, scrollback.RoleSystem),
			Weight: scrollback.Weight{Tokens: w.rng.Int64N(1000), Bytes: w.rng.Int64N(9000), Images: w.rng.Int64N(2)},
		}}
		text := strings.Join(w.terms(5), " ")
		e.Parts = some(w, nil, scrollback.Parts{scrollback.Text{Text: "<" + text + ">"}},
			scrollback.Parts{scrollback.ToolResult{CallID: "c", Name: "t", Text: text}})
		if w.often(15) {
			e.Usage = &scrollback.Usage{InputTokens: w.rng.Int64N(99), Cost: 0.125}
			e.TurnID = "t"
			e.Name = "n"
		}
		e.Sources = w.sources()
		for range w.rng.IntN(6) / 4 {
			e.Mentions = append(e.Mentions, w.newArtifact())
		}
		out = append(out, e)
	}
	return out
}

func (w *walk) newArtifact() scrollback.Artifact {
	return scrollback.Artifact{ID: artifactID(some(w, "a", "b", "c", "d", "e")),
		MediaType: some(w, "text/plain", "image/png"),
		Name:      some(w, "", "one", "two"), Size: w.rng.Int64N(1 << 20), CreatedAt: w.now}
}

// errNo is what the walk's own functions answer now and then.
var errNo error = scrollback.Errorf(scrollback.Refused, "drivertest.Walk", "no")

// create makes a conversation, a fork of one, or one that exists.
func (w *walk) create() {
	b := scrollback.Branch{ID: scrollback.BranchID(w.id("branch"))}
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.id("conversation")), Project: some(w, "one", "two"),
		Title: some(w, "", "Red Port", "端口"), Version: 1, Branch: b.ID, CreatedAt: w.now, UpdatedAt: w.now,
		Meta: json.RawMessage(`{}`)}
	if len(w.conversations) > 0 && w.often(50) {
		from := w.conversation()
		if w.often(20) {
			c.ID = from.ID
		} else if h, ok := w.head(from.ID); ok {
			w.continueFrom(h, &c, &b)
		}
	}
	c.AgentOf = some(w, nil, nil, &scrollback.AgentRef{ID: "a"}, &scrollback.AgentRef{ID: "b"})
	b.Conversation = c.ID
	type answer struct {
		C       scrollback.Conversation
		Created bool
	}
	got, ok := both(w, fmt.Sprint("create ", c.ID), func(d *driver.Driver) (answer, error) {
		c, created, err := d.Log.CreateConversation(w.ctx, c, b)
		return answer{c, created}, err
	})
	if ok && got.Created {
		w.conversations = append(w.conversations, c)
	}
}

// continueFrom makes c a fork somewhere on h's path.
func (w *walk) continueFrom(h driver.Head, c *scrollback.Conversation, b *scrollback.Branch) {
	at := w.rng.Int64N(h.Messages + 1)
	c.Parent = &scrollback.ParentRef{ID: h.ID, Branch: h.Branch.ID, Seq: at}
	c.Ancestors = append([]scrollback.ConversationID{h.ID}, h.Ancestors...)
	c.Messages = at
	*b = w.leaving(h.Branch, at, b.ID)
}

// leaving is a branch that leaves another's path behind a seq, with what is left of
// the view there.
func (w *walk) leaving(from scrollback.Branch, at int64, id scrollback.BranchID) scrollback.Branch {
	b := scrollback.Branch{ID: id, AtSeq: at, HeadSeq: at}
	if from.View.Boundary <= at {
		b.View = from.View
	}
	b.View = b.View.WithLeftOut(slices.DeleteFunc(slices.Clone(from.View.Without),
		func(out int64) bool { return out > at }))
	if at == 0 {
		return b
	}
	ms, ok := both(w, fmt.Sprint("message ", at), func(d *driver.Driver) ([]scrollback.Message, error) {
		return d.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: from.ID, From: at, To: at})
	})
	if !ok || len(ms) != 1 {
		w.t.Fatalf("seed %d: no message %d on the path of branch %s", w.seed, at, from.ID)
	}
	b.Parent = ms[0].Branch
	b.Sum = ms[0].Sum
	return b
}

// rewind goes back on the current path, over to another branch, or where it may
// not.
func (w *walk) rewind() {
	h, ok := w.head(w.conversation().ID)
	if !ok {
		return
	}
	from := h.Branch
	if w.often(40) {
		all, _ := both(w, fmt.Sprint("branches of ", h.ID),
			func(d *driver.Driver) ([]scrollback.Branch, error) { return d.Log.ListBranches(w.ctx, h.ID) })
		from = some(w, all...)
	}
	at := from.HeadSeq
	if w.often(70) {
		at = w.rng.Int64N(at + 1)
	}
	to := w.leaving(from, at, scrollback.BranchID(w.id("branch")))
	switch {
	case w.often(5):
		to.AtSeq++
	case w.often(5):
		to.Parent = w.conversation().Branch
	}
	salvaged := w.entries(2)
	title := some(w, "", "Red")
	both(w, fmt.Sprintf("rewind %s to %d of %s", h.ID, at, from.ID), func(d *driver.Driver) (driver.Head, error) {
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

// purge takes a step or goes to the end.
func (w *walk) purge() {
	p := driver.Purge{Conversation: w.conversation().ID, Now: w.now, Limit: some(w, 2, 5, 1000)}
	both(w, fmt.Sprintf("purge %+v", p),
		func(d *driver.Driver) (driver.PurgeResult, error) { return d.Log.PurgeConversation(w.ctx, p) })
}

func (w *walk) head(id scrollback.ConversationID) (driver.Head, bool) {
	return both(w, fmt.Sprint("head ", id),
		func(d *driver.Driver) (driver.Head, error) { return d.Log.ReadHead(w.ctx, id) })
}

func (w *walk) readTurn(id scrollback.TurnID) {
	both(w, fmt.Sprint("turn ", id), func(d *driver.Driver) (scrollback.Turn, error) {
		t, err := d.Turns.Get(w.ctx, id)
		return settled(t), err
	})
}

// patch renames, moves, trashes or restores.
func (w *walk) patch() {
	id := w.conversation().ID
	title := some(w, "Blue", "100%")
	project := some(w, "one", "two", "three")
	deleted := some(w, 0, 0, w.now)
	no := w.often(10)
	both(w, fmt.Sprint("patch ", id, deleted), func(d *driver.Driver) (scrollback.Conversation, error) {
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

// begin opens a turn, with or without a key, and now and then is not admitted.
func (w *walk) begin() {
	salvaged := w.entries(2)
	entries := w.entries(3)
	now := w.tick()
	t := scrollback.Turn{ID: scrollback.TurnID(w.id("turn")), Conversation: w.conversation().ID,
		State: scrollback.TurnOpen,
		Owner: fmt.Sprint("owner ", w.n), LeaseUntil: now + some[int64](w, 41, 401, 4001), StartedAt: now}
	t.Idempotency = some(w, scrollback.Idempotency{}, scrollback.Idempotency{},
		scrollback.Idempotency{Key: some(w, "k", "l"), Hash: some(w, "g", "g", "h")})
	no := w.often(10)
	title := some(w, "", "Red", "Port")
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
	if w.often(25) {
		without = new(some(w, nil, []int64{}, []int64{1}, []int64{1, 3}, []int64{2}))
	}
	got, ok := both(w, fmt.Sprintf("begin %s on %s, key %v", t.ID, t.Conversation, t.Idempotency),
		func(d *driver.Driver) (out answer, err error) {
			out.BeginResult, err = d.Turns.Begin(w.ctx,
				driver.BeginRequest{Turn: t, Now: now, KeysSince: now - 3000, Entries: entries, Edit: edit, Without: without,
					Admit: func(last *scrollback.Turn) error {
						if last != nil {
							seen := settled(*last)
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
			out.Turn = settled(out.Turn)
			if out.Previous != nil {
				seen := settled(*out.Previous)
				out.Previous = &seen
			}
			return out, err
		})
	if ok && !got.Replayed {
		w.turns = append(w.turns, t)
	}
}

func (w *walk) save() {
	t, ok := w.turn()
	if !ok {
		return
	}
	s := driver.SavedDraft{Turn: t.ID, Owner: t.Owner, LeaseUntil: w.now + some[int64](w, 41, 401),
		Draft: some(w, scrollback.Draft{}, draft(some(w, words...)))}
	both(w, fmt.Sprint("save ", t.ID), func(d *driver.Driver) (bool, error) { return d.Turns.SaveDraft(w.ctx, s) })
	w.readTurn(t.ID)
}

func (w *walk) finish() {
	t, ok := w.turn()
	if !ok {
		return
	}
	f := driver.FinishedStep{Turn: t.ID, Owner: t.Owner, Entries: w.entries(3), Now: w.tick(),
		LeaseUntil: w.now + some[int64](w, 41, 401),
		State:      some(w, scrollback.TurnOpen, scrollback.TurnComplete, scrollback.TurnWaiting, scrollback.TurnFailed),
		Window:     some(w, nil, mark("w"), mark("v")), Meta: some(w, nil, &scrollback.TurnMeta{ThinkingMS: 3}),
		FinishReason: some(w, "", "stop"), OpenCalls: some(w, nil, draft("").ToolCalls),
		Failure: some(w, nil, &scrollback.Failure{Code: scrollback.Internal, Message: "m"}),
		Learn:   learnLast, Usage: some(w, nil,
			[]scrollback.UsageRecord{{Conversation: t.Conversation, TurnID: t.ID, At: w.now}}, []scrollback.UsageRecord{
				{Conversation: t.Conversation, Model: "m", At: w.now, WindowTokens: 10,
					Usage: scrollback.Usage{InputTokens: w.rng.Int64N(99), Cost: 0.125, Currency: "USD"}}})}
	both(w, fmt.Sprint("finish ", t.ID, f.State),
		func(d *driver.Driver) (driver.AppendResult, error) { return d.Turns.FinishStep(w.ctx, f) })
	w.readTurn(t.ID)
}

func (w *walk) append() {
	id := w.conversation().ID
	entries := append(w.entries(2), w.entries(4)...)
	if len(entries) == 0 {
		return
	}
	a := driver.Append{Conversation: id, Now: w.tick(), IfHead: -1, Entries: entries}
	if w.often(50) {
		if h, ok := w.head(id); ok {
			a.IfHead = max(0, h.Messages-some[int64](w, 0, 0, 1))
			a.IfBranch = some(w, "", h.Branch.ID, "x")
		}
	}
	salvaged := w.entries(2)
	type answer struct {
		driver.AppendResult
		Expired *scrollback.Turn
	}
	both(w, fmt.Sprintf("append to %s from %d", id, a.IfHead), func(d *driver.Driver) (out answer, err error) {
		a.Salvage = func(expired scrollback.Turn) []driver.Entry {
			out.Expired = &scrollback.Turn{ID: expired.ID, Draft: expired.Draft}
			return salvaged
		}
		out.AppendResult, err = d.Log.AppendEntries(w.ctx, a)
		return out, err
	})
}

// commit folds up to the head, notes that it could not, or comes too late.
func (w *walk) commit() {
	h, ok := w.head(w.conversation().ID)
	if !ok {
		return
	}
	cm := driver.FoldCommit{Conversation: h.ID, Branch: h.Branch.ID, IfViewVersion: h.Branch.ViewVersion,
		View:    h.Branch.View,
		Now:     w.now,
		Receipt: scrollback.Receipt{Result: scrollback.ResultInflated, TokensBefore: w.rng.Int64N(99), CreatedAt: w.now}}
	cm.View.RetryAt = w.rng.Int64N(500)
	if first := max(h.Branch.View.Boundary, h.Branch.AtSeq) + 1; first <= h.Messages && w.often(70) {
		s := scrollback.Segment{ID: scrollback.SegmentID(w.id("segment")), Conversation: h.ID, Branch: h.Branch.ID,
			FirstSeq: first,
			LastSeq:  h.Messages, Messages: int(h.Messages - first + 1), Hash: "h", From: 1, To: 2, Bytes: 3, SHA256: "ab",
			CreatedAt: w.now,
			Summary:   some(w, "", "one line", "two\nlines", "\n")}
		cm.Segments = []scrollback.Segment{s}
		cm.View.Boundary = h.Messages
		cm.View.Sum = h.Branch.Sum
		cm.View.Segments = append(cm.View.Segments[:len(cm.View.Segments):len(cm.View.Segments)],
			scrollback.ViewItem{ID: s.ID, FirstSeq: first, LastSeq: h.Messages})
		cm.Receipt.Result = scrollback.ResultCompacted
		cm.Receipt.Segments = []scrollback.SegmentID{s.ID}
	}
	if w.often(10) {
		cm.IfViewVersion--
	}
	errand(w, fmt.Sprintf("commit %d segments on %s", len(cm.Segments), h.ID),
		func(d *driver.Driver) error { return d.Views.CommitFold(w.ctx, cm) })
}

func (w *walk) unfold() {
	h, ok := w.head(w.conversation().ID)
	if !ok {
		return
	}
	u := driver.FoldUndo{Branch: h.Branch.ID, Now: w.now, IfViewVersion: h.Branch.ViewVersion - some[int64](w, 0, 0, 1),
		View: some(w, nil, &scrollback.View{RetryAt: 7})}
	both(w, fmt.Sprintf("unfold %+v", u), func(d *driver.Driver) (scrollback.Receipt, error) {
		return d.Views.UndoFold(w.ctx, u)
	})
}

func (w *walk) stop() {
	if t, ok := w.turn(); ok {
		errand(w, fmt.Sprint("stop ", t.ID), func(d *driver.Driver) error { return d.Turns.Stop(w.ctx, t.ID) })
		w.readTurn(t.ID)
	}
}

func (w *walk) artifact() {
	a := w.newArtifact()
	id := some(w, "", w.conversation().ID)
	errand(w, fmt.Sprint("artifact ", a.ID, id), func(d *driver.Driver) error { return d.Log.PutArtifact(w.ctx, a, id) })
}

// walkOrigins says where a conversation comes from, and looks for some that come from there.
func walkOrigins(w *walk) {
	o := scrollback.Origin{Tool: some(w, "x", "y"), ID: some(w, "1", "2", "3"), Conversation: w.conversation().ID,
		Root:   some(w, "", "r"),
		Folder: some(w, "", "/a", "/a/b", "/ab"), Place: some(w, "", "/p"), Name: some(w, "n", "m"), ImportedAt: w.now}
	instead := some(w, "", w.conversation().ID)
	errand(w, fmt.Sprintf("origin %+v instead %s", o, instead),
		func(d *driver.Driver) error { return d.Log.PutOrigin(w.ctx, o, instead) })
	q := driver.OriginQuery{Tool: some(w, "", "x"), Root: some(w, "", "r"), Folder: some(w, "", "/a"),
		Place: some(w, "", "/p"), Trash: w.often(50),
		Projects: some(w, nil, []string{"one"}), Limit: 1 + w.rng.IntN(5),
		After: scrollback.Origin{Tool: some(w, "", "x"), ID: some(w, "", "2")}}
	both(w, fmt.Sprintf("origins %+v", q), func(d *driver.Driver) ([]scrollback.Origin,
		error) {
		return d.Log.ListOrigins(w.ctx, q)
	})
	both(w, "purged origin", func(d *driver.Driver) (bool, error) {
		return d.Log.WasOriginPurged(w.ctx, o.Tool, o.ID, q.Projects)
	})
}

// list pages through conversations and refs.
func (w *walk) list() {
	q := driver.ListQuery{Projects: some(w, nil, []string{"one"}, []string{"one", "none"}), Title: some(w, "", "red", "%"),
		Trash: w.often(30), Pinned: w.often(20), Limit: 1 + w.rng.IntN(5),
		AgentOf: some(w, nil, nil, []scrollback.ConversationID{"a", "b"})}
	r := driver.RefQuery{Kind: some(w, "", scrollback.RefHistory, scrollback.RefArtifact), Limit: 1 + w.rng.IntN(5),
		Conversations: []scrollback.ConversationID{w.conversation().ID}}
	if w.often(30) {
		r.Conversations = append(r.Conversations, w.conversation().ID, w.conversation().ID)
	}
	if w.often(20) {
		r.Ref = scrollback.ArtifactRef(artifactID(some(w, "a", "b", "c")))
		r.Kind = ""
		r.Conversations = some(w, nil, r.Conversations)
	}
	if w.often(50) {
		c := w.conversation()
		q.Before = &driver.ListKey{At: c.CreatedAt, ID: string(c.ID)}
		r.Before = &driver.ListKey{At: w.now - w.rng.Int64N(2000), ID: string(scrollback.ArtifactRef(artifactID("c")))}
	}
	both(w, fmt.Sprintf("list %+v", q), func(d *driver.Driver) ([]scrollback.Conversation,
		error) {
		return d.Log.ListConversations(w.ctx, q)
	})
	both(w, fmt.Sprintf("refs %+v", r), func(d *driver.Driver) ([]scrollback.RefEntry, error) {
		return d.Log.ListRefs(w.ctx, r)
	})
}
