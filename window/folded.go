package window

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/internal/same"
)

// The marks around what was folded. Text between them is escaped, so that nothing in
// the history can end the block.
const (
	foldOpen  = "<" + marks.FoldedHistory + ">"
	foldClose = "</" + marks.FoldedHistory + ">"
	// FoldTokens is what the block costs at most besides its summary and placeholders, with the
	// tools that it names by default, in English.
	FoldTokens = 72
	// leastTokenBytes is how many bytes a token of the line about what is not compacted has at least, on average.
	leastTokenBytes = 2
)

// RecallTools names the tools by which a model reads what is folded, as it is told to above what was
// folded. A program that offers none of them has an empty one, and the model is told of none.
type RecallTools struct {
	Read   []string // what reads a ref
	Search string   // what searches everything
}

// ownTools are those of package recall, which scrollback itself offers.
var ownTools = RecallTools{Read: []string{"context_read", "context_tail", "context_grep"}, Search: "context_search"}

// blockNote returns what a model is told of the block.
func (r *RecallTools) blockNote(w *Words) string {
	if r == nil {
		r = &ownTools
	}
	var how []string
	if n := len(r.Read); n > 0 {
		names := r.Read[n-1]
		if n > 1 {
			names = strings.Join(r.Read[:n-1], w.Comma) + w.Or + names
		}
		how = append(how, fmt.Sprintf(w.Read, names))
	}
	if r.Search != "" {
		how = append(how, fmt.Sprintf(w.Search, r.Search))
	}
	if len(how) == 0 {
		return w.Note
	}
	return w.Note + w.Space + strings.Join(how, w.Then) + w.End
}

// waitingLine returns what a model is told of messages that are not compacted yet, and how it reads them.
func (r *RecallTools) waitingLine(w *Words, of scrollback.SeqRange) string {
	if r == nil {
		return fmt.Sprintf(w.Waits, of.First, of.Last) + w.Space + fmt.Sprintf(w.WaitsRead, of.First, of.Last)
	}
	return fmt.Sprintf(w.Waits, of.First, of.Last)
}

// ByFile and WorkMark tell lines about files and tools from what somebody said.
const (
	ByFile   = "file"
	WorkMark = "Tools: "
)

// Line is a line of a summary or placeholder that somebody said in message Seq, word for
// word (By is the role), or a file that a tool touched there (By is [ByFile]). Count is
// how often it was said, at least 1; then Seq is the newest.
type Line struct {
	Seq   int64
	By    string
	Count int
	Text  string
}

// ParseLine reads what [Line.String] writes: "- #12 user (2×): ", with a seq of at most 18 digits and a count of at
// most 9, and behind it a text without line breaks.
func ParseLine(s string) (Line, bool) {
	rest, ok := strings.CutPrefix(s, "- #")
	if !ok || strings.Contains(rest, "\n") {
		return Line{}, false
	}
	l := Line{Count: 1}
	var count int64
	if l.Seq, rest, ok = cutNumber(rest, 18); !ok || !strings.HasPrefix(rest, " ") {
		return Line{}, false
	}
	rest = rest[1:]
	end := 0
	for end < len(rest) && isWordByte(rest[end]) {
		end++
	}
	l.By = rest[:end]
	rest = rest[end:]
	if counted, ok := strings.CutPrefix(rest, " ("); ok {
		if count, counted, ok = cutNumber(counted, 9); !ok {
			return Line{}, false
		}
		if rest, ok = strings.CutPrefix(counted, "×)"); !ok {
			return Line{}, false
		}
		l.Count = max(int(count), 1)
	}
	if l.Text, ok = strings.CutPrefix(rest, ": "); !ok || end == 0 {
		return Line{}, false
	}
	return l, true
}

// cutNumber cuts a number of at most so many digits off the beginning of a text.
func cutNumber(s string, digits int) (n int64, rest string, ok bool) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		n = n*10 + int64(s[end]-'0')
		if end++; end > digits {
			return 0, s, false
		}
	}
	return n, s[end:], end > 0
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

func (l Line) String() string {
	if l.Count > 1 {
		return fmt.Sprintf("- #%d %s (%d×): %s", l.Seq, l.By, l.Count, l.Text)
	}
	return fmt.Sprintf("- #%d %s: %s", l.Seq, l.By, l.Text)
}

// Path returns the path of a line about a file, without the tool behind it.
func (l Line) Path() string {
	if i := strings.LastIndex(l.Text, " ("); i > 0 {
		return l.Text[:i]
	}
	return l.Text
}

// PlaceholderHead returns the first line of a placeholder: what it covers, and where the
// originals are.
func (w *Words) PlaceholderHead(first, last int64, dates string, ref scrollback.Ref) string {
	if first == last {
		return fmt.Sprintf(w.One, first, dates, ref)
	}
	return fmt.Sprintf(w.Many, first, last, dates, ref)
}

// foldedItem returns layer 3: one user message around the summary and all placeholders. What is
// said in it, or in a carried message, is not said in it again. That depends only on
// what changes with a fold, so the block keeps its bytes between folds. The lines
// themselves stay stored: the next view may show them without what hides them here.
func foldedItem(in *Input) scrollback.Item {
	segs := in.Segments
	sum := in.Summary
	it := scrollback.Item{Kind: scrollback.KindFolded, Layer: scrollback.LayerPlaceholders, Role: scrollback.RoleUser}
	words := FindWords(in.Language)
	note := in.Recall.blockNote(words)
	// a token has a byte at least
	it.Weight.Tokens = words.tokens + int64(max(0, len(note)-len((*RecallTools)(nil).blockNote(words))))
	var b strings.Builder
	b.WriteString(foldOpen + "\n" + note + "\n")
	said := in.Said
	if said == nil {
		said = in.SaidLines()
	}
	end := b.Len()
	hold := func(h scrollback.Hold) {
		it.Weight.Tokens += h.Tokens
		h.Bytes = b.Len() - end
		end = b.Len()
		it.Holds = append(it.Holds, h)
	}
	if sum != nil {
		if text := dropLines(sum.Text, said.Summary); text != "" {
			if sum.MinutesEnd == 0 && strings.HasPrefix(text, "#") { // its heading says the same
				text = text[strings.IndexByte(text, '\n')+1:]
			}
			fmt.Fprintf(&b, "\n%s\n%s\n", sum.heading(words), marks.EscapeText(text))
		}
		hold(scrollback.Hold{Kind: scrollback.KindSummary, Ref: scrollback.HistoryRef(sum.Segment),
			FirstSeq: sum.FirstSeq, LastSeq: sum.LastSeq, Tokens: sum.Tokens})
	}
	for i := range segs {
		s := &segs[i]
		b.WriteString("\n" + marks.EscapeText(dropLines(placeholderText(s), said.Segments[i])) + "\n")
		hold(scrollback.Hold{Kind: scrollback.KindPlaceholder, Ref: scrollback.HistoryRef(s.ID),
			FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, Tokens: s.TokensAfter})
	}
	if in.NotCompacted != nil {
		line := in.Recall.waitingLine(words, *in.NotCompacted)
		it.Weight.Tokens += int64(len(line)) / leastTokenBytes
		b.WriteString("\n" + line + "\n")
	}
	b.WriteString(foldClose)
	it.Parts = scrollback.Parts{scrollback.Text{Text: b.String()}}
	it.Weight.Bytes = int64(b.Len())
	return it
}

// SaidLines lists the lines of a summary and of placeholders, from 0, that are not shown because
// something before them says the same. It takes as long as all that is shown, and changes only
// with a fold.
type SaidLines struct {
	Summary  []int
	Segments [][]int
}

// SaidLines finds them.
func (in *Input) SaidLines() *SaidLines {
	k := knownLines{seqs: map[int64][]string{}, keys: map[string]bool{}}
	for i := range in.Carried {
		k.seqs[in.Carried[i].Seq] = same.Clauses(clip.HeadBytes(in.Carried[i].Parts.Text(), maxCompared))
	}
	out := &SaidLines{}
	if in.Summary != nil {
		out.Summary = k.saidInSummary(in.Summary.Text, in.Segments)
	}
	for i := range in.Segments {
		out.Segments = append(out.Segments, k.saidInPlaceholder(placeholderText(&in.Segments[i])))
	}
	return out
}

// dropLines returns a text without some of its lines, and without headings and labels at its end that
// nothing follows any more.
func dropLines(text string, drop []int) string {
	if len(drop) == 0 {
		return text
	}
	var out []string
	for i, line := range strings.Split(text, "\n") {
		if len(drop) > 0 && drop[0] == i {
			drop = drop[1:]
			continue
		}
		if isLabel(line) && len(out) > 0 && isLabel(out[len(out)-1]) {
			out = out[:len(out)-1]
		}
		out = append(out, line)
	}
	for n := len(out); n > 0 && (out[n-1] == "" || strings.HasPrefix(out[n-1], "#") || isLabel(out[n-1])); n = len(out) {
		out = out[:n-1]
	}
	return strings.Join(out, "\n")
}

// maxCompared bounds, in bytes, what of a carried message lines are compared with.
const maxCompared = 64 << 10

// knownLines is what the block, as far as it is written, and the carried messages say.
type knownLines struct {
	seqs    map[int64][]string // the clauses that are shown of a message, by its seq
	keys    map[string]bool    // of the lines
	clauses [][]string         // of each line
}

// isKnown reports whether a line is said already: by more of the same message, or by
// another line that says the same, or more.
func (k *knownLines) isKnown(l Line, clauses []string) bool {
	if len(clauses) == 0 {
		return false
	}
	return k.showsAll(l, clauses) || k.keys[strings.Join(clauses, "")] ||
		slices.ContainsFunc(k.clauses, func(c []string) bool { return same.IsWithin(clauses, c) })
}

// showsAll reports whether each clause of a line is among those that are shown of its
// message. Of a line that was cut short, the last clause is the beginning of one.
func (k *knownLines) showsAll(l Line, clauses []string) bool {
	shown := k.seqs[l.Seq]
	if strings.HasSuffix(l.Text, "…") {
		last := strings.TrimSuffix(clauses[len(clauses)-1], " ")
		last = last[:strings.LastIndexByte(last, ' ')+1] // without what may be half a word
		clauses = clauses[:len(clauses)-1]
		if !slices.ContainsFunc(shown, func(s string) bool { return strings.HasPrefix(s, last) }) {
			return false
		}
	}
	for _, c := range clauses {
		if !slices.Contains(shown, c) {
			return false
		}
	}
	return len(shown) > 0
}

// addLine adds the clauses of a line, of message seq if that is not 0.
func (k *knownLines) addLine(clauses []string, seq int64) {
	if len(clauses) == 0 {
		return
	}
	k.keys[strings.Join(clauses, "")] = true
	k.clauses = append(k.clauses, clauses)
	if seq != 0 {
		k.seqs[seq] = append(k.seqs[seq], clauses...)
	}
}

// saidInSummary lists the lines of a summary that only repeat what it says, and those of files that a
// placeholder says more of.
func (k *knownLines) saidInSummary(text string, segs []scrollback.Segment) (out []int) {
	for i, line := range strings.Split(text, "\n") {
		l, ok := ParseLine(line)
		if !ok {
			if strings.IndexByte(line, '#') >= 0 {
				line = seqMarks().ReplaceAllString(line, "")
			}
			k.addLine(same.Clauses(line), 0)
			continue
		}
		clauses := same.Clauses(l.Text)
		switch {
		case l.By == ByFile && slices.ContainsFunc(segs,
			func(s scrollback.Segment) bool { return worksOn(s.Placeholder, l.Path()) }),
			l.By != ByFile && k.isKnown(l, clauses):
			out = append(out, i)
		default:
			k.addLine(clauses, l.Seq)
		}
	}
	return out
}

// seqMarks finds the numbers of messages with which a model says where something was said.
var seqMarks = lazyregexp.New(`[ \t]*[(（\[]?#\d+(?:\s*[-–—,，、~]\s*#?\d+)*[)）\]]?`)

// worksOn reports whether a placeholder says what tools did with a path.
func worksOn(placeholder, path string) bool {
	const before, after = " (`", " ,)`"
	if path == "" {
		return false
	}
	for line := range strings.SplitSeq(placeholder, "\n") {
		rest, ok := strings.CutPrefix(line, WorkMark)
		for i := 0; ok && i >= 0; {
			if i = strings.Index(rest, path); i < 0 {
				break
			}
			end := i + len(path)
			if i > 0 && strings.IndexByte(before, rest[i-1]) >= 0 &&
				(end == len(rest) || strings.IndexByte(after, rest[end]) >= 0) {
				return true
			}
			rest = rest[i+1:]
		}
	}
	return false
}

// The ends of a placeholder as they were before the head had the ref.
const (
	oldPlaceholder = " are folded here."
	oldEnd         = "\nOriginals: context_grep, context_read, context_tail with ref "
)

// placeholderText returns the text of a placeholder, with the head that it has today.
func placeholderText(s *scrollback.Segment) string {
	ref := string(scrollback.HistoryRef(s.ID))
	if body, ok := strings.CutSuffix(s.Placeholder, oldEnd+ref); ok {
		if head, rest, _ := strings.Cut(body, "\n"); strings.HasSuffix(head, oldPlaceholder) {
			return strings.TrimSuffix(strings.TrimSuffix(head, " here.")+": "+ref+"\n"+rest, "\n")
		}
	}
	return s.Placeholder
}

// saidInPlaceholder lists the lines of a placeholder that are known.
func (k *knownLines) saidInPlaceholder(text string) (out []int) {
	for i, line := range strings.Split(text, "\n") {
		l, ok := ParseLine(line)
		if !ok {
			continue
		}
		if clauses := same.Clauses(l.Text); k.isKnown(l, clauses) {
			out = append(out, i)
		} else {
			k.addLine(clauses, l.Seq)
		}
	}
	return out
}

// heading returns what the text of a summary is, and of which messages.
func (s *Summary) heading(w *Words) string {
	if s.MinutesEnd == 0 {
		return fmt.Sprintf(w.Said, s.FirstSeq, s.LastSeq)
	}
	return fmt.Sprintf(w.Summary, s.FirstSeq, s.MinutesEnd)
}
