package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// leftAt is where branches of a conversation begin: behind a message, by the branch that has it.
type leftAt struct {
	branch scrollback.BranchID
	seq    int64
}

// noteMasked counts a message that begins a branch and says what another says that follows the same message, but with
// marks where that has secrets: one was imported with masks, and one without.
func (d *checkRun) noteMasked(ctx context.Context, m scrollback.Message) error {
	if m.Seq != d.at.AtSeq+1 || transcript.MarkOf(m.Meta) == "" {
		return nil
	}
	at := leftAt{d.at.Parent, d.at.AtSeq}
	others := d.begins[at]
	if at.branch != "" {
		next, err := d.store.ReadMessages(ctx, at.branch, at.seq+1, at.seq+1)
		if err == nil {
			others = append(slices.Clone(others), next...)
		} else if ctx.Err() != nil {
			return err
		}
	}
	if slices.ContainsFunc(others, func(o scrollback.Message) bool { return isMaskedTwin(m, o) }) {
		d.masked++
	}
	d.begins[at] = append(d.begins[at], m)
	return nil
}

// endMasked says how many messages of a conversation are there twice because of masks.
func (d *checkRun) endMasked() {
	if d.conv != nil && d.masked > 0 {
		d.addNote("branch", "conversation "+string(d.conv.ID),
			fmt.Sprintf("%d of its branches say what others say, with secrets masked: it was imported with masks and without",
				d.masked))
	}
	d.masked = 0
	d.begins = map[leftAt][]scrollback.Message{}
}

// isMaskedTwin reports whether two messages differ in nothing but that secrets are masked in one.
func isMaskedTwin(a, b scrollback.Message) bool {
	if transcript.MarkOf(b.Meta) == "" || a.Role != b.Role || transcript.IDOf(a.Meta) != transcript.IDOf(b.Meta) ||
		a.CreatedAt != b.CreatedAt {
		return false
	}
	said := func(m scrollback.Message) (was, masked []byte) {
		e := transcript.Entry{Message: scrollback.Message{Parts: m.Parts}}
		was, _ = json.Marshal(m.Parts)
		mask.MaskEntry(&e)
		masked, _ = json.Marshal(e.Message.Parts)
		return was, masked
	}
	was, masked := said(a)
	other, otherMasked := said(b)
	return !bytes.Equal(was, other) && bytes.Equal(masked, otherMasked) &&
		(bytes.Equal(was, masked) || bytes.Equal(other, otherMasked))
}
