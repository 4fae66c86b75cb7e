package merge_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/filltest"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

func same(id scrollback.MessageID) scrollback.MessageID { return id }

// wantFields checks that each field of a record but those left out changes its element.
func wantFields[T any](t *testing.T, element func(T) merge.Hash, left ...string) {
	t.Helper()
	var f filltest.Filler
	a := filltest.Filled[T](&f)
	b := filltest.Filled[T](&f)
	var walk func(at string, v, other reflect.Value)
	walk = func(at string, v, other reflect.Value) {
		if v.Kind() == reflect.Struct && v.NumField() > 0 {
			for i := range v.NumField() {
				walk(at+"."+v.Type().Field(i).Name, v.Field(i), other.Field(i))
			}
			return
		}
		was := element(a)
		kept := reflect.New(v.Type()).Elem()
		kept.Set(v)
		v.Set(other)
		if changed := element(a) != was; changed == slices.Contains(left, at) {
			t.Errorf("%s of %T: changes its element: %v", at, a, changed)
		}
		v.Set(kept)
	}
	walk("", reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem())
}

// What travels is in the digest, field by field; what is left out is each store's own, or follows from the rest.
func TestElementsHaveEveryField(t *testing.T) {
	wantFields(t, func(m merge.Message) merge.Hash { return m.Element() },
		".ID", // where there is a source
		".Born", ".Prev", ".CreatedAt", ".Artifacts", ".Content")
	wantFields(t, func(s merge.Segment) merge.Hash { return s.Element(same) },
		".Segment.Conversation", ".Segment.Branch", ".Segment.FirstSeq", ".Segment.LastSeq", ".Segment.SummaryOf")
	wantFields(t, func(k merge.Kept) merge.Hash { return k.Element(same) })
	wantFields(t, func(b merge.Branch) merge.Hash { return b.Element(same) })
	wantFields(t, func(p merge.Parent) merge.Hash { return p.Element(same) })
	wantFields(t, func(a merge.Alias) merge.Hash { return a.Element() })
	wantFields(t, func(s merge.Stone) merge.Hash { return s.Element() }, ".ID") // it is in its conversation's
	wantFields(t, func(f merge.Field) merge.Hash { return f.Element("n", same) })
}

// The hash of a receipt is of its branch, time, range and segments, and of nothing else.
func TestReceiptElement(t *testing.T) {
	var f filltest.Filler
	a := filltest.Filled[merge.Receipt](&f)
	b := filltest.Filled[merge.Receipt](&f)
	b.First = a.First
	b.Last = a.Last
	b.Receipt.CreatedAt = a.Receipt.CreatedAt
	b.Receipt.Segments = a.Receipt.Segments
	if a.Element(same) != b.Element(same) {
		t.Error("something else of a receipt is in its hash")
	}
	for name, change := range map[string]func(*merge.Receipt){
		"first":    func(r *merge.Receipt) { r.First = "other" },
		"last":     func(r *merge.Receipt) { r.Last = "other" },
		"time":     func(r *merge.Receipt) { r.Receipt.CreatedAt++ },
		"segments": func(r *merge.Receipt) { r.Receipt.Segments = nil },
	} {
		c := a
		change(&c)
		if c.Element(same) == a.Element(same) {
			t.Errorf("the %s of a receipt is not in its hash", name)
		}
	}
}

// A sum does not depend on the order, and what is taken out leaves no trace.
func TestSum(t *testing.T) {
	h := func(text string) merge.Hash { return merge.UnknownElement(text, nil) }
	a := merge.Sum{}.Add(h("a")).Add(h("b")).Add(h("c"))
	if a != (merge.Sum{}.Add(h("c")).Add(h("a")).Add(h("b"))) ||
		a.Remove(h("b")) != (merge.Sum{}.Add(h("a")).Add(h("c"))) {
		t.Error("a sum depends on the order")
	}
	if a == a.Add(h("a")) || a.Remove(h("a")).Remove(h("b")).Remove(h("c")) != (merge.Sum{}) {
		t.Error("a sum does not count")
	}
	text, err := json.Marshal(a)
	var back merge.Sum
	if err != nil || json.Unmarshal(text, &back) != nil || back != a {
		t.Errorf("%s was read as %v (%v)", text, back, err)
	}
	for _, bad := range []string{`""`, `"00"`, `"` + strings.Repeat("x", 64) + `"`} {
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("%s was read as a sum", bad)
		}
		if json.Unmarshal([]byte(bad), new(merge.Hash)) == nil {
			t.Errorf("%s was read as a hash", bad)
		}
	}
}

// Fields are ordered by whose title it is, then by the clock, then by the value, and never by the author.
func TestFieldOrder(t *testing.T) {
	field := func(value string, at int64, by string) merge.Field {
		return merge.Field{Value: json.RawMessage(value), Stamp: stamp.Stamp{At: at, By: by}}
	}
	for name, test := range map[string]struct {
		field         string
		less, greater merge.Field
	}{
		"clock":            {"model", field(`"z"`, 1, "z"), field(`"a"`, 2, "a")},
		"equal clocks":     {"model", field(`"a"`, 2, "z"), field(`"b"`, 2, "a")},
		"never changed":    {"model", field(`"z"`, 99, ""), field(`"a"`, 2, "a")},
		"a person's title": {"title", field(`{"title":"z","by":"tool"}`, 9, "z"), field(`{"title":"a"}`, 2, "a")},
		"a tool's": {
			"title",
			field(`{"title":"z","by":"model"}`, 9, "z"),
			field(`{"title":"a","by":"tool"}`, 2, "a"),
		},
		"a model's": {
			"title",
			field(`{"title":"z","by":"prompt"}`, 9, "z"),
			field(`{"title":"a","by":"model"}`, 2, "a"),
		},
		"the clock within a kind": {"title", field(`{"title":"z"}`, 1, "z"), field(`{"title":"a"}`, 2, "a")},
	} {
		if test.less.Compare(test.field, test.greater) >= 0 || test.greater.Compare(test.field, test.less) <= 0 {
			t.Errorf("%s does not decide", name)
		}
	}
}

// A clock that is mended goes behind what counts, and only the own one.
func TestMend(t *testing.T) {
	own := func(node string) bool { return node == "own" }
	const now = int64(1_000_000_000)
	ahead := now + stamp.Bound.Milliseconds() + 1
	for name, test := range map[string]struct {
		at     stamp.Stamp
		newest int64
		want   int64
	}{
		"ahead":          {stamp.Stamp{At: ahead, By: "own"}, 5, now},
		"behind others":  {stamp.Stamp{At: ahead, By: "own"}, now + 7, now + 8},
		"another's":      {stamp.Stamp{At: ahead, By: "other"}, 5, ahead},
		"not far enough": {stamp.Stamp{At: ahead - 1, By: "own"}, 5, ahead - 1},
	} {
		if got := merge.Mend(test.at, own, test.newest, now); got.At != test.want || got.By != test.at.By {
			t.Errorf("%s: %+v, want %d", name, got, test.want)
		}
	}
	stamps := []stamp.Stamp{{At: 7, By: "a"}, {At: ahead, By: "a"}, {At: now + 5, By: ""}, {At: 9, By: "b"}}
	if got := merge.Newest(slices.Values(stamps), now); got != 9 {
		t.Errorf("the newest is %d, want 9", got)
	}
}
