package search

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Bounds of what is indexed of one message.
const (
	MaxTerms         = 16_000
	MaxArtifactBytes = 256 << 10 // of artifact text
)

// ListArtifacts returns the artifacts whose text search reads with a message, each up to
// [MaxArtifactBytes].
func ListArtifacts(parts scrollback.Parts) (ids []scrollback.ArtifactID) {
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.File:
			if strings.HasPrefix(p.MediaType, "text/") || p.MediaType == "application/json" {
				ids = append(ids, p.Artifact)
			}
		case scrollback.ToolResult:
			if p.Artifact != "" {
				ids = append(ids, p.Artifact)
			}
		case scrollback.Text, scrollback.Image, scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	return ids
}

// IndexedText returns what search reads of a message: everything a person or a tool said in it, but
// no look-up in the log or its result, which only repeat the log.
func IndexedText(parts scrollback.Parts) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			if !p.IsRecall() {
				b.WriteString(p.Text)
			}
		case scrollback.ToolCall:
			if !p.IsRecall() {
				b.WriteString(p.Name + " ")
				b.Write(p.Arguments)
			}
		case scrollback.ToolResult:
			if !p.Recall {
				b.WriteString(p.Name + " " + p.Text)
			}
		case scrollback.Image:
			b.WriteString(p.Name)
		case scrollback.File:
			b.WriteString(p.Name)
		case scrollback.Reasoning: // not said to anyone
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// snippetRunes is the length of an excerpt.
const snippetRunes = 240

// What the contents of all hits together are to have, about 2,000 tokens, and each may have
// at least, in characters.
const (
	hitsCharacters = 8000
	hitCharacters  = 400
)

// PassageLength returns how long a passage of a hit may be: the more hits, the shorter.
func PassageLength(q scrollback.SearchQuery) int {
	if q.Passage > 0 {
		return q.Passage
	}
	return min(max(hitsCharacters/cmp.Or(max(q.Limit, 0), scrollback.SearchDefault), hitCharacters),
		scrollback.HitContentMax)
}

// ShortenAround returns text, or if it is longer the n characters that hold the most different terms
// of a query, with an ellipsis.
func ShortenAround(text, query string, n int) string {
	return findMatches(&terms.Finder{}, text, terms.ParseQuery(query)).cutPassage(n)
}

// textMatches are the places in a text where terms of a query stand, at most [maxMatches].
type textMatches struct {
	text string
	all  []textMatch
}

// textMatch is a term of a query in a text: its bytes, and which term it is.
type textMatch struct{ from, to, term int }

// maxMatches bounds what is looked at of a text for its passages.
const maxMatches = 1000

// findMatches finds the terms of a query in a text.
func findMatches(f *terms.Finder, text string, q terms.Query) textMatches {
	m := textMatches{text: text}
	f.EachMatch(text, q.ListTerms(), func(which, from, to int) bool {
		m.all = append(m.all, textMatch{from, to, which})
		return len(m.all) < maxMatches
	})
	return m
}

// cutPassage returns the text, or if it is longer the n characters that hold the most different query
// terms, with an ellipsis.
func (m textMatches) cutPassage(n int) string {
	if utf8.RuneCountInString(m.text) <= n {
		return m.text
	}
	cut, _ := m.cutBestStretch(n)
	return cut
}

// cutSnippet returns a short passage, and which characters of it matched.
func (m textMatches) cutSnippet() (string, [][2]int) { return m.cutBestStretch(snippetRunes) }

// cutBestStretch cuts the n characters of the text that hold the most different query terms,
// and says which of them matched.
func (m textMatches) cutBestStretch(n int) (string, [][2]int) {
	text := m.text
	all := m.all
	// the shortest with the most terms
	best := 0
	bestCount := 0
	bestSpan := 0
	for i := range all {
		seen := map[int]bool{}
		span := 0
		for j := i; j < len(all) && all[j].to-all[i].from <= n-n/4; j++ {
			if !seen[all[j].term] {
				seen[all[j].term] = true
				span = all[j].to - all[i].from
			}
		}
		if len(seen) > bestCount || len(seen) == bestCount && span < bestSpan {
			best = i
			bestCount = len(seen)
			bestSpan = span
		}
	}
	from := 0
	if len(all) > 0 {
		from = backRunes(text, all[best].from, n/4)
		if left := utf8.RuneCountInString(text[from:]); left < n { // the end of it
			from = backRunes(text, from, n-left)
		}
	}
	cut := ClipText(text[from:], n)
	body := strings.TrimSuffix(cut, "…")
	spans := [][2]int{}
	for _, t := range all {
		if t.from < from || t.to > from+len(body) {
			continue
		}
		a := utf8.RuneCountInString(text[from:t.from])
		b := a + utf8.RuneCountInString(text[t.from:t.to])
		if n := len(spans); n > 0 && a <= spans[n-1][1] {
			spans[n-1][1] = max(spans[n-1][1], b)
			continue
		}
		spans = append(spans, [2]int{a, b})
	}
	return cut, spans
}

// backRunes returns the byte offset n characters before i.
func backRunes(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// clipBytes returns s, or about its first n bytes.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// ClipText returns s, or its first n characters and an ellipsis.
func ClipText(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
