package secrets

import (
	"bytes"
	"encoding/json"
	"strings"
)

// MaskJSON returns a JSON document with marks in the place of what looks like secrets in its
// texts, and how many. A text counts as assigned to the name of its field, or to the flag
// before it in a list. All else stays as it was written. What is not JSON is masked as text.
func MaskJSON(raw []byte) ([]byte, int) { return maskJSON(raw, nil) }

// maskJSON is MaskJSON, and gives each secret to note, which may be nil.
func maskJSON(raw []byte, note func(secret string)) ([]byte, int) {
	if len(raw) == 0 {
		return raw, 0
	}
	if !json.Valid(raw) {
		text, n := maskText(string(raw), note)
		if n == 0 {
			return raw, 0
		}
		return []byte(text), n
	}
	w := jsonWalker{raw: raw, note: note}
	for w.at < len(raw) {
		w.takeStep()
	}
	if w.n == 0 {
		return raw, 0
	}
	return append(w.out, raw[w.done:]...), w.n
}

// jsonWalker goes through a document from text to text.
type jsonWalker struct {
	raw  []byte
	at   int
	done int // up to where it is in out
	out  []byte
	n    int
	note func(secret string) // may be nil

	lists []bool // of what is open: whether it is a list
	key   string // of the value that comes
	value bool   // a field's name was read
}

func (w *jsonWalker) takeStep() {
	switch w.raw[w.at] {
	case '{', '[':
		w.lists = append(w.lists, w.raw[w.at] == '[')
		w.value = false
		w.key = ""
	case '}', ']':
		w.lists = w.lists[:len(w.lists)-1]
		w.value = false
		w.key = ""
	case ':':
		w.value = true
	case ',':
		if w.value = false; len(w.lists) > 0 && !w.lists[len(w.lists)-1] {
			w.key = ""
		}
	case '"':
		w.maskString()
		return
	}
	w.at++
}

// maskString masks the text that begins here.
func (w *jsonWalker) maskString() {
	from := w.at
	for w.at++; w.raw[w.at] != '"'; w.at++ {
		if w.raw[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	literal := w.raw[from:w.at]
	text := string(literal[1 : len(literal)-1])
	if strings.IndexByte(text, '\\') >= 0 && json.Unmarshal(literal, &text) != nil {
		return // it is JSON
	}
	inList := len(w.lists) > 0 && w.lists[len(w.lists)-1]
	name := ""
	if w.value || inList && strings.HasPrefix(w.key, "-") {
		name = w.key
	}
	masked, n := maskValue(name, text, w.note)
	w.key = ""
	if !w.value {
		w.key = text
	}
	if n == 0 {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(masked) != nil {
		return // a text always can
	}
	w.out = append(append(w.out, w.raw[w.done:from]...), bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	w.done = w.at
	w.n += n
}

// maskValue masks a text that is the value of a name.
func maskValue(name, text string, note func(secret string)) (string, int) {
	masked, n := maskText(text, note)
	if n > 0 {
		return masked, n
	}
	by, what := nameStrength(name)
	from := skipScheme(text, 0)
	if by == none || !isSecret(text[from:], true, by) {
		return text, 0
	}
	if note != nil {
		note(text[from:])
	}
	return text[:from] + SecretMark(what), 1
}
