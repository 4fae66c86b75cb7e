package exported_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

func TestTimes(t *testing.T) {
	for s, want := range map[float64]int64{0: 0, -5: 0, 1767000000.25: 1767000000250, 1767000000250: 1767000000250,
		1e300:       0,
		math.Inf(1): 0, math.NaN(): 0, 253402300799999: 253402300799999, 253402300800000: 0} {
		if got := exported.SecondsToMillis(s); got != want {
			t.Errorf("%v s is %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]int64{"2026-01-02T10:00:00.5Z": 1767348000500,
		"2026-01-02T11:00:00+01:00": 1767348000000,
		"2026-01-02 10:00:00.250":   1767348000250, "2026-01-02T10:00:00.123456": 1767348000123, "": 0, "yesterday": 0,
		"0001-01-01T00:00:00Z": 0} {
		if got := exported.ParseMoment(s); got != want {
			t.Errorf("%s is %d, want %d", s, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a": 1}`: `{"a":1}`, `"{\"a\": 1}"`: `{"a":1}`, `print(1)`: `{"input":"print(1)"}`,
		`"print(1)"`: `{"input":"print(1)"}`,
		`[1,2]`:      `{"input":"[1,2]"}`, ``: `{}`, `null`: `{}`, `""`: `{}`,
		"{\"a\": \"\xff\"}": `{"a":"` + "\uFFFD" + `"}`,
		`{"a": `:            `{"input":"{\"a\":"}`,
	} {
		if got := string(exported.CallArguments([]byte(raw), "input")); got != want {
			t.Errorf("%q becomes %s, want %s", raw, got, want)
		}
	}
}

func TestOrder(t *testing.T) {
	link := func(id, parent, children string, at int64) exported.Linked {
		return exported.Linked{Node: tree.Node{ID: id, Parent: parent}, Children: strings.Fields(children), At: at}
	}
	for name, c := range map[string]struct {
		nodes []exported.Linked
		want  string
	}{
		"by children": {[]exported.Linked{link("b", "r", "", 2), link("a", "r", "", 1),
			link("r", "", "b a", 0)}, "r< b<r a<r"},
		"a child that is not listed": {[]exported.Linked{link("b", "r", "", 2), link("a", "r", "", 1),
			link("r", "", "b", 0)}, "r< b<r a<r"},
		"a parent who alone knows it": {[]exported.Linked{link("a", "", "", 1), link("r", "", "a", 2)}, "r< a<r"},
		"another's child": {[]exported.Linked{link("a", "r", "", 1), link("r", "", "", 0), link("x", "", "a", 2)},
			"r< a<r x<"},
		"a circle":                    {[]exported.Linked{link("a", "b", "b", 1), link("b", "a", "a", 2)}, "a<b b<a"},
		"children that are not there": {[]exported.Linked{link("a", "", "gone a", 1)}, "a<a"},
	} {
		var got []string
		for _, n := range exported.OrderNodes(c.nodes) {
			got = append(got, n.ID+"<"+n.Parent)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
}

func TestNewest(t *testing.T) {
	say := func(at int64) []transcript.Entry {
		return []transcript.Entry{{Message: scrollback.Message{CreatedAt: at}}}
	}
	nodes := []tree.Node{{ID: "a", Entries: say(1)}, {ID: "b", Parent: "a", Entries: say(9)}, {ID: "e", Parent: "b"},
		{ID: "f", Parent: "e"},
		{ID: "c", Parent: "a", Entries: say(5)}}
	if got := exported.NewestLeaf(nodes); got != "f" {
		t.Errorf("the newest is %s: what is empty counts as what is above it", got)
	}
	if got := exported.NewestLeaf(append(nodes, tree.Node{ID: "d", Parent: "a", Entries: say(9)})); got != "d" {
		t.Errorf("of two with one time the newest is %s", got)
	}
	if got := exported.NewestLeaf(nil); got != "" {
		t.Errorf("of none the newest is %s", got)
	}
}

func TestDataURL(t *testing.T) {
	for address, want := range map[string]string{"data:image/png;base64,aGk=": "hi", "data:text/plain,a%20b": "a b",
		"data:;base64,%%":        "",
		"https://example.com/,x": "", "data:image/png;base64,": ""} {
		b, ok := exported.DecodeDataURL(address)
		if string(b) != want || ok != (want != "") {
			t.Errorf("%s holds %q %v, want %q", address, b, ok, want)
		}
	}
}

// format takes objects with an id and a text.
var format = exported.Format{
	Sniff: func(_ string, head []byte) bool { return transcript.ItemHeadFields(head)["text"] },
	Talk: func(_ *exported.Assets, raw json.RawMessage) (*exported.Talk, error) {
		var c struct{ ID, Text string }
		if err := exported.DecodeJSON(raw, &c); err != nil {
			return nil, err
		}
		return &exported.Talk{ID: c.ID, Nodes: []tree.Node{{ID: "m", Entries: []transcript.Entry{
			{Message: scrollback.Message{ID: "m", Role: scrollback.RoleUser, Parts: scrollback.Say(c.Text)}}}}}}, nil
	},
}

func said(t *testing.T, files fs.FS) string {
	t.Helper()
	p := transcript.Place{FS: files, Name: "."}
	out := []string{}
	for s, err := range format.Sessions(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range format.Read(t.Context(), p, s) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Bad != nil:
				out = append(out, fmt.Sprintf("bad %d: %s", e.Bad.Line, e.Bad.Reason))
			case len(e.Message.Parts) > 0:
				out = append(out, fmt.Sprintf("%s %d: %s", e.Source, e.Line, e.Message.Parts.Text()))
			}
		}
	}
	return strings.Join(out, "; ")
}

func TestItems(t *testing.T) {
	for text, want := range map[string]string{
		`[{"id":"a","text":"x"},` + "\n" + `{"id":"b","text":"y"}]`: "a 1: x; b 2: y",
		`{"id":"a","text":"x"}`:             "a 1: x",
		"{\n\"id\":\"a\",\n\"text\":\"x\"}": "a 3: x",
		"\uFEFF" + `{"id":"a","text":"x"}` + "\n{bad}\n\n" + `{"id":"b","text":"y"}`: "a 1: x; bad 2: malformed JSON; b 4: y",
		`[{"id":"a","text":"x"},{"id":"a","text":"y"}]`:                              `a 1: x; bad 1: the conversation "a" is there twice`,
		`[{"text":"x"}]`:            "bad 1: a conversation without an id",
		`[{"id":"a","text":"x"},{"`: "a 1: x; bad 1: the file ends early: of its last record only 2 bytes are there",
		`[{"id":"a","text":7}]`:     "a 1: ",
		`[{"other":1}]`:             "",
	} {
		if got := said(t, fstest.MapFS{"a.json": {Data: []byte(text)}}); got != want {
			t.Errorf("%s says %s, want %s", text, got, want)
		}
	}
}

// Only files that may have conversations are looked at, and folders not without end.
func TestWhereFilesAre(t *testing.T) {
	one := func(id string) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, `[{"id":%q,"text":"x"}]`, id)}
	}
	got := said(t, fstest.MapFS{"b.json": one("b"), "a/a.JSONL": one("a"), ".hidden.json": one("h"),
		".git/x.json":     one("g"),
		"__MACOSX/b.json": one("m"), "c.txt": one("c"), "1/2/3/4/d.json": one("d"), "1/2/3/4/5/e.json": one("e")})
	if want := "d 1: x; a 1: x; b 1: x"; got != want {
		t.Errorf("what is found is %s, want %s", got, want)
	}
	named := transcript.Place{FS: fstest.MapFS{"upload": one("u"), "other": one("o")}, Name: "upload"}
	n := 0
	for s, err := range format.Sessions(t.Context(), named) {
		if n++; err != nil || s.Name != "upload" {
			t.Errorf("a file that was named is %+v, %v", s, err)
		}
	}
	if n != 1 {
		t.Errorf("a file that was named is %d sessions", n)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for _, err := range format.Sessions(gone, transcript.Place{FS: fstest.MapFS{"b.json": one("b")}, Name: "."}) {
		last = err
	}
	if last == nil {
		t.Error("a caller that has gone away is served")
	}
}
