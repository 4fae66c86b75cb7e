package thoughts_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
)

// brief returns parts in few words.
func brief(ps scrollback.Parts) string {
	var out []string
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.Reasoning:
			out = append(out, fmt.Sprintf("thinks %q", p.Text))
		case scrollback.Text:
			out = append(out, fmt.Sprintf("says %q", p.Text))
		}
	}
	return strings.Join(out, ", ")
}

// What stands between tags at the beginning is a thought, closed or not; anything else is said.
func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   ``,
		"hello":                              `says "hello"`,
		"<think>\nwhy?\n</think>\n\nbecause": `thinks "\nwhy?", says "because"`,
		"<thinking>why?</thinking>because":   `thinks "why?", says "because"`,
		" \n<thought>why?</thought> because": `thinks "why?", says "because"`,
		"<THINK>why?</Think>because":         `thinks "why?", says "because"`,
		"[THINK]why?[/THINK]because":         `thinks "why?", says "because"`,
		"<think>why? <b>x</b> </thin":        `thinks "why? <b>x</b> </thin"`,
		"<think>unclosed":                    `thinks "unclosed"`,
		"<think>\n\n</think>\n\nyes":         `thinks "", says "yes"`,
		"</think>\n\nyes":                    `thinks "", says "yes"`,
		"<think>a</think><think>b</think>c":  `thinks "a", thinks "b", says "c"`,
		"<think>only</think>\n":              `thinks "only"`,
		"<think>a</thinking>b</think>c":      `thinks "a</thinking>b", says "c"`,
		"<thin air":                          `says "<thin air"`,
		"<thi":                               `says "<thi"`,
		"Write <think>x</think> first.":      `says "Write <think>x</think> first."`,
		"`<think>` is a tag":                 "says \"`<think>` is a tag\"",
		"<thinks>no</thinks>":                `says "<thinks>no</thinks>"`,
		"\n\n":                               `says "\n\n"`,
	} {
		if got := brief(thoughts.Split(text)); got != want {
			t.Errorf("%q %s, want %s", text, got, want)
		}
	}
	if got := thoughts.Said("<think>x</think>\nyes"); got != "yes" {
		t.Errorf("said %q", got)
	}
}

// However a text comes in pieces, it is the same parts, and they join to the same bytes.
func TestPiecesJoin(t *testing.T) {
	piece := rapid.SampledFrom([]string{"<think>", "</think>", "<thinking>", "</thinking>", "<thought>", "</thought>", "<",
		"</", "thi", "nk>", " ", "\n", "a", "水", "[THINK]", "[/THINK]", "<b>", strings.Repeat(" ", 5000), "</THINK>", "\xff"})
	rapid.Check(t, func(r *rapid.T) {
		pieces := rapid.SliceOfN(piece, 0, 12).Draw(r, "pieces")
		text := strings.Join(pieces, "")
		var s thoughts.Splitter
		var got scrollback.Parts
		var thought, said string
		take := func(of []thoughts.Piece) {
			for _, p := range of {
				if thought += p.Thought; p.Payload != nil {
					got = append(got, scrollback.Reasoning{Text: thought, Opaque: p.Payload})
					thought = ""
				}
				if p.Text != "" && (p.Thought != "" || thought != "") || said != "" && p.Thought != "" {
					r.Fatalf("%q is said within a thought, or thought behind what is said", p.Text)
				}
				said += p.Text
			}
		}
		for _, p := range pieces {
			take(s.Add(p))
		}
		take(s.End())
		if said != "" {
			got = append(got, scrollback.Text{Text: said})
		}
		if thought != "" {
			r.Fatalf("%q has no payload", thought)
		}
		if len(text) < 4000 && brief(got) != brief(thoughts.Split(text)) {
			r.Fatalf("%q in pieces %s, whole %s", pieces, brief(got), brief(thoughts.Split(text)))
		}
		if back := thoughts.Join(got).Text(); back != text {
			r.Fatalf("%q comes back as %q", text, back)
		}
		if back := thoughts.Join(thoughts.Split(text)).Text(); back != text {
			r.Fatalf("%q comes back as %q", text, back)
		}
	})
}

// Thoughts that did not come in a text stay where they are; before a call stands a text of its own.
func TestJoin(t *testing.T) {
	plain := scrollback.Parts{scrollback.Reasoning{Text: "r", Opaque: scrollback.Opaque(`{"field":"reasoning"}`)},
		scrollback.Text{Text: "x"}}
	if got := thoughts.Join(plain); brief(got) != `thinks "r", says "x"` || &got[0] != &plain[0] {
		t.Errorf("joined to %s", brief(got))
	}
	called := append(thoughts.Split("<think>x</think>\n"), scrollback.ToolCall{ID: "c"}, scrollback.Text{Text: "y"})
	if got := thoughts.Join(called); brief(got) != `says "<think>x</think>\n", says "y"` || len(got.Calls()) != 1 {
		t.Errorf("joined to %s", brief(got))
	}
}
