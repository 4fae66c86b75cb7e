package bundles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// The results of the import of a bundle.
const (
	ResultCreated   = "created"
	ResultExtended  = "extended"
	ResultUnchanged = "unchanged"
)

// Bounds of one write of messages.
const (
	importBatch = 256
	importBytes = 1 << 20
)

// adoptBatch is how many segments, views, mentions or receipts one transaction
// brings.
const adoptBatch = 64

// ImportRequest says how to read a bundle: into which project, if it is not its own, and
// whether with new ids.
type ImportRequest struct {
	Project  string
	AsCopy   bool
	Progress func(messages int64) // may be nil
}

// Imported is the conversation of a bundle, and what came of it. Messages counts those newly
// written, Total those that it has now. IDs are the new ids of a copy by those in the bundle.
type Imported struct {
	ID       scrollback.ConversationID
	Messages int64
	Total    int64
	Result   string
	IDs      map[string]string
}

// bundleImport is a bundle being imported.
type bundleImport struct {
	Installation
	q     ImportRequest
	r     io.ReadSeeker
	copy  *bundle.Copy           // nil where ids stay
	order []*bundledConversation // as in the file: the last is the one that was exported
	at    *bundledConversation
	count int64

	manifest bundle.Manifest // as it was checked
}

// Import reads a bundle three times: to check it and compare it with what is here, to write
// its messages, and to write what is derived from them. Until the last write nobody sees a
// conversation that is new here, and one that is here only gets longer; an import that was
// cut off continues when it is repeated.
func Import(ctx context.Context, d Installation, r io.ReadSeeker, q ImportRequest) (Imported, error) {
	b := &bundleImport{Installation: d, q: q, r: r}
	if q.AsCopy {
		b.copy = bundle.NewCopy(b.Store.NewID())
	}
	if err := b.checkBundle(ctx); err != nil {
		return Imported{}, err
	}
	did, err := b.chooseResult()
	if err == nil && did != ResultUnchanged {
		err = b.writeMissing(ctx)
	}
	if err != nil {
		return Imported{}, err
	}
	main := b.mainConversation()
	total := b.mainConversation().Messages
	if did != ResultUnchanged && !b.stays() {
		total = main.branches[main.conv.Branch].HeadSeq
	}
	out := Imported{ID: main.conv.ID, Messages: b.count, Total: total, Result: did}
	if b.copy != nil {
		out.IDs = b.copy.Names
	}
	return out, nil
}

func (b *bundleImport) mainConversation() *bundledConversation { return b.order[len(b.order)-1] }

// checkBundle checks the bundle and finds out how much of it is already here.
func (b *bundleImport) checkBundle(ctx context.Context) error {
	render := bundle.Renderer{
		Leaf: func(w io.Writer, s scrollback.Segment, ms []scrollback.Message) error {
			return archive.Render(w, s.Renderer, s, ms)
		},
		Table: func(w io.Writer, s scrollback.Segment, children []scrollback.Segment) error {
			return archive.RenderTable(w, s.Renderer, s, children)
		},
	}
	v := bundle.Visit{
		Conversation: func(c bundle.Conversation) error { return b.beginConversation(ctx, c) },
		Segment:      func(s scrollback.Segment) error { return b.at.CompareSegment(ctx, s) },
		Branch:       func(r bundle.Branch) error { return b.at.CompareBranch(ctx, r.Branch) },
		Message:      func(m scrollback.Message) error { return b.at.CompareMessage(ctx, m) },
	}
	if b.copy != nil { // nothing of it can be here; only its ids are noted
		v.Segment = func(s scrollback.Segment) error { b.copy.AddName(string(s.ID), ""); return nil }
		v.Branch = func(r bundle.Branch) error { b.copy.AddName(string(r.ID), ""); return nil }
		v.Message = nil
	}
	var err error
	if b.manifest, err = bundle.Check(b.r, b.Limits, render, v); err == nil && b.copy == nil {
		err = b.at.EndComparison(ctx)
	}
	return err
}

// beginConversation begins to compare a conversation.
func (b *bundleImport) beginConversation(ctx context.Context, c bundle.Conversation) error {
	if err := scrollback.CheckTools(c.Settings.Tools); err != nil {
		return err
	}
	if b.at != nil && b.copy == nil {
		if err := b.at.EndComparison(ctx); err != nil {
			return err
		}
	}
	if err := AdaptSettings(b.View, &c.Conversation, b.q.Project); err != nil {
		return err
	}
	if err := b.Store.Move.CheckFields(c.Conversation); err != nil {
		return err
	}
	if b.copy != nil {
		b.copy.AddName(string(c.ID), b.Store.NewID())
		c.ID = scrollback.ConversationID(b.copy.Names[string(c.ID)])
	}
	b.at = &bundledConversation{conv: c, branches: map[scrollback.BranchID]scrollback.Branch{},
		mentions: map[scrollback.ArtifactID]scrollback.Artifact{},
		made:     map[scrollback.SegmentID]*scrollback.Segment{}}
	b.order = append(b.order, b.at)
	var err error
	if b.at.Comparison, err = b.Store.Move.BeginComparison(ctx, c.ID); err != nil {
		return err
	}
	if err := b.checkStone(ctx, c); err != nil {
		return err
	}
	foreign := func(id scrollback.ConversationID) bool { return !slices.Contains(b.at.Ancestors, id) }
	switch {
	case b.at.Known && !b.View.Caller().SeesProject(b.at.Project): // also one that was purged and has heirs
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import",
			i18n.ConversationInForeignProject, c.ID, asCopy)
	case !b.at.isVisible():
		return nil
	case b.at.DeletedAt != 0:
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import", i18n.ConversationInTrashRestoreFirst,
			c.ID)
	case b.q.Project != "" && b.at.Project != b.q.Project:
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import", i18n.ConversationInAnotherProject, c.ID,
			asCopy)
	case slices.ContainsFunc(c.Ancestors, foreign):
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import", i18n.ConversationInheritsFromOthers,
			c.ID, asCopy)
	}
	return nil
}

// checkStone is conflict if a conversation that a bundle would show was purged. What others inherit of one may come.
func (b *bundleImport) checkStone(ctx context.Context, c bundle.Conversation) error {
	if c.Inherited || b.copy != nil {
		return nil
	}
	s, err := b.Store.ReadStone(ctx, c.ID)
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		return nil
	case err != nil:
		return err
	case !b.View.Caller().SeesProject(s.Project):
		return scrollback.Errorf(scrollback.Conflict, "transfer.Import", i18n.ConversationInForeignProject, c.ID, asCopy)
	}
	return scrollback.Errorf(scrollback.Conflict, "transfer.Import", i18n.ConversationWasPurged, c.ID)
}

// asCopy says what to do about a conflict.
const asCopy = "imported as a copy it gets ids of its own"

// chooseResult returns what an import is to do, or why it may not.
func (b *bundleImport) chooseResult() (string, error) {
	main := b.mainConversation()
	switch {
	case main.Split != "":
	case main.Hidden && main.Ours: // else anybody who knows a purged id could bring back what forks keep of it
		main.Split = "where others keep more of it"
	case main.Ours && main.Theirs && !main.SharesBranch(): // an id alone joins nothing
		main.Split = "with its first message"
	}
	for _, a := range b.order {
		if a.Split != "" {
			return "", scrollback.Errorf(scrollback.Conflict, "transfer.Import",
				i18n.ConversationDiffersHere, a.conv.ID, a.Split, asCopy)
		}
	}
	switch {
	case !main.Known || main.Hidden:
		return ResultCreated, nil
	case main.Theirs:
		return ResultExtended, nil
	}
	return ResultUnchanged, nil
}

// writeMissing stores what is missing. A copy that fails leaves nothing behind; any other import
// continues from what is there when it is repeated.
func (b *bundleImport) writeMissing(ctx context.Context) error {
	err := b.writeMessages(ctx)
	if err == nil {
		err = b.writeDerived(ctx)
	}
	if err != nil && b.copy != nil {
		for _, a := range slices.Backward(b.order) {
			b.discardCopy(context.WithoutCancel(ctx), a.conv.ID)
		}
	}
	return err
}

var errBundleChanged = scrollback.ParamErrorf("transfer.Import", "file", i18n.BundleChangedWhileRead)

// writeMessages writes artifacts, their mentions and messages; those of a conversation that
// people see keep their last batch for the end.
func (b *bundleImport) writeMessages(ctx context.Context) error {
	n := -1
	err := b.walkBundle(bundle.Visit{
		Artifact: func(id scrollback.ArtifactID, size int64, r io.Reader) error {
			got, _, err := b.Archive.PutArtifact(ctx, r, size)
			if err == nil && got != id {
				err = errBundleChanged
			}
			return err
		},
		Conversation: func(c bundle.Conversation) error {
			if err := b.nextConversation(ctx, &n); err != nil {
				return err
			}
			b.at.conv = c
			return AdaptSettings(b.View, &b.at.conv.Conversation, b.q.Project)
		},
		Branch: func(r bundle.Branch) error {
			r.Elsewhere = b.copy == nil // a copy is written here
			b.at.branches[r.ID] = r.Branch
			return nil
		},
		Mention: func(a scrollback.Artifact) error {
			b.at.mentions[a.ID] = a
			b.at.pending.Mentions = append(b.at.pending.Mentions, a)
			return b.flushPending(ctx, adoptBatch)
		},
		Message: func(m scrollback.Message) error { return b.addMessage(ctx, m) },
	})
	if err == nil {
		err = b.flushPending(ctx, 0)
	}
	if err != nil {
		return err
	}
	if a := b.mainConversation(); a.isVisible() {
		a.last = a.takeBatch()
		return nil
	}
	return b.flushBatch(ctx)
}

// nextConversation writes what is pending of a conversation, and moves on to the one after the nth.
func (b *bundleImport) nextConversation(ctx context.Context, n *int) error {
	if *n >= 0 {
		if err := errors.Join(b.flushPending(ctx, 0), b.flushBatch(ctx)); err != nil {
			return err
		}
	}
	if *n++; *n == len(b.order) {
		return errBundleChanged
	}
	b.at = b.order[*n]
	return nil
}

// addMessage adds a message to the batch, unless it is here.
func (b *bundleImport) addMessage(ctx context.Context, m scrollback.Message) error {
	a := b.at
	if head, ok := a.Heads[m.Branch]; ok && m.Seq <= head {
		return nil
	}
	if a.grows != m.Branch || len(a.batch) >= importBatch || a.size >= importBytes {
		if err := b.flushBatch(ctx); err != nil {
			return err
		}
		a.grows = m.Branch
	}
	in := store.IncomingMessage{Message: m}
	for id := range m.Parts.Artifacts() {
		if art, ok := a.mentions[id]; ok {
			in.Mentions = append(in.Mentions, art)
		}
	}
	a.batch = append(a.batch, in)
	a.size += m.Parts.Bytes()
	b.count++
	return nil
}

// flushBatch writes the batch.
func (b *bundleImport) flushBatch(ctx context.Context) error {
	grow := b.at.takeBatch()
	if grow == nil {
		return nil
	}
	if err := b.Store.Move.AdoptHistory(ctx, store.Adoption{Conversation: b.at.fullConversation()}, grow...); err != nil {
		return err
	}
	if b.q.Progress != nil {
		b.q.Progress(b.count)
	}
	return nil
}

// writeDerived writes what is derived from the messages, and makes the conversation visible.
func (b *bundleImport) writeDerived(ctx context.Context) error {
	n := -1
	err := b.walkBundle(bundle.Visit{
		// It is mentioned by now. Before that, a purge elsewhere may have removed it.
		Artifact: func(id scrollback.ArtifactID, size int64, r io.Reader) error {
			has, err := b.Archive.HasArtifact(ctx, id)
			if err == nil && !has {
				_, _, err = b.Archive.PutArtifact(ctx, r, size)
			}
			return err
		},
		Conversation: func(bundle.Conversation) error { return b.nextConversation(ctx, &n) },
		Segment:      func(s scrollback.Segment) error { return b.writeSegment(ctx, s) },
		Branch:       func(r bundle.Branch) error { return b.writeViews(ctx, r) },
		Fold: func(f scrollback.StoredReceipt) error {
			if _, old := b.at.Views[f.Branch]; b.at.mustWait(f.Before.Boundary) || b.at.isVisible() && !old {
				b.at.final.Folds = append(b.at.final.Folds, f)
				return nil
			}
			b.at.pending.Folds = append(b.at.pending.Folds, f)
			return b.flushPending(ctx, adoptBatch)
		},
		Kept: func(k bundle.KeptChange) error {
			if b.at.isVisible() {
				b.at.final.Kept = append(b.at.final.Kept, k.Restore())
				return nil
			}
			b.at.pending.Kept = append(b.at.pending.Kept, k.Restore())
			return b.flushPending(ctx, adoptBatch)
		},
	})
	if err == nil {
		err = b.flushPending(ctx, 0)
	}
	if err != nil {
		return err
	}
	a := b.mainConversation()
	a.final.Conversation = a.fullConversation()
	a.final.Current = a.conv.Branch
	a.final.Left = a.conv.Draft
	if b.stays() {
		a.final.Current = a.Conversation.Branch
		a.final.Left = nil
	}
	a.final.Conversation.PinnedSeqs = b.pinsOnPath(a.conv.PinnedSeqs, a.conv.Branch)
	if a.isVisible() {
		a.final.Edit = (*scrollback.Conversation).RepeatEnvironment
	}
	return b.Store.Move.AdoptHistory(ctx, a.final, a.last...)
}

// writeSegment stores a segment that is not here.
func (b *bundleImport) writeSegment(ctx context.Context, s scrollback.Segment) error {
	a := b.at
	switch {
	case a.Segments[s.ID]:
		return nil
	case b.copy != nil && len(s.Children) > 0:
		a.rollups = append(a.rollups, s)
		return nil
	case b.copy != nil:
		if err := b.adaptSegment(ctx, &s); err != nil {
			return err
		}
	case len(a.last) > 0 && s.Branch == a.last[0].ID && a.mustWait(s.LastSeq):
		a.final.Segments = append(a.final.Segments, s)
		return nil
	}
	a.pending.Segments = append(a.pending.Segments, s)
	return b.flushPending(ctx, adoptBatch)
}

// adaptSegment makes a copied segment fit the copied messages, or the copied segments.
func (b *bundleImport) adaptSegment(ctx context.Context, s *scrollback.Segment) error {
	var text bytes.Buffer
	var err error
	if len(s.Children) == 0 {
		var ms []scrollback.Message
		if ms, err = b.Store.ReadMessages(ctx, s.Branch, s.FirstSeq, s.LastSeq); err != nil {
			return err
		}
		if s.Hash, err = scrollback.HashMessages(ms); err == nil {
			err = archive.Render(&text, s.Renderer, *s, ms)
		}
	} else {
		var hashes []string
		var children []scrollback.Segment
		for _, id := range s.Children {
			for _, a := range b.order {
				if child := a.made[id]; child != nil {
					hashes = append(hashes, child.Hash)
					children = append(children, *child)
				}
			}
		}
		s.Hash = scrollback.HashChildren(hashes)
		err = archive.RenderTable(&text, s.Renderer, *s, children)
	}
	sum := sha256.Sum256(text.Bytes())
	s.Bytes = int64(text.Len())
	s.SHA256 = hex.EncodeToString(sum[:])
	light := *s
	light.Summary = scrollback.Hint(s.Summary)
	light.Placeholder = scrollback.GistOnly(s.Placeholder)
	b.at.made[s.ID] = &light
	return scrollback.Wrap(scrollback.Internal, "transfer.Import", err)
}

// writeViews writes the views of the conversation's own branches that are new here or have
// grown.
func (b *bundleImport) writeViews(ctx context.Context, r bundle.Branch) error {
	a := b.at
	slices.SortStableFunc(a.rollups, func(x, y scrollback.Segment) int { return x.Level - y.Level })
	for i := range a.rollups {
		if err := b.adaptSegment(ctx, &a.rollups[i]); err != nil {
			return err
		}
	}
	a.pending.Segments = append(a.pending.Segments, a.rollups...)
	a.rollups = nil
	if a.conv.Inherited {
		return b.flushPending(ctx, adoptBatch)
	}
	_, old := a.Views[r.ID]
	view := store.ViewRepair{Branch: r.ID, IfViewVersion: a.Views[r.ID], View: r.View}
	empty := store.Growth{Branch: r.Branch, IfHead: r.AtSeq} // if no messages come with it
	empty.Elsewhere = b.copy == nil
	switch {
	case a.isVisible() && old && a.Heads[r.ID] >= r.HeadSeq:
		return nil
	case a.isVisible():
		if !old && r.HeadSeq == r.AtSeq {
			a.last = append(a.last, empty)
		}
		a.final.Views = append(a.final.Views, view)
		return nil
	case !old && r.HeadSeq == r.AtSeq:
		if err := b.Store.Move.AdoptHistory(ctx, store.Adoption{Conversation: a.fullConversation()}, empty); err != nil {
			return err
		}
	}
	a.pending.Views = append(a.pending.Views, view)
	return b.flushPending(ctx, adoptBatch)
}

// flushPending writes what is pending once there is enough of it.
func (b *bundleImport) flushPending(ctx context.Context, enough int) error {
	p := &b.at.pending
	if n := len(p.Segments) + len(p.Mentions) + len(p.Views) + len(p.Folds) + len(p.Kept); n == 0 || n < enough {
		return nil
	}
	p.Conversation = b.at.fullConversation()
	err := b.Store.Move.AdoptHistory(ctx, *p)
	*p = store.Adoption{}
	return err
}

// walkBundle reads the bundle again, with the ids that it gets here.
func (b *bundleImport) walkBundle(v bundle.Visit) error {
	if b.copy != nil {
		v = b.copy.WrapVisit(v)
	}
	m, err := bundle.Walk(b.r, b.Limits, v)
	if err == nil && !slices.Equal(m.Entries, b.manifest.Entries) {
		err = errBundleChanged
	}
	return err
}

// discardCopy takes back what a failed copy wrote, as far as it can: nobody sees it.
func (b *bundleImport) discardCopy(ctx context.Context, id scrollback.ConversationID) {
	if purged, err := b.Store.PurgeConversation(ctx, id, 0); err == nil {
		_, _, _ = b.Archive.DeleteConversation(ctx, id, purged.Loose)
	}
}
