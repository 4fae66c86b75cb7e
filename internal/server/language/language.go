// Package language says errors in the language of their reader: English, or Chinese where
// Accept-Language prefers it.
//
// Invariants: what is said holds no more than the English sentence does; values that were
// given to us stand as they are; what the catalogue does not have is said by its code, with
// the English behind it.
//
// It knows the root's words and the catalogue of sentences.
package language

import (
	"slices"

	tongue "golang.org/x/text/language"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Language is one that errors are said in, by its tag as Content-Language has it.
type Language i18n.Language

// The languages.
const (
	English = Language(i18n.English)
	Chinese = Language(i18n.Chinese)
)

// longestHeader bounds what is read of Accept-Language, in bytes.
const longestHeader = 1000

// Of returns the language that an Accept-Language header prefers; English if it names neither.
// Every Chinese is said as the one there is.
func Of(header string) Language {
	if len(header) > longestHeader {
		return English
	}
	tags, weights, err := tongue.ParseAcceptLanguage(header)
	if err != nil {
		return English
	}
	for i, tag := range tags { // the heaviest first
		switch base, _ := tag.Base(); {
		case weights[i] <= 0:
		case base.String() == "zh":
			return Chinese
		case base.String() == "en":
			return English
		}
	}
	return English
}

// Shown returns what a caller may see of an error.
func (l Language) Shown(err error) string {
	return l.Sentence(scrollback.SentenceOf(err), scrollback.CodeOf(err))
}

// Failure returns a turn's failure as it is shown.
func (l Language) Failure(f scrollback.Failure) scrollback.Failure {
	if f.Said != nil {
		f.Message = l.Sentence(*f.Said, f.Code)
	} else {
		f.Message = l.Sentence(scrollback.Sentence{Value: f.Message}, f.Code)
	}
	f.Said = nil
	return f
}

// Reason returns why something of a file was skipped, or why a model gave no summary. What the
// catalogue does not have stands as it is.
func (l Language) Reason(english string) string { return i18n.Language(l).Translate(english) }

// Receipt says in the language why models gave no summary.
func (l Language) Receipt(r scrollback.Receipt) scrollback.Receipt {
	r.SummaryWhy = l.Reason(r.SummaryWhy)
	r.Tries = slices.Clone(r.Tries)
	for i := range r.Tries {
		r.Tries[i].Why = l.Reason(r.Tries[i].Why)
	}
	return r
}

// Sentence says the sentence of an error with a code.
func (l Language) Sentence(s scrollback.Sentence, code scrollback.Code) string {
	english := s.String()
	if l == English {
		return english
	}
	for len(s.Args) > 0 && s.Args[0].Format != "" && (s.Format == "%w" || s.Format == "%w%s" && s.Args[1].String() == "") {
		s = s.Args[0] // a sentence that another error only passes on
	}
	if _, ok := i18n.Language(l).Format(s.ID, s.Format); ok && s.Format != "" {
		return s.In(i18n.Language(l))
	}
	if said := l.Reason(english); said != english { // written out before it came here
		return said
	}
	if id := i18n.Under("failed", string(code)); id != "" {
		return i18n.Language(l).Say(id, english)
	}
	return english
}
