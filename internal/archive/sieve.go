package archive

import (
	"bytes"
	"strings"

	"github.com/grafana/regexp/syntax"
)

// sieve says which messages may have a line that matches, by their parts as JSON: most need
// not be read as messages. It may be wrong only by saying yes.
type sieve struct {
	texts   needleSet // of which one is in every text that matches
	words   needleSet // the same for lines that are put together, where a space may be between two fields; may be empty
	odd     [][]byte  // other spellings of the needles
	labeled bool      // a word may be one of those that a rendered file adds
}

// newSieve makes the sieve of a pattern, or nil if it would hold nothing back.
func newSieve(re *syntax.Regexp, odd [][]byte) *sieve {
	s := &sieve{odd: odd, texts: newNeedles(re, isEscaped),
		words: newNeedles(re, func(r rune) bool { return r == ' ' || isEscaped(r) })}
	if len(s.texts) == 0 {
		return nil
	}
	for _, w := range s.words {
		s.labeled = s.labeled || strings.Contains(labels, strings.ToLower(string(w.text))) ||
			bytes.Contains(w.text, []byte("```"))
	}
	return s
}

// isEscaped reports whether a character may be written otherwise in JSON.
func isEscaped(r rune) bool {
	return r < ' ' || r == '"' || r == '\\' || r == 0x2028 || r == 0x2029
}

// sieved is the last renderer whose files [sieve.passFolded] knows.
const sieved = 2

// labels are the words that [markdown1] puts into the lines of calls, results and reasoning.
const labels = "**tool call** · id ```json **tool result** · call · error **reasoning** ``"

// What the JSON of parts has where a line is more than one text, or less. Within a text
// quotation marks are escaped, so that no text has these.
var (
	withArtifact = []byte(`"artifact"`)
	ofCall       = []byte(`"tool_call"`)
	ofResult     = []byte(`"tool_result"`)
	ofReasoning  = []byte(`"reasoning"`)
	nameFields   = [][]byte{[]byte(`"name":"`), []byte(`"id":"`), []byte(`"call_id":"`)}
)

// passLive reports whether a live message with these parts may match, or mentions an artifact.
func (s *sieve) passLive(parts []byte) bool {
	return s.mayMatchText(parts) || bytes.Contains(parts, ofCall) && s.mayMatchJoined(parts)
}

// passFolded is live for a message in the file of a segment, headings apart.
func (s *sieve) passFolded(parts []byte) bool {
	if s.mayMatchText(parts) {
		return true
	}
	for _, kind := range [][]byte{ofCall, ofResult, ofReasoning} {
		if bytes.Contains(parts, kind) {
			return s.labeled || s.mayMatchJoined(parts)
		}
	}
	return false
}

// mayMatchText reports whether a text among parts may match, or an artifact is mentioned.
func (s *sieve) mayMatchText(parts []byte) bool {
	if s.texts.containsAny(parts) || bytes.Contains(parts, withArtifact) {
		return true
	}
	for _, odd := range s.odd {
		if bytes.Contains(parts, odd) {
			return true
		}
	}
	return hasForeignEscape(parts)
}

// mayMatchJoined reports whether a line that is put together from fields of parts may match.
func (s *sieve) mayMatchJoined(parts []byte) bool {
	if len(s.words) == 0 || s.words.containsAny(parts) {
		return true
	}
	for _, field := range nameFields {
		for rest := parts; ; {
			_, value, found := bytes.Cut(rest, field)
			if !found {
				break
			}
			for i, c := range value {
				if c == '"' {
					value = value[i:]
					break
				}
				if c == '\\' || c > '~' {
					return true // it may be quoted in the line
				}
			}
			rest = value
		}
	}
	return false
}

// hasForeignEscape reports whether JSON has an escape that [encoding/json] does not write for a
// character of its own: something that could be looked for may be spelt otherwise.
func hasForeignEscape(parts []byte) bool {
	for {
		i := bytes.IndexByte(parts, '\\')
		if i < 0 {
			return false
		}
		if parts = parts[i+1:]; len(parts) == 0 {
			return true
		}
		switch parts[0] {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
			parts = parts[1:]
		case 'u':
			if len(parts) < 5 || !needsEscape(parts[1:5]) {
				return true
			}
			parts = parts[5:]
		default:
			return true
		}
	}
}

// needsEscape reports whether the character with four hexadecimal digits is never written as it is.
func needsEscape(digits []byte) bool {
	return digits[0] == '0' && digits[1] == '0' && (digits[2] == '0' || digits[2] == '1') ||
		bytes.Equal(digits, []byte("2028")) || bytes.Equal(digits, []byte("2029")) || bytes.Equal(digits, []byte("fffd"))
}
