// Package functions runs Go functions as the tools of a model: New makes a tool of a typed
// function, and Turn asks, runs what the model calls, sends the results and goes on until the
// model has answered.
//
// Words it adds: function (a tool with the Go function that runs it).
//
// Invariants: each open call of a turn is answered once, or none is; a function that fails or
// panics is a result that says so to the model, not the end of the turn; the rounds of one
// question are bounded.
//
// It asks the engine alone, and may not know the store, HTTP or any one model.
package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// Function is a tool that runs here. Call takes the arguments as the model wrote them and
// returns what it reads; an error is read by the model too. [New] makes one of a typed function;
// one with a schema of your own is written out.
type Function struct {
	scrollback.Tool
	Call func(ctx context.Context, arguments json.RawMessage) (string, error)

	err error // why it cannot be one
}

// New makes a tool of a function. In is a struct: its exported fields are the arguments, named
// by their json tags, required unless these have omitempty or omitzero, and described by their
// jsonschema tags. A text is returned to the model as it is, anything else as JSON. What
// cannot be made a schema of is an error of the turns that use it.
func New[In, Out any](name, description string, do func(ctx context.Context, in In) (Out, error)) Function {
	f := Function{Tool: scrollback.Tool{Name: name, Description: description}}
	schema, err := jsonschema.For[In](nil)
	if err == nil {
		f.Parameters, err = plainjson.Marshal(schema)
	}
	if err == nil && schema.Type != "object" {
		err = fmt.Errorf("the arguments must be a struct or a map, not %T", *new(In))
	}
	if err != nil {
		f.err = scrollback.ParamErrorf("functions.New", "tools", i18n.FunctionCannotBeTool, name, err)
	}
	f.Call = func(ctx context.Context, arguments json.RawMessage) (string, error) {
		var in In
		read := json.NewDecoder(bytes.NewReader(arguments))
		read.DisallowUnknownFields()
		if err := read.Decode(&in); err != nil {
			return "", fmt.Errorf("the arguments do not fit: %w", err)
		}
		out, err := do(ctx, in)
		if err != nil {
			return "", err
		}
		if text, ok := any(out).(string); ok {
			return text, nil
		}
		text, err := plainjson.Marshal(out)
		return string(text), err
	}
	return f
}

// MaxRounds is how often Turn sends results before it gives up.
const MaxRounds = 50

// Turn returns a turn with functions as tools, beside those that the request names itself. It yields
// the events of all its turns as they come, with one DoneEvent at the end. The calls of a step
// run one after the other. If one of them is of a tool that is no function, all stay open, and
// the turn ends as waiting, as engine.View.Turn has it.
func Turn(ctx context.Context, v *engine.View, ask engine.TurnRequest,
	all ...Function) iter.Seq2[scrollback.Event, error] {
	return func(yield func(scrollback.Event, error) bool) {
		tools := slices.Clone(ask.Tools)
		for _, f := range all {
			if f.err != nil {
				yield(nil, f.err)
				return
			}
			tools = append(tools, f.Tool)
		}
		ask.Tools = tools
		for round := 0; ; round++ {
			done, ok := passEvents(v.Turn(ctx, ask), yield)
			if !ok {
				return
			}
			if done.Status != scrollback.TurnWaiting {
				yield(done, nil)
				return
			}
			results, err := runCalls(ctx, v, ask.Conversation, done.TurnID, all)
			if err == nil && round == MaxRounds {
				err = scrollback.Errorf(scrollback.Unavailable, "functions.Turn",
					i18n.FunctionsNeverEnd, MaxRounds).WithReason(scrollback.ErrReplyBound)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if results == nil {
				yield(done, nil)
				return
			}
			ask = engine.TurnRequest{Conversation: ask.Conversation, ToolResults: results, Overrides: ask.Overrides,
				PlainMarks: ask.PlainMarks, Zone: ask.Zone, Quota: ask.Quota}
		}
	}
}

// passEvents yields the events of a turn up to its end, and returns that; false if it was not
// reached, or nobody reads any more.
func passEvents(events iter.Seq2[scrollback.Event, error],
	yield func(scrollback.Event, error) bool) (done scrollback.DoneEvent, ok bool) {
	for ev, err := range events {
		if end, is := ev.(scrollback.DoneEvent); is {
			return end, true
		}
		if !yield(ev, err) || err != nil {
			return done, false
		}
	}
	return done, false
}

// runCalls runs the open calls of a turn; nil if one of them is not of a function.
func runCalls(ctx context.Context, v *engine.View, id scrollback.ConversationID, turn scrollback.TurnID,
	all []Function) ([]engine.ToolResult, error) {
	entry, err := v.Turns().Get(ctx, id, turn)
	if err != nil {
		return nil, err
	}
	var out []engine.ToolResult
	run := make([]Function, len(entry.OpenCalls))
	for i, c := range entry.OpenCalls {
		at := slices.IndexFunc(all, func(f Function) bool { return f.Name == c.Name })
		if at < 0 {
			return nil, nil
		}
		run[i] = all[at]
	}
	for i, c := range entry.OpenCalls {
		if err := ctx.Err(); err != nil {
			return nil, scrollback.Wrap(scrollback.Canceled, "functions.Turn", err)
		}
		text, err := run[i].callSafely(ctx, c.Arguments)
		if err != nil {
			text = err.Error()
		}
		out = append(out, engine.ToolResult{CallID: c.ID, Text: text, IsError: err != nil})
	}
	return out, nil
}

// callSafely calls the function; a panic is an error.
func (f Function) callSafely(ctx context.Context, arguments json.RawMessage) (text string, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			text = ""
			err = fmt.Errorf("the function %s panicked: %v", f.Name, fault)
		}
	}()
	return f.Call(ctx, arguments)
}
