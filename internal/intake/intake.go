// Package intake takes in what comes from outside: it checks the parts of a message,
// stores attachments and big texts as artifacts, and describes images.
//
// Words it adds: room (how much of a window a message may take), ends (the head and
// tail of a text that stay when the whole text goes behind an artifact).
//
// Invariants: no text is lost: what is cut here is behind an artifact that the message
// names; an artifact that a message names is known to its conversation; what one message
// brings leaves room in the window for the question it belongs to.
//
// It knows the store and the archive, but no models, turns or wire formats.
package intake

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/intake/picture"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
	"github.com/scrollback-ai/scrollback/window"
)

// MessageLimits bound what one message may bring; zero fields are the defaults.
type MessageLimits struct {
	MessageChars  int   // 0 means 200,000
	Parts         int   // 0 means 100
	ArtifactBytes int64 // of one attachment; 0 means 20 MiB
	Images        int   // 0 means 20; what is more is left out, and said
	RemoteImages  bool  // images at addresses are taken, for the model's server to fetch
}

// Intake takes messages in. It is safe for concurrent use.
type Intake struct {
	Limits  MessageLimits
	store   *store.Store
	archive *archive.Archive
	fitter  *picture.Fitter
	put     func(ctx context.Context, r io.Reader, maxBytes int64) (scrollback.ArtifactID, int64, error)
}

// New makes an intake over a store and an archive, neither of which may be nil.
func New(s *store.Store, a *archive.Archive, l MessageLimits) *Intake {
	if l.MessageChars == 0 {
		l.MessageChars = 200_000
	}
	if l.Parts == 0 {
		l.Parts = 100
	}
	if l.ArtifactBytes == 0 {
		l.ArtifactBytes = 20 << 20
	}
	if l.Images == 0 {
		l.Images = window.MaxImages
	}
	return &Intake{Limits: l, store: s, archive: a, fitter: picture.New(picture.ImageLimits{}), put: a.PutArtifact}
}

// Rehearsal returns the same intake, except that it stores nothing: what it admits is what would
// be stored.
func (in *Intake) Rehearsal() *Intake {
	out := *in
	out.put = archive.HashArtifact
	return &out
}

// Check returns an error unless a user's message, of which nothing is written yet, is
// valid: it is not empty, holds only text, images and files, and is within the bounds.
func (l MessageLimits) Check(ps scrollback.Parts) error {
	const op = "intake.Check"
	for i, p := range ps {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Reference != nil {
				return scrollback.ParamErrorf(op, "message", i18n.ReferenceIsSetByServer, i)
			}
		case scrollback.File:
		case scrollback.Image:
			if err := l.checkImage(p); err != nil {
				return err
			}
		default:
			return scrollback.ParamErrorf(op, "message", i18n.UserMessageHoldsOnly, i)
		}
	}
	if strings.TrimSpace(ps.Text()) == "" && len(ps) == len(textParts(ps)) {
		return scrollback.ParamErrorf(op, "message", i18n.MessageIsEmpty)
	}
	if len(ps) > l.Parts {
		return scrollback.ParamErrorf(op, "message", i18n.TooManyParts,
			l.Parts).WithReason(scrollback.ErrTooLarge)
	}
	chars := 0
	for _, t := range textParts(ps) {
		if !utf8.ValidString(t.Text) {
			return scrollback.ParamErrorf(op, "message", i18n.MessageIsNotUTF8)
		}
		chars += utf8.RuneCountInString(t.Text)
	}
	if chars > l.MessageChars {
		return scrollback.ParamErrorf(op, "message",
			i18n.MessageTooLong, chars,
			l.MessageChars).WithReason(scrollback.ErrTooLarge)
	}
	return nil
}

func textParts(ps scrollback.Parts) (out []scrollback.Text) {
	for _, p := range ps {
		if t, ok := p.(scrollback.Text); ok {
			out = append(out, t)
		}
	}
	return out
}

// CheckHistory returns an error unless message i of a history is valid.
func (l MessageLimits) CheckHistory(i int, m *scrollback.Message) error {
	const op = "intake.CheckHistory"
	role, err := scrollback.ParseRole(string(m.Role))
	own := len(m.Parts) - len(m.Parts.References())
	switch {
	case err != nil:
		return scrollback.ParamErrorf(op, "history", i18n.MessageFailed, i, err)
	case role == scrollback.RoleSystem && m.Name == scrollback.EnvironmentName:
		return scrollback.ParamErrorf(op, "history", i18n.NameIsReserved, i, m.Name)
	case len(m.Parts) == 0 || own > l.Parts:
		return scrollback.ParamErrorf(op, "history", i18n.MessageHasTooManyParts, i, role, own, l.Parts)
	}
	for _, p := range m.Parts {
		if image, ok := p.(scrollback.Image); ok {
			if err := l.checkImage(image); err != nil {
				return scrollback.ParamErrorf(op, "history", i18n.MessageFailed, i, err)
			}
		}
	}
	return nil
}

// Admit makes a message of a conversation ready to be stored: it is well-formed, big texts go behind
// artifacts and leave their head and tail, attached bytes are stored, and artifacts that
// are named must be known to the conversation. attached is by index of the part.
func (in *Intake) Admit(ctx context.Context, id scrollback.ConversationID, m scrollback.Message, room Room,
	attached map[int][]byte) (store.IncomingMessage, error) {
	a := admission{Intake: in, id: id, room: room, attached: attached,
		out: store.IncomingMessage{Message: m, Counted: store.TokenCounts{}}}
	err := a.admitMessage(ctx)
	return a.out, err
}

// admission is one message being taken in.
type admission struct {
	*Intake
	id       scrollback.ConversationID
	room     Room
	attached map[int][]byte
	out      store.IncomingMessage
	notes    scrollback.Parts // about its images, to stand behind it
}

// splitThoughts takes what a model thought out of the text that its answer begins with.
func (a *admission) splitThoughts(ps scrollback.Parts) scrollback.Parts {
	at := slices.IndexFunc(ps, func(p scrollback.Part) bool { _, ok := p.(scrollback.Text); return ok })
	if at < 0 {
		return ps
	}
	said, _ := ps[at].(scrollback.Text)
	split := thoughts.Split(said.Text)
	if said.Reference != nil || len(said.Opaque) > 0 || len(split) == 0 || len(split.Text()) == len(said.Text) {
		return ps
	}
	attached := map[int][]byte{} // by the place of their parts, which are farther back now
	for i, b := range a.attached {
		if i > at {
			i += len(split) - 1
		}
		attached[i] = b
	}
	a.attached = attached
	return slices.Concat(ps[:at], split, ps[at+1:])
}

func (a *admission) admitMessage(ctx context.Context) error {
	m := a.out.Message
	m.Parts = m.Parts.WellFormed()
	if m.Role == scrollback.RoleAssistant {
		m.Parts = a.splitThoughts(m.Parts)
	}
	a.out.Meta = scrollback.WellFormed(m.Meta)
	a.out.Parts = make(scrollback.Parts, 0, len(m.Parts))
	parts, err := a.fillImages(ctx, m.Parts)
	if err != nil {
		return err
	}
	m.Parts = parts
	long, room := a.longResults(m)
	if m.Role == scrollback.RoleUser {
		long, room = a.longTexts(m)
	}
	for i, p := range m.Parts {
		var err error
		switch part := p.(type) {
		case scrollback.Text:
			switch {
			case long[i] && part.Reference != nil:
				p, err = a.shortenText(ctx, part, room)
			case joinsPrevious(m.Parts, long, i):
				continue // it is stored with the one before
			case long[i]:
				part.Text = m.Parts[i:runEnd(m.Parts, long, i)].Text()
				p, err = a.shortenText(ctx, part, room)
			}
		case scrollback.ToolResult:
			part.Name = cmp.Or(part.Name, a.room.nameCall(part.CallID))
			// Search and grep must not skip what is not a look-up of ours.
			part.Recall = part.Recall && strings.HasPrefix(part.Name, scrollback.RecallPrefix)
			p = part
			switch {
			case part.Artifact != "" && part.Text == "":
				p, err = a.showResult(ctx, part)
			case part.Artifact != "":
				_, err = a.checkMentioned(ctx, part.Artifact)
			case long[i]:
				p, err = a.shortenResult(ctx, part, room)
			}
		case scrollback.File:
			p, err = a.fillFile(ctx, i, part)
		case scrollback.Image, scrollback.ToolCall, scrollback.Reasoning:
		}
		if err != nil {
			return err
		}
		if p != nil { // an image that is left out
			a.out.Parts = append(a.out.Parts, p)
		}
	}
	a.out.Parts = append(a.out.Parts, a.notes...)
	return nil
}
