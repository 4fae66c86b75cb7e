package model

import (
	"context"
	"errors"
	"iter"
	"runtime/debug"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// GuardStream returns what a model streams, with the faults of a model of one's own made errors of its
// reply: an error that is not a *scrollback.Error becomes unavailable, with its words, and so
// does a panic, whose stack is given to panicked. A panic when nobody reads any more, such as that
// of a model which goes on all the same, is given to panicked and changes nothing.
func GuardStream(ctx context.Context, m Model, r Request, panicked func(stack []byte)) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		// the model's code runs; nobody reads any more
		inside := true
		over := false
		defer func() {
			if !inside {
				return // it is not the model's
			}
			fault := recover()
			if fault == nil {
				return
			}
			panicked(debug.Stack())
			if !over {
				yield(Delta{}, panicError(modelName(m), fault))
			}
		}()
		for d, err := range m.Stream(ctx, r) {
			inside = false
			over = !yield(d, withCode(m, err))
			inside = true
			if over {
				return
			}
		}
	}
}

// withCode returns an error of a model with a code, so that its words reach the caller.
func withCode(m Model, err error) error {
	var known *scrollback.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	return scrollback.Errorf(scrollback.Unavailable, "model.Stream", i18n.ModelFailed, modelName(m), err).
		WithReason(scrollback.ErrUpstream)
}

// GuardFacts returns what a model with a name says of itself. One that panics, or that a program
// forgot to make, cannot be asked, and its facts say why.
func GuardFacts(m Model, name string) (f Facts) {
	defer func() {
		if fault := recover(); fault != nil {
			f = Facts{Name: name, Unready: panicError(name, fault)}
		}
	}()
	return m.Facts()
}

// modelName returns the name of a model, empty if it does not say.
func modelName(m Model) string { return GuardFacts(m, "").Name }

func panicError(name string, fault any) error {
	return scrollback.Errorf(scrollback.Unavailable, "model.Stream", i18n.ModelPanicked, name, fault).
		WithReason(scrollback.ErrUpstream)
}
