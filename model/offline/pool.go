package offline

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/model"
)

// source is where a sentence is from: "#12", or a ref and line if a folded line has no
// seq. Trust puts users and tools above other models.
type source struct {
	where string
	seq   int64
	trust float64
}

// sentence is one candidate for a quote.
type sentence struct {
	source
	text string
}

// How much a sentence counts by who said it. The model's own earlier quotes
// point at their originals and never outrank them.
const (
	trustSource = 1.0
	trustEcho   = 0.95
	trustModel  = 0.85
)

// pool gathers the sentences of a request, each text once.
type pool struct {
	question question
	list     []sentence
	at       map[string]int
}

var quoted = regexp.MustCompile(`^\[([^\]]+)\] “(.*)”$`)

func gather(items []scrollback.Item, q question) []sentence {
	p := pool{question: q, at: map[string]int{}}
	for i, it := range items {
		if it.Kind != scrollback.KindMessage || it.Seq <= 0 || it.Role == scrollback.RoleSystem {
			continue
		}
		for _, part := range it.Parts {
			switch part := part.(type) {
			case scrollback.Text:
				switch {
				case part.Reference == nil:
					p.add(it.Role, it.Model == Name, it.Seq, part.Text)
				case part.Recall():
					p.addResult(it.Seq, scrollback.ToolResult{Recall: true, Text: content(part.Text)})
				case part.Reference.Whole():
					p.addLines(source{hash(it.Seq), it.Seq, trustSource}, content(part.Text), p.plain)
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

// content is what a block holds behind its heading, without its fence.
func content(block string) string {
	_, body, _ := strings.Cut(block, "\n")
	if strings.HasPrefix(body, "```") {
		_, body, _ = strings.Cut(body, "\n")
		body = strings.TrimRight(strings.TrimRight(body, "\n"), "`")
	}
	return body
}

func (p *pool) addResult(seq int64, res scrollback.ToolResult) {
	if !res.Recall && !isRecall(res.Name) {
		p.addLines(source{hash(seq), seq, trustSource}, res.Text, p.plain)
		return
	}
	for _, f := range readRecall(res.Text) {
		switch {
		case f.seq > 0:
			p.add(f.role, false, f.seq, f.text)
		case f.ref != "":
			where := f.ref
			if f.line > 0 {
				where += " line " + strconv.Itoa(f.line)
			}
			p.addEcho(f.text)
			p.addLines(source{where, 0, trustSource}, f.text, p.original)
		default:
			p.addLines(source{hash(seq), seq, trustSource}, f.text, p.tells)
		}
	}
}

// add takes the sentences of one message, whose role may be unknown: of the
// model's own answers the quotes, of people's words all but questions.
func (p *pool) add(role scrollback.Role, own bool, seq int64, text string) {
	from := source{hash(seq), seq, trustSource}
	switch role {
	case scrollback.RoleUser:
		p.addLines(from, text, func(s string) bool { return p.plain(s) && !asks(s) })
	case scrollback.RoleTool:
		p.addLines(from, text, p.plain)
	case scrollback.RoleAssistant:
		p.addEcho(text)
		if !own && !isReply(text) {
			from.trust = trustModel
			p.addLines(from, text, p.original)
		}
	default:
		p.addEcho(text)
		p.addLines(from, text, p.original)
	}
}

// addEcho takes this model's earlier quotes, under the places they name.
func (p *pool) addEcho(text string) {
	for line := range strings.Lines(text) {
		if m := quoted.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			seq, _ := strconv.ParseInt(strings.TrimPrefix(m[1], "#"), 10, 64)
			p.addLines(source{m[1], seq, trustEcho}, m[2], p.plain)
		}
	}
}

func (p *pool) addLines(from source, text string, keep func(string) bool) {
	for s := range sentences(text) {
		if !keep(s) {
			continue
		}
		i, seen := p.at[s]
		switch {
		case !seen:
			p.at[s] = len(p.list)
			p.list = append(p.list, sentence{from, s})
		case from.trust > p.list[i].trust:
			p.list[i].source = from
		}
	}
}

// plain refuses what ends as a question, the question's own words, and a reference alone.
func (p *pool) plain(s string) bool {
	return !(strings.HasPrefix(s, "@[") && strings.HasSuffix(s, "]")) && !strings.HasSuffix(s, "?") &&
		!strings.HasSuffix(s, "？") && !strings.Contains(p.question.text, s)
}

// original refuses, beside what plain does, lines that this model wrote.
func (p *pool) original(s string) bool {
	return p.plain(s) && !quoted.MatchString(s) && !isReply(s)
}

// tells refuses, beside what plain does, a line that only repeats the question around "nothing
// found".
func (p *pool) tells(s string) bool {
	more := false
	terms.Each(s, func(t string) bool {
		_, asked := p.question.index[t]
		more = !asked && !stopWords[t] && !emptyWords[t] && !lone(t)
		return !more
	})
	return more && p.plain(s)
}

func hash(seq int64) string { return "#" + strconv.FormatInt(seq, 10) }

// used says which recall tools the question has already been put to.
func used(items []scrollback.Item, q question) map[string]bool {
	out := map[string]bool{}
	for _, it := range items[q.at+1:] {
		for _, c := range it.Parts.Calls() {
			out[c.Name] = true
		}
	}
	return out
}

// offers reports whether a request lets the model call a tool.
func offers(r model.Request, name string) bool {
	for _, t := range r.Tools {
		if t.Name == name {
			return !r.AnswerOnly
		}
	}
	return false
}
