package compact

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/kept"
)

// foldFrom folds what is shown, with the rows of what is kept, as a server without models does.
func foldFrom(t *testing.T, shown Shown, rows []scrollback.Kept, m *Memory) Compaction {
	t.Helper()
	ids := shown.Branch.HeadSeq * 1000
	made, err := Run(context.Background(), Input{Shown: shown, Reason: WhenDue, Memory: m, Now: 9,
		NewID: func() string { ids++; return fmt.Sprintf("%08x", ids) },
		Count: func(text string) int { return (len(text) + 3) / 4 },
		Kept:  func() ([]scrollback.Kept, error) { return slices.Clone(rows), nil }})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A long talk is folded the same whether the memory of earlier folds is there, or each fold begins without one.
func TestMemoryChangesNothing(t *testing.T) {
	pieces := []string{"Always answer in French.", "I am allergic to nuts.", "Remind me to call Ada about %d.",
		"The port is %d, because the old one failed.", "I called Ada about %d.", "What about %d?", "Actually, answer in English.",
		"记住我的名字是小明。", "以后请用中文回答。", "明天还要交 %d 号房租。", "Never push to branch %d.", "Let me look at file_%d.go."}
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 8))
		var shown Shown
		shown.Policy = segments
		shown.Window.Budget.Weight = scrollback.Weight{Tokens: 2000, Bytes: 1 << 20, Images: 20}
		memory := NewMemory()
		var rows []scrollback.Kept
		var before *scrollback.Message
		folds := 0
		apart := 0
		for n := range 240 {
			m := scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(n)), Role: scrollback.RoleUser, Branch: "b",
				ConversationID: "c", Status: scrollback.StatusComplete, CreatedAt: int64(1000 + n)}
			if n%2 == 1 {
				m.Role = scrollback.RoleAssistant
			}
			var said []string
			for range 1 + r.IntN(8) {
				p := pieces[r.IntN(len(pieces))]
				if strings.Contains(p, "%d") {
					p = fmt.Sprintf(p, r.IntN(400))
				}
				said = append(said, p)
			}
			text := strings.Join(said, " ")
			m.Parts = scrollback.Say(text)
			m.Weight = scrollback.Weight{Tokens: int64(len(text)/4 + 4), Bytes: int64(len(text))}
			shown.Append(m)
			m = shown.Window.Live[len(shown.Window.Live)-1]
			rows = append(rows, kept.ListRows(&m, before)...)
			before = &m
			made := foldFrom(t, shown, rows, memory)
			fresh := foldFrom(t, shown, rows, nil)
			a, err := json.Marshal(made)
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(fresh)
			if err != nil {
				t.Fatal(err)
			}
			if string(a) != string(b) {
				t.Fatalf("seed %d, message %d: with a memory\n%s\nwithout\n%s", seed, n, a, b)
			}
			for _, text := range made.Apart { // what a summary names is there to be stored
				apart++
				if v := made.View.Summary; v == nil || !slices.ContainsFunc(made.Segments, func(s scrollback.Segment) bool {
					return strings.Contains(s.Summary, string(apartRef(text)))
				}) {
					t.Fatalf("message %d: nothing names a text apart", n)
				}
			}
			if made.Receipt.Result == scrollback.ResultCompacted {
				folds++
				rows = append(rows, made.Ends...)
				slices.SortStableFunc(rows, func(a, b scrollback.Kept) int { return int(a.Seq - b.Seq) })
				shown = ShownAfter(&shown, &made)
			}
		}
		if folds < 5 || apart == 0 {
			t.Errorf("seed %d: %d folds, %d texts apart", seed, folds, apart)
		}
	}
}

// What was built last is taken only for the same fold.
func TestBuiltOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	c := &chain{shelf: newShelf(), budget: 4000}
	live := c.messages(40, "Always look at number %d first.")
	j := c.shelf.job(live, foldCut{}, c.budget)
	j.Memory = NewMemory()
	j.built = &lastBuild{}
	summaries := []*askOutcome{nil, {text: "- one", by: "a"}, {text: "- one", by: "b"}, {text: "- two", by: "a"}}
	again := 0
	for range 300 {
		j.cut = foldCut{messages: 10 + r.IntN(3), carry: int64(r.IntN(2))}
		j.summary = summaries[r.IntN(len(summaries))]
		j.afresh = r.IntN(2) == 0
		if j.built.of == j.key() {
			again++
		}
		got, err := j.buildFold()
		if err != nil {
			t.Fatal(err)
		}
		want, err := j.makeFold()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprintf("%+v", got.segments), fmt.Sprintf("%+v", want.segments); a != b {
			t.Fatalf("%+v: built\n%s\nwant\n%s", j.cut, a, b)
		}
		a, _ := json.Marshal(got.view)
		b, _ := json.Marshal(want.view)
		if string(a) != string(b) {
			t.Fatalf("%+v: the view is\n%s\nwant\n%s", j.cut, a, b)
		}
	}
	if again == 0 {
		t.Error("nothing was built twice in a row")
	}
}
