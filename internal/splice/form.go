package splice

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Form is how a file is indented: with what, and how its lines end. The zero value writes
// everything on one line.
type Form struct{ Indent, Newline string }

// DetectForm returns the form of an object, by its first line.
func DetectForm(object []byte) (f Form) {
	i := bytes.IndexByte(object, '{') + 1
	end := skipSpace(object, i)
	blank := string(object[i:end])
	at := strings.LastIndexByte(blank, '\n')
	if at < 0 {
		return f
	}
	f.Newline = "\n"
	f.Indent = blank[at+1:]
	if strings.HasSuffix(blank[:at+1], "\r\n") {
		f.Newline = "\r\n"
	}
	return f
}

// newLine begins a line at a depth.
func (f Form) newLine(depth int) string {
	if f.Newline == "" {
		return ""
	}
	return f.Newline + strings.Repeat(f.Indent, depth)
}

// MarshalAt returns v as JSON without HTML escapes, as it stands at a depth.
func (f Form) MarshalAt(v any, depth int) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if f.Newline == "" {
		return raw, nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, strings.Repeat(f.Indent, depth), f.Indent); err != nil {
		return nil, err
	}
	if f.Newline == "\n" {
		return out.Bytes(), nil
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(f.Newline)), nil
}

// SetField gives a field of an object, which stands at a depth, another value; nil removes it.
// A new field comes last. What is not an object becomes one.
func (f Form) SetField(object []byte, depth int, name string, value json.RawMessage) json.RawMessage {
	members := ListMembers(object)
	var first, last *Member
	for i := range members {
		if members[i].Name == name {
			last = &members[i]
		}
	}
	switch {
	case value == nil && last == nil:
		return object
	case value == nil:
		return f.removeField(object, members, name)
	case last != nil:
		return replaceSpan(object, last.Value, value)
	}
	quoted, _ := f.MarshalAt(name, 0) // a text can always be written
	field := slices.Concat(quoted, []byte(":"), value)
	if f.Newline != "" || hasSpaces(object, members) {
		field = slices.Concat(quoted, []byte(": "), value)
	}
	if len(members) == 0 {
		return slices.Concat([]byte("{"+f.newLine(depth+1)), field, []byte(f.newLine(depth)+"}"))
	}
	first = &members[0]
	last = &members[len(members)-1]
	gap := object[bytes.IndexByte(object, '{')+1 : first.At]
	if len(members) > 1 {
		gap = object[members[len(members)-2].Value.To:last.At]
		gap = gap[bytes.IndexByte(gap, ',')+1:]
	}
	return replaceSpan(object, Span{last.Value.To, last.Value.To}, slices.Concat([]byte(","), gap, field))
}

// hasSpaces reports whether an object has spaces behind its colons.
func hasSpaces(object []byte, members []Member) bool {
	return len(members) > 0 && members[0].Value.From > 0 && object[members[0].Value.From-1] == ' '
}

// removeField returns an object without a field, however often it stands there.
func (f Form) removeField(object []byte, members []Member, name string) json.RawMessage {
	kept := slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Name == name })
	if len(kept) == 0 {
		return json.RawMessage("{}")
	}
	out := slices.Clone(object[:members[0].At])
	for i, m := range kept {
		if i > 0 {
			at := slices.IndexFunc(members, func(o Member) bool { return o.At == m.At })
			out = append(out, object[members[at-1].Value.To:m.At]...)
		}
		out = append(out, object[m.At:m.Value.To]...)
	}
	return append(out, object[members[len(members)-1].Value.To:]...)
}

func replaceSpan(b []byte, at Span, with []byte) json.RawMessage {
	return slices.Concat(b[:at.From], with, b[at.To:])
}

// MakeList returns a list of values, which stands at a depth; the values stand one deeper.
func (f Form) MakeList(values []json.RawMessage, depth int) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, f.newLine(depth+1)...), v...)
	}
	if len(values) > 0 {
		out = append(out, f.newLine(depth)...)
	}
	return append(out, ']')
}

// ListValues returns the values of a list, or none if it is something else.
func ListValues(list []byte) (out []json.RawMessage) {
	if i := skipSpace(list, 0); i == len(list) || list[i] != '[' {
		return nil
	}
	for _, s := range ListSpans(list) {
		out = append(out, list[s.From:s.To:s.To])
	}
	return out
}
