package remote

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/wordtable"
)

// Servers say in countless words that a request does not fit. Where none of the known
// wordings is used, a sentence counts if it says all of these: that it is about what was
// sent, that there is too much of it, and that this is measured as length. A sentence about
// something else that has a limit, such as the rate of requests, the length of an answer or
// the number of images, does not count.
var (
	aboutInput = lazyregexp.New(`\b(?:prompts?|prompt_tokens|inputs?|input_tokens|context|requests?|messages?|conversation|history|sequence|tokens?|text|query|payload|body|contents?)\b|` +
		`max_seq_len|max_model_len|n_ctx|输入|提示|上下文|消息|请求|内容|文本|对话|会话`)
	tooMuch = lazyregexp.New(`\btoo (?:long|large|big|many)\b|\bexceed(?:s|ed|ing)?\b|\b(?:longer|larger|greater|bigger|more) (?:[a-z]+ )?than\b|\b(?:n_ctx|context|window)[^.;]{0,40}smaller than\b|[\d,]+ tokens > ?[\d,]+|\bonly [\d,]+ (?:tokens )?(?:fit|are allowed|remain)|\bover(?:flow|flows|flowed| the)\b|` +
		`\b(?:above|beyond|surpass(?:es|ed)?)\b|\b(?:not|n't|cannot) fit\b|\b(?:must|should|has to|have to|needs? to|can) (?:not )?be (?:less|fewer|smaller|shorter|lower|at most|no more|under|below|within|<=?)(?:[^a-z]|\b)|` +
		`\bonly (?:[a-z]+ )?[\d,]+ tokens\b|\bat most [\d,]+ (?:[a-z]+ )?tokens\b|\bruns? out of\b|\bmust have (?:less|fewer|at most|no more)\b|\breduce the length\b|\b(?:only )?supports? (?:only|up to|at most|a maximum of) [\d,]+ (?:[a-z]+ )?tokens\b|` +
		`\blimited to [\d,]+\b|\bis (?:bigger|full)\b|\bshorten (?:the|your)\b|\bshorter (?:input|prompt|message|conversation|context|text|query)|\bmax(?:imum)?:? (?:[a-z]+ ){0,3}(?:is|was):? [\d,]+|\blimit (?:was |is |has been )?reached\b|\[1, ?\d{3,}\]|超过|超出|超长|过长|太长|过大`)
	asLength = lazyregexp.New(`tokens?\b|\bcontext\b|max_seq_len|max_model_len|n_ctx|\blengths?\b|\bmax(?:imum)? (?:[a-z]+ )?(?:len|size)\b|\b(?:body|payload|request|message|input|prompt|content|entity) (?:[a-z]+ )?(?:size|too (?:large|long|big))|` +
		`\b(?:prompt|input|request|message|conversation|history|query|text|context|payload|body|content)s?(?: [a-z]+)?(?: that)?(?: is| are| was| were)? too (?:long|large|big)|\bconversation\b.{0,20}\b(?:too long|shorten)|\bshorten (?:the|your) (?:prompt|input|conversation|messages?)|\bmodel's capacity\b|\binput characters\b|长度|上下文|过长|太长|超长|token`)
	asBytes = lazyregexp.New(`\b(?:bytes?|body|payload|entity|[kmg]i?b)\b|\bmessage size\b|\d[kmg]i?b\b`)

	// otherLimits are what else has limits.
	otherLimits = lazyregexp.New(`\bimages?\b|\bpictures?\b|\bphotos?\b|\bpixels?\b|\bvideos?\b|\baudio\b|\bfiles?\b|\battachments?\b|\btools?\b|\bfunctions?\b|\bstop\b|\bschema\b|\benum\b|\bdepth\b|\bnest|` +
		`\bper[ _-](?:minute|min|second|sec|hour|day|month|week)|\b(?:daily|hourly|weekly|monthly|minutely)\b|\bfree tier\b|\busage limit\b|\b(?:access|auth[a-z]*|bearer|refresh|session|api) tokens?\b|\b[rt]p[mdhs]\b|\b(?:a|each|every) (?:minute|second|hour|day|month)\b|rate[ _-]?limit|\bthrottl|\bquotas?\b|\bconcurren|\bpending\b|\bqueue|\bretry|\btry again (?:in|later|after)|\bplease wait\b|` +
		`\bids?\b|_id\b|\bnames?\b|\bkeys?\b|\bkey\b|_key\b|\bmetadata\b|\bdescription\b|\btitle\b|\buser\b|safety_identifier|\burls?\b|\buris?\b|\bheaders?\b|\bcookies?\b|` +
		`\btimeout\b|\btime limit\b|\bdeadline\b|\bduration\b|\bseconds\b|\bms\b|\bbudgets?\b|budget_tokens|\bspend|\bcosts?\b|\bcredits?\b|\bbalance\b|\bplan\b|\bitems\b|\b(?:number|count) of (?:the )?(?:messages|requests|inputs)\b|\btoo many (?:messages|requests|inputs)\b|` +
		`\bmaximum number of (?:messages|requests|inputs)\b|\btemperature\b|\btop_[pk]\b|\blogprobs?\b|\bpenalty\b|\bbatch\b|\bdimensions?\b|\bmemory\b|\bresponse body\b|图片|图像|速率|频率|并发|配额|余额|每分钟|每秒`)
	outputOnly = lazyregexp.New(`max_?(?:completion_?|output_?|new_?)?tokens|\bmax tokens\b|output[ _]tokens|completion[ _]tokens|\bgenerated tokens\b|\bresponse\b|\banswer\b|\breasoning\b|\bthinking\b|\bcompletion\b|输出`)
	inputToo   = lazyregexp.New(`\binputs?\b|\bprompts?\b|\bcontext\b|\bmessages?\b|prompt_tokens|input_tokens|\btokens in (?:the |your )?request\b|max_seq_len|max_model_len|输入|上下文`)

	// sentences end at these; a point within a figure or a model's name ends none.
	sentenceEnd = lazyregexp.New(`[.!?;](?:["')\]]*(?:\s|$))|\n| · |[。；！？]`)
)

// findOverlong recognises words that say in some way that the request does not fit, and reads
// the figures they name; inBytes says that it is about bytes.
func findOverlong(words string) (limit, requested int64, inBytes, ok bool) {
	for _, s := range sentenceEnd().Split(words, -1) {
		if !aboutInput().MatchString(s) || !tooMuch().MatchString(s) || !asLength().MatchString(s) || isOtherLimit(s) {
			continue
		}
		limit, requested = readSizes(s)
		inBytes = asBytes().MatchString(s) && !strings.Contains(s, "token") && !strings.Contains(s, "context")
		if inBytes || strings.Contains(s, "characters") {
			return 0, 0, inBytes, true
		}
		l, n := findSizes(words)
		if limit == 0 {
			limit = l
		}
		if requested == 0 && l == limit {
			requested = n
		}
		return limit, requested, false, true
	}
	if foreignExcess().MatchString(words) && foreignInput().MatchString(words) && !foreignOthers().MatchString(words) {
		limit, requested = readSizes(words)
		return limit, requested, false, true
	}
	limit, requested = findSizes(words)
	said := inputSentences(words) // in more than one sentence
	return limit, requested, false, limit > 0 ||
		aboutInput().MatchString(said) && tooMuch().MatchString(said) && lengthLimit().MatchString(said)
}

//go:embed words.tsv
var foreignFile string

// foreign is what servers say in other languages than English and Chinese.
var foreign = wordtable.New("model/remote/words.tsv", foreignFile)

// That there is too much, of what, and of what else there may be too much.
var (
	foreignExcess = foreign.Regexp(`{excess}`)
	foreignInput  = foreign.Regexp(`{input}`)
	foreignOthers = foreign.Regexp(`{other}`)
)

// lengthLimit is a bound in tokens.
var lengthLimit = lazyregexp.New(`\b(?:max(?:imum)?|limit)\b.{0,40}\btokens?\b|\btokens?\b.{0,20}\b(?:max(?:imum)?|limit)\b|上限`)

// inputSentences returns what words say of the input's length, without what they say of other limits.
func inputSentences(words string) string {
	var about []string
	for _, s := range sentenceEnd().Split(words, -1) {
		if !isOtherLimit(s) {
			about = append(about, s)
		}
	}
	return strings.Join(about, " ; ")
}

// isOtherLimit reports whether a sentence is about another limit than that of the input.
func isOtherLimit(sentence string) bool {
	return otherLimits().MatchString(sentence) || outputOnly().MatchString(sentence) && !inputToo().MatchString(sentence)
}

// A size and the bound that it is over, as words name them beside each other.
var (
	boundNamed = lazyregexp.New(`(?:limit|max(?:imum)?|max_[a-z_]+|allow(?:s|ed)?|supports?|up to|at most|<=?|less than|> ?|window of|context)(?: [a-z]+){0,4}(?: is| are| of)?[:=]? ?\(?(\d[\d,]*\d)\b|\b(\d[\d,]*\d) (?:tokens )?(?:is the |are )?(?:max(?:imum)?|allowed|limit)\b`)
	sizeNamed  = lazyregexp.New(`(?:given|got|received|passed(?: in)?|sent|actual|requested|current length(?: is)?|current|(?:input|prompt|request|message|conversation)s?[a-z_' ]{0,24}?(?: is| has| have| of| with| contains| count is)?|input[ _]tokens?|prompt[ _]tokens?|first)[:=]? ?\(?(\d[\d,]*\d)\b|` +
		`\b(\d[\d,]*\d) (?:tokens )?(?:from|in) (?:the |your )?(?:input|prompt|messages?|request)`)
)

// findSizes finds in words about the input's length the bound and the larger size that it has,
// in whatever sentences they are; 0 if there are no such two figures.
func findSizes(words string) (limit, requested int64) {
	said := inputSentences(words)
	if !asLength().MatchString(said) || !aboutInput().MatchString(said) && !strings.Contains(said, "length") {
		return 0, 0
	}
	for _, m := range boundNamed().FindAllStringSubmatch(said, -1) {
		if n := readFigure(m[1] + m[2]); n >= leastSize && (limit == 0 || n < limit) {
			limit = n
		}
	}
	for _, m := range sizeNamed().FindAllStringSubmatch(said, -1) {
		if n := readFigure(m[1] + m[2]); n > limit && (requested == 0 || n < requested) {
			requested = n
		}
	}
	if limit == 0 || requested == 0 {
		return 0, 0
	}
	return limit, requested
}

// number is a number that stands for itself, and not for a part of a name.
var number = lazyregexp.New(`(?:^|[^\w.\-])(\d[\d,]*\d)(?:[^\w.\-]|[.\-](?:\W|$)|$)`)

// leastSize is the least figure that is taken for a size in tokens.
const leastSize = 100

// readSizes reads the limit and the size of a request from a sentence that says that the latter
// is over the former: of two figures the smaller is the limit. One alone is what the words
// before it say.
func readSizes(sentence string) (limit, requested int64) {
	var found []int64
	before := ""
	for rest := sentence; ; {
		m := number().FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		if n := readFigure(rest[m[2]:m[3]]); n >= leastSize && !isErrorCode(rest[:m[2]], rest[m[3]:]) {
			found = append(found, n)
			before = rest[:m[2]]
		}
		rest = rest[m[3]:]
	}
	switch len(found) {
	case 1:
		if size := sizeWords().FindAllStringIndex(before, -1); size != nil {
			if bound := boundWords().FindAllStringIndex(before, -1); bound == nil ||
				bound[len(bound)-1][0] < size[len(size)-1][0] {
				return 0, found[0]
			}
		}
		return found[0], 0
	case 2:
		if found[0] != found[1] {
			return min(found[0], found[1]), max(found[0], found[1])
		}
	}
	return 0, 0 // which is which cannot be told
}

// beforeCode is what stands before the number of an error, and ofTokens before a size that
// stands in brackets by itself.
var (
	beforeCode = lazyregexp.New(`(?:\bcode|\bstatus|\berror|\bhttp|\berrno)(?: code)?[^\w]{0,3}$`)
	ofTokens   = lazyregexp.New(`token|length|size|allow|max|count`)
)

// isErrorCode reports whether a number is that of an error.
func isErrorCode(before, after string) bool {
	if beforeCode().MatchString(before) {
		return true
	}
	return strings.HasSuffix(before, "(") && strings.HasPrefix(after, ")") &&
		!ofTokens().MatchString(before[max(0, len(before)-40):])
}

var (
	boundWords = lazyregexp.New(`limit|max|context length|context size|window|allow|only|at most|less than|up to|than|capacity|support|fit|exceed|within|<|上限|最大|超过|超出`)
	sizeWords  = lazyregexp.New(`request|prompt|input|contains|count|got|given|sent|provided|total|you|messages`)
)

// What servers say that count tokens by the minute: that they do, how many tokens they allow, and
// how many the request asks for.
var (
	byMinute     = lazyregexp.New(`tokens?[ _-]?(?:per|a|/)[ _-]?min|\btpm\b`)
	minuteAllows = lazyregexp.New(`\blimit(?:ed)?(?: is| of| to|:|=)? ?([\d,]+)`)
	ofMinute     = lazyregexp.New(`(\d[\d,]*\d) (?:[a-z]+ )?(?:tokens?[ _-]?(?:per|a|/)[ _-]?min|tpm\b)`)
	minuteAsked  = lazyregexp.New(`\b(?:requested|requires|needs|(?:request|prompt|input) (?:of|has|with|is|contains))[:=]? ?(?:about |~)?([\d,]+)`)
	askedBefore  = lazyregexp.New(`(\d[\d,]*\d) (?:tokens )?(?:(?:were|was|are|is) )?(?:requested|needed|required)\b`)
)

// exceedsMinute recognises a request that asks for more tokens than its server gives in any
// minute: waiting does not help, and only a shorter one does. What the server does not say of
// the request's size its weight says.
func exceedsMinute(words string, weight int64) (limit, requested int64, ok bool) {
	if !byMinute().MatchString(words) && !(strings.Contains(words, "token") && strings.Contains(words, "limit")) {
		return 0, 0, false
	}
	limit = smallestFigure(words, minuteAllows(), ofMinute())
	requested = smallestFigure(words, minuteAsked(), askedBefore())
	if limit < leastSize {
		return 0, 0, false
	}
	if requested == 0 && byMinute().MatchString(words) && weight > limit+limit/4 { // weights are estimates
		return limit, 0, true
	}
	return limit, requested, requested > limit
}

// smallestFigure returns the smallest figure that the first of the patterns finds which finds any; 0 for none.
func smallestFigure(words string, patterns ...*regexp.Regexp) (n int64) {
	for _, pattern := range patterns {
		for _, m := range pattern.FindAllStringSubmatch(words, -1) {
			if k := readFigure(m[1]); k >= leastSize && (n == 0 || k < n) {
				n = k
			}
		}
		if n > 0 {
			break
		}
	}
	return n
}
