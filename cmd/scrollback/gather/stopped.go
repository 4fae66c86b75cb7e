package gather

import (
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// settled is for how long a file that is whole counts as unchanged at least.
const settled = 2 * time.Second

// ImportStopped imports the session of an agent that has stopped: its file, or without one what the agent has. An agent
// whose sessions cannot be read has none. Of a whole file nothing is held back because it was written right now.
func ImportStopped(p Program, agent, file string, whole bool) error {
	o, err := Flags{}.Options(p, agent, "")
	if err != nil {
		return err
	}
	o.Path = file
	if whole {
		o.Now = func() time.Time { return time.Now().Add(settled) }
	}
	return p.Open(true, func(t *transfer.Transfer, v *engine.View) error {
		c, err := collect.New(t, v, o)
		if scrollback.CodeOf(err) == scrollback.Invalid {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = c.Import(p.Ctx)
		return err
	})
}
