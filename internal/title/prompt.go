package title

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// maxTitle is how long a title is, in characters, the ellipsis included.
const maxTitle = 60

// maxExamined is how much of a prompt is looked at, in bytes.
const maxExamined = 16 << 10

// FromPrompt makes a title of what a person said first: the beginning of its first line of
// prose, without code, links and markup. A message that is all code, link or data gives the
// beginning of that; one without text the name of what is attached, or nothing.
func FromPrompt(message scrollback.Parts) string {
	var text strings.Builder
	name := ""
	for _, p := range message {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Reference == nil {
				text.WriteString(clip.HeadBytes(p.Text, maxExamined))
			}
		case scrollback.Image:
			name = firstNonEmpty(name, p.Name)
		case scrollback.File:
			name = firstNonEmpty(name, p.Name)
		}
	}
	said := clip.HeadBytes(text.String(), maxExamined)
	prose := fence().ReplaceAllString(said, "\n")
	line := ""
	whole := fenceLine().ReplaceAllString(said, "\n")
	for _, way := range []func() string{
		func() string { return firstLine(prose, isSpeech) },
		func() string { return firstLine(prose, hasWord) },
		func() string { return nameLink(said) },
		func() string { return firstLine(whole, hasWord) },
		func() string { return firstLine(whole, func(line string) bool { return line != "" }) },
		func() string { return clip.JoinLines(name) },
	} {
		if line = way(); line != "" {
			break
		}
	}
	return ClipTitle(line)
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

var (
	fence     = lazyregexp.New("(?s)(?:```|~~~).*?(?:```|~~~|$)")
	fenceLine = lazyregexp.New("(?:```|~~~)[^\\n`]*(?:\\n|$)")

	mark    = lazyregexp.New(`@\[([^\[\]{}\n]+)\]`) // of a reference
	picture = lazyregexp.New(`!?\[([^\]\n]*)\]\([^)\n]*\)`)
	link    = lazyregexp.New(`(?i)<?\b(?:https?|ftp)://[^\s<>"'，。；！？、）」』】)\]]+>?`)
	tag     = lazyregexp.New(`(?i)</?(?:a|b|i|u|s|p|br|hr|div|span|h[1-6]|ul|ol|li|em|strong|code|pre|img|table|tr|td|th|details|summary|sup|sub|kbd|blockquote|font|center)(?:\s[^>\n]*)?/?>`)
	block   = lazyregexp.New(`^\s*(?:#{1,6}\s+|>\s?|[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)、]\s+|\|\s*)+`)
	strong  = lazyregexp.New(`\*\*|__|~~|` + "`")
	stars   = lazyregexp.New(`\*([^*\s][^*\n]*)\*`)

	// What programs write: data, logs, traces, code outside of fences.
	machine = lazyregexp.New(`^(?:[{}\]]|\[\s*(?:[{"\[\]\d]|$)|"[^"]*"\s*:|` +
		`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|` +
		`\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\b[\]:\s]|\[(?:trace|debug|info|warn|warning|error|fatal)\]|` +
		`at [\w.$<>]+\(|File "|Traceback \(|goroutine \d|#include\b|<[?!/]|\+\+\+ |--- |@@ |diff --git )|[{};]$`)
)

// isSpeech reports whether a line is something that a person says: words, and not what programs
// write.
func isSpeech(line string) bool { return hasWord(line) && !machine().MatchString(line) }

// hasWord reports whether there is a letter or a digit in a line.
func hasWord(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// firstLine returns the first line of a text that is good, without its markup.
func firstLine(text string, good func(string) bool) string {
	for line := range strings.Lines(text) {
		plain := stripMarkup(line)
		if !good(plain) {
			continue
		}
		if at := link().FindString(line); at != "" && isShort(plain) { // such as "summarize https://…"
			plain += " " + linkHost(at)
		}
		return plain
	}
	return ""
}

// stripMarkup returns a line without markup and links.
func stripMarkup(line string) string {
	line = picture().ReplaceAllString(line, "$1")
	line = mark().ReplaceAllString(line, "$1")
	line = link().ReplaceAllString(line, " ")
	line = tag().ReplaceAllString(line, " ")
	line = block().ReplaceAllString(line, "")
	line = stars().ReplaceAllString(strong().ReplaceAllString(line, ""), "$1")
	line = strings.Map(func(r rune) rune {
		if r == 0xFEFF || r == 0x200B || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return -1 // unseen, or turning the direction of what follows
		}
		return r
	}, line)
	return strings.Trim(clip.JoinLines(line), " \t:：,，、|-–—")
}

// isShort reports whether a line says little: one word, or up to four characters of a script
// that does without spaces.
func isShort(line string) bool {
	dense := 0
	for _, r := range line {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			dense++
		}
	}
	return dense <= 4 && len(strings.Fields(line)) < 2
}

// nameLink names the first link of a text by its host and path.
func nameLink(text string) string {
	at := strings.Trim(link().FindString(text), "<>")
	u, err := url.Parse(at)
	if at == "" || err != nil {
		return ""
	}
	return strings.TrimSuffix(linkHost(at)+u.Path, "/")
}

// linkHost returns the host that a link leads to.
func linkHost(at string) string {
	u, err := url.Parse(strings.Trim(at, "<>"))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

// ClipTitle returns a line that is no longer than a title, cut between words where there are
// any, and never inside of a picture that is made from several characters.
func ClipTitle(line string) string {
	r := []rune(line)
	if len(r) <= maxTitle {
		return line
	}
	end := maxTitle - 1
	for back := end; back > maxTitle/2; back-- {
		if r[back] == ' ' {
			end = back
			break
		}
	}
	for end > 1 && (joinsPrevious(r[end]) || r[end-1] == zeroWidthJoiner) {
		end--
	}
	return strings.TrimRight(string(r[:end]), " \t:：,，、;；.-–—") + "…"
}

const zeroWidthJoiner = 0x200D

// joinsPrevious reports whether a character belongs to the one before it.
func joinsPrevious(r rune) bool {
	return r == zeroWidthJoiner || r >= 0xFE00 && r <= 0xFE0F || r >= 0x1F3FB && r <= 0x1F3FF ||
		unicode.In(r, unicode.Mn, unicode.Me)
}
