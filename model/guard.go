package model

import (
	"context"
	"errors"
	"iter"
	"runtime/debug"

	"github.com/scrollback-ai/scrollback"
)

// Guarded is what a model streams, with the faults of a model of one's own made errors of its
// reply: an error that is not a *scrollback.Error becomes unavailable, with its words, and so
// does a panic, whose stack is given to panicked.
func Guarded(ctx context.Context, m Model, r Request, panicked func(stack []byte)) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		// the model's code runs; nobody reads any more
		inside := true
		over := false
		defer func() {
			if !inside || over {
				return // it is not the model's
			}
			if fault := recover(); fault != nil {
				panicked(debug.Stack())
				yield(Delta{}, scrollback.Errorf(scrollback.Unavailable, "model.Stream", "the model %s panicked: %v",
					m.Facts().Name, fault).Because(scrollback.ErrUpstream))
			}
		}()
		for d, err := range m.Stream(ctx, r) {
			inside = false
			goesOn := yield(d, ownError(m, err))
			inside = true
			if !goesOn {
				over = true
				return
			}
		}
	}
}

// ownError is an error of a model with a code, so that its words reach the caller.
func ownError(m Model, err error) error {
	var known *scrollback.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	return scrollback.Errorf(scrollback.Unavailable, "model.Stream", "the model %s failed: %w", m.Facts().Name, err).
		Because(scrollback.ErrUpstream)
}
