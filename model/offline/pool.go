package offline

import (
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/model"
)

// quoteSource is where a sentence is from: "#12", or a ref and line if a folded line has no
// seq. Trust puts users and tools above other models.
type quoteSource struct {
	where string
	seq   int64
	trust float64
}

// candidateSentence is one candidate for a quote.
type candidateSentence struct {
	quoteSource
	text string
}

// How much a sentence counts by who said it. The model's own earlier quotes
// point at their originals and never outrank them.
const (
	trustSource = 1.0
	trustEcho   = 0.95
	trustModel  = 0.85
)

// sentencePool gathers the sentences of a request, each text once.
type sentencePool struct {
	question question
	list     []candidateSentence
	at       map[string]int
}

var quoted = lazyregexp.New(`^\[([^\]]+)\] “(.*)”$`)

func gatherSentences(items []scrollback.Item, q question) []candidateSentence {
	p := sentencePool{question: q, at: map[string]int{}}
	for i, it := range items {
		if it.Kind != scrollback.KindMessage || it.Seq <= 0 || it.Role == scrollback.RoleSystem {
			continue
		}
		for _, part := range it.Parts {
			switch part := part.(type) {
			case scrollback.Text:
				switch {
				case part.Reference == nil:
					p.addMessage(it.Role, it.Model == Name, it.Seq, part.Text)
				case part.IsRecall():
					p.addResult(it.Seq, scrollback.ToolResult{Recall: true, Text: blockContent(part.Text)})
				case part.Reference.IsWhole():
					p.addLines(quoteSource{seqHash(it.Seq), it.Seq, trustSource}, blockContent(part.Text), p.isPlain)
				}
			case scrollback.ToolResult:
				if !part.IsError || i < q.at { // a fresh error only repeats the question
					p.addResult(it.Seq, part)
				}
			case scrollback.Image, scrollback.File, scrollback.ToolCall, scrollback.Reasoning:
			}
		}
	}
	return p.list
}

// blockContent returns what a block holds behind its heading, without its fence.
func blockContent(block string) string {
	_, body, _ := strings.Cut(block, "\n")
	if strings.HasPrefix(body, "```") {
		_, body, _ = strings.Cut(body, "\n")
		body = strings.TrimRight(strings.TrimRight(body, "\n"), "`")
	}
	return body
}

func (p *sentencePool) addResult(seq int64, res scrollback.ToolResult) {
	if !res.Recall && !isRecall(res.Name) {
		p.addLines(quoteSource{seqHash(seq), seq, trustSource}, res.Text, p.isPlain)
		return
	}
	for _, f := range readRecall(res.Text) {
		switch {
		case f.seq > 0:
			p.addMessage(f.role, false, f.seq, f.text)
		case f.ref != "":
			where := f.ref
			if f.line > 0 {
				where += " line " + strconv.Itoa(f.line)
			}
			p.addEcho(f.text)
			p.addLines(quoteSource{where, 0, trustSource}, f.text, p.isOriginal)
		default:
			p.addLines(quoteSource{seqHash(seq), seq, trustSource}, f.text, p.isInformative)
		}
	}
}

// addMessage takes the sentences of one message, whose role may be unknown: of the
// model's own answers the quotes, of people's words all but questions.
func (p *sentencePool) addMessage(role scrollback.Role, own bool, seq int64, text string) {
	from := quoteSource{seqHash(seq), seq, trustSource}
	switch role {
	case scrollback.RoleUser:
		p.addLines(from, text, func(s string) bool { return p.isPlain(s) && !isQuestion(s) })
	case scrollback.RoleTool:
		p.addLines(from, text, p.isPlain)
	case scrollback.RoleAssistant:
		p.addEcho(text)
		if !own && !isReply(text) {
			from.trust = trustModel
			p.addLines(from, text, p.isOriginal)
		}
	default:
		p.addEcho(text)
		p.addLines(from, text, p.isOriginal)
	}
}

// addEcho takes this model's earlier quotes, under the places they name.
func (p *sentencePool) addEcho(text string) {
	for line := range strings.Lines(text) {
		if m := quoted().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			seq, _ := strconv.ParseInt(strings.TrimPrefix(m[1], "#"), 10, 64)
			p.addLines(quoteSource{m[1], seq, trustEcho}, m[2], p.isPlain)
		}
	}
}

func (p *sentencePool) addLines(from quoteSource, text string, keep func(string) bool) {
	for s := range cutSentences(text) {
		if !keep(s) {
			continue
		}
		i, seen := p.at[s]
		switch {
		case !seen:
			p.at[s] = len(p.list)
			p.list = append(p.list, candidateSentence{from, s})
		case from.trust > p.list[i].trust:
			p.list[i].quoteSource = from
		}
	}
}

// isPlain refuses what ends as a question, the question's own words, and a reference alone.
func (p *sentencePool) isPlain(s string) bool {
	return !(strings.HasPrefix(s, "@[") && strings.HasSuffix(s, "]")) && !strings.HasSuffix(s, "?") &&
		!strings.HasSuffix(s, "？") && !strings.Contains(p.question.text, s)
}

// isOriginal refuses, beside what plain does, lines that this model wrote.
func (p *sentencePool) isOriginal(s string) bool {
	return p.isPlain(s) && !quoted().MatchString(s) && !isReply(s)
}

// isInformative refuses, beside what plain does, a line that only repeats the question around "nothing
// found".
func (p *sentencePool) isInformative(s string) bool {
	more := false
	terms.EachTerm(s, func(t string) bool {
		_, asked := p.question.index[t]
		more = !asked && !stopWords()[t] && !emptyWords()[t] && !isLoneCharacter(t)
		return !more
	})
	return more && p.isPlain(s)
}

func seqHash(seq int64) string { return "#" + strconv.FormatInt(seq, 10) }

// usedTools returns which recall tools the question has already been put to.
func usedTools(items []scrollback.Item, q question) map[string]bool {
	out := map[string]bool{}
	for _, it := range items[q.at+1:] {
		for _, c := range it.Parts.Calls() {
			out[c.Name] = true
		}
	}
	return out
}

// offersTool reports whether a request lets the model call a tool.
func offersTool(r model.Request, name string) bool {
	for _, t := range r.Tools {
		if t.Name == name {
			return !r.AnswerOnly
		}
	}
	return false
}
