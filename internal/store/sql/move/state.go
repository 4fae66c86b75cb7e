package move

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// What a source knows about its migration.
const (
	stateID     = "id"     // the name of the migration
	stateRun    = "run"    // the newest run of it
	stateSeeded = "seeded" // everything has had a mark
	stateClosed = "closed" // the target, once the source is closed
	stateMoved  = "moved"  // the target, once everything is there
)

// SelectNote is what a source knows about its migration.
const SelectNote = `SELECT value FROM move_state WHERE name = $1`

func readNote(ctx context.Context, s *Side, name string) (value string, err error) {
	err = sqlstore.QueryRow(ctx, s.Readers, func(r sqlstore.Row) error { return r.Scan(&value) }, SelectNote, name)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, s.wrapError(err)
}

func storeNote(ctx context.Context, tx sqlstore.Tx, name, value string) error {
	return tx.Queue(ctx,
		`INSERT INTO move_state (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name,
		value)
}

// targetMark begins the row of a target's numbers by which it is known as one.
const targetMark = "move "

// claimSides judges both sides before anything is written that matters, and makes the target this
// migration's. It reports whether the source is closed already.
func (m *mover) claimSides(ctx context.Context) (closed bool, err error) {
	mine, err := readClaim(ctx, m.to)
	if err != nil {
		return false, err
	}
	if other, err := readClaim(ctx, m.from); err != nil || other != "" {
		if err == nil {
			err = scrollback.Errorf(scrollback.Refused, op,
				i18n.IsTargetOfMigration, m.from.Name)
		}
		return false, err
	}
	if mine == "" {
		if err := m.to.CheckEmpty(ctx); err != nil {
			return false, unlessMoved(ctx, m, err)
		}
	}
	if err := m.from.runStatements(ctx, m.from.Watch[:tablesFirst]); err != nil {
		return false, err
	}
	var known, moved, to string
	for name, value := range map[string]*string{stateID: &known, stateMoved: &moved, stateClosed: &to} {
		if *value, err = readNote(ctx, m.from, name); err != nil {
			return false, err
		}
	}
	switch {
	case moved != "":
		if mine == known && mine != "" {
			if err := m.to.releaseTarget(ctx); err != nil { // it was cut short at the very end
				return false, err
			}
		}
		return false, m.movedError(moved)
	case mine != "" && mine != known:
		return false, scrollback.Errorf(scrollback.Refused, op,
			i18n.TargetHoldsPartOfAnother, m.to.Name)
	case mine != "":
		m.id = mine
		return to != "", m.claimRun(ctx)
	case to != "":
		return false, scrollback.Errorf(scrollback.Refused, op,
			i18n.StoreClosedForMove, m.from.Name, to)
	}
	return false, m.nameMigration(ctx)
}

// movedError refuses a source of which everything is somewhere else.
func (m *mover) movedError(to string) error {
	return scrollback.Errorf(scrollback.Refused, op,
		i18n.StoreMovedAlready, m.from.Name, to)
}

// unlessMoved returns why a target that is not empty is refused: here is the end of a migration
// that was finished, or something else.
func unlessMoved(ctx context.Context, m *mover, notEmpty error) error {
	// A source that was never one has no table to read.
	if moved, err := readNote(ctx, m.from, stateMoved); err == nil && moved == m.to.Name {
		return m.movedError(moved)
	}
	return notEmpty
}

// tablesFirst is how many statements of Watch make the two tables.
const tablesFirst = 2

// nameMigration gives the migration a name, first on the source: without it the target is not this one's.
func (m *mover) nameMigration(ctx context.Context) error {
	m.id = newID()
	err := m.from.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
		for _, statement := range []string{`DELETE FROM move_state`, `DELETE FROM move_marks`} {
			if err := tx.Queue(ctx, statement); err != nil {
				return err
			}
		}
		return storeNote(ctx, tx, stateID, m.id)
	})
	if err == nil {
		err = m.to.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
			return tx.Queue(ctx, `INSERT INTO numbers (name, last) VALUES ($1, 0) ON CONFLICT DO NOTHING`, targetMark+m.id)
		})
	}
	if err != nil {
		return err
	}
	return m.claimRun(ctx)
}

// claimRun makes this the newest run of its migration. What an earlier one still does is refused: it
// knows nothing of what was copied since, or whether the source is to stay closed.
func (m *mover) claimRun(ctx context.Context) error {
	m.run = rand.Int64N(1 << 53) //nolint:gosec // it need only differ
	err := m.from.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
		return storeNote(ctx, tx, stateRun, strconv.FormatInt(m.run, 10))
	})
	if err != nil {
		return err
	}
	return m.to.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
		return tx.Queue(ctx, `UPDATE numbers SET last = $2 WHERE name = $1`, targetMark+m.id, m.run)
	})
}

// SelectRun is the newest run of a migration, on its target.
const SelectRun = `SELECT n.last FROM numbers n WHERE n.name = $1`

// checkNewest returns an error unless this is the newest run, by what query reads on the target.
func checkNewest(ctx context.Context, at sqlstore.Reader, m *mover, query string) error {
	var run int64
	err := sqlstore.QueryRow(ctx, at, func(r sqlstore.Row) error { return r.Scan(&run) }, query, targetMark+m.id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && run != m.run {
		return supersededError()
	}
	return err
}

// explainFailure returns why a run failed: because a later one has changed what it stood on, or as it says.
func explainFailure(ctx context.Context, m *mover, err error) error {
	if err == nil || m.id == "" || ctx.Err() != nil {
		return err
	}
	if later := checkNewest(ctx, m.to.Readers, m,
		`SELECT last FROM numbers WHERE name = $1`); scrollback.CodeOf(later) == scrollback.Conflict {
		return later
	}
	return err
}

func supersededError() error {
	return scrollback.Errorf(scrollback.Conflict, op, i18n.AnotherMigrationRunBegun)
}

// updateNote stores something about a source for the newest run, and fails for another one.
func updateNote(ctx context.Context, m *mover, change func(ctx context.Context, tx sqlstore.Tx) error) error {
	return m.from.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
		var run string
		err := sqlstore.QueryRow(ctx, tx, func(r sqlstore.Row) error { return r.Scan(&run) }, m.from.HoldNote, stateRun)
		if errors.Is(err, sql.ErrNoRows) || err == nil && run != strconv.FormatInt(m.run, 10) {
			return supersededError()
		}
		if err != nil {
			return err
		}
		return change(ctx, tx)
	})
}

// readClaim returns the migration that a side is the unfinished target of, or empty.
func readClaim(ctx context.Context, s *Side) (id string, err error) {
	err = s.Readers.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&id) },
		`SELECT name FROM numbers WHERE name LIKE 'move %'`)
	return strings.TrimPrefix(id, targetMark), s.wrapError(err)
}

// CheckEmpty returns refused unless a side holds nothing.
func (s *Side) CheckEmpty(ctx context.Context) error {
	for _, t := range NotedTables() {
		found := false
		err := s.Readers.Query(ctx, func(sqlstore.Row) error { found = true; return nil },
			`SELECT 1 FROM `+t.Table+` LIMIT 1`)
		if err != nil {
			return s.wrapError(err)
		}
		if found {
			return scrollback.Errorf(scrollback.Refused, op,
				i18n.TargetIsNotEmpty, s.Name, t.Table)
		}
	}
	return nil
}

// Closed begins the error of a change to a closed source; where the source was moved to follows.
const Closed = "this store is being moved to "

// closeSource lets nobody change the source any more. Every change that was begun before has ended
// when it returns, or fails.
func (m *mover) closeSource(ctx context.Context) error {
	err := updateNote(ctx, m, func(ctx context.Context,
		tx sqlstore.Tx) error {
		return storeNote(ctx, tx, stateClosed, m.to.Name)
	})
	if err != nil {
		return err
	}
	return m.from.runStatements(ctx, m.from.Refuse(Closed+m.to.Name))
}

// reopenSource lets the source be changed again, unless all of it is on the target. Its marks stay.
func (m *mover) reopenSource(ctx context.Context) error {
	if moved, err := readNote(ctx, m.from, stateMoved); err != nil || moved != "" {
		return err
	}
	nothing := func(context.Context, sqlstore.Tx) error { return nil }
	if err := updateNote(ctx, m, nothing); err != nil {
		return err
	}
	if err := m.from.runStatements(ctx, m.from.Reopen); err != nil {
		return err
	}
	return updateNote(ctx, m, func(ctx context.Context, tx sqlstore.Tx) error {
		return tx.Queue(ctx, `DELETE FROM move_state WHERE name = $1`, stateClosed)
	})
}

// noteMoved says on the target that it is complete, and then on the source that it is.
func (m *mover) noteMoved(ctx context.Context) error {
	if m.to.Order != nil {
		if err := m.to.Order.NumberCommits(ctx); err != nil {
			return m.to.wrapError(err)
		}
	}
	err := updateNote(ctx, m, func(ctx context.Context,
		tx sqlstore.Tx) error {
		return storeNote(ctx, tx, stateMoved, m.to.Name)
	})
	if err != nil {
		return err
	}
	return m.to.releaseTarget(ctx)
}

// releaseTarget makes a target a store like any other.
func (s *Side) releaseTarget(ctx context.Context) error {
	if err := s.runStatements(ctx, s.Leave); err != nil {
		return err
	}
	return s.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
		if err := sqlstore.ForgetDigests(ctx, &s.Dialect, tx); err != nil {
			return err
		}
		return tx.Queue(ctx, `DELETE FROM numbers WHERE name LIKE 'move %'`)
	})
}
