package reference

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// Bounds of one mark; what is longer stays text.
const (
	maxName   = 4 << 10  // bytes of a path
	maxCall   = 64 << 10 // bytes of a tool with its arguments
	maxParens = 32       // open in the address of an image
)

// recallTools is how the names of the tools begin that a mark may run.
const recallTools = "context_"

// Parse finds the marks of a prompt, in order and without overlaps: @[…] with brackets
// inside, images of Markdown and, if plain, @path without brackets, which may
// turn out to name nothing. What stands in code stays text, and so do a mark behind a
// backslash, one without an end, and other tools than those of recall.
func Parse(text string, plain bool) []Mark {
	s := scanner{text: text, code: findCode(text), closing: matchBrackets(text)}
	var out []Mark
	for i := 0; i < len(text); {
		if to := s.codeEnd(i); to > i {
			i = to
			continue
		}
		m, to := s.scanMark(i, plain)
		if m != nil {
			m.From = i
			m.To = to
			out = append(out, *m)
		}
		i = max(to, i+1)
	}
	return out
}

// scanner reads marks from left to right.
type scanner struct {
	text    string
	code    []span
	closing map[int]int // of each [ its ]
}

// codeEnd returns where the code ends that i is in, or i.
func (s *scanner) codeEnd(i int) int {
	for len(s.code) > 0 && s.code[0].to <= i {
		s.code = s.code[1:]
	}
	if len(s.code) > 0 && s.code[0].from <= i {
		return s.code[0].to
	}
	return i
}

// scanMark reads the mark at i and returns where it ends; what is to be skipped as a whole
// without being a mark has an end and no mark.
func (s *scanner) scanMark(i int, plain bool) (*Mark, int) {
	c := s.text[i]
	if c != '@' && c != '!' || i > 0 && s.text[i-1] == '\\' {
		return nil, i
	}
	if i+1 < len(s.text) && s.text[i+1] == '[' {
		if c == '!' {
			return s.scanImage(i)
		}
		return s.scanBracketed(i)
	}
	if c == '@' && plain {
		return s.scanPlain(i)
	}
	return nil, i
}

var call = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*\{`)

// scanBracketed reads @[…] at i.
func (s *scanner) scanBracketed(i int) (*Mark, int) {
	begin := i + len("@[")
	if name := call().FindString(s.text[begin:min(len(s.text), begin+128)]); name != "" {
		if m, to := s.scanCall(begin, strings.TrimSuffix(name, "{")); to > 0 {
			return m, to
		}
	}
	end, ok := s.closing[i+1]
	if !ok || end-begin > maxName {
		return nil, i
	}
	name := s.text[begin:end]
	if strings.TrimSpace(name) == "" {
		return nil, i
	}
	// its arguments may not be JSON: the reference says so
	if tool := call().FindString(name); strings.HasPrefix(tool, recallTools) {
		return &Mark{Text: name, Kind: scrollback.ReferenceTool, Tool: strings.TrimSuffix(tool, "{"),
			Args: json.RawMessage(name[len(tool)-1:])}, end + 1
	}
	m := &Mark{Text: name, Kind: scrollback.ReferenceFile}
	m.Path, m.First, m.Last = splitLines(name)
	return m, end + 1
}

// scanCall reads a tool with its arguments and the bracket behind them; to is 0 where it
// is none. Its arguments may hold brackets of any kind.
func (s *scanner) scanCall(begin int, tool string) (m *Mark, to int) {
	rest := s.text[begin+len(tool) : min(len(s.text), begin+maxCall)]
	var args json.RawMessage
	d := json.NewDecoder(strings.NewReader(rest))
	if d.Decode(&args) != nil {
		return nil, 0
	}
	end := begin + len(tool) + int(d.InputOffset())
	if end >= len(s.text) || s.text[end] != ']' {
		return nil, 0
	}
	if !strings.HasPrefix(tool, recallTools) {
		return nil, end + 1
	}
	return &Mark{Text: s.text[begin:end], Kind: scrollback.ReferenceTool, Tool: tool, Args: args}, end + 1
}

var (
	oneLine  = lazyregexp.New(`^(.+?):([0-9]{1,9})$`)
	twoLines = lazyregexp.New(`^(.+?):([0-9]{1,9}):([0-9]{1,9})$`)
)

// splitLines divides the text of a mark into a path and the lines behind it.
func splitLines(name string) (path string, first, last int) {
	number := func(s string) int {
		n, _ := strconv.Atoi(s) // at most nine digits
		return n
	}
	if m := twoLines().FindStringSubmatch(name); m != nil && number(m[2]) > 0 && number(m[3]) > 0 {
		return m[1], number(m[2]), number(m[3])
	}
	if m := oneLine().FindStringSubmatch(name); m != nil && number(m[2]) > 0 {
		return m[1], number(m[2]), 0
	}
	return name, 0, 0
}

// matchBrackets finds the closing bracket of each opening one, within lines.
func matchBrackets(text string) map[int]int {
	out := map[int]int{}
	var open []int
	for i := range len(text) {
		switch text[i] {
		case '\n':
			open = open[:0]
		case '[':
			open = append(open, i)
		case ']':
			if n := len(open); n > 0 {
				out[open[n-1]] = i
				open = open[:n-1]
			}
		}
	}
	return out
}
