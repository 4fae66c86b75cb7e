package bundle

import (
	"io"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// keptPlace is where a message is of which something is kept.
type keptPlace struct {
	branch scrollback.BranchID
	seq    int64
}

var (
	keptKinds = []scrollback.KeptKind{scrollback.KeptTodo, scrollback.KeptTrait, scrollback.KeptInstruction}
	// What a person can say of a sentence.
	keptStates = []scrollback.KeptState{scrollback.KeptOpen, scrollback.KeptDone, scrollback.KeptDropped}
)

// checkKept checks what a person says about a sentence, as far as its message does not matter.
func (c *checker) checkKept(k KeptChange) error {
	if err := c.prepareMessages(); err != nil {
		return err
	}
	b := c.branches[k.Branch]
	switch {
	case c.head.Version < Version:
		return newDamageError("it says what is kept, which version %d does not know", c.head.Version)
	case b == nil || k.Conversation != c.at.ID || k.Seq <= b.AtSeq || k.Seq > b.HeadSeq:
		return newDamageError("what is kept as %q is of no message in the bundle", clipText(string(k.ID)))
	case !slices.Contains(keptKinds, k.Kind) || !slices.Contains(keptStates, k.State) || !isID(k.Change) ||
		k.By != scrollback.KeptByPerson || k.State == scrollback.KeptDone && k.Kind != scrollback.KeptTodo ||
		k.Text == "" || len(k.Text) > scrollback.MaxKeptText || k.ID != scrollback.NewKeptID(k.Message, k.Kind, k.Text):
		return newDamageError("what is kept as %q does not fit together", clipText(string(k.ID)))
	}
	if err := c.countRecord(); err != nil {
		return err
	}
	if c.kept == nil {
		c.kept = map[keptPlace][]KeptChange{}
	}
	at := keptPlace{k.Branch, k.Seq}
	c.kept[at] = append(c.kept[at], k)
	return passRecord(c.also.Kept, k)
}

// checkKeptTexts reads the messages again: each must say what is kept of it.
func (c *checker) checkKeptTexts(r io.ReadSeeker, limits Limits) error {
	_, err := Walk(r, limits, Visit{Message: func(m scrollback.Message) error {
		all := c.kept[keptPlace{m.Branch, m.Seq}]
		if len(all) == 0 {
			return nil
		}
		text := strings.Join(strings.Fields(m.Parts.Text()), " ")
		for _, k := range all {
			if k.Message != m.ID || k.Role != m.Role || !strings.Contains(text, k.Text) {
				return newDamageError("message #%d does not say what is kept of it as %q", m.Seq, clipText(string(k.ID)))
			}
		}
		return nil
	}})
	return err
}
