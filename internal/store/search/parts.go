package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Bounds of what is searched by itself of a query.
const (
	maxAsking = 3 // sentences that ask, the last ones
	maxParts  = 4 // questions in these, the last ones
)

var (
	// asksWithout leads to a question that has no question mark.
	asksWithout = lazyregexp.New(`(?i)\b(?:what i (?:really |actually )?(?:want(?:ed)?|need(?:ed)?|meant) to (?:know|ask)|my (?:\w+ )?question\b|` +
		`i(?:'m| am| was|'ve been)? (?:\w+ )?wondering|i(?:'d| would) (?:\w+ )?like to know|i (?:\w+ )?want(?:ed)? to (?:know|ask)|` +
		`(?:tell|remind) me (?:what|when|where|who|why|how|which|whose|if|about)\b)|` +
		`想问|想知道|要问|问一下|请问|问题是|请告诉我|告诉我|提醒我一下|還記得|还记得`)
	// asksLast begins or ends a sentence that asks, if no other sentence does.
	asksLast = lazyregexp.New(`(?i)^\W*(?:what|when|where|who|whom|whose|which|why|how|did|does|do|is|are|was|were|has|have|had|can|could)\b|` +
		`什么|什麼|谁|誰|哪|怎么|怎麼|怎样|为何|多少|几[个次位只本岁点号月]|[吗嗎呢]\W*$`)
	// alsoAsks divides two questions in one sentence.
	alsoAsks = lazyregexp.New(`(?i)(?:[,;—–-]\s*|\s)and also\b[,:]?|[,;—–-]\s*also\b[,:]?|^\W*also\b[,:]|` +
		`[,;]?\s+and\s+(?:(?P<q>what|when|where|who|whom|whose|which|why|how)\b)|[，；、]?\s*(?:另外|此外|还有就是|還有就是|顺便问一下|順便問一下)[，：]?`)
)

// splitQuestions returns the questions of a query that says more than one question: the last
// sentences that ask, divided where one asks for two things. Nothing means that the query is to be
// searched as it stands.
func splitQuestions(query string) []string {
	sentences := splitSentences(query)
	var asking []string
	for _, s := range sentences {
		if isQuestion(s) || asksWithout().MatchString(s) {
			asking = append(asking, s)
		}
	}
	if len(asking) == 0 && len(sentences) > 1 {
		if last := sentences[len(sentences)-1]; asksLast().MatchString(last) {
			asking = append(asking, last)
		}
	}
	asking = asking[max(0, len(asking)-maxAsking):]
	var parts []string
	for _, s := range asking {
		parts = append(parts, divideQuestion(s)...)
	}
	parts = parts[max(0, len(parts)-maxParts):]
	if len(parts) == 1 && countWords(parts[0]) == countWords(query) {
		return nil
	}
	return parts
}

// countWords returns how many words are looked for in a query.
func countWords(query string) int { return terms.ParseQuery(query).Words }

// divideQuestion divides a sentence at what joins two questions, if each of them has something to look for.
func divideQuestion(s string) []string {
	re := alsoAsks()
	word := re.SubexpIndex("q")
	var out []string
	from := 0
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		next := at[1]
		if at[2*word] >= 0 { // the word that asks belongs to the question behind it
			next = at[2*word]
		}
		if isBalanced(s[from:at[0]]) && hasContent(s[from:at[0]]) && hasContent(s[next:]) {
			out = append(out, s[from:at[0]])
			from = next
		}
	}
	return append(out, s[from:])
}

// isBalanced reports whether each quotation mark of a text has its other.
func isBalanced(s string) bool { return len(terms.SplitQuotes(s))%2 == 1 }

// hasContent reports whether a text has more than words that join others.
func hasContent(s string) bool {
	q := terms.ParseQuery(s)
	return q.Words > 0 && !terms.OnlyJoins(s) || q.Demanded
}

// splitSentences cuts a text into sentences, outside quotes.
func splitSentences(text string) []string {
	var out []string
	from := 0
	quoted := false
	add := func(to int) {
		if s := strings.TrimSpace(text[from:to]); strings.ContainsFunc(s, isLetterOrDigit) {
			out = append(out, s)
		}
		from = to
	}
	for to := 0; to < len(text); {
		r, size := utf8.DecodeRuneInString(text[to:])
		to += size
		next, _ := utf8.DecodeRuneInString(text[to:])
		switch r {
		case '"':
			quoted = !quoted
		case '\n':
			quoted = false
			add(to)
		case '。', '！', '？', '…':
			if !quoted {
				add(to)
			}
		case '.', '!', '?':
			if !quoted && (to == len(text) || unicode.IsSpace(next)) {
				add(to)
			}
		}
	}
	add(len(text))
	return out
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
