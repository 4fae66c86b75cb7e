package merge

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/ids"
)

// Run is messages of a conversation that follow each other under one label. Leaves is the message that it goes on from,
// of the conversation or of one that it continues, empty at the beginning; First and Last are its ends.
type Run struct {
	Label    scrollback.BranchID  `json:"label"`
	Leaves   scrollback.MessageID `json:"leaves,omitempty"`
	First    scrollback.MessageID `json:"first"`
	Last     scrollback.MessageID `json:"last"`
	FirstSeq int64                `json:"first_seq"`
	LastSeq  int64                `json:"last_seq"`
}

// Labels says on which branches the messages of a conversation are shown; it looks at Branches, Messages and Aliases.
//
// Messages go on under the label of the message before them where both were written to one branch. Where several do so,
// or several runs begin with the same branch, the one whose first message is older (CreatedAt, then key) keeps the
// label; each other one gets the label that follows from its first message ([ids.Branch]). Imported messages count as
// written to the first branch of the conversation (of several, that with the smallest id), wherever an import found
// room for them: so it does not matter what was imported first, where, and under which ids.
//
// It is a function of the set of messages alone: neither their order nor the ids that they have here change it. The
// runs come in the order of their labels. A message whose predecessor is not among them begins a run.
func Labels(c *Conversation) []Run {
	l := newLabelling(c)
	l.link()
	l.name()
	return l.runs()
}

// labelling is the messages of a conversation by their places in a list, and what is known of each.
type labelling struct {
	messages []Message
	prev     []int                 // -1 without one among them
	born     []scrollback.BranchID // empty: imported
	next     []int                 // that goes on under the same label, or -1
	heads    []int                 // of runs
	label    []scrollback.BranchID
	first    scrollback.BranchID // branch of the conversation
}

func newLabelling(c *Conversation) *labelling {
	n := len(c.Messages)
	l := &labelling{messages: c.Messages, prev: make([]int, n), born: make([]scrollback.BranchID, n), next: make([]int, n),
		label: make([]scrollback.BranchID, n)}
	at := make(map[scrollback.MessageID]int, n)
	for i, m := range c.Messages {
		at[m.ID] = i
		at[m.Key()] = i
		if m.Source == "" && !ids.IsDerived(m.ID) {
			l.born[i] = m.Born
		}
	}
	for _, a := range c.Aliases {
		if i, ok := at[a.Of]; ok {
			at[a.ID] = i
		}
	}
	for i, m := range c.Messages {
		l.prev[i] = -1
		if p, ok := at[m.Prev]; ok && m.Prev != "" {
			l.prev[i] = p
		}
	}
	for _, b := range c.Branches {
		if l.first == "" || b.ID < l.first {
			l.first = b.ID
		}
	}
	return l
}

// older orders messages by who keeps a label.
func (l *labelling) older(a, b int) int {
	return cmp.Or(cmp.Compare(l.messages[a].CreatedAt, l.messages[b].CreatedAt),
		cmp.Compare(l.messages[a].Key(), l.messages[b].Key()))
}

// link finds for each message the one that goes on under its label, and so where runs begin.
func (l *labelling) link() {
	for i := range l.next {
		l.next[i] = -1
	}
	for i, p := range l.prev {
		if p < 0 || l.born[i] != l.born[p] {
			continue
		}
		if other := l.next[p]; other < 0 || l.older(i, other) < 0 {
			l.next[p] = i
		}
	}
	for i, p := range l.prev {
		if p < 0 || l.next[p] != i {
			l.heads = append(l.heads, i)
		}
	}
}

// name gives each run its label. What a label follows from keeps it, though another run was written to a branch of that
// id: the other one then gives way too.
func (l *labelling) name() {
	slices.SortFunc(l.heads, l.older)
	keeps := map[scrollback.BranchID]int{}
	var without []int
	for _, h := range l.heads {
		p := l.prev[h]
		wants := cmp.Or(l.born[h], l.first)
		if _, taken := keeps[wants]; taken || wants == "" || p >= 0 && l.born[p] == l.born[h] {
			without = append(without, h)
			continue
		}
		keeps[wants] = h
	}
	for len(without) > 0 {
		h := without[0]
		without = without[1:]
		label := ids.Branch(l.messages[h].Key())
		l.label[h] = label
		if other, taken := keeps[label]; taken {
			delete(keeps, label)
			without = append(without, other)
		}
	}
	for label, h := range keeps {
		l.label[h] = label
	}
}

// runs lists the runs with their labels.
func (l *labelling) runs() []Run {
	out := make([]Run, 0, len(l.heads))
	for _, h := range l.heads {
		last := h
		for l.next[last] >= 0 {
			last = l.next[last]
		}
		first := l.messages[h]
		out = append(out, Run{Label: l.label[h], Leaves: first.Prev, First: first.ID, Last: l.messages[last].ID,
			FirstSeq: first.Seq, LastSeq: l.messages[last].Seq})
	}
	slices.SortFunc(out, func(a, b Run) int { return cmp.Compare(a.Label, b.Label) })
	return out
}
