package splice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Item is a value of a list, with what stands before it: a comma, except before the first,
// and space.
type Item struct {
	Lead []byte
	Raw  json.RawMessage
}

// File is an object with one list that is long. Its other fields are set in Shell, in which
// the list is empty.
type File struct {
	Form
	Shell json.RawMessage
	Line  int // where the list began, from 1

	name   string
	before []byte // a byte order mark, and space
	after  []byte
	tail   []byte // behind the last item
	empty  []byte // what a list without items holds
	next   []byte // what stands before another item
	first  []byte // and before the first
}

var bom = []byte("\uFEFF")

// Open reads an object whose field name is a list. Errors name the line and the column. The
// items' spans lie in b, which must not be changed any more.
func Open(b []byte, name string) (*File, []Item, error) {
	f := &File{name: name}
	from := 0
	if bytes.HasPrefix(b, bom) {
		from = len(bom)
	}
	if len(bytes.TrimSpace(b[from:])) == 0 {
		return nil, nil, newFault(b, 0, "the file is empty")
	}
	if err := CheckJSON(b[from:]); err != nil {
		return nil, nil, err
	}
	from = skipSpace(b, from)
	to := skipValue(b, from)
	object := b[from:to]
	f.before = b[:from]
	f.after = b[to:]
	f.Form = DetectForm(object)
	if object[0] != '{' {
		return nil, nil, newFault(b, from, "the file is not an object")
	}
	at, ok := findMember(object, name)
	if !ok {
		return nil, nil, newFault(b, from, fmt.Sprintf("the object has no list %q", name))
	}
	list := object[at.From:at.To]
	if list[0] != '[' {
		return nil, nil, newFault(b, from+at.From, fmt.Sprintf("%q is not a list", name))
	}
	f.Line, _ = LineAndColumn(b, from+at.From)
	f.Shell = replaceSpan(object, at, []byte("[]"))
	var out []Item
	end := 1
	for _, s := range ListSpans(list) {
		out = append(out, Item{list[end:s.From:s.From], list[s.From:s.To:s.To]})
		end = s.To
	}
	f.tail = list[end : len(list)-1]
	f.first = []byte(f.newLine(2))
	f.next = []byte("," + f.newLine(2))
	switch {
	case len(out) == 0:
		f.empty = f.tail
		f.tail = []byte(f.newLine(1))
	case len(out) == 1:
		f.next = slices.Concat([]byte(","), out[0].Lead)
	default:
		f.next = out[1].Lead
	}
	return f, out, nil
}

// NewItem returns a new item, for a list that has items already or has none.
func (f *File) NewItem(raw json.RawMessage, first bool) Item {
	if first {
		return Item{f.first, raw}
	}
	return Item{f.next, raw}
}

// WithItems returns the file with these items.
func (f *File) WithItems(list []Item) []byte {
	before, after := f.AroundItems(len(list) > 0)
	size := len(before) + len(after)
	for _, it := range list {
		size += len(it.Lead) + len(it.Raw)
	}
	out := append(make([]byte, 0, size), before...)
	for _, it := range list {
		out = append(append(out, it.Lead...), it.Raw...)
	}
	return append(out, after...)
}

// AroundItems returns what stands before the items of the file and behind them, or where there are none,
// around them.
func (f *File) AroundItems(items bool) (before, after []byte) {
	at, _ := findMember(f.Shell, f.name)
	inner := f.empty
	if items {
		inner = f.tail
	}
	return slices.Concat(f.before, f.Shell[:at.From+1]), slices.Concat(inner, f.Shell[at.To-1:], f.after)
}
