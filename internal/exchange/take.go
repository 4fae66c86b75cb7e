package exchange

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Result is what taking another store's history came to.
type Result = merge.Outcome

// Request says how to take.
type Request struct {
	Look     bool // nothing is written; the result says what would be
	Progress func(done, total int)
}

// Take brings all that one side holds and another lacks into that other, and leaves the first as it is. What is cut off
// goes on when it is repeated.
func Take(ctx context.Context, from, into Side, q Request) (Result, error) {
	t := &taking{from: from, into: into, q: q, now: into.Store.Now(), stones: map[scrollback.ConversationID]merge.Stone{},
		done: map[scrollback.ConversationID]bool{}}
	if err := t.takeStones(ctx); err != nil {
		return t.out, err
	}
	all, err := from.Store.Move.ListAll(ctx)
	if err != nil {
		return t.out, err
	}
	for i, c := range all {
		if err := t.takeWithAncestors(ctx, c); err != nil {
			return t.out, err
		}
		if q.Progress != nil {
			q.Progress(i+1, len(all))
		}
	}
	return t.out, t.takeProjects(ctx)
}

// taking is one store's history on its way into another.
type taking struct {
	from, into Side
	q          Request
	now        int64
	stones     map[scrollback.ConversationID]merge.Stone // of both
	done       map[scrollback.ConversationID]bool
	out        Result
}

// takeStones takes what was purged, and purges it here.
func (t *taking) takeStones(ctx context.Context) error {
	ours, err := t.into.Store.Move.ListStones(ctx)
	if err != nil {
		return err
	}
	theirs, err := t.from.Store.Move.ListStones(ctx)
	if err != nil {
		return err
	}
	for _, s := range ours {
		t.stones[s.ID] = newStone(s)
	}
	arrived := merge.Set{}
	for _, s := range theirs {
		arrived.Stones = append(arrived.Stones, newStone(s))
	}
	decided := merge.Merge(&holding{stones: t.stones}, arrived, t.now)
	t.out.Refused = append(t.out.Refused, decided.Refused...)
	for _, s := range decided.Change.Stones {
		_, known := t.stones[s.ID]
		t.stones[s.ID] = s
		if t.q.Look {
			continue
		}
		gone, err := t.into.Store.Move.PutStone(ctx, stamp.Stone{ID: s.ID, Project: s.Project,
			Stamp: stamp.Stamp{At: s.At, By: s.By}})
		if scrollback.CodeOf(err) == scrollback.Conflict {
			t.out.Waiting = append(t.out.Waiting, s.ID)
			continue
		}
		if err != nil {
			return err
		}
		if !known && gone.Done {
			t.out.Purged++
			if _, _, err := t.into.Archive.DeleteConversation(ctx, s.ID, gone.Loose); err != nil {
				return err
			}
		}
	}
	return nil
}

func newStone(s stamp.Stone) merge.Stone {
	return merge.Stone{ID: s.ID, Project: s.Project, Stamp: stamp.Stamp{At: s.At, By: s.By}}
}

// takeWithAncestors takes a conversation, and before it those that it inherits from.
func (t *taking) takeWithAncestors(ctx context.Context, c scrollback.Conversation) error {
	for _, id := range append(reversed(c.Ancestors), c.ID) {
		if t.done[id] {
			continue
		}
		t.done[id] = true
		err := t.takeOne(ctx, id, c.Ancestors)
		switch {
		case scrollback.CodeOf(err) == scrollback.Conflict: // a turn of it is being answered
			t.out.Waiting = append(t.out.Waiting, id)
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// takeOne takes a conversation whose ancestors are here.
func (t *taking) takeOne(ctx context.Context, id scrollback.ConversationID,
	ancestors []scrollback.ConversationID) error {
	theirs, err := t.from.readConversation(ctx, id)
	if err != nil || theirs == nil {
		return err
	}
	ours, err := t.into.readConversation(ctx, id)
	if err != nil {
		return err
	}
	if ours != nil && ours.seen == theirs.seen && ours.tally() == theirs.tally() {
		return nil
	}
	h := &holding{conversations: map[scrollback.ConversationID]*heldConversation{}, stones: t.stones}
	if ours != nil {
		h.conversations[id] = ours
	}
	inherits := slices.Clone(ancestors)
	if theirs.seen {
		inherits = theirs.head.Ancestors
	}
	for _, above := range inherits {
		if above == id || h.conversations[above] != nil {
			continue
		}
		c, err := t.into.readConversation(ctx, above)
		if err != nil {
			return err
		}
		if c != nil {
			h.conversations[above] = c
		}
	}
	decided := merge.Merge(h, merge.Set{Conversations: []merge.Conversation{theirs.record}}, t.now)
	t.out.Refused = append(t.out.Refused, decided.Refused...)
	for i := range decided.Change.Conversations {
		w := &writing{taking: t, c: &decided.Change.Conversations[i], theirs: theirs, ours: ours, holding: h}
		if w.c.ID != id {
			continue
		}
		t.out.Conversations++
		t.out.Messages += int64(len(w.c.Messages))
		if ours == nil {
			t.out.New++
		}
		if t.q.Look {
			continue
		}
		if err := w.write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tally returns the sums of a conversation.
func (c *heldConversation) tally() merge.Tally {
	var t merge.Tally
	for _, m := range c.record.Messages {
		t = t.AddMessage(m)
	}
	if !c.seen {
		return t // what is left for others is no part of it: which segments are depends on who purged first
	}
	rest := c.record
	rest.Messages = nil
	rest.RestElements(sameID, func(h merge.Hash, _ func(*merge.Conversation)) { t = t.Replace(nil, &h) })
	return t
}

// takeProjects takes what is stored of projects.
func (t *taking) takeProjects(ctx context.Context) error {
	theirs, err := t.from.readProjects(ctx)
	if err != nil {
		return err
	}
	ours, err := t.into.readProjects(ctx)
	if err != nil {
		return err
	}
	h := &holding{projects: map[string]*merge.Project{}}
	for i := range ours {
		h.projects[ours[i].Name] = &ours[i]
	}
	decided := merge.Merge(h, merge.Set{Projects: theirs}, t.now)
	t.out.Refused = append(t.out.Refused, decided.Refused...)
	for _, p := range decided.Change.Projects {
		if t.q.Look {
			continue
		}
		if err := t.into.writeProject(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// readProjects reads what is stored of projects.
func (s Side) readProjects(ctx context.Context) ([]merge.Project, error) {
	all, err := s.Store.Projects.List(ctx)
	if err != nil {
		return nil, err
	}
	var out []merge.Project
	for _, p := range all {
		values := map[string]any{stamp.FieldTitle: p.Title, stamp.FieldInstructions: p.Instructions,
			stamp.FieldModel: p.Model, stamp.FieldPolicy: p.Policy}
		keys, err := splitObject(p.Settings)
		if err != nil {
			return nil, err
		}
		for key, value := range keys {
			if stamp.SettingRules[key] == stamp.Stamped {
				values[stamp.SettingFields+key] = value
			}
		}
		fields, err := s.stampFields(ctx, stamp.OfProject(p.Name), values)
		if err != nil {
			return nil, err
		}
		// A title has no author here.
		if f, ok := fields[stamp.FieldTitle]; ok && f.By == "" && p.Title == "" {
			delete(fields, stamp.FieldTitle)
		}
		if len(fields) > 0 {
			out = append(out, merge.Project{Name: p.Name, Fields: fields})
		}
	}
	slices.SortFunc(out, func(a, b merge.Project) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// writeProject gives a project the fields that another store has of it.
func (s Side) writeProject(ctx context.Context, p merge.Project) error {
	if f, ok := p.Fields[stamp.FieldDeleted]; ok && string(f.Value) == stamp.Yes {
		err := s.Store.Projects.Delete(ctx, p.Name, 0)
		if err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
			return err
		}
		return s.Store.Move.PutClocks(ctx, clocksOf(stamp.OfProject(p.Name), p.Fields))
	}
	_, err := s.Store.Projects.Put(ctx, p.Name, 0, func(v *scrollback.Project) error { return setProject(v, p.Fields) })
	if err != nil {
		return err
	}
	return s.Store.Move.PutClocks(ctx, clocksOf(stamp.OfProject(p.Name), p.Fields))
}

// reversed returns a list from its end.
func reversed[T any](list []T) []T {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}
