package archive

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// segmentsAtOnce bounds one request to the source.
const segmentsAtOnce = 100

// RenderAhead puts a segment's file into the cache before anyone reads it.
func (a *Archive) RenderAhead(ctx context.Context, id scrollback.SegmentID) error {
	seg, err := a.readSegment(ctx, id)
	if err != nil {
		return err
	}
	b, err := a.openSegment(ctx, seg)
	if err != nil {
		return err
	}
	return b.close()
}

// WriteSegment renders a segment's file from the log, whatever the cache holds, and
// writes it to w. If that is not the file that was folded, it is an internal error.
func (a *Archive) WriteSegment(ctx context.Context, w io.Writer, id scrollback.SegmentID) error {
	seg, err := a.readSegment(ctx, id)
	if err != nil {
		return err
	}
	s, err := a.renderSheet(ctx, seg)
	if err != nil {
		return err
	}
	_, err = w.Write(s.text)
	return scrollback.Wrap(scrollback.Unavailable, "archive.WriteSegment", err)
}

// ForgetRendered drops the rendered files of a conversation that was purged.
func (a *Archive) ForgetRendered(id scrollback.ConversationID) error {
	if err := checkName(string(id)); err != nil {
		return err
	}
	return scrollback.Wrap(scrollback.Internal, "archive.ForgetRendered", a.cache.forgetConversation(id))
}

// ForgetPurged drops the rendered files of conversations that are gone, as another server may
// have purged them. It asks about each conversation that has files here.
func ForgetPurged(a *Archive, gone func(scrollback.ConversationID) bool) error {
	var errs []error
	for _, id := range a.cache.listConversations() {
		if gone(id) {
			errs = append(errs, a.ForgetRendered(id))
		}
	}
	return errors.Join(errs...)
}

// DeleteConversation removes what is kept beside the log of a conversation that was purged: its
// rendered files, its copies, and the bytes of the artifacts that nothing mentions any more. It
// says how many artifacts are gone, and how many wait for their grace to end.
func (a *Archive) DeleteConversation(ctx context.Context, id scrollback.ConversationID,
	loose []scrollback.ArtifactID) (gone, waiting int, err error) {
	if err := errors.Join(a.ForgetRendered(id), a.deleteCopies(ctx, id)); err != nil {
		return 0, 0, err
	}
	for _, art := range loose {
		deleted, err := a.DeleteArtifact(ctx, art)
		switch {
		case err != nil:
			return gone, waiting, err
		case deleted:
			gone++
		default:
			waiting++
		}
	}
	return gone, waiting, nil
}

func (a *Archive) readSegment(ctx context.Context, id scrollback.SegmentID) (scrollback.Segment, error) {
	segs, err := a.readSegments(ctx, []scrollback.SegmentID{id})
	if err != nil {
		return scrollback.Segment{}, err
	}
	return segs[0], nil
}

func (a *Archive) readSegments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	const op = "archive.segments"
	out := make([]scrollback.Segment, 0, len(ids))
	for len(ids) > 0 {
		n := min(len(ids), segmentsAtOnce)
		segs, err := a.src.ReadSegments(ctx, ids[:n])
		if err != nil {
			return nil, scrollback.Wrap(scrollback.Internal, op, err)
		}
		for i, id := range ids[:n] {
			if i >= len(segs) || segs[i].ID != id {
				return nil, scrollback.Errorf(scrollback.NotFound, op, i18n.NoSegmentNamed, id)
			}
		}
		out = append(out, segs...)
		ids = ids[n:]
	}
	return out, nil
}

// openSegment returns the file of a segment, from the cache if it is there.
func (a *Archive) openSegment(ctx context.Context, seg scrollback.Segment) (*refBody, error) {
	if err := checkName(string(seg.Conversation)); err != nil {
		return nil, err
	}
	if b := a.cache.openSegment(seg); b != nil {
		return b, nil
	}
	s, err := a.renderSheet(ctx, seg)
	if err != nil {
		return nil, err
	}
	a.cache.putSegment(seg, s.text)
	return memoryBody(s.text), nil
}

// renderSheet renders a segment from the log and compares it with what was folded.
func (a *Archive) renderSheet(ctx context.Context, seg scrollback.Segment) (*renderedSheet, error) {
	const op = "archive.sheet"
	s, err := a.drawSheet(ctx, seg)
	if err != nil {
		return nil, err
	}
	if int64(len(s.text)) != seg.Bytes || hashBytes(s.text) != seg.SHA256 {
		return nil, scrollback.Errorf(scrollback.Internal, op,
			i18n.SegmentRendersDifferently, seg.ID, len(s.text), seg.Bytes)
	}
	return s, nil
}

func (a *Archive) drawSheet(ctx context.Context, seg scrollback.Segment) (*renderedSheet, error) {
	if len(seg.Children) > 0 {
		children, err := a.readSegments(ctx, seg.Children)
		if err != nil {
			return nil, err
		}
		return a.renderers.renderTable(seg.Renderer, seg, children)
	}
	ms, err := a.src.ReadMessages(ctx, seg.Branch, seg.FirstSeq, seg.LastSeq)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, "archive.sheet", err)
	}
	return a.renderers.renderLeaf(seg.Renderer, seg, ms)
}

// checkName checks that an id may be part of a file's name.
func checkName(id string) error {
	const safe = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-"
	if id == "" || len(id) > 64 || strings.Trim(id, safe) != "" {
		return scrollback.Errorf(scrollback.Invalid, "archive.checkName", i18n.MalformedConversationID)
	}
	return nil
}
