package window_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// block returns the text of the folded block of a window.
func block(in window.Input) string {
	for _, it := range window.Assemble(in).Items {
		if it.Kind == scrollback.KindFolded {
			return it.Parts.Text()
		}
	}
	return ""
}

func segment(id string, first, last int64, lines ...string) scrollback.Segment {
	ref := scrollback.HistoryRef(scrollback.SegmentID(id))
	head := window.FindWords("").PlaceholderHead(first, last, "2026-01-05", ref)
	s := scrollback.Segment{ID: scrollback.SegmentID(id), FirstSeq: first, LastSeq: last,
		Placeholder: strings.Join(append([]string{head}, lines...), "\n")}
	s.TokensAfter = int64(token.Count(s.Placeholder))
	return s
}

func summaryOf(last int64, text string) *window.Summary {
	s := &window.Summary{Text: text, MinutesEnd: last,
		ViewSummary: scrollback.ViewSummary{Segment: "aa", FirstSeq: 1, LastSeq: last,
			Tokens: int64(token.Count(text))}}
	if strings.HasPrefix(text, "## Said") {
		s.MinutesEnd = 0
	}
	return s
}

// The frame is never heavier than it is said to be, whatever it is around.
func TestFrameWeighs(t *testing.T) {
	for _, n := range []int{1, 2, 8, 9} {
		for _, sum := range []*window.Summary{nil, summaryOf(987654,
			"## Goal\n- ship the boat\n\n## Said, word for word\n- #3 user: always sign as Ada")} {
			in := window.Input{Summary: sum}
			var parts int64
			for i := range n {
				s := segment(fmt.Sprintf("01923456-789a-7bcd-8123-45678%07x", i), int64(100_000*i+1), int64(100_000*(i+1)),
					fmt.Sprintf("- #%d user: the tide table lies under bollard %d。", 100_000*i+7, i), "Tools: read_file (a.go)")
				in.Segments = append(in.Segments, s)
				parts += s.TokensAfter
			}
			if sum != nil {
				parts += sum.Tokens
			}
			got := window.Assemble(in).Items[0]
			if real := int64(token.Count(got.Parts.Text())); real > got.Weight.Tokens || real-parts > window.FoldTokens ||
				got.Weight.Tokens-real > 40 {
				t.Errorf("%d placeholders: %d tokens, said to be %d", n, real, got.Weight.Tokens)
			}
		}
	}
}

// What the summary says is not said in a placeholder again, nor what an earlier
// placeholder or a carried message says; what differs in a fact is. Without the summary
// the lines are back.
func TestNothingIsSaidTwice(t *testing.T) {
	in := window.Input{Segments: []scrollback.Segment{
		segment("a1", 1, 9, "- #1 user: Always sign as Ada.", "- #3 user: The port is 8080.",
			"- #5 assistant: The pier opens at nine."),
		segment("b2", 10, 19, "- #12 user: The port is 8081.", "- #14 assistant: the pier opens at nine",
			"- #16 user: What about the tide?",
			"- #18 user: A very long question about the tide table that was cut sh…"),
	}, Summary: summaryOf(19, "## Goal\n- The person said: sign as Ada, always.\n\n## Said, word for word\n"+
		"- #7 user (2×): Please always sign as Ada!\n- #3 user: Hello. The port is 8080. Is it open?\n"+
		"- #18 user: A very long question about the tide table that was cut short there, but not here."),
		Carried: []scrollback.Message{{Seq: 16, Role: scrollback.RoleUser,
			Parts: scrollback.Parts{text("So. What about the tide? Tell me.")}}}}
	got := block(in)
	for line, want := range map[string]int{"sign as Ada!": 1, "#1 user: Always sign": 0, "The port is 8080": 1,
		"The port is 8081": 1,
		"opens at nine":    1,
		"about the tide?":  0, "A very long question": 1, "Summary of messages #1–#19": 1} {
		if strings.Count(got, line) != want {
			t.Errorf("%q is said %d times in\n%s", line, strings.Count(got, line), got)
		}
	}
	in.Summary = nil
	in.Carried = nil
	got = block(in)
	for _, line := range []string{"#1 user: Always sign", "about the tide?", "A very long question", "#3 user: The port"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is gone with the summary:\n%s", line, got)
		}
	}
}

// A carried line that the minutes have word for word is not shown after them, nor a
// heading that nothing follows; files are where the tools that touched them are.
func TestCarriedLinesOnce(t *testing.T) {
	minutes := "## Constraints\n- Always answer in French (#1)\n## Tasks\n- translate the manual: done"
	in := window.Input{Segments: []scrollback.Segment{segment("a1", 1, 9,
		"Tools: edit ×2 (`b, c.go`), read_file (a.go, docs/x.md) · wrote: z.go")},
		Summary: summaryOf(9, minutes+
			"\n\n## Said, word for word\n- #1 user: Always answer in French.\n- #2 file: a.go (read_file)\n"+
			"- #4 file: b, c.go (edit)\n- #5 file: z.go (edit)")}
	if got := block(in); strings.Contains(got, "#1 user") || strings.Contains(got, "file:") ||
		strings.Contains(got, "word for word") ||
		!strings.Contains(got, minutes+"\n\nMessages") {
		t.Errorf("the block is\n%s", got)
	}
	in.Summary = summaryOf(9, minutes+
		"\n\n## Said, word for word\n- #2 file: docs/x.md (read_file)\n- #3 file: x.md (edit)\n"+
		"- #4 user: - [ ] translate the manual")
	got := block(in)
	for line, want := range map[string]bool{"docs/x.md (read_file)": false, "#3 file: x.md (edit)": true,
		"- [ ] translate": true} {
		if strings.Contains(got, line) != want {
			t.Errorf("%q is shown: %v, in\n%s", line, !want, got)
		}
	}
	in.Summary = summaryOf(9, minutes+"\n\n## Said, word for word\n- #2 file: \n- #4 user: What is the tide?")
	if got := block(in); !strings.Contains(got, "- #4 user: What is the tide?") {
		t.Errorf("with a file without a name the block is\n%s", got)
	}
	in.Summary = summaryOf(9, "## Said, word for word\n- #4 user: What is the tide?")
	if got := block(in); !strings.Contains(got, "\nSaid in messages #1–#9, word for word:\n- #4 user") ||
		strings.Contains(got, "Summary of") {
		t.Errorf("without minutes the block is\n%s", got)
	}
}

// Placeholders of before, with a line on how to read the original, are shown as those of
// today.
func TestOldPlaceholder(t *testing.T) {
	old := scrollback.Segment{ID: "a1", FirstSeq: 1, LastSeq: 4,
		Placeholder: "Messages #1–#4 (2026-01-05) are folded here.\n- #1 user: Always sign as Ada.\n" +
			"Originals: context_grep, context_read, context_tail with ref history:a1"}
	if got := block(window.Input{Segments: []scrollback.Segment{old}}); strings.Contains(got, "Originals") ||
		!strings.Contains(got, "\nMessages #1–#4 (2026-01-05) are folded: history:a1\n- #1 user: Always sign as Ada.\n") {
		t.Errorf("the block is\n%s", got)
	}
}

func TestLine(t *testing.T) {
	for _, s := range []string{"- #12 user: (3×): a", "- #12 user (3×): a: b", "- #9 file: docs/plan (old).md (edit)",
		"- #1 assistant: "} {
		if l, ok := window.ParseLine(s); !ok || l.String() != s {
			t.Errorf("%q is read as %+v", s, l)
		}
	}
	for _, s := range []string{"", "- #x user: a", "#12 user: a", "- #12 user a", "- #12 user (0x): a", "Tools: a"} {
		if l, ok := window.ParseLine(s); ok {
			t.Errorf("%q is read as %+v", s, l)
		}
	}
	if l, _ := window.ParseLine("- #9 file: docs/plan (old).md (edit)"); l.Path() != "docs/plan (old).md" {
		t.Errorf("path %q", l.Path())
	}
}

// What ParseLine reads is what an expression finds.
func TestParseLineAsPlain(t *testing.T) {
	form := regexp.MustCompile(`^- #(\d{1,18}) (\w+)(?: \((\d{1,9})×\))?: (.*)$`)
	pieces := strings.Split("- #|- |#|12|0|123456789|1234567890123456789| |user|assistant_2|用户| (|(|×|×)|): |: |:|\n|file|text|…|\xff", "|")
	r := rand.New(rand.NewPCG(5, 6))
	read := 0
	for range 20_000 {
		line := "- #12 user"
		if r.IntN(3) == 0 {
			line = ""
		}
		for range r.IntN(8) {
			line += pieces[r.IntN(len(pieces))]
		}
		if r.IntN(3) == 0 {
			line = fmt.Sprintf("- #%d user (%d×): %s", r.Int64()>>r.IntN(63), r.Int64()>>r.IntN(63), line)
		}
		var want window.Line
		m := form.FindStringSubmatch(line)
		if m != nil {
			seq, _ := strconv.ParseInt(m[1], 10, 64)
			count, _ := strconv.Atoi(m[3])
			want = window.Line{Seq: seq, By: m[2], Count: max(count, 1), Text: m[4]}
			read++
		}
		if got, ok := window.ParseLine(line); ok != (m != nil) || got != want {
			t.Fatalf("%q is read as %+v, %v; want %+v", line, got, ok, want)
		}
	}
	if read < 1000 {
		t.Errorf("only %d lines were read", read)
	}
}
