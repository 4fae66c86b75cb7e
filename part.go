package scrollback

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// Part is one piece of a message: [Text], [Image], [File], [ToolCall],
// [ToolResult] or [Reasoning], and nothing else.
type Part interface {
	partType() string
}

// Opaque is a provider's payload that must go back to it verbatim, such as a
// thinking signature. It is meaningful only to the model that made the message.
type Opaque = json.RawMessage

// Text is plain text. With Reference it is what a mark in the prompt named.
type Text struct {
	Text      string     `json:"text"`
	Reference *Reference `json:"reference,omitempty"`
	Opaque    Opaque     `json:"opaque,omitempty"`
	Cut       *Cut       `json:"cut,omitempty"`
}

// Cut holds the weight of the whole of a text of which only the two ends are shown. It is set where
// a request is shown, and never stored.
type Cut struct {
	Ref    Ref   `json:"ref"`
	Bytes  int64 `json:"bytes"`
	Tokens int64 `json:"tokens"`
}

// Image is a raster image, kept as an artifact or else at an http(s) address, from which
// the model's server fetches it: then nothing is known of its bytes. Size is in bytes,
// Width and Height in pixels, as it is shown. Detail is low, high, auto or empty.
type Image struct {
	Artifact  ArtifactID `json:"artifact"`
	URL       string     `json:"url,omitempty"`
	MediaType string     `json:"media_type"`
	Name      string     `json:"name,omitempty"`
	Size      int64      `json:"size"`
	Width     int        `json:"width,omitempty"`
	Height    int        `json:"height,omitempty"`
	Detail    string     `json:"detail,omitempty"`
	Opaque    Opaque     `json:"opaque,omitempty"`
}

// Location returns where the image can be read: its artifact's ref, or its address.
func (i Image) Location() string {
	if i.Artifact == "" && i.URL != "" {
		return i.URL
	}
	return string(ArtifactRef(i.Artifact))
}

// File is any other attachment kept as an artifact. Size is in bytes.
type File struct {
	Artifact  ArtifactID `json:"artifact"`
	MediaType string     `json:"media_type"`
	Name      string     `json:"name,omitempty"`
	Size      int64      `json:"size"`
	Opaque    Opaque     `json:"opaque,omitempty"`
}

// ToolCall is a model's call of a tool; Arguments is a JSON document.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Opaque    Opaque          `json:"opaque,omitempty"`
}

// IsRecall reports whether the call looks things up in the log: it repeats words of the
// log, so it is never searched.
func (c ToolCall) IsRecall() bool { return strings.HasPrefix(c.Name, RecallPrefix) }

// ToolResult is the result of the call CallID. When Artifact is set, Text holds only
// the head and tail of an output, and the artifact all of it. Recall marks the result
// of a recall tool: it repeats the log, so it is never searched.
type ToolResult struct {
	CallID   string     `json:"call_id"`
	Name     string     `json:"name"`
	Text     string     `json:"text,omitempty"`
	Artifact ArtifactID `json:"artifact,omitempty"`
	IsError  bool       `json:"is_error,omitempty"`
	Recall   bool       `json:"recall,omitempty"`
	Opaque   Opaque     `json:"opaque,omitempty"`
	Cut      *Cut       `json:"cut,omitempty"`
}

// Reasoning is the visible thinking of a model.
type Reasoning struct {
	Text   string `json:"text"`
	Opaque Opaque `json:"opaque,omitempty"`
}

func (Text) partType() string       { return "text" }
func (Image) partType() string      { return "image" }
func (File) partType() string       { return "file" }
func (ToolCall) partType() string   { return "tool_call" }
func (ToolResult) partType() string { return "tool_result" }
func (Reasoning) partType() string  { return "reasoning" }

// PartTypes lists the JSON "type" of every kind of part.
func PartTypes() []string {
	return []string{"text", "image", "file", "tool_call", "tool_result", "reasoning"}
}

// Parts is the content of a message. As JSON it is an array of objects with a
// "type"; a bare string stands for one text part on input.
type Parts []Part

// Say returns the parts of a message of plain text.
func Say(text string) Parts { return Parts{Text{Text: text}} }

// Text joins the text parts with newlines: what a person reads as the message. What the
// message refers to is not part of it.
func (ps Parts) Text() string {
	var buf bytes.Buffer
	for _, p := range ps {
		if t, ok := p.(Text); ok && t.Reference == nil {
			if buf.Len() > 0 {
				buf.WriteByte('\n')
			}
			buf.WriteString(t.Text)
		}
	}
	return buf.String()
}

// Bytes returns the length of the texts and results, with what the message refers to.
func (ps Parts) Bytes() (n int) {
	for _, p := range ps {
		switch p := p.(type) {
		case Text:
			n += len(p.Text)
		case ToolResult:
			n += len(p.Text)
		case Image, File, ToolCall, Reasoning:
		}
	}
	return n
}

// Calls lists the tool calls in order.
func (ps Parts) Calls() []ToolCall { return selectParts[ToolCall](ps) }

// Results lists the tool results in order.
func (ps Parts) Results() []ToolResult { return selectParts[ToolResult](ps) }

// Artifacts yields the artifacts that the parts name.
func (ps Parts) Artifacts() iter.Seq[ArtifactID] {
	return func(yield func(ArtifactID) bool) {
		for _, p := range ps {
			var id ArtifactID
			switch p := p.(type) {
			case Image:
				id = p.Artifact
			case File:
				id = p.Artifact
			case ToolResult:
				id = p.Artifact
			case Text, ToolCall, Reasoning:
			}
			if id != "" && !yield(id) {
				return
			}
		}
	}
}

func selectParts[T Part](ps Parts) []T {
	var out []T
	for _, p := range ps {
		if v, ok := p.(T); ok {
			out = append(out, v)
		}
	}
	return out
}

// MarshalJSON writes the array form.
func (ps Parts) MarshalJSON() ([]byte, error) {
	out := make([]byte, 1, 64+ps.Bytes()+ps.Bytes()/8)
	out[0] = '['
	for i, p := range ps {
		if i > 0 {
			out = append(out, ',')
		}
		if plain := appendPlainPart(out, p); plain != nil {
			out = plain
			continue
		}
		b, err := marshalTagged(p.partType(), p)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return append(out, ']'), nil
}

// appendPlainPart appends a part that holds nothing but a text and what it is of, as marshalTagged writes it: nearly
// all that is stored is in such parts. It returns nil for others.
func appendPlainPart(to []byte, p Part) []byte {
	switch p := p.(type) {
	case Text:
		if p.Reference == nil && p.Opaque == nil && p.Cut == nil {
			to = append(to, `{"type":"text","text":`...)
			return append(appendJSONText(to, p.Text), '}')
		}
	case ToolResult:
		if p.Artifact == "" && !p.IsError && !p.Recall && p.Opaque == nil && p.Cut == nil && p.Text != "" {
			to = append(to, `{"type":"tool_result","call_id":`...)
			to = appendJSONText(to, p.CallID)
			to = append(to, `,"name":`...)
			to = appendJSONText(to, p.Name)
			to = append(to, `,"text":`...)
			return append(appendJSONText(to, p.Text), '}')
		}
	case ToolCall, Image, File, Reasoning:
	}
	return nil
}

// appendJSONText appends a text as encoding/json writes it without escapes for HTML.
func appendJSONText(to []byte, s string) []byte {
	const hex = "0123456789abcdef"
	to = append(to, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if b >= ' ' && b != '"' && b != '\\' {
				i++
				continue
			}
			to = append(to, s[start:i]...)
			switch b {
			case '"', '\\':
				to = append(to, '\\', b)
			case '\n':
				to = append(to, '\\', 'n')
			case '\t':
				to = append(to, '\\', 't')
			case '\r':
				to = append(to, '\\', 'r')
			case '\b':
				to = append(to, '\\', 'b')
			case '\f':
				to = append(to, '\\', 'f')
			default:
				to = append(to, '\\', 'u', '0', '0', hex[b>>4], hex[b&0xf])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			to = append(append(to, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029': // ends of lines in JavaScript
			to = append(append(to, s[start:i]...), `\u202`...)
			to = append(to, hex[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(to, s[start:]...), '"')
}

// UnmarshalJSON reads the array form or a bare string.
func (ps *Parts) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*ps = Parts{Text{Text: s}}
		return nil
	}
	// Most lists have one part; splitting a list reads all of it once more.
	if n := len(b); n > 2 && b[0] == '[' && b[n-1] == ']' {
		if p, err := unmarshalPart(b[1 : n-1]); err == nil {
			*ps = Parts{p}
			return nil
		}
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return fmt.Errorf("content is neither a text nor a list of parts")
	}
	*ps = make(Parts, 0, len(raw))
	for i, r := range raw {
		p, err := unmarshalPart(r)
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		*ps = append(*ps, p)
	}
	return nil
}

func unmarshalPart(b []byte) (Part, error) {
	if text, ok := readPlainText(b); ok {
		return Text{Text: text}, nil
	}
	name, err := readPartType(b)
	if err != nil {
		return nil, err
	}
	switch name {
	case "text":
		return decodePart[Text](b)
	case "image":
		return decodePart[Image](b)
	case "file":
		return decodePart[File](b)
	case "tool_call":
		return decodePart[ToolCall](b)
	case "tool_result":
		return decodePart[ToolResult](b)
	case "reasoning":
		return decodePart[Reasoning](b)
	}
	return nil, fmt.Errorf("unknown type %q", name)
}

// readPlainText reads a text as [appendPlainPart] writes it, or returns false where encoding/json has to look.
func readPlainText(b []byte) (string, bool) {
	in, ok := bytes.CutPrefix(b, []byte(`{"type":"text","text":"`))
	if ok {
		in, ok = bytes.CutSuffix(in, []byte(`"}`))
	}
	if !ok || !utf8.Valid(in) {
		return "", false
	}
	var out []byte // nil while nothing was escaped
	start := 0
	for i := 0; i < len(in); i++ {
		switch b := in[i]; {
		case b < ' ' || b == '"' || b == '\\' && i+1 == len(in):
			return "", false
		case b == '\\':
			if out == nil {
				out = make([]byte, 0, len(in))
			}
			out = append(out, in[start:i]...)
			i++
			start = i + 1
			switch in[i] {
			case 'n':
				out = append(out, '\n')
			case 't':
				out = append(out, '\t')
			case '"', '\\':
				out = append(out, in[i])
			default:
				return "", false
			}
		}
	}
	if out == nil {
		return string(in), true
	}
	return string(append(out, in[start:]...)), true
}

// readPartType returns the type of a part. Stored parts begin with it, so that it need not be
// searched for in a long text.
func readPartType(b []byte) (string, error) {
	if rest, ok := bytes.CutPrefix(b, []byte(`{"type":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok && !bytes.ContainsRune(name, '\\') {
			return string(name), nil
		}
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return "", fmt.Errorf("not an object")
	}
	return head.Type, nil
}

func decodePart[T Part](b []byte) (Part, error) {
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("%s: fields of the wrong type", v.partType())
	}
	return v, nil
}

// marshalTagged marshals v, an object, with a leading "type" field.
func marshalTagged(name string, v any) ([]byte, error) {
	body, err := marshalPlain(v)
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"type":"`), name...)
	out = append(out, '"')
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// marshalPlain returns json.Marshal without HTML escapes: texts are stored and
// hashed as they were written.
func marshalPlain(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
