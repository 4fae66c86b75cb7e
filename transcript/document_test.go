package transcript_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/scrollback-ai/scrollback/transcript"
)

func TestList(t *testing.T) {
	for name, c := range map[string]struct{ text, want, fault string }{
		"a list":               {` [{"a":1}, 2,"x"]`, `{"a":1} 2 "x"`, ""},
		"with a mark":          {"\uFEFF[1]", "1", ""},
		"nothing in it":        {"[]", "", ""},
		"one value":            {"{\n\"a\": [1]}\n", "{\n\"a\": [1]}", ""},
		"lines":                {"{\"a\":1}\n\n{\"a\":2}", `{"a":1} {"a":2}`, ""},
		"nothing":              {" ", "", ""},
		"a list that ends":     {`[1,2`, "1 2", "the file ends early"},
		"an item that ends":    {`[1,{"a":`, "1", "the file ends early"},
		"a value that ends":    {`{"a":`, "", "the file ends early"},
		"no JSON":              {"[1,}", "1", "malformed"},
		"a stray bracket":      {"1]", "1", "malformed"},
		"a value that is long": {`["` + strings.Repeat("x", 9000) + `"]`, "", "longer than 8192 bytes"},
		"long, of short values": {"[" + strings.Repeat(`"0123456789",`, 2000) + "1]",
			strings.Repeat(`"0123456789" `, 2000) + "1", ""},
	} {
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.text),
			"byte by byte": iotest.OneByteReader(strings.NewReader(c.text))} {
			d := transcript.NewList(r, 8192)
			var got []string
			fault := ""
			for raw, err := range d.Items() {
				if err == nil {
					got = append(got, string(raw))
					continue
				}
				bad, ok := d.ExplainFault(err)
				if fault = bad.Reason; !ok {
					t.Errorf("%s, %s: %v is not the file's", name, how, err)
				}
			}
			if s := strings.Join(got, " "); s != c.want || (fault == "") != (c.fault == "") ||
				!strings.Contains(fault, c.fault) {
				t.Errorf("%s, %s: %.100q and %q, want %.100q and %q", name, how, s, fault, c.want, c.fault)
			}
		}
	}
}

func TestListThatCannotBeRead(t *testing.T) {
	gone := errors.New("gone")
	for _, text := range []string{"[1,2", `{"a":1}`, ""} {
		d := transcript.NewList(io.MultiReader(strings.NewReader(text), iotest.ErrReader(gone)), 8192)
		var last error
		for _, err := range d.Items() {
			last = err
		}
		if _, ok := d.ExplainFault(last); ok || !errors.Is(last, gone) {
			t.Errorf("after %q: %v", text, last)
		}
	}
}

func TestItemFields(t *testing.T) {
	for head, want := range map[string]string{
		`[{"a":1,"b":{"c":2},"d":"cut of`: "a b d",
		`{"a":[1,{"x":2}],"b":`:           "a b",
		"\uFEFF [ { \"a\" : 1 } , {}]":    "a",
		`[1,{"a":1}]`:                     "",
		`[]`:                              "",
		`"text"`:                          "",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(transcript.ItemHeadFields([]byte(head)))), " "); got != want {
			t.Errorf("%q has %q, want %q", head, got, want)
		}
	}
}

// A source that is cut does not end the file: what comes behind may be there at the next attempt.
func TestDocumentOfACutSource(t *testing.T) {
	const text = `{"a": [1, 2`
	for _, c := range []struct {
		r   io.Reader
		bad bool
	}{{strings.NewReader(text), true}, {io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)),
		false}} {
		d := transcript.NewDocument(c.r, 100)
		_, err := d.Next()
		for _, itemErr := range d.Items() {
			err = errors.Join(err, itemErr)
		}
		if _, bad := d.ExplainFault(err); err == nil || bad != c.bad {
			t.Errorf("%v: the file's fault: %v, want %v", err, bad, c.bad)
		}
	}
}

// Whole items behind damage are read, and what is damaged is named with its line; NUL bytes are
// dropped.
func TestDamagedLists(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"in the middle": {"[{\"id\":1,\"x\":[{\"id\":2}]},\n{\"id\":3,\"x\":[{\"id\":4},\n{\"id\":5,\"x\":[]},\n{\"id\":6,\"x\":[]}]",
			`{"id":1,"x":[{"id":2}]} 2:malformed {"id":5,"x":[]} {"id":6,"x":[]}`},
		"no comma":  {`[{"id":1} {"id":2}]`, `{"id":1} {"id":2}`},
		"NUL bytes": {"[{\"id\":1},\x00\x00\x00{\"id\":2},{\"id\":3}]", `{"id":1} 1:3 {"id":2} {"id":3}`},
		"the end":   {"[{\"id\":1},\n{\"id\":2},\n{\"id\":3", `{"id":1} {"id":2} 3:the`},
	} {
		d := transcript.NewList(strings.NewReader(c.text), 8192)
		var got []string
		for raw, err := range d.Items() {
			if err == nil {
				got = append(got, string(raw))
				continue
			}
			bad, ok := d.ExplainFault(err)
			if !ok {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(bad.Line, ":", strings.Fields(bad.Reason)[0]))
		}
		if s := strings.Join(got, " "); s != c.want && !strings.HasPrefix(s, c.want) {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
}

func TestMend(t *testing.T) {
	for _, c := range []struct {
		torn  string
		depth int
		want  string
	}{
		{`{"a":1,"m":{"x":{"p":[1]},"y":{"p":[2`, 2, `{"a":1,"m":{"x":{"p":[1]}}}`},
		{`{"a":1,"m":[{"t":"one"},{"t":"tw`, 2, `{"a":1,"m":[{"t":"one"}]}`},
		{`{"a":1,"m":[{"t":"one"},{"t":"tw`, 3, `{"a":1,"m":[{"t":"one"}]}`},
		{`{"a":"x","b"`, 2, `{"a":"x"}`},
		{`{"a":12`, 2, ``},
		{`{"a":"x]`, 2, ``},
		{`{"a":[1,2],"b":"\"`, 2, `{"a":[1,2]}`},
		{`]`, 2, ``},
	} {
		if got := string(transcript.MendValue([]byte(c.torn), c.depth)); got != c.want {
			t.Errorf("%s: %s, want %s", c.torn, got, c.want)
		}
	}
}

// A document that is cut anywhere never looks as if it had come to its end.
func TestDocumentCutOff(t *testing.T) {
	const whole = `{"a":1 , "b":[1, {"c":2}] , "d":{"e":[3]}, "f":[] }`
	read := func(text string) error {
		d := transcript.NewDocument(strings.NewReader(text), 1000)
		for {
			name, err := d.Next()
			if err != nil {
				return err
			}
			if name != "b" {
				if _, err := d.Value(); err != nil {
					return err
				}
				continue
			}
			for _, err := range d.Items() {
				if err != nil {
					return err
				}
			}
		}
	}
	if err := read(whole); err != io.EOF {
		t.Fatal(err)
	}
	for n := 1; n < len(whole); n++ {
		if err := read(whole[:n]); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("after %q: %v", whole[:n], err)
		}
	}
}
