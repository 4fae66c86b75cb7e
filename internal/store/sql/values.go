package sqlstore

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"

	"github.com/scrollback-ai/scrollback"
)

// BindValue returns what a database stores of an argument, as it is read back: truth is a number. The
// types that rows are made of are told apart without reflection, which costs more than the
// statement.
func BindValue(arg any) (driver.Value, error) {
	switch v := arg.(type) {
	case nil, string, int64, float64, []byte:
		return v, nil
	case bool:
		return numberOf(v), nil
	case int:
		return int64(v), nil
	case scrollback.ConversationID:
		return string(v), nil
	case scrollback.BranchID:
		return string(v), nil
	case scrollback.MessageID:
		return string(v), nil
	case scrollback.TurnID:
		return string(v), nil
	case scrollback.SegmentID:
		return string(v), nil
	case scrollback.Role:
		return string(v), nil
	case scrollback.TurnState:
		return string(v), nil
	case scrollback.Status:
		return string(v), nil
	case scrollback.TitleState:
		return string(v), nil
	}
	v, err := driver.DefaultParameterConverter.ConvertValue(arg)
	if b, ok := v.(bool); ok {
		return numberOf(b), err
	}
	return v, err
}

// numberOf is truth as a number.
func numberOf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// derefField returns what a pointer to a field points at.
func derefField(field any) any {
	switch p := field.(type) {
	case *string:
		return *p
	case *int64:
		return *p
	case *int:
		return *p
	case *bool:
		return *p
	case *float64:
		return *p
	case *[]byte:
		return *p
	case lenientInt:
		return *p.n
	case lenientFloat:
		return *p.n
	}
	return reflect.ValueOf(field).Elem().Interface()
}

// Scan stores the columns of a row in these places.
func (r Row) Scan(dest ...any) error {
	if len(dest) != len(r) {
		return fmt.Errorf("sqlstore: %d columns, %d wanted", len(r), len(dest))
	}
	for i, d := range dest {
		err := scanField(d, r[i])
		if _, isEncoded := d.(encoded); isEncoded && err != nil {
			return fmt.Errorf("a stored column is damaged: %w", err)
		}
		if err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

// assignValue stores a column in what it is scanned into. What does not fit goes the way of
// database/sql, which converts it or says why it cannot.
func assignValue(dest any, v driver.Value) error {
	switch v := v.(type) {
	case string:
		if assignText(dest, v) {
			return nil
		}
	case int64:
		switch d := dest.(type) {
		case *int64:
			*d = v
			return nil
		case *int:
			*d = int(v)
			return nil
		case *bool:
			if *d = v == 1; v == 0 || v == 1 {
				return nil
			}
		}
	case float64:
		if d, ok := dest.(*float64); ok {
			*d = v
			return nil
		}
	case []byte:
		if d, ok := dest.(*[]byte); ok {
			*d = v // each row has its own
			return nil
		}
	}
	return convertValue(dest, v)
}

func assignText(dest any, v string) bool {
	switch d := dest.(type) {
	case *string:
		*d = v
	case *scrollback.ConversationID:
		*d = scrollback.ConversationID(v)
	case *scrollback.BranchID:
		*d = scrollback.BranchID(v)
	case *scrollback.MessageID:
		*d = scrollback.MessageID(v)
	case *scrollback.TurnID:
		*d = scrollback.TurnID(v)
	case *scrollback.SegmentID:
		*d = scrollback.SegmentID(v)
	case *scrollback.Role:
		*d = scrollback.Role(v)
	case *scrollback.TurnState:
		*d = scrollback.TurnState(v)
	case *scrollback.Status:
		*d = scrollback.Status(v)
	case *scrollback.TitleState:
		*d = scrollback.TitleState(v)
	default:
		return false
	}
	return true
}

// convertValue is for what few columns hold: other types, and values of another type than their
// column is read as.
func convertValue(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(v)
	case *[]byte:
		var n sql.Null[[]byte]
		err := n.Scan(v)
		*d = n.V
		return err
	case *string:
		var n sql.Null[string]
		err := n.Scan(v)
		if err == nil && !n.Valid {
			err = errors.New("sqlstore: a column is NULL that is read as text")
		}
		*d = n.V
		return err
	}
	at := reflect.ValueOf(dest)
	if at.Kind() != reflect.Pointer || at.IsNil() {
		return errors.New("sqlstore: a column is scanned into a pointer")
	}
	if v == nil {
		return fmt.Errorf("sqlstore: a column is NULL that is read as %s", at.Elem().Kind())
	}
	at = at.Elem()
	var err error
	switch at.Kind() {
	case reflect.String:
		switch v := v.(type) {
		case string:
			at.SetString(v)
		case []byte:
			at.SetString(string(v))
		default:
			err = fmt.Errorf("it is %T", v)
		}
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		var n sql.NullInt64
		if err = n.Scan(v); err == nil && at.OverflowInt(n.Int64) {
			err = fmt.Errorf("%d is out of range", n.Int64)
		}
		at.SetInt(n.Int64)
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		var n sql.NullInt64
		if err = n.Scan(v); err == nil && (n.Int64 < 0 || at.OverflowUint(uint64(n.Int64))) {
			err = fmt.Errorf("%d is out of range", n.Int64)
		}
		at.SetUint(uint64(n.Int64))
	case reflect.Float64:
		var n sql.NullFloat64
		err = n.Scan(v)
		at.SetFloat(n.Float64)
	case reflect.Bool:
		var n sql.NullBool
		err = n.Scan(v)
		at.SetBool(n.Bool)
	default:
		return fmt.Errorf("sqlstore: a %T cannot be read as %s", v, at.Type())
	}
	if err != nil {
		return fmt.Errorf("sqlstore: a column cannot be read as %s: %w", at.Kind(), err)
	}
	return nil
}
