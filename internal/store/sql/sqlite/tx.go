package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// tx runs transactions on the one connection that writes, which nothing else uses: statements that
// are prepared once, without the pool between, and the rows that are known. It implements
// [sqlstore.Tx].
type tx struct {
	conn  driver.Conn
	cache *sqlstore.RowCache

	mu         sync.Mutex // one goroutine runs statements; others may list them
	statements map[string]*statement

	writes int64 // statements that may have written
}

func newTx(conn driver.Conn) *tx {
	return &tx{conn: conn, statements: map[string]*statement{}, cache: sqlstore.NewRowCache()}
}

// Cache implements [sqlstore.Tx].
func (t *tx) Cache() *sqlstore.RowCache { return t.cache }

// Query implements [sqlstore.Reader].
func (t *tx) Query(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	s, err := t.prepareOnce(ctx, query)
	if err != nil {
		return err
	}
	return s.queryRows(ctx, scan, args)
}

// Exec implements [sqlstore.Tx].
func (t *tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	t.writes++
	return t.execute(ctx, text, args...)
}

// control runs a statement that begins or ends a transaction, and does not count as a write.
func (t *tx) control(ctx context.Context, text string) error {
	_, err := t.execute(ctx, text)
	return err
}

func (t *tx) execute(ctx context.Context, text string, args ...any) (int64, error) {
	s, err := t.prepareOnce(ctx, text)
	if err != nil {
		return 0, err
	}
	bound, err := s.bindArgs(args)
	if err != nil {
		return 0, err
	}
	result, err := s.driverStatement.ExecContext(ctx, bound)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Queue implements [sqlstore.Tx].
func (t *tx) Queue(ctx context.Context, text string, args ...any) error {
	_, err := t.Exec(ctx, text, args...)
	return err
}

// QueueOne implements [sqlstore.Tx].
func (t *tx) QueueOne(ctx context.Context, missed error, text string, args ...any) error {
	rows, err := t.Exec(ctx, text, args...)
	if err == nil && rows == 0 {
		return missed
	}
	return err
}

// QueueQuery implements [sqlstore.Tx].
func (t *tx) QueueQuery(ctx context.Context, scan func(sqlstore.Row) error, query string, args ...any) error {
	return t.Query(ctx, scan, query, args...)
}

// prepareOnce returns a prepared statement, and prepares it if it is new.
func (t *tx) prepareOnce(ctx context.Context, text string) (*statement, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.statements[text]; s != nil {
		return s, nil
	}
	s, err := prepareStatement(ctx, t.conn, text)
	if err == nil {
		t.statements[text] = s
	}
	return s, err
}

// closeStatements closes the statements, but not the connection.
func (t *tx) closeStatements() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, s := range t.statements {
		errs = append(errs, s.driverStatement.Close())
	}
	clear(t.statements)
	return errors.Join(errs...)
}

// statement is one on a connection that one goroutine has to itself. What it is bound to and
// the row that is being read are used again.
type statement struct {
	driverStatement driverStatement
	argIndexes      []int // the argument of each mark, from 0
	args            []driver.NamedValue
	row             []driver.Value
	busy            bool // its rows are being read
}

// driverStatement is what a driver's statement can do.
type driverStatement interface {
	Close() error
	ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error)
	QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error)
}

// prepareStatement prepares a statement on a driver's connection. Its marks become plain ones: a
// driver looks up the name of each that has a name, with every call.
func prepareStatement(ctx context.Context, conn driver.Conn, query string) (*statement, error) {
	text, places, err := replaceMarks(keepPlan(query))
	if err != nil {
		return nil, err
	}
	c, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, errors.New("sqlite: the driver is too old")
	}
	st, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	on, ok := st.(driverStatement)
	if !ok {
		return nil, errors.Join(errors.New("sqlite: the driver is too old"), st.Close())
	}
	return &statement{driverStatement: on, argIndexes: places, args: make([]driver.NamedValue, len(places))}, nil
}

// replaceMarks replaces $1, $2, … in a query by question marks, and returns which argument each
// stands for. No statement has a dollar sign in a text.
func replaceMarks(query string) (string, []int, error) {
	var b strings.Builder
	var places []int
	for {
		before, after, found := strings.Cut(query, "$")
		b.WriteString(before)
		if !found {
			return b.String(), places, nil
		}
		n := 0
		digits := 0
		for digits < len(after) && after[digits] >= '0' && after[digits] <= '9' {
			n = n*10 + int(after[digits]-'0')
			digits += 1
		}
		if n == 0 {
			return "", nil, fmt.Errorf("sqlite: a mark without a number in %s", query)
		}
		b.WriteByte('?')
		places = append(places, n-1)
		query = after[digits:]
	}
}

// bindArgs converts our arguments to the driver's.
func (s *statement) bindArgs(args []any) ([]driver.NamedValue, error) {
	if s.busy {
		return nil, errors.New("sqlite: a statement is run while its rows are read")
	}
	for i, at := range s.argIndexes {
		if at >= len(args) {
			return nil, fmt.Errorf("sqlite: %d arguments, at least %d wanted", len(args), at+1)
		}
		v, err := sqlstore.BindValue(args[at])
		if err != nil {
			return nil, err
		}
		s.args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return s.args, nil
}

// queryRows calls scan for each row.
func (s *statement) queryRows(ctx context.Context, scan func(sqlstore.Row) error, args []any) (err error) {
	bound, err := s.bindArgs(args)
	if err != nil {
		return err
	}
	rows, err := s.driverStatement.QueryContext(ctx, bound)
	if err != nil {
		return err
	}
	s.busy = true
	defer func() {
		s.busy = false
		if wrong := rows.Close(); err == nil {
			err = wrong
		}
	}()
	if s.row == nil {
		s.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		switch err := rows.Next(s.row); {
		case err == io.EOF: //nolint:errorlint // the driver's word for the last row; one that is wrapped is a failure
			return nil
		case err != nil:
			return err
		}
		if err := scan(sqlstore.Row(s.row)); err != nil {
			return err
		}
	}
}
