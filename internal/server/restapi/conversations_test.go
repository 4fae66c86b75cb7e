package restapi

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// Every field that a client may set of a conversation or a project changes what is stored.
func TestEveryFieldIsApplied(t *testing.T) {
	checked := eachField(t, reflect.TypeFor[ConversationBody](), func(name string, b any) {
		body := b.(ConversationBody)
		var c scrollback.Conversation
		if err := body.applyTo(&c); err != nil || reflect.DeepEqual(c, scrollback.Conversation{}) {
			t.Errorf("%s of a conversation changes nothing (%v)", name, err)
		}
	})
	checked += eachField(t, reflect.TypeFor[projectBody](), func(name string, b any) {
		body := b.(projectBody)
		var p scrollback.Project
		if err := body.applyTo(&p); err != nil || reflect.DeepEqual(p, scrollback.Project{}) {
			t.Errorf("%s of a project changes nothing (%v)", name, err)
		}
	})
	if checked < 30 {
		t.Errorf("only %d fields were tried", checked)
	}
}

// eachField calls do with a value for each field of a struct, within others too, in which only
// that one is set, and returns how many there are.
func eachField(t *testing.T, of reflect.Type, do func(name string, with any)) (n int) {
	t.Helper()
	var walk func(within reflect.Type, path []int, name string)
	walk = func(within reflect.Type, path []int, name string) {
		for i := range within.NumField() {
			f := within.Field(i)
			at := append(path[:len(path):len(path)], i)
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[object]() {
				walk(inner, at, name+f.Name+".")
				continue
			}
			v := reflect.New(of).Elem()
			setField(t, v, at)
			do(name+f.Name, v.Interface())
			n++
		}
	}
	walk(of, nil, "")
	return n
}

// setField sets the field at a path to something else than zero.
func setField(t *testing.T, v reflect.Value, path []int) {
	t.Helper()
	for _, i := range path {
		v = v.Field(i)
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
	}
	if at, ok := v.Addr().Interface().(*object); ok {
		at.RawMessage = json.RawMessage(`{"n":1}`)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x"), reflect.ValueOf(1.0))
	default:
		t.Fatalf("nothing sets a %s", v.Type())
	}
}
