package compact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/standing"
)

// Bounds of what is carried word for word.
const (
	carryRunes = 400  // of one line
	filesShare = 0.34 // of the room, for the files that were touched
	pathRunes  = 200
	leastLine  = 5 // tokens; no line has fewer
)

// todo finds what remains to be done.
var todo = regexp.MustCompile(`(?i)^\s*([-*]\s*)?\[ \]|\btodo\b|待办`)

// notName finds the first character that the name of a tool cannot contain, and
// everything after it.
var notName = regexp.MustCompile(`(?s)[^\pL\pN_.:/-].*`)

// pathKeys are the names that tools give to arguments that are paths, in lower case and
// without underscores.
var pathKeys = []string{"path", "paths", "file", "files", "filepath", "filename", "absolutepath", "notebookpath", "targetfile", "relativepath"}

// The ranks of what is carried. Within a rank, the newest comes first.
const (
	rankStanding = iota // instructions and todos
	rankFile
	rankSaid
)

// carried is a line that is carried from summary to summary. Of lines with the same
// key, one is kept.
type carried struct {
	seq  int64
	rank int
	key  string
	text string
}

// carry writes the deterministic end of a summary: what the summary so far carried,
// standing instructions, open todos, files that tools touched, and the person's
// newest messages, in at most room tokens. The note follows the heading.
func (r *record) carry(note string, room int64) string {
	lines := append(carriedIn(r.previous), r.said()...)
	slices.SortStableFunc(lines, func(a, b carried) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.seq, a.seq))
	})
	title := "\n\n## " + r.form().said + note
	room -= int64(r.count(title))
	files := int64(filesShare * float64(room))
	var kept []carried
	seen := map[string]bool{}
	for _, l := range lines {
		if room < leastLine {
			break
		}
		n := int64(r.count("\n" + l.text))
		if seen[l.key] || n > room || l.rank == rankFile && n > files {
			continue
		}
		seen[l.key] = true
		if room -= n; l.rank == rankFile {
			files -= n
		}
		kept = append(kept, l)
	}
	if len(kept) == 0 {
		return ""
	}
	slices.SortStableFunc(kept, func(a, b carried) int { return cmp.Compare(a.seq, b.seq) })
	var b strings.Builder
	b.WriteString(title)
	for _, l := range kept {
		b.WriteString("\n" + l.text)
	}
	return b.String()
}

// said lists what may be carried of the run.
func (r *record) said() []carried {
	var out []carried
	ms := untold(slices.Concat(r.released, r.run), r.told)
	for i := range ms {
		m := &ms[i]
		text := m.Parts.Text()
		text = strings.ToValidUTF8(text[:min(len(text), maxExtract)], "")
		switch m.Role {
		case scrollback.RoleUser:
			found := false
			for _, s := range sentences(text) {
				if standing.Instruction(s) || todo.MatchString(s) {
					out, found = append(out, carriedLine(m, rankStanding, s)), true
				}
			}
			if whole := strings.Join(strings.Fields(text), " "); !found && whole != "" && !slices.Contains(r.pinned, m.Seq) {
				out = append(out, carriedLine(m, rankSaid, whole))
			}
		case scrollback.RoleAssistant:
			for _, s := range sentences(text) {
				if todo.MatchString(s) {
					out = append(out, carriedLine(m, rankStanding, s))
				}
			}
			for _, c := range m.Parts.Calls() {
				tool := notName.ReplaceAllString(c.Name, "") // a model, or a bundle, may name anything
				for _, p := range paths(c) {
					out = append(out, carried{m.Seq, rankFile, "file " + p, fmt.Sprintf("- #%d file: %s (%s)", m.Seq, p, tool)})
				}
			}
		}
	}
	return out
}

// paths lists the arguments of a call whose names say that they are paths.
func paths(c scrollback.ToolCall) []string {
	var arguments map[string]any
	if c.Recall() || json.Unmarshal(c.Arguments, &arguments) != nil {
		return nil
	}
	var out []string
	add := func(v any) {
		s, ok := v.(string)
		if s = strings.TrimSpace(s); ok && s != "" && len([]rune(s)) <= pathRunes && !strings.ContainsAny(s, "\n\r") {
			out = append(out, s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if !slices.Contains(pathKeys, strings.ToLower(strings.ReplaceAll(name, "_", ""))) {
			continue
		}
		switch v := arguments[name].(type) {
		case string:
			add(v)
		case []any:
			for _, one := range v {
				add(one)
			}
		}
	}
	return out
}

func carriedLine(m *scrollback.Message, rank int, text string) carried {
	if runes := []rune(text); len(runes) > carryRunes {
		text = string(runes[:carryRunes]) + "…"
	}
	text = fmt.Sprintf("- #%d %s: %s", m.Seq, m.Role, text)
	return carried{m.Seq, rank, text, text}
}

// endNote follows the heading of the carried lines where the minutes are older than they are.
const endNote = "\n(The minutes above end at #%d.)"

// keep returns the summary for when no model wrote one: the minutes so far, then a note
// of where they end and what is carried, in at most bound tokens. Minutes that leave no
// room are dropped. It is empty if there is nothing to carry.
func (r *record) keep(bound int64) string {
	minutes, _ := parted(r.previous)
	note := ""
	if minutes != "" {
		note = fmt.Sprintf(endNote, minutesEnd(r.previous, r.previousEnd))
	}
	room := min(bound-int64(r.count(minutes)), r.maxTokens)
	if room < int64(r.policy.SaidShare*float64(bound)) {
		minutes, note, room = "", "", r.maxTokens
	}
	block := r.carry(note, room)
	if block == "" {
		return ""
	}
	return strings.TrimLeft(minutes+block, "\n")
}

// minutesEnd returns the seq of the last message that the minutes of a summary cover,
// where the summary itself ends at last; 0 if it has no minutes.
func minutesEnd(summary string, last int64) int64 {
	minutes, block := parted(summary)
	if minutes == "" {
		return 0
	}
	var end int64
	if _, err := fmt.Sscanf("\n"+block, endNote, &end); err != nil {
		return last
	}
	return end
}

// parted splits a summary into its minutes and what is carried after them. A model's
// minutes never contain the heading between the two.
func parted(summary string) (minutes, block string) {
	for _, mark := range saidMarks() {
		if before, after, found := strings.Cut("\n"+summary, mark); found {
			return strings.Trim(before, "\n"), after
		}
	}
	return strings.Trim(summary, "\n"), ""
}

// carriedIn reads back what a summary of any form carries.
func carriedIn(summary string) []carried {
	_, block := parted(summary)
	var out []carried
	for line := range strings.SplitSeq(block, "\n") {
		c := carried{rank: rankSaid, key: line, text: line}
		if _, err := fmt.Sscanf(line, "- #%d ", &c.seq); err != nil {
			continue
		}
		_, said, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, fmt.Sprintf("- #%d file: ", c.seq)):
			path := said
			if i := strings.LastIndex(said, " ("); i > 0 {
				path = said[:i]
			}
			c.rank, c.key = rankFile, "file "+path
		case standing.Instruction(line), todo.MatchString(said):
			c.rank = rankStanding
		}
		out = append(out, c)
	}
	return out
}
