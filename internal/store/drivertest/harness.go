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

// leaseTime is how long the lease of a test's turn lasts, in ms. It is odd and the clock is
// even, so that no lease ends just when somebody looks.
const leaseTime = 15001

// checks ends a test whose driver does something else than it should.
type checks struct{ t *testing.T }

// wantOK fails the test on an error.
func (c checks) wantOK(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// wantCode wants an error of that code and of the product's own type.
func (c checks) wantCode(err error, want scrollback.Code) {
	c.t.Helper()
	var known *scrollback.Error
	if !errors.As(err, &known) || known.Code != want {
		c.t.Fatalf("error %v (%q), want %q", err, scrollback.CodeOf(err), want)
	}
}

// wantSame compares values; nil and empty lists are alike.
func (c checks) wantSame(what string, want, got any) {
	c.t.Helper()
	wantSame(c.t, what, want, got)
}

// driverHarness is a driver under test with a clock and a source of ids.
type driverHarness struct {
	*driver.Driver
	checks
	ctx context.Context
	now int64
	n   int
}

func newDriverHarness(t *testing.T, d *driver.Driver, now int64) driverHarness {
	return driverHarness{Driver: d, checks: checks{t}, ctx: t.Context(), now: now}
}

// advanceClock moves the clock on and reads it.
func (w *driverHarness) advanceClock() int64 {
	w.now += 10
	return w.now
}

// newID makes an id that sorts by age; kind keeps ids of different things apart.
func (w *driverHarness) newID(kind string) string {
	w.n++
	return makeID(w.n, kind)
}

func (w *driverHarness) readHead(id scrollback.ConversationID) driver.Head {
	w.t.Helper()
	h, err := w.Log.ReadHead(w.ctx, id)
	w.wantOK(err)
	return h
}

// harness is the one of most tests.
type harness struct {
	driverHarness

	parent scrollback.Message // see elder
}

func newHarness(t *testing.T, d *driver.Driver) *harness {
	return &harness{driverHarness: newDriverHarness(t, d, 1_700_000_000_000)}
}

func makeID(n int, kind string) string {
	sum := sha256.Sum256([]byte(kind))
	return fmt.Sprintf("%08x-0000-7000-8000-%s", n, hex.EncodeToString(sum[:6]))
}

func artifactID(name string) scrollback.ArtifactID {
	sum := sha256.Sum256([]byte(name))
	return scrollback.ArtifactID(hex.EncodeToString(sum[:]))
}

// wantLeaseLost wants the conflict of an owner who is none any more.
func (w *harness) wantLeaseLost(err error) {
	w.t.Helper()
	w.wantCode(err, scrollback.Conflict)
	if !errors.Is(err, scrollback.ErrLostLease) {
		w.t.Fatalf("%v does not wrap ErrLostLease", err)
	}
}

// wantSame compares rows; nil and empty lists are alike.
func wantSame(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := describeDifference(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// describeDifference returns how two rows differ, or empty.
func describeDifference(a, b any) string {
	if reflect.DeepEqual(a, b) { // far cheaper, and nearly always so
		return ""
	}
	return gocmp.Diff(a, b, cmpopts.EquateEmpty())
}

// newConversation returns a conversation and its first branch, not created yet.
func newConversation(w *harness) (scrollback.Conversation, scrollback.Branch) {
	now := w.advanceClock()
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch"))}
	c := scrollback.Conversation{
		ID: scrollback.ConversationID(w.newID("conversation")), Project: scrollback.DefaultProject,
		Model: "offline", Policy: "auto", Version: 1, Branch: b.ID,
		CreatedAt: now, UpdatedAt: now, Meta: json.RawMessage(`{}`),
	}
	b.Conversation = c.ID
	return c, b
}

// addConversation creates one, after the edits.
func (w *harness) addConversation(edits ...func(*scrollback.Conversation)) scrollback.Conversation {
	w.t.Helper()
	c, b := newConversation(w)
	for _, edit := range edits {
		edit(&c)
	}
	got, created, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	if !created {
		w.t.Fatalf("conversation %s was not created", c.ID)
	}
	return got
}

// addFork creates a conversation that continues parent after its seq at.
func (w *harness) addFork(parent scrollback.Conversation, at int64) scrollback.Conversation {
	w.t.Helper()
	c, b := newConversation(w)
	c.Parent = &scrollback.ParentRef{ID: parent.ID, Branch: parent.Branch, Seq: at}
	c.Messages = at
	c.Ancestors = append([]scrollback.ConversationID{parent.ID}, parent.Ancestors...)
	b.AtSeq = at
	b.HeadSeq = at
	if at > 0 {
		owner := w.readMessages(parent.Branch, at, at)[0]
		b.Parent = owner.Branch
		b.Sum = owner.Sum
	}
	_, _, err := w.Log.CreateConversation(w.ctx, c, b)
	w.wantOK(err)
	return c
}

// forkPoint returns message 5 of a conversation to fork, made once.
func forkPoint(w *harness) scrollback.Message {
	w.t.Helper()
	if w.parent.ID == "" {
		w.parent = w.appendMessages(w.addConversation().ID, 5)[4]
	}
	return w.parent
}

// undoFold undoes the newest fold of a branch.
func (w *harness) undoFold(id scrollback.BranchID) (scrollback.Receipt, error) {
	return w.Views.UndoFold(w.ctx, driver.FoldUndo{Branch: id, Now: w.advanceClock()})
}

// makeEntry returns a message with these terms and its own weight.
func (w *harness) makeEntry(role scrollback.Role, terms string) driver.Entry {
	id := scrollback.MessageID(w.newID("message"))
	n := int64(w.n)
	return driver.Entry{
		Message: scrollback.Message{
			ID: id, Role: role, Parts: scrollback.Parts{scrollback.Text{Text: terms}},
			Tokens: w.n, Status: scrollback.StatusComplete, CreatedAt: w.advanceClock(),
			Weight: scrollback.Weight{Tokens: n, Bytes: 7*n + 1, Images: n % 3},
		},
	}
}

// beginTurn opens a turn.
func (w *harness) beginTurn(id scrollback.ConversationID, entries ...driver.Entry) driver.BeginResult {
	w.t.Helper()
	got, err := w.tryBegin(id, nil, entries...)
	w.wantOK(err)
	return got
}

// tryBegin opens a turn after edit had a look at the call.
func (w *harness) tryBegin(id scrollback.ConversationID, edit func(*driver.BeginRequest),
	entries ...driver.Entry) (driver.BeginResult, error) {
	now := w.advanceClock()
	turn := scrollback.Turn{
		ID: scrollback.TurnID(w.newID("turn")), Conversation: id, State: scrollback.TurnOpen,
		Owner: fmt.Sprint("owner ", w.n), LeaseUntil: now + leaseTime, StartedAt: now,
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

// finishTurn moves a turn on.
func (w *harness) finishTurn(turn scrollback.Turn, state scrollback.TurnState,
	entries ...driver.Entry) driver.AppendResult {
	w.t.Helper()
	now := w.advanceClock()
	got, err := w.Turns.FinishStep(w.ctx, driver.FinishedStep{Turn: turn.ID, Owner: turn.Owner, Now: now,
		LeaseUntil: now + leaseTime, Entries: entries, State: state})
	w.wantOK(err)
	return got
}

// appendEntries adds entries outside any turn.
func (w *harness) appendEntries(id scrollback.ConversationID, entries ...driver.Entry) []scrollback.Message {
	w.t.Helper()
	got, err := w.tryAppend(id, nil, entries...)
	w.wantOK(err)
	return got.Messages
}

// tryAppend is append after edit had a look at the call.
func (w *harness) tryAppend(id scrollback.ConversationID, edit func(*driver.Append),
	entries ...driver.Entry) (driver.AppendResult, error) {
	a := driver.Append{Conversation: id, Now: w.advanceClock(), IfHead: -1, Entries: entries}
	if edit != nil {
		edit(&a)
	}
	return w.Log.AppendEntries(w.ctx, a)
}

// appendMessages appends n messages without terms.
func (w *harness) appendMessages(id scrollback.ConversationID, n int) []scrollback.Message {
	w.t.Helper()
	var entries []driver.Entry
	for range n {
		entries = append(entries, w.makeEntry(scrollback.RoleUser, ""))
	}
	return w.appendEntries(id, entries...)
}

func (w *harness) readTurn(id scrollback.TurnID) scrollback.Turn {
	w.t.Helper()
	got, err := w.Turns.Get(w.ctx, id)
	w.wantOK(err)
	return withoutLease(got)
}

// withoutLease returns a turn without the fields that mean nothing once it has ended.
func withoutLease(t scrollback.Turn) scrollback.Turn {
	if t.State != scrollback.TurnOpen {
		t.Owner = ""
		t.LeaseUntil = 0
	}
	return t
}

func (w *harness) readMessages(b scrollback.BranchID, from, to int64) []scrollback.Message {
	w.t.Helper()
	got, err := w.Log.ReadMessages(w.ctx, driver.MessageQuery{Branch: b, From: from, To: to})
	w.wantOK(err)
	return got
}

// wantUnchanged runs call and wants the whole store to stay as it was.
func (w *harness) wantUnchanged(call func()) {
	w.t.Helper()
	before := readAll(w.t, w.Driver)
	call()
	wantSame(w.t, "nothing should have been written", before, readAll(w.t, w.Driver))
}

// wantOneWrite wants one more version, the clock's time and heads that agree.
func (w *harness) wantOneWrite(before driver.Head) driver.Head {
	w.t.Helper()
	h := w.readHead(before.ID)
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

// searchTerms finds messages by any of some terms, once the index has caught up; oldest first.
func (w *harness) searchTerms(terms ...string) []scrollback.Message {
	w.t.Helper()
	w.wantOK(catchUp(w.ctx, w.Driver, 1))
	got, err := w.Index.FindPostings(w.ctx, driver.PostingQuery{Terms: terms})
	w.wantOK(err)
	var places []driver.Place
	for _, p := range got {
		places = append(places, p.Places...)
	}
	slices.Sort(places)
	ms, err := w.Index.ReadMessagesAt(w.ctx, slices.Compact(places))
	w.wantOK(err)
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
		_, err = d.Index.PutDocuments(ctx, makeDocuments(cut, s, batch))
	}
	return err
}

// makeDocuments cuts a batch into terms.
func makeDocuments(cut int, s driver.IndexState, batch []driver.NumberedMessage) driver.DocumentBatch {
	docs := driver.DocumentBatch{Cut: cut, From: s.Watermark, To: batch[len(batch)-1].Number}
	for _, m := range batch {
		if terms := cutParts(m.Parts); len(terms) > 0 {
			docs.All = append(docs.All, driver.Document{Terms: terms,
				Mark: driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt, Length: len(terms)}})
		}
	}
	return docs
}

// wantFound wants a search for any of some terms to find just these messages, besides what is in
// the trash.
func (w *harness) wantFound(terms []string, want ...scrollback.Message) {
	w.t.Helper()
	var living []scrollback.Message
	for _, m := range w.searchTerms(terms...) {
		if _, err := w.Log.ReadHead(w.ctx, m.ConversationID); err == nil && w.readHead(m.ConversationID).DeletedAt == 0 {
			living = append(living, m)
		}
	}
	wantSame(w.t, fmt.Sprintf("found by %v", terms), want, living)
}
