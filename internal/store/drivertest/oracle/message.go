package oracle

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// branchRow is a branch and its own messages, by seq.
type branchRow struct {
	scrollback.Branch
	number int64
	rows   []*messageRow
}

// messageRow is a stored message, and its number in the order of rows.
type messageRow struct {
	scrollback.Message
	n int64
}

// nextNumber counts numbers; none comes twice.
func nextNumber(n *int64) int64 {
	*n++
	return *n
}

// newestNumber returns the number of the newest row, or 0.
func newestNumber(db *database) int64 {
	if len(db.rows) == 0 {
		return 0
	}
	return db.rows[len(db.rows)-1].n
}

// AppendEntries implements [driver.Log].
func (db log) AppendEntries(ctx context.Context, a driver.Append) (driver.AppendResult, error) {
	const op = "oracle.AppendEntries"
	end, err := db.beginWrite(ctx, op)
	defer end()
	if err != nil {
		return driver.AppendResult{}, err
	}
	th, err := db.findLive(op, a.Conversation)
	if err != nil {
		return driver.AppendResult{}, err
	}
	if a.Beside != nil {
		return db.appendBeside(op, th, a)
	}
	last := db.turns[th.turn]
	if last != nil && driver.HoldsConversation(*last, a.Now) {
		return driver.AppendResult{}, scrollback.Errorf(scrollback.Conflict, op, "turn %s holds the conversation", last.ID)
	}
	if a.IfHead >= 0 && a.IfHead != th.Messages {
		return driver.AppendResult{}, scrollback.Errorf(scrollback.Conflict, op, "the head is %d, not %d",
			th.Messages, a.IfHead)
	}
	if a.IfBranch != "" && a.IfBranch != th.Branch {
		return driver.AppendResult{}, scrollback.Errorf(scrollback.Conflict, op, "the branch is %s, not %s", th.Branch,
			a.IfBranch)
	}
	var salvaged []driver.Entry
	kept := deepCopy(last)
	if last != nil && last.State == scrollback.TurnOpen {
		salvaged = interruptTurn(kept, a.Now, a.Salvage)
	}
	if err := db.checkFresh(op, append(salvaged[:len(salvaged):len(salvaged)], a.Entries...)); err != nil {
		return driver.AppendResult{}, err
	}
	if err := db.writeRows(op, a.Thread); err != nil {
		return driver.AppendResult{}, err
	}
	db.concludeLast(th, kept, salvaged, a.Now)
	if a.Elsewhere {
		db.noteElsewhere(th, a.Entries)
	} else {
		db.leaveElsewhere(th, a.Entries, a.Now)
	}
	ms := db.appendEntries(th, a.Entries, a.Now)
	db.changes.touchConversation(th, a.Now)
	return driver.AppendResult{Head: db.readHead(th), Messages: ms}, nil
}

// appendBeside appends entries to a branch that is not the current one.
func (db log) appendBeside(op string, th *storedConversation, a driver.Append) (driver.AppendResult, error) {
	b := db.branches[a.Beside.ID]
	switch {
	case b == nil:
		to := deepCopy(*a.Beside)
		if err := db.completeBranch(op, th, &to); err != nil {
			return driver.AppendResult{}, err
		}
		b = &branchRow{Branch: to}
	case b.Conversation != th.ID || b.ID == th.Branch:
		return driver.AppendResult{}, scrollback.Errorf(scrollback.Conflict, op, "%s is not beside the path", b.ID)
	case b.HeadSeq != a.Beside.HeadSeq:
		return driver.AppendResult{}, scrollback.Errorf(scrollback.Conflict, op, "the head is %d, not %d", b.HeadSeq,
			a.Beside.HeadSeq)
	}
	if err := db.checkFresh(op, a.Entries); err != nil {
		return driver.AppendResult{}, err
	}
	if err := db.writeRows(op, a.Thread); err != nil {
		return driver.AppendResult{}, err
	}
	if db.branches[b.ID] == nil {
		b.number = nextNumber(&db.branchNumbers)
		db.branches[b.ID] = b
	}
	ms := db.appendToBranch(th, b, a.Entries, a.Now)
	b.UpdatedAt = a.Now
	return driver.AppendResult{Head: driver.Head{Conversation: deepCopy(th.Conversation), Branch: deepCopy(b.Branch)},
		Messages: ms}, nil
}

// ListBranches implements [driver.Log].
func (db log) ListBranches(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Branch, error) {
	end, err := db.beginRead(ctx, "oracle.ListBranches")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.Branch
	for _, b := range db.listOwnBranches(id) {
		out = append(out, deepCopy(b.Branch))
	}
	return out, nil
}

// listOwnBranches returns the branches of a conversation, by id.
func (db *database) listOwnBranches(id scrollback.ConversationID) []*branchRow {
	var out []*branchRow
	for _, b := range db.branches {
		if b.Conversation == id {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b *branchRow) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// FindBranch implements [driver.Log].
func (db log) FindBranch(ctx context.Context, id scrollback.BranchID) (scrollback.Branch, error) {
	const op = "oracle.FindBranch"
	end, err := db.beginRead(ctx, op)
	defer end()
	if err != nil {
		return scrollback.Branch{}, err
	}
	b, err := db.findBranch(op, id)
	if err != nil {
		return scrollback.Branch{}, err
	}
	return deepCopy(b.Branch), nil
}

// ReadMessages implements [driver.Log].
func (db log) ReadMessages(ctx context.Context, q driver.MessageQuery) ([]scrollback.Message, error) {
	end, err := db.beginRead(ctx, "oracle.ReadMessages")
	defer end()
	if err != nil {
		return nil, err
	}
	var out []scrollback.Message
	for b, to := db.branches[q.Branch], q.To; b != nil && q.From <= to; b, to = db.branches[b.Parent], min(to, b.AtSeq) {
		for _, r := range slices.Backward(b.rows) {
			if q.From > r.Seq || r.Seq > to {
				continue
			}
			if q.Wanted != nil {
				parts, err := r.Parts.MarshalJSON()
				if err != nil {
					return nil, scrollback.Wrap(scrollback.Internal, "oracle.ReadMessages", err)
				}
				if !q.Wanted(parts) {
					continue
				}
			}
			out = append(out, r.Message)
		}
	}
	slices.Reverse(out)
	return cloneAll(out), nil
}

// ReadShape implements [driver.Log].
func (db log) ReadShape(ctx context.Context, q driver.ShapeQuery) ([]scrollback.ShapeBin, error) {
	path, err := db.ReadMessages(ctx, driver.MessageQuery{Branch: q.Branch, From: 1, To: q.Head})
	var out []scrollback.ShapeBin
	was := int64(-1)
	for _, m := range path {
		if bin := (m.Seq - 1) * q.Bins / q.Head; bin != was {
			out = append(out, scrollback.ShapeBin{FirstSeq: m.Seq, At: m.CreatedAt})
			was = bin
		}
		b := &out[len(out)-1]
		b.LastSeq = m.Seq
		b.Bytes += m.Weight.Bytes
		switch m.Role {
		case scrollback.RoleUser:
			b.User++
		case scrollback.RoleAssistant:
			b.Assistant++
		}
	}
	return out, err
}

// appendEntries numbers entries, adds them to the current branch and returns them.
func (db *database) appendEntries(th *storedConversation, entries []driver.Entry, now int64) []scrollback.Message {
	out := db.appendToBranch(th, db.branches[th.Branch], entries, now)
	th.Messages = db.branches[th.Branch].HeadSeq
	return out
}

// appendToBranch numbers entries, adds them to a branch and returns them.
func (db *database) appendToBranch(th *storedConversation, b *branchRow, entries []driver.Entry,
	now int64) []scrollback.Message {
	db.changes.noteWritten(string(th.ID))
	if b.ID == th.Branch {
		th.news.NoteEntries(len(entries), b.HeadSeq+int64(len(entries)))
	}
	var out []scrollback.Message
	for _, e := range entries {
		m := deepCopy(e.Message)
		m.ConversationID = th.ID
		m.Branch = b.ID
		m.Seq = b.HeadSeq + 1
		m.Sum = b.Sum.Add(m.Weight)
		r := &messageRow{Message: m, n: nextNumber(&db.rowNumbers)}
		b.rows = append(b.rows, r)
		db.rows = append(db.rows, r)
		b.HeadSeq = m.Seq
		b.Sum = m.Sum
		b.UpdatedAt = now
		for _, a := range e.Mentions {
			db.mentionArtifact(th, a)
		}
		for _, s := range e.Sources {
			th.keepSource(s, &m)
		}
		for _, k := range e.Kept {
			k.Message = m.ID
			k.Conversation = m.ConversationID
			k.Branch = m.Branch
			k.Seq = m.Seq
			db.addKept(k)
		}
		out = append(out, deepCopy(m))
	}
	return out
}

// checkFresh returns an error that names an id of the entries which is taken.
func (db *database) checkFresh(op string, entries []driver.Entry) error {
	taken := func(id scrollback.MessageID) error {
		return scrollback.Errorf(scrollback.Conflict, op, "there is already a message %s", id)
	}
	seen := map[scrollback.MessageID]bool{}
	for _, e := range entries {
		if seen[e.ID] {
			return taken(e.ID)
		}
		seen[e.ID] = true
	}
	for _, r := range db.rows {
		if seen[r.ID] {
			return taken(r.ID)
		}
	}
	return nil
}

func (db *database) findBranch(op string, id scrollback.BranchID) (*branchRow, error) {
	b := db.branches[id]
	if b == nil {
		return nil, scrollback.Errorf(scrollback.NotFound, op, "no branch %s", id)
	}
	return b, nil
}
