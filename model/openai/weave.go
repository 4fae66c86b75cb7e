package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/wire"
)

// wovenValue is a JSON value that a stream sends in pieces. What is not joined with another piece
// is kept as it came.
type wovenValue struct {
	raw    json.RawMessage // as it came; nil once something was added
	opened bool
	text   *strings.Builder
	fields map[string]*wovenValue
	list   []*wovenValue
	kind   byte // the first byte of its JSON
}

// names are fields that say what a value is: of two pieces the later one counts.
var names = []string{"type", "id", "format", "role", "name", "model"}

// prose are fields whose pieces may be equal by chance. Any other text that comes twice, such
// as a signature, is the same one again.
var prose = []string{"text", "summary", "thinking", "content", "reasoning"}

func newWoven(raw json.RawMessage) *wovenValue {
	w := &wovenValue{raw: bytes.TrimSpace(raw)}
	if len(w.raw) > 0 {
		w.kind = w.raw[0]
	}
	return w
}

// isAbsent reports whether there is nothing, or null.
func (w *wovenValue) isAbsent() bool { return w == nil || w.kind == 0 || w.kind == 'n' }

// openValue takes a value apart, so that a piece can be added.
func (w *wovenValue) openValue() {
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
		w.fields = map[string]*wovenValue{}
		for name, v := range fields {
			w.fields[name] = newWoven(v)
		}
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		first := true
		for _, v := range list {
			w.pushElement(newWoven(v), first)
			first = false
		}
	}
}

// joinField adds a piece to the value of a field.
func (w *wovenValue) joinField(name string, piece *wovenValue) *wovenValue {
	switch {
	case piece.isAbsent():
		return w
	case w.isAbsent(), w.kind != piece.kind:
		return piece
	}
	w.openValue()
	piece.openValue()
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
			w.fields[field] = w.fields[field].joinField(field, v)
		}
	case '[':
		w.raw = nil
		for _, v := range piece.list {
			w.pushElement(v, false)
		}
	default:
		return piece
	}
	return w
}

// pushElement adds an element, or the piece of one, to a list.
func (w *wovenValue) pushElement(piece *wovenValue, first bool) {
	if piece.kind == '{' && !first {
		piece.openValue()
		for i := len(w.list) - 1; i >= max(0, len(w.list)-unfinished); i-- {
			one := w.list[i]
			if one.kind != '{' {
				continue
			}
			if one.openValue(); one.isRepeat(piece) {
				return
			}
			if one.isContinued(piece, i == len(w.list)-1) {
				one.joinField("", piece)
				return
			}
		}
	}
	w.list = append(w.list, piece)
}

// unfinished is how many elements of a list may be written at the same time.
const unfinished = 64

// isRepeat reports whether a piece is what is there already: something whole.
func (w *wovenValue) isRepeat(piece *wovenValue) bool {
	sign := w.fieldText("signature")
	data := w.fieldText("data")
	if sign+data == "" || sign != piece.fieldText("signature") || data != piece.fieldText("data") {
		return false
	}
	var a, b any
	return json.Unmarshal(w.toJSON(), &a) == nil && json.Unmarshal(piece.toJSON(), &b) == nil && reflect.DeepEqual(a, b)
}

// isContinued reports whether a piece belongs to an element: the last one, or one that has the
// piece's index. What has been signed is complete, and what is encrypted comes whole unless
// an id says otherwise.
func (w *wovenValue) isContinued(piece *wovenValue, last bool) bool {
	same := func(name string) bool {
		return piece.fields[name].isAbsent() || w.fields[name] != nil &&
			string(w.fields[name].toJSON()) == string(piece.fields[name].toJSON())
	}
	indexed := !piece.fields["index"].isAbsent()
	switch {
	case !last && !indexed, !same("type"), !same("index"),
		!indexed && !w.fields["index"].isAbsent() && !piece.fields["type"].isAbsent():
		return false
	case w.fieldText("id") != "" && piece.fieldText("id") != "" && !same("id"):
		return false
	case w.fieldText("data") != "" || piece.fieldText("data") != "":
		return indexed && piece.fieldText("id") != "" && same("id")
	}
	return w.fieldText("signature") == "" || indexed && piece.fieldText("signature") != "" &&
		piece.fieldText("text")+piece.fieldText("thinking") == ""
}

// fieldText returns the text in a field, or empty.
func (w *wovenValue) fieldText(name string) (s string) {
	if f := w.fields[name]; !f.isAbsent() {
		_ = json.Unmarshal(f.toJSON(), &s) // nothing, where it is not a text
	}
	return s
}

// toJSON returns the value as far as it came.
func (w *wovenValue) toJSON() json.RawMessage {
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
			b.Write(w.fields[name].toJSON())
		}
		b.WriteByte('}')
	default:
		b.WriteByte('[')
		for i, v := range w.list {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(v.toJSON())
		}
		b.WriteByte(']')
	}
	return b.Bytes()
}

// fieldFragments are fields that are being put together from the pieces of a stream: texts are
// joined, elements of lists by their index, objects by their fields.
type fieldFragments struct {
	fields map[string]*wovenValue
	size   int
}

// addPieces adds pieces.
func (f *fieldFragments) addPieces(pieces wire.Beside) {
	for name, raw := range pieces {
		f.size += len(name) + len(raw)
		if f.fields == nil {
			f.fields = map[string]*wovenValue{}
		}
		f.fields[name] = f.fields[name].joinField(name, newWoven(raw))
	}
}

// takeFields returns the fields so far, which are put together no further.
func (f *fieldFragments) takeFields() wire.Beside {
	var out wire.Beside
	for name, w := range f.fields {
		if out == nil {
			out = wire.Beside{}
		}
		out[name] = w.toJSON()
	}
	f.fields = nil
	return out
}
