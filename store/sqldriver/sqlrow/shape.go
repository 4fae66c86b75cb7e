package sqlrow

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Path begins a statement that reads the path of branch $1 from seq $2 to $3. A branch owns
// what is after at_seq, and its parent what is before that; a path only goes down, so that
// even a damaged one ends.
const Path = `WITH RECURSIVE path (branch, parent, at_seq, first, last) AS (
		SELECT id, parent_branch, at_seq, CASE WHEN at_seq < $2 THEN $2 ELSE at_seq + 1 END, CASE WHEN head_seq < $3 THEN head_seq ELSE $3 END
		FROM branches WHERE id = $1
		UNION ALL
		SELECT b.id, b.parent_branch, b.at_seq, CASE WHEN b.at_seq < $2 THEN $2 ELSE b.at_seq + 1 END, CASE WHEN p.at_seq < $3 THEN p.at_seq ELSE $3 END
		FROM path p JOIN branches b ON b.id = p.parent WHERE p.at_seq >= $2 AND b.at_seq < p.at_seq
	)`

// TimeOfFirst is when the message was stored that has the least seq of a bin. Beside min,
// SQLite takes a plain column from the row that has the minimum.
const TimeOfFirst = `m.created_at, sum(m.own_bytes)`

// Shape reads the path of a branch as bins.
func Shape(ctx context.Context, read *Session, q driver.ShapeQuery) ([]scrollback.ShapeBin, error) {
	var out []scrollback.ShapeBin
	err := read.Rows(ctx, func(r Scanner) error {
		var b scrollback.ShapeBin
		var n int64
		err := r.Scan(&b.FirstSeq, &n, &b.At, &b.Bytes, &b.User, &b.Assistant)
		b.LastSeq = b.FirstSeq + n - 1
		out = append(out, b)
		return err
	}, Path+` SELECT min(m.seq), count(*), `+TimeOfFirst+`, count(*) FILTER (WHERE m.role = 'user'), count(*) FILTER (WHERE m.role = 'assistant')
		FROM (SELECT branch AS of, first, last FROM path) p `+MessagesOfPath+`
		GROUP BY floor(CAST((m.seq - 1) * $4 AS DOUBLE PRECISION) / CAST($3 AS DOUBLE PRECISION)) ORDER BY 1`, q.Branch, 1, q.Head, q.Bins)
	return out, err
}
