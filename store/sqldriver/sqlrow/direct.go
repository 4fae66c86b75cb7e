package sqlrow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
)

// direct is a statement on a connection that one goroutine has to itself, without the pool
// between them. What it is bound to and the row that is being read are used again.
type direct struct {
	on     statementOf
	places []int // the argument of each mark, from 0
	args   []driver.NamedValue
	row    []driver.Value
	busy   bool   // its rows are being read
	writes string // the table that it writes to, if any
}

// statementOf is what a driver's statement can do.
type statementOf interface {
	Close() error
	ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error)
	QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error)
}

// prepare prepares a query on a driver's connection. Its marks become plain ones: a driver
// looks up the name of each that has a name, with every call.
func prepare(ctx context.Context, conn driver.Conn, query string) (*direct, error) {
	text, places, err := plain(query)
	if err != nil {
		return nil, err
	}
	c, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, errors.New("sqlrow: the driver is too old")
	}
	st, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	on, ok := st.(statementOf)
	if !ok {
		return nil, errors.Join(errors.New("sqlrow: the driver is too old"), st.Close())
	}
	return &direct{on: on, places: places, args: make([]driver.NamedValue, len(places)), writes: writesTo(query)}, nil
}

// plain replaces $1, $2, … in a query by question marks, and returns which argument each
// stands for. No statement has a dollar sign in a text.
func plain(query string) (string, []int, error) {
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
			return "", nil, fmt.Errorf("sqlrow: a mark without a number in %s", query)
		}
		b.WriteByte('?')
		places = append(places, n-1)
		query = after[digits:]
	}
}

// bind makes the driver's arguments of ours.
func (d *direct) bind(args []any) ([]driver.NamedValue, error) {
	if d.busy {
		return nil, errors.New("sqlrow: a statement is run while its rows are read")
	}
	for i, at := range d.places {
		if at >= len(args) {
			return nil, fmt.Errorf("sqlrow: %d arguments, at least %d wanted", len(args), at+1)
		}
		v, err := value(args[at])
		if err != nil {
			return nil, err
		}
		d.args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return d.args, nil
}

// rows calls scan for each row.
func (d *direct) rows(ctx context.Context, scan func(Scanner) error, args []any) (err error) {
	bound, err := d.bind(args)
	if err != nil {
		return err
	}
	rows, err := d.on.QueryContext(ctx, bound)
	if err != nil {
		return err
	}
	d.busy = true
	defer func() {
		d.busy = false
		if wrong := rows.Close(); err == nil {
			err = wrong
		}
	}()
	if d.row == nil {
		d.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		switch err := rows.Next(d.row); {
		case err == io.EOF: //nolint:errorlint // the driver's word for the last row; one that is wrapped is a failure
			return nil
		case err != nil:
			return err
		}
		if err := scan(Row(d.row)); err != nil {
			return err
		}
	}
}

// Row is a row as a database returned it.
type Row []driver.Value

// Scan implements [Scanner].
func (r Row) Scan(dest ...any) error {
	if len(dest) != len(r) {
		return fmt.Errorf("sqlrow: %d columns, %d wanted", len(r), len(dest))
	}
	for i, d := range dest {
		if err := assign(d, r[i]); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}
