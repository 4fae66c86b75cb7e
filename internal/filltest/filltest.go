// Package filltest fills every field of a value by reflection, for tests that nothing is lost where the value is
// stored or copied.
package filltest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// Filler sets every field of a value to something else than zero and than any other field: one that
// is added to a type and left out where the type is stored or copied comes back empty.
// N is the number of the last value that was set.
type Filler struct{ N, depth int }

// fill fills a value and all that it points at.
func (f *Filler) fill(v reflect.Value) {
	f.N++
	f.depth++
	defer func() { f.depth-- }()
	switch at := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*at = json.RawMessage(fmt.Sprintf(`{"n":%d}`, f.N))
		return
	case *scrollback.Parts:
		*at = scrollback.Parts{scrollback.Text{Text: fmt.Sprint("text ", f.N)}}
		return
	case *time.Time:
		*at = time.UnixMilli(int64(f.N)).UTC()
		return
	case *scrollback.SentRun: // its layer is one of a list
		*at = scrollback.SentRun{Kind: scrollback.ItemKind(fmt.Sprint("kind ", f.N)), Layer: scrollback.Layers()[1],
			Seq: int64(f.N), LastSeq: int64(f.N + 1), Tokens: 3}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		n := 1
		if f.depth < 4 {
			n = 2
		}
		if f.depth > 12 { // a type that holds itself
			n = 0
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		key := reflect.New(v.Type().Key()).Elem()
		value := reflect.New(v.Type().Elem()).Elem()
		f.fill(key)
		f.fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(fmt.Sprint("value ", f.N))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(f.N) + 0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.N))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(f.N % 256))
	case reflect.Func: // what judges within a transaction is not a field of a row
	default:
		panic("filltest: nothing fills a " + v.Type().String())
	}
}

// Filled returns a T of which every field is set.
func Filled[T any](f *Filler) T {
	var v T
	f.fill(reflect.ValueOf(&v).Elem())
	return v
}

// Carried compares a copy of a value with the value, field by field: each is either equal, or empty and in left, which
// tells by its name why the copy has not got it. It returns what is wrong.
func Carried(of, copied any, left map[string]string) (wrong []string) {
	a := reflect.ValueOf(of)
	b := reflect.ValueOf(copied)
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		_, isLeft := left[name]
		switch equal := reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()); {
		case a.Field(i).IsZero():
			wrong = append(wrong, name+" is not filled")
		case !equal && !isLeft:
			wrong = append(wrong, name+" is lost or changed: carry it, or say here why not")
		case isLeft && !b.Field(i).IsZero():
			wrong = append(wrong, name+" is carried, and listed as left")
		}
	}
	for name := range left {
		if _, ok := a.Type().FieldByName(name); !ok {
			wrong = append(wrong, name+" is listed as left, and there is no such field")
		}
	}
	return wrong
}
