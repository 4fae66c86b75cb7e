package summary

import (
	"strings"
	"unicode/utf8"
)

// Trim shortens a summary in canonical form, of any of the forms, to at most bound tokens, and
// returns it as it is if it has no more. Each section keeps its first lines, or its last ones where
// those are the newest, up to an equal share of the room; what a section does not need goes to
// the others. The heading of each section stays. Trim returns "" if the headings alone have more tokens.
func Trim(text string, count func(string) int, bound int64) string {
	if int64(count(text)) <= bound {
		return text
	}
	sections := splitSections(text)
	for i := range sections {
		sections[i].weigh(count)
	}
	for room := bound; room > 0; {
		trimmed := joinSections(sections, shareRoom(sections, room), count)
		over := int64(count(trimmed)) - bound
		if over <= 0 {
			return trimmed
		}
		room -= max(over, bound/16) // together, lines may have more tokens than one by one
	}
	return ""
}

// section is a part of a summary: its heading, and the lines under it.
type section struct {
	heading string
	lines   []string
	newest  bool // the last lines are worth more than the first

	head, need int64   // tokens of the heading, and of the lines
	tokens     []int64 // of each line
}

func (s *section) weigh(count func(string) int) {
	s.head = int64(count(s.heading + "\n"))
	for _, line := range s.lines {
		n := int64(count(line + "\n"))
		s.tokens = append(s.tokens, n)
		s.need += n
	}
}

// splitSections takes a summary in canonical form apart. Lines within a block of code belong to
// the line before it.
func splitSections(text string) (out []section) {
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		last := len(out) - 1
		mark := fenceLine().MatchString(line)
		switch {
		case !fenced && strings.HasPrefix(line, "## "):
			out = append(out, section{heading: line, newest: line == "## "+recentActions})
			continue
		case last < 0:
			out = append(out, section{})
			last = 0
		}
		if s := &out[last]; (fenced || mark) && len(s.lines) > 0 {
			s.lines[len(s.lines)-1] += "\n" + line
		} else {
			s.lines = append(s.lines, line)
		}
		fenced = fenced != mark
	}
	return out
}

// shareRoom returns how many tokens the lines of each section may have, so that all of them
// together with the headings have at most room.
func shareRoom(sections []section, room int64) []int64 {
	shares := make([]int64, len(sections))
	var open []int // sections that need more than an equal share, as far as that is known
	for i, s := range sections {
		room -= s.head
		open = append(open, i)
	}
	for {
		share := max(room, 0) / int64(max(len(open), 1))
		var more []int
		for _, i := range open {
			if shares[i] = share; sections[i].need > share {
				more = append(more, i)
				continue
			}
			shares[i] = sections[i].need
			room -= shares[i]
		}
		if len(more) == len(open) {
			return shares
		}
		open = more
	}
}

// joinSections writes sections with as many of their lines as their shares take.
func joinSections(sections []section, shares []int64, count func(string) int) string {
	var out []string
	for i, s := range sections {
		if s.heading != "" {
			out = append(out, s.heading)
		}
		out = append(out, s.fitLines(count, shares[i])...)
	}
	return strings.Join(out, "\n")
}

// fitLines returns the lines that have at most room tokens together. Of a first line that is too
// long by itself the beginning stays.
func (s *section) fitLines(count func(string) int, room int64) (kept []string) {
	begin := 0
	end := 0
	left := room
	if s.newest {
		begin = len(s.lines)
		end = begin
		for ; begin > 0 && s.tokens[begin-1] <= left; begin-- {
			left -= s.tokens[begin-1]
		}
		for begin < end && strings.HasPrefix(s.lines[begin], " ") { // within a line that is left out
			begin++
		}
	} else {
		for ; end < len(s.lines) && s.tokens[end] <= left; end++ {
			left -= s.tokens[end]
		}
	}
	if kept = s.lines[begin:end]; len(kept) > 0 || len(s.lines) == 0 {
		return kept
	}
	first := s.lines[0]
	if s.newest {
		first = strings.TrimLeft(s.lines[len(s.lines)-1], " ")
	}
	first, _, _ = strings.Cut(first, "\n")
	tokens := int64(count(first + "\n"))
	if tokens <= room {
		return []string{first}
	}
	if most := int64(utf8.RuneCountInString(first)) * room / max(tokens, 1); most >= leastClipped {
		return []string{strings.TrimRight(string([]rune(first)[:most-1]), " ") + "…"}
	}
	return nil
}

// leastClipped is how many characters the beginning of a line has at least to be worth keeping.
const leastClipped = 16
