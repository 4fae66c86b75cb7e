package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// nodeName is the id of a database in memory, of which there is no copy.
const nodeName = "node"

// ReadClocks implements [driver.Log].
func (db log) ReadClocks(ctx context.Context, owner string) ([]stamp.Clock, error) {
	end, err := db.beginRead(ctx, "oracle.ReadClocks")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []stamp.Clock
	for _, c := range db.clocks[owner] {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b stamp.Clock) int { return cmp.Compare(a.Field, b.Field) })
	return out, nil
}

// PutClocks implements [driver.Log].
func (db log) PutClocks(ctx context.Context, all []stamp.Clock) error {
	end, err := db.beginWrite(ctx, "oracle.PutClocks")
	defer end()
	if err != nil {
		return err
	}
	for _, c := range all {
		db.putClock(c)
	}
	return nil
}

// ReadStone implements [driver.Log].
func (db log) ReadStone(ctx context.Context, id scrollback.ConversationID) (stamp.Stone, error) {
	const op = "oracle.ReadStone"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return stamp.Stone{}, err
	}
	s, ok := db.stones[id]
	if !ok {
		return s, scrollback.Errorf(scrollback.NotFound, op, "no stone of %s", id)
	}
	return s, nil
}

// ListStones implements [driver.Log].
func (db log) ListStones(ctx context.Context, after scrollback.ConversationID, limit int) ([]stamp.Stone, error) {
	end, err := db.beginRead(ctx, "oracle.ListStones")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []stamp.Stone
	for id, s := range db.stones {
		if id > after {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b stamp.Stone) int { return cmp.Compare(a.ID, b.ID) })
	return out[:min(len(out), limit)], nil
}

// PutStone implements [driver.Log].
func (db log) PutStone(ctx context.Context, s stamp.Stone) error {
	const op = "oracle.PutStone"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	if th := db.threads[s.ID]; th != nil && th.PurgedAt == 0 {
		return scrollback.Errorf(scrollback.Conflict, op, "conversation %s is here", s.ID)
	}
	db.putStone(s)
	return nil
}

// Node implements [driver.Log].
func (db log) Node(ctx context.Context) (string, error) {
	end, err := db.beginWrite(ctx, "oracle.Node")
	defer end()
	return nodeName, err
}

// putStone stores a stone, unless the one that is here beats it.
func (db *database) putStone(s stamp.Stone) {
	if was, ok := db.stones[s.ID]; !ok || s.Beats(was) {
		db.stones[s.ID] = s
		db.changes.noteWritten(string(s.ID))
	}
}

// nextStamp returns the stamp of a change to an owner that is made now.
func (db *database) nextStamp(owner string, now int64) stamp.Stamp {
	newest := int64(0)
	for _, c := range db.clocks[owner] {
		if !c.IsAhead(now) {
			newest = max(newest, c.At)
		}
	}
	return stamp.Stamp{At: stamp.Next(now, newest), By: nodeName}
}

// stampChanges gives the fields that an edit of an owner has changed a new stamp.
func (db *database) stampChanges(owner string, now int64, changed []stamp.Change) {
	if len(changed) == 0 {
		return
	}
	at := db.nextStamp(owner, now)
	for _, c := range changed {
		db.putClock(stamp.Clock{Owner: owner, Field: c.Field, Stamp: at, Value: c.Value})
	}
}

// putClock stores a clock in the place of the one that the field had.
func (db *database) putClock(c stamp.Clock) {
	if db.clocks[c.Owner] == nil {
		db.clocks[c.Owner] = map[string]stamp.Clock{}
	}
	db.clocks[c.Owner][c.Field] = c
	db.changes.noteWritten(c.Owner)
}

// checkNoStone is conflict if a conversation was purged.
func (db *database) checkNoStone(op string, id scrollback.ConversationID) error {
	if _, ok := db.stones[id]; ok {
		return scrollback.Errorf(scrollback.Conflict, op, "conversation %s was purged", id)
	}
	return nil
}

// editConversation lets an editor change a conversation's own fields, and gives what it has changed a stamp.
func (db *database) editConversation(th *storedConversation, now int64,
	edit func(*scrollback.Conversation) error) error {
	edited := deepCopy(th.Conversation)
	if err := edit(&edited); err != nil {
		return err
	}
	keepLog(&edited, th.Conversation)
	changed := takeSnapshot(th.Conversation).Changes(takeSnapshot(edited))
	for value, seqs := range map[string][]int64{stamp.Yes: without(edited.PinnedSeqs, th.PinnedSeqs),
		stamp.No: without(th.PinnedSeqs, edited.PinnedSeqs)} {
		for _, seq := range seqs {
			if id := db.messageAt(th.Branch, seq); id != "" {
				changed = append(changed, stamp.Change{Field: stamp.PinField(id), Value: value})
			}
		}
	}
	th.Conversation = deepCopy(edited)
	db.stampChanges(stamp.OfConversation(th.ID), now, changed)
	return nil
}

// editOwn is editConversation within another write. What is set before anything is said has no stamp.
func (db *database) editOwn(th *storedConversation, now int64, edit func(*scrollback.Conversation)) {
	owner := stamp.OfConversation(th.ID)
	before := maps.Clone(db.clocks[owner])
	_ = db.editConversation(th, now, func(c *scrollback.Conversation) error {
		deleted := c.DeletedAt
		edit(c)
		c.DeletedAt = deleted
		return nil
	})
	if th.Messages == 0 {
		db.clocks[owner] = before
	}
}

func takeSnapshot(c scrollback.Conversation) stamp.Snapshot {
	settings, err := json.Marshal(c.Settings)
	if err != nil {
		panic(err) // it came as JSON
	}
	return stamp.TakeSnapshot(&c, string(settings))
}

// without returns those of some seqs that are not among others.
func without(seqs, others []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(seqs), func(seq int64) bool { return slices.Contains(others, seq) })
}

// messageAt returns the id of a message on the path of a branch; empty if there is none.
func (db *database) messageAt(branch scrollback.BranchID, seq int64) scrollback.MessageID {
	for _, m := range db.listPath(branch) {
		if m.Seq == seq {
			return m.ID
		}
	}
	return ""
}

// listPath returns the messages on the path of a branch.
func (db *database) listPath(branch scrollback.BranchID) (out []scrollback.Message) {
	to := int64(math.MaxInt64)
	for b := db.branches[branch]; b != nil; b = db.branches[b.Parent] {
		for _, r := range b.rows {
			if r.Seq <= to {
				out = append(out, r.Message)
			}
		}
		to = b.AtSeq
	}
	return out
}

// movePins makes a branch the current one: of what is pinned, what is on its path is shown, and the rest remembered.
func (db *database) movePins(th *storedConversation, to scrollback.BranchID) {
	if th.Branch == to {
		return
	}
	owner := stamp.OfConversation(th.ID)
	for _, seq := range th.PinnedSeqs {
		field := stamp.PinField(db.messageAt(th.Branch, seq))
		if _, ok := db.clocks[owner][field]; !ok && field != stamp.PinFields {
			db.putClock(stamp.Clock{Owner: owner, Field: field, Stamp: stamp.Stamp{At: th.CreatedAt}, Value: stamp.Yes})
		}
	}
	th.Branch = to
	db.showPins(th)
}

// showPins makes the pins of a conversation those on its path, of more than there may be the newest.
func (db *database) showPins(th *storedConversation) {
	owner := stamp.OfConversation(th.ID)
	th.PinnedSeqs = []int64{}
	isPin := func(field string) bool { return strings.HasPrefix(field, stamp.PinFields) }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(db.clocks[owner])), isPin) {
		return // and paths are long
	}
	pins := slices.DeleteFunc(db.listPath(th.Branch), func(m scrollback.Message) bool {
		return db.clocks[owner][stamp.PinField(m.ID)].Value != stamp.Yes
	})
	slices.SortFunc(pins, func(a, b scrollback.Message) int {
		return cmp.Or(cmp.Compare(db.clocks[owner][stamp.PinField(b.ID)].At, db.clocks[owner][stamp.PinField(a.ID)].At),
			cmp.Compare(b.Seq, a.Seq))
	})
	for _, m := range pins[:min(len(pins), scrollback.PinsMax)] {
		th.PinnedSeqs = append(th.PinnedSeqs, m.Seq)
	}
	slices.Sort(th.PinnedSeqs)
}

// stampProject gives what has changed of a project a stamp; one that is not stored has version 0.
func (db *database) stampProject(was, is scrollback.Project, now int64) {
	owner := stamp.OfProject(is.Name)
	changed, err := stamp.ProjectChanges(was, is)
	if err != nil {
		panic(err) // it came as JSON
	}
	if _, known := db.clocks[owner][stamp.FieldDeleted]; was.Version == 0 && is.Version != 0 && !known {
		return
	}
	db.stampChanges(owner, now, stamp.AddDeleted(changed, was, is))
}
