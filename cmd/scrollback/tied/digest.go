package tied

import (
	"context"
	"errors"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/notebook"
)

// MakeDigest compacts the conversation of a notebook, all of whose cells are its path then, and
// says what is folded in it. Where the policy would fold nothing, as much as possible is
// folded, and that is undone at once: refs stay.
func (t *Notebook) MakeDigest(ctx context.Context) (notebook.Digest, error) {
	var d notebook.Digest
	is, err := t.followPath(ctx, t.file.Cells())
	if err == nil {
		err = t.noteProgress(ctx, t.Conversation)
	}
	if err != nil {
		return d, err
	}
	if is.Seq == 0 {
		return d, scrollback.ParamErrorf("scrollback", "file",
			i18n.NothingToCompress)
	}
	least := t.o.Overrides
	least.Compaction = map[string]float64{"keep_share": 0, "least_share": 0}
	var r scrollback.Receipt
	for i, q := range []engine.CompactRequest{{Overrides: t.o.Overrides, Force: true}, {Overrides: least, Force: true},
		{Clear: true}} {
		if r, err = t.app.Compact(ctx, t.Conversation.ID, q); err == nil {
			d, err = t.foldedDigest(ctx)
		}
		if r.Result == scrollback.ResultCompacted && i > 0 {
			_, undone := t.app.Uncompact(context.WithoutCancel(ctx), t.Conversation.ID, "")
			err = errors.Join(err, undone)
		}
		if err != nil || len(d.Refs) > 0 {
			return d, err
		}
	}
	return d, scrollback.Errorf(scrollback.Unavailable, "scrollback", i18n.NotebookNotCompressed,
		t.notebookTexts().Result(r.Result))
}

// foldedDigest returns what stands for the folded messages of the conversation's window.
func (t *Notebook) foldedDigest(ctx context.Context) (notebook.Digest, error) {
	d := notebook.Digest{Conversation: t.Conversation.ID}
	m, err := t.app.Context(ctx, d.Conversation)
	if err != nil {
		return d, err
	}
	var summaries []string
	last := int64(0)
	for _, x := range m.Excluded {
		if x.Ref == nil {
			continue
		}
		segments, err := t.app.Store.ReadSegments(ctx,
			[]scrollback.SegmentID{scrollback.SegmentID(strings.TrimPrefix(string(*x.Ref), scrollback.RefHistory+":"))})
		if err != nil {
			return d, err
		}
		d.Refs = append(d.Refs, *x.Ref)
		last = max(last, x.LastSeq)
		for _, s := range segments {
			summaries = append(summaries, s.Summary)
		}
	}
	d.Summary = strings.Join(summaries, "\n\n")
	for _, err := range t.app.Transfer.EntriesSince(ctx, t.app.View, d.Conversation, last) {
		if err != nil {
			return d, err
		}
		d.Live++
	}
	return d, nil
}
