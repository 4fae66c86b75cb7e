package sqlstore

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// table is how rows of one table are read and written: its columns by their names, each with
// the field of T that it is kept in. Statements take their columns, and their arguments, from
// one table, so that they cannot fall apart.
type table[T any] struct {
	columns []column[T]

	// The columns of some fields are not theirs alone: split makes columns of them before a row
	// is written, and join makes them of columns after it was read. Nil does nothing.
	split, join func(*T)
}

// column is one column. Field is a pointer to what it is kept in, or an [encoded] one.
type column[T any] struct {
	name  string
	field func(*T) any
}

// encoded is a field whose column is a text in some form.
type encoded interface {
	encode() (string, error)
	decode(text string) error
}

// subset returns the table with some of its columns, in their order here.
func (t table[T]) subset(names ...string) table[T] {
	out := table[T]{split: t.split, join: t.join}
	for _, name := range names {
		out.columns = append(out.columns, t.columns[t.columnIndex(name)])
	}
	return out
}

// columnIndex returns the place of a column, from 0.
func (t table[T]) columnIndex(name string) int {
	for i, c := range t.columns {
		if c.name == name {
			return i
		}
	}
	panic("sqlstore: there is no column " + name)
}

// columnIndexes returns where the columns of another table are in this one, from 0.
func (t table[T]) columnIndexes(of table[T]) []int {
	out := make([]int, len(of.columns))
	for i, c := range of.columns {
		out[i] = t.columnIndex(c.name)
	}
	return out
}

// columnList returns the names of the columns, divided by commas.
func (t table[T]) columnList() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// ColumnsOf is a list of columns, each with the name of a table before it.
func ColumnsOf(name, columns string) string {
	return name + "." + strings.ReplaceAll(columns, ", ", ", "+name+".")
}

// insertClause returns what follows INSERT INTO and the name of the table. More are columns whose
// values follow those of the row.
func (t table[T]) insertClause(more ...string) string {
	return `(` + strings.Join(append([]string{t.columnList()}, more...), ", ") + `) VALUES (` +
		parameters(len(t.columns)+len(more)) + `)`
}

// setClause returns what follows SET: all columns but the first, which is the key and $1.
func (t table[T]) setClause() string {
	var b strings.Builder
	for i, c := range t.columns[1:] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = $%d", c.name, i+2)
	}
	return b.String()
}

// upsertClause returns what follows DO UPDATE SET: all columns that are not of the key, as they
// would have been inserted.
func (t table[T]) upsertClause(key ...string) string {
	var out []string
	for _, c := range t.columns {
		isKey := false
		for _, k := range key {
			isKey = isKey || k == c.name
		}
		if !isKey {
			out = append(out, c.name+" = excluded."+c.name)
		}
	}
	return strings.Join(out, ", ")
}

// parameter returns the n-th parameter of a statement, from 1.
func parameter(n int) string { return "$" + strconv.Itoa(n) }

// parameters returns "$1, $2, … $n".
func parameters(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(parameter(i + 1))
	}
	return b.String()
}

// values are those of a row, in the order of the columns.
func (t table[T]) values(v *T) ([]any, error) {
	if t.split != nil {
		t.split(v)
	}
	out := make([]any, len(t.columns), len(t.columns)+2)
	for i, c := range t.columns {
		field := c.field(v)
		if e, ok := field.(encoded); ok {
			text, err := e.encode()
			if err != nil {
				return nil, err
			}
			out[i] = text
			continue
		}
		out[i] = derefField(field)
	}
	return out, nil
}

// scan reads a row. Columns that are encoded and cannot be read leave their fields empty; the
// first of them is the error, and the rest of the row is there.
func (t table[T]) scan(v *T, r Row) error { return t.scanFields(v, t.listFields(v), r) }

// scanEach reads each row into a T of its own, and hands it on.
func (t table[T]) scanEach(each func(T) error) func(Row) error { return t.scanEachWith(each) }

// scanEachWith reads each row, whose last columns are stored in more.
func (t table[T]) scanEachWith(each func(T) error, more ...any) func(Row) error {
	v := new(T)
	fields := append(t.listFields(v), more...)
	return func(r Row) error {
		*v = *new(T)
		if err := t.scanFields(v, fields, r); err != nil {
			return err
		}
		return each(*v)
	}
}

// appendTo reads rows to the end of a list.
func (t table[T]) appendTo(out *[]T) func(Row) error {
	return t.scanEach(func(v T) error {
		*out = append(*out, v)
		return nil
	})
}

func (t table[T]) listFields(v *T) []any {
	out := make([]any, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.field(v)
	}
	return out
}

func (t table[T]) scanFields(v *T, fields []any, r Row) error {
	if len(fields) != len(r) {
		return fmt.Errorf("sqlstore: %d columns, %d wanted", len(r), len(fields))
	}
	var damaged error
	for i, field := range fields {
		err := scanField(field, r[i])
		switch _, isEncoded := field.(encoded); {
		case err == nil:
		case !isEncoded:
			return fmt.Errorf("column %s: %w", t.nameAt(i), err)
		case damaged == nil:
			damaged = fmt.Errorf("a stored column is damaged: %w", err)
		}
	}
	if t.join != nil {
		t.join(v)
	}
	return damaged
}

func (t table[T]) nameAt(i int) string {
	if i < len(t.columns) {
		return t.columns[i].name
	}
	return strconv.Itoa(i)
}

func scanField(field any, v any) error {
	e, ok := field.(encoded)
	if !ok {
		return assignValue(field, v)
	}
	var text string
	if err := assignValue(&text, v); err != nil {
		return err
	}
	return e.decode(text)
}

// asJSON is a field whose column has it as JSON; the zero of a pointer, slice or raw message
// is an empty text.
func asJSON[T any](field *T) encoded { return jsonField[T]{field} }

type jsonField[T any] struct{ field *T }

func (f jsonField[T]) encode() (string, error)  { return encodeJSON(*f.field) }
func (f jsonField[T]) decode(text string) error { return decodeJSON(text, f.field) }

// asText is a field that is JSON as it stands.
func asText(field *json.RawMessage) encoded { return textField{field} }

type textField struct{ field *json.RawMessage }

func (f textField) encode() (string, error) { return string(*f.field), nil }

func (f textField) decode(text string) error {
	if text != "" {
		*f.field = json.RawMessage(text)
	}
	return nil
}

// encodeJSON returns a column that holds JSON; the zero of a pointer, slice or raw message is stored
// as an empty text.
func encodeJSON(v any) (string, error) {
	if s, ok := encodeEmpty(v); ok {
		return s, nil
	}
	if ps, ok := v.(scrollback.Parts); ok {
		text, err := ps.MarshalJSON() // which the encoder would read once more
		return string(text), err
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // payloads come back as they went in
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	if s := strings.TrimSuffix(b.String(), "\n"); s != "null" {
		return s, nil
	}
	return "", nil
}

// encodeEmpty returns the column of what is empty, as most are: without an encoder.
func encodeEmpty(v any) (string, bool) {
	switch v := v.(type) {
	case scrollback.Draft:
		return "{}", v.IsEmpty() && v.ToolCalls == nil && v.Model == ""
	case json.Marshaler:
		return "", false
	}
	switch at := reflect.ValueOf(v); at.Kind() {
	case reflect.Pointer, reflect.Map:
		return "", at.IsNil()
	case reflect.Slice:
		if at.IsNil() {
			return "", true
		}
		return "[]", at.Len() == 0 && at.Type().Elem().Kind() != reflect.Uint8
	}
	return "", false
}

// decodeJSON reads such a column.
func decodeJSON(text string, into any) error {
	if text == "" {
		return nil
	}
	if u, ok := into.(json.Unmarshaler); ok {
		return u.UnmarshalJSON([]byte(text)) // which checks the text itself: twice would cost a search a quarter of its time
	}
	return json.Unmarshal([]byte(text), into)
}
