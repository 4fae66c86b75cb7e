package compact_test

import (
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
	"github.com/scrollback-ai/scrollback/compact"
)

var update = flag.Bool("update", false, "write the pictures of testdata anew")

const pictureMark = "== fold\n"

// Each case is a situation and below it the picture of what is folded:
//
//	policy [name=POLICY] budget=N after=SHARE fixed=N [pinned=SEQ …] [forced] [more] [all]
//	carried #SEQ TOKENS
//	#SEQ ROLE TOKENS [BRANCH]: TEXT | call ID | result ID
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

func parseCase(t *testing.T, story string) compact.Situation {
	t.Helper()
	s := compact.Situation{Policy: segments, Budget: scrollback.Budget{Weight: scrollback.Weight{Bytes: 1 << 20, Images: 20}}}
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
					_, err = fmt.Sscan(value, &s.Budget.Tokens)
				case "after":
					_, err = fmt.Sscan(value, &s.Policy.AfterShare)
				case "fixed":
					_, err = fmt.Sscan(value, &s.Fixed.Tokens)
				case "name":
					s.Policy = named(t, value)
				case "pinned":
					var seq int64
					_, err = fmt.Sscan(value, &seq)
					s.Pinned = append(s.Pinned, seq)
				case "forced":
					s.Forced = true
				case "more":
					s.More = true
				case "all":
					s.All = true
				default:
					err = errors.New("unknown")
				}
				if err != nil {
					t.Fatalf("%s: %v", set, err)
				}
			}
		case word == "carried":
			s.Carried = append(s.Carried, parseMessage(t, rest+": carried"))
		default:
			s.Live = append(s.Live, parseMessage(t, line))
		}
	}
	return s
}

func parseMessage(t *testing.T, line string) scrollback.Message {
	t.Helper()
	head, text, _ := strings.Cut(line, ": ")
	f := append(strings.Fields(head), "b0")
	m := scrollback.Message{ConversationID: "c", Status: scrollback.StatusComplete, Branch: scrollback.BranchID(f[3]), Role: scrollback.Role(f[1])}
	_, err := fmt.Sscanf(f[0]+" "+f[2], "#%d %d", &m.Seq, &m.Weight.Tokens)
	if err != nil {
		t.Fatalf("%q is no message: %v", line, err)
	}
	m.CreatedAt = 1_700_000_000_000 + m.Seq*36_000_000
	m.ID = scrollback.MessageID(fmt.Sprint("m", m.Seq))
	for piece := range strings.SplitSeq(text, " | ") {
		word, id, _ := strings.Cut(piece, " ")
		switch word {
		case "call":
			m.Parts = append(m.Parts, scrollback.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(`{}`)})
		case "result":
			m.Parts = append(m.Parts, scrollback.ToolResult{CallID: id, Name: "f", Text: "ok"})
		default:
			m.Parts = append(m.Parts, scrollback.Text{Text: piece})
		}
	}
	return m
}

// shelf is where a job's segments go: what the store is to the engine.
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
var segments = func() compact.Policy {
	p, err := compact.Named(compact.Segments, false)
	if err != nil {
		panic(err)
	}
	return p
}()

func named(t *testing.T, name string, numbers ...map[string]float64) compact.Policy {
	t.Helper()
	p, err := compact.Named(name, true, numbers...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// job is a fold of the live messages of a situation, with a token every four bytes.
func (s *shelf) job(live []scrollback.Message, cut compact.Cut, budget int64) compact.Job {
	return compact.Job{Live: live, Cut: cut, Policy: segments, BudgetTokens: budget, Now: 9, Renderer: 1,
		NewID: func() string { s.ids++; return fmt.Sprintf("%04x", s.ids) },
		Count: func(t string) int { return (len(t) + 3) / 4 },
		Measure: func(g scrollback.Segment, ms []scrollback.Message, children []scrollback.Segment) (int64, string, error) {
			if (len(ms) == 0) == (len(children) == 0) || len(children) != len(g.Children) {
				return 0, "", fmt.Errorf("segment %s is measured by %d messages and %d children", g.ID, len(ms), len(children))
			}
			return int64(1000*len(ms) + len(children)), "sum", nil
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
}

func picture(t *testing.T, s compact.Situation) string {
	t.Helper()
	cut, ok := compact.Plan(s)
	if !ok {
		return "noop\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "fold %d, keep %d", cut.Messages, len(s.Live)-cut.Messages)
	if cut.Carry != 0 {
		fmt.Fprintf(&b, ", carry #%d", cut.Carry)
	}
	j := newShelf().job(s.Live, cut, s.Budget.Tokens)
	j.Carried = s.Carried
	for _, m := range s.Carried {
		j.View.Carried = append(j.View.Carried, m.Seq)
	}
	f, err := compact.Build(j)
	if err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	for _, g := range f.Segments {
		kind := "leaf"
		if !slices.ContainsFunc(f.Leaves, func(l scrollback.Segment) bool { return l.ID == g.ID }) {
			kind = fmt.Sprintf("roll-up %v", g.Children)
		}
		fmt.Fprintf(&b, "%s %s #%d-#%d on %s: %d messages, %d tokens\n", kind, g.ID, g.FirstSeq, g.LastSeq, g.Branch, g.Messages, g.TokensBefore)
		b.WriteString("    " + strings.ReplaceAll(g.Placeholder, "\n", "\n    ") + "\n")
	}
	fmt.Fprintf(&b, "view up to #%d hides %d tokens, carries %v, shows", f.View.Boundary, f.View.Sum.Tokens, f.View.Carried)
	for _, v := range f.View.Segments {
		fmt.Fprintf(&b, " %s", v.ID)
	}
	return b.String() + "\n"
}
