package transfer

import (
	"context"
	"errors"
	"maps"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/place"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// ErrDeleted is the reason of an error about conversations of a tool that were put in the
// trash or purged here: they are not brought again.
var ErrDeleted = errors.New("it was deleted here")

// Session is a session of a tool, where that keeps it.
type Session struct {
	Tool  transcript.Tool
	Place transcript.Place
	transcript.Session
	Shares bool     // other sessions are in the same file
	Begun  *Reading // of this session, by the same request; nil if it was not begun
}

// ImportSession imports a session of a tool from where that keeps it. Each of its conversations is
// known again by its origin: the same session again changes nothing, and one that grew
// extends them. One that copies the beginning of another, under the ids that this has, becomes
// a fork of it; one that has nothing else is that conversation. Imports of the same session
// that go on meanwhile are waited out.
//
// It is conflict because of [ErrDeleted] if all that it has was deleted here.
func (t *Transfer) ImportSession(ctx context.Context, v *engine.View, s Session,
	q ImportRequest) (ImportResult, error) {
	out, err := importSession(ctx, t, v, &sessionImport{Session: s, q: q})
	s.Begun = nil // it is read from the beginning
	if q.Into != "" && countMessages(out) > 0 {
		return out, err
	}
	return waitOut(ctx, out, err, func() (ImportResult, error) {
		return importSession(ctx, t, v, &sessionImport{Session: s, q: q})
	})
}

// waitOut repeats an attempt that met another import of the same: once, and as long as what is there grows. It goes on
// from what is there, so nothing comes twice.
func waitOut(ctx context.Context, out ImportResult, err error, attempt func() (ImportResult, error)) (ImportResult,
	error) {
	for there := int64(-1); ; {
		total := countThere(out)
		if scrollback.CodeOf(err) != scrollback.Conflict || errors.Is(err, ErrDeleted) || ctx.Err() != nil ||
			total <= there {
			return out, err
		}
		there = total
		before := out.Conversations
		out, err = attempt()
		for _, c := range before {
			out.addEarlier(c)
		}
	}
}

// countThere returns how many messages the conversations have.
func countThere(r ImportResult) (n int64) {
	for _, c := range r.Conversations {
		n += c.Total
	}
	return n
}

// addEarlier adds what an earlier attempt has done.
func (r *ImportResult) addEarlier(was Imported) {
	for i, c := range r.Conversations {
		if c.ID == was.ID {
			r.Conversations[i].Created = c.Created || was.Created
			r.Conversations[i].Messages = c.Messages + was.Messages
			return
		}
	}
	r.Conversations = append(r.Conversations, was)
}

// importSession makes one attempt.
func importSession(ctx context.Context, t *Transfer, v *engine.View, b *sessionImport) (ImportResult, error) {
	const op = "transfer.Bring"
	im := &importer{Transfer: t, view: v, q: b.q, open: map[string]*importing{}, format: b.Tool.Name(), from: b}
	im.out = ImportResult{Conversations: []Imported{}, Skipped: []transcript.Bad{}}
	b.im = im
	b.at = PlaceName(b.Place)
	b.ids = map[string]scrollback.ConversationID{}
	b.held = map[string]bool{}
	if !v.Caller().HasAccess(scrollback.AccessWrite) {
		return im.out, v.Caller().AccessError(op, scrollback.AccessWrite)
	}
	if b.Bad != "" {
		return im.out, scrollback.ParamErrorf(op, "file", i18n.CannotBeRead, b.Session.Name, b.Bad)
	}
	var failed error
	if b.Begun == nil {
		b.Begun = BeginReading(ctx, b.Session, b.q)
	}
	for next := range b.Begun.ahead.takeEntries() {
		entry := next.Entry
		err := next.err
		if err == nil {
			err = checkContext(ctx)
		}
		im.out.Masked += next.masked
		if err == nil && entry.Bad != nil {
			im.skipBad(*entry.Bad)
			continue
		}
		if err == nil {
			err = b.takeEntry(ctx, entry)
		}
		if b.deleted {
			break
		}
		if err != nil {
			failed = scrollback.Wrap(scrollback.Unavailable, op, err)
			break
		}
	}
	err := b.finishAll(context.WithoutCancel(ctx), failed)
	return im.currentResult(), err
}

// prepare does what is wanted with an entry before anything is looked up for it.
func (q *ImportRequest) prepare(e *readEntry) {
	if e.err == nil && q.Mask {
		e.masked = mask.MaskEntry(&e.Entry)
	}
}

func checkContext(ctx context.Context) error {
	return scrollback.Wrap(scrollback.Canceled, "transfer.Bring", ctx.Err())
}

// sessionImport is a session of a tool being imported. What its source calls a conversation leads
// to one of ours when its first message comes: what says nothing becomes none.
type sessionImport struct {
	Session
	q    ImportRequest
	im   *importer
	at   string // the place, as origins have it
	ids  map[string]scrollback.ConversationID
	held map[string]bool // conversations of which something was held back
	// the session's own, or the one that ended first: its stamp is stored last: until then the session is not here whole
	first *notedOrigin
	stood int // conversations that were looked for

	deleted bool                      // the conversation that the session is
	trashed scrollback.ConversationID // one of those that are in the trash
}

// sessionSource is what a tool says of a conversation, and what is known of it.
type sessionSource struct {
	transcript.Entry
	key               string            // of what is open
	scrollback.Origin                   // as it will be
	was               scrollback.Origin // as it was, if it was here
	began             bool              // our conversation is chosen
	deleted           bool              // it was deleted here
	shared            bool              // all of it is in another conversation
	repository        place.Repository  // that it was held in, if that is known on other machines
}

// takeEntry takes an entry of the session.
func (b *sessionImport) takeEntry(ctx context.Context, entry transcript.Entry) error {
	key := entry.Source
	if b.q.Into != "" && b.im.open[key] == nil && entry.Agent == nil {
		key = "" // all in one
	}
	c := b.im.open[key]
	if c == nil && entry.End == nil {
		c = &importing{firsts: map[pathPoint]*storedMessage{}, source: b.findSource(ctx, entry)}
		c.source.key = key
		c.source.deleted = b.q.Into != "" && entry.Agent != nil
		b.im.open[key] = c
	}
	switch {
	case entry.End != nil:
		return b.endConversation(ctx, key, *entry.End)
	case entry.Conversation != nil:
		return nil
	case !c.source.began:
		if err := b.beginConversation(ctx, c); err != nil {
			return err
		}
	}
	switch {
	case c.source.deleted || c.source.shared:
		return nil
	case entry.Rewind != nil:
		return b.im.rewindPath(ctx, c, *entry.Rewind)
	}
	return b.im.takeMessage(ctx, c, entry)
}

// findSource returns what an entry says of its conversation.
func (b *sessionImport) findSource(ctx context.Context, entry transcript.Entry) *sessionSource {
	s := &sessionSource{Entry: entry}
	if entry.Origin != nil {
		s.Origin = *entry.Origin
	}
	s.Origin = scrollback.Origin{Tool: b.Tool.Name(), ID: s.Origin.ID, Root: s.Root, Folder: cleanFolder(s.Folder),
		GitBranch: s.GitBranch, Place: b.at, Name: b.Session.Name}
	if s.Origin.ID == "" {
		s.Origin.ID = entry.Source
	}
	if entry.Conversation != nil {
		s.repository = b.im.findRepository(ctx, s.Folder)
	}
	return s
}

// beginConversation finds or makes the conversation of a source.
func (b *sessionImport) beginConversation(ctx context.Context, c *importing) error {
	err := b.findConversation(ctx, c)
	if err != nil {
		delete(b.im.open, c.source.key)
	}
	return err
}

func (b *sessionImport) findConversation(ctx context.Context, c *importing) error {
	s := c.source
	s.began = true
	if s.deleted { // a sub-agent that would go into another conversation
		return nil
	}
	b.stood++
	if b.q.Into != "" {
		c.ID = b.q.Into
		return b.im.enterConversation(ctx, c)
	}
	err := b.chooseConversation(ctx, c)
	switch {
	case err != nil:
		return err
	case s.deleted:
		b.im.out.Deleted++
		b.deleted = s.Origin.ID == b.Session.ID
		return nil
	case s.shared:
		c.slot = len(b.im.slots)
		b.im.slots = append(b.im.slots, c.Imported)
	default:
		err = b.im.enterConversation(ctx, c)
	}
	b.ids[s.Source] = c.ID
	return err
}

// endConversation ends a conversation, stores where it comes from, and forgets it.
func (b *sessionImport) endConversation(ctx context.Context, key string, how transcript.End) error {
	for kind, n := range how.Left {
		if b.im.out.Left == nil {
			b.im.out.Left = map[string]int{}
		}
		b.im.out.Left[kind] += n
	}
	b.im.out.Held = b.im.out.Held || how.Held
	c := b.im.open[key]
	if c == nil || b.q.Into != "" {
		return nil // one that said nothing, or others go on there
	}
	err := b.leaveConversation(ctx, key)
	b.im.out.Held = b.im.out.Held || c.held
	if err == nil {
		err = b.noteOrigin(ctx, c, how.Held || c.held)
	}
	return err
}

// leaveConversation writes what is left of a conversation, and forgets it.
func (b *sessionImport) leaveConversation(ctx context.Context, key string) error {
	im := b.im
	c := b.im.open[key]
	delete(im.open, key)
	if c.backlog == nil {
		return nil
	}
	err := im.endConversation(ctx, c)
	if err == nil {
		err = im.enterCalls(ctx, c)
	}
	if err == nil && c.Messages > 0 && !c.own && c.said > 0 {
		err = im.store.Origins.BackdateConversation(ctx, c.ID, c.Total, max(c.said, c.latest))
	}
	if err == nil && c.beside != nil && c.Messages > 0 {
		err = im.view.Bulk().AdoptBrought(ctx, c.ID)
	}
	if err == nil {
		err = b.updateDescription(ctx, c)
	}
	im.slots[c.slot] = c.Imported
	im.asked = addAsked(im.asked, c.backlog.Asked)
	for i, o := range im.order {
		if o == c {
			im.order = append(im.order[:i], im.order[i+1:]...)
			break
		}
	}
	return err
}

// finishAll ends what is still open. After a failure what was read before it is good, and the
// next attempt continues from it.
func (b *sessionImport) finishAll(ctx context.Context, failed error) error {
	err := errors.Join(failed, b.im.writing.waitWritten(b.im))
	stamp := b.Stamp
	for key := range maps.Clone(b.im.open) {
		if err != nil {
			b.Stamp = ""
		}
		if b.q.Into != "" {
			err = errors.Join(err, b.leaveConversation(ctx, key))
			continue
		}
		c := b.im.open[key]
		e := b.leaveConversation(ctx, key)
		b.im.out.Held = b.im.out.Held || c.held
		if e == nil {
			e = b.noteOrigin(ctx, c, c.held)
		}
		err = errors.Join(err, e)
	}
	if b.Stamp = stamp; b.first != nil {
		if err != nil || len(b.held) > 0 && b.at != "" { // what waits in another of its conversations is read with it
			b.held[b.first.Origin.ID] = true
			b.first.Stamp = ""
		}
		err = errors.Join(err, b.first.storeOrigin(ctx, b.im))
	}
	if err == nil && b.q.Into == "" && !b.deleted {
		err = b.markVanished(ctx)
	}
	if n := b.im.out.Deleted; err == nil && n > 0 && n == b.stood {
		if b.q.Again {
			return scrollback.Errorf(scrollback.Conflict, "transfer.Bring", i18n.ConversationInTrashRestoreFirst,
				b.trashed).WithReason(ErrDeleted)
		}
		return scrollback.Errorf(scrollback.Conflict, "transfer.Bring",
			i18n.DeletedHereNotImportedAgain,
			b.Session.Name).WithReason(ErrDeleted)
	}
	return err
}
