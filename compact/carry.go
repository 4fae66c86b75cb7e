package compact

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// carryTitle heads what is carried word for word, behind the model's own part.
const carryTitle = "## Said, word for word"

// carryRunes bounds one line of it.
const carryRunes = 400

// todo finds what is yet to be done.
var todo = regexp.MustCompile(`(?i)^\s*([-*]\s*)?\[ \]|\btodo\b|待办`)

// carried is one line that is carried on.
type carried struct {
	seq  int64
	rank int // standing instructions and todos, then the rest
	text string
}

// carry is the deterministic end of a summary: what the summary so far carried,
// standing instructions, open todos, and the person's newest messages, in at most
// room tokens.
func (r *Record) carry(room int64) string {
	lines := append(carriedIn(r.Previous), r.said()...)
	slices.SortStableFunc(lines, func(a, b carried) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.seq, a.seq))
	})
	room -= int64(r.Count("\n\n" + carryTitle))
	var kept []carried
	seen := map[string]bool{}
	for _, l := range lines {
		n := int64(r.Count("\n" + l.text))
		if seen[l.text] || n > room {
			continue
		}
		seen[l.text] = true
		room -= n
		kept = append(kept, l)
	}
	if len(kept) == 0 {
		return ""
	}
	slices.SortStableFunc(kept, func(a, b carried) int { return cmp.Compare(a.seq, b.seq) })
	var b strings.Builder
	b.WriteString("\n\n" + carryTitle)
	for _, l := range kept {
		b.WriteString("\n" + l.text)
	}
	return b.String()
}

// said is what of the run may be carried.
func (r *Record) said() []carried {
	var out []carried
	for i := range r.Run {
		m := &r.Run[i]
		text := m.Parts.Text()
		text = strings.ToValidUTF8(text[:min(len(text), maxExtract)], "")
		switch m.Role {
		case scrollback.RoleUser:
			found := false
			for _, s := range sentences(text) {
				if standing.MatchString(s) || todo.MatchString(s) {
					out, found = append(out, carriedLine(m, 0, s)), true
				}
			}
			if whole := strings.Join(strings.Fields(text), " "); !found && whole != "" && len([]rune(whole)) <= carryRunes {
				out = append(out, carriedLine(m, 1, whole))
			}
		case scrollback.RoleAssistant:
			for _, s := range sentences(text) {
				if todo.MatchString(s) {
					out = append(out, carriedLine(m, 0, s))
				}
			}
		}
	}
	return out
}

func carriedLine(m *scrollback.Message, rank int, text string) carried {
	if runes := []rune(text); len(runes) > carryRunes {
		text = string(runes[:carryRunes]) + "…"
	}
	return carried{seq: m.Seq, rank: rank, text: fmt.Sprintf("- #%d %s: %s", m.Seq, m.Role, text)}
}

// carriedIn reads back what a summary carries.
func carriedIn(summary string) []carried {
	_, block, _ := strings.Cut(summary, carryTitle+"\n")
	var out []carried
	for line := range strings.SplitSeq(block, "\n") {
		c := carried{rank: 1, text: line}
		if _, err := fmt.Sscanf(line, "- #%d ", &c.seq); err != nil {
			continue
		}
		if standing.MatchString(line) || todo.MatchString(line[strings.Index(line, ": ")+1:]) {
			c.rank = 0
		}
		out = append(out, c)
	}
	return out
}
