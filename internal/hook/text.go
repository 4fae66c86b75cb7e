package hook

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/secrets"
	"github.com/scrollback-ai/scrollback/internal/store/search"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/internal/told"
)

// CompactText is what the summaries of agents are asked for.
const CompactText = "Keep names, numbers, paths and decisions word for word."

// Budget is how many tokens a text may have, by the largest count.
const Budget = 400

// Item is something that was said in an earlier conversation. Says is the text of the message as it is stored, Query
// what it was found by.
type Item struct {
	At           time.Time // in the zone of the person
	Tool         string    // where the conversation was held; empty: here
	Role         scrollback.Role
	Kind         string // todo, kept, or empty
	Says, Query  string
	Conversation scrollback.ConversationID
	Seq          int64
}

// itemRecord is an item as it is written. The order of the fields is that of the line.
type itemRecord struct {
	When         string `json:"when"`
	Tool         string `json:"tool"`
	Who          string `json:"who"`
	Kind         string `json:"kind,omitempty"`
	Says         string `json:"says"`
	Conversation string `json:"conversation"`
	Seq          int64  `json:"seq"`
}

// quote is a message that is quoted, and what it was found by.
type quote struct{ text, query string }

// quoteRunes bounds what is quoted of a message, quoteSteps what is tried where that is too much.
const quoteRunes = 240

var quoteSteps = []int{quoteRunes, 180, 140, 100, 70}

// mostItems bounds a text, whatever its budget.
const mostItems = 6

// idLength is how much of an id stands for the conversation: the time in ms when it was made. Imports make many in
// a minute.
const idLength = 13

// RenderText returns the text for some items, best first, and those of them that are in it: as many as budget leaves
// room for. They are cut first, then left out. Without one that says something it is empty. The same items make the
// same bytes.
func RenderText(items []Item, budget int) (text string, shown []Item) {
	records := make([]itemRecord, 0, len(items))
	quotes := make([]quote, 0, len(items))
	for _, i := range items {
		says := CleanText(i.Says)
		if says == "" {
			continue
		}
		quotes = append(quotes, quote{says, i.Query})
		shown = append(shown, i)
		tool := i.Tool
		if tool == "" {
			tool = "scrollback"
		}
		id := string(i.Conversation)
		records = append(records, itemRecord{When: i.At.Format(time.DateOnly), Tool: CleanText(tool), Who: string(i.Role),
			Kind: i.Kind, Conversation: id[:min(len(id), idLength)], Seq: i.Seq})
	}
	for n := min(len(records), mostItems); n > 0; n-- {
		for _, most := range quoteSteps {
			for i := range records[:n] {
				records[i].Says = quotes[i].cut(most)
			}
			line, err := json.Marshal(records[:n]) // which escapes < > &
			if err != nil {
				return "", nil
			}
			text = told.Head + "\n" + string(line) + "\n" + told.Tail
			if EstimateTokens(text) <= budget {
				return text, shown[:n]
			}
		}
	}
	return "", nil
}

// CleanText returns a text on one line, without characters that nobody sees or that change how others are read, and
// with marks in the place of secrets.
func CleanText(s string) string {
	s = headOf(s, 64<<10)
	s, _ = secrets.MaskText(s)
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r), r == '\u2028', r == '\u2029', r == '\u3164', r == '\u2800':
			space = b.Len() > 0
			continue
		case r == utf8.RuneError, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector),
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// headOf returns the first n bytes of s, without a character that they cut.
func headOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cut returns a text, or if it is longer than some characters the sentences of it that have the most of what was
// looked for; without any of that, those at its beginning.
func (q quote) cut(most int) string {
	if utf8.RuneCountInString(q.text) <= most {
		return q.text
	}
	wanted := map[string]bool{}
	for _, t := range terms.ParseQuery(q.query).Any {
		wanted[t] = true
	}
	sentences := splitSentences(q.text)
	best := 0
	bestEnd := 0
	bestCount := -1
	bestLength := 0
	for from := range sentences {
		seen := map[string]bool{}
		length := 0
		for to := from; to < len(sentences); to++ {
			length += utf8.RuneCountInString(sentences[to])
			if length > most && to > from {
				break
			}
			terms.EachTerm(sentences[to], func(t string) bool {
				if wanted[t] {
					seen[t] = true
				}
				return true
			})
			if len(seen) > bestCount || len(seen) == bestCount && bestCount > 0 && length < bestLength {
				best = from
				bestEnd = to
				bestCount = len(seen)
				bestLength = length
			}
		}
	}
	end := bestEnd + 1
	length := utf8.RuneCountInString(strings.Join(sentences[best:end], ""))
	for ; end < len(sentences); end++ { // what follows belongs to it, as far as there is room
		if length += utf8.RuneCountInString(sentences[end]); length > most {
			break
		}
	}
	out := strings.TrimSpace(strings.Join(sentences[best:end], ""))
	if utf8.RuneCountInString(out) <= most {
		return out
	}
	return search.ClipText(search.ShortenAround(out, q.query, most-1), most-1)
}

// splitSentences cuts a line into its sentences, which together are the line.
func splitSentences(s string) (out []string) {
	from := 0
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？', '；':
		case '.', '!', '?', ';':
			if end < len(s) && s[end] != ' ' {
				continue
			}
		default:
			continue
		}
		out = append(out, s[from:end])
		from = end
	}
	if from < len(s) {
		out = append(out, s[from:])
	}
	return out
}
