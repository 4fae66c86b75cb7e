package search

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/terms"
)

// traits are what a text holds that some questions ask for. They are found in one pass over
// its words: an expression for each would take most of a search.
type traits struct {
	self, time, number, reason, place, shown bool
	times                                    []int // where in the text something of time stands, at most timesMost
}

const timesMost = 8

// trait is what a word stands for.
type trait uint8

const (
	isSelf trait = 1 << iota
	isTime
	isNumber
	isReason
	isShown
	leadsPlace
	isUnit // of time, behind a number
	isArticle
)

// wordTraits are English words, lower case.
var wordTraits = func() map[string]trait {
	out := map[string]trait{}
	for t, words := range map[trait]string{
		isSelf: "i my me mine myself we our us ours",
		isTime: "yesterday today tonight tomorrow last ago next since recently monday tuesday wednesday thursday friday saturday sunday weekend " +
			"january february march april may june july august september october november december jan feb mar apr jun jul aug sept oct nov dec " +
			"spring summer autumn fall winter morning evening afternoon birthday christmas am pm",
		isNumber:   "one two three four five six seven eight nine ten eleven twelve twenty thirty hundred dozen once twice couple several few half both",
		isReason:   "because since reason reasons due cause caused inspired motivated why thanks helps helped",
		isShown:    "photo photos picture pictures image images pic pics caption painted painting drawing poster shared",
		leadsPlace: "in at near from to around outside inside",
		isUnit:     "minute minutes hour hours day days week weeks month months year years",
		isArticle:  "the a an my our his her their",
	} {
		for _, w := range strings.Fields(words) {
			out[w] |= t
		}
	}
	return out
}()

// denseTraits are words of scripts without spaces, with simplified characters.
var denseTraits = sync.OnceValue(func() map[trait][]string {
	return map[trait][]string{
		isSelf: append(foreign.Words("has-self"), "我", "咱"),
		isTime: append(foreign.Words("has-time"), "昨", "前天", "今天", "今早", "今晚", "今年", "今日", "明天", "明日", "明年", "后天", "后日",
			"上周", "上个", "上星期", "上礼拜", "上月", "下周", "下个", "下星期", "下月", "这周", "本周", "星期", "周末", "周一", "周二", "周三", "周四",
			"周五", "周六", "周日", "去年", "前年", "年前", "月前", "天前", "周前", "最近", "小时候", "月", "号", "日", "点"),
		isNumber: {"一", "二", "两", "三", "四", "五", "六", "七", "八", "九", "十", "百", "千", "半"},
		isReason: append(foreign.Words("has-reason"), "因为", "由于", "所以", "为了"),
		isShown:  append(foreign.Words("has-shown"), "照片", "图片", "画"),
	}
})

// densePlaces are too short to tell anything by themselves.
var densePlaces = sync.OnceValue(func() []string { return append(foreign.Words("has-place"), "在", "住", "去") })

// traitsOf reads a text; wanted says for what besides the first person.
func traitsOf(text string, k questionKind, dates bool) traits {
	var t traits
	s := scanner{t: &t}
	dense := s.scanText(text)
	if !dense {
		return t
	}
	folded := terms.FoldText(text)
	has := func(all []string) bool {
		for _, w := range all {
			if strings.Contains(folded, w) {
				return true
			}
		}
		return false
	}
	t.self = t.self || has(denseTraits()[isSelf])
	t.time = t.time || (k.when || dates) && has(denseTraits()[isTime])
	t.number = t.number || k.many && has(denseTraits()[isNumber])
	t.reason = t.reason || k.why && has(denseTraits()[isReason])
	t.shown = t.shown || k.shown && has(denseTraits()[isShown])
	t.place = t.place || k.where && has(densePlaces())
	return t
}

// scanner goes over the English words and the numbers of a text.
type scanner struct {
	t      *traits
	word   [12]byte
	was    trait // of the word before
	digits bool  // the word before is a number
}

// scanText reports whether there are letters of other scripts.
func (s *scanner) scanText(text string) (dense bool) {
	from := -1
	digits := false
	for i := 0; i <= len(text); i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		if from >= 0 && (!letter && !digit || letter && digits) {
			s.endToken(text, from, i, digits)
			from = -1
		}
		if (letter || digit) && from < 0 {
			from = i
			digits = digit
		}
		dense = dense || c >= utf8.RuneSelf
	}
	return dense
}

// endToken takes a word or a number in.
func (s *scanner) endToken(text string, from, to int, digits bool) {
	t := s.t
	if digits {
		t.number = true
		if y := text[from:to]; len(y) == 4 && (y[:2] == "19" || y[:2] == "20") {
			s.timeAt(from)
		}
		s.was = 0
		s.digits = true
		return
	}
	if s.was&leadsPlace != 0 && text[from] >= 'A' && text[from] <= 'Z' {
		t.place = true
	}
	var is trait
	if to-from <= len(s.word) {
		for i := from; i < to; i++ {
			s.word[i-from] = text[i] | 0x20
		}
		is = wordTraits[string(s.word[:to-from])]
	}
	t.self = t.self || is&isSelf != 0
	t.number = t.number || is&isNumber != 0
	t.reason = t.reason || is&isReason != 0
	t.shown = t.shown || is&isShown != 0
	if is&isTime != 0 && (text[from:to] != "may" && text[from:to] != "fall" && text[from:to] != "march") ||
		is&isUnit != 0 && (s.digits || s.was&(isNumber|isArticle) != 0) {
		s.timeAt(from)
	}
	if is&isArticle != 0 && s.was&leadsPlace != 0 { // in the Alps
		is |= leadsPlace
	}
	s.was = is
	s.digits = false
}

func (s *scanner) timeAt(i int) {
	if s.t.time = true; len(s.t.times) < timesMost {
		s.t.times = append(s.t.times, i)
	}
}

// spokenTimes returns the pieces of a text that may name a time.
func (t traits) spokenTimes(text string) []string {
	const before, after = 24, 32
	if len(t.times) == 0 || strings.ContainsFunc(text, terms.IsDense) {
		if !t.time && len(t.times) == 0 {
			return nil
		}
		return []string{text}
	}
	var out []string
	from := -1
	to := -1
	for _, i := range t.times {
		if a, b := max(0, i-before), min(len(text), i+after); from >= 0 && a <= to {
			to = b
		} else {
			if from >= 0 {
				out = append(out, text[from:to])
			}
			from = a
			to = b
		}
	}
	return append(out, text[from:to])
}
