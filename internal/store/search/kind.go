package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// questionKind is what a question asks for.
type questionKind struct {
	question                      bool // a sentence, not a few words to be looked up
	when, many, where, why, shown bool
	wishes                        bool // how the person likes things
}

var (
	functionWords = foreign.Regexp(`(?i)\b(?:what|who|whom|whose|when|where|why|how|which|did|does|do|is|are|was|were|has|have|had|can|could|` +
		`should|would|will|tell|the|an?|of|to|my|his|her|their|our|i|you|we|she|he|they)\b|[?？]|什么|什麼|谁|誰|哪|怎么|怎麼|怎样|为何|多少|几|吗|嗎|呢|我|你|他|她|的` +
		`|{question}`)
	asksWhen = foreign.Regexp(`(?i)\bwhen\b|\b(?:what|which)\s+(?:date|day|month|year|time|week)\b|\bhow long\b|什么时候|什麼時候|何时|何時|` +
		`哪天|哪一天|哪日|哪年|哪一年|哪个月|几月|几号|多久|{when}`)
	asksMany  = foreign.Regexp(`(?i)\bhow (?:many|much|old|often|far|tall|big|large)\b|多少|几[个次位只本岁人]|幾|{many}`)
	asksWhere = foreign.Regexp(`(?i)\bwhere\b|\b(?:what|which)\s+(?:city|country|place|town|state|area)\b|哪里|哪裡|哪儿|在哪|什么地方|{where}`)
	asksWhy   = foreign.Regexp(`(?i)\bwhy\b|\breasons?\b|\bwhat (?:made|motivated|inspired)\b|为什么|為什麼|为何|原因|{why}`)
	asksShown = foreign.Regexp(`(?i)\b(?:photos?|pictures?|images?|painted|painting|drawing|drew|poster|posters|sign)\b|照片|图片|圖片|画|{shown}`)
	asksWish  = foreign.Regexp(`(?i)\b(?:prefer\w*|preferences?|favou?rites?|style|tone|format|wording|recommend\w*|suggest\w*|advice|tips?|ideas?|` +
		`(?:should|could|can|shall) (?:i|we)|should (?:you|it|the|my)|(?:suits?|for) me|your (?:answers?|repl(?:y|ies)|tone)|my (?:nick)?name|` +
		`would i (?:like|want|enjoy)|how do i like|do i (?:like|want)|rules?|always|never)\b|` +
		`偏好|喜欢|喜歡|喜好|风格|格式|语气|措辞|推荐|推薦|建议|建議|应该怎么|适合我|適合我|我该|我應該|我应该|你的?回[复答覆]|怎么称呼|要求|规矩|習慣|习惯|{wish}`)

	wishes = lazyregexp.New(`(?i)\bI(?:'m| am)? (?:really |also |just |usually |always |only |never |do )*(?:prefer|like|love|enjoy|hate|dislike|want|use|need|` +
		`interested|into|a fan|allergic|vegetarian|vegan|trying|learning|looking for)\b|\bmy (?:favou?rite|own|goal|budget|usual)\b|我(?:比较|更|最|只|不|很)?(?:喜欢|喜歡|爱|愛|讨厌|想要|用|习惯|偏好)`)
)

// longAsk is how many words make a question of what may be only words to be looked up.
const longAsk = 4

func kindOf(loose string) questionKind {
	return questionKind{question: functionWords().MatchString(loose) || len(strings.Fields(loose)) >= longAsk,
		when: asksWhen().MatchString(loose), many: asksMany().MatchString(loose), where: asksWhere().MatchString(loose),
		why: asksWhy().MatchString(loose), shown: asksShown().MatchString(loose), wishes: asksWish().MatchString(loose)}
}

// matchScore returns 1 if a message holds what a question of this kind asks for.
func (k questionKind) matchScore(m scrollback.Message, t traits) float64 {
	return oneIf(k.shown && (t.shown || hasImage(m.Parts)) || k.many && t.number || k.where && t.place ||
		k.why && t.reason)
}

func hasImage(parts scrollback.Parts) bool {
	for _, p := range parts {
		if _, ok := p.(scrollback.Image); ok {
			return true
		}
	}
	return false
}

// questionShare returns the share of the sentences of a text that are questions.
func questionShare(text string) float64 {
	questions := 0
	all := 0
	said := false
	for _, r := range text {
		switch r {
		case '?', '？':
			if said {
				questions++
				all++
			}
			said = false
		case '.', '!', '。', '！', '\n', ';', '；':
			if said {
				all++
			}
			said = false
		default:
			said = said || unicode.IsLetter(r) || unicode.IsDigit(r)
		}
	}
	if said {
		all++
	}
	if all == 0 {
		return 0
	}
	return float64(questions) / float64(all)
}

// isQuestion reports whether a text ends with a question mark.
func isQuestion(text string) bool {
	text = strings.TrimRight(text, " \n\t\"'”’)）")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// speakerName begins a text with who says it: "Anna: ", "【小林】".
var speakerName = lazyregexp.New(`^[\[【(*]{0,2}([\p{L}][\p{L}\p{M}'’. -]{0,30}?)[\]】)*]{0,2}\s?[:：]`)

// speakerOf returns the name of who said a message, or nothing.
func speakerOf(m scrollback.Message, text string) string {
	if m.Name != "" {
		return m.Name
	}
	begins := strings.TrimSpace(text[:min(len(text), 80)])
	if !strings.ContainsAny(begins, ":：") {
		return ""
	}
	if found := speakerName().FindStringSubmatch(begins); found != nil {
		return found[1]
	}
	return ""
}

// namesPerson reports whether a question, in lower case, names a person.
func namesPerson(question, person string) bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(person),
		func(r rune) bool { return r == ' ' || r == '_' || r == '.' || r == '-' }) {
		if utf8.RuneCountInString(part) < 2 {
			continue
		}
		at := strings.Index(question, part)
		if at < 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(question[:at])
		after, _ := utf8.DecodeRuneInString(question[at+len(part):])
		first, _ := utf8.DecodeRuneInString(part)
		if first > 0x2e80 || !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
	}
	return false
}
