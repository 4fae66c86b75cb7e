package kept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
)

// talkRows are the rows of messages that a person says, one after the other.
func talkRows(said ...string) (out []scrollback.Kept) {
	for i, text := range said {
		m := scrollback.Message{ID: scrollback.MessageID(fmt.Sprint("m", i+1)), Seq: int64(i + 1), Role: scrollback.RoleUser,
			CreatedAt: int64(i+1) * 1000, Parts: scrollback.Parts{scrollback.Text{Text: text}}}
		for _, k := range ListAllRows(&m, nil) {
			k.Message = m.ID
			k.Seq = m.Seq
			out = append(out, k)
		}
	}
	return out
}

// listStates writes entries as "seq kind state".
func listStates(entries []scrollback.Kept) string {
	var out []string
	for _, k := range entries {
		out = append(out, fmt.Sprint("#", k.Seq, " ", k.Kind, " ", k.State))
	}
	return strings.Join(out, ", ")
}

// personRow says something about an entry at a time.
func personRow(k scrollback.Kept, state scrollback.KeptState, at int64) scrollback.Kept {
	k.By = scrollback.KeptByPerson
	k.State = state
	k.CreatedAt = at
	k.Change = fmt.Sprint("change ", at)
	return k
}

// What the talk ends is over, whatever it is called there, and only what was said before.
func TestSettleTalk(t *testing.T) {
	got := listStates(Settle(talkRows("TODO: water the plants.", "Always answer in English.", "I watered the plants.",
		"TODO: water the plants.")))
	want := "#1 todo done, #2 instruction open, #4 todo open"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := listStates(Settle(talkRows("I watered the plants.", "TODO: water the plants."))); got != "#2 todo open" {
		t.Errorf("a to-do that was said afterwards is %s", got)
	}
}

// What a person says last holds for a sentence wherever it was said, until the talk goes on about it.
func TestSettlePeople(t *testing.T) {
	rows := talkRows("TODO: water the plants.", "Never push to main.", "Never push to main!")
	for _, c := range []struct {
		name  string
		said  []scrollback.Kept
		wants string
	}{
		{"dropped", []scrollback.Kept{personRow(rows[1], scrollback.KeptDropped, 9000)},
			"#1 todo open, #2 instruction dropped, #3 instruction dropped"},
		{"dropped and kept again", []scrollback.Kept{personRow(rows[1], scrollback.KeptDropped, 9000),
			personRow(rows[2], scrollback.KeptOpen, 9001)}, "#1 todo open, #2 instruction open, #3 instruction open"},
		{"done", []scrollback.Kept{personRow(rows[0], scrollback.KeptDone, 9000)},
			"#1 todo done, #2 instruction open, #3 instruction open"},
	} {
		if got := listStates(Settle(slices.Concat(rows, c.said))); got != c.wants {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	ended := talkRows("TODO: water the plants.", "I watered the plants.")
	for at, want := range map[int64]string{1500: "#1 todo done", 2500: "#1 todo open"} {
		again := slices.Concat(ended, []scrollback.Kept{personRow(ended[0], scrollback.KeptOpen, at)})
		if got := listStates(Settle(again)); got != want {
			t.Errorf("opened by hand at %d it is %s", at, got)
		}
	}
}

// A sentence that no rule found is an entry of its own, which later talk can end.
func TestSettleAdded(t *testing.T) {
	rows := talkRows("Something else.", "The parcel came.", "The plants are watered.")
	added := scrollback.Kept{ID: "k_1", Kind: scrollback.KeptTodo, Text: "water the plants", Message: "m1", Seq: 1,
		Role: scrollback.RoleUser,
		By:   scrollback.KeptByPerson, State: scrollback.KeptOpen, CreatedAt: 1500, Change: "c"}
	got := Settle(append(rows, added))
	if diff := cmp.Diff("#1 todo done", listStates(got)); diff != "" {
		t.Fatal(diff)
	}
	if got[0].By != scrollback.KeptByPerson {
		t.Errorf("it was added by %s", got[0].By)
	}
}

// said are sentences that are kept, end each other, or only look like it.
var said = []string{"TODO: water the plants.", "I watered the plants.", "TODO: call the dentist about the bill.",
	"I called the dentist.", "- [x] water the plants", "Cross that off.", "TODO: pay the rent", "The rent is paid.",
	"Always answer in English.", "From now on answer in German.", "Actually, answer in French again.",
	"Never use tabs.", "Use tabs after all.", "I'm allergic to peanuts.", "I'm no longer allergic to peanuts.",
	"I prefer short answers.", "Please give me long, detailed answers from now on.", "I don't eat meat.",
	"I started eating meat again.", "My budget is 300 euros.", "I can stretch to 400 euros now.", "Call me Ann.",
	"Actually, call me Anna.", "I live in Porto and work nights.", "I work days now.", "What is the weather like?",
	"我对花生过敏。", "花生过敏好了。", "以后都用英文回答我。", "还是用中文回答吧。", "待办：交房租", "房租交了。", "我不吃肉。", "我现在又开始吃肉了。",
	"提醒我给牙医打电话", "牙医的电话打过了。", "Let's talk about something else.", "I love hiking in the mountains.",
	"I no longer go hiking, my knees hurt."}

// What is settled step by step, or of fewer rows than the last time, is what is settled at once; and who asks only
// those that may be replaced finds what who asks all of them does.
func TestSettleAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom(said), 1, 40).Draw(t, "said")
		rows := talkRows(texts...)
		r := NewSettler()
		for range 12 {
			some := rows[:rapid.IntRange(0, len(rows)).Draw(t, "rows")]
			some = some[rapid.IntRange(0, len(some)).Draw(t, "older"):]
			if out := rapid.IntRange(0, len(texts)).Draw(t, "left out"); rapid.Bool().Draw(t, "leave out") {
				some = slices.DeleteFunc(slices.Clone(some), func(k scrollback.Kept) bool { return k.Seq == int64(out) })
			}
			if n := rapid.IntRange(-1, len(some)-1).Draw(t, "by hand"); n >= 0 {
				some = append(slices.Clone(some), personRow(some[n], scrollback.KeptDone, 1e6))
			}
			if rapid.Bool().Draw(t, "of the last messages") { // what ends something is found anew, behind the rest
				slices.SortStableFunc(some, func(a, b scrollback.Kept) int { return compareEnds(a.Kind, b.Kind) })
			}
			got, ends := r.SettleEnds(some)
			want, wantEnds := NewSettler().SettleEnds(some)
			if diff := cmp.Diff([][]scrollback.Kept{want, wantEnds}, [][]scrollback.Kept{got, ends}); diff != "" {
				t.Fatal("settled again:", diff)
			}
		}
		for _, k := range Settle(rows) {
			if over := isReplaced(rows, k); over != (k.State == scrollback.KeptWithdrawn) && k.Kind != scrollback.KeptTodo {
				t.Fatalf("#%d %q is %s", k.Seq, k.Text, k.State)
			}
		}
	})
}

// A window over a long talk that moves on is settled from what came: no other sentence is read, however many there are,
// and what is remembered does not grow.
func TestSettleReadsWhatIsNew(t *testing.T) {
	const moved = 5
	var texts []string
	for i := range 6000 {
		texts = append(texts, fmt.Sprintf([]string{"I am allergic to food%d.", "TODO: inspect machine%d.",
			"Actually, use port%d.", "I painted wall%d."}[i%4], i))
	}
	rows := talkRows(texts...)
	for _, window := range []int{100, 1000, 4000} {
		r := NewSettler()
		r.SettleEnds(rows[:window])
		count := func() int { return len(r.statements) + len(r.todos) + len(r.news) }
		last := count()
		for from := moved; from < 20*moved; from += moved {
			r.SettleEnds(rows[from : from+window])
			if n := count() - last; n > 2*moved {
				t.Fatalf("of %d rows %d sentences were read where %d came", window, n, moved)
			}
			last = count()
		}
		// Whatever is forgotten by now, it is not what stands.
		clear(r.statements)
		clear(r.todos)
		clear(r.news)
		r.SettleEnds(rows[20*moved : 20*moved+window])
		if n := count(); n > 2*moved {
			t.Errorf("of %d rows %d sentences were read again where %d came", window, n, moved)
		}
		for from := 20 * moved; from+window < len(rows) && from < 4000; from += 200 {
			r.SettleEnds(rows[from : from+window])
		}
		if n := count(); n > 3*(maxOtherTexts+window) {
			t.Errorf("%d sentences are remembered", n)
		}
		if n := len(r.last.standing.all) + len(r.last.places); n > max(2*leastTidied, 2*window) {
			t.Errorf("of %d rows there are %d slots", window, n)
		}
	}
}

// What a clause may name of a to-do is found by how its words begin: that is what a look at all of them finds.
func TestClosestIsThatOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var todos Todos
		for i, text := range rapid.SliceOfN(rapid.SampledFrom(said), 1, 20).Draw(t, "todos") {
			todos.Add(text, i)
		}
		for key := range todos.open {
			if rapid.Bool().Draw(t, "closed") {
				delete(todos.open, key)
			}
		}
		n := newNewsClause(rapid.SampledFrom(said).Draw(t, "news"))
		got, most := todos.closest([]newsClause{n}, faintShare)
		want := 0.0
		var keys []string
		for key, one := range todos.open {
			share := one.shareNamed(&n, faintShare)
			if share > want {
				want = share
				keys = nil
			}
			if share > 0 && share == want {
				keys = append(keys, key)
			}
		}
		slices.Sort(got)
		slices.Sort(keys)
		if want != most || !slices.Equal(got, keys) {
			t.Fatalf("%q with %v, want %q with %v", got, most, keys, want)
		}
	})
}

// isReplaced reports whether any sentence of a later message replaces one.
func isReplaced(rows []scrollback.Kept, was scrollback.Kept) bool {
	return slices.ContainsFunc(rows, func(k scrollback.Kept) bool {
		return k.Seq > was.Seq && k.Kind != scrollback.KeptTodo && k.Role == scrollback.RoleUser &&
			makeStatement(k.Text).mayWithdraw() && Replaces(k.Text, was.Text)
	})
}
