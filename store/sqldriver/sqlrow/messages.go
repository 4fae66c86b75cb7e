package sqlrow

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// These go on where [Path] ends: the messages of the path, and those of a list of seqs. The
// order of the joins is fixed: left to choose, SQLite looks at every message for the list.
const (
	// Wanted are the seqs in the JSON list $4.
	Wanted = `(SELECT value AS at FROM json_each($4))`

	// PartsAsBytes are the parts of a message, not to be read as text.
	PartsAsBytes = `CAST(m.parts AS BLOB)`

	// MessagesOfPath and MessagesOfList are joined to the branches of a path, and those of a list.
	MessagesOfPath = `JOIN messages m ON m.branch = p.of AND m.seq BETWEEN p.first AND p.last`
	MessagesOfList = `CROSS JOIN messages m WHERE m.branch = p.of AND m.seq = w.at AND m.seq BETWEEN p.first AND p.last`

	ofPath = ` FROM (SELECT branch AS of, first, last FROM path) p ` + MessagesOfPath
	ofList = ` FROM (SELECT branch AS of, first, last FROM path) p CROSS JOIN ` + Wanted + ` w ` + MessagesOfList
)

// Messages reads a run of the path of a branch. Where only some are wanted, it looks at
// nothing but the parts first: that is a tenth of reading a message.
func Messages(ctx context.Context, read *Session, q driver.MessageQuery) ([]scrollback.Message, error) {
	query := Path + ` SELECT ` + MessageColumns + ofPath
	args := []any{q.Branch, q.From, q.To}
	if q.Wanted != nil {
		seqs, err := sift(ctx, read, q)
		if err != nil || len(seqs) == 0 {
			return nil, err
		}
		list, err := JSON(seqs)
		if err != nil {
			return nil, err
		}
		query = Path + ` SELECT ` + MessageColumns + ofList
		args = append(args, list)
	}
	var out []scrollback.Message
	err := read.Rows(ctx, func(r Scanner) error {
		var m scrollback.Message
		err := ScanMessage(&m)(r)
		out = append(out, m)
		return err
	}, query, args...)
	// branch by branch until here
	slices.SortFunc(out, func(a, b scrollback.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sift lists the messages of a run that are wanted.
func sift(ctx context.Context, read *Session, q driver.MessageQuery) (seqs []int64, err error) {
	var seq int64
	var parts []byte
	err = read.Rows(ctx, func(r Scanner) error {
		if err := r.Scan(&seq, &parts); err != nil {
			return err
		}
		if q.Wanted(parts) {
			seqs = append(seqs, seq)
		}
		return nil
	}, Path+` SELECT m.seq, `+PartsAsBytes+``+ofPath, q.Branch, q.From, q.To)
	return seqs, err
}
