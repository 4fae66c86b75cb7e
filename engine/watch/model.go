package watch

import (
	"context"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// WrapModel returns m, whose calls are told as those of a turn are.
func WrapModel(m model.Model) model.Model { return watchedModel{m} }

type watchedModel struct{ model.Model }

// Stream implements [model.Model].
func (t watchedModel) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		ctx, call := BeginCall(ctx, t.Facts().Name)
		finish := ""
		used := scrollback.Usage{}
		failed := error(nil)
		defer func() { call.End(finish, used, failed) }()
		for d, err := range t.Model.Stream(ctx, r) {
			if err != nil {
				failed = err
			} else {
				call.NoteFirst()
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
