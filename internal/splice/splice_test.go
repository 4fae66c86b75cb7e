package splice_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/splice"
)

// What is set is all that changes, however the file is written.
func TestSet(t *testing.T) {
	for _, c := range []struct{ was, name, value, want string }{
		{`{"a":1,"b":2}`, "a", `9`, `{"a":9,"b":2}`},
		{`{"a":1.0e2,"a":2,"b.c":3}`, "a", `9`, `{"a":1.0e2,"a":9,"b.c":3}`},
		{`{"b.c":3, "d" : 4}`, "b.c", `9`, `{"b.c":9, "d" : 4}`},
		{`{"\u0061":1}`, "a", `9`, `{"\u0061":9}`},
		{`{"a": 1, "b": 2}`, "c", `3`, `{"a": 1, "b": 2, "c": 3}`},
		{`{}`, "c", `3`, `{"c":3}`},
		{"{\r\n\t\"a\" : 1\r\n}", "c", `3`, "{\r\n\t\"a\" : 1,\r\n\t\"c\": 3\r\n}"},
		{"{\n \"a\": 1, \"b\": 2\n}", "c", `3`, "{\n \"a\": 1, \"b\": 2, \"c\": 3\n}"},
		{`{"a":1,"b":2,"a":3}`, "a", ``, `{"b":2}`},
		{"{\n \"a\": 1,\n \"b\": \"}\\\"\"\n}", "b", ``, "{\n \"a\": 1\n}"},
		{"{\n \"a\": 1,\n \"b\": 2\n}", "a", ``, "{\n \"b\": 2\n}"},
		{`{"a":1}`, "a", ``, `{}`},
		{`{"a":1}`, "z", ``, `{"a":1}`},
	} {
		var value json.RawMessage
		if c.value != "" {
			value = json.RawMessage(c.value)
		}
		if got := splice.DetectForm([]byte(c.was)).SetField(json.RawMessage(c.was), 0, c.name, value); string(got) != c.want {
			t.Errorf("%s with %s=%s is\n%s, want\n%s", c.was, c.name, c.value, got, c.want)
		}
	}
}

// A file that cannot be read says where.
func TestFaults(t *testing.T) {
	for file, want := range map[string]string{
		"":                            "line 1, column 1: the file is empty",
		"\uFEFF \n":                   "line 1, column 1: the file is empty",
		"{\n \"钥匙\": x}":              "line 2, column 8: malformed JSON: invalid character 'x' looking for beginning of value",
		"{\"cells\": [\n{]}":          "line 2, column 2: malformed JSON: invalid character ']' looking for beginning of object key string",
		"{\"cells\": [1]":             "line 1, column 13: malformed JSON: unexpected end of JSON input",
		"\n[1]":                       "line 2, column 1: the file is not an object",
		"{\"a\": []}":                 "line 1, column 1: the object has no list \"cells\"",
		"{\"a\": [],\n\"cells\": 7}":  "line 2, column 10: \"cells\" is not a list",
		"{\"cells\": []} x":           "line 1, column 15: malformed JSON: invalid character 'x' after top-level value",
		strings.Repeat("[", 1000_000): "line 1, column 10001: malformed JSON: invalid character '[' exceeded max depth",
	} {
		_, _, err := splice.Open([]byte(file), "cells")
		var at *splice.Fault
		if err == nil || err.Error() != want || !errors.As(err, &at) {
			t.Errorf("%.30q: %v, want %s", file, err, want)
		}
	}
}

// Items that are added look like those that are there.
func TestAnother(t *testing.T) {
	for _, c := range [][2]string{
		{"\uFEFF{\r\n  \"cells\": [\r\n    1,\r\n    2\r\n  ]\r\n}\r\n",
			"\uFEFF{\r\n  \"cells\": [\r\n    1,\r\n    2,\r\n    3\r\n  ]\r\n}\r\n"},
		{"{\n \"cells\": [\n  1\n ]\n}", "{\n \"cells\": [\n  1,\n  3\n ]\n}"},
		{"{\n \"cells\": [ ],\n \"x\": 1}", "{\n \"cells\": [\n  3\n ],\n \"x\": 1}"},
		{`{"cells":[]}`, `{"cells":[3]}`},
		{`{"cells": [1, 2]}`, `{"cells": [1, 2, 3]}`},
		{`{"cells":[9],"cells":[1]} `, `{"cells":[9],"cells":[1,3]} `},
	} {
		f, list, err := splice.Open([]byte(c[0]), "cells")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.WithItems(list); string(got) != c[0] {
			t.Errorf("%q is written as %q", c[0], got)
		}
		if got := f.WithItems(append(list, f.NewItem(json.RawMessage("3"), len(list) == 0))); string(got) != c[1] {
			t.Errorf("%q becomes\n%q, want\n%q", c[0], got, c[1])
		}
	}
}

// A field that is set is read back, all others are as they were, and the object stays one.
func FuzzSet(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{}],"a":"\""}`, "{\n\t\"x\" : {}\n}", `{}`, ` { } `, `{"a":1e9 ,"b":null}`} {
		f.Add(s, "a", true)
	}
	f.Fuzz(func(t *testing.T, object, name string, remove bool) {
		var was map[string]json.RawMessage
		if json.Unmarshal([]byte(object), &was) != nil || was == nil {
			return
		}
		name = strings.ToValidUTF8(name, "")
		value := json.RawMessage(`{"set": ["]"]}`)
		if remove {
			value = nil
		}
		got := splice.DetectForm([]byte(object)).SetField(json.RawMessage(object), 0, name, value)
		var is map[string]json.RawMessage
		if err := json.Unmarshal(got, &is); err != nil {
			t.Fatalf("%q became %q: %v", object, got, err)
		}
		if !bytes.Equal(splice.GetField(got, name), value) {
			t.Fatalf("%q has %q", got, splice.GetField(got, name))
		}
		delete(was, name)
		delete(is, name)
		if len(was) != len(is) {
			t.Fatalf("%q became %q", object, got)
		}
		for k := range was {
			if !bytes.Equal(splice.GetField([]byte(object), k), splice.GetField(got, k)) {
				t.Fatalf("%q: %q changed in %q", object, k, got)
			}
		}
	})
}

// What is no JSON is walked through without a fault.
func FuzzAnything(f *testing.F) {
	for _, b := range []string{``, `{`, `{"a`, `{"a"`, `{"a":`, `{"a":"\`, `{"a":1`, `{"a":1,`, `[`, `[1`, `[1,`, `["\"`, `{}}`, `[]]`,
		`{"a":]`, `[}`, `{,}`, `[,]`, `{"a" 1}`, `{"a":{"b":[`} {
		f.Add([]byte(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range splice.ListMembers(b) {
			if m.Value.From > m.Value.To || m.Value.To > len(b) {
				t.Errorf("%q has %+v", b, m)
			}
		}
		for _, s := range splice.ListSpans(b) {
			if s.From > s.To || s.To > len(b) {
				t.Errorf("%q has %+v", b, s)
			}
		}
	})
}
