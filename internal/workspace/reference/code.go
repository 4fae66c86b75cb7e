package reference

import "strings"

// span is text[from:to].
type span struct{ from, to int }

// findCode finds what Markdown shows as it is written: fenced blocks, and text between equal
// runs of backticks within a paragraph.
func findCode(text string) []span {
	var out []span
	// of the paragraph, of the line
	from := 0
	at := 0
	inline := func(to int) { out = append(out, findTicked(text, from, to)...) }
	for at < len(text) {
		end := lineEndAt(text, at)
		line := text[at:end]
		if run := fenceRun(line); run != "" {
			inline(at)
			end = fenceEnd(text, end, run)
			out = append(out, span{at, end})
			from = end
		} else if strings.TrimSpace(line) == "" {
			inline(at)
			from = end
		}
		at = end
	}
	inline(len(text))
	return out
}

// lineEndAt returns the place behind the line at i, with its line break.
func lineEndAt(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// fenceRun returns the run of three or more backticks or tildes that opens a block in a line.
func fenceRun(line string) string {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || rest == "" {
		return ""
	}
	run := rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
	if len(run) < 3 || run[0] != '`' && run[0] != '~' || run[0] == '`' && strings.Contains(rest[len(run):], "`") {
		return ""
	}
	return run
}

// fenceEnd returns the place behind the line that closes a block, or the end of the text.
func fenceEnd(text string, at int, run string) int {
	for at < len(text) {
		end := lineEndAt(text, at)
		close := fenceRun(text[at:end])
		if strings.HasPrefix(close, run) && strings.TrimSpace(strings.TrimLeft(text[at:end], " "+run[:1])) == "" {
			return end
		}
		at = end
	}
	return len(text)
}

// findTicked finds the code between backticks in text[from:to].
func findTicked(text string, from, to int) []span {
	var runs []span
	for i := from; i < to; {
		if text[i] != '`' {
			i++
			continue
		}
		end := i
		for end < to && text[end] == '`' {
			end++
		}
		runs = append(runs, span{i, end})
		i = end
	}
	// The next run of the same length, of each.
	next := make([]int, len(runs))
	seen := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		n := runs[i].to - runs[i].from
		next[i] = -1
		if k, ok := seen[n]; ok {
			next[i] = k
		}
		seen[n] = i
	}
	var out []span
	for i := 0; i < len(runs); i++ {
		if next[i] >= 0 {
			out = append(out, span{runs[i].from, runs[next[i]].to})
			i = next[i]
		}
	}
	return out
}
