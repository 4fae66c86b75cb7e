package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	short "github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/same"
	"github.com/scrollback-ai/scrollback/internal/toolcall"
	"github.com/scrollback-ai/scrollback/window"
)

// Bounds of what is carried word for word.
const (
	carryRunes = 400  // of one line
	todosShare = 0.5  // of the room, for open to-dos
	filesShare = 0.34 // of the room, for the files that were touched
	leastLine  = 5    // tokens; no line has fewer
	newestSaid = 3    // messages of the person that come before older questions
)

// The ranks of what is carried. Within a rank, the newest comes first.
const (
	rankTodo = iota
	rankStanding
	rankFile
	rankSaid
	rankAsked // questions that were answered since
	ranks
)

// carriedLine is a line that is carried from summary to summary. Lines with the same key
// say the same.
type carriedLine struct {
	window.Line
	rank    int
	key     string
	clauses []string // of what a person said
}

// carryLines writes the deterministic end of a summary: open to-dos, standing instructions,
// files that tools touched, and the person's newest messages, of the summary so far and
// of the run, in at most room tokens. The note follows the heading.
func (r *summaryRecord) carryLines(note string, room int64) string {
	lines := distinctLines(r.memory.carriedLines(r))
	slices.SortStableFunc(lines, func(a, b carriedLine) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.Seq, a.Seq))
	})
	title := "\n\n## " + r.summaryForm().Said + note
	room -= int64(r.count(title))
	left := [ranks]int64{int64(todosShare * float64(room)), room, int64(filesShare * float64(room)), room, room}
	if !r.policy.Summarizes { // the placeholders speak of the rest
		left = [ranks]int64{left[rankTodo], room}
	}
	var kept []carriedLine
	for _, l := range lines {
		if room < leastLine {
			break
		}
		n := int64(r.count("\n" + l.String()))
		if n > room || n > left[l.rank] || l.rank > rankTodo && slices.ContainsFunc(kept, l.saysLess) {
			continue
		}
		kept = slices.DeleteFunc(kept, func(k carriedLine) bool {
			less := k.rank > rankTodo && k.saysLess(l)
			if less {
				room += int64(r.count("\n" + k.String()))
			}
			return less
		})
		room -= n
		left[l.rank] -= n
		kept = append(kept, l)
	}
	if len(kept) == 0 {
		return ""
	}
	slices.SortStableFunc(kept, func(a, b carriedLine) int { return cmp.Compare(a.Seq, b.Seq) })
	var b strings.Builder
	b.WriteString(title)
	for _, l := range kept {
		b.WriteString("\n" + l.String())
	}
	return b.String()
}

// distinctLines returns the lines that differ, each as it was said last and with how often it
// was said.
func distinctLines(lines []carriedLine) (out []carriedLine) {
	at := map[string]int{}
	for _, l := range lines {
		i, ok := at[l.key]
		if !ok {
			at[l.key] = len(out)
			out = append(out, l)
			continue
		}
		n := out[i].Count + l.Count
		if l.Seq >= out[i].Seq {
			out[i] = l
		}
		if l.rank != rankFile {
			out[i].Count = n
		}
	}
	return out
}

// saysLess reports whether l says nothing that a line that is kept does not say.
func (l carriedLine) saysLess(kept carriedLine) bool {
	return kept.rank <= rankStanding && l.rank != rankFile && same.IsWithin(l.clauses, kept.clauses)
}

// listCarried lists what may be carried of the summary so far and of the run, without to-dos
// that are done by its end.
func (r *summaryRecord) listCarried() []carriedLine {
	out := parseCarried(r.previous)
	var todos kept.Todos
	done := map[int]bool{}
	for i, l := range out {
		if l.rank == rankTodo {
			todos.Add(l.Text, i)
		}
	}
	for _, l := range r.passed {
		for _, at := range todos.Closed(scrollback.RoleUser, l.Text) {
			done[at] = true
		}
		switch c := (carriedLine{Line: l}); {
		case kept.IsTodo(scrollback.Role(l.By), l.Text) && !kept.IsTicked(l.Text):
			todos.Add(l.Text, len(out))
			c.setKey()
			out = append(out, c)
		case l.By == string(scrollback.RoleUser) && r.memory.isInstruction(l.Text):
			c.rank = rankStanding
			c.setKey()
			out = append(out, c)
		}
	}
	ms := dropShown(slices.Concat(r.released, r.run), r.told)
	for i := range ms {
		m := &ms[i]
		if m.Role != scrollback.RoleUser && m.Role != scrollback.RoleAssistant {
			continue
		}
		text := m.Parts.Text()
		text = strings.ToValidUTF8(text[:min(len(text), maxExtract)], "")
		found := false
		for _, s := range kept.SplitSentences(text) {
			for _, at := range todos.Closed(m.Role, s) {
				done[at] = true
				found = true
			}
			switch {
			case kept.IsTicked(s):
				found = true
			case kept.IsListed(s), m.Role == scrollback.RoleUser && kept.IsTodo(m.Role, s):
				todos.Add(s, len(out))
				out = append(out, newCarriedLine(m, rankTodo, s))
				found = true
			case m.Role == scrollback.RoleUser && r.memory.isInstruction(s):
				out = append(out, newCarriedLine(m, rankStanding, s))
				found = true
			}
		}
		if m.Role == scrollback.RoleAssistant {
			out = append(out, touchedFiles(m)...)
		} else if whole := strings.Join(strings.Fields(text), " "); !found && !isIdle(whole) &&
			!slices.Contains(r.pinned, m.Seq) {
			out = append(out, newCarriedLine(m, rankSaid, whole))
		}
	}
	open := out[:0:0]
	for i, l := range out {
		if !done[i] {
			open = append(open, l)
		}
	}
	newest := 0
	for i := range slices.Backward(open) {
		l := &open[i]
		if l.rank != rankSaid {
			continue
		}
		if newest++; newest > newestSaid && isQuestion(l.Text) {
			l.rank = rankAsked
		}
	}
	return open
}

// touchedFiles lists the files that the calls of a message name.
func touchedFiles(m *scrollback.Message) (out []carriedLine) {
	for _, c := range m.Parts.Calls() {
		if c.IsRecall() {
			continue
		}
		tool := toolcall.CleanName(c.Name)
		for _, p := range toolcall.ReadCall(c.Arguments).Paths {
			out = append(out, carriedLine{Line: window.Line{Seq: m.Seq, By: window.ByFile, Count: 1,
				Text: p + " (" + tool + ")"},
				rank: rankFile, key: "file " + p})
		}
	}
	return out
}

func newCarriedLine(m *scrollback.Message, rank int, text string) carriedLine {
	l := carriedLine{Line: window.Line{Seq: m.Seq, By: string(m.Role), Count: 1, Text: short.ClipLine(text, carryRunes)},
		rank: rank}
	l.setKey()
	return l
}

// setKey sets the key of a line that somebody said, by what it says.
func (l *carriedLine) setKey() {
	l.clauses = same.Clauses(l.Text)
	l.key = l.By + strings.Join(l.clauses, "")
	if core := kept.TodoKey(l.Text); l.rank == rankTodo && core != "" {
		l.key = "todo " + core
	}
	if len(l.clauses) == 0 {
		l.key = l.Text
	}
}

// endNote follows the heading of the carried lines where the minutes are older than they are.
const endNote = "\n(The minutes above end at #%d.)"

// keepWithoutModel returns the summary for when no model wrote one: the minutes so far, then a note
// of where they end and what is carried, in at most bound tokens. Minutes that leave no
// room are dropped. It is empty if there is nothing to carry.
func (r *summaryRecord) keepWithoutModel(bound int64) string {
	minutes, _ := splitSummary(r.previous)
	note := ""
	if minutes != "" {
		note = fmt.Sprintf(endNote, summaryEnd(r.previous, r.previousEnd))
	}
	room := min(bound-int64(r.count(minutes)), r.maxTokens)
	if room < int64(r.policy.SaidShare*float64(bound)) {
		minutes = ""
		note = ""
		room = r.maxTokens
	}
	block := r.carryLines(note, room)
	if block == "" {
		return ""
	}
	return strings.TrimLeft(minutes+block, "\n")
}

// summaryEnd returns the seq of the last message that the minutes of a summary cover,
// where the summary itself ends at last; 0 if it has no minutes.
func summaryEnd(text string, last int64) int64 {
	minutes, block := splitSummary(text)
	if minutes == "" {
		return 0
	}
	var end int64
	if _, err := fmt.Sscanf("\n"+block, endNote, &end); err != nil {
		return last
	}
	return end
}

// splitSummary splits a summary into its minutes and what is carried after them. A model's
// minutes never contain the heading between the two.
func splitSummary(text string) (above, block string) {
	for _, mark := range summary.CarriedMarks() {
		if before, after, found := strings.Cut("\n"+text, mark); found {
			return strings.Trim(before, "\n"), after
		}
	}
	return strings.Trim(text, "\n"), ""
}

// carriedText returns a summary without its minutes; empty if nothing is carried behind them.
func carriedText(text string) string {
	for _, mark := range summary.CarriedMarks() {
		_, lines, found := strings.Cut("\n"+text, mark)
		if !found {
			continue
		}
		if first, rest, _ := strings.Cut(lines, "\n"); strings.HasPrefix(first, "(") { // where the minutes end
			lines = rest
		}
		if lines == "" {
			return ""
		}
		return strings.TrimPrefix(mark, "\n") + lines
	}
	return ""
}

// parseCarried reads back what a summary of any form carries.
func parseCarried(text string) []carriedLine {
	_, block := splitSummary(text)
	var out []carriedLine
	for text := range strings.SplitSeq(block, "\n") {
		l := carriedLine{rank: rankSaid}
		var ok bool
		if l.Line, ok = window.ParseLine(text); !ok {
			continue
		}
		switch {
		case l.By == window.ByFile:
			l.rank = rankFile
			l.key = "file " + l.Path()
			out = append(out, l)
			continue
		case kept.IsTodo(scrollback.Role(l.By), l.Text):
			l.rank = rankTodo
		case kept.IsInstruction(l.Text), kept.IsTrait(l.Text):
			l.rank = rankStanding
		}
		l.setKey()
		out = append(out, l)
	}
	return out
}
