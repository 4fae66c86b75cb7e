package kept

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/same"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/internal/wordtable"
)

//go:embed words.tsv
var foreignFile string

// foreign is how to-dos are written in other languages than English and Chinese.
var foreign = wordtable.New("internal/kept/words.tsv", foreignFile)

var (
	// todos finds what is marked as a to-do, and listed what is written down as one.
	todos  = sift(foreign.Regexp(`(?i)^\s*([-*+]\s*|\d+[.)]\s*)?\[ \]|☐|\bto-?dos?\b|待[办辦]|{todo}`))
	listed = sift(lazyregexp.New(`(?i)^\s*(?:[-*+]\s*|\d+[.)]\s*)?(?:\[ \]|☐|to-?do\b|待[办辦](?:事[项項])?\s*[:：])`))
	// ticked finds a to-do that its list shows as done, and what it is.
	ticked = sift(lazyregexp.New(
		`^\s*(?:[-*+]\s*|\d+[.)]\s*)?(?:(?:\[[xX✓✔]\]|☑|✅|✔️|✔|✓)\s*(.+)|~~(.+)~~\s*)$`))
)

// IsTodo reports whether a sentence says what remains to be done: it is marked so, or a person says that they still
// have to do it, or want to be reminded.
func IsTodo(role scrollback.Role, sentence string) bool {
	if mayBeTodo(sentence) && todos().MatchString(sentence) {
		return true
	}
	return role == scrollback.RoleUser && judge(sentence).todo
}

// IsListed reports whether a sentence is written down as a to-do. What an assistant says about to-dos
// is none.
func IsListed(sentence string) bool { return mayBeTodo(sentence) && listed().MatchString(sentence) }

// IsTicked reports whether a sentence is a to-do that its list shows as done.
func IsTicked(sentence string) bool { return tickedOf(sentence) != nil }

// tickedOf returns what ticked finds in a sentence.
func tickedOf(sentence string) []string {
	if !strings.Contains(sentence, "~~") && !strings.ContainsAny(sentence, "[☑✅✔✓") {
		return nil
	}
	return ticked().FindStringSubmatch(sentence)
}

// mayBeTodo rules out most sentences without an expression.
func mayBeTodo(s string) bool {
	if strings.Contains(s, "[ ]") || strings.Contains(s, "☐") || strings.Contains(s, "待") {
		return true
	}
	for at := 0; ; at++ {
		next := strings.IndexAny(s[at:], "tT")
		if next < 0 {
			break
		}
		if at += next; hasPrefixFold(s[at:], "todo") || hasPrefixFold(s[at:], "to-do") {
			return true
		}
	}
	return slices.ContainsFunc(foreign.Words("todo-cue"), func(cue string) bool { return strings.Contains(s, cue) })
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// todoMarks are what is not part of the to-do itself.
var todoMarks = sift(foreign.Regexp(
	`(?i)^\s*(?:[-*+]\s*|\d+[.)]\s*)?(?:\[[ xX✓✔]\]|☐)?\s*(?:to-?dos?\b(?:\s+(?:item|list))?|待[办辦](?:事[项項])?|{todo-mark})?[\s:：,，]*|\bto-?do\b|待[办辦](?:事[项項])?[:：]?`,
))

// doneWords are what tells that something is done from the thing itself.
var doneWords = sift(lazyregexp.New(
	`(?i)\b(?:done|finished|completed?)\b(?: with\b)?|(?:已经|已)?(?:完成|搞定|做完|做好|办好|办完|弄好|处理好|处理完)了?|已经?|[好完]了?`))

// fillers are words that do not name a to-do.
var fillers = sync.OnceValue(func() map[string]bool {
	return wordSet(`the a an is are was were has have had been be now i we you my our your this that just already all i've we've that's
	it's it i'm please successfully also finally so then and of 了 啦 的 我 们 把 都 吧 请 刚`)
})

// pasts are the irregular past forms of verbs that to-dos begin with.
var pasts = sync.OnceValue(func() map[string]string {
	return wordPairs(`wrote write written write sent send made make built build bought buy paid pay ran run fed feed told tell found find
	did do rewrote rewrite rewritten rewrite took take taken take got get gotten get gave give given give chose choose chosen choose
	brought bring came come drew draw drove drive flew fly hung hang held hold kept keep left leave lent lend met meet sold sell
	spoke speak spoken speak swept sweep taught teach threw throw thrown throw went go gone go wound wind woke wake wore wear dug dig
	let let put put set set cut cut read read shut shut split split hidden hide sewn sew mown mow returned return redid redo redone redo
	saw see seen see began begin rang ring rung ring ate eat eaten eat drank drink drunk drink had have`)
})

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// wordPairs reads words two by two.
func wordPairs(words string) map[string]string {
	out := map[string]string{}
	fields := strings.Fields(words)
	for i := 0; i+1 < len(fields); i += 2 {
		out[fields[i]] = fields[i+1]
	}
	return out
}

// TodoKey returns the words that name a to-do, stemmed, without its marks and without
// words that say whether it is done.
func TodoKey(text string) string {
	text = doneWords().ReplaceAllString(todoMarks().ReplaceAllString(text, " "), " ")
	var out []string
	for w := range strings.FieldsSeq(same.NormalForm(text)) {
		if fillers()[w] {
			continue
		}
		if stem := pasts()[w]; stem != "" {
			w = stem
		}
		if r := []rune(w)[0]; unicode.IsLetter(r) && r < 0x2e80 {
			if ts := terms.SplitTerms(w); len(ts) == 1 {
				w = ts[0]
			}
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
