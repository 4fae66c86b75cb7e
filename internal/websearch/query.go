package websearch

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/redact"
)

// queryChars bounds a query: engines ignore what is longer.
const queryChars = 200

var (
	fenced   = lazyregexp.New("(?ms)^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\\z)")
	linked   = lazyregexp.New(`!?\[([^\]]*)\]\([^)]*\)`)
	redacted = lazyregexp.New(`\[redacted\]`)
	stressed = lazyregexp.New(`\*+([^*\s][^*]*?)\*+`)
	sentence = lazyregexp.New(`[^.!?。！？\n]*[.!?。！？]*`)
)

// MakeQuery returns what to search for to answer a question. Of a long text it is the last question
// in it, or else its beginning.
func MakeQuery(question string) string {
	text := linked().ReplaceAllString(fenced().ReplaceAllString(question, "\n"), "$1")
	if len([]rune(text)) > queryChars {
		for _, s := range sentence().FindAllString(text, -1) {
			if strings.ContainsAny(s, "?？") && cleanQuestion(s) != "" {
				text = s
			}
		}
	}
	return cleanQuestion(text)
}

// cleanQuestion leaves the words of a text, without what steers SearXNG, addresses and keys.
func cleanQuestion(text string) string {
	text = strings.ReplaceAll(stressed().ReplaceAllString(text, "$1"), "`", "")
	text = redacted().ReplaceAllString(redact.RedactLine(text), " ")
	var words []string
	for w := range strings.FieldsSeq(text) {
		if w = strings.TrimLeft(strings.Trim(w, `*_~#>|"'`), "!:<?"); w != "" {
			words = append(words, w)
		}
	}
	text = strings.Join(words, " ")
	if short := []rune(text); len(short) > queryChars {
		text = string(short[:queryChars])
		if at := strings.LastIndexByte(text, ' '); at > len(text)/2 { // between words
			text = text[:at]
		}
	}
	return strings.TrimSpace(clip.JoinLines(text))
}
