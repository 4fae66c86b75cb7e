package offline

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/model"
)

// The recall tools it calls, and how many results it asks for.
const (
	toolSearch  = "context_search"
	toolGrep    = "context_grep"
	recallTools = "context_"
	searchLimit = 5 // a few sentences are quoted
	grepResults = 20
)

func isRecall(name string) bool { return strings.HasPrefix(name, recallTools) }

// foundText is a text that a recall tool returned. Seq is 0 when the tool names none.
type foundText struct {
	seq  int64
	role scrollback.Role
	ref  string
	line int
	text string
}

// recallResult is what is read of a SearchResult or a GrepResult: the fields in use,
// so that others may come and go.
type recallResult struct {
	Hits []struct {
		recallPassage
		Before []recallPassage `json:"before"`
		After  []recallPassage `json:"after"`
	} `json:"hits"`
	Matches []recallPassage `json:"matches"`
}

type recallPassage struct {
	Seq     int64           `json:"seq"`
	Role    scrollback.Role `json:"role"`
	Ref     string          `json:"ref"`
	Line    int             `json:"line"`
	Content string          `json:"content"`
	Parts   []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

func (p recallPassage) toFound() foundText {
	text := p.Content
	for _, part := range p.Parts {
		text += "\n" + part.Text
	}
	return foundText{p.Seq, p.Role, p.Ref, p.Line, text}
}

// readRecall reads a result as JSON; what was clipped or is not JSON it reads as
// far as it goes, at worst as plain text.
func readRecall(text string) []foundText {
	var r recallResult
	if json.Unmarshal([]byte(text), &r) == nil {
		var out []foundText
		for _, h := range r.Hits {
			out = append(out, h.recallPassage.toFound())
			for _, near := range append(h.Before, h.After...) {
				out = append(out, near.toFound())
			}
		}
		for _, m := range r.Matches {
			out = append(out, m.toFound())
		}
		if len(out) > 0 || r.Hits != nil || r.Matches != nil {
			return out
		}
	}
	if out := salvageTexts(text); len(out) > 0 {
		return out
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil
	}
	return []foundText{{text: text}}
}

// A JSON string contains no raw line end: what follows is a note on clipping.
var fields = lazyregexp.New(`"(seq|role|ref|line|content|text)":\s*("(?:[^"\\\n]|\\.)*"?|\d+|null)`)

// salvageTexts collects the texts of broken JSON with the seq, role, ref and line
// that stand before each.
func salvageTexts(text string) []foundText {
	var out []foundText
	var now foundText
	for _, m := range fields().FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "seq":
			now.seq, _ = strconv.ParseInt(m[2], 10, 64)
		case "line":
			now.line, _ = strconv.Atoi(m[2])
		case "role":
			now.role = scrollback.Role(unquoteJSON(m[2]))
		case "ref":
			now = foundText{ref: unquoteJSON(m[2])} // the first field of a match
		default:
			if now.text = unquoteJSON(m[2]); now.text != "" {
				out = append(out, now)
			}
		}
	}
	return out
}

// unquoteJSON reads a JSON string that may lack its end.
func unquoteJSON(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return ""
	}
	body := strings.TrimPrefix(s, `"`)
	if len(s) > 1 {
		body = strings.TrimSuffix(body, `"`)
	}
	for range 12 { // an escape that was cut is at most that long
		var out string
		if json.Unmarshal([]byte(`"`+body+`"`), &out) == nil {
			return out
		}
		if body == "" {
			break
		}
		body = body[:len(body)-1]
	}
	return ""
}

// nextCall returns the recall call still worth making: a search, then one grep.
func nextCall(r model.Request, q question, rk sentenceRanking) *scrollback.ToolCall {
	done := usedTools(r.Items, q)
	switch {
	case !done[toolSearch] && !done[toolGrep] && offersTool(r, toolSearch):
		return newCall(r.Items, q, toolSearch, struct {
			Query string `json:"query"`
			Limit int    `json:"limit"`
		}{q.contentWords(), searchLimit})
	case !done[toolGrep] && offersTool(r, toolGrep):
		return newCall(r.Items, q, toolGrep, struct {
			Pattern    string `json:"pattern"`
			MaxResults int    `json:"max_results"`
		}{regexp.QuoteMeta(rk.rarestTerm(q)), grepResults})
	}
	return nil
}

// newCall makes a call whose id no other call of the window has.
func newCall(items []scrollback.Item, q question, name string, args any) *scrollback.ToolCall {
	b, err := json.Marshal(args)
	if err != nil {
		return nil
	}
	taken := map[string]bool{}
	for _, it := range items {
		for _, c := range it.Parts.Calls() {
			taken[c.ID] = true
		}
	}
	first := Name + "_" + strings.TrimPrefix(name, recallTools) + "_" + strconv.FormatInt(q.seq, 10)
	id := first
	for n := 2; taken[id]; n++ {
		id = first + "_" + strconv.Itoa(n)
	}
	return &scrollback.ToolCall{ID: id, Name: name, Arguments: b}
}
