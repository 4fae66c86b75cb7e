package store

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// BeginRequest opens a turn. Admit may refuse it, given the newest turn (nil if there was
// none): it runs inside the transaction, so it must only judge. Edit then changes the
// conversation's own fields, unless the request is refused or a replay.
//
// With At, the turn runs beside others, whatever else is open: it begins behind that place, and Admit and IfHead
// do not count.
type BeginRequest struct {
	Conversation scrollback.ConversationID
	Turn         scrollback.TurnID // the id that the turn gets; empty for a new one
	Owner        string
	Idempotency  scrollback.Idempotency
	IfHead       *scrollback.Branch // any other head is conflict; nil for any
	At           *Place             // nil for the head
	Messages     []IncomingMessage
	Thread       *threading.Rows // what is stored of the client's request; nil for nothing
	Admit        func(last *scrollback.Turn) error
	Quota        *scrollback.Quota // in which the turn is counted, unless nil
	Edit         func(*scrollback.Conversation)
	Without      *[]int64 // the messages that the branch leaves out from then on; nil changes nothing
}

// Place is behind a message of a branch's path; Seq is 0 before the first.
type Place struct {
	Branch scrollback.BranchID
	Seq    int64
}

// Begin opens a turn with the messages that start it. A turn left open by an
// owner whose lease ended is closed first, its draft saved as an interrupted
// message. A known idempotency key returns the turn that it began.
func (p Turns) Begin(ctx context.Context, r BeginRequest) (BeginResult, error) {
	now := p.s.Now()
	if r.Turn == "" {
		r.Turn = scrollback.TurnID(p.s.newID())
	}
	t := scrollback.Turn{
		ID: r.Turn, Conversation: r.Conversation, State: scrollback.TurnOpen,
		Owner: r.Owner, LeaseUntil: now + p.s.lease.Milliseconds(), Idempotency: r.Idempotency, StartedAt: now,
	}
	p.s.index.NoteTurn()
	entries := p.s.prepareEntries(r.Messages, t.ID)
	err := p.s.keepAnswer(ctx, r.Messages, entries, func() (scrollback.BranchID, int64, error) {
		switch {
		case r.At != nil:
			return r.At.Branch, r.At.Seq, nil
		case r.IfHead != nil: // or it begins nothing
			return r.IfHead.ID, r.IfHead.HeadSeq, nil
		}
		h, err := p.s.d.Log.ReadHead(ctx, r.Conversation)
		if scrollback.CodeOf(err) == scrollback.NotFound {
			err = nil // Begin says so
		}
		return h.Branch.ID, h.Branch.HeadSeq, err
	})
	if err != nil {
		return BeginResult{}, err
	}
	for _, e := range entries {
		if e.Role == scrollback.RoleUser {
			t.UserMessage = e.ID
		}
	}
	b := driver.BeginRequest{
		Turn: t, Now: now, KeysSince: now - IdempotencyAge.Milliseconds(), Entries: entries,
		Thread: r.Thread,
		Admit:  r.Admit, Tally: quotaTally(r.Quota, now), Edit: r.Edit, Without: r.Without, Salvage: p.s.salvageDraft,
	}
	switch {
	case r.At != nil:
		if err := p.goBeside(ctx, &b, *r.At); err != nil {
			return BeginResult{}, err
		}
	case r.IfHead != nil:
		b.IfBranch = r.IfHead.ID
		b.IfHead = r.IfHead.HeadSeq
	}
	begun, err := p.s.d.Turns.Begin(ctx, b)
	if r.Quota != nil && begun.Tallied > 0 {
		r.Quota.Used = begun.Tallied
	}
	return begun, quotaError(r.Quota, err)
}

// goBeside lets a turn begin behind a place. Of what is pinned, what is on the path to it stays pinned.
func (p Turns) goBeside(ctx context.Context, b *driver.BeginRequest, at Place) error {
	h, err := p.s.d.Log.ReadHead(ctx, b.Turn.Conversation)
	if err != nil {
		return err
	}
	from, err := p.s.Branches.Find(ctx, h, at.Branch)
	if err != nil {
		return err
	}
	to, err := p.s.Branches.newLeavingBranch(ctx, from, at.Seq)
	if err != nil {
		return err
	}
	b.At = &to
	if from.ID == h.Branch.ID && at.Seq == h.Branch.HeadSeq {
		return nil
	}
	pins, err := p.s.Branches.pinsOn(ctx, h, from, at.Seq)
	if err != nil {
		return err
	}
	edit := b.Edit
	b.Edit = func(c *scrollback.Conversation) {
		c.PinnedSeqs = keepPins(c.PinnedSeqs, pins)
		if edit != nil {
			edit(c)
		}
	}
	return nil
}

// SaveDraft stores a turn's draft and meta, renews its lease, and reports whether it is to be stopped.
func (p Turns) SaveDraft(ctx context.Context, t scrollback.Turn, d scrollback.Draft) (stop bool, err error) {
	p.s.index.NoteTurn()
	return p.s.d.Turns.SaveDraft(ctx, driver.SavedDraft{Turn: t.ID, Owner: t.Owner, Draft: d, Meta: t.Meta,
		LeaseUntil: p.s.Now() + p.s.lease.Milliseconds()})
}

// FinishRequest stores what a step produced, with the turn's meta, and says where the turn
// stands now.
type FinishRequest struct {
	Turn         scrollback.Turn
	Messages     []IncomingMessage
	Thread       *threading.Rows // what is stored of the answer to a client; nil for nothing
	Usage        []scrollback.UsageRecord
	State        scrollback.TurnState
	OpenCalls    []scrollback.ToolCall
	FinishReason string
	Failure      *scrollback.Failure
	Window       *scrollback.WindowMark
	Sent         *scrollback.SentRequest // to the model in this step; nil for nothing
	Texts        map[string]string       // that it names, by hash
}

// FinishStep appends the messages of a step; they are durable when it returns.
func (p Turns) FinishStep(ctx context.Context, f FinishRequest) (AppendResult, error) {
	p.s.index.NoteTurn()
	now := p.s.Now()
	out, err := p.s.d.Turns.FinishStep(ctx, driver.FinishedStep{
		Turn: f.Turn.ID, Owner: f.Turn.Owner, Now: now, LeaseUntil: now + p.s.lease.Milliseconds(),
		Entries: p.s.prepareEntries(f.Messages, f.Turn.ID), Thread: f.Thread, Usage: boundRecords(f.Usage),
		Learn: p.s.learn, State: f.State,
		OpenCalls:    slices.Clone(f.OpenCalls),
		FinishReason: f.FinishReason, Failure: f.Failure, Window: f.Window, Meta: f.Turn.Meta,
		Sent: f.Sent, Texts: f.Texts,
	})
	if err == nil {
		p.s.replies.note(out.Messages)
	}
	return out, err
}

// Stop asks the owner of a turn, wherever it runs, to stop it.
func (p Turns) Stop(ctx context.Context, id scrollback.TurnID) error {
	return p.s.d.Turns.Stop(ctx, id)
}

// TakeOver closes a turn whose owner is gone, as the next Begin would, and returns it; any
// other turn is returned as stored.
func (p Turns) TakeOver(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	return p.s.d.Turns.TakeOver(ctx, driver.Takeover{Turn: id, Now: p.s.Now(), Salvage: p.s.salvageDraft})
}

// Get returns a turn as stored.
func (p Turns) Get(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	return readNow(ctx, p.s, AliasTurn, id, p.s.d.Turns.Get)
}

// ReadMeta returns what is kept about turns beside their messages, where anything is.
func (p Turns) ReadMeta(ctx context.Context,
	ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	return p.s.d.Turns.ReadMeta(ctx, ids)
}

// ReadSteps returns what the steps of a turn sent to its model, in order.
func (p Turns) ReadSteps(ctx context.Context, id scrollback.TurnID) ([]scrollback.SentRequest, error) {
	return p.s.d.Turns.ReadSteps(ctx, id)
}

// ReadTexts returns texts that the steps of a conversation's turns named, by hash, as far as
// they are known.
func (p Turns) ReadTexts(ctx context.Context, of scrollback.ConversationID,
	hashes ...string) (map[string]string, error) {
	return p.s.d.Turns.ReadTexts(ctx, of, hashes)
}

// GetLast returns the newest turn of a conversation.
func (p Turns) GetLast(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	return p.s.d.Turns.GetLast(ctx, id)
}

// ListUnsuccessful returns the turns that did not end well and whose last message has a seq in
// from to to on the path of a branch, oldest first: the newest ListMax of them.
func (p Turns) ListUnsuccessful(ctx context.Context, b scrollback.BranchID, from, to int64) ([]scrollback.Turn, error) {
	return p.s.d.Turns.ListUnsuccessful(ctx, driver.TurnQuery{Branch: b, From: from, To: to, Limit: scrollback.ListMax})
}

// IsExpired reports whether a turn is stored as open although its owner is gone. Readers
// show it as interrupted; the next turn closes it.
func (p Turns) IsExpired(t scrollback.Turn) bool {
	return t.State == scrollback.TurnOpen && !driver.HoldsConversation(t, p.s.Now())
}
