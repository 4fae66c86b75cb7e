// Package thoughts finds what a model thought in what it said: servers that do not take the two apart send thoughts
// between tags at the beginning of an answer, as <think>…</think>.
//
// Words it adds: tag (what begins or ends such a thought).
//
// Invariants: [Join] of what [Split] returns is the text, byte for byte, however it came in pieces; a text that does
// not begin with a tag is not touched, and is told as soon as that is clear; what is held back is bounded.
//
// It knows the parts of messages, and nothing of models or servers.
package thoughts

import (
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// tags are the names between which models think; Mistral's has brackets of its own.
var tags = []tag{newTag("think"), newTag("thinking"), newTag("thought"), newTag("mm:think"), newTag("seed:think"),
	{"[THINK]", "[/THINK]"}}

type tag struct{ open, end string }

func newTag(name string) tag { return tag{"<" + name + ">", "</" + name + ">"} }

// maxHeld bounds how much white space is held back, in bytes, until it is clear what it belongs to.
const maxHeld = 4 << 10

// Piece is a piece of a thought or of a text. A Payload ends the thought that came before it, which is empty
// if none did: it goes with the part, so that the text can be put together again.
type Piece struct {
	Thought, Text string
	Payload       scrollback.Opaque
}

// Splitter takes a text that comes in pieces apart. The zero value is ready.
type Splitter struct {
	state splitState
	held  string // it is not clear yet what it is
	tag   tag
	open  string // what stood before the thought
	end   string // and behind it
	out   []Piece
}

type splitState int

const (
	atBegin   splitState = iota // nothing was said yet
	inThought                   // behind a tag
	behind                      // the tag that ends it
	inText                      // the rest is text
)

// Add takes the next piece of the text, and returns what is clear.
func (s *Splitter) Add(text string) []Piece {
	s.out = nil
	if s.state == inText {
		s.emit(Piece{Text: text})
		return s.out
	}
	s.held += text
	for more := true; more; {
		switch s.state {
		case atBegin:
			more = s.readBegin()
		case inThought:
			more = s.readThought()
		case behind:
			more = s.readBehind()
		case inText:
			s.emit(Piece{Text: s.held})
			s.held = ""
			more = false
		}
	}
	return s.out
}

// End ends the text, and returns what was held back. What comes then is text.
func (s *Splitter) End() []Piece {
	s.out = nil
	switch s.state {
	case inThought:
		s.emit(Piece{Thought: s.held})
		s.emitPayload()
	case behind:
		s.end += s.held
		s.emitPayload()
	case atBegin, inText:
		s.emit(Piece{Text: s.held})
	}
	s.held = ""
	s.state = inText
	return s.out
}

func (s *Splitter) emit(p Piece) {
	if p.Thought+p.Text != "" || p.Payload != nil {
		s.out = append(s.out, p)
	}
}

// readBegin looks for a tag, and reports whether there is more to read.
func (s *Splitter) readBegin() bool {
	said := strings.TrimLeft(s.held, space)
	lead := s.held[:len(s.held)-len(said)]
	unsure := said == "" && len(lead) < maxHeld
	for _, t := range tags {
		switch {
		case hasPrefixFold(said, t.open):
			s.tag = t
			s.open = lead + said[:len(t.open)]
			s.end = ""
			s.held = said[len(t.open):]
			s.state = inThought
			return true
		case hasPrefixFold(said, t.end): // the tag that begins it was part of what the model was told
			s.open = ""
			s.end = lead + said[:len(t.end)]
			s.held = said[len(t.end):]
			s.state = behind
			return true
		}
		unsure = unsure || said != "" && (hasPrefixFold(t.open, said) || hasPrefixFold(t.end, said))
	}
	if unsure {
		return false
	}
	s.state = inText
	return true
}

// readThought reads up to the tag that ends the thought.
func (s *Splitter) readThought() bool {
	at := indexFold(s.held, s.tag.end)
	if at < 0 {
		sure := len(s.held) - heldTail(s.held, s.tag.end)
		s.emit(Piece{Thought: s.held[:sure]})
		s.held = s.held[sure:]
		return false
	}
	thought := strings.TrimRight(s.held[:at], space)
	s.emit(Piece{Thought: thought})
	end := at + len(s.tag.end)
	s.end = s.held[len(thought):end]
	s.held = s.held[end:]
	s.state = behind
	return true
}

// readBehind reads the white space behind a thought.
func (s *Splitter) readBehind() bool {
	rest := strings.TrimLeft(s.held, space)
	s.end += s.held[:len(s.held)-len(rest)]
	s.held = rest
	if rest == "" && len(s.end) < maxHeld {
		return false
	}
	s.emitPayload()
	s.state = atBegin // there may be another
	return rest != ""
}

const space = " \t\r\n"

// payload is what goes with a thought: what stood before and behind it.
type payload struct {
	Tags *[2]string `json:"tags"`
}

func (s *Splitter) emitPayload() {
	raw, err := plainjson.Marshal(payload{&[2]string{s.open, s.end}})
	if err == nil { // two texts are always JSON
		s.emit(Piece{Payload: raw})
	}
}

// heldTail returns how much of the end of a text may belong to a tag and the white space before it.
func heldTail(text, tag string) int {
	for n := min(len(tag)-1, len(text)); n >= 0; n-- {
		if !strings.EqualFold(text[len(text)-n:], tag[:n]) {
			continue
		}
		before := text[:len(text)-n]
		if blank := len(before) - len(strings.TrimRight(before, space)); blank < maxHeld {
			n += blank
		}
		return n
	}
	return 0
}

// hasPrefixFold is [strings.HasPrefix] for a prefix in ASCII, in any case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// indexFold is [strings.Index] for a text in ASCII, in any case.
func indexFold(s, of string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], of[0])
		if i < 0 {
			return -1
		}
		if from += i; hasPrefixFold(s[from:], of) {
			return from
		}
		from++
	}
}

// Split returns a text as parts: thoughts, and what was said.
func Split(text string) scrollback.Parts {
	var s Splitter
	var out scrollback.Parts
	thought := ""
	for _, p := range append(s.Add(text), s.End()...) {
		switch {
		case p.Payload != nil:
			out = append(out, scrollback.Reasoning{Text: thought, Opaque: p.Payload})
			thought = ""
		case p.Text != "":
			out = append(out, scrollback.Text{Text: p.Text})
		}
		thought += p.Thought
	}
	return out
}

// Said returns what is said in a text, without thoughts at its beginning.
func Said(text string) string { return Split(text).Text() }

// Join returns parts in which the thoughts that [Split] found stand in the texts again, as they came.
func Join(parts scrollback.Parts) scrollback.Parts {
	var out scrollback.Parts
	before := ""
	for i, p := range parts {
		switch p := p.(type) {
		case scrollback.Reasoning:
			if t := readTags(p.Opaque); t != nil {
				if out == nil {
					out = append(scrollback.Parts{}, parts[:i]...)
				}
				before += t[0] + p.Text + t[1]
				continue
			}
		case scrollback.Text:
			if before != "" && p.Reference == nil {
				p.Text = before + p.Text
				before = ""
				out = append(out, p)
				continue
			}
		case scrollback.Image, scrollback.File, scrollback.ToolCall, scrollback.ToolResult:
		}
		if before != "" {
			out = append(out, scrollback.Text{Text: before})
			before = ""
		}
		if out != nil {
			out = append(out, p)
		}
	}
	if before != "" {
		out = append(out, scrollback.Text{Text: before})
	}
	if out == nil {
		return parts
	}
	return out
}

// readTags returns what stood before and behind a thought, or nil for one that did not come in a text.
func readTags(raw scrollback.Opaque) *[2]string {
	var p payload
	if len(raw) == 0 || json.Unmarshal(raw, &p) != nil {
		return nil
	}
	return p.Tags
}
