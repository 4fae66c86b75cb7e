package compact

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/standing"
	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Bounds of an extract.
const (
	maxLineRunes = 160
	maxExtract   = 64 << 10 // bytes of one message that are considered
	standingLead = 5        // places by which an instruction is ahead of its neighbours in a placeholder
	minTerms     = 3        // different terms that a sentence must have, unless it is an instruction
)

// line is one extracted sentence, as "- #12 user: text". Score ranks it among
// its neighbours.
type line struct {
	text  string
	seq   int64
	score float64
}

// figures finds what is hard to guess: numbers, codes, names with digits.
var figures = regexp.MustCompile(`\d`)

// extract ranks the sentences of a run: standing instructions and decisions,
// figures and rare words come first, and the person before the assistant.
func extract(ms []scrollback.Message) []line {
	type sentence struct {
		line
		role  scrollback.Role
		terms []string
	}
	var all []sentence
	holders := map[string]int{}
	for i := range ms {
		m := &ms[i]
		if m.Role != scrollback.RoleUser && m.Role != scrollback.RoleAssistant {
			continue
		}
		text := m.Parts.Text()
		text = text[:min(len(text), maxExtract)]
		for _, s := range sentences(strings.ToValidUTF8(text, "")) {
			ts := slices.Compact(slices.Sorted(slices.Values(terms.Split(s))))
			if len(ts) < minTerms && !standing.Instruction(s) {
				continue
			}
			for _, t := range ts {
				holders[t]++
			}
			all = append(all, sentence{line{text: fmt.Sprintf("- #%d %s: %s", m.Seq, m.Role, clip(s)), seq: m.Seq}, m.Role, ts})
		}
	}
	out := make([]line, len(all))
	for i, s := range all {
		for _, t := range s.terms {
			s.score += math.Log(float64(len(all)+1) / float64(holders[t]))
		}
		s.score /= math.Sqrt(float64(len(s.terms)) + 4)
		if standing.Instruction(s.text) {
			s.score += 3
		}
		if figures.MatchString(s.text[strings.Index(s.text, ": ")+2:]) {
			s.score++
		}
		if s.role == scrollback.RoleUser {
			s.score *= 1.5
		}
		out[i] = s.line
	}
	return best(out)
}

// best sorts lines, the best first.
func best(lines []line) []line {
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.score, a.score) })
	return lines
}

// sentences cuts text at the ends of sentences and lines.
func sentences(text string) []string {
	var out []string
	start := 0
	flush := func(end int) {
		if s := strings.Join(strings.Fields(text[start:end]), " "); s != "" {
			out = append(out, s)
		}
		start = end
	}
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch r {
		case '\n', '。', '！', '？', '；':
			flush(next)
		case '.', '!', '?':
			if next < len(text) && (text[next] == ' ' || text[next] == '\n') {
				flush(next)
			}
		}
	}
	flush(len(text))
	return out
}

func clip(s string) string {
	n := 0
	for i := range s {
		if n == maxLineRunes {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// parseLines reads back the lines of a placeholder.
func parseLines(placeholder string) []line {
	var out []line
	for i, t := range strings.Split(placeholder, "\n") {
		var seq int64
		if _, err := fmt.Sscanf(t, "- #%d ", &seq); err != nil {
			continue
		}
		out = append(out, line{text: t, seq: seq, score: -float64(i)})
		if standing.Instruction(t) {
			out[len(out)-1].score += standingLead
		}
	}
	return best(out)
}

// describe writes a segment's summary and placeholder, with as many of the best
// lines as the bounds allow.
func (j *job) describe(s *scrollback.Segment, lines []line) {
	limit := j.Policy.placeholderBound(j.budget())
	kept := lines[:min(int64(len(lines)), j.Policy.ExtractLines)]
	for {
		inOrder := slices.Clone(kept)
		slices.SortStableFunc(inOrder, func(a, b line) int { return cmp.Compare(a.seq, b.seq) })
		texts := make([]string, len(inOrder))
		for i, l := range inOrder {
			texts[i] = l.text
		}
		s.Summary = strings.Join(texts, "\n")
		s.Placeholder = placeholder(s)
		s.TokensAfter = int64(j.Count(s.Placeholder))
		if s.TokensAfter <= limit || len(kept) == 0 {
			return
		}
		kept = kept[:len(kept)-1]
	}
}

// placeholder is the text that stands for a segment: what it covers, the lines,
// the ref and how to read it.
func placeholder(s *scrollback.Segment) string {
	day := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateOnly) }
	dates := day(s.From)
	if to := day(s.To); to != dates {
		dates += " to " + to
	}
	text := fmt.Sprintf("Messages #%d–#%d (%s) are folded here.\n", s.FirstSeq, s.LastSeq, dates)
	if s.Summary != "" {
		text += marks.Escape(s.Summary) + "\n"
	}
	return text + fmt.Sprintf("Originals: context_grep, context_read, context_tail with ref %s", scrollback.HistoryRef(s.ID))
}
