package exchange

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Request says how to take.
type Request struct {
	merge.Terms
	Progress func(done, total int)
}

// Take brings all that one side holds and another lacks into that other, and leaves the first as it is. What is cut off
// goes on when it is repeated.
func Take(ctx context.Context, from, into Side, q Request) (merge.Outcome, error) {
	t := into.newTaking(q, merge.Access{})
	m, err := beginMeeting(ctx, from, into)
	if err != nil {
		return t.out, err
	}
	stones, err := from.Store.Move.ListStones(ctx)
	if err != nil {
		return t.out, err
	}
	arrived := merge.Set{}
	for _, s := range stones {
		arrived.Stones = append(arrived.Stones, newStone(s))
	}
	all, err := m.listTheirs(ctx, from)
	if err != nil {
		return t.out, err
	}
	done := map[scrollback.ConversationID]bool{}
	for i, c := range all {
		for _, id := range append(reversed(c.Ancestors), c.ID) {
			if done[id] || m.isEqual(c.ID) && m.isEqual(id) { // a fork may need what it inherits from, equal or not
				continue
			}
			done[id] = true
			if err := t.takeFrom(ctx, from, id); err != nil {
				return t.out, err
			}
		}
		if q.Progress != nil {
			q.Progress(i+1, len(all))
		}
	}
	// Last: a fork that has arrived keeps what it needs of what goes.
	if err := t.takeStones(ctx, arrived); err != nil {
		return t.out, err
	}
	projects, err := from.readProjects(ctx)
	if err != nil {
		return t.out, err
	}
	if err := t.takeProjects(ctx, projects); err != nil {
		return t.out, err
	}
	return t.out, m.end(ctx, into, q, &t.out)
}

// taking is another store's history on its way into a store.
type taking struct {
	into Side
	may  merge.Access
	q    Request
	now  int64
	last *heldConversation // as it is here after what was written, if that is known
	out  merge.Outcome

	// spare is what arrived of conversations that were purged here: a living fork that arrives may need some of it.
	spare map[scrollback.ConversationID]*arrival
}

func (s Side) newTaking(q Request, may merge.Access) *taking {
	return &taking{into: s, may: may, q: q, now: s.Store.Now(), spare: map[scrollback.ConversationID]*arrival{}}
}

// takeStones takes what was purged, and purges it here.
func (t *taking) takeStones(ctx context.Context, arrived merge.Set) error {
	if len(arrived.Stones) == 0 {
		return nil
	}
	h, err := t.holdStones(ctx, arrived)
	if err != nil {
		return err
	}
	if !t.q.Purges {
		t.out.Held = append(t.out.Held, merge.HoldPurges(h, &arrived, func(id scrollback.ConversationID) bool {
			return h.conversations[id].head.DeletedAt != 0
		})...)
	}
	decided := merge.Merge(h, arrived, t.now)
	t.out.Refused = append(t.out.Refused, decided.Refused...)
	for _, s := range decided.Change.Stones {
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
		if _, known := h.stones[s.ID]; !known && gone.Done {
			t.out.Purged++
			if _, _, err := t.into.Archive.DeleteConversation(ctx, s.ID, gone.Loose); err != nil {
				return err
			}
		}
	}
	return nil
}

// holdStones reads what a merge of stones asks for.
func (t *taking) holdStones(ctx context.Context, arrived merge.Set) (*holding, error) {
	h := &holding{conversations: map[scrollback.ConversationID]*heldConversation{},
		stones: map[scrollback.ConversationID]merge.Stone{}}
	for _, s := range arrived.Stones {
		if err := t.into.holdStone(ctx, h, s.ID); err != nil {
			return nil, err
		}
		head, err := t.into.Store.ReadHead(ctx, s.ID)
		switch {
		case scrollback.CodeOf(err) == scrollback.NotFound:
		case err != nil:
			return nil, err
		case head.ID == s.ID:
			h.conversations[s.ID] = &heldConversation{head: head.Conversation, record: merge.Conversation{ID: s.ID}}
		}
	}
	return h, nil
}

// holdStone reads the stone of a conversation.
func (s Side) holdStone(ctx context.Context, h *holding, id scrollback.ConversationID) error {
	here, err := s.Store.ReadStone(ctx, id)
	switch {
	case scrollback.CodeOf(err) == scrollback.NotFound:
		return nil
	case err != nil:
		return err
	case here.ID == id:
		h.stones[id] = newStone(here)
	}
	return nil
}

func newStone(s stamp.Stone) merge.Stone {
	return merge.Stone{ID: s.ID, Project: s.Project, Stamp: stamp.Stamp{At: s.At, By: s.By}}
}

// takeFrom takes a conversation whose ancestors are here.
func (t *taking) takeFrom(ctx context.Context, from Side, id scrollback.ConversationID) error {
	theirs, err := from.readConversation(ctx, id)
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
	a := from.newArrival(theirs)
	a.bytes = func(ctx context.Context, m merge.Mention) error { return t.into.bringArtifact(ctx, from, m) }
	t.last = ours
	return t.takeArrival(ctx, a)
}

// bringArtifact stores the bytes of an artifact of another side, unless they are here.
func (s Side) bringArtifact(ctx context.Context, from Side, m merge.Mention) error {
	if has, err := s.Archive.HasArtifact(ctx, m.Artifact); err != nil || has {
		return err
	}
	r, size, err := from.Archive.OpenArtifact(ctx, m.Artifact)
	if err != nil {
		return err
	}
	defer r.Close()
	return s.putArtifact(ctx, m.Artifact, r, size)
}

// putArtifact stores the bytes of an artifact.
func (s Side) putArtifact(ctx context.Context, id scrollback.ArtifactID, r io.Reader, size int64) error {
	got, stored, err := s.Archive.PutArtifact(ctx, r, size)
	if err == nil && got != id {
		err = scrollback.Errorf(scrollback.Invalid, "exchange", i18n.ArtifactHasWrongSize, id, stored, size)
	}
	return err
}

// takeArrival takes what arrived of a conversation.
func (t *taking) takeArrival(ctx context.Context, a *arrival) error {
	err := t.writeArrival(ctx, a)
	if scrollback.CodeOf(err) == scrollback.Conflict { // a turn of it is being answered
		t.last = nil
		t.out.Waiting = append(t.out.Waiting, a.record.ID)
		return nil
	}
	return err
}

func (t *taking) writeArrival(ctx context.Context, a *arrival) error {
	id := a.record.ID
	h := &holding{conversations: map[scrollback.ConversationID]*heldConversation{},
		stones: map[scrollback.ConversationID]merge.Stone{}}
	if t.last != nil {
		h.conversations[t.last.head.ID] = t.last
	}
	arrived := map[scrollback.ConversationID]*arrival{id: a}
	var set merge.Set
	for _, of := range t.spare { // what a living fork needs of them is taken with it
		if of.record.ID != id {
			arrived[of.record.ID] = of
			set.Conversations = append(set.Conversations, of.record)
		}
	}
	set.Conversations = append(set.Conversations, a.record)
	for i := range set.Conversations {
		if err := t.hold(ctx, h, &set.Conversations[i]); err != nil {
			return err
		}
	}
	if _, gone := h.stones[id]; gone {
		t.spare[id] = a
	}
	decided := merge.Merge(h, set, t.now)
	t.out.Refused = append(t.out.Refused, decided.Refused...)
	if len(decided.Waiting) > 0 && !slices.Contains(t.out.Waiting, id) {
		t.out.Waiting = append(t.out.Waiting, id)
	}
	for i := range decided.Change.Conversations {
		c := &decided.Change.Conversations[i]
		_, gone := h.stones[c.ID]
		w := &writing{taking: t, c: c, theirs: arrived[c.ID], ours: h.conversations[c.ID], holding: h}
		w.shown = w.seen() || w.theirs.seen() && !gone
		if w.ours == nil && len(c.Branches)+len(c.Messages) == 0 {
			continue // what it goes on from has not arrived
		}
		t.out.Conversations++
		t.out.Changed = append(t.out.Changed, c.ID)
		t.out.Messages += int64(len(c.Messages))
		if w.ours == nil {
			t.out.New++
		}
		if t.q.Look {
			continue
		}
		t.last = nil
		if err := w.write(ctx); err != nil {
			return err
		}
		if i < len(decided.Change.Conversations)-1 { // the next one may go on from this one
			was, err := t.into.readConversation(ctx, c.ID)
			if err != nil {
				return err
			}
			h.conversations[c.ID] = was
			continue
		}
		w.remember()
	}
	return nil
}

// hold reads a conversation and those that what arrived of it goes on from, as far as they are here. Messages whose ids
// name something else here are left out and named.
func (t *taking) hold(ctx context.Context, h *holding, c *merge.Conversation) error {
	if err := t.holdOne(ctx, h, c.ID); err != nil {
		return err
	}
	var unknown []scrollback.MessageID
	ask := func(id scrollback.MessageID) {
		if _, _, known := h.Message(id); !known && id != "" {
			unknown = append(unknown, id)
		}
	}
	fresh := map[scrollback.MessageID]bool{}
	for _, m := range c.Messages {
		fresh[m.ID] = true
		ask(m.ID)
	}
	named := *c
	named.NameByKeys(func(id scrollback.MessageID) scrollback.MessageID { // every message that its records name
		ask(id)
		return id
	})
	owners, err := t.into.Store.Move.FindOwners(ctx, unknown)
	if err != nil {
		return err
	}
	taken := map[scrollback.MessageID]bool{}
	for id, of := range owners {
		if of != c.ID && fresh[id] {
			taken[id] = true
			t.out.Refused = append(t.out.Refused, merge.Refused{Conversation: c.ID, Record: "message " + string(id)})
			continue
		}
		seen, err := t.into.isSeen(ctx, t.may, of)
		if err != nil {
			return err
		}
		if !seen { // knowing an id opens nothing: what goes on from there waits for ever
			continue
		}
		if err := t.holdOne(ctx, h, of); err != nil {
			return err
		}
	}
	if len(taken) > 0 {
		is := func(m merge.Message) bool { return taken[m.ID] }
		c.Messages = slices.DeleteFunc(slices.Clone(c.Messages), is)
	}
	return nil
}

// holdOne reads a conversation and its stone.
func (t *taking) holdOne(ctx context.Context, h *holding, id scrollback.ConversationID) error {
	if h.conversations[id] != nil {
		return nil
	}
	c, err := t.into.readConversation(ctx, id)
	if err != nil {
		return err
	}
	if c != nil {
		h.conversations[id] = c
		if c.seen {
			return nil
		}
	}
	return t.into.holdStone(ctx, h, id)
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
func (t *taking) takeProjects(ctx context.Context, theirs []merge.Project) error {
	if len(theirs) == 0 {
		return nil
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
