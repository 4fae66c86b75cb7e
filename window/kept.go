package window

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// withKept returns the input as people want it who have said something about kept sentences since the
// last fold, or before: without the lines of those that they dropped or ticked off, and with those
// that they keep and that nothing shows. After a fold that knows of it, nothing changes.
func (in Input) withKept() Input {
	state := map[scrollback.KeptID]scrollback.Kept{}
	var order []scrollback.KeptID
	for _, k := range in.Kept {
		if _, known := state[k.ID]; !known {
			order = append(order, k.ID)
		}
		state[k.ID] = k
	}
	if len(order) == 0 || len(in.Segments) == 0 {
		return in
	}
	in.Said = nil
	var gone, add []scrollback.Kept
	for _, id := range order {
		if k := state[id]; k.State == scrollback.KeptOpen {
			add = append(add, k)
		} else {
			gone = append(gone, k)
		}
	}
	in.Segments = slices.Clone(in.Segments)
	for i := range in.Segments {
		in.Segments[i].Placeholder = removeKept(in.Segments[i].Placeholder, gone)
	}
	if in.Summary != nil {
		s := *in.Summary
		s.Text = removeKept(s.Text, gone)
		in.Summary = &s
		if s.MinutesEnd == 0 && !strings.Contains(strings.TrimSpace(s.Text), "\n") { // only its heading
			in.Summary = nil
		}
	}
	for _, k := range add {
		in.addKept(k)
	}
	return in
}

// IsCorrected reports whether what people said about kept sentences changes the window.
func (in Input) IsCorrected() bool {
	now := in.withKept()
	if (now.Summary == nil) != (in.Summary == nil) || now.Summary != nil && now.Summary.Text != in.Summary.Text {
		return true
	}
	for i := range in.Segments {
		if now.Segments[i].Placeholder != in.Segments[i].Placeholder {
			return true
		}
	}
	return false
}

// removeKept returns a text without the lines of kept sentences. A label or heading that nothing
// follows any more goes with them.
func removeKept(text string, gone []scrollback.Kept) string {
	var out []string
	removed := false
	for line := range strings.SplitSeq(text, "\n") {
		l, ok := ParseLine(line)
		if ok && slices.ContainsFunc(gone, func(k scrollback.Kept) bool { return l.says(k) }) {
			removed = true
			continue
		}
		if removed && isLabel(line) && len(out) > 0 && isLabel(out[len(out)-1]) {
			out = out[:len(out)-1]
		}
		out = append(out, line)
	}
	if !removed {
		return text
	}
	for n := len(out); n > 1 && (out[n-1] == "" || strings.HasPrefix(out[n-1], "#") || isLabel(out[n-1])); n = len(out) {
		out = out[:n-1]
	}
	return strings.Join(out, "\n")
}

// says reports whether a line is a kept sentence, perhaps cut short, or said again elsewhere.
func (l Line) says(k scrollback.Kept) bool {
	return l.Text == k.Text || l.Seq == k.Seq && strings.HasSuffix(l.Text, "…") &&
		strings.HasPrefix(k.Text, strings.TrimSuffix(l.Text, "…"))
}

// isLabel reports whether a line is the label of kept lines in some language.
func isLabel(line string) bool {
	return line != "" && slices.ContainsFunc(ListWords(), func(w *Words) bool {
		return line == w.Todos || line == w.Traits || line == w.Instructions || line == w.Files || line == w.Latest
	})
}

// addKept adds a sentence to what is said word for word, unless it is in sight.
func (in *Input) addKept(k scrollback.Kept) {
	last := in.Segments[len(in.Segments)-1]
	if k.Seq > last.LastSeq || slices.Contains(in.Without, k.Seq) ||
		slices.ContainsFunc(slices.Concat(in.Carried, in.Pinned), func(m scrollback.Message) bool { return m.Seq == k.Seq }) {
		return
	}
	if in.Summary == nil {
		in.Summary = &Summary{ViewSummary: scrollback.ViewSummary{Segment: last.ID, FirstSeq: in.Segments[0].FirstSeq,
			LastSeq: last.LastSeq}}
	}
	s := *in.Summary
	for line := range strings.SplitSeq(s.Text, "\n") {
		if l, ok := ParseLine(line); ok && l.says(k) {
			return
		}
	}
	label := FindWords(in.Language).label(k.Kind)
	added := Line{Seq: k.Seq, By: string(k.Role), Count: 1, Text: k.Text}.String()
	lines := strings.Split(s.Text, "\n")
	if i := slices.Index(lines, label); i >= 0 {
		lines = slices.Insert(lines, i+1, added)
	} else {
		lines = append(lines, label, added)
	}
	s.Text = strings.TrimLeft(strings.Join(lines, "\n"), "\n")
	s.Tokens += int64(len(label) + len(added)) // a token has a byte at least
	in.Summary = &s
}

// label returns the label above the lines of a kind.
func (w *Words) label(kind scrollback.KeptKind) string {
	switch kind {
	case scrollback.KeptTodo:
		return w.Todos
	case scrollback.KeptTrait:
		return w.Traits
	case scrollback.KeptInstruction:
	}
	return w.Instructions
}
