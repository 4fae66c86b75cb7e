package kept

import (
	_ "embed"
	"slices"
	"strings"
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

// todos finds what remains to be done, and listed what is written down as a to-do.
var (
	todos  = foreign.Regexp(`(?i)^\s*([-*+]\s*|\d+[.)]\s*)?\[ \]|☐|\bto-?do\b|待[办辦]|{todo}`)
	listed = lazyregexp.New(`(?i)^\s*(?:[-*+]\s*|\d+[.)]\s*)?(?:\[ \]|☐|to-?do\b|待[办辦](?:事[项項])?\s*[:：])`)
	// ticked finds a to-do that its list shows as done, and what it is.
	ticked = lazyregexp.New(
		`^\s*(?:[-*+]\s*|\d+[.)]\s*)?(?:(?:\[[xX✓✔]\]|☑|✅|✔️|✔|✓)\s*(.+)|~~(.+)~~\s*)$`)
)

// IsTodo reports whether a sentence says what remains to be done.
func IsTodo(sentence string) bool { return mayBeTodo(sentence) && todos().MatchString(sentence) }

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
var todoMarks = foreign.Regexp(
	`(?i)^\s*(?:[-*+]\s*|\d+[.)]\s*)?(?:\[[ xX✓✔]\]|☐)?\s*(?:to-?dos?\b(?:\s+(?:item|list))?|待[办辦](?:事[项項])?|{todo-mark})?[\s:：,，]*|\bto-?do\b|待[办辦](?:事[项項])?[:：]?`,
)

// doneWords are what tells news that something is done from the thing itself, and
// doneNews finds a sentence that has such news, rather than a request to do it.
var (
	doneWords = lazyregexp.New(
		`(?i)\b(?:done|finished|completed?)\b(?: with\b)?|(?:已经|已)?(?:完成|搞定|做完|做好|办好|办完|弄好|处理好|处理完)了?|已经?|[好完]了?`,
	)
	doneNews = lazyregexp.New(`(?i)\b(?:done|finished|completed)\b|\b(?:is|are|now) complete\b` +
		`|已|(?:完成|搞定|做完|做好|办好|办完|弄好|处理好|处理完)(?:.*了|\s*$|[:：。！!])|\p{Han}[完好].*了`)
	request = lazyregexp.New(`(?i)\b(?:please|let's|need|must|should)\b|请|麻烦|需要|必须`)
)

// fillers are words that a to-do and the news that it is done need not share.
var fillers = map[string]bool{"the": true, "a": true, "an": true, "is": true, "are": true, "was": true, "were": true,
	"has": true, "have": true, "had": true, "been": true, "be": true, "now": true, "i": true, "we": true, "you": true,
	"my": true, "our": true, "your": true, "this": true, "that": true, "just": true, "already": true, "all": true,
	"i've": true, "we've": true, "that's": true, "it's": true, "it": true, "i'm": true, "please": true,
	"successfully": true, "also": true, "finally": true, "了": true, "啦": true, "的": true, "我": true, "们": true, "把": true,
	"都": true, "吧": true, "请": true, "刚": true}

// pasts are the irregular past forms of verbs that to-dos begin with.
var pasts = map[string]string{"wrote": "write", "written": "write", "sent": "send", "made": "make", "built": "build",
	"bought": "buy", "paid": "pay", "ran": "run", "fed": "feed", "told": "tell", "found": "find",
	"did": "do", "rewrote": "rewrite", "rewritten": "rewrite", "took": "take", "taken": "take", "got": "get",
	"gave": "give", "given": "give", "chose": "choose", "chosen": "choose"}

// Todos are the open to-dos of a conversation, read in order, each by its core: the words that name
// it. The zero value is ready to use.
type Todos struct{ open map[string]openTodo }

// openTodo is how a to-do is worded, and the places where it was said.
type openTodo struct {
	wording string
	at      []int
}

// Add notes that a to-do is said at a place.
func (t *Todos) Add(text string, at int) {
	core := TodoKey(text)
	if core == "" {
		return
	}
	if t.open == nil {
		t.open = map[string]openTodo{}
	}
	t.open[core] = openTodo{wordingOf(text), append(t.open[core].at, at)}
}

// Closed returns the places of the to-dos that a message says are done, and forgets them.
func (t *Todos) Closed(role scrollback.Role, text string) (places []int) {
	if len(t.open) == 0 || role != scrollback.RoleUser && role != scrollback.RoleAssistant {
		return nil
	}
	for _, s := range SplitSentences(firstPart(text)) {
		places = append(places, t.closedBy(s)...)
	}
	return places
}

// closedBy is Closed for one sentence.
func (t *Todos) closedBy(sentence string) (places []int) {
	for _, core := range doneCores(sentence) {
		for _, open := range []string{core, rotateCore(core, 1), rotateCore(core, 2), rotateCore(core, -1),
			rotateCore(core, -2)} {
			if one, ok := t.open[open]; ok && (one.wording != wordingOf(sentence) || IsTicked(sentence)) {
				delete(t.open, open)
				places = append(places, one.at...)
				break
			}
		}
	}
	return places
}

// Closes reports whether a message says that a to-do is done.
func Closes(role scrollback.Role, text, todo string) bool {
	var t Todos
	t.Add(todo, 0)
	return len(t.Closed(role, text)) > 0
}

func wordingOf(text string) string { return same.NormalForm(todoMarks().ReplaceAllString(text, " ")) }

// doneCores lists the cores of what a sentence says is done. It says so of nothing else than
// what its own words name: not of what is to be done, asked, or done but for something.
func doneCores(text string) []string {
	if m := tickedOf(text); m != nil {
		return []string{TodoKey(m[1] + m[2])}
	}
	if !mayBeNews(text) || request().MatchString(text) {
		return nil
	}
	whole := []string{text}
	if !same.HasTurn(doneWords().ReplaceAllString(text, "")) {
		whole = append(whole, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",，;；、", r) })...)
	}
	var out []string
	for _, s := range whole {
		if doneNews().MatchString(s) || isPastTense(s) {
			if core := TodoKey(s); core != "" && !slices.Contains(out, core) {
				out = append(out, core)
			}
		}
	}
	return out
}

// mayBeNews rules out, without an expression, sentences of which no part has doneNews or is pastly.
func mayBeNews(text string) bool {
	text = strings.ToLower(text)
	return strings.ContainsAny(text, "已完好搞") || strings.Contains(text, "done") || strings.Contains(text, "finished") ||
		strings.Contains(text, "complete") ||
		slices.ContainsFunc(strings.FieldsFunc(text,
			func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",，;；、", r) }), mayBePast)
}

func mayBePast(w string) bool {
	return strings.HasSuffix(bareWord(w), "ed") || pasts[bareWord(w)] != ""
}

func bareWord(w string) string { return strings.Trim(w, "-*,.:;!✓✔✅") }

// isPastTense reports whether a sentence begins or ends with a verb in the past tense: "watered
// the plants", "the plants are watered".
func isPastTense(s string) bool {
	var words []string
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		if w = bareWord(w); w != "" && !fillers[w] {
			words = append(words, w)
		}
	}
	past := func(w string) bool { return mayBePast(w) && (len(w) > 4 || pasts[w] != "") }
	return len(words) > 0 && (past(words[0]) || past(words[len(words)-1]))
}

// TodoKey returns the words that name a to-do, stemmed, without its marks and without
// words that say whether it is done.
func TodoKey(text string) string {
	text = doneWords().ReplaceAllString(todoMarks().ReplaceAllString(text, " "), " ")
	var out []string
	for w := range strings.FieldsSeq(same.NormalForm(text)) {
		if fillers[w] {
			continue
		}
		if stem := pasts[w]; stem != "" {
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

// rotateCore returns a core with n of its words moved from the front to the end, or back: the
// verb stands at the other end when a thing is said to be done.
func rotateCore(core string, n int) string {
	words := strings.Fields(core)
	n = (n + len(words)) % max(len(words), 1)
	if n <= 0 {
		return core
	}
	return strings.Join(append(words[n:len(words):len(words)], words[:n]...), " ")
}
