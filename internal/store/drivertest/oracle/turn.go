package oracle

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// SaveDraft implements [driver.Turns].
func (db turns) SaveDraft(ctx context.Context, s driver.SavedDraft) (bool, error) {
	const op = "oracle.SaveDraft"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return false, err
	}
	t, err := findOwned(db, op, s.Turn, s.Owner)
	if err != nil {
		return false, err
	}
	t.Draft = deepCopy(s.Draft)
	t.LeaseUntil = s.LeaseUntil
	if s.Meta != nil {
		t.Meta = deepCopy(s.Meta)
	}
	return t.Cancel, nil
}

// FinishStep implements [driver.Turns].
func (db turns) FinishStep(ctx context.Context, f driver.FinishedStep) (driver.AppendResult, error) {
	const op = "oracle.FinishStep"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return driver.AppendResult{}, err
	}
	t, err := findOwned(db, op, f.Turn, f.Owner)
	if err != nil {
		return driver.AppendResult{}, err
	}
	th := db.threads[t.Conversation]
	if err := db.checkFresh(op, f.Entries); err != nil {
		return driver.AppendResult{}, err
	}
	if err := db.writeRows(op, f.Thread); err != nil {
		return driver.AppendResult{}, err
	}
	b, ms := db.appendOfTurn(th, t, f.Entries, !driver.IsGivenUp(f.State), f.Now)
	t.Reply = driver.ReplyAfter(t.Reply, f.Entries)
	t.State = f.State
	t.FinishReason = f.FinishReason
	t.Draft = scrollback.Draft{}
	t.OpenCalls = deepCopy(f.OpenCalls)
	t.Failure = deepCopy(f.Failure)
	if f.Window != nil {
		t.Window = deepCopy(f.Window)
	}
	if f.Meta != nil {
		t.Meta = deepCopy(f.Meta)
	}
	keepSent(db.database, th, t.ID, f)
	if f.State == scrollback.TurnOpen {
		t.LeaseUntil = f.LeaseUntil
	} else {
		t.EndedAt = f.Now
		db.settleLast(th, t)
		th.news.State = t.State
		th.news.Kinds = th.news.Kinds | driver.KindTurned
	}
	th.news.Turn = t.ID
	db.bookUsage(th.Project, f.Usage, f.Learn)
	db.changes.touchConversation(th, f.Now)
	head := db.readHead(th)
	head.Branch = deepCopy(b.Branch)
	return driver.AppendResult{Head: head, Messages: ms}, nil
}

// TakeOver implements [driver.Turns].
func (db turns) TakeOver(ctx context.Context, o driver.Takeover) (scrollback.Turn, error) {
	const op = "oracle.TakeOver"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Turn{}, err
	}
	t := deepCopy(db.turns[o.Turn])
	if t == nil {
		return scrollback.Turn{}, scrollback.Errorf(scrollback.NotFound, op, "no turn %s", o.Turn)
	}
	th := db.threads[t.Conversation]
	if t.State != scrollback.TurnOpen || driver.HoldsConversation(*t, o.Now) {
		return *t, nil
	}
	salvaged := interruptTurn(t, o.Now, o.Salvage)
	if err := db.checkFresh(op, salvaged); err != nil {
		return scrollback.Turn{}, err
	}
	db.concludeLast(th, t, salvaged, o.Now)
	db.changes.touchConversation(th, o.Now)
	return deepCopy(*db.turns[t.ID]), nil
}

// keepSent keeps what a step sent, and the texts that it names.
func keepSent(db *database, th *storedConversation, id scrollback.TurnID, f driver.FinishedStep) {
	if f.Sent == nil {
		return
	}
	same := func(s scrollback.SentRequest) bool { return s.Step == f.Sent.Step }
	db.steps[id] = append(slices.DeleteFunc(db.steps[id], same), deepCopy(*f.Sent))
	slices.SortFunc(db.steps[id], func(a, b scrollback.SentRequest) int { return cmp.Compare(a.Step, b.Step) })
	for hash, text := range f.Texts {
		if th.texts == nil {
			th.texts = map[string]string{}
		}
		if _, known := th.texts[hash]; !known {
			th.texts[hash] = text
		}
	}
}

// ReadSteps implements [driver.Turns].
func (db turns) ReadSteps(ctx context.Context, id scrollback.TurnID) ([]scrollback.SentRequest, error) {
	end, err := db.beginRead(ctx, "oracle.ReadSteps")
	defer end()
	if err != nil {
		return nil, err
	}
	return deepCopy(db.steps[id]), nil
}

// ReadTexts implements [driver.Turns].
func (db turns) ReadTexts(ctx context.Context, of scrollback.ConversationID,
	hashes []string) (map[string]string, error) {
	end, err := db.beginRead(ctx, "oracle.ReadTexts")
	defer end()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, hash := range hashes {
		if th := db.threads[of]; th != nil {
			if text, ok := th.texts[hash]; ok {
				out[hash] = text
			}
		}
	}
	return out, nil
}

// Stop implements [driver.Turns].
func (db turns) Stop(ctx context.Context, id scrollback.TurnID) error {
	const op = "oracle.Stop"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	t := db.turns[id]
	if t == nil {
		return scrollback.Errorf(scrollback.NotFound, op, "no turn %s", id)
	}
	if t.State == scrollback.TurnOpen {
		t.Cancel = true
	}
	return nil
}

// Get implements [driver.Turns].
func (db turns) Get(ctx context.Context, id scrollback.TurnID) (scrollback.Turn, error) {
	const op = "oracle.Get"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Turn{}, err
	}
	t := db.turns[id]
	if t == nil {
		return scrollback.Turn{}, scrollback.Errorf(scrollback.NotFound, op, "no turn %s", id)
	}
	return deepCopy(*t), nil
}

// GetLast implements [driver.Turns].
func (db turns) GetLast(ctx context.Context, id scrollback.ConversationID) (scrollback.Turn, error) {
	const op = "oracle.GetLast"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Turn{}, err
	}
	th, err := db.findConversation(op, id)
	if err != nil {
		return scrollback.Turn{}, err
	}
	t := db.turns[th.turn]
	if t == nil {
		return scrollback.Turn{}, scrollback.Errorf(scrollback.NotFound, op, "conversation %s had no turn", id)
	}
	return deepCopy(*t), nil
}

// ReadMeta implements [driver.Turns].
func (db turns) ReadMeta(ctx context.Context,
	ids []scrollback.TurnID) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	end, err := db.beginRead(ctx, "oracle.ReadMeta")
	defer end()
	if err != nil {
		return nil, err
	}
	out := map[scrollback.TurnID]scrollback.TurnMeta{}
	for _, id := range ids {
		if t := db.turns[id]; t != nil && t.Meta != nil {
			out[id] = deepCopy(*t.Meta)
		}
	}
	return out, nil
}

// ListUnsuccessful implements [driver.Turns].
func (db turns) ListUnsuccessful(ctx context.Context, q driver.TurnQuery) ([]scrollback.Turn, error) {
	end, err := db.beginRead(ctx, "oracle.ListUnsuccessful")
	defer end()
	if err != nil {
		return nil, err
	}
	leaves := map[scrollback.BranchID]int64{} // where the path leaves each of its branches
	for b, at := db.branches[q.Branch], int64(math.MaxInt64); b != nil; b, at = db.branches[b.Parent], b.AtSeq {
		leaves[b.ID] = at
	}
	var out []scrollback.Turn
	for _, t := range db.turns {
		leave, on := leaves[t.Branch]
		there := t.LastSeq < leave || t.LastSeq == leave && t.LastSeq > t.Seq
		if on && there && t.NeedsEntry() && q.From <= t.LastSeq && t.LastSeq <= q.To {
			out = append(out, *t)
		}
	}
	slices.SortFunc(out, func(a, b scrollback.Turn) int {
		return cmp.Or(cmp.Compare(a.LastSeq, b.LastSeq), cmp.Compare(a.ID, b.ID))
	})
	return cloneAll(out[max(0, len(out)-q.Limit):]), nil
}

// findOwned returns an open turn, for its owner. The lease may have run out, as long as nobody
// else has taken over.
func findOwned(db turns, op string, id scrollback.TurnID, owner string) (*scrollback.Turn, error) {
	t := db.turns[id]
	if t == nil || t.State != scrollback.TurnOpen || t.Owner != owner {
		return nil, scrollback.Errorf(scrollback.Conflict, op, "turn %s", id).WithReason(scrollback.ErrLostLease)
	}
	return t, nil
}
