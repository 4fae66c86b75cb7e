package i18n

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What is in this file finds sentences by their English: those that were stored before they had
// ids, and texts that are written where no language is known, such as the notes of an import,
// the lines of the log, and what the parser of the command line says.

// byEnglish are the sentences by their English, with its verbs. Of two that are the same in
// English, the one declared first counts, errors before others.
var byEnglish = sync.OnceValue(func() map[string]*sentence {
	out := map[string]*sentence{}
	for _, k := range []kind{problems, notes, labels} {
		for i := range declared {
			s := &declared[i]
			if _, taken := out[s.english]; s.kind == k && !taken {
				out[s.english] = s
			}
		}
	}
	return out
})

// pattern recognises a sentence that was written out in English.
type pattern struct {
	english *regexp.Regexp
	chinese string
	values  []int // for each place in the Chinese, the number of the value in English
}

// Translate says a text that was written out in English: sentence and values, each again if it is
// a sentence. What the catalogue does not have stays as it is.
func (l Language) Translate(english string) string {
	if l == English || english == "" {
		return english
	}
	if s, ok := byEnglish()[english]; ok && s.kind != labels && !verb().MatchString(english) {
		return s.chinese
	}
	for _, p := range patterns() {
		found := p.english.FindStringSubmatch(english)
		if found == nil {
			continue
		}
		next := 0
		return verb().ReplaceAllStringFunc(p.chinese, func(v string) string {
			if strings.HasSuffix(v, "%") {
				return "%"
			}
			next++
			return l.Translate(found[p.values[next-1]])
		})
	}
	// A sentence often stands behind the name of what it is about, such as a file's.
	if name, rest, ok := strings.Cut(english, ": "); ok {
		first := l.Translate(name)
		then := l.Translate(rest)
		if first != name || then != rest {
			return first + "：" + then
		}
	}
	return english
}

// leastWords is how many bytes of its own the sentence of an error has by which a written text
// is recognised: one of little else than values would be found in any text.
const leastWords = 12

// patterns are the notes as they are declared, and then the problems, the longest first.
var patterns = sync.OnceValue(func() []pattern {
	var first, then []sentence
	for _, s := range declared {
		switch {
		case s.kind == notes:
			first = append(first, s)
		case s.kind == problems && len(verb().ReplaceAllString(s.english, "")) >= leastWords:
			then = append(then, s)
		}
	}
	slices.SortStableFunc(then, func(a, b sentence) int {
		return cmp.Or(len(b.english)-len(a.english), strings.Compare(a.english, b.english))
	})
	var out []pattern
	for _, s := range append(first, then...) {
		out = append(out, patternOf(s))
	}
	return out
})

// verb is a place for a value in a sentence.
var verb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0-9.]*[a-zA-Z%]`)
})

// patternOf makes the pattern of a sentence: %d stands for a number, other verbs for any text.
func patternOf(s sentence) pattern {
	var expression strings.Builder
	expression.WriteString("^(?s:")
	rest := s.english
	for _, at := range verb().FindAllStringIndex(s.english, -1) {
		done := len(s.english) - len(rest)
		expression.WriteString(regexp.QuoteMeta(s.english[done:at[0]]))
		rest = s.english[at[1]:]
		switch v := s.english[at[0]:at[1]]; v {
		case "%%":
			expression.WriteString("%")
		case "%d":
			expression.WriteString("([0-9]+)")
		default:
			expression.WriteString("(.+?)") // a name has no part of the sentence behind it
		}
	}
	expression.WriteString(regexp.QuoteMeta(rest) + ")$")
	p := pattern{english: regexp.MustCompile(expression.String()), chinese: s.chinese}
	next := 0
	for _, m := range verb().FindAllStringSubmatch(s.chinese, -1) {
		if strings.HasSuffix(m[0], "%") {
			continue
		}
		next++
		if m[1] != "" {
			next = 0
			for _, digit := range m[1] {
				next = next*10 + int(digit-'0')
			}
		}
		p.values = append(p.values, next)
	}
	return p
}
