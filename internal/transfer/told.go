package transfer

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/told"
	"github.com/scrollback-ai/scrollback/transcript"
)

// leaveOutTold takes what this program told an agent out of what a person said to it: some agents keep both as one
// text. A text that has nothing else stays, and is known by its first line.
func leaveOutTold(e *transcript.Entry) {
	if e.Message.Role != scrollback.RoleUser {
		return
	}
	for i, p := range e.Message.Parts {
		t, ok := p.(scrollback.Text)
		if !ok || !told.Has(t.Text) {
			continue
		}
		if rest := told.Without(t.Text); rest != "" && rest != t.Text {
			t.Text = rest
			e.Message.Parts = slices.Clone(e.Message.Parts)
			e.Message.Parts[i] = t
		}
	}
}
