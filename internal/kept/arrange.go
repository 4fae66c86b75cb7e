package kept

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Arrange puts what [Settle] returns in the order in which people read it: to-dos, traits and instructions,
// each by seq. What was said several times stands where it was said last. All keeps what no longer
// stands too.
func Arrange(entries []scrollback.Kept, all bool) []scrollback.Kept {
	seen := map[string]bool{}
	out := []scrollback.Kept{}
	for _, e := range slices.Backward(entries) {
		key := KeyOf(e)
		if all {
			key += " " + string(e.State)
		}
		if !seen[key] && (all || e.State == scrollback.KeptOpen) {
			seen[key] = true
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	order := []scrollback.KeptKind{scrollback.KeptTodo, scrollback.KeptTrait, scrollback.KeptInstruction}
	slices.SortStableFunc(out, func(a, b scrollback.Kept) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), cmp.Compare(a.Seq, b.Seq))
	})
	return out
}
