package sqldriver

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// InsertChange records a change, with the next number.
var InsertChange = `INSERT INTO changes (` + ChangeColumns + `) VALUES (` + sqlrow.Marks(9) + `)`

// ChangeColumns are those of changes, without the number.
const ChangeColumns = `conversation_id, project, moved_from, kinds, turn_id, state, first_seq, last_seq, ref`

// recordChange writes a change, unless it says nothing.
//
// A change is written in the transaction that it reports; numbers grow by one, and the newest change
// is never removed, so that no number comes twice.
func recordChange(ctx context.Context, tx *sqlrow.Session, c driver.Changed) error {
	if c.Kinds == 0 {
		return nil
	}
	return tx.Run(ctx, InsertChange,
		c.Conversation, c.Project, c.From, int64(c.Kinds), c.Turn, c.State, c.FirstSeq, c.LastSeq, c.Ref)
}

// pruneChanges removes all but the newest changes.
func pruneChanges(ctx context.Context, tx *sqlrow.Session, kept int) error {
	return tx.Run(ctx, `DELETE FROM changes WHERE n <= (SELECT max(n) FROM changes) - $1`, kept)
}

// listChanges reads changes and what has become of their conversations.
func listChanges(ctx context.Context, s *sqlrow.Session, after int64, limit int) ([]driver.Changed, error) {
	var out []driver.Changed
	err := s.Rows(ctx, func(r sqlrow.Scanner) error {
		var c driver.Changed
		var head scrollback.ChangedHead
		var agent scrollback.AgentRef
		var there bool
		err := r.Scan(&c.N, &c.Conversation, &c.Project, &c.From, &c.Kinds, &c.Turn, &c.State, &c.FirstSeq, &c.LastSeq,
			&c.Ref,
			&there, &head.In, &head.Title, &head.Version, &head.Branch, &head.Messages, &head.UpdatedAt, &head.DeletedAt,
			&agent.ID, &agent.TurnID, &agent.CallID)
		if agent.ID != "" {
			head.AgentOf = &agent
		}
		if there {
			c.Now = &head
		}
		out = append(out, c)
		return err
	}, `SELECT h.n, h.conversation_id, h.project, h.moved_from, h.kinds, h.turn_id, h.state, h.first_seq, h.last_seq, h.ref,
		c.id IS NOT NULL, coalesce(c.project, ''), coalesce(c.title, ''), coalesce(c.version, 0), coalesce(c.branch, ''), coalesce(c.messages, 0),
		coalesce(c.updated_at, 0), coalesce(c.deleted_at, 0),
		coalesce(c.agent_of, ''), coalesce(c.agent_turn, ''), coalesce(c.agent_call, '')
		FROM changes h LEFT JOIN conversations c ON c.id = h.conversation_id AND c.purged_at = 0 WHERE h.n > $1 ORDER BY h.n LIMIT $2`, after, limit)
	return out, err
}

// findChangeSpan reads the numbers of the oldest and the newest change.
func findChangeSpan(ctx context.Context, s *sqlrow.Session) (oldest, newest int64, err error) {
	err = s.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&oldest, &newest) },
		`SELECT coalesce((SELECT min(n) FROM changes), 0), coalesce((SELECT max(n) FROM changes), 0)`)
	return oldest, newest, err
}
