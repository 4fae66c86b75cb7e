package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

var (
	capitalWord = lazyregexp.New(`\p{L}[\p{L}\p{M}'’-]*`)
	// A title in front of a name ends no sentence.
	titleBefore = lazyregexp.New(`(?i)\b(dr|mr|mrs|ms|prof|st|sr|jr|mme|mlle|ing|hr|fr)\.\s*$`)
	// Without a capital to tell them by, Chinese names of people are known by what they are called: 老王, 陈工, 李经理.
	titledName = lazyregexp.New(`[老小阿]` + surname + `|` + surname +
		`\p{Han}{0,2}(经理|老师|博士|律师|主任|医生|大夫|师傅|教授|先生|女士|小姐|太太|会计|院长|校长|厂长)|` + surname + `[总工哥姐叔姨]`)
	// Languages in which each noun begins with a capital.
	nounCapitals = lazyregexp.New(`(?i)\b(der|die|das|den|dem|und|ist|nicht|wir|ich|für|mit|auf|ein|eine|einen|wann|` +
		`wie|warum|haben|wurde)\b`)
)

const (
	surname = `[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文]`

	// calendarWords begin with a capital and name nobody; so do words about languages.
	calendarWords = `i monday tuesday wednesday thursday friday saturday sunday january february march april may june july
		august september october november december english chinese german french spanish japanese christmas easter ok`
	// toolWords are names of what everybody works with: they say as little as words about work.
	toolWords = `postgres postgresql mysql sqlite redis kafka mongodb docker kubernetes linux ubuntu debian windows macos android
		python java javascript typescript golang rust ruby node react vue angular django flask rails spring excel word
		github gitlab git slack jira notion google gmail chrome firefox safari apple microsoft amazon aws azure openai claude
		chatgpt gemini copilot cursor codex json yaml html css sql http https api markdown latex pdf csv vim emacs`
	mostNames = 16 // of a prompt
)

// findNames returns the proper names of people, products and projects in a text, in lower case: words that begin with
// a capital where no sentence begins. Where every noun does, or most words do, a capital says nothing.
func findNames(text string) (out []string) {
	all := capitalWord().FindAllStringIndex(text, -1)
	dense := hasHan(text) // where no sentence begins with a capital
	capitals := 0
	var found []string
	for i, at := range all {
		word := text[at[0]:at[1]]
		first, _ := utf8.DecodeRuneInString(word)
		if !unicode.IsUpper(first) {
			continue
		}
		capitals++
		low := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s"))
		if !dense && (i == 0 || beginsSentence(text[all[i-1][1]:at[0]], text[:at[0]])) {
			continue
		}
		found = append(found, low)
	}
	if latin := len(all); 2*capitals <= latin+1 || latin <= 3 || dense {
		if len(nounCapitals().FindAllString(text, 3)) < 3 {
			out = found
		}
	}
	out = slices.DeleteFunc(out, func(n string) bool {
		if utf8.RuneCountInString(n) < 3 || slices.Contains(strings.Fields(calendarWords+" "+toolWords), n) {
			return true
		}
		for _, t := range terms.SplitTerms(n) {
			if words().asking[t] || words().work[t] {
				return true
			}
		}
		return false
	})
	slices.Sort(out)
	out = append(slices.Compact(out), titledName().FindAllString(text, mostNames)...)
	return out[:min(len(out), mostNames)]
}

// beginsSentence reports whether a word begins a sentence, by what is between it and the word before, and all before.
func beginsSentence(between, before string) bool {
	if !strings.ContainsAny(between, ".!?:;\n。！？：；…\"“«(*#>") {
		return false
	}
	return !titleBefore().MatchString(before)
}

func hasHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
