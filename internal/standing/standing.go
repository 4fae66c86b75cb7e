// Package standing says how the coding agents of this machine stand to this program: what sets them up, whether their
// hooks asked, and what is in the way.
//
// Words it adds: standing (all that is known of one agent).
//
// Invariants: nothing is changed; of what agents were told only counts are returned.
//
// It may not know conversations or the network.
package standing

import (
	"context"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/install"
)

// MachineAgent is how an agent stands.
type MachineAgent struct {
	install.Setup
	Title string `json:"title"` // as its makers write it
	Found bool   `json:"found"` // its program or its settings are on this machine
	Off   bool   `json:"off"`   // a person has silenced its hooks

	Asked *ledger.HookRuns `json:"asked,omitempty"` // of its hooks; missing where it calls none

	Sessions int `json:"sessions,omitempty"` // of the agent on this machine, where they were counted
	Behind   int `json:"behind,omitempty"`   // of these, with something that is not here
}

// Join adds to how agents are set up what their hooks did and who was silenced. late is the time after which an answer
// of a hook comes too late. l may be nil: then no hook has ever asked.
func Join(ctx context.Context, setups []install.Setup, l *ledger.Ledger, late time.Duration) ([]MachineAgent, error) {
	var off []ledger.Silenced
	if l != nil {
		var err error
		if off, err = l.ListOff(ctx); err != nil {
			return nil, err
		}
	}
	out := make([]MachineAgent, 0, len(setups))
	for _, s := range setups {
		of, _ := agents.Find(s.Agent)
		a := MachineAgent{Setup: s, Title: of.Title}
		a.Off = slices.ContainsFunc(off, func(o ledger.Silenced) bool {
			return o.Kind == ledger.OffAgent && o.Name == s.Agent
		})
		if s.Installed && len(s.Hooks) > 0 {
			asked := ledger.HookRuns{}
			if l != nil {
				var err error
				if asked, err = l.Sum(ctx, s.Agent, late); err != nil {
					return nil, err
				}
			}
			a.Asked = &asked
		}
		out = append(out, a)
	}
	return out, nil
}
