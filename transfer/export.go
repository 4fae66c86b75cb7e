package transfer

import (
	"context"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/transcript"
)

// ExportRequest says how to write a conversation. Format empty is a bundle; only
// there Materialize adds the Markdown files of segments.
type ExportRequest struct {
	Format      string
	Materialize bool
	Progress    func(messages, total int64) // may be nil
}

// Export writes a conversation: all of it as a bundle, or its path in the format of
// another tool, with everything behind artifacts put back in, so that the file is
// complete by itself.
func (t *Transfer) Export(ctx context.Context, v *engine.View, id scrollback.ConversationID, q ExportRequest, w io.Writer) error {
	const op = "transfer.Export"
	c, err := v.Get(ctx, id)
	if err != nil {
		return err
	}
	if q.Format == "" || q.Format == BundleFormat {
		return t.exportBundle(ctx, v, id, q, w)
	}
	names := []string{BundleFormat}
	for _, f := range t.o.Exporters {
		if f.Name() != q.Format {
			names = append(names, f.Name())
			continue
		}
		if q.Materialize {
			return scrollback.ParamErrorf(op, "materialize", "only a bundle holds the files of segments")
		}
		return f.Write(w, c, t.entries(ctx, v, id))
	}
	return scrollback.ParamErrorf(op, "format", "unknown format %q (%s)", q.Format, strings.Join(names, ", "))
}

func (t *Transfer) entries(ctx context.Context, v *engine.View, id scrollback.ConversationID) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for m, err := range v.Recall().All(ctx, id) {
			var entry transcript.Entry
			if err == nil {
				entry, err = t.whole(ctx, m)
			}
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// whole is a message with its artifacts put back in.
func (t *Transfer) whole(ctx context.Context, m scrollback.Message) (transcript.Entry, error) {
	entry := transcript.Entry{Message: m}
	entry.Message.Parts = append(scrollback.Parts{}, m.Parts...)
	entry.Message.Meta = transcript.WithoutMark(m.Meta)
	attach := func(i int, art scrollback.ArtifactID) error {
		f, _, err := t.archive.OpenArtifact(ctx, art)
		if err != nil {
			return err
		}
		defer f.Close()
		if entry.Bytes == nil {
			entry.Bytes = map[int][]byte{}
		}
		entry.Bytes[i], err = io.ReadAll(f)
		return scrollback.Wrap(scrollback.Unavailable, "transfer.Export", err)
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
				p.Text, err = t.text(ctx, p.Artifact)
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

// text reads a whole text artifact; one that is not text is invalid.
func (t *Transfer) text(ctx context.Context, id scrollback.ArtifactID) (string, error) {
	f, _, err := t.archive.OpenArtifact(ctx, id)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err == nil && !utf8.Valid(b) {
		return "", scrollback.ParamErrorf("transfer.Export", "artifact", "artifact %s is not text", id)
	}
	return string(b), scrollback.Wrap(scrollback.Unavailable, "transfer.Export", err)
}
