package feed

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// yieldVisible yields what somebody may know of a batch, and where it ends.
func yieldVisible(batch []driver.Change, sees func(project string) bool,
	yield func(scrollback.Change, error) bool) bool {
	told := int64(0)
	for _, c := range batch {
		changes := VisibleChanges(c, sees)
		for i, one := range changes {
			one.N = c.N
			one.More = i < len(changes)-1
			if !yield(one, nil) {
				return false
			}
			told = c.N
		}
	}
	last := batch[len(batch)-1].N
	return told == last || yield(scrollback.Change{N: last}, nil)
}

// VisibleChanges returns what somebody who sees some projects is told of a change. Neither the project
// that it was made in nor the one where the conversation is by now may be another's; when a
// conversation leaves what they see, they are told that it is gone, and not where.
func VisibleChanges(c driver.Change, sees func(project string) bool) []scrollback.Change {
	gone := func(kind scrollback.ChangeType, project string) []scrollback.Change {
		return []scrollback.Change{{Type: kind, Conversation: c.Conversation, Project: project, Gone: true}}
	}
	switch {
	case c.From != "" && sees(c.From) && !sees(c.Project):
		return gone(scrollback.ChangeConversation, c.From)
	case !sees(c.Project):
		return nil
	case c.Kinds&driver.KindPurged != 0:
		return gone(scrollback.ChangeTrash, c.Project)
	case c.Now == nil || !sees(c.Now.In): // a later change says so
		return nil
	}
	about := func(kind scrollback.ChangeType) scrollback.Change {
		return scrollback.Change{Type: kind, Conversation: c.Conversation, Project: c.Now.In, ChangedHead: c.Now}
	}
	var out []scrollback.Change
	switch {
	case c.Kinds&driver.KindTrashed != 0:
		out = append(out, about(scrollback.ChangeTrash))
	case c.Kinds&driver.KindEdited != 0:
		out = append(out, about(scrollback.ChangeConversation))
	}
	if c.Kinds&driver.KindGrown != 0 {
		one := about(scrollback.ChangeMessage)
		one.TurnID = c.Turn
		one.FirstSeq = c.FirstSeq
		one.LastSeq = c.LastSeq
		out = append(out, one)
	}
	if c.Kinds&driver.KindTurned != 0 {
		one := about(scrollback.ChangeTurn)
		one.TurnID = c.Turn
		one.State = c.State
		out = append(out, one)
	}
	if c.Kinds&driver.KindFolded != 0 {
		one := about(scrollback.ChangeCompaction)
		one.FirstSeq = c.FirstSeq
		one.LastSeq = c.LastSeq
		one.Ref = c.Ref
		one.Undone = c.Kinds&driver.KindUndone != 0
		out = append(out, one)
	}
	return out
}
