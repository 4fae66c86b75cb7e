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
	carryRunes = 400  // of a line that is only said
	filesShare = 0.34 // of the room, for the files that were touched
	leastLine  = 5    // tokens; no line has fewer
	newestSaid = 3    // messages of the person that come before older questions

	// keptShare of a summary's room is the most that its kept sentences take, so that a model has
	// room to write the rest of it.
	keptShare = 0.5
)

// The ranks of what is carried, in the order in which it is shown. First come the kept sentences, by kind.
const (
	rankTodo = iota
	rankTrait
	rankInstruction
	rankFile
	rankSaid
	rankAsked // questions that were answered since
	ranks
)

// keptShares are the kinds' own shares of the room for kept sentences. What a kind does not need is
// the others'.
var keptShares = [rankInstruction + 1]float64{rankTodo: 0.35, rankTrait: 0.35, rankInstruction: 0.3}

var keptRanks = map[scrollback.KeptKind]int{scrollback.KeptTodo: rankTodo, scrollback.KeptTrait: rankTrait,
	scrollback.KeptInstruction: rankInstruction}

// carriedLine is a line that is carried from summary to summary. Lines with the same key
// say the same.
type carriedLine struct {
	window.Line
	rank    int
	first   bool // of its kind it has room before others: a person wants it carried, or it is vital
	key     string
	clauses []string // of what a person said
}

// carryLines writes the deterministic end of a summary: the sentences that are kept, files that tools
// touched, and the person's newest messages, of the summary so far and of the run, in at most room
// tokens. The note follows the heading. Kept sentences that find no room are behind the ref of
// a text of their own, which the block names.
func (r *summaryRecord) carryLines(note string, room int64) string {
	lines := distinctLines(r.memory.carriedLines(r))
	slices.SortStableFunc(lines, func(a, b carriedLine) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.Seq, a.Seq))
	})
	title := "\n\n## " + r.summaryForm().Said + note
	room -= int64(r.count(title))
	rest := slices.IndexFunc(lines, func(l carriedLine) bool { return l.rank > rankInstruction })
	if rest < 0 {
		rest = len(lines)
	}
	chosen, older, used := r.chooseKept(lines[:rest], min(room, r.keptRoom))
	if r.policy.Summarizes { // else the placeholders speak of the rest
		chosen = append(chosen, r.chooseSaid(lines[rest:], chosen, room-used)...)
	}
	if len(chosen) == 0 && older == "" {
		return ""
	}
	slices.SortStableFunc(chosen, func(a, b carriedLine) int {
		return cmp.Or(cmp.Compare(min(a.rank, rankSaid), min(b.rank, rankSaid)), cmp.Compare(a.Seq, b.Seq))
	})
	var b strings.Builder
	b.WriteString(title)
	words := r.summaryForm().Words
	label := ""
	for _, l := range chosen {
		if next := labelOf(words, l.rank); next != label {
			label = next
			b.WriteString("\n" + label)
		}
		b.WriteString("\n" + l.String())
	}
	if older != "" {
		b.WriteString("\n" + older)
	}
	return b.String()
}

// carryKept writes the kept sentences alone.
func (r *summaryRecord) carryKept() string {
	alone := *r
	alone.policy.Summarizes = false
	return strings.TrimLeft(alone.carryLines("", r.keptRoom), "\n")
}

// chooseKept chooses kept sentences, given by kind and the newest first, for a room: of each kind those that a person
// kept and those that are vital, then the newest that fit in its share, then those that fit in what is left. Older is
// the line that names where the others are; used are the tokens of all of it.
func (r *summaryRecord) chooseKept(lines []carriedLine, room int64) (chosen []carriedLine, older string, used int64) {
	slices.SortStableFunc(lines, func(a, b carriedLine) int {
		if a.rank != b.rank || a.first == b.first {
			return cmp.Compare(a.rank, b.rank)
		}
		if a.first {
			return -1
		}
		return 1
	})
	b := keptBlock{record: r, lines: dropWithin(lines)}
	b.count()
	var apart []byte
	var own int64
	var last []bool // the lines that were taken when apart was written
	for reserve := int64(0); ; reserve += leastLine {
		taken, n, used := b.fillShares(room - reserve)
		if n == len(b.lines) {
			return b.lines, "", used
		}
		if last == nil || !slices.Equal(taken, last) {
			apart, older = b.writeApart(apart[:0], taken)
			own = int64(r.count("\n" + older))
			last = taken
		}
		if used+own <= room {
			r.memory.keepApart(string(apart))
			for i, l := range b.lines {
				if taken[i] {
					chosen = append(chosen, l)
				}
			}
			return chosen, older, used + own
		}
		if n == 0 { // not even for that
			return nil, "", 0
		}
	}
}

// dropWithin leaves out lines that say nothing which another does not say, to-dos apart.
func dropWithin(lines []carriedLine) []carriedLine {
	by := map[string][]int{}    // lines by their clauses
	first := map[string][]int{} // lines by their first one, which who says more has too
	gone := make([]bool, len(lines))
	for i, l := range lines {
		gone[i] = l.rank > rankTodo && len(l.clauses) > 0 && slices.ContainsFunc(by[l.clauses[0]],
			func(k int) bool { return !gone[k] && l.saysLess(lines[k]) })
		if gone[i] {
			continue
		}
		for _, c := range l.clauses {
			for _, k := range first[c] {
				gone[k] = gone[k] || lines[k].rank > rankTodo && lines[k].saysLess(l)
			}
		}
		for n, c := range l.clauses {
			by[c] = append(by[c], i)
			if n == 0 {
				first[c] = append(first[c], i)
			}
		}
	}
	out := make([]carriedLine, 0, len(lines))
	for i, l := range lines {
		if !gone[i] {
			out = append(out, l)
		}
	}
	return out
}

// keptBlock is what kept sentences are chosen for a room from; there may be thousands.
type keptBlock struct {
	record *summaryRecord
	lines  []carriedLine
	texts  []string
	tokens []int64 // of each, with the break before it
	labels [ranks]int64
	order  []int // in which a text of their own has them
}

// count writes the lines and counts their tokens, once.
func (b *keptBlock) count() {
	words := b.record.summaryForm().Words
	for rank := range b.labels {
		b.labels[rank] = int64(b.record.count("\n" + labelOf(words, rank)))
	}
	for i, l := range b.lines {
		text := l.String()
		b.texts = append(b.texts, text)
		b.tokens = append(b.tokens, b.record.memory.countLine(text, b.record.count))
		b.order = append(b.order, i)
	}
	slices.SortStableFunc(b.order, func(i, k int) int {
		return cmp.Or(cmp.Compare(b.lines[i].rank, b.lines[k].rank), cmp.Compare(b.lines[i].Seq, b.lines[k].Seq))
	})
}

// fillShares says which lines fit in a room, how many, and how much of it they use.
func (b *keptBlock) fillShares(room int64) (taken []bool, count int, used int64) {
	labelled := [ranks]bool{}
	taken = make([]bool, len(b.lines))
	for _, own := range []bool{true, false} {
		spent := [ranks]int64{}
		for i, l := range b.lines {
			n := b.tokens[i]
			if !labelled[l.rank] {
				n += b.labels[l.rank]
			}
			share := room
			if own {
				share = int64(keptShares[l.rank] * float64(room))
			}
			if taken[i] || used+n > room || spent[l.rank]+n > share {
				continue
			}
			taken[i] = true
			count++
			labelled[l.rank] = true
			spent[l.rank] += n
			used += n
		}
	}
	return taken, count, used
}

// writeApart writes the kept sentences that are not taken as a text of their own, behind to, and the line that names
// it.
func (b *keptBlock) writeApart(to []byte, taken []bool) (apart []byte, line string) {
	form := b.record.summaryForm()
	label := ""
	n := 0
	for _, i := range b.order {
		if taken[i] {
			continue
		}
		n++
		if next := labelOf(form.Words, b.lines[i].rank); next != label {
			label = next
			to = append(append(to, label...), '\n')
		}
		to = append(append(to, b.texts[i]...), '\n')
	}
	return to, fmt.Sprintf(form.Words.Older, n, apartRef(to))
}

// chooseSaid chooses files and what was said last for what room there is.
func (r *summaryRecord) chooseSaid(lines, kept []carriedLine, room int64) (chosen []carriedLine) {
	words := r.summaryForm().Words
	labelled := map[string]bool{}
	files := int64(filesShare * float64(room))
	for _, l := range lines {
		if room < leastLine {
			break
		}
		n := int64(r.count("\n" + l.String()))
		label := labelOf(words, l.rank)
		if !labelled[label] {
			n += int64(r.count("\n" + label))
		}
		if n > room || l.rank == rankFile && n > files || slices.ContainsFunc(kept, l.saysLess) {
			continue
		}
		labelled[label] = true
		room -= n
		if l.rank == rankFile {
			files -= n
		}
		chosen = append(chosen, l)
	}
	return chosen
}

// distinctLines returns the lines that differ, each as it was said last and with how often it
// was said.
func distinctLines(lines []carriedLine) []carriedLine {
	at := make(map[string]int, len(lines))
	out := make([]carriedLine, 0, len(lines))
	for _, l := range lines {
		i, ok := at[l.key]
		if !ok {
			at[l.key] = len(out)
			out = append(out, l)
			continue
		}
		n := out[i].Count + l.Count
		by := out[i].first || l.first
		if l.Seq >= out[i].Seq {
			out[i] = l
		}
		out[i].first = by
		if l.rank != rankFile {
			out[i].Count = n
		}
	}
	return out
}

// saysLess reports whether l says nothing that a line that is kept does not say.
func (l carriedLine) saysLess(kept carriedLine) bool {
	return kept.rank <= rankInstruction && l.rank != rankFile && same.IsWithin(l.clauses, kept.clauses)
}

// listCarried lists what may be carried of the summary so far and of the run: the kept sentences that
// stand at its end, files, and what else the person said.
func (r *summaryRecord) listCarried() []carriedLine {
	found := map[int64]bool{} // messages that are told by what is kept of them
	known := map[string]bool{}
	for _, k := range r.rows {
		found[k.Seq] = true
	}
	previous := parseCarried(r.previous, r.memory)
	counts := map[string]int{}
	if r.inSight {
		for _, l := range previous {
			counts[fmt.Sprint(l.Seq, l.key)] = l.Count
		}
	}
	rows := r.settleRows()
	out := make([]carriedLine, 0, len(rows)+len(previous))
	for _, k := range rows {
		l := carriedLine{Line: window.Line{Seq: k.Seq, By: string(k.Role), Count: 1, Text: k.Text},
			rank: keptRanks[k.Kind]}
		l.first = l.read(r.memory) || k.By == scrollback.KeptByPerson
		l.Count = max(1, counts[fmt.Sprint(l.Seq, l.key)])
		known[strings.Join(l.clauses, "")] = true
		if k.State == scrollback.KeptOpen && !r.isShown(k.Seq) {
			out = append(out, l)
		}
	}
	for _, l := range previous {
		if l.rank == rankFile || l.rank >= rankSaid && !known[strings.Join(l.clauses, "")] {
			out = append(out, l)
		}
	}
	ms := dropShown(slices.Concat(r.released, r.run), r.told)
	for i := range ms {
		m := &ms[i]
		if m.Role == scrollback.RoleAssistant {
			out = append(out, touchedFiles(m)...)
		}
		if m.Role != scrollback.RoleUser || found[m.Seq] || slices.Contains(r.pinned, m.Seq) {
			continue
		}
		text := m.Parts.Text()
		whole := strings.Join(strings.Fields(strings.ToValidUTF8(text[:min(len(text), maxExtract)], "")), " ")
		if !isIdle(whole) {
			out = append(out, newCarriedLine(m, rankSaid, whole, r.memory))
		}
	}
	newest := 0
	for i := range slices.Backward(out) {
		l := &out[i]
		if l.rank < rankSaid {
			continue
		}
		l.rank = rankSaid
		if newest++; newest > newestSaid && isQuestion(l.Text) {
			l.rank = rankAsked
		}
	}
	return out
}

// settleRows returns what is kept of the messages that the fold hides, and whether it stands at its end.
func (r *summaryRecord) settleRows() []scrollback.Kept {
	entries, _ := r.memory.settleEnds(slices.DeleteFunc(slices.Clone(r.rows), func(k scrollback.Kept) bool {
		return k.Seq > r.end || r.leftOut[k.Seq]
	}))
	return entries
}

// isShown reports whether a message stays in sight word for word.
func (r *summaryRecord) isShown(seq int64) bool { return r.told[seq] || slices.Contains(r.pinned, seq) }

// touchedFiles lists the files that the calls of a message opened or changed.
func touchedFiles(m *scrollback.Message) (out []carriedLine) {
	for _, c := range m.Parts.Calls() {
		if c.IsRecall() {
			continue
		}
		tool := toolcall.CleanName(c.Name)
		for _, p := range toolcall.ListTouched(c.Name, c.Arguments) {
			out = append(out, carriedLine{Line: window.Line{Seq: m.Seq, By: window.ByFile, Count: 1,
				Text: p + " (" + tool + ")"},
				rank: rankFile, key: "file " + p})
		}
	}
	return out
}

func newCarriedLine(m *scrollback.Message, rank int, text string, memory *Memory) carriedLine {
	l := carriedLine{Line: window.Line{Seq: m.Seq, By: string(m.Role), Count: 1, Text: short.ClipLine(text, carryRunes)},
		rank: rank}
	l.read(memory)
	return l
}

// read reads a line that somebody said.
func (l *carriedLine) read(m *Memory) (vital bool) {
	what := m.readLine(lineKey{l.By, l.Text, l.rank == rankTodo})
	l.clauses = what.clauses
	l.key = what.key
	return what.vital
}

// read reads a line: its key is what it says.
func (k lineKey) read() readLine {
	out := readLine{clauses: same.Clauses(k.text), vital: kept.IsVital(k.text)}
	out.key = k.by + strings.Join(out.clauses, "")
	if k.todo {
		if core := kept.TodoKey(k.text); core != "" {
			out.key = "todo " + core
		}
	}
	if len(out.clauses) == 0 {
		out.key = k.text
	}
	return out
}

// summaryEnd returns the seq of the last message that the minutes of a summary cover,
// where the summary itself ends at last; 0 if it has no minutes.
func summaryEnd(text string, last int64) int64 {
	minutes, block := splitSummary(text)
	if minutes == "" {
		return 0
	}
	first, _, _ := strings.Cut(block, "\n")
	for _, w := range window.ListWords() {
		var end int64
		if _, err := fmt.Sscanf(first, w.Ends, &end); err == nil {
			return end
		}
	}
	return last
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
		first, rest, _ := strings.Cut(lines, "\n")
		if strings.HasPrefix(first, "(") || strings.HasPrefix(first, "（") { // where the minutes end
			lines = rest
		}
		if lines == "" {
			return ""
		}
		return strings.TrimPrefix(mark, "\n") + lines
	}
	return ""
}

// parseCarried reads back what a summary of any form carries. In a block that an older program wrote,
// only files are told from what was said.
func parseCarried(text string, memory *Memory) []carriedLine {
	_, block := splitSummary(text)
	var out []carriedLine
	rank := rankSaid
	for text := range strings.SplitSeq(block, "\n") {
		l := carriedLine{}
		var ok bool
		if l.Line, ok = window.ParseLine(text); !ok {
			rank = rankOf(text)
			continue
		}
		l.rank = rank
		switch {
		case l.By == window.ByFile:
			l.rank = rankFile
			l.key = "file " + l.Path()
		case rank == rankFile: // after files of an older block
			l.rank = rankSaid
			l.read(memory)
		default:
			l.read(memory)
		}
		out = append(out, l)
	}
	return out
}

// labelOf returns the label above the lines of a rank.
func labelOf(w *window.Words, rank int) string {
	switch rank {
	case rankTodo:
		return w.Todos
	case rankTrait:
		return w.Traits
	case rankInstruction:
		return w.Instructions
	case rankFile:
		return w.Files
	}
	return w.Latest
}

// rankOf returns the rank of the lines behind a label of any form.
func rankOf(label string) int {
	for _, f := range window.ListWords() {
		for rank := range rankAsked {
			if labelOf(f, rank) == label {
				return rank
			}
		}
	}
	return rankSaid
}
