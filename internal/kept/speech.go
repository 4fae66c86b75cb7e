package kept

import (
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// asks reports whether a message of the assistant ends by asking or offering something, which what a person says next
// may answer.
func asks(text string) bool {
	all := lastSentences(text)
	return len(all) > 0 && (isQuestion(all[len(all)-1]) || offers().MatchString(all[len(all)-1]))
}

// lastSentences returns the last two sentences of a message: what is asked or offered stands there.
func lastSentences(text string) []string {
	const end = 2000 // bytes
	all := SplitSentences(strings.ToValidUTF8(text[max(0, len(text)-end):], ""))
	return all[max(0, len(all)-2):]
}

// offers finds that one of several things may be chosen.
var offers = sift(lazyregexp.New(`(?i)\bor\b|\boptions?\b|\b(?:choose|pick|choices?)\b|:.*,|[:：].*[,，、]|[或选選]|还是|還是|可以.*[,，、]`))

// isAnswer reports whether a sentence of a person answers what they were asked or offered about themselves, rather
// than about the work.
func isAnswer(s, asked string) bool {
	if !mayAnswer(s) {
		return false
	}
	switch detectLanguage(s + asked) {
	case inEnglish():
		return englishScale().weighAnswer(s, asked) > leastAnswer
	case inChinese():
		return chineseScale().weighAnswer(s, asked) > leastAnswer
	}
	return false
}

// mayAnswer reports whether a sentence may be an answer, whatever was asked.
func mayAnswer(s string) bool { return !isQuestion(s) && isSpeech(s) }

// isSpeech reports whether a sentence may be what a person says themselves, rather than code, an entry of a
// list, a quotation, or a line of a script behind a name.
func isSpeech(s string) bool {
	r := []rune(s)
	if len(r) == 0 || strings.ContainsRune("-*•>|#\"“「『‘`{[<(~+", r[0]) || numbered().MatchString(s) ||
		logged().MatchString(s) {
		return false
	}
	if strings.ContainsAny(s, "{}=`|<>") || strings.HasSuffix(s, ";") {
		return false
	}
	name, _, labelled := strings.Cut(s, ":")
	if !labelled {
		name, _, labelled = strings.Cut(s, "：")
	}
	return !labelled || !isName(name)
}

// logged finds a line of a log: it begins with a date and a time, a time with seconds, or a level.
var logged = sift(lazyregexp.New(`^\[?(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{2}:[0-9]{2}|[0-9]{2}:[0-9]{2}:[0-9]{2}\b|(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[\]:]? [^,]*$)`))

// isName reports whether what stands before a colon names who speaks: one or two words with capitals.
func isName(s string) bool {
	words := strings.Fields(s)
	if len(words) == 0 || len(words) > 2 {
		return false
	}
	for _, w := range words {
		first := []rune(w)[0]
		if !unicode.IsUpper(first) || labels[strings.ToLower(w)] {
			return false
		}
	}
	return true
}

// labels are words before a colon that name no one.
var labels = map[string]bool{"note": true, "fyi": true, "update": true, "ps": true, "btw": true, "also": true,
	"reminder": true, "important": true, "edit": true, "correction": true, "context": true, "background": true,
	"preferences": true, "preference": true, "allergies": true, "diet": true, "about": true, "todo": true}

func isQuestion(s string) bool {
	s = strings.TrimRight(s, "\"”」』)）~ ")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")
}
