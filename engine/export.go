package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/transcript"
)

// ExportRequest says how to write a conversation. Format empty is a bundle; only
// there Materialize adds the Markdown files of segments.
type ExportRequest struct {
	Format      string
	Materialize bool
	Progress    func(messages, total int64) // may be nil
}

// Export writes a conversation: whole as a bundle, or its path in the format of
// another tool, with everything that stands behind artifacts put back in, so that
// the file is whole by itself.
func (e *Engine) Export(ctx context.Context, id scrollback.ConversationID, q ExportRequest, w io.Writer) error {
	const op = "engine.Export"
	c, err := e.Get(ctx, id)
	if err != nil {
		return err
	}
	if q.Format == "" || q.Format == BundleFormat {
		return e.exportBundle(ctx, id, q, w)
	}
	names := []string{BundleFormat}
	for _, f := range e.o.Exporters {
		if f.Name() != q.Format {
			names = append(names, f.Name())
			continue
		}
		if q.Materialize {
			return scrollback.ParamErrorf(op, "materialize", "only a bundle holds the files of segments")
		}
		return f.Write(w, c, e.entries(ctx, id))
	}
	return scrollback.ParamErrorf(op, "format", "unknown format %q (%s)", q.Format, strings.Join(names, ", "))
}

func (e *Engine) entries(ctx context.Context, id scrollback.ConversationID) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for m, err := range e.store.All(ctx, id) {
			var entry transcript.Entry
			if err == nil {
				entry, err = e.whole(ctx, m)
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// whole is a message with its artifacts put back in.
func (e *Engine) whole(ctx context.Context, m scrollback.Message) (transcript.Entry, error) {
	entry := transcript.Entry{Message: m}
	entry.Message.Parts = append(scrollback.Parts{}, m.Parts...)
	entry.Message.Meta = sourceOnly(m.Meta)
	attach := func(i int, art scrollback.ArtifactID) error {
		f, _, err := e.archive.OpenArtifact(ctx, art)
		if err != nil {
			return err
		}
		defer f.Close()
		if entry.Bytes == nil {
			entry.Bytes = map[int][]byte{}
		}
		entry.Bytes[i], err = io.ReadAll(f)
		return scrollback.Wrap(scrollback.Unavailable, "engine.Export", err)
	}
	for i, p := range entry.Message.Parts {
		var err error
		switch p := p.(type) {
		case scrollback.Image:
			err = attach(i, p.Artifact)
		case scrollback.File:
			err = attach(i, p.Artifact)
		case scrollback.ToolResult:
			if p.Artifact != "" {
				p.Text, err = e.artifactText(ctx, p.Artifact)
				p.Artifact = ""
				entry.Message.Parts[i] = p
			}
		case scrollback.Text, scrollback.ToolCall, scrollback.Reasoning:
		}
		if err != nil {
			return entry, err
		}
	}
	return entry, nil
}

// sourceOnly is a message's meta without the mark of the import that brought it.
func sourceOnly(meta json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(meta) == 0 || json.Unmarshal(meta, &fields) != nil || fields["source"] == nil {
		return meta
	}
	delete(fields, "source")
	if len(fields) == 0 {
		return nil
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return meta
	}
	return out
}

// sourceMark is the meta of an imported message: the file's own, and under
// "source" the file's id of it and a hash by which it is known again.
func sourceMark(entry transcript.Entry) (json.RawMessage, error) {
	m := entry.Message
	body, err := json.Marshal([]any{m.Role, m.Name, m.Parts, m.Model, m.CreatedAt})
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "engine.Import", err)
	}
	h := sha256.New()
	h.Write(body)
	for _, i := range sortedKeys(entry.Bytes) {
		h.Write(entry.Bytes[i])
	}
	meta := map[string]json.RawMessage{}
	if len(m.Meta) > 0 && json.Unmarshal(m.Meta, &meta) != nil {
		meta = map[string]json.RawMessage{"value": m.Meta}
	}
	source, err := json.Marshal(struct {
		ID   scrollback.MessageID `json:"id,omitempty"`
		Hash string               `json:"hash"`
	}{m.ID, hex.EncodeToString(h.Sum(nil)[:12])})
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, "engine.Import", err)
	}
	meta["source"] = source
	return json.Marshal(meta)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func markOf(meta json.RawMessage) string {
	var m struct {
		Source struct{ Hash string }
	}
	if json.Unmarshal(meta, &m) != nil {
		return ""
	}
	return m.Source.Hash
}

// bundleExport is a bundle on its way out.
type bundleExport struct {
	e       *Engine
	q       ExportRequest
	w       *bundle.Writer
	parts   []*portion // those inherited from first, the conversation itself last
	done    int64
	total   int64
	written map[scrollback.SegmentID]bool
}

// portion is what a bundle holds of one conversation.
type portion struct {
	bundle.Conversation
	branches []scrollback.Branch // parents first
	ends     map[scrollback.BranchID]int64
	mentions []scrollback.Artifact
	segments []scrollback.SegmentID
}

// exportBundle writes a conversation whole: all its branches, and of those it
// inherits from what is on its path.
func (e *Engine) exportBundle(ctx context.Context, id scrollback.ConversationID, q ExportRequest, w io.Writer) error {
	x := &bundleExport{e: e, q: q, written: map[scrollback.SegmentID]bool{}}
	if err := x.plan(ctx, id); err != nil {
		return err
	}
	art, err := x.attached(ctx)
	if err != nil {
		return err
	}
	if x.w, err = bundle.NewWriter(w, id, e.o.BundleLimits); err != nil {
		return err
	}
	for _, a := range art {
		if err := x.artifact(ctx, a); err != nil {
			return err
		}
	}
	for _, p := range x.parts {
		if err := x.portion(ctx, p); err != nil {
			return err
		}
	}
	return x.w.Close()
}

// plan finds out which branches of which conversations belong to the bundle, and how
// far.
func (x *bundleExport) plan(ctx context.Context, id scrollback.ConversationID) error {
	head, err := x.e.store.Head(ctx, id)
	if err != nil {
		return err
	}
	own, err := x.e.store.Move.Branches(ctx, id)
	if err != nil {
		return err
	}
	main := &portion{Conversation: bundle.Conversation{Conversation: head.Conversation, Environment: rootless(head.Environment)}}
	main.Settings.RecallScope = ""
	main.Roots, main.Limit, main.Version, main.DeletedAt, main.Messages = nil, 0, 0, 0, 0
	own = slices.DeleteFunc(own, func(b scrollback.Branch) bool { return b.HeadSeq == b.AtSeq && b.ID != head.Branch.ID })
	others := map[scrollback.ConversationID]map[scrollback.BranchID]scrollback.Branch{}
	mine := map[scrollback.BranchID]bool{}
	for _, b := range own {
		mine[b.ID] = true
	}
	for _, b := range own {
		for seq := b.AtSeq; b.Parent != "" && !mine[b.Parent]; seq = b.AtSeq {
			if b, err = x.e.store.Move.Branch(ctx, b.Parent); err != nil {
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
	var above []scrollback.ConversationID // that something is inherited from, nearest first
	for _, id := range slices.Backward(head.Ancestors) {
		if len(others[id]) == 0 {
			continue
		}
		p := &portion{Conversation: bundle.Conversation{Inherited: true, Ancestors: above}}
		above = append([]scrollback.ConversationID{id}, above...)
		p.ID = id
		for _, b := range others[id] {
			p.branches = append(p.branches, b)
		}
		x.parts = append(x.parts, p)
	}
	main.branches, main.Conversation.Ancestors = own, above
	x.parts = append(x.parts, main)
	for _, p := range x.parts {
		p.arrange()
		for _, b := range p.branches {
			x.total += b.HeadSeq - b.AtSeq
		}
	}
	return nil
}

// arrange puts branches in order: by where they begin, so parents first, then by id.
func (p *portion) arrange() {
	p.ends = map[scrollback.BranchID]int64{}
	for _, b := range p.branches {
		p.ends[b.ID] = b.HeadSeq
	}
	slices.SortFunc(p.branches, func(a, b scrollback.Branch) int { // a branch is left behind where it begins
		return cmp.Or(cmp.Compare(a.AtSeq, b.AtSeq), cmp.Compare(a.ID, b.ID))
	})
}

// attached collects what the portions mention, and answers all of it by id. A
// message may name what only an ancestor mentions elsewhere: then its own
// conversation does so in the bundle.
func (x *bundleExport) attached(ctx context.Context) ([]scrollback.Artifact, error) {
	all := map[scrollback.ArtifactID]scrollback.Artifact{}
	before := map[scrollback.ArtifactID]bool{} // by ancestors
	for _, p := range x.parts {
		named, err := x.named(ctx, p)
		if err != nil {
			return nil, err
		}
		for r, err := range x.e.store.Refs.Own(ctx, p.ID, scrollback.RefArtifact) {
			if err != nil {
				return nil, err
			}
			a := artifactOf(r)
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
			r, err := x.e.store.Refs.In(ctx, lineage, scrollback.ArtifactRef(id))
			if err != nil {
				return nil, err
			}
			p.mentions = append(p.mentions, artifactOf(r))
		}
		for _, a := range p.mentions {
			all[a.ID], before[a.ID] = a, true
		}
	}
	var out []scrollback.Artifact
	for _, id := range sortedKeys(all) {
		out = append(out, all[id])
	}
	return out, nil
}

func artifactOf(r scrollback.RefEntry) scrollback.Artifact {
	return scrollback.Artifact{ID: scrollback.ArtifactID(r.SHA256), MediaType: r.MediaType, Name: r.Hint, Size: r.Bytes, CreatedAt: r.CreatedAt}
}

// named are the artifacts that the messages of a portion name.
func (x *bundleExport) named(ctx context.Context, p *portion) (map[scrollback.ArtifactID]bool, error) {
	out := map[scrollback.ArtifactID]bool{}
	for _, b := range p.branches {
		for m, err := range x.e.store.Walk(ctx, b.ID, b.AtSeq+1, b.HeadSeq) {
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

// artifact writes the bytes of an artifact.
func (x *bundleExport) artifact(ctx context.Context, a scrollback.Artifact) error {
	f, size, err := x.e.archive.OpenArtifact(ctx, a.ID)
	if err != nil {
		return err
	}
	defer f.Close()
	if size != a.Size {
		return scrollback.Errorf(scrollback.Internal, "engine.Export", "artifact %s has %d bytes and says %d", a.ID, size, a.Size)
	}
	return x.w.Artifact(a.ID, size, f)
}

// portion writes a conversation.
func (x *bundleExport) portion(ctx context.Context, p *portion) error {
	if err := x.w.Conversation(p.Conversation); err != nil {
		return err
	}
	if err := x.segments(ctx, p); err != nil {
		return err
	}
	for _, b := range p.branches {
		if err := x.w.Branch(bundle.Branch{Branch: b, View: b.View}); err != nil {
			return err
		}
	}
	for _, a := range p.mentions {
		if err := x.w.Mention(a); err != nil {
			return err
		}
	}
	if x.q.Materialize {
		if err := x.files(ctx, p); err != nil {
			return err
		}
	}
	for _, b := range p.branches {
		for m, err := range x.e.store.Walk(ctx, b.ID, b.AtSeq+1, b.HeadSeq) {
			if err == nil {
				err = x.w.Message(m)
			}
			if err != nil {
				return err
			}
			if x.done++; x.q.Progress != nil && (x.done%256 == 0 || x.done == x.total) {
				x.q.Progress(x.done, x.total)
			}
		}
	}
	if p.Inherited {
		return nil
	}
	return x.folds(ctx, p)
}

// segments writes the segments that lie on the portion.
func (x *bundleExport) segments(ctx context.Context, p *portion) error {
	for r, err := range x.e.store.Refs.Own(ctx, p.ID, scrollback.RefHistory) {
		if err != nil {
			return err
		}
		if r.LastSeq > p.ends[r.Branch] {
			continue
		}
		_, id, err := r.Ref.Split()
		if err != nil {
			return scrollback.Wrap(scrollback.Internal, "engine.Export", err)
		}
		found, err := x.e.store.Segments(ctx, []scrollback.SegmentID{scrollback.SegmentID(id)})
		if err != nil {
			return err
		}
		if err := x.w.Segment(found[0]); err != nil {
			return err
		}
		p.segments = append(p.segments, found[0].ID)
		x.written[found[0].ID] = true
	}
	return nil
}

// files writes the Markdown files of a portion's segments.
func (x *bundleExport) files(ctx context.Context, p *portion) error {
	for _, id := range p.segments {
		found, err := x.e.store.Segments(ctx, []scrollback.SegmentID{id})
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := x.e.archive.Write(ctx, &text, id); err != nil {
			return err
		}
		if err := x.w.File(found[0], text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// folds writes what was folded, save what came while the bundle was written.
func (x *bundleExport) folds(ctx context.Context, p *portion) error {
	for f, err := range x.e.store.Move.Folds(ctx, p.ID) {
		if err != nil {
			return err
		}
		end, known := p.ends[f.Branch]
		unknown := func(v scrollback.ViewItem) bool { return !x.written[v.ID] }
		if !known || f.Before.Boundary > end || slices.ContainsFunc(f.Before.Segments, unknown) {
			continue
		}
		if err := x.w.Fold(f); err != nil {
			return err
		}
	}
	return nil
}

// rootless is an environment as it travels: what the model was told stays, which
// folders it may read does not.
func rootless(env *scrollback.Environment) *scrollback.Environment {
	if env == nil {
		return nil
	}
	out := *env
	out.First.Roots, out.Told.Roots = nil, nil
	return &out
}
