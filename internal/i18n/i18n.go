// Package i18n is the catalogue of the sentences that people read: each once, by its id, in
// English and Chinese side by side.
//
// Words it adds: id (names a sentence, telling enough to be read where it is used), problem,
// note and label (the three kinds of sentence, see below).
//
// A problem is the sentence of an error. A note comes to its reader written out in English,
// because it was stored or logged so, or because another library wrote it; [Language.Translate]
// finds it by its text. A label is anything else on a screen. Both languages of a sentence
// have the same verbs in the same order, or give values by their number, as %[2]s.
//
// It knows nothing of the program: the root imports it.
package i18n

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ID names a sentence. A text that the catalogue does not have is its own English sentence, so
// that programs may use texts of their own.
type ID string

// Language is one of those that sentences exist in, by the tag that Content-Language has.
type Language string

// The languages.
const (
	English Language = "en"
	Chinese Language = "zh-CN"
)

type kind int

const (
	labels kind = iota
	problems
	notes
)

// sentence is an entry of the catalogue.
type sentence struct {
	id      ID
	kind    kind
	english string
	chinese string
}

// declared are the sentences in the order of their declaration: they are added while the program
// starts, and do not change afterwards. There is room for all of them, since a list that grows is
// copied over and over, and every command starts.
var declared = make([]sentence, 0, mostSentences)

// mostSentences is how many sentences there is room for at once.
const mostSentences = 2560

// catalogue has the sentences by their ids.
var catalogue = sync.OnceValue(func() map[ID]*sentence {
	out := make(map[ID]*sentence, len(declared))
	for i := range declared {
		out[declared[i].id] = &declared[i]
	}
	return out
})

// problem declares the sentence of an error.
func problem(id ID, english, chinese string) ID {
	return declare(sentence{id, problems, english, chinese})
}

// note declares a sentence that is found by its English text. Where several fit a text, the
// first that is declared counts.
func note(id ID, english, chinese string) ID { return declare(sentence{id, notes, english, chinese}) }

// label declares any other sentence.
func label(id ID, english, chinese string) ID { return declare(sentence{id, labels, english, chinese}) }

// declare is called some two thousand times while the program starts; inlined, those calls are 4 MB of it.
//
//go:noinline
func declare(s sentence) ID {
	declared = append(declared, s)
	return s.id
}

// Under returns the id of one of a family of sentences, such as the states of a turn: the family's
// name and the member's. It is empty if the catalogue does not have it.
func Under(family, member string) ID {
	id := ID(family + "/" + member)
	if _, ok := catalogue()[id]; !ok {
		return ""
	}
	return id
}

// Of returns the locale's language as the environment names it, in the order LC_ALL, LC_MESSAGES,
// LANG: the first that is not empty decides.
func Of(locales ...string) Language {
	if strings.HasPrefix(strings.ToLower(cmp.Or(locales...)), "zh") {
		return Chinese
	}
	return English
}

// String returns the sentence in English, with its verbs.
func (id ID) String() string { return id.In(English) }

// In returns the sentence in a language, with its verbs.
func (id ID) In(l Language) string {
	s, ok := catalogue()[id]
	if !ok {
		s, ok = byEnglish()[string(id)]
	}
	switch {
	case !ok:
		return string(id)
	case l == Chinese:
		return s.chinese
	}
	return s.english
}

// Format returns the sentence of an id, or else of its English as it was stored with its values
// before sentences had ids; ok is false if the catalogue has neither.
func (l Language) Format(id ID, english string) (format string, ok bool) {
	for _, known := range []ID{id, ID(english)} {
		if known == "" {
			continue
		}
		_, byID := catalogue()[known]
		_, byText := byEnglish()[string(known)]
		if byID || byText {
			return known.In(l), true
		}
	}
	return english, false
}

// Say returns a sentence with its values.
func (l Language) Say(id ID, values ...any) string {
	if len(values) == 0 {
		return id.In(l)
	}
	for i, v := range values {
		if inner, ok := v.(ID); ok {
			values = slices.Clone(values)
			values[i] = inner.In(l)
		}
	}
	return fmt.Sprintf(id.In(l), values...)
}

// Of says a member of a family, or else the member's own name.
func (l Language) Of(family, member string) string {
	if id := Under(family, member); id != "" {
		return id.In(l)
	}
	return member
}
