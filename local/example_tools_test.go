package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log"
	"os"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

// asker stands for a real model: it calls a tool once and repeats what that returned.
type asker struct{}

func (asker) Facts() model.Facts { return model.Facts{Name: "asker", NoSummaries: true} }

func (asker) Stream(_ context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if results := r.Items[len(r.Items)-1].Parts.Results(); len(results) > 0 {
			yield(model.Delta{Text: "It is " + results[0].Text + " degrees in Oslo.", Finish: scrollback.FinishStop}, nil)
			return
		}
		call := scrollback.ToolCall{ID: "1", Name: "temperature", Arguments: json.RawMessage(`{"city": "Oslo"}`)}
		yield(model.Delta{Call: &call, Finish: scrollback.FinishToolCalls}, nil)
	}
}

// A turn that calls one of your tools ends waiting. Run the tool and send what it
// returned as the next turn.
func ExampleScrollback_tools() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "scrollback")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sb, err := local.Open(ctx, dir, &local.Options{Model: "asker", Models: map[string]model.Model{"asker": asker{}}})
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	c, _, err := sb.Create(ctx, scrollback.Conversation{})
	if err != nil {
		log.Fatal(err)
	}

	ask := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("How warm is it in Oslo?"),
		Tools: []scrollback.Tool{{
			Name: "temperature", Description: "The temperature in a city, in °C.",
			Parameters: json.RawMessage(`{"type": "object", "properties": {"city": {"type": "string"}}}`),
		}}}
	for {
		var done scrollback.DoneEvent
		for ev, err := range sb.Turn(ctx, ask) {
			if err != nil {
				log.Fatal(err)
			}
			switch ev := ev.(type) {
			case scrollback.DeltaEvent:
				fmt.Println(ev.Content)
			case scrollback.DoneEvent:
				done = ev
			}
		}
		if done.Status != scrollback.TurnWaiting {
			break
		}
		turn, err := sb.Turns().Get(ctx, c.ID, done.TurnID)
		if err != nil {
			log.Fatal(err)
		}
		ask = engine.TurnRequest{Conversation: c.ID}
		for _, call := range turn.OpenCalls {
			fmt.Println(call.Name, string(call.Arguments)) // here the tool runs
			ask.ToolResults = append(ask.ToolResults, engine.ToolResult{CallID: call.ID, Text: "12"})
		}
	}
	// Output:
	// temperature {"city":"Oslo"}
	// It is 12 degrees in Oslo.
}
