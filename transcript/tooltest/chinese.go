package tooltest

import (
	"regexp"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

var (
	// notSaid is what a sentence quotes: a character, a text, which may be cut off, and a type of Go.
	notSaid      = regexp.MustCompile(`'[^ ]+'|"(?:[^"\\]|\\.)*"?|struct \{.*\}`)
	englishWords = regexp.MustCompile(`[a-z]{2,} [a-z]{2,}`)
	han          = regexp.MustCompile(`\p{Han}`)
)

// checkReason wants why something is not read to be said in Chinese too: internal/i18n has the sentences.
func (c *checker) checkReason(english string) {
	said := i18n.Chinese.Translate(english)
	if !han.MatchString(said) || englishWords.MatchString(notSaid.ReplaceAllString(said, "")) {
		c.addFault("internal/i18n has no sentence for %q: in Chinese it is %q", english, said)
	}
}
