package compact

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata")

const pictureMark = "== fold\n"

// Each case is a situation, followed by a picture of what is folded:
//
//	policy [name=POLICY] budget=N after=SHARE fixed=N [placeholders=N] [pinned=SEQ …] [forced] [more] [all]
//	carried #SEQ TOKENS
//	#SEQ ROLE TOKENS [BRANCH]: TEXT | call ID [NAME ARGUMENTS] | result ID [TEXT]
func TestCases(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d cases, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			story, want, _ := strings.Cut(string(b), pictureMark)
			got := picture(t, parseCase(t, story))
			if *update {
				if err := os.WriteFile(name, []byte(story+pictureMark+got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("the picture is\n%s\nnot\n%s", got, want)
			}
		})
	}
}

// situation is what a cut is chosen from.
type situation struct {
	Input
	fixed scrollback.Weight
}

func parseCase(t *testing.T, story string) situation {
	t.Helper()
	var s situation
	s.Policy = segments
	s.Window.Budget.Weight = scrollback.Weight{Bytes: 1 << 20, Images: 20}
	for line := range strings.SplitSeq(story, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || word == "--":
		case word == "policy":
			for set := range strings.FieldsSeq(rest) {
				name, value, _ := strings.Cut(set, "=")
				var err error
				switch name {
				case "budget":
					_, err = fmt.Sscan(value, &s.Window.Budget.Tokens)
					s.Window.Budget.Limit = s.Window.Budget.Tokens * 4 / 3
				case "after":
					_, err = fmt.Sscan(value, &s.Policy.AfterShare)
				case "fixed":
					_, err = fmt.Sscan(value, &s.fixed.Tokens)
					s.Window.Tools = []scrollback.Tool{{Name: "f"}}
					s.Window.ToolsWeight = s.fixed
				case "placeholders":
					_, err = fmt.Sscan(value, &s.Policy.PlaceholdersMax)
				case "name":
					s.Policy = named(t, value)
				case "pinned":
					var seq int64
					_, err = fmt.Sscan(value, &seq)
					s.PinnedSeqs = append(s.PinnedSeqs, seq)
				case "forced":
					s.Reason = Forced
				case "more":
					s.More = true
				case "all":
					s.Reason = Everything
				default:
					err = errors.New("unknown")
				}
				if err != nil {
					t.Fatalf("%s: %v", set, err)
				}
			}
		case word == "carried":
			s.Window.Carried = append(s.Window.Carried, parseMessage(t, rest+": carried"))
		default:
			s.Window.Live = append(s.Window.Live, parseMessage(t, line))
		}
	}
	return s
}

func parseMessage(t *testing.T, line string) scrollback.Message {
	t.Helper()
	head, text, _ := strings.Cut(line, ": ")
	f := append(strings.Fields(head), "b0")
	m := scrollback.Message{ConversationID: "c", Status: scrollback.StatusComplete, Branch: scrollback.BranchID(f[3]),
		Role: scrollback.Role(f[1])}
	_, err := fmt.Sscanf(f[0]+" "+f[2], "#%d %d", &m.Seq, &m.Weight.Tokens)
	if err != nil {
		t.Fatalf("%q is not a message: %v", line, err)
	}
	m.CreatedAt = 1_700_000_000_000 + m.Seq*36_000_000
	m.ID = scrollback.MessageID(fmt.Sprint("m", m.Seq))
	for piece := range strings.SplitSeq(text, " | ") {
		word, rest, _ := strings.Cut(piece, " ")
		id, rest, _ := strings.Cut(rest, " ")
		switch word {
		case "call":
			name, arguments, _ := strings.Cut(cmp.Or(rest, "f {}"), " ")
			m.Parts = append(m.Parts, scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)})
		case "result":
			m.Parts = append(m.Parts, scrollback.ToolResult{CallID: id, Name: "f",
				Text: strings.ReplaceAll(cmp.Or(rest, "ok"), `\n`, "\n")})
		default:
			m.Parts = append(m.Parts, scrollback.Text{Text: piece})
		}
	}
	return m
}

// shelf keeps the segments that jobs make, as the store does for the engine.
type shelf struct {
	ids   int
	known map[scrollback.SegmentID]scrollback.Segment
	order []scrollback.SegmentID
}

func newShelf() *shelf { return &shelf{known: map[scrollback.SegmentID]scrollback.Segment{}} }

func (s *shelf) put(segs []scrollback.Segment) {
	for _, g := range segs {
		s.known[g.ID] = g
		s.order = append(s.order, g.ID)
	}
}

// segments is the policy that needs no model.
var segments = func() Policy {
	p, err := FindPolicy(Segments, false)
	if err != nil {
		panic(err)
	}
	return p
}()

func named(t *testing.T, name string, numbers ...map[string]float64) Policy {
	t.Helper()
	p, err := FindPolicy(name, true, numbers...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// job returns a fold of live messages, with a token every four bytes.
func (s *shelf) job(live []scrollback.Message, c foldCut, budget int64) *foldJob {
	in := &Input{Now: 9, Renderer: 1,
		NewID: func() string { s.ids++; return fmt.Sprintf("%04x", s.ids) },
		Count: func(t string) int { return (len(t) + 3) / 4 },
		Measure: func(g scrollback.Segment, ms []scrollback.Message) (int64, string, error) {
			if len(ms) == 0 || len(g.Children) > 0 {
				return 0, "", fmt.Errorf("leaf %s is measured with %d messages", g.ID, len(ms))
			}
			return int64(1000 * len(ms)), "sum", nil
		},
		MeasureTable: func(g scrollback.Segment, children []scrollback.Segment) (int64, string, error) {
			if len(children) == 0 || len(children) != len(g.Children) {
				return 0, "", fmt.Errorf("roll-up %s is measured with %d of %d children", g.ID, len(children), len(g.Children))
			}
			return int64(len(children)), "sum", nil
		},
		Load: func(ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
			out := make([]scrollback.Segment, len(ids))
			for i, id := range ids {
				g, ok := s.known[id]
				if !ok {
					return nil, scrollback.Errorf(scrollback.NotFound, "test", "no segment %s", id)
				}
				out[i] = g
			}
			return out, nil
		}}
	in.Policy = segments
	in.Window.Live = live
	in.Window.Budget.Tokens = budget
	return &foldJob{Input: in, cut: c}
}

func picture(t *testing.T, s situation) string {
	t.Helper()
	cut, ok := planCut(&s.Input, s.fixed)
	if !ok {
		return "noop\n"
	}
	j := newShelf().job(s.Window.Live, cut, s.Window.Budget.Tokens)
	j.Window = s.Window
	j.Policy = s.Policy
	j.PinnedSeqs = s.PinnedSeqs
	j.Reason = s.Reason
	j.More = s.More
	for _, m := range s.Window.Carried {
		j.Branch.View.Carried = append(j.Branch.View.Carried, m.Seq)
	}
	room, err := j.settleCut(&windowWeights{window: window.Assemble(j.Window), fixed: s.fixed})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "fold %d, keep %d", j.cut.messages, len(s.Window.Live)-j.cut.messages)
	if j.cut.carry != 0 {
		fmt.Fprintf(&b, ", carry #%d", j.cut.carry)
	}
	if j.hasSummary() {
		fmt.Fprintf(&b, "; a summary of up to %d tokens", room)
	}
	f, err := j.buildFold()
	if err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	for _, g := range f.segments {
		kind := "leaf"
		if !slices.ContainsFunc(f.leaves, func(l scrollback.Segment) bool { return l.ID == g.ID }) {
			kind = fmt.Sprintf("roll-up %v", g.Children)
		}
		fmt.Fprintf(&b, "%s %s #%d-#%d on %s: %d messages, %d tokens\n", kind, g.ID, g.FirstSeq, g.LastSeq, g.Branch,
			g.Messages, g.TokensBefore)
		b.WriteString("    " + strings.ReplaceAll(g.Placeholder, "\n", "\n    ") + "\n")
	}
	fmt.Fprintf(&b, "view up to #%d hides %d tokens, carries %v, shows", f.view.Boundary, f.view.Sum.Tokens,
		f.view.Carried)
	for _, v := range f.view.Segments {
		fmt.Fprintf(&b, " %s", v.ID)
	}
	return b.String() + "\n"
}
