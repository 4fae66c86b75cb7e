package search

import (
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// parsedQuery is a query as it is understood. Role, from and to narrow what is found; the rest
// are cues, which only say what is more likely.
type parsedQuery struct {
	terms.Query
	role     scrollback.Role
	from, to int64 // Unix ms, [from, to); 0 is open

	questionKind
	dates     []daySpan
	zone      *time.Location // whose days the dates are
	speaker   scrollback.Role
	looseText string // what is not quoted, in lower case
	newest    bool   // asks for what holds now
	meaning   string // what is asked, without operators and other talk

	parts []parsedQuery // questions in it that are searched by themselves, too
}

// operator is a word of a query that narrows instead of being looked for.
var operator = lazyregexp.New(`(^|\s)(role|after|before|on):(\S+)`)

// parseQuery parses a query as it is seen from now, whose zone is that of all days. Operators
// inside quotes are words.
func parseQuery(query string, now time.Time) (parsedQuery, error) {
	a := parsedQuery{zone: now.Location()}
	pieces := terms.SplitQuotes(query)
	var wrong error
	for i := 0; i < len(pieces); i += 2 {
		pieces[i] = operator().ReplaceAllStringFunc(pieces[i], func(word string) string {
			name, value, _ := strings.Cut(strings.TrimSpace(word), ":")
			taken, err := a.applyOperator(name, value, now)
			if err != nil && wrong == nil {
				wrong = err
			}
			if taken {
				return " "
			}
			return word
		})
	}
	whole := strings.Join(pieces, `"`)
	a.readCues(whole, now)
	parts := splitQuestions(whole)
	if a.meaning = strings.TrimSpace(whole); len(parts) > 0 {
		a.meaning = strings.Join(parts, "\n")
	}
	for _, part := range parts {
		p := parsedQuery{zone: a.zone, role: a.role, from: a.from, to: a.to}
		p.readCues(part, now)
		a.parts = append(a.parts, p)
	}
	return a, wrong
}

// readCues reads the words of a query without operators, and what they make more likely.
func (a *parsedQuery) readCues(query string, now time.Time) {
	a.Query = terms.ParseQuery(query)
	pieces := terms.SplitQuotes(query)
	loose := ""
	for i := 0; i < len(pieces); i += 2 {
		loose += pieces[i] + "\n"
	}
	a.questionKind = kindOf(terms.FoldText(loose))
	a.looseText = strings.ToLower(loose)
	a.dates = append(datesIn(loose, now), relativeIn(loose, now)...)
	a.speaker = speakerIn(loose)
	a.newest = asksLatest().MatchString(loose)
}

// applyOperator applies an operator. A word that only looks like one is left alone: a role that
// does not exist, or a time that does not begin with a digit.
func (a *parsedQuery) applyOperator(name, value string, now time.Time) (bool, error) {
	if name == "role" {
		role, err := scrollback.ParseRole(strings.ToLower(value))
		if err == nil {
			a.role = role
		}
		return err == nil, nil
	}
	if value[0] < '0' || value[0] > '9' {
		return false, nil
	}
	found := datesIn(value, now)
	if len(found) != 1 {
		return false, scrollback.ParamErrorf("search.Run", "query",
			i18n.NoDayOrMonth, name, value)
	}
	d := found[0]
	switch name {
	case "after":
		a.from = max(a.from, d.from)
	case "before":
		a.to = earlierEnd(a.to, d.from)
	case "on":
		a.from = max(a.from, d.from)
		a.to = earlierEnd(a.to, d.to)
	}
	return true, nil
}

// earlierEnd returns the smaller of two ends, of which the first may be open.
func earlierEnd(end, other int64) int64 {
	if end == 0 {
		return other
	}
	return min(end, other)
}

// Phrases that say whose words are looked for.
const sayVerbs = `(?:say|said|tell|told|ask|asked|mention|mentioned|think|thought|suggest|suggested|recommend|recommended|propose|proposed|` +
	`advise|advised|answer|answered|reply|replied|write|wrote|explain|explained|describe|described|claim|claimed|promise|promised|decide|decided|` +
	`want|wanted|prefer|preferred|like|guess|guessed|believe|believed|request|requested|complain|complained)`

var (
	userSaid = lazyregexp.New(`(?i)\b(?:(?:did|do|have|had|would|could)\s+(?:I|we|the user)|(?:I|user)\s+(?:\w+\s+)?` +
		sayVerbs +
		`|my\s+(?:own\s+)?(?:opinion|view|guess|idea|question|request|wish|preference|proposal|suggestion|words|rules?)|the user'?s?)\b` +
		`|我(?:曾|当时|之前|上次)?(?:说|提|问|觉得|认为|猜|想|要|喜欢|希望|建议|讲)|我的(?:意见|看法|猜测|想法|要求|问题|建议|喜好|偏好)|用户`)
	assistantSaid = lazyregexp.New(`(?i)\b(?:(?:did|do|have|had|would|could)\s+you|you\s+(?:\w+\s+)?` + sayVerbs +
		`|your\s+(?:own\s+)?(?:opinion|view|guess|idea|answer|advice|proposal|suggestion|recommendation|words|explanation)|(?:the|by)\s+(?:assistant|model))\b` +
		`|你(?:曾|当时|之前|上次)?(?:说|提|答|回答|觉得|认为|猜|给|推荐|建议|讲|解释)|你的(?:意见|看法|猜测|想法|回答|推荐|建议|解释)|助手|助理`)
)

// asksLatest are words that ask for the latest state of things.
var asksLatest = lazyregexp.New(`(?i)\b(?:now|current|currently|latest|newest|these days|at the moment|at present|today|nowadays|so far)\b|现在|目前|最新|如今|当前|眼下|最近|迄今`)

// speakerIn returns the role whose words a query asks for, if it names only one.
func speakerIn(q string) scrollback.Role {
	switch user, assistant := userSaid().MatchString(q), assistantSaid().MatchString(q); {
	case user && !assistant:
		return scrollback.RoleUser
	case assistant && !user:
		return scrollback.RoleAssistant
	}
	return ""
}
