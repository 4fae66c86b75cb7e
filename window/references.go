package window

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// UnshownReferences lists what the newest message of a user in a window refers to as unchanged, where
// the window does not show the message that has it.
func UnshownReferences(w scrollback.Window) (out []scrollback.Reference) {
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
				return of.IsWhole() && of.Source == r.Source && of.SHA256 == r.SHA256
			}
			if r.SameAs > 0 && !slices.ContainsFunc(said,
				func(it scrollback.Item) bool { return slices.ContainsFunc(it.Parts.References(), has) }) {
				out = append(out, r)
			}
		}
		return out
	}
	return nil
}

// AccountReferences adds to the account of a window what its messages refer to, with the
// tokens that count finds in each text.
func AccountReferences(m *scrollback.Manifest, w scrollback.Window, count func(text string) int64) {
	of := map[int64][]scrollback.ManifestReference{}
	for _, it := range w.Items {
		for _, p := range it.Parts {
			if t, ok := p.(scrollback.Text); ok && t.Reference != nil && it.Seq > 0 {
				r := t.Reference
				of[it.Seq] = append(of[it.Seq], scrollback.ManifestReference{Source: r.Source, Version: r.Version, SameAs: r.SameAs,
					Error: r.Error, Tokens: count(t.Text)})
			}
		}
	}
	for _, l := range m.Layers {
		for i := range l.Items {
			if l.Items[i].Kind == scrollback.KindMessage {
				l.Items[i].References = of[l.Items[i].Seq]
			}
		}
	}
}
