package watch

import (
	"context"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// Model is m, whose calls are told as those of a turn are.
func Model(m model.Model) model.Model { return told{m} }

type told struct{ model.Model }

// Stream implements [model.Model].
func (t told) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		ctx, call := Asked(ctx, t.Facts().Name)
		finish := ""
		used := scrollback.Usage{}
		failed := error(nil)
		defer func() { call.Ended(finish, used, failed) }()
		for d, err := range t.Model.Stream(ctx, r) {
			if err != nil {
				failed = err
			} else {
				call.Heard()
			}
			if d.Usage != nil {
				used = *d.Usage
			}
			if d.Finish != "" {
				finish = d.Finish
			}
			if !yield(d, err) {
				return
			}
		}
	}
}
