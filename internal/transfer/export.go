package transfer

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/transfer/bundles"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// ExportRequest describes how to write a conversation. Format empty is a bundle; only
// there Materialize adds the Markdown files of segments. Mask takes keys and passwords out of what
// is written, and counts them; a bundle is then a copy with ids of its own.
type ExportRequest struct {
	Format      string
	Materialize bool
	Mask        *mask.Masker                // nil masks nothing
	Folder      string                      // where it goes on, for the formats of tools that work in one; empty leaves its own
	Progress    func(messages, total int64) // may be nil
}

// Export writes a conversation: all of it as a bundle, or its path in the format of
// another tool, with everything behind artifacts put back in, so that the file is
// complete by itself. A conversation with a message that is not as it was stored is refused
// before anything is written.
func (t *Transfer) Export(ctx context.Context, v *engine.View, id scrollback.ConversationID, q ExportRequest,
	w io.Writer) error {
	const op = "transfer.Export"
	c, err := v.Get(ctx, id)
	if err != nil {
		return err
	}
	if q.Format == "" || q.Format == BundleFormat {
		if err := t.store.Hashes.Check(ctx, c.ID); err != nil {
			return err
		}
		return bundles.Export(ctx, newInstallation(t, v), id,
			bundles.ExportRequest{Materialize: q.Materialize, Mask: q.Mask, Progress: q.Progress}, w)
	}
	for _, f := range t.o.Exporters {
		if f.Name() != q.Format {
			continue
		}
		if q.Materialize {
			return scrollback.ParamErrorf(op, "materialize", i18n.OnlyBundleHoldsSegmentFiles)
		}
		if err := t.store.Hashes.Check(ctx, c.ID); err != nil {
			return err
		}
		if q.Folder != "" {
			c = movedTo(c, q.Folder)
		}
		if q.Mask == nil {
			return f.Write(w, c, t.pathEntries(ctx, v, c, 0))
		}
		var first mask.Masker
		for entry, err := range t.pathEntries(ctx, v, c, 0) {
			if err != nil {
				return err
			}
			first.MaskEntry(&entry)
		}
		q.Mask.Remember(&first)
		return f.Write(w, q.Mask.MaskConversation(c), maskEntries(t.pathEntries(ctx, v, c, 0), q.Mask))
	}
	return scrollback.ParamErrorf(op, "format", i18n.UnknownFormat, q.Format, strings.Join(t.Formats().Exports, ", "))
}

// maskEntries returns entries without keys and passwords.
func maskEntries(all iter.Seq2[transcript.Entry, error], m *mask.Masker) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for entry, err := range all {
			if err == nil {
				m.MaskEntry(&entry)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// movedTo returns a conversation that goes on in a folder. What its tool said of another one goes.
func movedTo(c scrollback.Conversation, folder string) scrollback.Conversation {
	var fields map[string]map[string]json.RawMessage
	if json.Unmarshal(c.Meta, &fields) == nil {
		for _, of := range fields {
			var was string
			if raw, ok := of["cwd"]; ok && (json.Unmarshal(raw, &was) != nil || was != folder) {
				c.Meta = nil
			}
		}
	} else {
		c.Meta = nil
	}
	c.Roots = []string{folder}
	return c
}

// pathEntries returns the messages of a conversation's path after a seq, with what a turn has written that is no
// message yet as an interrupted one, under the turn's id.
func (t *Transfer) pathEntries(ctx context.Context, v *engine.View, c scrollback.Conversation,
	after int64) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for after := after; ; {
			page, err := v.Turns().Page(ctx, c.ID,
				scrollback.PageQuery{Branch: c.Branch, After: &after, Limit: scrollback.ListMax})
			if err != nil {
				yield(transcript.Entry{}, err)
				return
			}
			for _, m := range page.Messages {
				if !t.yieldEntry(ctx, m, page.TurnsAfter(m.Seq), yield) {
					return
				}
			}
			if page.Next == nil {
				return
			}
			after = *page.Next
		}
	}
}

// yieldEntry yields a message and what stands after it, and reports whether to go on.
func (t *Transfer) yieldEntry(ctx context.Context, m scrollback.Message, turns []scrollback.TurnEntry,
	yield func(transcript.Entry, error) bool) bool {
	entry, err := t.restoreArtifacts(ctx, m)
	failed, drafts := splitTurns(turns)
	entry.Turns = failed
	if !yield(entry, err) || err != nil {
		return false
	}
	for _, d := range drafts {
		if !yield(transcript.Entry{Message: d}, nil) {
			return false
		}
	}
	return true
}

// splitTurns returns the turns after a message: those that failed, and what others have written
// that is no message yet, as interrupted messages.
func splitTurns(turns []scrollback.TurnEntry) (failed []scrollback.TurnEntry, drafts []scrollback.Message) {
	for _, e := range turns {
		d := scrollback.Draft{Content: e.Content, Reasoning: e.Reasoning, ToolCalls: e.ToolCalls, Model: e.Model}
		if d.IsEmpty() {
			e.Retry = false // of a file nothing can be tried again
			failed = append(failed, e)
			continue
		}
		drafts = append(drafts, scrollback.Message{ID: scrollback.MessageID(e.TurnID), TurnID: e.TurnID,
			Role: scrollback.RoleAssistant, Parts: d.Parts().WellFormed(), Model: d.Model, Status: scrollback.StatusInterrupted,
			CreatedAt: e.StartedAt})
	}
	return failed, drafts
}

// restoreArtifacts returns a message with its artifacts put back in.
func (t *Transfer) restoreArtifacts(ctx context.Context, m scrollback.Message) (transcript.Entry, error) {
	entry := transcript.Entry{Message: m}
	entry.Message.Parts = append(scrollback.Parts{}, m.Parts.WellFormed()...)
	entry.Message.Meta = scrollback.WellFormed(transcript.WithoutMark(m.Meta))
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
			if p.Artifact != "" { // else its address says all
				err = attach(i, p.Artifact)
			}
		case scrollback.File:
			err = attach(i, p.Artifact)
		case scrollback.ToolResult:
			if p.Artifact != "" {
				p.Text, err = readText(ctx, t, p.Artifact)
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

// readText reads a whole text artifact; one that is not text is invalid.
func readText(ctx context.Context, t *Transfer, id scrollback.ArtifactID) (string, error) {
	f, _, err := t.archive.OpenArtifact(ctx, id)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err == nil && !utf8.Valid(b) {
		return "", scrollback.ParamErrorf("transfer.Export", "artifact", i18n.ArtifactIsNotText, id)
	}
	return string(b), scrollback.Wrap(scrollback.Unavailable, "transfer.Export", err)
}
