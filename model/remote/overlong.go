package remote

import (
	"regexp"
	"strings"
)

// Servers say in countless words that a request does not fit. Where none of the known
// wordings is used, a sentence counts if it says all of these: that it is about what was
// sent, that there is too much of it, and that this is measured as length. A sentence about
// something else that has a limit, such as the rate of requests, the length of an answer or
// the number of images, does not count.
var (
	aboutInput = regexp.MustCompile(`\b(?:prompts?|prompt_tokens|inputs?|input_tokens|context|requests?|messages?|conversation|history|sequence|tokens?|text|query|payload|body|contents?)\b|` +
		`max_seq_len|max_model_len|输入|提示|上下文|消息|请求|内容|文本`)
	tooMuch = regexp.MustCompile(`\btoo (?:long|large|big|many)\b|\bexceed(?:s|ed|ing)?\b|\b(?:longer|larger|greater|bigger|more) (?:[a-z]+ )?than\b|\bover(?:flow|flows|flowed| the)\b|` +
		`\b(?:above|beyond|surpass(?:es|ed)?)\b|\b(?:not|n't|cannot) fit\b|\b(?:must|should|has to|have to|needs? to|can) (?:not )?be (?:less|fewer|smaller|shorter|lower|at most|no more|under|below|within|<=?)(?:[^a-z]|\b)|` +
		`\bonly (?:[a-z]+ )?[\d,]+ tokens\b|\bat most [\d,]+ (?:[a-z]+ )?tokens\b|\bruns? out of\b|\bmust have (?:less|fewer|at most|no more)\b|\breduce the length\b|\[1, ?\d{3,}\]|超过|超出|超长|过长|太长|过大`)
	asLength = regexp.MustCompile(`tokens?\b|\bcontext\b|max_seq_len|max_model_len|n_ctx|\blengths?\b|\bmax(?:imum)? (?:[a-z]+ )?(?:len|size)\b|\b(?:body|payload|request|message|input|prompt|content|entity) (?:[a-z]+ )?(?:size|too (?:large|long|big))|` +
		`\b(?:prompt|input|request|message|conversation|history|query|text|context|payload|body|content)s?(?: [a-z]+)? (?:is|are|was|were) too (?:long|large|big)|长度|上下文|过长|太长|超长|token`)
	asBytes = regexp.MustCompile(`\b(?:bytes?|body|payload|entity|[kmg]i?b)\b|\bmessage size\b|\d[kmg]i?b\b`)

	// otherLimits are what else has limits.
	otherLimits = regexp.MustCompile(`\bimages?\b|\bpictures?\b|\bphotos?\b|\bpixels?\b|\bvideos?\b|\baudio\b|\bfiles?\b|\battachments?\b|\btools?\b|\bfunctions?\b|\bstop\b|\bschema\b|\benum\b|\bdepth\b|\bnest|` +
		`\bper[ _-](?:minute|min|second|sec|hour|day|month|week)|\b[rt]p[mdhs]\b|\b(?:a|each|every) (?:minute|second|hour|day|month)\b|rate[ _-]?limit|\bthrottl|\bquotas?\b|\bconcurren|\bpending\b|\bqueue|\bretry|\btry again (?:in|later|after)|\bplease wait\b|` +
		`\bids?\b|_id\b|\bnames?\b|\bkeys?\b|\bkey\b|_key\b|\bmetadata\b|\bdescription\b|\btitle\b|\buser\b|safety_identifier|\burls?\b|\buris?\b|\bheaders?\b|\bcookies?\b|` +
		`\btimeout\b|\btime limit\b|\bdeadline\b|\bduration\b|\bseconds\b|\bms\b|\bbudgets?\b|budget_tokens|\bspend|\bcosts?\b|\bcredits?\b|\bbalance\b|\bplan\b|\bitems\b|\b(?:number|count) of (?:the )?(?:messages|requests|inputs)\b|\btoo many (?:messages|requests|inputs)\b|` +
		`\bmaximum number of (?:messages|requests|inputs)\b|\btemperature\b|\btop_[pk]\b|\blogprobs?\b|\bpenalty\b|\bbatch\b|\bdimensions?\b|\bmemory\b|\bresponse body\b|图片|图像|速率|频率|并发|配额|余额|每分钟|每秒`)
	outputOnly = regexp.MustCompile(`max_?(?:completion_?|output_?|new_?)?tokens|\bmax tokens\b|output[ _]tokens|completion[ _]tokens|\bgenerated tokens\b|\bresponse\b|\banswer\b|\breasoning\b|\bthinking\b|\bcompletion\b|输出`)
	inputToo   = regexp.MustCompile(`\binputs?\b|\bprompts?\b|\bcontext\b|\bmessages?\b|prompt_tokens|input_tokens|\btokens in (?:the |your )?request\b|max_seq_len|max_model_len|输入|上下文`)

	// sentences end at these; a point within a figure or a model's name ends none.
	sentenceEnd = regexp.MustCompile(`[.!?;](?:["')\]]*(?:\s|$))|\n| · |[。；！？]`)
)

// overlong recognises a sentence that says in some words that the request does not fit, and
// reads the figures it names; inBytes says that it is about bytes.
func overlong(words string) (limit, requested int64, inBytes, ok bool) {
	for _, s := range sentenceEnd.Split(words, -1) {
		if !aboutInput.MatchString(s) || !tooMuch.MatchString(s) || !asLength.MatchString(s) || otherLimits.MatchString(s) ||
			outputOnly.MatchString(s) && !inputToo.MatchString(s) {
			continue
		}
		limit, requested = sizes(s)
		inBytes = asBytes.MatchString(s) && !strings.Contains(s, "token") && !strings.Contains(s, "context")
		if inBytes {
			limit, requested = 0, 0
		}
		return limit, requested, inBytes, true
	}
	return 0, 0, false, false
}

// number is a number that stands for itself, and not for a part of a name.
var number = regexp.MustCompile(`(?:^|[^\w.\-])(\d[\d,]*\d)(?:[^\w.\-]|[.\-](?:\W|$)|$)`)

// leastSize is the least figure that is taken for a size in tokens.
const leastSize = 100

// sizes reads the limit and the size of a request from a sentence that says that the latter
// is over the former: of two figures the smaller is the limit. One alone is what the words
// before it say.
func sizes(sentence string) (limit, requested int64) {
	var found []int64
	before := ""
	for rest := sentence; ; {
		m := number.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		if n := figure(rest[m[2]:m[3]]); n >= leastSize {
			found = append(found, n)
			before = rest[:m[2]]
		}
		rest = rest[m[3]:]
	}
	switch len(found) {
	case 1:
		if size := sizeWords.FindAllStringIndex(before, -1); size != nil {
			if bound := boundWords.FindAllStringIndex(before, -1); bound == nil || bound[len(bound)-1][0] < size[len(size)-1][0] {
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

var (
	boundWords = regexp.MustCompile(`limit|max|context length|context size|window|allow|only|at most|less than|up to|than|capacity|support|fit|exceed|within|<|上限|最大|超过|超出`)
	sizeWords  = regexp.MustCompile(`request|prompt|input|contains|count|got|given|sent|provided|total|you|messages`)
)

// minuteLimit is what servers say that count tokens by the minute: what they allow, and what
// the request asks for.
var minuteLimit = regexp.MustCompile(`\blimit:? ([\d,]+)[,;]? (?:(?:used|current):? [\d,]+[,;]? )?requested:? ([\d,]+)`)

// neverFits recognises a request that asks for more tokens than its server gives in any
// minute: waiting does not help, and only a shorter one does.
func neverFits(words string) (limit, requested int64, ok bool) {
	m := minuteLimit.FindStringSubmatch(words)
	if m == nil || !strings.Contains(words, "token") && !strings.Contains(words, "tpm") {
		return 0, 0, false
	}
	limit, requested = figure(m[1]), figure(m[2])
	return limit, requested, limit >= leastSize && requested > limit
}
