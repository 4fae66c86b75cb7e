// Package model says what the engine needs of a language model: items of a
// window in, deltas out.
//
// Words it adds: request (one step's input), delta (a piece of the output).
//
// A stream yields deltas in the order the model wrote them and ends with exactly
// one delta that has a Finish reason; a stream that ends without one was cut
// off. An error ends the stream. Retries, if any, happen before the first delta
// only. Stopping the iteration or ending the context stops the model.
//
// Errors are *scrollback.Error: unavailable wrapping scrollback.ErrUpstream for
// a provider that fails, rate_limited, refused, over_budget, canceled.
//
// It may not know the store, conversations, HTTP or any one provider.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Model answers requests. It is safe for concurrent use.
type Model interface {
	// Facts is what is known of the model before asking it. It does no I/O.
	Facts() Facts

	// Stream asks for the next assistant message.
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// Facts describes a model. Limit and MaxOutput are tokens; 0 means unknown.
type Facts struct {
	Name      string // as a conversation names it: "provider/name", or "offline"
	Limit     int64
	MaxOutput int64
	Dialect   scrollback.Dialect

	// NoSummaries says that it cannot write a summary, and need not be asked.
	NoSummaries bool
}

// Request is the input of one step. An item of kind KindTools carries no parts:
// the definitions are in Tools.
type Request struct {
	Items           []scrollback.Item
	Tools           []scrollback.Tool
	MaxOutputTokens int64
	AnswerOnly      bool // tools stay defined, and must not be called any more
	Thinking        Thinking

	// Bytes reads an image of the items. Nil means that none can be shown.
	Bytes func(ctx context.Context, id scrollback.ArtifactID) ([]byte, error)
}

// Thinking is how much a model should think before it answers; the zero value
// leaves it to the model. A model that knows less of it ignores the rest.
type Thinking struct {
	Effort string // none, minimal, low, medium, high or xhigh; empty for the model's own
	On     *bool  // nil leaves it as it is
	Budget int64  // tokens; 0 for the model's own
}

// CheckThinking says what is wrong with t, naming the parameter.
func CheckThinking(t Thinking) error {
	switch t.Effort {
	case "", "none", "minimal", "low", "medium", "high", "xhigh":
	default:
		return scrollback.ParamErrorf("model", "reasoning_effort", "unknown effort %q (none, minimal, low, medium, high or xhigh)", t.Effort)
	}
	if t.Budget < 0 {
		return scrollback.ParamErrorf("model", "thinking_budget", "a budget of %d tokens is none", t.Budget)
	}
	return nil
}

// Arguments makes whole arguments of what a model wrote for a call: the JSON
// object itself, {} for nothing, and what is no object inside one, so that the
// tool can say what is wrong with it.
func Arguments(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return json.RawMessage("{}")
	case text[0] == '{' && json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	wrapped, err := json.Marshal(map[string]string{"malformed_arguments": text})
	if err != nil {
		return json.RawMessage("{}") // a text is always JSON: not reached
	}
	return wrapped
}

// Delta is a piece of an answer; any of its fields may be set. A Call is whole.
// Opaque belongs to the text, reasoning or call of the same delta. Usage counts
// the whole request so far; the last one stands.
type Delta struct {
	Text      string
	Reasoning string
	Call      *scrollback.ToolCall
	Opaque    scrollback.Opaque
	Usage     *scrollback.Usage
	RequestID string
	Finish    string // scrollback.FinishStop, FinishToolCalls, FinishLength, …
}
