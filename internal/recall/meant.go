package recall

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// maxUnwrapped bounds how often JSON may stand in a string of JSON.
const maxUnwrapped = 3

// repairArguments returns the one object of arguments that a model meant: out of a string or a fence that it
// put it into, once where it was written twice, and with numbers and switches of shape t as
// such that it wrote as text. What cannot be taken so is an error about what the model sent.
func repairArguments(raw json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	text := []byte(raw)
	var wrapped map[string]json.RawMessage
	if json.Unmarshal(raw, &wrapped) == nil && len(wrapped) == 1 && wrapped["malformed_arguments"] != nil {
		text = wrapped["malformed_arguments"]
	}
	for range maxUnwrapped {
		var inner string
		if json.Unmarshal(text, &inner) != nil {
			break
		}
		text = stripFence(inner)
	}
	if len(bytes.TrimSpace(text)) == 0 || string(text) == "null" {
		text = []byte(`{}`)
	}
	wrong := func(what string) error {
		return scrollback.ParamErrorf("recall", "arguments",
			i18n.CallArgumentsNeedObject, what, clip.ClipLine(string(text), sentRunes))
	}
	if !json.Valid(text) {
		if sound := repairJSON(text); sound != nil {
			text = sound
		}
	}
	var fields map[string]json.RawMessage
	var first json.RawMessage
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var one json.RawMessage
		err := dec.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && first != nil && len(bytes.Trim(text[len(text)-remainingBytes(text, dec):], "}]); \t\r\n`")) == 0 {
			break // closed once too often
		}
		if err != nil {
			return nil, wrong("are not JSON")
		}
		switch {
		case first == nil || string(first) == "{}":
		case string(one) == "{}":
			continue
		case !sameJSON(first, one):
			return nil, wrong("are several JSON objects; make one call for each")
		}
		first = one
	}
	var list []json.RawMessage
	if json.Unmarshal(first, &list) == nil && len(list) == 1 {
		first = list[0]
	}
	if json.Unmarshal(first, &fields) != nil || fields == nil {
		return nil, wrong("are not a JSON object")
	}
	fields = unwrapObject(fields, t)
	out := map[string]json.RawMessage{}
	for name, v := range fields {
		own, f, ok := findField(t, name)
		_, twice := fields[own]
		switch {
		case ok && (own == name || !twice):
			out[own] = coerceValue(v, f)
		case ok || string(v) != "null":
			out[name] = v
		}
	}
	return json.Marshal(out)
}

// remainingBytes returns how much of a text a decoder has not decoded.
func remainingBytes(text []byte, dec *json.Decoder) int {
	return max(0, len(text)-int(dec.InputOffset()))
}

// wrapperNames are what models put around the arguments of a call, as the field that holds them
// is called in one API or another.
var wrapperNames = []string{"arguments", "args", "input", "parameters", "params"}

// unwrapObject returns the object in a wrapper, where one stands alone and the shape has no such field.
func unwrapObject(fields map[string]json.RawMessage, t reflect.Type) map[string]json.RawMessage {
	for _, name := range wrapperNames {
		v, ok := fields[name]
		_, named := fields["name"] // of the tool
		if _, _, own := findField(t, name); !ok || own || len(fields) > 2 || len(fields) == 2 && !named {
			continue
		}
		var text string
		if json.Unmarshal(v, &text) == nil {
			v = json.RawMessage(text)
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(v, &inner) == nil && inner != nil {
			return inner
		}
	}
	return fields
}

// repairJSON is JSON for what is almost JSON: with commas too many, strings in single quotes or
// over several lines, and the words of Python. It is nil where that does not make it sound:
// nothing is ever added or guessed.
func repairJSON(text []byte) []byte {
	var out bytes.Buffer
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			end := i + 1
			for ; end < len(text) && text[end] != c; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			if end >= len(text) {
				return nil
			}
			requote(&out, text[i+1:end], c)
			i = end + 1
		case c == ',':
			rest := bytes.TrimLeft(text[i+1:], " \t\r\n")
			if len(rest) == 0 || rest[0] != '}' && rest[0] != ']' {
				out.WriteByte(c)
			}
			i++
		case c >= 'A' && c <= 'Z':
			word := text[i:]
			if n := bytes.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }); n >= 0 {
				word = word[:n]
			}
			out.WriteString(map[string]string{"True": "true", "False": "false", "None": "null"}[string(word)])
			i += len(word)
		default:
			out.WriteByte(c)
			i++
		}
	}
	if !json.Valid(out.Bytes()) {
		return nil
	}
	return out.Bytes()
}

// requote writes what stands between quotes as a string of JSON.
func requote(out *bytes.Buffer, within []byte, quote byte) {
	out.WriteByte('"')
	for i := 0; i < len(within); i++ {
		switch c := within[i]; {
		case c == '\\' && i+1 < len(within) && within[i+1] == '\'':
		case c == '\\' && i+1 < len(within):
			out.Write(within[i : i+2])
			i++
		case c == '"' && quote != '"':
			out.WriteString(`\"`)
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\r':
			out.WriteString(`\r`)
		case c == '\t':
			out.WriteString(`\t`)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
}

// sentRunes is how much of its own arguments a model is shown.
const sentRunes = 200

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// stripFence returns a text without the fence of a block of code around it.
func stripFence(s string) []byte {
	s = strings.TrimSpace(s)
	if body, ok := strings.CutPrefix(s, "```"); ok {
		if _, rest, ok := strings.Cut(body, "\n"); ok {
			s = strings.TrimSuffix(strings.TrimSpace(rest), "```")
		}
	}
	return []byte(strings.TrimSpace(s))
}

// findField returns a field by its name in JSON, however its words are put together, and its type.
func findField(t reflect.Type, name string) (own string, kind reflect.Kind, ok bool) {
	if t.Kind() != reflect.Struct {
		return "", 0, false
	}
	joined := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(s) }
	for f := range t.Fields() {
		own, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if own == "" {
			own = f.Name
		}
		if strings.EqualFold(joined(own), joined(name)) {
			of := f.Type
			for of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			if strings.EqualFold(own, name) {
				own = name
			}
			return own, of.Kind(), true
		}
	}
	return "", 0, false
}

// coerceValue returns a value as its field wants it, if it is one that was written as another type.
func coerceValue(v json.RawMessage, want reflect.Kind) json.RawMessage {
	var text string
	isText := json.Unmarshal(v, &text) == nil && string(v) != "null"
	text = strings.TrimSpace(text)
	var list []json.RawMessage
	switch {
	case want == reflect.Slice && isText && json.Unmarshal([]byte(text), &list) == nil:
		return json.RawMessage(text) // a list, as text
	case want == reflect.Slice && isText:
		return json.RawMessage("[" + string(v) + "]")
	case want == reflect.String && json.Unmarshal(v, &list) == nil && len(list) == 1:
		return coerceValue(list[0], want)
	case want == reflect.String && !isText && len(v) > 0 &&
		(v[0] == '-' || v[0] >= '0' && v[0] <= '9' || v[0] == 't' || v[0] == 'f'):
		quoted, err := json.Marshal(string(v))
		if err == nil {
			return quoted
		}
	case !isText:
		if whole, ok := strings.CutSuffix(string(v), ".0"); ok && want != reflect.String {
			return json.RawMessage(whole)
		}
	case want == reflect.Bool && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
		return json.RawMessage(strings.ToLower(text))
	case want >= reflect.Int && want <= reflect.Float64 && text == "":
		return json.RawMessage(`null`)
	case want >= reflect.Int && want <= reflect.Float64:
		var n json.Number
		if json.Unmarshal([]byte(text), &n) == nil {
			return json.RawMessage(strings.TrimSuffix(text, ".0"))
		}
	}
	return v
}
