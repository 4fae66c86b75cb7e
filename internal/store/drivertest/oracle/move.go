package oracle

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// AdoptHistory implements [driver.Log]. Unlike the other writes it judges as it goes, and
// puts everything back when it fails.
func (db log) AdoptHistory(ctx context.Context, a driver.Adoption) error {
	const op = "oracle.AdoptHistory"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	back := db.snapshotAdopted()
	j := &adoptionBatch{database: db.database, a: copyAdoption(a), op: op, grown: map[scrollback.BranchID]bool{}}
	for _, step := range []func() error{j.adoptConversation, j.adoptMessages, j.keepSegments, j.adoptViews,
		j.enterFolds, j.endAdoption} {
		if err := step(); err != nil {
			back()
			return err
		}
	}
	return nil
}

// copyAdoption copies the rows of an adoption; its functions stay.
func copyAdoption(a driver.Adoption) driver.Adoption {
	a.Conversation = deepCopy(a.Conversation)
	a.Segments = cloneAll(a.Segments)
	a.Mentions = cloneAll(a.Mentions)
	a.Folds = cloneAll(a.Folds)
	a.Branches = cloneAll(a.Branches)
	a.Views = cloneAll(a.Views)
	return a
}

// snapshotAdopted copies everything that an adoption may change, and returns what restores it.
func (db log) snapshotAdopted() (back func()) {
	was := database{threads: maps.Clone(db.threads), branches: maps.Clone(db.branches), turns: maps.Clone(db.turns),
		segments: maps.Clone(db.segments), artifacts: maps.Clone(db.artifacts), rows: slices.Clip(db.rows),
		changes: db.changes, kept: slices.Clip(db.kept), clocks: maps.Clone(db.clocks)}
	for owner, of := range db.clocks {
		db.clocks[owner] = maps.Clone(of)
	}
	for id, th := range db.threads {
		db.threads[id] = new(*th)
		db.threads[id].receipts = nil
		for _, r := range th.receipts {
			db.threads[id].receipts = append(db.threads[id].receipts, new(*r))
		}
		db.threads[id].segments = slices.Clip(th.segments)
		db.threads[id].mentions = slices.Clip(th.mentions)
		db.threads[id].sources = maps.Clone(th.sources)
	}
	for id, b := range db.branches {
		db.branches[id] = new(*b)
		db.branches[id].rows = slices.Clip(b.rows)
	}
	db.rows = slices.Clip(db.rows)
	db.kept = slices.Clip(db.kept)
	readings := slices.Clip(db.readings)
	db.changes.kept = slices.Clip(db.changes.kept)
	return func() {
		db.threads = was.threads
		db.branches = was.branches
		db.turns = was.turns
		db.segments = was.segments
		db.artifacts = was.artifacts
		db.rows = was.rows
		db.kept = was.kept
		db.readings = readings
		db.changes = was.changes
		db.clocks = was.clocks
	}
}

// ListStoredReceipts implements [driver.Views].
func (db views) ListStoredReceipts(ctx context.Context, id scrollback.ConversationID,
	skip, limit int) ([]scrollback.StoredReceipt, error) {
	end, err := db.beginRead(ctx, "oracle.ListStoredReceipts")
	defer end()
	th := db.threads[id]
	if err != nil || th == nil {
		return nil, err
	}
	var out []scrollback.StoredReceipt
	for _, r := range th.receipts[min(skip, len(th.receipts)):min(skip+limit, len(th.receipts))] {
		out = append(out, scrollback.StoredReceipt{Branch: r.branch, Receipt: deepCopy(r.Receipt), Before: deepCopy(r.before),
			Folded: r.folded, Undone: r.undone})
	}
	return out, nil
}

// ReadReadings implements [driver.Log].
func (db log) ReadReadings(ctx context.Context, id scrollback.ConversationID) ([]driver.Reading, error) {
	end, err := db.beginRead(ctx, "oracle.ReadReadings")
	defer end()
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(slices.Clone(db.readings), func(r driver.Reading) bool { return r.Conversation != id })
	slices.SortFunc(out, func(a, b driver.Reading) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.From, b.From))
	})
	return out, nil
}

// FindOwners implements [driver.Log].
func (db log) FindOwners(ctx context.Context, ids []scrollback.MessageID) (
	map[scrollback.MessageID]scrollback.ConversationID, error) {
	end, err := db.beginRead(ctx, "oracle.FindOwners")
	defer end()
	if err != nil {
		return nil, err
	}
	out := map[scrollback.MessageID]scrollback.ConversationID{}
	for _, id := range ids {
		if i := slices.IndexFunc(db.rows, func(r *messageRow) bool { return r.ID == id }); i >= 0 {
			out[id] = db.rows[i].ConversationID
		}
	}
	return out, nil
}

// adoptionBatch is one batch of a history being brought in.
type adoptionBatch struct {
	*database
	a     driver.Adoption
	op    string
	th    *storedConversation
	grown map[scrollback.BranchID]bool

	changed int64 // the conversation, before
}

func (j *adoptionBatch) conflictError(format scrollback.TextID, args ...any) error {
	return scrollback.Errorf(scrollback.Conflict, j.op, format, args...)
}

// isForeign reports whether a conversation does not inherit from another here.
func (j *adoptionBatch) isForeign(id scrollback.ConversationID) bool {
	return !slices.Contains(j.th.Ancestors, id)
}

func (j *adoptionBatch) isHidden() bool { return j.th.PurgedAt != 0 }

func (j *adoptionBatch) adoptConversation() error {
	j.changes.noteWritten(string(j.a.Conversation.ID))
	j.th = j.threads[j.a.Conversation.ID]
	if j.th != nil && !j.isHidden() {
		j.changed = j.th.UpdatedAt
	}
	if j.th == nil {
		j.th = &storedConversation{Conversation: driver.HideConversation(j.a.Conversation, j.a.Now)}
		j.threads[j.th.ID] = j.th
		return nil
	}
	switch {
	case j.th.PurgedAt < 0:
		return j.conflictError("conversation %s is being purged", j.th.ID)
	case j.isHidden():
		j.th.Ancestors = driver.MergeAncestors(j.th.Ancestors, j.a.Conversation.Ancestors)
		return nil
	case j.a.Merge:
		j.th.Ancestors = driver.MergeAncestors(j.th.Ancestors, j.a.Conversation.Ancestors)
	case slices.ContainsFunc(j.a.Conversation.Ancestors, j.isForeign):
		return j.conflictError("conversation %s inherits of others here", j.th.ID)
	case j.th.DeletedAt != 0:
		return j.conflictError("conversation %s is in the trash", j.th.ID)
	}
	last := deepCopy(j.turns[j.th.turn])
	if last == nil || last.State != scrollback.TurnOpen {
		return nil
	}
	if driver.HoldsConversation(*last, j.a.Now) {
		return j.conflictError("turn %s holds the conversation", last.ID)
	}
	salvaged := interruptTurn(last, j.a.Now, j.a.Salvage)
	if err := j.checkFresh(j.op, salvaged); err != nil {
		return err
	}
	was := j.th.Messages
	j.concludeLast(j.th, last, salvaged, j.a.Now)
	j.grown[j.th.Branch] = j.th.Messages > was
	return nil
}

func (j *adoptionBatch) adoptMessages() error {
	for _, g := range j.a.Branches {
		b := j.branches[g.ID]
		if b == nil {
			b = &branchRow{Branch: g.Branch, number: nextNumber(&j.branchNumbers)}
			b.Conversation = j.th.ID
			b.View = scrollback.View{}
			b.ViewVersion = 0
			of, err := j.leaveParent(j.op, &b.Branch)
			if err == nil {
				err = checkInherited(j.op, j.th, of)
			}
			if err != nil {
				return err
			}
			j.branches[b.ID] = b
		}
		if b.Conversation != j.th.ID || b.Parent != g.Parent || b.AtSeq != g.AtSeq {
			return j.conflictError("branch %s is another one here", b.ID)
		}
		if b.HeadSeq != g.IfHead {
			return j.conflictError("branch %s ends with #%d, not #%d", b.ID, b.HeadSeq, g.IfHead)
		}
		if err := j.checkFresh(j.op, g.Entries); err != nil {
			return err
		}
		j.database.appendToBranch(j.th, b, g.Entries, g.UpdatedAt)
		j.grown[b.ID] = j.grown[b.ID] || len(g.Entries) > 0
	}
	return nil
}

func (j *adoptionBatch) keepSegments() error {
	for _, s := range j.a.Segments {
		known, ok := j.segments[s.ID]
		if ok && (known.Conversation != s.Conversation || known.Hash != s.Hash || known.SHA256 != s.SHA256) {
			return j.conflictError("segment %s is another one here", s.ID)
		}
		if of := j.threads[s.Conversation]; !ok && of != nil {
			j.segments[s.ID] = s
			of.segments = append(of.segments, s.ID)
		}
	}
	for _, m := range j.a.Mentions {
		j.mentionArtifact(j.th, m)
	}
	for _, r := range j.a.Readings {
		if !slices.Contains(j.readings, r) {
			j.readings = append(j.readings, r)
		}
	}
	j.addKept(j.a.Kept...)
	return nil
}

func (j *adoptionBatch) adoptViews() error {
	for _, v := range j.a.Views {
		if err := j.setHiddenWeight(v.Branch, &v.View); err != nil {
			return err
		}
		if err := (admin{j.database}).setView(j.op, v, j.a.Now); err != nil {
			return err
		}
	}
	return nil
}

// setHiddenWeight sets how much of a branch's path a view hides.
func (j *adoptionBatch) setHiddenWeight(id scrollback.BranchID, v *scrollback.View) error {
	if v.Sum = (scrollback.Weight{}); v.Boundary == 0 {
		return nil
	}
	for i, seq := range append([]int64{v.Boundary}, v.Carried...) {
		m := j.messageAt(id, seq)
		switch {
		case m == nil:
			return scrollback.Errorf(scrollback.NotFound, j.op, "the path of branch %s has no message %d", id, seq)
		case i == 0:
			v.Sum = m.Sum
		default:
			v.Sum = v.Sum.Sub(m.Weight)
		}
	}
	return nil
}

// messageAt returns the message of a seq on a branch's path, or nil.
func (j *adoptionBatch) messageAt(id scrollback.BranchID, seq int64) *messageRow {
	for b := j.branches[id]; b != nil; b = j.branches[b.Parent] {
		if seq > b.HeadSeq {
			return nil
		}
		if seq > b.AtSeq {
			return b.rows[seq-b.AtSeq-1]
		}
	}
	return nil
}

func (j *adoptionBatch) enterFolds() error {
	for _, f := range j.a.Folds {
		if err := j.setHiddenWeight(f.Branch, &f.Before); err != nil {
			return err
		}
		i := slices.IndexFunc(j.th.receipts, func(r *receiptRow) bool {
			return r.CreatedAt == f.Receipt.CreatedAt && r.branch == f.Branch && reflect.DeepEqual(r.Receipt, f.Receipt)
		})
		if i >= 0 {
			j.th.receipts[i].undone = j.th.receipts[i].undone || f.Undone
			continue
		}
		j.th.receipts = append(j.th.receipts, &receiptRow{Receipt: f.Receipt, branch: f.Branch, before: f.Before,
			folded: f.Folded, undone: f.Undone})
	}
	return nil
}

// editMerged changes a conversation's own fields as another store has them.
func (j *adoptionBatch) editMerged() {
	if j.a.Edit != nil {
		edited := deepCopy(j.th.Conversation)
		j.a.Edit(&edited)
		keepLog(&edited, j.th.Conversation)
		j.th.Conversation = edited
	}
	for _, c := range j.a.Clocks {
		j.putClock(c)
	}
	j.showPins(j.th)
}

func (j *adoptionBatch) endAdoption() error {
	if j.a.Current == "" && (j.isHidden() || !j.grown[j.th.Branch]) {
		return nil
	}
	hidden := j.isHidden()
	if hidden {
		if err := j.checkNoStone(j.op, j.th.ID); err != nil {
			return err
		}
		version := j.th.Version
		ancestors := j.th.Ancestors
		j.th.Conversation = j.a.Conversation
		j.th.Version = version
		j.th.Ancestors = ancestors
		j.th.PurgedAt = 0
		if !j.a.Merge {
			j.th.DeletedAt = 0
		}
		j.th.news = driver.Change{}
		j.th.was = scrollback.Conversation{}
	}
	if j.a.Current != "" {
		if hidden {
			j.th.Branch = j.a.Current
		}
		j.movePins(j.th, j.a.Current)
	}
	b, err := j.findBranch(j.op, j.th.Branch)
	if err != nil {
		return err
	}
	if b.Conversation != j.th.ID {
		return j.conflictError("branch %s is of another conversation", b.ID)
	}
	j.th.Messages = b.HeadSeq
	switch {
	case j.a.Current == "":
	case j.a.Merge:
		j.editMerged()
	case j.a.Edit != nil:
		j.editOwn(j.th, max(j.changed, j.a.Conversation.UpdatedAt), j.a.Edit)
	}
	j.th.turn = j.turnAtHead(j.th)
	if t := j.a.Left; t != nil && j.a.Current != "" && j.turns[t.ID] == nil {
		left := deepCopy(t)
		left.Conversation = j.th.ID
		j.turns[left.ID] = left
		j.th.turns = append(j.th.turns, left.ID)
		if left.Branch == b.ID && left.LastSeq == b.HeadSeq {
			j.th.turn = left.ID
		}
	}
	j.th.news.Kinds |= driver.KindEdited
	j.changes.touchConversation(j.th, max(j.changed, j.a.Conversation.UpdatedAt))
	return nil
}
