package bundles

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// maskedExport makes a bundle a copy without keys and passwords. Its messages are not those that are here, so its ids
// are others too; they follow from those that are here, so that the same conversation, masked again, is the same copy.
type maskedExport struct {
	mask  *mask.Masker
	copy  *bundle.Copy
	again mask.Masker // for what is read more than once, and counted before

	artifacts map[scrollback.ArtifactID]scrollback.Artifact // whose bytes change, by their ids here
	sources   map[scrollback.ArtifactID]scrollback.Artifact // where the bytes of all of them are, by their new ids
	messages  map[scrollback.MessageID]bool                 // in which something was found
	segments  map[scrollback.SegmentID]*scrollback.Segment  // that were made, by their ids here
}

// prepareMasks reads all that is exported once: what was found has to be known before titles, summaries and the hashes
// of segments, which come before the messages in the file.
func (x *bundleExport) prepareMasks(ctx context.Context, id scrollback.ConversationID,
	art []scrollback.Artifact) (*maskedExport, error) {
	e := &maskedExport{mask: x.q.Mask, copy: bundle.NewCopy("masked " + string(id)),
		artifacts: map[scrollback.ArtifactID]scrollback.Artifact{}, sources: map[scrollback.ArtifactID]scrollback.Artifact{},
		messages: map[scrollback.MessageID]bool{}, segments: map[scrollback.SegmentID]*scrollback.Segment{}}
	for _, p := range x.parts {
		e.copy.AddName(string(p.ID), "")
		for _, b := range p.branches {
			e.copy.AddName(string(b.ID), "")
		}
		for r, err := range x.Store.Refs.WalkOwn(ctx, p.ID, scrollback.RefHistory) {
			if err != nil {
				return nil, err
			}
			if _, segment, err := r.Ref.Split(); err == nil {
				e.copy.AddName(segment, "")
			}
		}
	}
	var first mask.Masker
	for _, a := range art {
		text, err := x.readArtifact(ctx, a)
		if err != nil {
			return nil, err
		}
		now := a
		if masked := first.MaskBytes(text, a.MediaType); !bytes.Equal(masked, text) {
			sum := sha256.Sum256(masked)
			now.ID = scrollback.ArtifactID(hex.EncodeToString(sum[:]))
			now.Size = int64(len(masked))
			e.artifacts[a.ID] = now
			e.copy.AddName(string(a.ID), string(now.ID))
		}
		e.sources[now.ID] = a
	}
	for _, p := range x.parts {
		for _, b := range p.branches {
			for m, err := range x.Store.WalkMessages(ctx, b.ID, b.AtSeq+1, b.HeadSeq) {
				if err != nil {
					return nil, err
				}
				before := first.Count()
				first.MaskEntry(&transcript.Entry{Message: m})
				if first.Count() > before {
					e.messages[m.ID] = true
				}
			}
		}
	}
	e.mask.Remember(&first)
	e.again.Remember(&first)
	return e, nil
}

// readArtifact reads the bytes of an artifact.
func (x *bundleExport) readArtifact(ctx context.Context, a scrollback.Artifact) ([]byte, error) {
	f, _, err := x.Archive.OpenArtifact(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return text, scrollback.Wrap(scrollback.Unavailable, "transfer.Export", err)
}

func (e *maskedExport) conversationID(id scrollback.ConversationID) scrollback.ConversationID {
	return scrollback.ConversationID(e.copy.Names[string(id)])
}

// listArtifacts returns the artifacts of the file, by their new ids.
func (e *maskedExport) listArtifacts() []scrollback.Artifact {
	var out []scrollback.Artifact
	for _, id := range sortedKeys(e.sources) {
		a := e.sources[id]
		if now, changed := e.artifacts[a.ID]; changed {
			a = now
		}
		out = append(out, a)
	}
	return out
}

// writeMaskedArtifact writes the bytes of an artifact of the file, if they are not those that are here.
func (x *bundleExport) writeMaskedArtifact(ctx context.Context, a scrollback.Artifact) (done bool, err error) {
	e := x.masked
	source := e.sources[a.ID]
	if source.ID == a.ID {
		return false, nil
	}
	text, err := x.readArtifact(ctx, source)
	if err != nil {
		return false, err
	}
	masked := e.mask.MaskBytes(text, source.MediaType)
	return true, x.w.AddArtifact(a.ID, int64(len(masked)), bytes.NewReader(masked))
}

// maskConversation returns what a bundle says of a conversation itself.
func (x *bundleExport) maskConversation(c bundle.Conversation) bundle.Conversation {
	e := x.masked
	if e == nil {
		return c
	}
	c.Conversation = e.mask.MaskConversation(c.Conversation)
	if c.Environment != nil {
		environment := *c.Environment
		mask.MaskValue(e.mask, &environment)
		c.Environment = &environment
	}
	if c.Draft != nil {
		draft := *c.Draft
		mask.MaskValue(e.mask, &draft.Draft)
		c.Draft = &draft
	}
	return e.copy.CopyConversation(c)
}

func (x *bundleExport) maskBranch(b bundle.Branch) bundle.Branch {
	if x.masked == nil {
		return b
	}
	b.View.Said = nil // it counts lines, which may be fewer now
	return x.masked.copy.CopyBranch(b)
}

// maskMentions returns what a conversation mentions. What differed in a secret alone is one now.
func (x *bundleExport) maskMentions(all []scrollback.Artifact) []scrollback.Artifact {
	e := x.masked
	if e == nil {
		return all
	}
	out := slices.Clone(all)
	for i := range out {
		a := &out[i]
		if now, changed := e.artifacts[a.ID]; changed {
			a.ID = now.ID
			a.Size = now.Size
		}
		e.mask.MaskDerived(&a.Name)
	}
	slices.SortStableFunc(out, func(a, b scrollback.Artifact) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b scrollback.Artifact) bool { return a.ID == b.ID })
}

// maskMessage returns a message as the file has it.
func (x *bundleExport) maskMessage(m scrollback.Message) scrollback.Message {
	if x.masked == nil {
		return m
	}
	return x.masked.message(m, x.masked.mask)
}

func (e *maskedExport) message(m scrollback.Message, by *mask.Masker) scrollback.Message {
	entry := transcript.Entry{Message: m}
	by.MaskEntry(&entry)
	m = entry.Message
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Image:
			if now, changed := e.artifacts[p.Artifact]; changed {
				p.Artifact = now.ID
				p.Size = now.Size
				m.Parts[i] = p
			}
		case scrollback.File:
			if now, changed := e.artifacts[p.Artifact]; changed {
				p.Artifact = now.ID
				p.Size = now.Size
				m.Parts[i] = p
			}
		case scrollback.ToolResult:
			if now, changed := e.artifacts[p.Artifact]; changed {
				p.Artifact = now.ID
				m.Parts[i] = p
			}
		case scrollback.Text, scrollback.Reasoning, scrollback.ToolCall: // name none
		}
	}
	return e.copy.CopyMessage(m)
}

// maskSegment returns a segment as the file has it, and its Markdown file: made of the messages, or of the segments, as
// the file has them. Where nothing is masked it is returned as it is, without a file.
func (x *bundleExport) maskSegment(ctx context.Context, s scrollback.Segment) (scrollback.Segment, []byte, error) {
	e := x.masked
	if e == nil {
		return s, nil, nil
	}
	here := s.ID
	e.again.MaskDerived(&s.Summary, &s.Placeholder) // which say what messages say, where it is counted
	out := e.copy.CopySegment(s)
	var text bytes.Buffer
	var err error
	if len(s.Children) == 0 {
		err = x.renderLeaf(ctx, s, &out, &text)
	} else {
		err = x.renderTable(ctx, s, &out, &text)
	}
	if err != nil {
		return out, nil, err
	}
	sum := sha256.Sum256(text.Bytes())
	out.Bytes = int64(text.Len())
	out.SHA256 = hex.EncodeToString(sum[:])
	light := out
	light.Summary = strings.Clone(scrollback.Hint(out.Summary))
	light.Placeholder = scrollback.GistOnly(out.Placeholder)
	e.segments[here] = &light
	return out, text.Bytes(), nil
}

// renderLeaf hashes and renders a segment of messages.
func (x *bundleExport) renderLeaf(ctx context.Context, here scrollback.Segment, s *scrollback.Segment,
	text *bytes.Buffer) error {
	ms, err := x.Store.ReadMessages(ctx, here.Branch, here.FirstSeq, here.LastSeq)
	if err != nil {
		return err
	}
	for i := range ms {
		ms[i] = x.masked.message(ms[i], &x.masked.again)
	}
	if s.Hash, err = scrollback.HashMessages(ms); err == nil {
		err = archive.Render(text, s.Renderer, *s, ms)
	}
	return scrollback.Wrap(scrollback.Internal, "transfer.Export", err)
}

// renderTable hashes and renders a segment of segments.
func (x *bundleExport) renderTable(ctx context.Context, here scrollback.Segment, s *scrollback.Segment,
	text *bytes.Buffer) error {
	var hashes []string
	var children []scrollback.Segment
	for _, id := range here.Children {
		if x.masked.segments[id] == nil { // it comes later in the file
			found, err := x.Store.ReadSegments(ctx, []scrollback.SegmentID{id})
			if err != nil {
				return err
			}
			if _, _, err := x.maskSegment(ctx, found[0]); err != nil {
				return err
			}
		}
		child := x.masked.segments[id]
		hashes = append(hashes, child.Hash)
		children = append(children, *child)
	}
	s.Hash = scrollback.HashChildren(hashes)
	return scrollback.Wrap(scrollback.Internal, "transfer.Export",
		archive.RenderTable(text, s.Renderer, *s, children))
}

func (x *bundleExport) maskReceipt(f scrollback.StoredReceipt) scrollback.StoredReceipt {
	e := x.masked
	if e == nil {
		return f
	}
	e.mask.MaskDerived(&f.Receipt.SummaryWhy)
	f.Before.Said = nil
	return e.copy.CopyReceipt(f)
}

// maskKept returns what a person says about a sentence, and whether the masked message still says the sentence.
func (x *bundleExport) maskKept(ctx context.Context, k bundle.KeptChange) (bundle.KeptChange, bool, error) {
	e := x.masked
	if e == nil {
		return k, true, nil
	}
	if e.messages[k.Message] {
		ms, err := x.Store.ReadMessages(ctx, k.Branch, k.Seq, k.Seq)
		if err != nil || len(ms) != 1 {
			return k, false, err
		}
		e.again.MaskDerived(&k.Text)
		text := strings.Join(strings.Fields(e.message(ms[0], &e.again).Parts.Text()), " ")
		k = e.copy.CopyKept(k)
		return k, strings.Contains(text, k.Text), nil
	}
	return e.copy.CopyKept(k), true, nil
}
