package enginetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// Judge is a scripted model that holds each request against what any provider takes:
// the rules, the budget in tokens, bytes and images, and the newest user message.
type Judge struct {
	T        *testing.T
	mu       sync.Mutex
	Budget   scrollback.Budget
	Requests int
	Newest   int64 // seq of the user message that must be sent; 0 asks for any
	Say      func(n int, r model.Request) []model.Delta
}

// Step returns the step of a script that judges each request and replies what Say says.
func (j *Judge) Step() modeltest.Step {
	return modeltest.Step{Reply: func(r model.Request) []model.Delta {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.Requests++
		if len(r.Tools) == 0 { // for a summary, which has a window of its own
			return j.Say(j.Requests, r)
		}
		if err := window.Lint(scrollback.Window{Items: r.Items}, scrollback.Dialect{}); err != nil {
			j.T.Errorf("request %d: %v", j.Requests, err)
		}
		var w scrollback.Weight
		newest := int64(0)
		for _, it := range r.Items {
			w = w.Add(it.Weight)
			if it.Role == scrollback.RoleUser && it.Kind == scrollback.KindMessage {
				newest = max(newest, it.Seq)
			}
		}
		if !window.Fits(w, j.Budget) {
			j.T.Errorf("request %d weighs %+v, the budget is %+v", j.Requests, w, j.Budget.Weight)
		}
		if newest == 0 || j.Newest != 0 && newest != j.Newest {
			j.T.Errorf("request %d has the user message #%d, the newest is #%d", j.Requests, newest, j.Newest)
		}
		return j.Say(j.Requests, r)
	}}
}

// RunFourTurns runs four turns after something hard, and wants each to complete.
func RunFourTurns(t *testing.T, r *Rig, id scrollback.ConversationID) {
	t.Helper()
	for i := range 4 {
		r.Ask(id, fmt.Sprintf("And then, number %d? ", i)+strings.Repeat("go on please ", 60)).WantDone(t,
			scrollback.TurnComplete, "stop")
		CheckViews(t, r, id)
	}
}
