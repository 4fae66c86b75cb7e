package merge_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// read makes a conversation of lines "id branch prev time", "id branch prev time i" of an imported message, and
// "first branch".
func read(t *testing.T, text string) *merge.Conversation {
	t.Helper()
	c := &merge.Conversation{ID: "c"}
	seqs := map[scrollback.MessageID]int64{}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		word := strings.Fields(line)
		if word[0] == "first" {
			c.Branches = append(c.Branches, merge.Branch{ID: scrollback.BranchID(word[1])})
			continue
		}
		m := merge.Message{ID: scrollback.MessageID(word[0]), Born: scrollback.BranchID(word[1])}
		if word[2] != "-" {
			m.Prev = scrollback.MessageID(word[2])
		}
		if _, err := fmt.Sscan(word[3], &m.CreatedAt); err != nil {
			t.Fatal(err)
		}
		if len(word) > 4 {
			m.Source = m.ID
		}
		m.Seq = seqs[m.Prev] + 1
		seqs[m.ID] = m.Seq
		c.Messages = append(c.Messages, m)
	}
	return c
}

// show writes runs as "label: first–last", with * for a label that follows from the first message.
func show(runs []merge.Run) string {
	var out []string
	for _, r := range runs {
		label := string(r.Label)
		if r.Label == ids.Branch(r.First) {
			label = "*" + string(r.First)
		}
		out = append(out, fmt.Sprintf("%s:%s-%s@%d", label, r.First, r.Last, r.FirstSeq))
	}
	return strings.Join(out, " ")
}

func TestLabels(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"one line":                      {"first r\na r - 1\nb r a 2\nc r b 3", "r:a-c@1"},
		"a branch":                      {"first r\na r - 1\nb r a 2\nc s a 3", "r:a-b@1 s:c-c@2"},
		"two wrote to one":              {"first r\na r - 1\nb r a 3\nc r b 4\nx r a 2\ny r x 5", "*b:b-c@2 r:a-y@1"},
		"equal times":                   {"first r\na r - 1\nx r a 2\nb r a 2", "r:a-b@1 *x:x-x@2"},
		"from the beginning":            {"first r\na r - 2\nb r a 3\nx r - 1", "*a:a-b@1 r:x-x@1"},
		"behind the loss":               {"first r\na r - 1\nb r a 3\nc r b 4\nd r b 5\nx r a 2", "*b:b-c@2 *d:d-d@3 r:a-x@1"},
		"imported beside":               {"first r\na r - 1 i\nb r a 3 i\nx s a 2 i\ny s x 4 i", "*b:b-b@2 r:a-y@1"},
		"imported under another branch": {"first z\nfirst r\na z - 1 i\nb z a 3 i", "r:a-b@1"},
		"said behind an import":         {"first r\na r - 1 i\nb s a 2\nc r a 3 i", "r:a-c@1 s:b-b@2"},
	} {
		c := read(t, test.text)
		want := merge.Labels(c)
		if got := sorted(show(want)); got != sorted(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		for seed := range uint64(20) { // in any order
			r := rand.New(rand.NewPCG(seed, 1))
			r.Shuffle(len(c.Messages), reflect.Swapper(c.Messages))
			if got := merge.Labels(c); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: in another order %s", name, show(got))
			}
		}
	}
}

// A branch that somebody named like the label of another run gives way to it.
func TestLabelsGiveWay(t *testing.T) {
	c := read(t, "first r\na r - 1\nb r a 3\nx r a 2")
	taken := ids.Branch("b")
	c.Messages = append(c.Messages, merge.Message{ID: "t", Born: taken, Prev: "x", Seq: 3})
	labels := map[scrollback.BranchID]scrollback.MessageID{}
	for _, r := range merge.Labels(c) {
		labels[r.Label] = r.First
	}
	want := map[scrollback.BranchID]scrollback.MessageID{"r": "a", taken: "b", ids.Branch("t"): "t"}
	if !reflect.DeepEqual(labels, want) {
		t.Errorf("%v, want %v", labels, want)
	}
}

// An id that follows from its source says by itself that a message was imported.
func TestLabelsOfDerivedIDs(t *testing.T) {
	imported := func(name string, at int64) merge.Message {
		id := ids.Message("c", "", scrollback.MessageID(name), ids.Said{At: at})
		return merge.Message{ID: id, Born: scrollback.BranchID(name), Seq: 1, CreatedAt: at}
	}
	a := imported("a", 2)
	b := imported("b", 1)
	for _, c := range []merge.Conversation{
		{Branches: []merge.Branch{{ID: "r"}}, Messages: []merge.Message{a, b}},
		{Branches: []merge.Branch{{ID: "r"}}, Messages: []merge.Message{b, a}},
	} {
		labels := map[scrollback.BranchID]scrollback.MessageID{}
		for _, r := range merge.Labels(&c) {
			labels[r.Label] = r.First
		}
		want := map[scrollback.BranchID]scrollback.MessageID{"r": b.ID, ids.Branch(a.ID): a.ID}
		if !reflect.DeepEqual(labels, want) {
			t.Errorf("%v, want %v", labels, want)
		}
	}
}
