package kept

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed rules/english.tsv
var englishForms string

//go:embed rules/chinese.tsv
var chineseForms string

var (
	englishGrammar = sync.OnceValue(func() *grammar { return readForms("english.tsv", englishForms, false) })
	chineseGrammar = sync.OnceValue(func() *grammar { return readForms("chinese.tsv", chineseForms, true) })
)

// grammarOf returns the forms of a sentence's language; nil for a language that has none.
func grammarOf(s string) *grammar {
	switch detectLanguage(s) {
	case inEnglish():
		return englishGrammar()
	case inChinese():
		return chineseGrammar()
	}
	return nil
}

// IsTrait reports whether a sentence of a person says what is so about them, or about those they speak
// of: what they prefer, avoid, have, or usually do. The sentence may stand behind "- #12 user: ". In a
// question, only what stands before its last clause counts.
func IsTrait(sentence string) bool {
	s, ok := personText(sentence)
	if !ok || len(s) > maxSentence || !isSpeech(s) {
		return false
	}
	g := grammarOf(s)
	if g == nil {
		return false
	}
	folded := foldText(s, g.dense)
	if strings.ContainsAny(folded, quoteMarks) {
		folded = quoted.ReplaceAllString(folded, "")
	}
	read := g.read(folded)
	if isQuestion(s) {
		read = read.beforeLastClause()
	}
	if g.has("never trait", read) {
		return false
	}
	if g.isTrait(read) || slices.ContainsFunc(g.clausesOf(read), g.isTrait) {
		return true
	}
	if isQuestion(s) || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "！") {
		return false
	}
	return g.isHabit(read) || slices.ContainsFunc(g.clausesOf(read), g.isHabit)
}

func (g *grammar) isTrait(s sentence) bool { return g.has("trait", s) && !g.has("no trait", s) }

// isHabit reports whether a sentence tells what somebody does, in the present, of no time and no thing at hand:
// where nothing else is asked or exclaimed, that is so about them.
func (g *grammar) isHabit(s sentence) bool { return g.has("habit", s) && !g.has("no trait", s) }

// hasOrder reports whether a clause of a sentence is an order.
func hasOrder(s string) bool { return hasForm("order", s) }

// asksPerson reports whether a message of the assistant ends by asking how it is with the person.
func asksPerson(text string) bool {
	sentences := SplitSentences(endOf(text))
	if len(sentences) == 0 || !isQuestion(sentences[len(sentences)-1]) {
		return false
	}
	return hasForm("ask", sentences[len(sentences)-1])
}

// isOffer reports whether a message of the assistant ends by offering one of several things.
func isOffer(text string) bool { return hasForm("offer", endOf(text)) }

// endOf returns the end of a message, in which an offer is.
func endOf(text string) string {
	const end = 2000 // bytes
	return strings.ToValidUTF8(text[max(0, len(text)-end):], "")
}

// isChoice reports whether a sentence of a person takes up one of what was offered: it says so, or names it.
func isChoice(s, offer string) bool {
	return !isQuestion(s) && isSpeech(s) && (hasForm("choice", s) || sharesNames(namesIn(s), namesIn(offer)))
}

// isAnswer reports whether a sentence of a person says how it is with them, when asked.
func isAnswer(s string) bool { return !isQuestion(s) && isSpeech(s) && hasForm("answer", s) }

// hasForm reports whether a sentence has one of the forms of a name.
func hasForm(name, s string) bool {
	g := grammarOf(s)
	return s != "" && g != nil && g.has(name, g.read(foldText(s, g.dense)))
}

// isSpeech reports whether a sentence may be what a person says themselves, rather than code, an entry of a
// list, a quotation, or a line of a script behind a name.
func isSpeech(s string) bool {
	r := []rune(s)
	if len(r) == 0 || strings.ContainsRune("-*•>|#\"“「『‘`{[<(~+", r[0]) || numbered.MatchString(s) {
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

// beforeLastClause returns what stands before the last clause, without the marks at the end.
func (s sentence) beforeLastClause() sentence {
	end := len(s.tokens)
	for end > 0 && s.tokens[end-1].is.meets(pause) {
		end--
	}
	for end > 0 && !s.tokens[end-1].is.meets(pause) {
		end--
	}
	var out sentence
	for _, t := range s.tokens[:end] {
		out.add(t)
	}
	return out
}

// clausesOf returns the clauses of a sentence, if it has more than one: what one says of today is no reason against
// what another says of every day.
func (g *grammar) clausesOf(s sentence) []sentence {
	var out []sentence
	var c sentence
	for i, t := range s.tokens {
		if !t.is.meets(pause.with(g.classes["BREAK"])) {
			c.add(t)
			if i < len(s.tokens)-1 {
				continue
			}
		}
		if len(c.tokens) > 1 {
			out = append(out, c)
		}
		c = sentence{}
	}
	if len(out) == 1 && len(out[0].tokens) == len(s.tokens) {
		return nil
	}
	return out
}
