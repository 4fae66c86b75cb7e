package sqlrow

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// troubledTurns follows the path of branch $1 as [Messages] does, and repeats the
// condition of the index word for word: without that the index is not used. A path leaves
// an ancestor at leaves, and the branch itself never.
const troubledTurns = `WITH RECURSIVE path (branch, parent, at_seq, leaves) AS (
		SELECT id, parent_branch, at_seq, head_seq + 1 FROM branches WHERE id = $1
		UNION ALL
		SELECT b.id, b.parent_branch, b.at_seq, p.at_seq FROM path p JOIN branches b ON b.id = p.parent WHERE p.at_seq >= $2 AND b.at_seq < p.at_seq
	) SELECT ` + TurnColumns + ` FROM (SELECT branch AS of, leaves, CASE WHEN leaves < $3 THEN leaves ELSE $3 END AS until FROM path) p
	JOIN turns ON branch = p.of AND last_seq BETWEEN $2 AND p.until
	WHERE (state IN ('failed', 'over_budget', 'interrupted') OR finish_reason IN ('max_steps', 'length')) AND state <> 'open'
		AND (last_seq < p.leaves OR last_seq > seq)
	ORDER BY last_seq DESC, id DESC LIMIT $4`

// Troubled are the turns on a path that did not end well; see [driver.TurnQuery].
func Troubled(ctx context.Context, s *Session, q driver.TurnQuery) ([]scrollback.Turn, error) {
	var out []scrollback.Turn
	err := s.Rows(ctx, func(r Scanner) error {
		var t scrollback.Turn
		err := ScanTurn(&t)(r)
		out = append(out, t)
		return err
	}, troubledTurns, q.Branch, q.From, q.To, q.Limit)
	slices.Reverse(out)
	return out, err
}
