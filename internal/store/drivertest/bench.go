package drivertest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// lease is how long the bench's turns hold, in ms. It is odd and the clock is
// even, so that no lease ends just when somebody looks.
const lease = 15001

// bench is a driver under test with a clock and a source of ids.
type bench struct {
	*driver.Driver
	t   *testing.T
	ctx context.Context
	now int64
	n   int

	parent scrollback.Message // see elder
}

func newBench(t *testing.T, d *driver.Driver) *bench {
	return &bench{Driver: d, t: t, ctx: t.Context(), now: 1_700_000_000_000}
}

// tick moves the clock on and reads it.
func (w *bench) tick() int64 {
	w.now += 10
	return w.now
}

// id makes an id that sorts by age; kind keeps ids of different things apart.
func (w *bench) id(kind string) string {
	w.n++
	return uuid(w.n, kind)
}

func uuid(n int, kind string) string {
	sum := sha256.Sum256([]byte(kind))
	return fmt.Sprintf("%08x-0000-7000-8000-%s", n, hex.EncodeToString(sum[:6]))
}

func artifactID(name string) scrollback.ArtifactID {
	sum := sha256.Sum256([]byte(name))
	return scrollback.ArtifactID(hex.EncodeToString(sum[:]))
}

// ok fails the test on an error.
func (w *bench) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// code wants an error of that code and of the product's own type.
func (w *bench) code(err error, want scrollback.Code) {
	w.t.Helper()
	var known *scrollback.Error
	if !errors.As(err, &known) || known.Code != want {
		w.t.Fatalf("error %v (%q), want %q", err, scrollback.CodeOf(err), want)
	}
}

// lost wants the conflict of an owner who is none any more.
func (w *bench) lost(err error) {
	w.t.Helper()
	w.code(err, scrollback.Conflict)
	if !errors.Is(err, scrollback.ErrLostLease) {
		w.t.Fatalf("%v does not wrap ErrLostLease", err)
	}
}

// same compares rows; nil and empty lists are alike.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// diff is how two rows differ, or empty.
func diff(a, b any) string {
	if reflect.DeepEqual(a, b) { // far cheaper, and nearly always so
		return ""
	}
	return gocmp.Diff(a, b, cmpopts.EquateEmpty())
}

// plan is a conversation and its first branch, not created yet.
func plan(w *bench) (scrollback.Conversation, scrollback.Branch) {
	now := w.tick()
	b := scrollback.Branch{ID: scrollback.BranchID(w.id("branch"))}
	c := scrollback.Conversation{
		ID: scrollback.ConversationID(w.id("conversation")), Project: scrollback.DefaultProject,
		Model: "offline", Policy: "auto", Version: 1, Branch: b.ID,
		CreatedAt: now, UpdatedAt: now, Meta: json.RawMessage(`{}`),
	}
	b.Conversation = c.ID
	return c, b
}

// conversation creates one, after the edits.
func (w *bench) conversation(edits ...func(*scrollback.Conversation)) scrollback.Conversation {
	w.t.Helper()
	c, b := plan(w)
	for _, edit := range edits {
		edit(&c)
	}
	got, created, err := w.Log.CreateConversation(w.ctx, c, b)
	w.ok(err)
	if !created {
		w.t.Fatalf("conversation %s was not created", c.ID)
	}
	return got
}

// fork creates a conversation that continues parent after its seq at.
func (w *bench) fork(parent scrollback.Conversation, at int64) scrollback.Conversation {
	w.t.Helper()
	c, b := plan(w)
	c.Parent = &scrollback.ParentRef{ID: parent.ID, Branch: parent.Branch, Seq: at}
	c.Messages = at
	c.Ancestors = append([]scrollback.ConversationID{parent.ID}, parent.Ancestors...)
	b.AtSeq = at
	b.HeadSeq = at
	if at > 0 {
		owner := w.messages(parent.Branch, at, at)[0]
		b.Parent = owner.Branch
		b.Sum = owner.Sum
	}
	_, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.ok(err)
	return c
}

// elder is message 5 of a conversation to fork, made once.
func elder(w *bench) scrollback.Message {
	w.t.Helper()
	if w.parent.ID == "" {
		w.parent = w.say(w.conversation().ID, 5)[4]
	}
	return w.parent
}

// unfold undoes the newest fold of a branch.
func (w *bench) unfold(id scrollback.BranchID) (scrollback.Receipt, error) {
	return w.Views.UndoFold(w.ctx, driver.FoldUndo{Branch: id, Now: w.tick()})
}

// entry is a message with these terms and its own weight.
func (w *bench) entry(role scrollback.Role, terms string) driver.Entry {
	id := scrollback.MessageID(w.id("message"))
	n := int64(w.n)
	return driver.Entry{
		Message: scrollback.Message{
			ID: id, Role: role, Parts: scrollback.Parts{scrollback.Text{Text: terms}},
			Tokens: w.n, Status: scrollback.StatusComplete, CreatedAt: w.tick(),
			Weight: scrollback.Weight{Tokens: n, Bytes: 7*n + 1, Images: n % 3},
		},
	}
}

// begin opens a turn.
func (w *bench) begin(id scrollback.ConversationID, entries ...driver.Entry) driver.BeginResult {
	w.t.Helper()
	got, err := w.tryBegin(id, nil, entries...)
	w.ok(err)
	return got
}

// tryBegin opens a turn after edit had a look at the call.
func (w *bench) tryBegin(id scrollback.ConversationID, edit func(*driver.BeginRequest),
	entries ...driver.Entry) (driver.BeginResult, error) {
	now := w.tick()
	turn := scrollback.Turn{
		ID: scrollback.TurnID(w.id("turn")), Conversation: id, State: scrollback.TurnOpen,
		Owner: fmt.Sprint("owner ", w.n), LeaseUntil: now + lease, StartedAt: now,
	}
	if len(entries) > 0 {
		turn.UserMessage = entries[len(entries)-1].ID
	}
	b := driver.BeginRequest{Turn: turn, Now: now, Entries: entries}
	if edit != nil {
		edit(&b)
	}
	return w.Turns.Begin(w.ctx, b)
}

// finish moves a turn on.
func (w *bench) finish(turn scrollback.Turn, state scrollback.TurnState, entries ...driver.Entry) driver.AppendResult {
	w.t.Helper()
	now := w.tick()
	got, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: now,
		LeaseUntil: now + lease, Entries: entries, State: state})
	w.ok(err)
	return got
}

// append adds entries outside any turn.
func (w *bench) append(id scrollback.ConversationID, entries ...driver.Entry) []scrollback.Message {
	w.t.Helper()
	got, err := w.tryAppend(id, nil, entries...)
	w.ok(err)
	return got.Messages
}

// tryAppend is append after edit had a look at the call.
func (w *bench) tryAppend(id scrollback.ConversationID, edit func(*driver.Append),
	entries ...driver.Entry) (driver.AppendResult, error) {
	a := driver.Append{Conversation: id, Now: w.tick(), IfHead: -1, Entries: entries}
	if edit != nil {
		edit(&a)
	}
	return w.Log.AppendEntries(w.ctx, a)
}

// say appends n messages without terms.
func (w *bench) say(id scrollback.ConversationID, n int) []scrollback.Message {
	w.t.Helper()
	var entries []driver.Entry
	for range n {
		entries = append(entries, w.entry(scrollback.RoleUser, ""))
	}
	return w.append(id, entries...)
}

func (w *bench) head(id scrollback.ConversationID) driver.Head {
	w.t.Helper()
	h, err := w.Log.ReadHead(w.ctx, id)
	w.ok(err)
	return h
}

func (w *bench) turn(id scrollback.TurnID) scrollback.Turn {
	w.t.Helper()
	got, err := w.Turns.Get(w.ctx, id)
	w.ok(err)
	return settled(got)
}

// settled is a turn without what means nothing once it has ended.
func settled(t scrollback.Turn) scrollback.Turn {
	if t.State != scrollback.TurnOpen {
		t.Owner = ""
		t.LeaseUntil = 0
	}
	return t
}

func (w *bench) messages(b scrollback.BranchID, from, to int64) []scrollback.Message {
	w.t.Helper()
	got, err := w.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: b, From: from, To: to})
	w.ok(err)
	return got
}

// unchanged runs call and wants the whole store to stay as it was.
func (w *bench) unchanged(call func()) {
	w.t.Helper()
	before := readAll(w.t, w.Driver)
	call()
	same(w.t, "nothing should have been written", before, readAll(w.t, w.Driver))
}

// wrote wants one more version, the clock's time and heads that agree.
func (w *bench) wrote(before driver.Head) driver.Head {
	w.t.Helper()
	h := w.head(before.ID)
	if h.Version != before.Version+1 {
		w.t.Fatalf("version %d after %d", h.Version, before.Version)
	}
	if h.UpdatedAt != w.now {
		w.t.Fatalf("updated at %d, want %d", h.UpdatedAt, w.now)
	}
	if h.Messages != h.Branch.HeadSeq {
		w.t.Fatalf("%d messages, head seq %d", h.Messages, h.Branch.HeadSeq)
	}
	return h
}

// search finds messages by any of some terms, once the index has caught up; oldest first.
func (w *bench) search(terms ...string) []scrollback.Message {
	w.t.Helper()
	w.ok(catchUp(w.ctx, w.Driver, 1))
	got, err := w.Index.FindPostings(w.ctx, driver.PostingQuery{Terms: terms})
	w.ok(err)
	var places []driver.Place
	for _, p := range got {
		places = append(places, p.Places...)
	}
	slices.Sort(places)
	ms, err := w.Index.ReadMessagesAt(w.ctx, slices.Compact(places))
	w.ok(err)
	slices.SortFunc(ms, func(a, b scrollback.Message) int { return cmp.Compare(a.ID, b.ID) })
	return ms
}

// catchUp indexes what is behind, for terms of a cut.
func catchUp(ctx context.Context, d *driver.Driver, cut int) error {
	s, err := d.Index.ReadState(ctx)
	if err == nil && s.Cut != cut {
		err = d.Index.Reset(ctx, cut)
		s.Watermark = 0
	}
	if err != nil {
		return err
	}
	batch, err := d.Index.ReadUnindexed(ctx, driver.UnindexedQuery{After: s.Watermark, Limit: 1 << 20})
	if err == nil && len(batch) > 0 {
		_, err = d.Index.PutDocuments(ctx, documents(cut, s, batch))
	}
	return err
}

// documents cuts a batch into terms.
func documents(cut int, s driver.IndexState, batch []driver.NumberedMessage) driver.DocumentBatch {
	docs := driver.DocumentBatch{Cut: cut, From: s.Watermark, To: batch[len(batch)-1].Number}
	for _, m := range batch {
		if terms := cutParts(m.Parts); len(terms) > 0 {
			docs.All = append(docs.All, driver.Document{Terms: terms,
				Mark: driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt, Length: len(terms)}})
		}
	}
	return docs
}

// finds wants a search for any of some terms to find just these messages, besides what is in
// the trash.
func (w *bench) finds(terms []string, want ...scrollback.Message) {
	w.t.Helper()
	var living []scrollback.Message
	for _, m := range w.search(terms...) {
		if _, err := w.Log.ReadHead(w.ctx, m.ConversationID); err == nil && w.head(m.ConversationID).DeletedAt == 0 {
			living = append(living, m)
		}
	}
	same(w.t, fmt.Sprintf("found by %v", terms), want, living)
}
