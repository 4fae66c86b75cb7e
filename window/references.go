package window

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Unshown lists what the newest message of a user in a window refers to as unchanged, where
// the window does not show the message that has it.
func Unshown(w scrollback.Window) (out []scrollback.Reference) {
	var said []scrollback.Item
	for _, it := range w.Items {
		if it.Kind == scrollback.KindMessage {
			said = append(said, it)
		}
	}
	for _, it := range slices.Backward(said) {
		if it.Role != scrollback.RoleUser {
			continue
		}
		for _, r := range it.Parts.References() {
			has := func(of scrollback.Reference) bool {
				return of.Whole() && of.Source == r.Source && of.SHA256 == r.SHA256
			}
			if r.SameAs > 0 && !slices.ContainsFunc(said, func(it scrollback.Item) bool { return slices.ContainsFunc(it.Parts.References(), has) }) {
				out = append(out, r)
			}
		}
		return out
	}
	return nil
}
