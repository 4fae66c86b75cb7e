package store

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// arrivalBatch is how many messages are compared with the log at once.
const arrivalBatch = 256

// Comparison is a conversation from elsewhere that is compared with what is here of it:
// record by record, in the order in which it would be written.
type Comparison struct {
	// What is here. Hidden says that only branches are: others inherit from them, or an
	// import was cut off.
	scrollback.Conversation
	Known, Hidden bool
	Heads         map[scrollback.BranchID]int64 // where each branch ends
	Views         map[scrollback.BranchID]int64 // versions of what the branches show
	Segments      map[scrollback.SegmentID]bool

	Standing Standing

	// What the comparison has found: more here, more there, how many messages that is,
	// and the first place where the two differ, or empty.
	Ours, Theirs bool
	Missing      int64
	Split        string

	s     *Store
	here  map[scrollback.BranchID]scrollback.Branch
	seen  map[scrollback.BranchID]bool
	known []scrollback.Message // of theirs, that should be here
	fresh []scrollback.MessageID
}

// Standing is where a conversation stands: at a message, by the branch that owns it. GoesOn says that something here
// goes on from there, because somebody went back; Elsewhere that its branch is written by another.
type Standing struct {
	Place
	GoesOn, Elsewhere bool
}

func newStanding(b scrollback.Branch, all []scrollback.Branch) Standing {
	at := Standing{Place: Place{b.ID, b.HeadSeq}, Elsewhere: b.Elsewhere}
	if b.HeadSeq == b.AtSeq {
		at.Place = Place{b.Parent, b.AtSeq}
	}
	for _, o := range all {
		at.GoesOn = at.GoesOn || o.HeadSeq > o.AtSeq && o.Parent == at.Branch && o.AtSeq == at.Seq ||
			o.ID == at.Branch && o.HeadSeq > at.Seq
	}
	return at
}

// BeginComparison begins to compare a conversation.
func (p Move) BeginComparison(ctx context.Context, id scrollback.ConversationID) (*Comparison, error) {
	a := &Comparison{s: p.s, Heads: map[scrollback.BranchID]int64{}, Views: map[scrollback.BranchID]int64{},
		Segments: map[scrollback.SegmentID]bool{},
		here:     map[scrollback.BranchID]scrollback.Branch{}, seen: map[scrollback.BranchID]bool{}}
	h, err := p.s.d.Log.ReadHead(ctx, id)
	unseen := scrollback.CodeOf(err) == scrollback.NotFound
	if err != nil && !unseen {
		return nil, err
	}
	a.Conversation = h.Conversation
	all, err := p.s.d.Log.ListBranches(ctx, id)
	for _, b := range all {
		a.here[b.ID] = b
		a.Heads[b.ID] = b.HeadSeq
		a.Views[b.ID] = b.ViewVersion
	}
	a.Standing = newStanding(h.Branch, all)
	a.Known = len(all) > 0
	a.Hidden = unseen && len(all) > 0
	return a, err
}

func takenError(what string, id any) error {
	return scrollback.Errorf(scrollback.Conflict, "store.Arrive", i18n.DifferentThingHere, what, id)
}

// CompareSegment compares a segment; a different one with its id is conflict.
func (a *Comparison) CompareSegment(ctx context.Context, g scrollback.Segment) error {
	found, err := a.s.d.Views.ReadSegments(ctx, []scrollback.SegmentID{g.ID})
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		return nil
	case err != nil:
		return err
	case found[0].Conversation != g.Conversation || found[0].Hash != g.Hash || found[0].SHA256 != g.SHA256:
		return takenError("segment", g.ID)
	}
	a.Segments[g.ID] = true
	return nil
}

// CompareBranch compares a branch; one of another conversation with its id is conflict.
func (a *Comparison) CompareBranch(ctx context.Context, b scrollback.Branch) error {
	a.seen[b.ID] = true
	have, ok := a.here[b.ID]
	if ok {
		if have.Parent != b.Parent || have.AtSeq != b.AtSeq {
			a.noteDifference("branch %s begins elsewhere", b.ID)
		}
		a.Ours = a.Ours || have.HeadSeq > b.HeadSeq
		return nil
	}
	_, err := a.s.d.Log.FindBranch(ctx, b.ID)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		a.Heads[b.ID] = b.AtSeq
		return nil
	}
	if err == nil {
		err = takenError("branch", b.ID)
	}
	return err
}

// SharesBranch reports whether a branch that was compared is here.
func (a *Comparison) SharesBranch() bool {
	for id := range a.seen {
		if _, ok := a.here[id]; ok {
			return true
		}
	}
	return false
}

func (a *Comparison) noteDifference(format string, args ...any) {
	if a.Split == "" {
		a.Split = fmt.Sprintf(format, args...)
	}
}

// CompareMessage compares a message with the one in its place. If there is none, its id must be
// unused, else it is conflict.
func (a *Comparison) CompareMessage(ctx context.Context, m scrollback.Message) error {
	if m.Seq > a.Heads[m.Branch] {
		a.Theirs = true
		a.Missing++
		if a.fresh = append(a.fresh, m.ID); len(a.fresh) < arrivalBatch {
			return nil
		}
		return a.checkUnused(ctx)
	}
	if n := len(a.known); n == arrivalBatch || n > 0 && a.known[0].Branch != m.Branch {
		if err := a.compareMessages(ctx); err != nil {
			return err
		}
	}
	a.known = append(a.known, m)
	return nil
}

func (a *Comparison) checkUnused(ctx context.Context) error {
	taken, err := a.s.d.Log.FindOwners(ctx, a.fresh)
	a.fresh = a.fresh[:0]
	if err != nil || len(taken) == 0 {
		return err
	}
	return takenError("message", slices.Min(slices.Collect(maps.Keys(taken))))
}

func (a *Comparison) compareMessages(ctx context.Context) error {
	theirs := a.known
	a.known = nil
	if len(theirs) == 0 || a.Split != "" {
		return nil
	}
	ours, err := a.s.ReadMessages(ctx, theirs[0].Branch, theirs[0].Seq, theirs[len(theirs)-1].Seq)
	if err != nil {
		return err
	}
	for i := range theirs {
		x, err := scrollback.HashMessages(theirs[i : i+1])
		y, errOurs := scrollback.HashMessages(ours[i : i+1])
		if err != nil || errOurs != nil || x != y {
			a.noteDifference("from message %d on", theirs[i].Seq)
			return nil
		}
	}
	return nil
}

// EndComparison ends the comparison.
func (a *Comparison) EndComparison(ctx context.Context) error {
	if err := a.compareMessages(ctx); err != nil {
		return err
	}
	for id, b := range a.here {
		a.Ours = a.Ours || !a.seen[id] && b.HeadSeq > b.AtSeq
	}
	return a.checkUnused(ctx)
}

// Growth is what a branch grows by: messages with ids and times of their own, after
// IfHead. The store determines their weight and terms.
type Growth struct {
	scrollback.Branch
	IfHead   int64
	Messages []IncomingMessage
}

// AdoptHistory brings in a batch of a history that was made elsewhere; see [Adoption].
func (p Move) AdoptHistory(ctx context.Context, a Adoption, grow ...Growth) error {
	if err := completeConversation("store.AdoptHistory", &a.Conversation); err != nil {
		return err
	}
	for _, g := range grow {
		entries := p.s.prepareEntries(g.Messages, "")
		for i := range entries { // the views that come with it may hide what would be read for them
			entries[i].Kept = append(entries[i].Kept, kept.ListEndRows(&entries[i].Message)...)
		}
		end := func() (scrollback.BranchID, int64, error) {
			if g.IfHead == g.AtSeq {
				return g.Parent, g.AtSeq, nil
			}
			return g.ID, g.IfHead, nil
		}
		if err := p.s.keepAnswer(ctx, g.Messages, entries, end); err != nil {
			return err
		}
		a.Branches = append(a.Branches, driver.AdoptedBranch{Branch: g.Branch, IfHead: g.IfHead, Entries: entries})
	}
	a.Now = p.s.Now()
	a.Salvage = p.s.salvageDraft
	return p.s.d.Log.AdoptHistory(ctx, a)
}

// CheckFields returns an error unless a conversation's own fields are valid.
func (p Move) CheckFields(c scrollback.Conversation) error {
	return completeConversation("store.AdoptHistory", &c)
}

// FindBranch returns a branch of any conversation, visible or hidden; not_found if unknown.
func (p Move) FindBranch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	return p.s.d.Log.FindBranch(ctx, id)
}

// FindOwners returns which conversations the messages of some ids belong to. Ids that no message has are left out.
func (p Move) FindOwners(ctx context.Context, ids []scrollback.MessageID) (
	map[scrollback.MessageID]scrollback.ConversationID, error) {
	return p.s.d.Log.FindOwners(ctx, ids)
}

// ListBranches returns the branches of a conversation, including empty ones, by id.
func (p Move) ListBranches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	return p.s.d.Log.ListBranches(ctx, id)
}

// ListWrittenBranches returns the branches of a conversation that a copy of it has, by id: those with messages of
// their own, and the current one.
func (p Move) ListWrittenBranches(ctx context.Context, c scrollback.Conversation) ([]scrollback.Branch, error) {
	branches, err := p.ListBranches(ctx, c.ID)
	return slices.DeleteFunc(branches, func(b scrollback.Branch) bool {
		return b.HeadSeq == b.AtSeq && b.ID != c.Branch
	}), err
}

// ListAll lists all conversations that were not purged, in the trash or not, by id.
func (p Move) ListAll(ctx context.Context) ([]scrollback.Conversation, error) {
	var out []scrollback.Conversation
	for _, first := range "0123456789abcdef" {
		page, err := p.s.d.Log.ListConversations(ctx, driver.ListQuery{Prefix: string(first), Limit: math.MaxInt32})
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
	}
	return out, nil
}

// ReadReadings returns the branches on which messages of another stand, by branch and seq.
func (p Move) ReadReadings(ctx context.Context, id scrollback.ConversationID) ([]Reading, error) {
	return p.s.d.Log.ReadReadings(ctx, id)
}

// ReadClocks returns when the fields of an owner were changed last, by field.
func (p Move) ReadClocks(ctx context.Context, owner string) ([]stamp.Clock, error) {
	return p.s.d.Log.ReadClocks(ctx, owner)
}

// PutClocks stores when fields were changed last, in another store.
func (p Move) PutClocks(ctx context.Context, all []stamp.Clock) error {
	return p.s.d.Log.PutClocks(ctx, all)
}

// ListStones lists what is left of conversations that were purged, by id.
func (p Move) ListStones(ctx context.Context) ([]stamp.Stone, error) {
	var out []stamp.Stone
	for after := scrollback.ConversationID(""); ; after = out[len(out)-1].ID {
		page, err := p.s.d.Log.ListStones(ctx, after, scrollback.ListMax)
		if out = append(out, page...); err != nil || len(page) < scrollback.ListMax {
			return out, err
		}
	}
}

// PutStone stores a stone of another store, and purges the conversation if it is here. It returns the
// artifacts that nothing mentions any more.
func (p Move) PutStone(ctx context.Context, s stamp.Stone) (PurgeResult, error) {
	err := p.s.d.Log.PutStone(ctx, s)
	if scrollback.CodeOf(err) != scrollback.Conflict {
		return PurgeResult{}, err
	}
	return p.s.purgeConversation(ctx, driver.Purge{Conversation: s.ID, Stone: &s})
}

// WalkReceipts walks the receipts of a conversation, oldest first.
func (p Move) WalkReceipts(ctx context.Context,
	id scrollback.ConversationID) iter.Seq2[scrollback.StoredReceipt, error] {
	skip := 0
	return walkPages(func() ([]scrollback.StoredReceipt, bool, error) {
		page, err := p.s.d.Views.ListStoredReceipts(ctx, id, skip, scrollback.ListMax)
		skip += len(page)
		return page, len(page) == scrollback.ListMax, err
	})
}

// ReadMark returns a mark of what is stored: while it stays the same, nothing that stores exchange was written. It is
// one small read. A copy of the store has the same marks until one of both goes on, and then others.
func (p Move) ReadMark(ctx context.Context) (string, error) { return p.s.d.Log.ReadMark(ctx) }

// ReadChanged returns what was written since a mark.
func (p Move) ReadChanged(ctx context.Context, mark string) (Changed, error) {
	return p.s.d.Log.ReadChanged(ctx, mark)
}

// ReadDigests returns the ids of conversations that were not purged and of stones, with the digests that are still
// those that StoreDigests stored.
func (p Move) ReadDigests(ctx context.Context) (Digests, error) { return p.s.d.Log.ReadDigests(ctx) }

// StoreDigests stores digests that were worked out since ReadDigests returned their At; all says that these are all
// that it had not. A store that may only be read refuses it.
func (p Move) StoreDigests(ctx context.Context, d Digests, all bool) error {
	return p.s.d.Log.StoreDigests(ctx, d, all)
}

// ListMet returns marks of other stores: what each held then was taken.
func (p Move) ListMet(ctx context.Context) ([]string, error) { return p.s.d.Log.ListMet(ctx) }

// PutMet notes that everything was taken that another store held when it had a mark; instead is one that it had before,
// or empty.
func (p Move) PutMet(ctx context.Context, mark, instead string) error {
	return p.s.d.Log.PutMet(ctx, mark, instead, p.s.Now())
}
