package request

import (
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Pins are messages of a branch that were checked and may be pinned, and what is stored of
// the project that the conversation is then in, if that matters to the edit.
type Pins struct {
	branch  scrollback.BranchID
	seqs    []int64
	Project scrollback.Project
}

// CheckPins checks the messages that an edit pins, before its transaction: each must be
// something that was said on the path, and together they must leave room.
func (rs *Resolver) CheckPins(ctx context.Context, head store.Head,
	edit func(*scrollback.Conversation) error) (Pins, error) {
	const op = "engine.Patch"
	out := Pins{branch: head.Branch.ID}
	c := head.Conversation
	if err := edit(&c); err != nil {
		return out, err
	}
	if !SameSettings(&c, &head.Conversation) {
		var err error
		if out.Project, err = rs.FindProject(ctx, c.Project); err != nil {
			return out, err
		}
	}
	out.seqs = slices.Compact(slices.Sorted(slices.Values(c.PinnedSeqs)))
	if len(out.seqs) == 0 || slices.Equal(out.seqs, head.PinnedSeqs) {
		return out, nil
	}
	if n := len(out.seqs); n > scrollback.PinsMax {
		return out, scrollback.ParamErrorf(op, "pinned_seqs", i18n.TooManyPinnedMessages, scrollback.PinsMax,
			n)
	}
	settings, err := rs.Resolve(ctx, c, Overrides{})
	if err != nil {
		return out, err
	}
	var tokens int64
	for _, seq := range out.seqs {
		if seq < 1 || seq > head.Branch.HeadSeq {
			return out, scrollback.ParamErrorf(op, "pinned_seqs", i18n.NoMessageOnPathOf, seq,
				head.Branch.HeadSeq)
		}
		m, err := rs.store.ReadMessageAt(ctx, head.Branch, seq)
		switch {
		case err != nil:
			return out, err
		case m.Role == scrollback.RoleTool || len(m.Parts.Calls()) > 0: // a call without its result can be sent nowhere
			return out, scrollback.ParamErrorf(op, "pinned_seqs",
				i18n.MessageIsToolCall, seq)
		}
		tokens += m.Weight.Tokens
	}
	if room := settings.Policy.MaxPinned(settings.Budget.Tokens); tokens > room {
		return out, scrollback.ParamErrorf(op, "pinned_seqs",
			i18n.PinnedMessagesTooHeavy, settings.ModelTokens(tokens),
			settings.ModelTokens(room), settings.Policy.PinnedShare)
	}
	return out, nil
}

// Apply puts the pins of the edited conversation in order.
func (p Pins) Apply(c *scrollback.Conversation, was scrollback.Conversation) error {
	c.PinnedSeqs = slices.Compact(slices.Sorted(slices.Values(c.PinnedSeqs)))
	if slices.Equal(c.PinnedSeqs, was.PinnedSeqs) || len(c.PinnedSeqs) == 0 ||
		slices.Equal(c.PinnedSeqs, p.seqs) && was.Branch == p.branch {
		return nil
	}
	return scrollback.Errorf(scrollback.Conflict, "engine.Patch", i18n.ConversationChangedPinAgain)
}

// SameSettings reports whether an edit changed nothing that a request's model, policy
// and limit depend on.
func SameSettings(c, was *scrollback.Conversation) bool {
	return c.Model == was.Model && c.Policy == was.Policy && c.Limit == was.Limit && c.Project == was.Project &&
		maps.Equal(c.Settings.Compaction, was.Settings.Compaction) &&
		c.Settings.ModelThinking() == was.Settings.ModelThinking()
}
