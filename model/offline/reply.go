package offline

import (
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// quoteRunes bounds one quote.
const quoteRunes = 600

// languagePhrases is what the model says around its quotes, in one language.
type languagePhrases struct {
	found   string // above quotes that answer
	nearest string // above quotes that come near
	nothing string
	noted   string
	self    string // what it is
}

var (
	english = languagePhrases{
		found:   "From this conversation:",
		nearest: "I found nothing that answers this exactly. The nearest I have:",
		nothing: "I found nothing about this in the conversation.",
		noted:   "Noted.",
		self: "I am the built-in offline model: I find and quote what was said and do not reason; " +
			"for a real model use `--model provider/name`.",
	}
	chinese = languagePhrases{
		found:   "对话里的原话：",
		nearest: "没有找到确切的答案，最接近的是：",
		nothing: "在这段对话里没有找到相关内容。",
		noted:   "已记下。",
		self:    "我是内置的离线模型：只查找并引用对话里的原话，不会推理；要用真正的模型，请加 `--model provider/name`。",
	}
	languages = []languagePhrases{english, chinese}
)

// isReply reports whether a text begins like this model's own replies.
func isReply(text string) bool {
	for _, p := range languages {
		for _, lead := range []string{p.found, p.nearest, p.nothing, p.noted, p.self} {
			if strings.HasPrefix(text, lead) {
				return true
			}
		}
	}
	return false
}

// isIntroduced reports whether the window already shows what this model is.
func isIntroduced(items []scrollback.Item) bool {
	for _, it := range items {
		if it.Role != scrollback.RoleAssistant {
			continue
		}
		for _, p := range languages {
			if strings.Contains(it.Parts.Text(), p.self) {
				return true
			}
		}
	}
	return false
}

// modelReply is the response to a request: a text, or a call.
type modelReply struct {
	text string
	call *scrollback.ToolCall
}

func decideReply(r model.Request) modelReply {
	q := readQuestion(r.Items)
	say := english
	if q.dense {
		say = chinese
	}
	if q.at < 0 {
		return modelReply{text: say.self}
	}
	if len(q.terms) == 0 {
		if q.asks {
			return modelReply{text: say.self}
		}
		return modelReply{text: makeGreeting(r.Items, say)}
	}
	if n := q.countContent(); !q.asks && (n < 2 || n > phraseTerms) {
		return modelReply{text: makeGreeting(r.Items, say)}
	}
	rk := rankSentences(gatherSentences(r.Items, q), q)
	if !q.asks {
		if qs := rk.bestQuotes(func(s scoredSentence) bool { return s.strong && s.complete }); len(qs) > 0 {
			return modelReply{text: quoteSentences(say.found, qs)}
		}
		return modelReply{text: makeGreeting(r.Items, say)}
	}
	if qs := rk.bestQuotes(func(s scoredSentence) bool { return s.strong }); len(qs) > 0 {
		return modelReply{text: quoteSentences(say.found, qs)}
	}
	if call := nextCall(r, q, rk); call != nil {
		return modelReply{call: call}
	}
	if qs := rk.bestQuotes(func(s scoredSentence) bool { return s.near }); len(qs) > 0 {
		return modelReply{text: quoteSentences(say.nearest, qs)}
	}
	return modelReply{text: joinSentences(say.nothing, say.self, say)}
}

func makeGreeting(items []scrollback.Item, say languagePhrases) string {
	if isIntroduced(items) {
		return say.noted
	}
	return joinSentences(say.noted, say.self, say)
}

// joinSentences puts two sentences in a row, with a space where the language has one.
func joinSentences(a, b string, say languagePhrases) string {
	if say == chinese {
		return a + b
	}
	return a + " " + b
}

func quoteSentences(lead string, qs []candidateSentence) string {
	var buf strings.Builder
	buf.WriteString(lead)
	for _, s := range qs {
		text := []rune(s.text)
		if len(text) > quoteRunes {
			text = append(text[:quoteRunes-1], '…')
		}
		buf.WriteString("\n[" + s.where + "] “" + string(text) + "”")
	}
	return buf.String()
}
