package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// Five hundred tool steps in one turn, one call or three at a time, with small and big
// outputs: each step is sent, with the question it belongs to, and the turn ends.
func TestManyStepsInOneTurn(t *testing.T) {
	const steps = 500
	j := &enginetest.Judge{T: t, Budget: window.NewBudget(8000, 2000), Newest: 1}
	j.Say = func(n int, r model.Request) []model.Delta {
		if n > steps {
			j.Newest = 0
			return []model.Delta{{Text: "done counting"}}
		}
		out := []model.Delta{{Text: fmt.Sprint("step ", n)}}
		for k := range 1 + n%3/2*2 {
			out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprintf("c%d-%d", n, k), Name: "clock",
				Arguments: json.RawMessage(`{}`)}})
		}
		return out
	}
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, j.Step())
	id := r.NewConversation()
	e := r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("the one question: count to five hundred"),
		Tools: enginetest.ClockTool})
	for n := 1; n <= steps; n++ {
		e.WantDone(t, scrollback.TurnWaiting, "tool_calls")
		var results []engine.ToolResult
		for _, ev := range e.Events {
			if c, ok := ev.(scrollback.ToolCallEvent); ok {
				size := 40
				if n%50 == 0 {
					size = 6000 // becomes an artifact
				}
				results = append(results, engine.ToolResult{CallID: c.ID, Text: strings.Repeat("tick 嘀 ", size)})
			}
		}
		e = r.Run(engine.TurnRequest{Conversation: id, ToolResults: results})
	}
	e.WantDone(t, scrollback.TurnComplete, "stop")
	if j.Requests != steps+1 {
		t.Errorf("%d requests", j.Requests)
	}
	m, err := r.Context(context.Background(), id)
	if err != nil || len(m.Excluded) == 0 {
		t.Errorf("nothing was folded: %+v, %v", m.Excluded, err)
	}
	enginetest.RunFourTurns(t, r, id)
}

// Look-ups that are made in one step together leave room for the answer.
func TestManyLookUpsAtOnce(t *testing.T) {
	j := &enginetest.Judge{T: t, Budget: window.NewBudget(8000, 2000)}
	j.Say = func(n int, r model.Request) []model.Delta {
		if n != 4 {
			return []model.Delta{{Text: strings.Repeat("the tide table, again and again. ", 40)}}
		}
		var out []model.Delta
		for k := range 12 {
			out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprint("r", k), Name: "context_search",
				Arguments: json.RawMessage(`{"query":"tide table","limit":20}`)}})
		}
		return out
	}
	r := enginetest.New(t, enginetest.Options{}, j.Step())
	id := r.NewConversation()
	for i := range 4 {
		r.Ask(id, fmt.Sprint("number ", i, strings.Repeat(" and the tide table", 100))).WantDone(t, scrollback.TurnComplete,
			"stop")
	}
	enginetest.RunFourTurns(t, r, id)
}

// A caller that waits for another fold, which may wait for its model, can be stopped.
func TestWaitingForAFoldEnds(t *testing.T) {
	gate := make(chan struct{})
	asked := make(chan struct{}, 1)
	w := &writer{sum: func(_ int, r model.Request) []model.Delta {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-gate
		return []model.Delta{{Text: minutes("x")}}
	}}
	r := enginetest.New(t, enginetest.Options{Limit: 8000, NoFolds: true, Summaries: true, Policy: compact.Snapshot},
		w.step())
	id := r.NewConversation()
	r.ImportMany(id, 80)
	first := make(chan error, 1)
	go func() {
		_, err := r.Compact(context.Background(), id, engine.CompactRequest{Force: true})
		first <- err
	}()
	<-asked
	ctx, cancel := context.WithCancel(context.Background())
	second := make(chan error, 1)
	go func() {
		_, err := r.Compact(ctx, id, engine.CompactRequest{Force: true})
		second <- err
	}()
	cancel()
	select {
	case err := <-second:
		if scrollback.CodeOf(err) != scrollback.Canceled {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it still waits for the other fold")
	}
	close(gate)
	if err := <-first; err != nil {
		t.Error(err)
	}
}
