package transfer

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/title"
	"github.com/scrollback-ai/scrollback/transcript"
)

// OriginQuery pages through origins: those of a Tool, an ID, a Root, a Place and Name, in a
// Folder or below it, of Conversations, in Projects, with Trash also of those in the trash;
// After begins behind one, and Limit is how many. It is [driver.OriginQuery].
type OriginQuery = store.OriginQuery

// originsPage is how many origins are read at once.
const originsPage = 10_000

// PlaceName returns what origins call a place: its path, or empty for what was uploaded.
func PlaceName(p transcript.Place) string {
	if p.Path == "" || p.Name == "." || p.Name == "" {
		return p.Path
	}
	return filepath.Join(p.Path, filepath.FromSlash(p.Name))
}

// Origins lists where conversations of the caller come from, by tool, id and conversation.
func (t *Transfer) Origins(ctx context.Context, v *engine.View, q OriginQuery) ([]scrollback.Origin, error) {
	c := v.Caller()
	if !c.HasAccess(scrollback.AccessRead) {
		return nil, c.AccessError("transfer.Origins", scrollback.AccessRead)
	}
	if !c.AllProjects {
		own := append([]string{}, c.Projects...)
		if q.Projects != nil {
			own = slices.DeleteFunc(own, func(p string) bool { return !slices.Contains(q.Projects, p) })
		}
		q.Projects = own
	}
	return t.store.Origins.List(ctx, q)
}

// WasDeleted reports whether a conversation of a tool was purged here, so that it is not brought
// again by itself.
func (t *Transfer) WasDeleted(ctx context.Context, v *engine.View, tool, id string) (bool, error) {
	c := v.Caller()
	var projects []string
	if !c.AllProjects {
		projects = append([]string{}, c.Projects...)
	}
	return t.store.Origins.WasPurged(ctx, tool, id, projects)
}

// MarkGone notes when the places of some origins no longer had them, in Unix ms; 0 says that they
// have them. Origins of others are not_found.
func (t *Transfer) MarkGone(ctx context.Context, v *engine.View, origins []scrollback.Origin, at int64) error {
	for _, o := range origins {
		if _, err := v.Bulk().Head(ctx, o.Conversation, scrollback.AccessWrite); err != nil {
			return err
		}
		now, err := t.store.Origins.List(ctx, OriginQuery{Tool: o.Tool, ID: o.ID,
			Conversations: []scrollback.ConversationID{o.Conversation}, Trash: true})
		for _, o := range now {
			if err == nil && o.GoneAt != at {
				o.GoneAt = at
				err = t.store.Origins.Put(ctx, o, "")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chooseConversation finds the conversation of a source by its origin, by what it shares with others, or
// by its id, which is one of ours if it was exported from here; else it makes one.
func (b *sessionImport) chooseConversation(ctx context.Context, c *importing) error {
	s := c.source
	of, err := b.findParent(ctx, s)
	if err != nil || s.deleted {
		return err
	}
	if err := b.findOrigin(ctx, s); err != nil || s.deleted {
		return err
	}
	if s.was.Conversation != "" && !s.was.Shared {
		c.ID = s.was.Conversation
		c.moved = unmarkStamp(s.was.Stamp) != b.Stamp
		c.goesOn = c.moved && b.at != "" && s.was.Place == b.at && s.was.Name == b.Session.Name
		return nil
	}
	found, err := b.matchPrefix(ctx, s)
	if err != nil {
		return err
	}
	if found != nil && found.entire {
		s.shared = true
		c.ID = found.ID
		c.Total = found.head.Messages
		return nil
	}
	from := conversationOrigin{of: of, fork: found}
	if found == nil && of == nil {
		if c.ID, from.copied, err = findExported(ctx, b.im, s.Source); err != nil || c.ID != "" {
			return err
		}
	}
	return b.createConversation(ctx, c, from)
}

// findOrigin looks for the origin of a source; see [sessionImport.pickOwn].
func (b *sessionImport) findOrigin(ctx context.Context, s *sessionSource) error {
	im := b.im
	q := OriginQuery{Tool: s.Tool, ID: s.Origin.ID, Trash: true}
	all, err := im.Origins(ctx, im.view, q)
	if err != nil {
		return err
	}
	if q.Trash = false; len(all) > 0 {
		there, err := im.Origins(ctx, im.view, q)
		if err != nil {
			return err
		}
		if len(there) == 0 { // it is in the trash, from which only a person takes it
			s.deleted = true
			b.trashed = all[0].Conversation
			return nil
		}
		s.was, err = b.pickOwn(ctx, there)
		return err
	}
	if b.q.Again {
		return nil
	}
	s.deleted, err = im.store.Origins.WasPurged(ctx, s.Tool, s.Origin.ID, b.callerProjects())
	return err
}

// pickOwn returns the one of several origins of a source, which different projects have, that is in the
// project that was asked for, else that which was brought from the same place, else the first.
func (b *sessionImport) pickOwn(ctx context.Context, all []scrollback.Origin) (scrollback.Origin, error) {
	out := all[0]
	if i := slices.IndexFunc(all, func(o scrollback.Origin) bool {
		return b.at != "" && o.Place == b.at && o.Name == b.Session.Name
	}); i >= 0 {
		out = all[i]
	}
	for _, o := range all {
		h, err := b.im.view.Bulk().Head(ctx, o.Conversation, scrollback.AccessWrite)
		if err != nil || h.Project == b.q.Project {
			return o, err
		}
	}
	return out, nil
}

// callerProjects returns those of the caller; nil for all.
func (b *sessionImport) callerProjects() []string {
	if c := b.im.view.Caller(); !c.AllProjects {
		return append([]string{}, c.Projects...)
	}
	return nil
}

// findParent returns where a sub-agent was started; nil for any other conversation, and for one whose
// parent is not known.
func (b *sessionImport) findParent(ctx context.Context, s *sessionSource) (*scrollback.AgentRef, error) {
	if s.Agent == nil {
		return nil, nil
	}
	parent := b.im.open[s.Agent.Source]
	if parent != nil && parent.source != s && !parent.source.began {
		if err := b.beginConversation(ctx, parent); err != nil {
			return nil, err
		}
	}
	if parent != nil && parent.source.deleted {
		s.deleted = true
		return nil, nil
	}
	id := b.ids[s.Agent.Source]
	if id == "" {
		up := &sessionSource{Origin: scrollback.Origin{Tool: s.Tool, ID: s.Agent.Source}}
		if err := b.findOrigin(ctx, up); err != nil || up.was.Conversation == "" {
			s.deleted = up.deleted
			return nil, err
		}
		id = up.was.Conversation
	}
	return &scrollback.AgentRef{ID: id, CallID: s.Agent.CallID}, nil
}

// conversationOrigin is what a new conversation works for, or continues; both may be nil. A copied one is asked for by
// the name of another project.
type conversationOrigin struct {
	of     *scrollback.AgentRef
	fork   *followerState
	copied bool
}

// createConversation makes the conversation of a source. Its id follows from the source, so that two imports
// at once make one.
func (b *sessionImport) createConversation(ctx context.Context, c *importing, a conversationOrigin) error {
	s := c.source
	im := b.im
	want := describeConversation(s)
	var err error
	if want.Project, err = b.chooseProject(ctx, s, a); err != nil {
		return err
	}
	if err = planNew(im, &want); err != nil {
		return err
	}
	again := b.q.Again || s.was.Conversation != "" // a part of another is what came back of it
	for _, key := range []string{s.Origin.ID, s.Origin.ID + "\x00again"} {
		probe := scrollback.Conversation{ID: im.idOf(key)}
		if s.deleted, err = im.passStones(ctx, again, &probe); err != nil || s.deleted {
			return err
		}
		var made scrollback.Conversation
		made, c.Created, err = im.createOf(ctx, identity{key, a.copied, again}, want,
			func(want scrollback.Conversation) (scrollback.Conversation, bool, error) {
				return b.create(ctx, want, a)
			})
		if err == nil {
			c.ID = made.ID
			c.untitled = c.Created && made.Title == ""
		}
		if scrollback.CodeOf(err) != scrollback.Conflict {
			break // else one of that id was purged, and others inherit from it
		}
	}
	return err
}

// create makes a conversation that works for another, continues one, or neither; or returns the one that has its id.
func (b *sessionImport) create(ctx context.Context, want scrollback.Conversation,
	a conversationOrigin) (scrollback.Conversation, bool, error) {
	im := b.im
	switch f := a.fork; {
	case a.of != nil:
		want.AgentOf = a.of
		return im.store.CreateConversation(ctx, want)
	case f != nil:
		if want.Title == "" {
			want.Title = title.CopyTitle(title.CopyOf, f.head.Title)
			want.TitleBy = scrollback.TitleTool
		}
		made, err := im.store.Branches.Fork(ctx, f.head, f.at, f.newestSeq(), want)
		return made, made.Messages == f.newestSeq(), err
	}
	return im.view.Create(ctx, want)
}
