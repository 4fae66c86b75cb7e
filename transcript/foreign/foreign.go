// Package foreign reads the SQLite databases of other programs: in place, without a lock,
// and without writing a byte to them or beside them.
//
// Words it adds: log (the -wal beside a database, which may hold its newest rows), journal
// (the -journal beside a database, while a change of it is not complete).
//
// Invariants: SQLite is given one virtual file that can only be read: the database with
// the pages of its log laid over it, up to the last commit. It cannot lock, create or delete
// anything. What is read is the state of one moment: if the files changed in a way that
// could mix two states, everything is read again.
//
// It may not know any tool. A database that this process itself has open may not be read
// with it: closing a file gives up the locks that a process has on it.
package foreign

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	"modernc.org/sqlite/vfs"
)

// What can be wrong with a database, for errors.Is.
var (
	ErrNot     = errors.New("not an SQLite database")
	ErrDamaged = errors.New("the database is damaged")
	ErrUnknown = errors.New("the database is of a version that is not known")
	ErrBusy    = errors.New("the database is changed faster than it can be read; try again")
)

// MaxBytes bounds what one call of [Read] may take out of a database.
const MaxBytes = 2 << 30

// How often a database that changes meanwhile is read in place, and then as a copy.
const (
	inPlace = 4
	asCopy  = 2
)

// Read calls f with the database at path as it is at one moment. If the database changes
// in a way that disturbs, f is called again: it should only gather what it needs, from the
// beginning, and keep nothing that an earlier call gathered. A file that is not there is
// fs.ErrNotExist, one that may not be read fs.ErrPermission.
func Read(ctx context.Context, path string, f func(*DB) error) error {
	for try := range inPlace + asCopy {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try*try) * 10 * time.Millisecond):
			}
		}
		again, err := once(ctx, path, try >= inPlace, f)
		if !again || ctx.Err() != nil {
			return worded(path, err)
		}
	}
	return worded(path, ErrBusy)
}

// once reads a database, and reports whether it has to be read again.
func once(ctx context.Context, path string, copied bool, f func(*DB) error) (again bool, err error) {
	if copied {
		copied, done, err := snapshot(path)
		if err != nil {
			return errors.Is(err, errMoved), err
		}
		defer done()
		path = copied
	}
	files, err := open(path)
	if err != nil {
		return errors.Is(err, errMoved), err
	}
	defer files.close()
	err = files.serve(ctx, f)
	return !files.unmoved(), err
}

// serve calls f with the database that files hold.
func (o *files) serve(ctx context.Context, f func(*DB) error) (err error) {
	name, served, err := vfs.New(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, served.Close()) }()
	db, err := sql.Open("sqlite", "file:"+virtual+"?mode=ro&immutable=1&vfs="+name+
		"&_defensive=1&_dqs=0&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=temp_store(MEMORY)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	d := &DB{ctx: ctx, db: db, left: MaxBytes, columns: map[string][]string{}}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&d.version); err != nil {
		return err
	}
	if err := d.tables(); err != nil {
		return err
	}
	return f(d)
}

// worded says in words what is wrong with a database.
func worded(path string, err error) error {
	var code *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the database %s may not be read by this user: %w", path, err)
	case errors.Is(err, ErrNot), errors.Is(err, ErrDamaged), errors.Is(err, ErrBusy):
		return fmt.Errorf("%s: %w", path, err)
	case errors.As(err, &code):
		switch code.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%s: %w", path, ErrNot)
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
			return fmt.Errorf("%s: %w (%w)", path, ErrDamaged, err)
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// DB is a database as it is at one moment.
type DB struct {
	ctx     context.Context // of one call of Read, which it does not outlive
	db      *sql.DB
	version int64
	columns map[string][]string
	left    int64 // bytes that may still be taken
}

// Version is the number that the tool keeps in PRAGMA user_version; many keep none there.
func (d *DB) Version() int64 { return d.version }

// tables notes the columns of all tables; views and virtual tables are none.
func (d *DB) tables() error {
	rows, err := d.db.QueryContext(d.ctx, `SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c `+
		`WHERE s.type = 'table' AND s.rootpage > 0 ORDER BY s.name, c.cid`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		d.columns[strings.ToLower(table)] = append(d.columns[strings.ToLower(table)], column)
	}
	return rows.Err()
}

// Has reports whether there is a table with such columns.
func (d *DB) Has(table string, columns ...string) bool { return d.lacks(table, columns) == "" }

// Need is an error if a table, or a column of it, is missing. Known says of which program
// and version the tables are known.
func (d *DB) Need(known, table string, columns ...string) error {
	if what := d.lacks(table, columns); what != "" {
		return fmt.Errorf("%w: it has no %s; known are those of %s", ErrUnknown, what, known)
	}
	return nil
}

func (d *DB) lacks(table string, columns []string) string {
	have, known := d.columns[strings.ToLower(table)]
	if !known {
		return "table " + table
	}
next:
	for _, c := range columns {
		for _, h := range have {
			if strings.EqualFold(c, h) {
				continue next
			}
		}
		return "column " + c + " in table " + table
	}
	return ""
}

// Or is a column if the table has it, and otherwise an expression in its place, such as
// NULL; for use in the text of a query.
func (d *DB) Or(table, column, otherwise string) string {
	if d.Has(table, column) {
		return column
	}
	return otherwise + " AS " + column
}

// Rows yields what a query finds. Queries may be run while the rows of another one come.
func (d *DB) Rows(query string, args ...any) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		rows, err := d.db.QueryContext(d.ctx, query, args...)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			yield(Row{}, err)
			return
		}
		at := map[string]int{}
		for i, n := range names {
			at[n] = i
		}
		for rows.Next() {
			row := Row{at: at, values: make([]any, len(names))}
			into := make([]any, len(names))
			for i := range into {
				into[i] = &row.values[i]
			}
			if err := rows.Scan(into...); err != nil {
				yield(Row{}, err)
				return
			}
			if d.left -= row.weight(); d.left < 0 {
				yield(Row{}, fmt.Errorf("more than %d bytes at once", int64(MaxBytes)))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Row{}, err)
		}
	}
}

// Row is a row, by the names of its columns. A column that is not there is NULL.
type Row struct {
	at     map[string]int
	values []any
}

func (r Row) weight() int64 {
	n := int64(32)
	for _, v := range r.values {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		}
	}
	return n
}

func (r Row) value(column string) any {
	if i, known := r.at[column]; known {
		return r.values[i]
	}
	return nil
}

// Null reports whether a value is NULL.
func (r Row) Null(column string) bool { return r.value(column) == nil }

// Text is a value as text; "" for NULL. Bytes that are not UTF-8 become U+FFFD.
func (r Row) Text(column string) string {
	switch v := r.value(column).(type) {
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case []byte:
		return strings.ToValidUTF8(string(v), "\uFFFD")
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return ""
}

// Int is a value as a whole number; 0 for NULL and for what is no number. A column that is
// declared as a time is Unix ms.
func (r Row) Int(column string) int64 {
	switch v := r.value(column).(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	case bool:
		if v {
			return 1
		}
	case time.Time:
		return v.UnixMilli()
	case string:
		n, _ := strconv.ParseInt(strings.TrimSpace(v), 10, 64) // 0 for what is no number
		return n
	}
	return 0
}

// Float is a value as a number; 0 for NULL and for what is no number.
func (r Row) Float(column string) float64 {
	if f, ok := r.value(column).(float64); ok {
		return f
	}
	return float64(r.Int(column))
}
