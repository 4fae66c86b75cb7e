package evidence

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Tone is how a prompt asks.
type Tone int

// The tones: an order, a question, a question about what was said or done before.
const (
	Order Tone = iota
	Question
	Past
)

// prompt is a prompt as it is looked for.
type prompt struct {
	asks  cues // what its beginning and its end ask for
	tone  Tone
	words []promptWord
	terms []string // of all words, each once
	names []string // what looks like an identifier, in lower case as it stands in the prompt
	// proper names of people, products and projects, in lower case
	proper []string
}

// promptWord is a word of a prompt with all terms that stand for it.
type promptWord struct {
	terms []int // in prompt.terms
	dense bool
	// it begins with the character that the one before ends with
	follows bool
	plain   bool   // work is spoken of in it, whatever the work is
	name    string // the identifier that it is part of; empty if of none
	proper  bool   // it is part of a proper name
}

// askingPhrases are words about the asking and not about what is asked. Phrases stand before those that they contain.
const askingPhrases = `还记得 你记得 记不记得 之前 上次 上回 以前 先前 当时 来着 最后 最终 到底 究竟 决定 讨论 商量 聊过 说过 提到 提过
	定下来 定了 定的 定为 我们 咱们 大家 请问 请 帮我 帮忙 麻烦 一下 一个 现在 需要 应该 可以 能否 能不能 要不要 为啥 为什么 怎么 怎样 哪种 哪些 哪个 哪里 多少 几个 几点 什么 是不是
	有没有 原因 结论 方案是`

func spaced(phrases []string) (out []string) {
	for _, p := range phrases {
		out = append(out, p, " ")
	}
	return out
}

// askingWords are English words of the same kind, and workWords what is said of any work.
const (
	askingWords = `decided decide decision discussed discuss discussion earlier before previously last time week month
		yesterday ago settled settle chose choose picked pick agreed agree reason conclude concluded ended end figured figure
		talked talk remind did does know need want like think thing things something anything everything way ways much many
		there here ever yet still already back up out off now then same other another different one two first next got get
		use used using happen happened supposed let lets going go went please thanks okay ok sure just really actually`
	workWords = `fix fixes bug error errors fail fails failing failed test tests testing run running code file files folder
		function functions method class variable line lines add change changes update edit write rewrite remove delete rename move
		create make build built compile refactor clean cleanup implement implementation commit push pull merge branch diff
		review check look read show list print explain summarize summarise help work works working script command type types
		lint linter format comment comments docs doc document documentation readme project repo repository app application
		start stop restart install setup set new old version package module import export todo issue pr request better best
		good bad wrong right correct issue issues problem problems question answer output input value name names call
		data string number int object list page button color text message log logs api server client user config
		continue proceed try retry again instead step steps plan finish done complete simple small quick whole all every
		more less most least only also sentence word words english chinese translate
		feature handle handling support path paths option options flag flags default case cases example examples`
	workPhrases = `修复 修改 修正 添加 增加 加上 删除 去掉 移除 重构 优化 运行 执行 测试 代码 文件 函数
		方法 变量 报错 错误 提交 推送 合并 分支 检查 看看 解释 说明 总结 翻译 实现 完成 继续 重试
		注释 文档 项目 功能 问题 页面 按钮 接口 数据 配置 更新 安装 启动 重启 构建 编译 用例
		通过 失败 类型 格式 脚本 命令 输出 输入 参数 默认 支持 处理 使用 这个 那个 所有 全部 新的 重新`
)

// vocabulary are those lists as they are looked up.
type vocabulary struct {
	phrases      *strings.Replacer
	asking, work map[string]bool
}

var words = sync.OnceValue(func() vocabulary {
	return vocabulary{phrases: strings.NewReplacer(spaced(strings.Fields(askingPhrases))...), asking: termSet(askingWords),
		work: termSet(workWords + " " + workPhrases)}
})

var (
	pastCue = lazyregexp.New(`(?i)\b(did (we|i|you)|was (it|the|that|there|our)|were (the|we|our)|had we|have we|earlier|before|previously|` +
		`last (time|week|month|year)|yesterday|back then|remember|remind|recall|decided|agreed|settled|chose|picked|discussed|` +
		`talked about|ended up|used to|came up with|(what|which|where|why|when|how|who)('s| \w+){0,6} (did|was|were|had)\b)|` +
		`之前|上次|上回|以前|先前|当时|来着|说过|提过|聊过|讨论|决定|还记得|记得|定的|定了|定下|最后(选|用|定|是|怎)|为什么(选|用|改|不|要|把)|怎么(解决|修|定|处理)的|是(谁|哪|什么时候|怎么).*的`)
	questionCue = lazyregexp.New(`(?i)[?？]\s*$|^\W*(what|which|where|why|when|how|who|whose|is|are|does|do|did|was|were|can|could|has|have)\b|` +
		`什么|哪|怎么|为何|多少|几|谁|吗|呢[？。]?$|是否|是不是|有没有`)
	identifier = lazyregexp.New("`[^`\\s]{2,80}`" + `|[\w.@~-]*/[\w./@-]+|\b\w+\.\w{1,5}\b|\b\w+(_\w+)+\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z0-9]+[A-Z]\w*|` +
		`\b[A-Z]{2,}[-_ ]?\d[\w.-]*|\b\w*\d\w*[a-zA-Z]\w*|\b[A-Z][A-Z0-9_]{3,}\b|#\d{2,}|\b\d{3,}\b|\b[0-9a-f]{7,40}\b`)
	fence = lazyregexp.New("(?s)```.*?```")
)

func termSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, t := range terms.SplitTerms(words) {
		out[t] = true
	}
	return out
}

// maxPrompt bounds what of a prompt is read: its beginning and its end.
const maxPrompt = 4 << 10

// readPrompt reads a prompt.
func readPrompt(text string) prompt {
	if len(text) > maxPrompt {
		text = strings.ToValidUTF8(text[:maxPrompt/2], "") + "\n" + strings.ToValidUTF8(text[len(text)-maxPrompt/2:], "")
	}
	said := fence().ReplaceAllString(text, " ")
	if strings.TrimSpace(said) == "" {
		said = text
	}
	p := prompt{asks: readCues(said)}
	switch {
	case pastCue().MatchString(said):
		p.tone = Past
	case questionCue().MatchString(said):
		p.tone = Question
	}
	partOf := map[string]string{}
	for _, name := range identifier().FindAllString(said, 24) {
		name = strings.ToLower(strings.Trim(name, "`.,-/"))
		if utf8.RuneCountInString(name) < 3 || isYear(name) {
			continue
		}
		p.names = append(p.names, name)
		for _, t := range terms.SplitTerms(name) {
			partOf[t] = name
		}
	}
	p.proper = findNames(said)
	named := map[string]bool{}
	for _, name := range p.proper {
		for _, t := range terms.SplitTerms(name) {
			named[t] = true
		}
	}
	q := terms.ParseQuery(words().phrases.Replace(strings.Map(unquoted, terms.FoldText(said))))
	number := map[string]int{}
	before := "" // the word before, if it is counted
	for i, word := range q.Any[:q.Words] {
		first, _ := utf8.DecodeRuneInString(word)
		w := promptWord{dense: terms.IsDense(first), name: partOf[word], proper: named[word]}
		if words().asking[word] && w.name == "" || w.dense && strings.HasSuffix(word, "*") {
			before = ""
			continue
		}
		if w.dense && before != "" {
			last, _ := utf8.DecodeLastRuneInString(before)
			w.follows = last == first
		}
		before = word
		w.plain = words().work[word] && w.name == ""
		for j, t := range q.Any {
			if j < len(q.Stands) && slices.Contains(q.Stands[j], i) && (j == i || len(q.Stands[j]) == 1) {
				at, known := number[t]
				if !known {
					at = len(p.terms)
					number[t] = at
					p.terms = append(p.terms, t)
				}
				w.terms = append(w.terms, at)
			}
		}
		p.words = append(p.words, w)
	}
	return p
}

// isYear reports whether a name is only a year, which says little.
func isYear(name string) bool {
	return len(name) == 4 && (strings.HasPrefix(name, "19") || strings.HasPrefix(name, "20")) &&
		strings.Trim(name, "0123456789") == ""
}

// unquoted puts a space in the place of quotation marks: to quote is not to demand here.
func unquoted(r rune) rune {
	if unicode.In(r, unicode.Pi, unicode.Pf) || strings.ContainsRune("\"'`「」『』＂", r) && r != '\'' {
		return ' '
	}
	return r
}

// weigh returns how much a word says that n of all conversations have: 1 if none has it.
func weigh(n, all int) float64 {
	most := float64(max(all, leastConversations)) + 1
	return max(0, math.Log(most/(float64(n)+0.5))/math.Log(most/0.5))
}

// leastConversations is how many conversations a store counts as at least: in a small one every word is rare.
const leastConversations = 40
