package terms

import (
	"strings"
	"sync"
)

// stopWords join other words and say little by themselves. They are listed as the cutter
// leaves them.
var stopWords = sync.OnceValue(func() map[string]bool {
	return wordSet(SplitTerms(`a an the this that these those there here it its he she they him his her hers them their
	i me my mine we us our ours you your yours is are was were am be been being do does did done doing
	have has had having can could will would shall should may might must of to in on at by for from with about
	into onto as and or but if so then than what who whom whose which when where why how again please also
	just not no nor too very s t d m ll re ve don doesn didn isn wasn aren weren won wouldn couldn shouldn
	tell told say said says ask asked mention mentioned remember recall any some
	der die das und ist le la les et est de des el los las y es en un une una`))
})

// stopPhrases are taken out of a query before it is cut, so that their characters
// pair with nothing. Longer ones stand before those they contain.
var stopPhrases = strings.NewReplacer(phrasePairs(strings.Fields(`请告诉我 我想知道 你还记得 为什么 是什么 什么时候 有没有 能不能 是不是 告诉我 哪一个 怎么样
	请问 什么 多少 哪里 哪儿 哪个 哪些 怎么 怎样 如何 为何 是否 何时 谁 哪 吗 呢 了 的 们 是 给 在 把 被 和 与 这 那 我 你 他 她 它`))...)

// keptPhrases hold a character of stopPhrases but still say something.
var keptPhrases = strings.Fields(`的士 目的 是非 现在 存在 在线 所在 给予 供给 和平 和谐 温和 饱和 共和 参与 与会 把握 把手 被子 自我 了解 为了 其他 他人`)

func wordSet(words []string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// phrasePairs replaces each phrase by a space.
func phrasePairs(phrases []string) []string {
	var out []string
	for _, k := range keptPhrases {
		out = append(out, k, k)
	}
	for _, p := range phrases {
		out = append(out, p, " ")
	}
	return out
}

// OnlyJoins reports whether a text has only words that join others, or none.
func OnlyJoins(s string) bool {
	for _, t := range queryTerms(stopPhrases.Replace(FoldText(s))) {
		if !stopWords()[t] {
			return false
		}
	}
	return true
}

// contentTerms returns what is worth looking for in a query: its terms without stop words, or all of
// them if nothing else is left.
func contentTerms(s string) []string {
	var out []string
	for _, t := range queryTerms(stopPhrases.Replace(s)) {
		if !stopWords()[t] {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return queryTerms(s)
	}
	return out
}
