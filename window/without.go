package window

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// withoutLeftOut returns the input without the messages that are left out, and an entry for each
// of them.
func (in Input) withoutLeftOut() (Input, []scrollback.Excluded) {
	if len(in.Without) == 0 {
		return in, nil
	}
	in = in.WithoutLines()
	in.Live = withoutSeqs(in.Live, in.Without)
	var out []scrollback.Excluded
	for _, seq := range in.Without {
		e := scrollback.Excluded{FirstSeq: seq, LastSeq: seq, Reason: scrollback.ExcludedLeftOut}
		for i := range in.Segments {
			if s := &in.Segments[i]; s.FirstSeq <= seq && seq <= s.LastSeq {
				e.Ref = new(scrollback.HistoryRef(s.ID))
			}
		}
		out = append(out, e)
	}
	return in, out
}

// WithoutLines returns the input with nothing in it, besides the live messages, that says what the
// messages that are left out say: without them among the carried and the pinned ones, and
// without their lines in the summary and in placeholders. Where a placeholder covers one of
// them, its line on what tools did goes too, because it is the sum of all. A summary in a
// model's words that tells of them is up to the caller, who knows when it was written.
func (in Input) WithoutLines() Input {
	if len(in.Without) == 0 {
		return in
	}
	in.Said = nil
	in.Carried = withoutSeqs(in.Carried, in.Without)
	in.Pinned = withoutSeqs(in.Pinned, in.Without)
	in.Segments = slices.Clone(in.Segments)
	for i := range in.Segments {
		s := &in.Segments[i]
		at, _ := slices.BinarySearch(in.Without, s.FirstSeq)
		covers := at < len(in.Without) && in.Without[at] <= s.LastSeq
		s.Placeholder = removeLines(s.Placeholder, in.Without, covers)
	}
	if in.Summary == nil {
		return in
	}
	s := *in.Summary
	s.Text = removeLines(s.Text, in.Without, false)
	in.Summary = &s
	if s.MinutesEnd == 0 && !strings.Contains(strings.TrimSpace(s.Text), "\n") { // only its heading
		in.Summary = nil
	}
	return in
}

func withoutSeqs(ms []scrollback.Message, seqs []int64) []scrollback.Message {
	out := ms[:0:0]
	for _, m := range ms {
		if _, left := slices.BinarySearch(seqs, m.Seq); !left {
			out = append(out, m)
		}
	}
	return out
}

// removeLines returns a text without the lines that some messages said, and if work is set
// without those on what tools did.
func removeLines(text string, seqs []int64, work bool) string {
	var out []string
	removed := false
	for line := range strings.SplitSeq(text, "\n") {
		l, ok := ParseLine(line)
		_, left := slices.BinarySearch(seqs, l.Seq)
		if ok && left || work && strings.HasPrefix(line, WorkMark) {
			removed = true
			continue
		}
		out = append(out, line)
	}
	for n := len(out); removed && n > 1 && (out[n-1] == "" || strings.HasPrefix(out[n-1], "#")); n = len(out) {
		out = out[:n-1] // a heading that nothing follows any more
	}
	return strings.Join(out, "\n")
}
