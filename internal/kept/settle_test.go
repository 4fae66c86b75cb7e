package kept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
