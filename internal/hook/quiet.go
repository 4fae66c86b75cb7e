package hook

import (
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// leastLetters is how many letters a prompt has at least that is looked up; a character of a script without spaces
// counts as two.
const leastLetters = 12

// command is a command of an agent: a word behind a slash. A path has more of them.
var command = lazyregexp.New(`^/[\w:.-]*(\s|$)`)

// isQuiet reports whether a prompt is never looked up, and why.
func isQuiet(prompt string) (why string, quiet bool) {
	switch {
	case prompt == "":
		return "the prompt is empty", true
	case command().MatchString(prompt):
		return "the prompt is a command", true
	case strings.ContainsRune("!#<", rune(prompt[0])):
		return "the prompt is not for the model", true
	}
	n := 0
	for _, r := range prompt {
		switch {
		case terms.IsDense(r):
			n += 2
		case unicode.IsLetter(r), unicode.IsDigit(r):
			n++
		}
	}
	return "the prompt is short", n < leastLetters
}
