package exchange

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Bounds of one write.
const (
	writeMessages = 256
	writeBytes    = 1 << 20
	writeRows     = 64
)

// writing is what a merge has decided of one conversation, on its way into the store.
type writing struct {
	*taking
	c            *merge.Conversation
	theirs, ours *heldConversation
	holding      *holding
	branches     map[scrollback.BranchID]scrollback.Branch // as they are here, and as they become
	fresh        map[scrollback.BranchID]bool              // those that are new here
	places       map[scrollback.MessageID]place            // here, of what is new too
	readings     []store.Reading
	full         scrollback.Conversation
}

// write writes it: what people see last.
func (w *writing) write(ctx context.Context) error {
	w.branches = map[scrollback.BranchID]scrollback.Branch{}
	w.fresh = map[scrollback.BranchID]bool{}
	w.places = map[scrollback.MessageID]place{}
	for _, c := range w.holding.conversations {
		for id, at := range c.places {
			w.places[id] = at
		}
		for _, b := range c.branches {
			w.branches[b.ID] = b
		}
	}
	if w.ours != nil {
		w.readings = slices.Clone(w.ours.readings)
	}
	for _, step := range []func(context.Context) error{w.describe, w.writeFirstBranch, w.writeArtifacts, w.writeMessages,
		w.writeSegments, w.writeKept, w.writeReceipts, w.writeEnd} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// seen reports whether people see the conversation here.
func (w *writing) seen() bool { return w.ours != nil && w.ours.seen }

// describe fills in the conversation as it is to be here.
func (w *writing) describe(ctx context.Context) error {
	w.full = scrollback.Conversation{ID: w.c.ID, Project: w.theirs.head.Project, CreatedAt: w.theirs.head.CreatedAt,
		UpdatedAt: w.theirs.head.UpdatedAt, Version: 1}
	if w.seen() {
		w.full = w.ours.head
		w.full.UpdatedAt = max(w.full.UpdatedAt, w.theirs.head.UpdatedAt)
	}
	w.full.Ancestors = w.theirs.head.Ancestors
	if w.seen() || !w.theirs.seen {
		return nil
	}
	w.full.Environment = w.theirs.head.Environment.WithoutRoots()
	w.full.AgentOf = w.theirs.head.AgentOf
	if p := w.theirs.head.Parent; p != nil {
		w.full.Parent = &scrollback.ParentRef{ID: p.ID, Branch: p.Branch, Seq: p.Seq}
		if w.c.Parent != nil {
			w.full.Parent.Branch = w.places[w.c.Parent.Message].branch
		}
	}
	return setFields(&w.full, w.c.Fields)
}

// adopt writes a piece.
func (w *writing) adopt(ctx context.Context, a store.Adoption, grow ...store.Growth) error {
	a.Conversation = w.full
	a.Merge = true
	return w.into.Store.Move.AdoptHistory(ctx, a, grow...)
}

// writeFirstBranch stores the branch with which a conversation began, if it has no message.
func (w *writing) writeFirstBranch(ctx context.Context) error {
	for _, b := range w.c.Branches {
		if _, known := w.branches[b.ID]; known {
			continue
		}
		at := w.places[b.Leaves]
		if err := w.adopt(ctx, store.Adoption{}, w.newBranch(b.ID, at)); err != nil {
			return err
		}
	}
	return nil
}

// newBranch returns a branch that leaves a place, as what it grows by: nothing yet.
func (w *writing) newBranch(id scrollback.BranchID, at place) store.Growth {
	b := scrollback.Branch{ID: id, Conversation: w.c.ID, Parent: at.branch, AtSeq: at.seq, HeadSeq: at.seq,
		Elsewhere: true, UpdatedAt: w.full.CreatedAt}
	w.branches[id] = b
	w.fresh[id] = true
	return store.Growth{Branch: b, IfHead: at.seq}
}

// writeArtifacts brings the bytes of artifacts that are mentioned newly, and the mentions.
func (w *writing) writeArtifacts(ctx context.Context) error {
	var rows []scrollback.Artifact
	for _, m := range w.c.Mentions {
		if err := w.bringArtifact(ctx, m); err != nil {
			return err
		}
		rows = append(rows, scrollback.Artifact{ID: m.Artifact, Name: m.Name, MediaType: m.MediaType, Size: m.Size,
			CreatedAt: m.CreatedAt})
	}
	for some := range slices.Chunk(rows, writeRows) {
		if err := w.adopt(ctx, store.Adoption{Mentions: some}); err != nil {
			return err
		}
	}
	return nil
}

// bringArtifact stores the bytes of an artifact, unless they are here.
func (w *writing) bringArtifact(ctx context.Context, m merge.Mention) error {
	if has, err := w.into.Archive.HasArtifact(ctx, m.Artifact); err != nil || has {
		return err
	}
	r, size, err := w.from.Archive.OpenArtifact(ctx, m.Artifact)
	if err != nil {
		return err
	}
	defer r.Close()
	got, _, err := w.into.Archive.PutArtifact(ctx, r, size)
	if err == nil && got != m.Artifact {
		err = scrollback.Errorf(scrollback.Internal, "exchange", i18n.ArtifactHasWrongSize, m.Artifact, size, m.Size)
	}
	return err
}

// writeMessages writes the messages, in runs that stand together on both sides.
func (w *writing) writeMessages(ctx context.Context) error {
	var grow store.Growth
	var readings []store.Reading
	size := 0
	flush := func() error {
		if len(grow.Messages) == 0 {
			return nil
		}
		grow.UpdatedAt = max(grow.UpdatedAt, grow.Messages[len(grow.Messages)-1].CreatedAt)
		err := w.adopt(ctx, store.Adoption{Readings: readings}, grow)
		grow = store.Growth{}
		readings = nil
		size = 0
		return err
	}
	for _, m := range w.c.Messages {
		prev := w.places[m.Prev]
		if m.Prev == "" {
			prev = place{}
		}
		id, reading := w.choosePlace(m, prev)
		if len(grow.Messages) > 0 && (grow.ID != id || len(grow.Messages) >= writeMessages || size >= writeBytes) {
			if err := flush(); err != nil {
				return err
			}
		}
		b, known := w.branches[id]
		if !known {
			b = w.newBranch(id, prev).Branch
		}
		if len(grow.Messages) == 0 {
			grow = store.Growth{Branch: b, IfHead: b.HeadSeq}
		}
		if reading != nil {
			readings = append(readings, *reading)
			w.readings = append(w.readings, *reading)
		}
		in, err := w.readMessage(ctx, m.ID)
		if err != nil {
			return err
		}
		grow.Messages = append(grow.Messages, in)
		size += in.Parts.Bytes()
		b.HeadSeq++
		w.branches[id] = b
		w.places[m.ID] = place{id, b.HeadSeq}
	}
	return flush()
}

// choosePlace returns the branch that a message stands on here, behind another: the one that it was written to, unless
// its place there is taken. Then a branch that follows from the message stands for it, and a reading says so.
func (w *writing) choosePlace(m merge.Message, prev place) (scrollback.BranchID, *store.Reading) {
	if at, ok := w.branches[prev.branch]; ok && prev.seq > 0 && at.Conversation == w.c.ID && at.HeadSeq == prev.seq &&
		w.bornHere(prev) == m.Born {
		return at.ID, nil
	}
	b, known := w.branches[m.Born]
	if !known || b.Parent == prev.branch && b.AtSeq == prev.seq && b.HeadSeq == b.AtSeq {
		return m.Born, nil
	}
	id := ids.Branch(m.Key())
	return id, &store.Reading{Conversation: w.c.ID, Branch: id, From: prev.seq + 1, Born: m.Born}
}

// bornHere returns the branch that the message of a place was written to.
func (w *writing) bornHere(at place) scrollback.BranchID {
	return (&heldConversation{readings: w.readings}).born(at)
}

// readMessage reads a message of the other side as one that comes in.
func (w *writing) readMessage(ctx context.Context, id scrollback.MessageID) (store.IncomingMessage, error) {
	at := w.theirs.places[id]
	ms, err := w.from.Store.ReadMessages(ctx, at.branch, at.seq, at.seq)
	if err != nil {
		return store.IncomingMessage{}, err
	}
	in := store.IncomingMessage{Message: ms[0]}
	for id := range in.Parts.Artifacts() {
		for _, m := range w.theirs.record.Mentions {
			if m.Artifact == id {
				in.Mentions = append(in.Mentions, scrollback.Artifact{ID: m.Artifact, Name: m.Name, MediaType: m.MediaType,
					Size: m.Size, CreatedAt: m.CreatedAt})
			}
		}
	}
	return in, nil
}

// writeSegments writes segments, those that others consist of first.
func (w *writing) writeSegments(ctx context.Context) error {
	var rows []scrollback.Segment
	for _, g := range w.c.Segments {
		s := g.Segment
		last := w.places[g.Last]
		s.Conversation = w.c.ID
		s.Branch = last.branch
		s.LastSeq = last.seq
		s.FirstSeq = w.places[g.First].seq
		s.SummaryOf = w.places[g.SummaryOf].seq
		rows = append(rows, s)
	}
	for some := range slices.Chunk(rows, writeRows) {
		if err := w.adopt(ctx, store.Adoption{Segments: some}); err != nil {
			return err
		}
	}
	return nil
}

// writeKept writes what people said of sentences.
func (w *writing) writeKept(ctx context.Context) error {
	var rows []scrollback.Kept
	for _, k := range w.c.Kept {
		row, ok := w.theirs.kept[k.Change]
		at, here := w.places[k.Message]
		if !ok || !here {
			continue
		}
		row.Branch = at.branch
		row.Seq = at.seq
		rows = append(rows, row)
	}
	for some := range slices.Chunk(rows, writeRows) {
		if err := w.adopt(ctx, store.Adoption{Kept: some}); err != nil {
			return err
		}
	}
	return nil
}

// writeReceipts writes the receipts, and what new branches show.
func (w *writing) writeReceipts(ctx context.Context) error {
	var folds []scrollback.StoredReceipt
	for _, r := range w.c.Receipts {
		f, ok := w.theirs.receipts[r.Element(sameID)]
		if !ok {
			continue
		}
		if at, here := w.places[r.Last]; here && r.Last != "" {
			f.Branch = at.branch
		}
		if _, here := w.branches[f.Branch]; !here {
			continue
		}
		f.Receipt.Archive = ""
		folds = append(folds, f)
	}
	for some := range slices.Chunk(folds, writeRows) {
		if err := w.adopt(ctx, store.Adoption{Folds: some}); err != nil {
			return err
		}
	}
	var views []store.ViewRepair
	for _, b := range w.theirs.branches {
		here, known := w.branches[b.ID]
		if known && w.fresh[b.ID] && here.HeadSeq == b.HeadSeq && here.AtSeq == b.AtSeq && b.View.Boundary > 0 {
			views = append(views, store.ViewRepair{Branch: b.ID, View: b.View})
		}
	}
	for some := range slices.Chunk(views, writeRows) {
		if err := w.adopt(ctx, store.Adoption{Views: some}); err != nil {
			return err
		}
	}
	return nil
}

// writeEnd writes where the conversation stands, and its fields. What only others inherit from stays hidden.
func (w *writing) writeEnd(ctx context.Context) error {
	if !w.theirs.seen && !w.seen() {
		return nil
	}
	a := store.Adoption{Current: w.chooseCurrent(), Clocks: clocksOf(stamp.OfConversation(w.c.ID), w.c.Fields)}
	var failed error
	if w.seen() {
		a.Edit = func(c *scrollback.Conversation) { failed = setFields(c, w.c.Fields) }
	}
	if err := w.adopt(ctx, a); err != nil {
		return err
	}
	return failed
}

// chooseCurrent returns the branch on which the conversation stands when all of it is here.
func (w *writing) chooseCurrent() scrollback.BranchID {
	goesOn := map[scrollback.MessageID]bool{} // messages that others follow
	at := map[scrollback.MessageID]merge.Message{}
	for _, list := range [][]merge.Message{w.theirs.record.Messages, w.c.Messages} {
		for _, m := range list {
			goesOn[m.Prev] = true
			at[m.ID] = m
		}
	}
	here := merge.Place{Known: w.seen()}
	if here.Known {
		for _, b := range w.ours.branches {
			if b.ID == w.ours.head.Branch {
				here.At = w.ours.at[place{b.ID, b.HeadSeq}]
				if b.HeadSeq == b.AtSeq {
					here.At = w.ours.at[place{b.Parent, b.AtSeq}]
				}
			}
		}
		for _, m := range w.ours.record.Messages {
			here.Rewound = here.Rewound || m.Prev == here.At
			at[m.ID] = m
		}
	}
	var ends []merge.End
	for _, m := range w.theirs.record.Messages {
		if !goesOn[m.ID] {
			ends = append(ends, merge.End{ID: m.ID, CreatedAt: m.CreatedAt})
		}
	}
	follows := func(end, of scrollback.MessageID) bool {
		for id := end; ; id = at[id].Prev {
			if id == of {
				return true
			}
			if id == "" {
				return false
			}
		}
	}
	stand := merge.Stand(here, ends, follows)
	if p, ok := w.places[stand]; ok && stand != here.At && w.branches[p.branch].HeadSeq == p.seq {
		return p.branch
	}
	if here.Known {
		return w.ours.head.Branch
	}
	return w.firstBranch()
}

// firstBranch returns the branch with which a conversation begins that nobody has said anything in.
func (w *writing) firstBranch() scrollback.BranchID {
	for _, b := range w.theirs.record.Branches {
		return b.ID
	}
	return w.theirs.head.Branch
}
