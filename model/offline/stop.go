package offline

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// stopWords carry no content in a question. They are kept in the form the term
// cutter gives them.
var stopWords = sync.OnceValue(func() map[string]bool {
	return termSet(`a an the this that these those there here it its he she they them his her their
	i me my mine we us our you your yours is are was were am be been being do does did done have has had
	can could will would shall should may might must of to in on at by for from with about as into and or
	but if so then than what who whom whose which when where why how again exactly please kindly just also
	now still ever tell told remind show give find search look let know remember recall quote say said says
	mention mentioned talk talked want need like s t d m ll re ve don doesn didn isn wasn aren couldn wouldn not any some ok okay hey hi hello thanks`)
})

// emptyWords are what a tool says when it has nothing to say.
var emptyWords = sync.OnceValue(func() map[string]bool {
	return termSet(`no none nothing found match matches matched matching result results hit hits zero
	error failed invalid empty total messages message query pattern`)
})

// stopPhrases are blanked before a question is cut, so that their characters pair
// with nothing. Longer ones stand before those they contain.
var stopPhrases = strings.Fields(`你能做什么 你会什么 你是谁 请告诉我 我想知道 你还记得 为什么 是什么 有没有 能不能 是不是 告诉我 请告诉 你知道
	还记得 帮我查 帮我找 查一下 找一下 说一下 哪一个 怎么样 请问 什么 多少 哪里 哪儿 哪个 哪些 怎么 怎样 如何 为何
	是否 何时 多久 告诉 记得 一下 我们 你们 他们 谁 啥 吗 呢`)

// glueRunes bind words together: a pair that holds one says little by itself.
const glueRunes = "的是了我你他她它这那在吧啊呀嘛"

var (
	askedFirst = []string{"请问", "告诉我", "请告诉", "我想知道", "帮我查", "帮我找", "查一下", "找一下"}
	askedLast  = []string{"吗", "呢", "多少", "什么", "谁", "哪里", "哪儿", "哪个", "哪些", "几个", "几点", "几号", "啥",
		"何时", "如何", "怎么样", "か", "까"}
	askedWithin = []string{"什么", "多少", "哪", "谁", "怎么", "怎样", "如何", "为何", "几点", "几号", "第几", "几个", "是否",
		"有没有", "能不能", "是不是", "啥", "多久", "多大", "多长", "多远"}
	notAsked = strings.NewReplacer("没什么", "", "没有什么", "", "无论如何", "", "无论", "")
)

var (
	fillers  = wordSet("so and but ok okay hey hi hello please now then well also")
	asking   = wordSet("what who whom whose which why how")
	whenever = wordSet("when where")
	helping  = wordSet("is are was were am do does did have has had can could will would shall should may might must")
	helped   = wordSet("i you we they he she it there the this that my our your any anyone anybody someone")
	ordering = []string{"tell me", "remind me", "show me", "give me", "let me know", "find", "search", "look up",
		"recall", "quote", "i wonder"}
)

// isQuestion reports whether a sentence wants an answer.
func isQuestion(s string) bool {
	s = strings.TrimRight(s, "\"'”’」』）)]】!！ \t")
	if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
		return true
	}
	return strings.ContainsFunc(s, terms.IsDense) && isDenseQuestion(s) || isWordQuestion(s)
}

func isDenseQuestion(s string) bool {
	core := strings.TrimSpace(strings.TrimRight(s, "。．.…；;，,"))
	for _, p := range askedFirst {
		if strings.HasPrefix(core, p) {
			return true
		}
	}
	core = notAsked.Replace(core)
	for _, p := range askedLast {
		if strings.HasSuffix(core, p) {
			return true
		}
	}
	if strings.HasSuffix(s, "。") {
		return false
	}
	for _, p := range askedWithin {
		if strings.Contains(core, p) {
			return true
		}
	}
	return false
}

func isWordQuestion(s string) bool {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\'' && r != '’'
	})
	for len(words) > 0 && fillers[words[0]] {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	first, short, _ := strings.Cut(strings.ReplaceAll(words[0], "’", "'"), "'")
	next := short
	if next == "" && len(words) > 1 {
		next = words[1]
	}
	switch {
	case asking[first]:
		return next != "a" && next != "an"
	case whenever[first]:
		return helping[next] || next == "s"
	case helping[first] && helped[next]:
		return true
	}
	line := strings.Join(words, " ") + " "
	for _, p := range ordering {
		if strings.HasPrefix(line, p+" ") {
			return true
		}
	}
	return false
}

// hasGlue reports whether a term of an unspaced script holds a binding character.
func hasGlue(t string) bool { return strings.ContainsAny(t, glueRunes) }

// isLoneCharacter reports whether a term is one character of an unspaced script.
func isLoneCharacter(t string) bool {
	r, size := utf8.DecodeRuneInString(t)
	return size == len(t) && terms.IsDense(r)
}

func termSet(s string) map[string]bool {
	set := map[string]bool{}
	terms.EachTerm(s, func(t string) bool {
		set[t] = true
		return true
	})
	return set
}

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		set[w] = true
	}
	return set
}
