package oracle

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// mentionRow lets a conversation resolve an artifact.
type mentionRow struct {
	artifact scrollback.ArtifactID
	name     string
	at       int64
}

// PutArtifact implements [driver.Log].
func (db log) PutArtifact(ctx context.Context, a scrollback.Artifact, mentionedBy scrollback.ConversationID) error {
	const op = "oracle.PutArtifact"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	if mentionedBy == "" {
		db.storeArtifact(a)
		return nil
	}
	th, err := db.findConversation(op, mentionedBy)
	if err != nil {
		return err
	}
	db.mentionArtifact(th, a)
	return nil
}

// ListRefs implements [driver.Log].
func (db log) ListRefs(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	end, err := db.beginRead(ctx, "oracle.ListRefs")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.RefEntry
	for id, th := range db.threads {
		anywhere := q.Ref != "" && len(q.Conversations) == 0
		if !anywhere && !slices.Contains(q.Conversations, id) || q.Ref != "" && !isAmong(q.Projects, th.Project) {
			continue
		}
		for _, e := range db.listAllRefs(th) {
			if (q.Kind == "" || q.Kind == e.Kind) && (q.Ref == "" || q.Ref == e.Ref) &&
				isAfter(q.Before, e.CreatedAt, string(e.Ref)) {
				out = append(out, e)
			}
		}
	}
	slices.SortFunc(out, func(a, b scrollback.RefEntry) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.Ref, a.Ref),
			cmp.Compare(b.Conversation, a.Conversation))
	})
	return out[:min(len(out), q.Limit)], nil
}

// listAllRefs returns everything that a conversation mentions, in no order.
func (db log) listAllRefs(th *storedConversation) []scrollback.RefEntry {
	var out []scrollback.RefEntry
	for _, id := range th.segments {
		s := db.segments[id]
		hint := scrollback.Hint(s.Summary)
		out = append(out, scrollback.RefEntry{
			Ref: scrollback.HistoryRef(id), Kind: scrollback.RefHistory,
			Conversation: s.Conversation, Branch: s.Branch, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq,
			From: s.From, To: s.To, Bytes: s.Bytes, Messages: s.Messages,
			MediaType: "text/markdown", Hint: hint, SHA256: s.SHA256, CreatedAt: s.CreatedAt,
		})
	}
	for _, m := range th.mentions {
		a := db.artifacts[m.artifact]
		out = append(out, scrollback.RefEntry{
			Ref: scrollback.ArtifactRef(a.ID), Kind: scrollback.RefArtifact, Conversation: th.ID,
			Bytes: a.Size, MediaType: a.MediaType, Hint: m.name, SHA256: string(a.ID), CreatedAt: m.at,
		})
	}
	return out
}

// storeArtifact records an artifact that is not yet known.
func (db *database) storeArtifact(a scrollback.Artifact) {
	if _, known := db.artifacts[a.ID]; !known {
		db.artifacts[a.ID] = a
	}
}

// mentionArtifact records an artifact and that th mentions it; the first mention stays.
func (db *database) mentionArtifact(th *storedConversation, a scrollback.Artifact) {
	db.storeArtifact(a)
	db.changes.noteWritten(string(th.ID))
	if !slices.ContainsFunc(th.mentions, func(m mentionRow) bool { return m.artifact == a.ID }) {
		th.mentions = append(th.mentions, mentionRow{a.ID, a.Name, a.CreatedAt})
	}
}

// keepSource keeps a source whose content a message has, unless a newer version is known.
func (th *storedConversation) keepSource(s driver.SourceVersion, m *scrollback.Message) {
	if th.sources == nil {
		th.sources = map[string]driver.SourceVersion{}
	}
	if s.Version >= th.sources[s.Name].Version {
		s.Branch = m.Branch
		s.Seq = m.Seq
		th.sources[s.Name] = s
	}
}

// FindSources implements [driver.Log].
func (db log) FindSources(ctx context.Context, in []scrollback.ConversationID,
	names []string) ([]driver.SourceVersion, error) {
	end, err := db.beginRead(ctx, "oracle.FindSources")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []driver.SourceVersion
	for _, name := range names {
		for _, id := range in {
			th := db.threads[id]
			if th == nil {
				continue
			}
			if s, ok := th.sources[name]; ok {
				out = append(out, s)
				break
			}
		}
	}
	return out, nil
}

// receiptRow is a compaction and what it takes to undo it.
type receiptRow struct {
	scrollback.Receipt
	branch scrollback.BranchID
	before scrollback.View
	folded bool // it brought segments
	undone bool

	undoneAt int64
	after    *scrollback.View // that the undoing replaced
}

// CommitFold implements [driver.Views].
func (db views) CommitFold(ctx context.Context, c driver.FoldCommit) error {
	const op = "oracle.CommitFold"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return err
	}
	th, err := db.findConversation(op, c.Conversation)
	if err != nil {
		return err
	}
	b, err := db.findBranch(op, c.Branch)
	if err != nil {
		return err
	}
	if b.Conversation != th.ID {
		return scrollback.Errorf(scrollback.NotFound, op, "branch %s is not of conversation %s", b.ID, th.ID)
	}
	if b.ViewVersion != c.IfViewVersion {
		return scrollback.Errorf(scrollback.Conflict, op, "the view of branch %s has changed", b.ID)
	}
	for _, s := range c.Segments {
		if known, there := db.segments[s.ID]; there && !driver.IsSameSegment(known, s) {
			return scrollback.Errorf(scrollback.Conflict, op, "another segment %s is here", s.ID)
		}
	}
	th.receipts = append(th.receipts, &receiptRow{
		Receipt: deepCopy(c.Receipt), branch: b.ID, before: b.View, folded: len(c.Segments) > 0,
	})
	for _, s := range c.Segments {
		if _, there := db.segments[s.ID]; there {
			continue
		}
		db.segments[s.ID] = deepCopy(s)
		if of := db.threads[s.Conversation]; of != nil { // a fork folds what it inherits too
			of.segments = append(of.segments, s.ID)
		}
	}
	db.addKept(c.Kept...)
	if len(c.Segments) > 0 {
		b.View = deepCopy(c.View)
	} else {
		b.View = b.View.WithFailuresOf(c.View)
	}
	b.ViewVersion++
	db.bookUsage(th.Project, c.Usage, nil)
	th.news.NoteFold(c.Receipt)
	db.changes.touchConversation(th, c.Now)
	return nil
}

// UndoFold implements [driver.Views].
func (db views) UndoFold(ctx context.Context, u driver.FoldUndo) (scrollback.Receipt, error) {
	const op = "oracle.UndoFold"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Receipt{}, err
	}
	b, err := db.findBranch(op, u.Branch)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	th, err := db.findConversation(op, b.Conversation)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	show := func(v scrollback.View) {
		b.View = deepCopy(v.WithLeftOut(b.View.Without))
		b.ViewVersion++
		th.news.Kinds |= driver.KindFolded | driver.KindUndone
		db.changes.touchConversation(th, u.Now)
	}
	for _, r := range slices.Backward(th.receipts) {
		if r.branch == b.ID && r.folded && !r.undone {
			r.undone = true
			r.undoneAt = u.Now
			r.after = new(deepCopy(b.View))
			th.news.NoteFold(r.Receipt)
			show(r.before)
			return deepCopy(r.Receipt), nil
		}
	}
	switch {
	case u.View == nil:
		return scrollback.Receipt{}, scrollback.Errorf(scrollback.NotFound, op, "branch %s has no compaction to undo", b.ID)
	case u.IfViewVersion != b.ViewVersion:
		return scrollback.Receipt{}, scrollback.Errorf(scrollback.Conflict, op, "the view of branch %s has changed", b.ID)
	}
	show(*u.View)
	return scrollback.Receipt{}, nil
}

// RedoFold implements [driver.Views].
func (db views) RedoFold(ctx context.Context, q driver.FoldRedo) (scrollback.Receipt, error) {
	const op = "oracle.RedoFold"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Receipt{}, err
	}
	b, err := db.findBranch(op, q.Branch)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	th, err := db.findConversation(op, b.Conversation)
	if err != nil {
		return scrollback.Receipt{}, err
	}
	if q.IfViewVersion != b.ViewVersion {
		return scrollback.Receipt{}, scrollback.Errorf(scrollback.Conflict, op, "the view of branch %s has changed", b.ID)
	}
	if q.Number < 1 || q.Number > int64(len(th.receipts)) {
		return scrollback.Receipt{}, scrollback.Errorf(scrollback.Conflict, op, "there is no compaction %d", q.Number)
	}
	r := th.receipts[q.Number-1]
	if r.branch != b.ID || !r.undone || r.after == nil {
		return scrollback.Receipt{}, scrollback.Errorf(scrollback.Conflict, op, "the compaction is not undone any more")
	}
	b.View = r.after.WithLeftOut(b.View.Without)
	r.undone = false
	r.after = nil
	b.ViewVersion++
	th.news.NoteFold(r.Receipt)
	db.changes.touchConversation(th, q.Now)
	return deepCopy(r.Receipt), nil
}

// ListFolds implements [driver.Views].
func (db views) ListFolds(ctx context.Context, q driver.FoldQuery) ([]driver.Fold, error) {
	end, err := db.beginRead(ctx, "oracle.ListFolds")
	defer end()
	b := db.branches[q.Branch]
	if err != nil || b == nil {
		return nil, err
	}
	th := db.threads[b.Conversation]
	var found []int
	for i := len(th.receipts) - 1; i >= 0; i-- {
		if r := th.receipts[i]; r.branch == b.ID && r.folded && r.undone == q.Undone && (!q.Undone || r.after != nil) {
			found = append(found, i)
		}
	}
	var out []driver.Fold
	for _, i := range found[:min(len(found), q.Limit)] {
		f := driver.Fold{Number: int64(i + 1), Receipt: deepCopy(th.receipts[i].Receipt),
			Before: deepCopy(th.receipts[i].before)}
		if th.receipts[i].after != nil {
			f.After = deepCopy(*th.receipts[i].after)
			f.UndoneAt = th.receipts[i].undoneAt
		}
		out = append(out, f)
	}
	return out, nil
}

// ReadSegments implements [driver.Views].
func (db views) ReadSegments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	const op = "oracle.ReadSegments"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.Segment
	for _, id := range ids {
		s, ok := db.segments[id]
		if !ok {
			return nil, scrollback.Errorf(scrollback.NotFound, op, "no segment %s", id)
		}
		out = append(out, deepCopy(s))
	}
	return out, nil
}

// ListReceipts implements [driver.Views].
func (db views) ListReceipts(ctx context.Context, id scrollback.ConversationID,
	limit int) ([]scrollback.Receipt, error) {
	const op = "oracle.ListReceipts"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return nil, err
	}
	th := db.threads[id]
	if th == nil {
		return nil, nil
	}
	var out []scrollback.Receipt
	for i := len(th.receipts) - 1; i >= 0 && len(out) < limit; i-- {
		r := deepCopy(th.receipts[i].Receipt)
		r.Undone = th.receipts[i].undone
		out = append(out, r)
	}
	return out, nil
}
