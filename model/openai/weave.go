package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/wire"
)

// woven is a JSON value that a stream sends in pieces. What is not joined with another piece
// is kept as it came.
type woven struct {
	raw    json.RawMessage // as it came; nil once something was added
	opened bool
	text   *strings.Builder
	fields map[string]*woven
	list   []*woven
	kind   byte // the first byte of its JSON
}

// names are fields that say what a value is: of two pieces the later one counts.
var names = []string{"type", "id", "format", "role", "name", "model"}

// prose are fields whose pieces may be equal by chance. Any other text that comes twice, such
// as a signature, is the same one again.
var prose = []string{"text", "summary", "thinking", "content", "reasoning"}

func weave(raw json.RawMessage) *woven {
	w := &woven{raw: bytes.TrimSpace(raw)}
	if len(w.raw) > 0 {
		w.kind = w.raw[0]
	}
	return w
}

// absent reports whether there is nothing, or null.
func (w *woven) absent() bool { return w == nil || w.kind == 0 || w.kind == 'n' }

// open takes a value apart, so that a piece can be added.
func (w *woven) open() {
	if w.opened {
		return
	}
	w.opened = true
	raw := w.raw
	switch w.kind {
	case '"':
		var s string
		_ = json.Unmarshal(raw, &s) // it was JSON when it came
		w.text = &strings.Builder{}
		w.text.WriteString(s)
	case '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields)
		w.fields = map[string]*woven{}
		for name, v := range fields {
			w.fields[name] = weave(v)
		}
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		first := true
		for _, v := range list {
			w.push(weave(v), first)
			first = false
		}
	}
}

// join adds a piece to the value of a field.
func (w *woven) join(name string, piece *woven) *woven {
	switch {
	case piece.absent():
		return w
	case w.absent(), w.kind != piece.kind:
		return piece
	}
	w.open()
	piece.open()
	switch w.kind {
	case '"':
		more := piece.text.String()
		switch {
		case slices.Contains(names, name):
			if more != "" {
				return piece
			}
		case slices.Contains(prose, name) || more != w.text.String():
			w.raw = nil
			w.text.WriteString(more)
		}
	case '{':
		w.raw = nil
		for field, v := range piece.fields {
			w.fields[field] = w.fields[field].join(field, v)
		}
	case '[':
		w.raw = nil
		for _, v := range piece.list {
			w.push(v, false)
		}
	default:
		return piece
	}
	return w
}

// push adds an element, or the piece of one, to a list.
func (w *woven) push(piece *woven, first bool) {
	if piece.kind == '{' && !first {
		piece.open()
		for i := len(w.list) - 1; i >= max(0, len(w.list)-unfinished); i-- {
			one := w.list[i]
			if one.kind != '{' {
				continue
			}
			if one.open(); one.again(piece) {
				return
			}
			if one.continues(piece, i == len(w.list)-1) {
				one.join("", piece)
				return
			}
		}
	}
	w.list = append(w.list, piece)
}

// unfinished is how many elements of a list may be written at the same time.
const unfinished = 64

// again reports whether a piece is what is there already: something whole.
func (w *woven) again(piece *woven) bool {
	sign := w.word("signature")
	data := w.word("data")
	if sign+data == "" || sign != piece.word("signature") || data != piece.word("data") {
		return false
	}
	var a, b any
	return json.Unmarshal(w.json(), &a) == nil && json.Unmarshal(piece.json(), &b) == nil && reflect.DeepEqual(a, b)
}

// continues reports whether a piece belongs to an element: the last one, or one that has the
// piece's index. What has been signed is complete, and what is encrypted comes whole unless
// an id says otherwise.
func (w *woven) continues(piece *woven, last bool) bool {
	same := func(name string) bool {
		return piece.fields[name].absent() || w.fields[name] != nil &&
			string(w.fields[name].json()) == string(piece.fields[name].json())
	}
	indexed := !piece.fields["index"].absent()
	switch {
	case !last && !indexed, !same("type"), !same("index"),
		!indexed && !w.fields["index"].absent() && !piece.fields["type"].absent():
		return false
	case w.word("id") != "" && piece.word("id") != "" && !same("id"):
		return false
	case w.word("data") != "" || piece.word("data") != "":
		return indexed && piece.word("id") != "" && same("id")
	}
	return w.word("signature") == "" || indexed && piece.word("signature") != "" &&
		piece.word("text")+piece.word("thinking") == ""
}

// word is the text in a field, or empty.
func (w *woven) word(name string) (s string) {
	if f := w.fields[name]; !f.absent() {
		_ = json.Unmarshal(f.json(), &s) // nothing, where it is not a text
	}
	return s
}

// json is the value as far as it came.
func (w *woven) json() json.RawMessage {
	var b bytes.Buffer
	switch {
	case w == nil:
		return json.RawMessage("null")
	case w.raw != nil:
		return w.raw
	case w.kind == '"':
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(w.text.String()) // a text is always JSON
		return bytes.TrimSpace(b.Bytes())
	case w.kind == '{':
		b.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(w.fields)) {
			if i > 0 {
				b.WriteByte(',')
			}
			key, _ := json.Marshal(name) // a text is always JSON
			b.Write(key)
			b.WriteByte(':')
			b.Write(w.fields[name].json())
		}
		b.WriteByte('}')
	default:
		b.WriteByte('[')
		for i, v := range w.list {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(v.json())
		}
		b.WriteByte(']')
	}
	return b.Bytes()
}

// fragments are fields that are being put together from the pieces of a stream: texts are
// joined, elements of lists by their index, objects by their fields.
type fragments struct {
	fields map[string]*woven
	size   int
}

// add adds pieces.
func (f *fragments) add(pieces wire.Beside) {
	for name, raw := range pieces {
		f.size += len(name) + len(raw)
		if f.fields == nil {
			f.fields = map[string]*woven{}
		}
		f.fields[name] = f.fields[name].join(name, weave(raw))
	}
}

// take is the fields so far, which are put together no further.
func (f *fragments) take() wire.Beside {
	var out wire.Beside
	for name, w := range f.fields {
		if out == nil {
			out = wire.Beside{}
		}
		out[name] = w.json()
	}
	f.fields = nil
	return out
}
