package door

import (
	"cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

// ModeHeader is where a request says how it is to be answered. It goes no further.
const ModeHeader = "X-Scrollback-Door"

// Mode returns how requests are answered where nothing narrower says it.
func (d *Door) Mode() string { return d.o.Mode }

// Recall returns when models are offered look-ups: one of RecallModes.
func (d *Door) Recall() string { return d.o.Recall }

// modeOf returns how a request is answered: as it says itself, else as its key does, its project, or the server.
func (d *Door) modeOf(v *engine.View, r *Request, p scrollback.Project) string {
	return cmp.Or(r.Header.Get(ModeHeader), v.Caller().Door, p.Settings.Door, d.o.Mode)
}
