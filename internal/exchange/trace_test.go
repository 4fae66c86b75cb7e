package exchange_test

import (
	"fmt"

	"github.com/scrollback-ai/scrollback"
)

func (w *walk) note(format string, args ...any) {
	if testingTrace {
		fmt.Printf(format+"\n", args...)
	}
}

var testingTrace = true

func (m *machine) dump() {
	ctx := m.t.Context()
	all, _ := m.Store.Move.ListAll(ctx)
	seen := map[string]bool{}
	var walk func(id string)
	walk = func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		bs, _ := m.Store.Move.ListBranches(ctx, scrollback.ConversationID(id))
		rs, _ := m.Store.Move.ReadReadings(ctx, scrollback.ConversationID(id))
		for _, b := range bs {
			fmt.Printf("   %s: %s branch %s parent %s at %d head %d elsewhere %v\n", m.name, id, b.ID, b.Parent, b.AtSeq, b.HeadSeq, b.Elsewhere)
		}
		for _, r := range rs {
			fmt.Printf("   %s: %s reading %+v\n", m.name, id, r)
		}
	}
	for _, c := range all {
		fmt.Printf("   %s: %s current %s ancestors %v parent %+v\n", m.name, c.ID, c.Branch, c.Ancestors, c.Parent)
		walk(string(c.ID))
		for _, a := range c.Ancestors {
			walk(string(a))
		}
	}
	st, _ := m.Store.Move.ListStones(ctx)
	for _, s := range st {
		fmt.Printf("   %s: stone %s\n", m.name, s.ID)
		walk(string(s.ID))
	}
}
