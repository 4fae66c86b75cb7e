package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
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
	c        *merge.Conversation
	theirs   *arrival
	ours     *heldConversation
	shown    bool // people see it here when it is written
	holding  *holding
	branches map[scrollback.BranchID]scrollback.Branch // as they are here, and as they become
	places   map[scrollback.MessageID]place            // here, of what is new too
	readings []store.Reading
	full     scrollback.Conversation
	current  scrollback.BranchID // on which it stands in the end
}

// write writes it: what people see last.
func (w *writing) write(ctx context.Context) error {
	w.branches = map[scrollback.BranchID]scrollback.Branch{}
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
	w.full = scrollback.Conversation{ID: w.c.ID, Project: ProjectOf(&w.theirs.record),
		CreatedAt: w.theirs.record.CreatedAt, UpdatedAt: w.theirs.updatedAt(), Version: 1}
	if w.seen() {
		w.full = w.ours.head
		w.full.UpdatedAt = max(w.full.UpdatedAt, w.theirs.updatedAt())
		return nil
	}
	var err error
	if w.full.Ancestors, err = w.lineage(ctx); err != nil || !w.shown {
		return err
	}
	if err := setEnvironment(&w.full, w.c.Environment); err != nil {
		return err
	}
	if len(w.c.AgentOf) > 0 {
		if err := json.Unmarshal(w.c.AgentOf, &w.full.AgentOf); err != nil {
			return scrollback.Wrap(scrollback.Invalid, "exchange", err)
		}
	}
	if p := w.c.Parent; p != nil {
		at := w.places[p.Message]
		w.full.Parent = &scrollback.ParentRef{ID: p.Conversation, Branch: at.branch, Seq: at.seq}
	}
	return setFields(&w.full, w.c.Fields)
}

// lineage returns the conversations that this one goes on from, the nearest first.
func (w *writing) lineage(ctx context.Context) ([]scrollback.ConversationID, error) {
	var leaves scrollback.MessageID
	for _, b := range w.theirs.record.Branches {
		leaves = b.Leaves
	}
	if p := w.theirs.record.Parent; p != nil {
		leaves = p.Message
	}
	var out []scrollback.ConversationID
	for at := w.places[leaves].branch; at != ""; {
		b, known := w.branches[at]
		if !known {
			var err error
			if b, err = w.into.Store.Move.FindBranch(ctx, at); err != nil {
				return nil, err
			}
		}
		if b.Conversation != w.c.ID && !slices.Contains(out, b.Conversation) {
			out = append(out, b.Conversation)
		}
		at = b.Parent
	}
	return out, nil
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
	return store.Growth{Branch: b, IfHead: at.seq}
}

// writeArtifacts brings the bytes of artifacts that are mentioned newly, and the mentions.
func (w *writing) writeArtifacts(ctx context.Context) error {
	var rows []scrollback.Artifact
	for _, m := range w.c.Mentions {
		if w.theirs.bytes != nil {
			if err := w.theirs.bytes(ctx, m); err != nil {
				return err
			}
		}
		rows = append(rows, newArtifact(m))
	}
	for some := range slices.Chunk(rows, writeRows) {
		if err := w.adopt(ctx, store.Adoption{Mentions: some}); err != nil {
			return err
		}
	}
	return nil
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
	m, err := w.theirs.content(ctx, id)
	if err != nil {
		return store.IncomingMessage{}, err
	}
	in := store.IncomingMessage{Message: m}
	for id := range in.Parts.Artifacts() {
		if i := slices.IndexFunc(w.theirs.record.Mentions, func(m merge.Mention) bool { return m.Artifact == id }); i >= 0 {
			in.Mentions = append(in.Mentions, newArtifact(w.theirs.record.Mentions[i]))
		}
	}
	return in, nil
}

func newArtifact(m merge.Mention) scrollback.Artifact {
	return scrollback.Artifact{ID: m.Artifact, Name: m.Name, MediaType: m.MediaType, Size: m.Size, CreatedAt: m.CreatedAt}
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
		at, here := w.places[k.Message]
		if !here {
			continue
		}
		rows = append(rows, scrollback.Kept{ID: k.ID, Kind: k.Kind, Text: k.Text, Message: k.Message, Branch: at.branch,
			Seq: at.seq, Role: k.Role, Conversation: w.c.ID, By: scrollback.KeptByPerson, State: k.State,
			CreatedAt: k.CreatedAt, Change: k.Change})
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
		f := scrollback.StoredReceipt{Branch: r.Branch, Receipt: r.Receipt, Before: r.Before, Folded: r.Folded}
		if at, here := w.places[r.Last]; here && r.Last != "" {
			f.Branch = at.branch
		}
		if _, here := w.branches[f.Branch]; !here {
			continue
		}
		f.Receipt.FirstSeq = w.places[r.First].seq
		f.Receipt.LastSeq = w.places[r.Last].seq
		folds = append(folds, f)
	}
	for some := range slices.Chunk(folds, writeRows) {
		if err := w.adopt(ctx, store.Adoption{Folds: some}); err != nil {
			return err
		}
	}
	var views []store.ViewRepair
	for _, v := range w.theirs.record.Views {
		at := w.places[v.Head]
		b := w.branches[at.branch]
		isUntouched := b.Conversation == w.c.ID && b.HeadSeq == at.seq && b.Elsewhere && b.View.Boundary == 0
		if isUntouched && w.hasSegments(v.View) {
			views = append(views, store.ViewRepair{Branch: b.ID, View: v.View})
		}
	}
	for some := range slices.Chunk(views, writeRows) {
		if err := w.adopt(ctx, store.Adoption{Views: some}); err != nil {
			return err
		}
	}
	return nil
}

// hasSegments reports whether all segments of a view are here.
func (w *writing) hasSegments(v scrollback.View) bool {
	here := map[scrollback.SegmentID]bool{}
	for _, c := range w.holding.conversations {
		for _, g := range c.record.Segments {
			here[g.Segment.ID] = true
		}
	}
	for _, g := range w.c.Segments {
		here[g.Segment.ID] = true
	}
	return !slices.ContainsFunc(v.Segments, func(i scrollback.ViewItem) bool { return !here[i.ID] })
}

// remember keeps what a conversation has become here, for what arrives of it next: only where nothing but messages
// came.
func (w *writing) remember() {
	rest := *w.c
	rest.Messages = nil
	if !rest.IsEmpty() || w.ours == nil || !w.ours.seen {
		return
	}
	c := w.ours
	for _, m := range w.c.Messages {
		at := w.places[m.ID]
		c.record.Messages = append(c.record.Messages, m)
		c.messages[m.ID] = m
		c.places[m.ID] = at
		c.at[at] = m.ID
	}
	c.branches = nil
	for _, b := range w.branches {
		if b.Conversation == c.head.ID {
			c.branches = append(c.branches, b)
		}
	}
	c.readings = w.readings
	c.head.Branch = w.current
	w.last = c
}

// writeEnd writes where the conversation stands, and its fields. What only others inherit from stays hidden.
func (w *writing) writeEnd(ctx context.Context) error {
	if !w.shown {
		return nil
	}
	w.current = w.chooseCurrent()
	a := store.Adoption{Current: w.current, Clocks: clocksOf(stamp.OfConversation(w.c.ID), w.c.Fields)}
	var failed error
	if w.seen() {
		a.Edit = func(c *scrollback.Conversation) {
			failed = cmp.Or(setFields(c, w.c.Fields), setEnvironment(c, w.c.Environment))
		}
	}
	if err := w.adopt(ctx, a); err != nil {
		return err
	}
	return failed
}

// chooseCurrent returns the branch on which the conversation stands when all of it is here.
func (w *writing) chooseCurrent() scrollback.BranchID {
	at := map[scrollback.MessageID]merge.Message{}
	goesOn := map[scrollback.MessageID]bool{} // messages that others follow
	here := merge.Place{Known: w.seen() && slices.ContainsFunc(w.ours.branches, func(b scrollback.Branch) bool {
		return b.HeadSeq > b.AtSeq && !b.Elsewhere // a store that has said nothing follows the others
	})}
	if w.ours != nil {
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
			goesOn[m.Prev] = true
		}
		here.Known = here.Known || here.Rewound && w.seen()
	}
	for _, m := range w.c.Messages {
		at[m.ID] = m
		goesOn[m.Prev] = true
	}
	var ends []merge.End
	for _, m := range at {
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
	if w.seen() {
		return w.ours.head.Branch
	}
	return w.firstBranch()
}

// firstBranch returns the branch with which a conversation begins that nobody has said anything in.
func (w *writing) firstBranch() scrollback.BranchID {
	for _, b := range w.theirs.record.Branches {
		return b.ID
	}
	first := scrollback.BranchID("")
	for id, b := range w.branches {
		if b.Conversation == w.c.ID && (first == "" || id < first) {
			first = id
		}
	}
	return first
}
