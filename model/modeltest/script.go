package modeltest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// Step is what one request to a [Script] gets.
//
// Deltas are sent in order; Reply, when set, makes them from the request
// instead. Then the stream ends: with Err, given as it is, when that is set;
// without a finish reason when NoFinish is; else with a closing delta, unless a
// delta has a Finish already. The closing delta says stop, or tool_calls after a
// call, and gives an estimated usage when no delta gave one.
//
// Gate, when set, is received from before each delta, the closing one included,
// and not before Err: a send lets one delta pass, closing it all that remain. A
// send on an unbuffered gate returns once the model has come to that delta. An
// ended context overrides all of these: the stream ends with canceled.
type Step struct {
	Deltas   []model.Delta
	Gate     <-chan struct{}
	Err      error
	NoFinish bool
	Reply    func(model.Request) []model.Delta
}

// Say returns a step that answers with the pieces of a text.
func Say(pieces ...string) Step {
	var s Step
	for _, p := range pieces {
		s.Deltas = append(s.Deltas, model.Delta{Text: p})
	}
	return s
}

// Call returns a step that calls tools.
func Call(calls ...scrollback.ToolCall) Step {
	var s Step
	for _, c := range calls {
		s.Deltas = append(s.Deltas, model.Delta{Call: &c})
	}
	return s
}

// Script is a model for tests: its i-th request gets its i-th step, and every
// further one the last step again. A repeated step repeats its call ids too; use
// Reply for new ones. Without any step each request is an internal error.
type Script struct {
	facts model.Facts
	steps []Step

	mu       sync.Mutex
	requests []model.Request
}

var _ model.Model = (*Script)(nil)

// NewScript makes a scripted model.
func NewScript(facts model.Facts, steps ...Step) *Script {
	return &Script{facts: facts, steps: steps}
}

// Facts returns what NewScript was given.
func (s *Script) Facts() model.Facts { return s.facts }

// Requests lists the requests so far, in the order their reading began.
func (s *Script) Requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Stream plays the next step. The request counts from the moment the stream is
// read, not from this call.
func (s *Script) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		step, ok := s.nextStep(r)
		if !ok {
			yield(model.Delta{}, scrollback.Errorf(scrollback.Internal, "modeltest.Script", "the script has no steps"))
			return
		}
		for _, d := range step.listDeltas(r) {
			if err := step.waitGate(ctx); err != nil {
				yield(model.Delta{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
		err := step.Err
		if ctx.Err() != nil {
			err = checkContext(ctx)
		}
		if err != nil {
			yield(model.Delta{}, err)
		}
	}
}

func (s *Script) nextStep(r model.Request) (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.requests)
	s.requests = append(s.requests, copyRequest(r))
	if len(s.steps) == 0 {
		return Step{}, false
	}
	return s.steps[min(n, len(s.steps)-1)], true
}

// listDeltas lists the deltas of a step, the closing one included.
func (s Step) listDeltas(r model.Request) []model.Delta {
	ds := slices.Clone(s.Deltas)
	if s.Reply != nil {
		ds = s.Reply(copyRequest(r))
	}
	if s.Err != nil || s.NoFinish {
		return ds
	}
	end := model.Delta{Finish: scrollback.FinishStop}
	u := scrollback.Usage{Estimated: true}
	for _, it := range r.Items {
		u.InputTokens += it.Weight.Tokens
	}
	counted := false
	for _, d := range ds {
		if d.Finish != "" {
			return ds
		}
		if d.Call != nil {
			end.Finish = scrollback.FinishToolCalls
		}
		counted = counted || d.Usage != nil
		u.OutputTokens++
	}
	if !counted {
		u.TotalTokens = u.InputTokens + u.OutputTokens
		end.Usage = &u
	}
	return append(ds, end)
}

// waitGate holds the next delta back until the gate lets it pass.
func (s Step) waitGate(ctx context.Context) error {
	if ctx.Err() == nil && s.Gate != nil {
		select {
		case <-s.Gate:
		case <-ctx.Done():
		}
	}
	return checkContext(ctx)
}

// checkContext is nil while the context lives.
func checkContext(ctx context.Context) error {
	return scrollback.Wrap(scrollback.Canceled, "modeltest.Script", ctx.Err())
}
