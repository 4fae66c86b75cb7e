// Package language says errors in the language of whoever reads them: English, or Chinese
// where Accept-Language prefers it.
//
// Words it adds: table (sentences of a language, by the English format that they stand for).
//
// Invariants: what is said holds no more than the English sentence does; values that were
// given to us stand as they are; what has no sentence of its own is said by its code, with
// the English behind it. A test finds every sentence of the rooms behind the server and
// fails for those that the table does not have.
//
// It knows the root's words and nothing else.
package language

import (
	"maps"

	tongue "golang.org/x/text/language"

	"github.com/scrollback-ai/scrollback"
)

// Language is one that errors are said in.
type Language struct {
	Tag   string // as Content-Language has it
	table map[string]string
	codes map[scrollback.Code]string // for what the table does not have
}

// The languages.
var (
	English = Language{Tag: "en"}
	Chinese = Language{"zh-CN", joined(chinese, chineseDatabase), chineseCodes}
)

// longestHeader bounds what is read of Accept-Language, in bytes.
const longestHeader = 1000

// Of is the language that an Accept-Language header prefers; English if it names neither.
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

// Has says whether a sentence has its own in the language.
func (l Language) Has(format string) bool { return l.table[format] != "" }

// Sentences are those of the language, by the English formats.
func (l Language) Sentences() map[string]string { return maps.Clone(l.table) }

// Shown is what a caller may see of an error.
func (l Language) Shown(err error) string {
	return l.say(scrollback.SentenceOf(err), scrollback.CodeOf(err))
}

// Failure is a turn's failure as it is shown.
func (l Language) Failure(f scrollback.Failure) scrollback.Failure {
	if f.Said != nil {
		f.Message = l.say(*f.Said, f.Code)
	} else {
		f.Message = l.say(scrollback.Sentence{Value: f.Message}, f.Code)
	}
	f.Said = nil
	return f
}

func (l Language) say(s scrollback.Sentence, code scrollback.Code) string {
	english := s.String()
	if l.table == nil {
		return english
	}
	for len(s.Args) > 0 && s.Args[0].Format != "" && (s.Format == "%w" || s.Format == "%w%s" && s.Args[1].String() == "") {
		s = s.Args[0] // a sentence that another error only passes on
	}
	if bare(s) { // its whole text is a value, which may be a sentence without values
		s = scrollback.Sentence{Format: english}
	}
	if _, ok := l.table[s.Format]; ok {
		return s.In(l.table)
	}
	return scrollback.Sentence{Format: l.codes[code], Args: []scrollback.Sentence{{Value: english}}}.String()
}

// bare reports whether a sentence is nothing but a value.
func bare(s scrollback.Sentence) bool {
	return s.Format == "" || (s.Format == "%s" || s.Format == "%w") && len(s.Args) == 1 && s.Args[0].Format == ""
}

// joined is one table of several.
func joined(tables ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}
