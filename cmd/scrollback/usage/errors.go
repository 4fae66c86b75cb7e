package usage

import (
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/server/language"
)

// Said returns an error in Chinese; english is how it is explained otherwise. What has no
// sentence of its own is said by its code, with the English behind it.
func Said(err error, english string) string {
	s := scrollback.SentenceOf(err)
	if s.String() != english {
		s = own(err)
	}
	if s.String() != english {
		s = scrollback.Sentence{Value: english}
	}
	return language.Chinese.Sentence(s, scrollback.CodeOf(err))
}

// own returns what an error itself says: the person at the terminal sees all of it, and not only
// the kind of what is unavailable, or internal.
func own(err error) scrollback.Sentence {
	var known *scrollback.Error
	if !errors.As(err, &known) {
		return scrollback.Sentence{}
	}
	shown := *known
	shown.Code = scrollback.Invalid
	return scrollback.SentenceOf(&shown)
}
