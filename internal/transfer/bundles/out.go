package bundles

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// ExportRequest says how to write a bundle: with Materialize it has the Markdown files of
// segments too. With Mask, keys and passwords are taken out of it, and it is a copy with ids of its own.
type ExportRequest struct {
	Materialize bool
	Mask        *mask.Masker                // nil masks nothing
	Progress    func(messages, total int64) // may be nil
}

// bundleExport is a bundle being exported.
type bundleExport struct {
	Installation
	q       ExportRequest
	w       *bundle.Writer
	parts   []*exportPortion // those inherited from first, the conversation itself last
	done    int64
	total   int64
	written map[scrollback.SegmentID]bool
	masked  *maskedExport // nil masks nothing
}

// exportPortion is what a bundle holds of one conversation.
type exportPortion struct {
	bundle.Conversation
	branches []scrollback.Branch // parents first
	ends     map[scrollback.BranchID]int64
	mentions []scrollback.Artifact
	segments []scrollback.SegmentID
	kept     []scrollback.Kept // what people said of sentences
}

// Export writes a whole conversation: all its branches, and what is on its path of
// those that it inherits from.
func Export(ctx context.Context, d Installation, id scrollback.ConversationID, q ExportRequest, w io.Writer) error {
	x := &bundleExport{Installation: d, q: q, written: map[scrollback.SegmentID]bool{}}
	if err := x.planPortions(ctx, id); err != nil {
		return err
	}
	art, err := x.collectArtifacts(ctx)
	if err != nil {
		return err
	}
	if err := x.collectKept(ctx); err != nil {
		return err
	}
	if q.Mask != nil {
		if x.masked, err = x.prepareMasks(ctx, id, art); err != nil {
			return err
		}
		id = x.masked.conversationID(id)
		art = x.masked.listArtifacts()
	}
	if x.w, err = bundle.NewWriter(w, id, x.Limits); err != nil {
		return err
	}
	if slices.ContainsFunc(x.parts, func(p *exportPortion) bool { return len(p.kept) > 0 }) {
		x.w.ExpectKept()
	}
	for _, a := range art {
		if err := x.writeArtifact(ctx, a); err != nil {
			return err
		}
	}
	for _, p := range x.parts {
		if err := x.writePortion(ctx, p); err != nil {
			return err
		}
	}
	return x.w.Close()
}

// planPortions finds out which branches of which conversations belong to the bundle, and how
// far.
func (x *bundleExport) planPortions(ctx context.Context, id scrollback.ConversationID) error {
	head, err := x.View.Bulk().Head(ctx, id, scrollback.AccessRead)
	if err != nil {
		return err
	}
	own, err := x.Store.Move.ListWrittenBranches(ctx, head.Conversation)
	if err != nil {
		return err
	}
	main := &exportPortion{Conversation: bundle.Conversation{Conversation: head.Conversation,
		Environment: head.Environment.WithoutRoots()}}
	if main.Draft, err = x.findDraft(ctx, id); err != nil {
		return err
	}
	main.Settings.RecallScope = ""
	main.Settings.Keep = ""
	main.Settings.Agents = false
	main.AgentOf = nil
	main.Roots = nil
	main.Limit = 0
	main.Version = 0
	main.DeletedAt = 0
	main.Messages = 0
	others := map[scrollback.ConversationID]map[scrollback.BranchID]scrollback.Branch{}
	mine := map[scrollback.BranchID]bool{}
	for _, b := range own {
		mine[b.ID] = true
	}
	for _, b := range own {
		for seq := b.AtSeq; b.Parent != "" && !mine[b.Parent]; seq = b.AtSeq {
			if b, err = x.Store.Move.FindBranch(ctx, b.Parent); err != nil {
				return err
			}
			of := others[b.Conversation]
			if of == nil {
				of = map[scrollback.BranchID]scrollback.Branch{}
				others[b.Conversation] = of
			}
			if seq <= of[b.ID].HeadSeq {
				break // and what is above it is there too
			}
			of[b.ID] = scrollback.Branch{ID: b.ID, Conversation: b.Conversation, Parent: b.Parent, AtSeq: b.AtSeq, HeadSeq: seq}
		}
	}
	var above []scrollback.ConversationID // those it inherits from, nearest first
	for _, id := range slices.Backward(head.Ancestors) {
		if len(others[id]) == 0 {
			continue
		}
		p := &exportPortion{Conversation: bundle.Conversation{Inherited: true, Ancestors: above}}
		above = append([]scrollback.ConversationID{id}, above...)
		p.ID = id
		for _, b := range others[id] {
			p.branches = append(p.branches, b)
		}
		x.parts = append(x.parts, p)
	}
	main.branches = own
	main.Conversation.Ancestors = above
	x.parts = append(x.parts, main)
	for _, p := range x.parts {
		p.sortBranches()
		for _, b := range p.branches {
			x.total += b.HeadSeq - b.AtSeq
		}
	}
	return nil
}

// findDraft returns the newest turn of a conversation if what it wrote is not stored as a message yet, or nil.
func (x *bundleExport) findDraft(ctx context.Context, id scrollback.ConversationID) (*scrollback.Turn, error) {
	t, err := x.Store.Turns.GetLast(ctx, id)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return nil, nil
	}
	return bundle.InterruptedDraft(t), err
}

// sortBranches puts branches in order: by where they begin, so parents first, then by id.
func (p *exportPortion) sortBranches() {
	p.ends = map[scrollback.BranchID]int64{}
	for _, b := range p.branches {
		p.ends[b.ID] = b.HeadSeq
	}
	slices.SortFunc(p.branches, func(a, b scrollback.Branch) int { // others leave a branch only after its beginning
		return cmp.Or(cmp.Compare(a.AtSeq, b.AtSeq), cmp.Compare(a.ID, b.ID))
	})
}

// collectArtifacts collects what the portions mention, and returns all of it by id. A message may
// name what only an ancestor mentions elsewhere: in the bundle, its own conversation then
// mentions it.
func (x *bundleExport) collectArtifacts(ctx context.Context) ([]scrollback.Artifact, error) {
	all := map[scrollback.ArtifactID]scrollback.Artifact{}
	before := map[scrollback.ArtifactID]bool{} // by ancestors
	for _, p := range x.parts {
		named, err := x.namedArtifacts(ctx, p)
		if err != nil {
			return nil, err
		}
		for r, err := range x.Store.Refs.WalkOwn(ctx, p.ID, scrollback.RefArtifact) {
			if err != nil {
				return nil, err
			}
			a := newArtifact(r)
			if !p.Inherited || named[a.ID] {
				p.mentions = append(p.mentions, a)
			}
			delete(named, a.ID)
		}
		lineage := append([]scrollback.ConversationID{p.ID}, p.Ancestors...)
		for _, id := range sortedKeys(named) {
			if before[id] {
				continue
			}
			r, err := x.Store.Refs.GetIn(ctx, lineage, scrollback.ArtifactRef(id))
			if err != nil {
				return nil, err
			}
			p.mentions = append(p.mentions, newArtifact(r))
		}
		for _, a := range p.mentions {
			all[a.ID] = a
			before[a.ID] = true
		}
	}
	var out []scrollback.Artifact
	for _, id := range sortedKeys(all) {
		out = append(out, all[id])
	}
	return out, nil
}

func newArtifact(r scrollback.RefEntry) scrollback.Artifact {
	return scrollback.Artifact{ID: scrollback.ArtifactID(r.SHA256), MediaType: r.MediaType, Name: r.Hint, Size: r.Bytes,
		CreatedAt: r.CreatedAt}
}

// namedArtifacts returns the artifacts that the messages of a portion name.
func (x *bundleExport) namedArtifacts(ctx context.Context, p *exportPortion) (map[scrollback.ArtifactID]bool, error) {
	out := map[scrollback.ArtifactID]bool{}
	for _, b := range p.branches {
		for m, err := range x.Store.WalkMessages(ctx, b.ID, b.AtSeq+1, b.HeadSeq) {
			if err != nil {
				return nil, err
			}
			for id := range m.Parts.Artifacts() {
				out[id] = true
			}
		}
	}
	return out, nil
}

// writeArtifact writes the bytes of an artifact.
func (x *bundleExport) writeArtifact(ctx context.Context, a scrollback.Artifact) error {
	if x.masked != nil {
		if done, err := x.writeMaskedArtifact(ctx, a); done || err != nil {
			return err
		}
	}
	f, size, err := x.Archive.OpenArtifact(ctx, a.ID)
	if err != nil {
		return err
	}
	defer f.Close()
	if size != a.Size {
		return scrollback.Errorf(scrollback.Internal, "transfer.Export", i18n.ArtifactHasWrongSize, a.ID, size,
			a.Size)
	}
	return x.w.AddArtifact(a.ID, size, f)
}

// writePortion writes a conversation.
func (x *bundleExport) writePortion(ctx context.Context, p *exportPortion) error {
	if err := x.w.BeginConversation(x.maskConversation(p.Conversation)); err != nil {
		return err
	}
	if err := x.writeSegments(ctx, p); err != nil {
		return err
	}
	for _, b := range p.branches {
		if err := x.w.AddBranch(x.maskBranch(bundle.Branch{Branch: b, View: b.View})); err != nil {
			return err
		}
	}
	for _, a := range x.maskMentions(p.mentions) {
		if err := x.w.AddMention(a); err != nil {
			return err
		}
	}
	if x.q.Materialize {
		if err := x.writeFiles(ctx, p); err != nil {
			return err
		}
	}
	for _, b := range p.branches {
		for m, err := range x.Store.WalkMessages(ctx, b.ID, b.AtSeq+1, b.HeadSeq) {
			if err == nil {
				err = x.w.AddMessage(x.maskMessage(m))
			}
			if err != nil {
				return err
			}
			if x.done++; x.q.Progress != nil && (x.done%256 == 0 || x.done == x.total) {
				x.q.Progress(x.done, x.total)
			}
		}
	}
	if !p.Inherited {
		if err := x.writeReceipts(ctx, p); err != nil {
			return err
		}
	}
	for _, k := range p.kept {
		row, holds, err := x.maskKept(ctx, bundle.NewKeptChange(k))
		if err != nil {
			return err
		}
		if !holds {
			continue
		}
		if err := x.w.AddKept(row); err != nil {
			return err
		}
	}
	return nil
}

// collectKept finds what people said about sentences of messages in the bundle: of the conversation, and of
// those that it inherits from until it began.
func (x *bundleExport) collectKept(ctx context.Context) error {
	ends := map[scrollback.BranchID]int64{}
	began := x.parts[len(x.parts)-1].CreatedAt
	for _, p := range x.parts {
		maps.Copy(ends, p.ends)
		seen := map[string]bool{}
		for _, b := range p.branches {
			rows, err := x.Store.Kept.ListOwnChanges(ctx, p.ID, b.ID, b.HeadSeq)
			if err != nil {
				return err
			}
			for _, k := range rows {
				if !seen[k.Change] && k.Seq <= ends[k.Branch] && (!p.Inherited || k.CreatedAt <= began) {
					seen[k.Change] = true
					p.kept = append(p.kept, k)
				}
			}
		}
		slices.SortFunc(p.kept, func(a, b scrollback.Kept) int {
			return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Change, b.Change))
		})
	}
	return nil
}

// writeSegments writes the segments that lie on the portion.
func (x *bundleExport) writeSegments(ctx context.Context, p *exportPortion) error {
	for r, err := range x.Store.Refs.WalkOwn(ctx, p.ID, scrollback.RefHistory) {
		if err != nil {
			return err
		}
		if r.LastSeq > p.ends[r.Branch] {
			continue
		}
		_, id, err := r.Ref.Split()
		if err != nil {
			return scrollback.Wrap(scrollback.Internal, "transfer.Export", err)
		}
		found, err := x.Store.ReadSegments(ctx, []scrollback.SegmentID{scrollback.SegmentID(id)})
		if err != nil {
			return err
		}
		s, _, err := x.maskSegment(ctx, found[0])
		if err != nil {
			return err
		}
		if err := x.w.AddSegment(s); err != nil {
			return err
		}
		p.segments = append(p.segments, found[0].ID)
		x.written[found[0].ID] = true
	}
	return nil
}

// writeFiles writes the Markdown files of a portion's segments.
func (x *bundleExport) writeFiles(ctx context.Context, p *exportPortion) error {
	for _, id := range p.segments {
		found, err := x.Store.ReadSegments(ctx, []scrollback.SegmentID{id})
		if err != nil {
			return err
		}
		s, text, err := x.maskSegment(ctx, found[0])
		if err != nil {
			return err
		}
		if x.masked == nil {
			var file bytes.Buffer
			if err := x.Archive.WriteSegment(ctx, &file, id); err != nil {
				return err
			}
			text = file.Bytes()
		}
		if err := x.w.AddFile(s, text); err != nil {
			return err
		}
	}
	return nil
}

// writeReceipts writes the receipts, except those that came while the bundle was written.
func (x *bundleExport) writeReceipts(ctx context.Context, p *exportPortion) error {
	for f, err := range x.Store.Move.WalkReceipts(ctx, p.ID) {
		if err != nil {
			return err
		}
		end, known := p.ends[f.Branch]
		unknown := func(v scrollback.ViewItem) bool { return !x.written[v.ID] }
		if !known || f.Before.Boundary > end || slices.ContainsFunc(f.Before.Segments, unknown) {
			continue
		}
		f.Receipt.Archive = "" // which the bundle does not hold
		if err := x.w.AddReceipt(x.maskReceipt(f)); err != nil {
			return err
		}
	}
	return nil
}
