package foreign

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DB is a database as it is at one moment.
type DB struct {
	ctx     context.Context // of one call of ReadDatabase, which it does not outlive
	db      *sql.DB
	version int64
	columns map[string][]string
	left    int64 // bytes that may still be taken
}

// Version returns the number that the tool keeps in PRAGMA user_version; many keep none there.
func (d *DB) Version() int64 { return d.version }

// readTables notes the columns of all tables; views and virtual tables are none.
func (d *DB) readTables() error {
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

// HasTable reports whether there is a table with such columns.
func (d *DB) HasTable(table string, columns ...string) bool {
	return d.missingColumn(table, columns) == ""
}

// RequireTable returns an error if a table, or a column of it, is missing. Known says of which program
// and version the tables are known.
func (d *DB) RequireTable(known, table string, columns ...string) error {
	if what := d.missingColumn(table, columns); what != "" {
		return fmt.Errorf("%w: it has no %s; known are those of %s", ErrUnknown, what, known)
	}
	return nil
}

func (d *DB) missingColumn(table string, columns []string) string {
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

// ColumnOr returns a column if the table has it, and otherwise an expression in its place, such as
// NULL; for use in the text of a query.
func (d *DB) ColumnOr(table, column, otherwise string) string {
	if d.HasTable(table, column) {
		return column
	}
	return otherwise + " AS " + column
}

// QueryRows yields what a query finds. Queries may be run while the rows of another one come.
func (d *DB) QueryRows(query string, args ...any) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		conn, err := d.db.Conn(d.ctx)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer conn.Close()
		if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, MaxRow); err != nil {
			yield(Row{}, err)
			return
		}
		rows, err := conn.QueryContext(d.ctx, query, args...)
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
			if d.left -= row.byteSize(); d.left < 0 {
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

func (r Row) byteSize() int64 {
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

func (r Row) columnValue(column string) any {
	if i, known := r.at[column]; known {
		return r.values[i]
	}
	return nil
}

// IsNull reports whether a value is NULL.
func (r Row) IsNull(column string) bool { return r.columnValue(column) == nil }

// Text returns a value as text; "" for NULL. Bytes that are not UTF-8 become U+FFFD.
func (r Row) Text(column string) string {
	switch v := r.columnValue(column).(type) {
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

// Bytes returns a value as it is stored; nil for NULL and for numbers.
func (r Row) Bytes(column string) []byte {
	switch v := r.columnValue(column).(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	}
	return nil
}

// Int returns a value as a whole number; 0 for NULL and for what is not a number. A column that is
// declared as a time is Unix ms.
func (r Row) Int(column string) int64 {
	switch v := r.columnValue(column).(type) {
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
		n, _ := strconv.ParseInt(strings.TrimSpace(v), 10, 64) // 0 for anything else
		return n
	}
	return 0
}

// Float returns a value as a number; 0 for NULL and for what is not a number.
func (r Row) Float(column string) float64 {
	if f, ok := r.columnValue(column).(float64); ok {
		return f
	}
	return float64(r.Int(column))
}
