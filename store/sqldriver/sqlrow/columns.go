package sqlrow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// JSON is a column that holds JSON; the zero of a pointer, slice or raw
// message is stored as an empty text.
func JSON(v any) (string, error) {
	if s, ok := plainly(v); ok {
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

// plainly is the column of what is empty, as most are: without an encoder.
func plainly(v any) (string, bool) {
	switch v := v.(type) {
	case scrollback.Draft:
		return "{}", v.Empty() && v.ToolCalls == nil && v.Model == ""
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

// Parse reads such a column.
func Parse(s string, into any) error {
	if s == "" {
		return nil
	}
	if u, ok := into.(json.Unmarshaler); ok {
		return u.UnmarshalJSON([]byte(s)) // which checks the text itself: twice would cost a search a quarter of its time
	}
	return json.Unmarshal([]byte(s), into)
}

// Columns collects several JSON columns and the first error among them.
type Columns struct{ Err error }

// JSON is [JSON], and keeps the error.
func (c *Columns) JSON(v any) string {
	s, err := JSON(v)
	if err != nil && c.Err == nil {
		c.Err = err
	}
	return s
}

// Parse is [Parse], and keeps the error.
func (c *Columns) Parse(s string, into any) {
	if err := Parse(s, into); err != nil && c.Err == nil {
		c.Err = fmt.Errorf("a stored column is damaged: %w", err)
	}
}

// Marks is "$1, $2, … $n".
func Marks(n int) string { return markers[n] }

var markers = func() [32]string {
	var out [32]string
	for n := 1; n < len(out); n++ {
		sep := ", $"
		if n == 1 {
			sep = "$"
		}
		out[n] = out[n-1] + sep + itoa(n)
	}
	return out
}()

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
