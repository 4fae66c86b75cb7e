package move

import (
	"context"
	"time"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// CopyWhole copies all that one snapshot of a source holds to a side that holds nothing, and which nobody else uses.
// Nothing is written to a PostgreSQL that is copied from, and it may be in use; an SQLite file gets the index of usage
// that copying needs, and should be the caller's own. Told is called as in [Options].
func CopyWhole(ctx context.Context, from, to *Side, told func(Progress)) (Progress, error) {
	m := &mover{to: to, alone: true, reporter: progressReporter{report: told, began: time.Now()}}
	m.reporter.enterStage(StageCopy)
	if from.Fill != nil {
		if err := from.runStatements(ctx, from.Receive); err != nil {
			return Progress{}, err
		}
		if err := from.Fill(ctx); err != nil {
			return Progress{}, from.wrapError(err)
		}
	}
	stop := m.reporter.startReporting()
	failed, closed := from.Readers.Inspect(ctx, func(r sqlstore.Reader) error {
		snapshot := *from
		snapshot.Readers = pinnedReaders{r}
		m.from = &snapshot
		return m.copyWhole(ctx)
	})
	stop()
	if failed == nil {
		failed = closed
	}
	if failed == nil {
		m.reporter.enterStage(StageDone)
	}
	return m.reporter.currentProgress(), from.wrapError(failed)
}

// copyWhole copies everything, one thing after the other.
func (m *mover) copyWhole(ctx context.Context) error {
	if err := m.to.runStatements(ctx, m.to.Receive); err != nil {
		return err
	}
	err := walkConversations(ctx, m.from, func(ids []string) error {
		for _, id := range ids {
			if _, err := m.copyParts(ctx, id); err != nil {
				return nameConversation(id, err)
			}
			m.reporter.done.Add(1)
		}
		return nil
	})
	for _, t := range wholeTables {
		if err == nil {
			err = m.copyTable(ctx, markedItem{kind: markTable, key: t.name})
		}
	}
	if err == nil {
		err = m.to.runStatements(ctx, m.to.Leave)
	}
	if err == nil {
		err = m.to.writeRetrying(ctx, func(ctx context.Context, tx sqlstore.Tx) error {
			return sqlstore.ForgetDigests(ctx, &m.to.Dialect, tx)
		})
	}
	return err
}

// pinnedReaders read within the one transaction that they have. It implements [sqlstore.Readers].
type pinnedReaders struct{ sqlstore.Reader }

// Snapshot implements [sqlstore.Readers].
func (p pinnedReaders) Snapshot(_ context.Context, fn func(sqlstore.Reader) error) error {
	return fn(p.Reader)
}

// Inspect implements [sqlstore.Readers].
func (p pinnedReaders) Inspect(_ context.Context, fn func(sqlstore.Reader) error) (failed, closed error) {
	return fn(p.Reader), nil
}

// Close implements [sqlstore.Readers]: the transaction is somebody else's.
func (p pinnedReaders) Close() error { return nil }
