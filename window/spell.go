package window

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
)

// speller writes ids and names as a dialect accepts them. What it accepts is left
// unchanged; the rest becomes something that all dialects accept, the same every time.
type speller struct {
	id, name, speaker *regexp.Regexp
	defined           map[string]bool // tools of the request, which keep their own names
	unique            bool            // ids are unique in a window, not only in a message
	used              map[string]bool
}

func newSpeller(d scrollback.Dialect, tools []scrollback.Tool) *speller {
	return &speller{id: compilePattern(d.CallID), name: compilePattern(d.CallName), speaker: compilePattern(d.SpeakerName),
		defined: toolNames(tools), unique: d.UniqueIDs, used: map[string]bool{}}
}

// spellings are the patterns of all dialects, compiled once: every window is written
// and judged with them.
var spellings = sync.OnceValue(func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{"": nil}
	for _, d := range Dialects() {
		for _, s := range []string{d.CallID, d.CallName, d.SpeakerName} {
			if out[s] == nil && s != "" {
				out[s] = regexp.MustCompile(s)
			}
		}
	}
	return out
})

// compilePattern returns nil for an empty one, which accepts anything.
func compilePattern(s string) *regexp.Regexp {
	if p, ok := spellings()[s]; ok {
		return p
	}
	return regexp.MustCompile(s)
}

// matchesPattern reports whether a pattern accepts s.
func matchesPattern(p *regexp.Regexp, s string) bool { return p == nil || p.MatchString(s) }

func toolNames(tools []scrollback.Tool) map[string]bool {
	out := make(map[string]bool, len(tools))
	for _, t := range tools {
		out[t.Name] = true
	}
	return out
}

// startMessage starts a message that makes calls.
func (s *speller) startMessage() {
	if !s.unique {
		clear(s.used)
	}
}

// callID returns a call's id on the wire. It depends only on the ids before it.
func (s *speller) callID(id string) string {
	want := spellText(s.id, id)
	if want == "" {
		want = respellText(id, "")
	}
	for n := 2; s.used[want]; n++ {
		want = respellText(id, strconv.Itoa(n))
	}
	s.used[want] = true
	return want
}

func (s *speller) callName(name string) string {
	if s.defined[name] {
		return name
	}
	return spellText(s.name, name)
}

func (s *speller) speakerName(name string) string {
	if name == "" {
		return ""
	}
	return spellText(s.speaker, name)
}

// spellText returns text itself if the pattern accepts it.
func spellText(p *regexp.Regexp, text string) string {
	if matchesPattern(p, text) {
		return text
	}
	return respellText(text, "")
}

// respellText writes text in at most 36 letters, digits, _ and -, beginning with a letter or
// _, which every dialect accepts: what is left of it, and part of a hash of text and
// salt, so that different texts stay different.
func respellText(text, salt string) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		switch {
		case b.Len() >= 27:
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || b.Len() > 0 && (r >= '0' && r <= '9' || r == '_' || r == '-'):
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			b.WriteRune(r)
			gap = false
		default:
			gap = true
		}
	}
	if b.Len() == 0 {
		b.WriteString("unnamed")
	}
	h := sha256.Sum256([]byte(text + "\x00" + salt))
	return b.String()[:min(b.Len(), 27)] + "_" + hex.EncodeToString(h[:4])
}

// isBlank reports whether a text is only white space.
func isBlank(s string) bool {
	return strings.Trim(strings.TrimSpace(s), "\x1c\x1d\x1e\x1f \t\r\n") == ""
}
