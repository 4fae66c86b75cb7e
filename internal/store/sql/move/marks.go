package move

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// The kinds of marks: of a conversation by its id, of a table that is compared as a whole by
// its name.
const (
	markConversation = "c"
	markTable        = "t"
)

const (
	idsPerPage   = 500 // ids that are read, or marked, at once
	marksPerPage = 200 // conversations between two times that marks are removed
	maxWorkers   = 4   // conversations that are copied, or compared, at once

	// A pass that is this short leaves little for the last one. One that goes on for ever, because
	// the source is changed as fast as it is copied, is given up after some.
	shortPass  = 2 * time.Second
	mostPasses = 20
)

// walkConversations calls fn with the ids of all conversations that a side has something of, ascending within
// pages: first those that are there, then those that other tables still know.
func walkConversations(ctx context.Context, s *Side, fn func(ids []string) error) error {
	pages := func(query string) error {
		for after := ""; ; {
			var ids []string
			err := s.Readers.Query(ctx, func(r sqlstore.Row) error {
				ids = append(ids, "")
				return r.Scan(&ids[len(ids)-1])
			}, query, after, idsPerPage)
			if err != nil {
				return s.wrapError(err)
			}
			if len(ids) > 0 {
				if err := fn(ids); err != nil {
					return err
				}
			}
			if len(ids) < idsPerPage {
				return nil
			}
			after = ids[len(ids)-1]
		}
	}
	if err := pages(`SELECT id FROM conversations WHERE id > $1 ORDER BY id LIMIT $2`); err != nil {
		return err
	}
	for _, t := range conversationTables {
		if t.of != ofConversation {
			continue // its rows are found through another table
		}
		name := t.name
		if name == usageRecords {
			name = s.Usage
		}
		err := pages(`SELECT DISTINCT conversation_id FROM ` + name + ` WHERE conversation_id > $1
			AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = ` + name + `.conversation_id) ORDER BY conversation_id LIMIT $2`)
		if err != nil {
			return err
		}
	}
	// Accounts of the program's own calls belong to no conversation.
	return fn([]string{""})
}

// markAll marks everything, once.
func (m *mover) markAll(ctx context.Context) error {
	if done, err := readNote(ctx, m.from, stateSeeded); err != nil || done != "" {
		return err
	}
	if m.from.Fill != nil {
		if err := retryUnavailable(ctx, func() error { return m.from.wrapError(m.from.Fill(ctx)) }); err != nil {
			return err
		}
	}
	n := int64(0)
	err := walkConversations(ctx, m.from, func(ids []string) error {
		n += int64(len(ids))
		m.reporter.done.Store(n)
		return m.addMarks(ctx, markConversation, ids)
	})
	if err != nil {
		return err
	}
	var names []string
	for _, t := range wholeTables {
		names = append(names, t.name)
	}
	if err := m.addMarks(ctx, markTable, names); err != nil {
		return err
	}
	return m.from.writeRetrying(ctx, func(ctx context.Context,
		tx sqlstore.Tx) error {
		return storeNote(ctx, tx, stateSeeded, "yes")
	})
}

// addMarks leaves marks that no change left.
func (m *mover) addMarks(ctx context.Context, kind string, keys []string) error {
	return m.from.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
		for len(keys) > 0 {
			some := keys[:1]
			if len(keys) >= rowsPerInsert {
				some = keys[:rowsPerInsert]
			}
			keys = keys[len(some):]
			args := []any{kind}
			var rows []string
			for i, key := range some {
				args = append(args, key)
				rows = append(rows, fmt.Sprintf("($1, $%d, 0)", i+2))
			}
			if err := tx.Queue(ctx, `INSERT INTO move_marks (kind, key, k) VALUES `+strings.Join(rows, ", ")+
				` ON CONFLICT DO NOTHING`, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// markedItem is something with marks, by their numbers.
type markedItem struct {
	kind, key string
	numbers   []int64
}

// listMarked reads what has marks of a kind, after a key; first is for the empty key too.
func (m *mover) listMarked(ctx context.Context, kind, after string, first bool) (out []markedItem, err error) {
	than := `>`
	if first {
		than = `>=`
	}
	err = m.from.Readers.Query(ctx, func(r sqlstore.Row) error {
		out = append(out, markedItem{kind: kind})
		return r.Scan(&out[len(out)-1].key)
	}, `SELECT DISTINCT key FROM move_marks WHERE kind = $1 AND key `+than+` $2 ORDER BY key LIMIT $3`, kind, after,
		marksPerPage)
	for i := range out {
		one := &out[i]
		if err == nil {
			err = m.from.Readers.Query(ctx, func(r sqlstore.Row) error {
				one.numbers = append(one.numbers, 0)
				return r.Scan(&one.numbers[len(one.numbers)-1])
			}, `SELECT k FROM move_marks WHERE kind = $1 AND key = $2`, kind, one.key)
		}
	}
	return out, m.from.wrapError(err)
}

// removeMarks removes marks that were read before what they stand for was copied.
func (m *mover) removeMarks(ctx context.Context, read []markedItem) error {
	for _, one := range read {
		for some := range slices.Chunk(one.numbers, idsPerPage) {
			err := m.from.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
				for _, k := range some {
					if err := tx.Queue(ctx, `DELETE FROM move_marks WHERE kind = $1 AND key = $2 AND k = $3`, one.kind, one.key,
						k); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// hasOtherMark reports whether something has a mark besides those that are known.
func (s *Side) hasOtherMark(ctx context.Context, one markedItem) (found bool, err error) {
	err = s.Readers.Query(ctx, func(r sqlstore.Row) error {
		var k int64
		err := r.Scan(&k)
		found = found || !slices.Contains(one.numbers, k)
		return err
	}, `SELECT k FROM move_marks WHERE kind = $1 AND key = $2`, one.kind, one.key)
	return found, s.wrapError(err)
}

// countMarked counts the conversations that have marks, for the progress that is reported.
func (m *mover) countMarked(ctx context.Context) error {
	var n int64
	err := m.from.Readers.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&n) },
		`SELECT count(*) FROM (SELECT DISTINCT key FROM move_marks WHERE kind = $1) AS marked`, markConversation)
	m.reporter.of.Store(n)
	return m.from.wrapError(err)
}

// copyMarked copies what has marks, each thing once, and returns how many there were.
func (m *mover) copyMarked(ctx context.Context) (n int, err error) {
	if err := m.countMarked(ctx); err != nil {
		return 0, err
	}
	tables, err := m.listMarked(ctx, markTable, "", true)
	if err != nil {
		return 0, err
	}
	n, err = m.copyEach(ctx, tables, m.copyTable)
	for after, first := "", true; err == nil; first = false {
		var some []markedItem
		if some, err = m.listMarked(ctx, markConversation, after, first); err != nil || len(some) == 0 {
			return n, err
		}
		var did int
		did, err = m.copyEach(ctx, some, m.copyConversation)
		n += did
		after = some[len(some)-1].key
	}
	return n, err
}

// copyEach copies what marks stand for, some at a time, and removes the marks.
func (m *mover) copyEach(ctx context.Context, read []markedItem,
	carry func(ctx context.Context, one markedItem) error) (n int, err error) {
	if len(read) == 0 {
		return 0, nil
	}
	err = runTogether(ctx, read, func(ctx context.Context, one markedItem) error {
		return retryUnavailable(ctx, func() error { return carry(ctx, one) })
	})
	if err == nil {
		err = m.removeMarks(ctx, read)
	}
	return len(read), err
}

// runTogether does something with each of some things, as many at a time as there are workers. After
// an error no more are begun.
func runTogether[T any](ctx context.Context, all []T, do func(ctx context.Context, one T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan T)
	var wg sync.WaitGroup
	for range min(maxWorkers, len(all)) {
		wg.Go(func() {
			for one := range next {
				if err := do(ctx, one); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for _, one := range all {
		select {
		case next <- one:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// copyUntilShort makes passes until one was short.
func (m *mover) copyUntilShort(ctx context.Context) error {
	for range mostPasses {
		m.reporter.enterStage(StageCopy)
		began := time.Now()
		n, err := m.copyMarked(ctx)
		if err != nil || n == 0 || time.Since(began) < shortPass {
			return err
		}
	}
	return nil
}

// copyUntilUnmarked makes passes until nothing has a mark any more.
func (m *mover) copyUntilUnmarked(ctx context.Context) error {
	for {
		m.reporter.done.Store(0)
		if n, err := m.copyMarked(ctx); err != nil || n == 0 {
			return err
		}
	}
}
