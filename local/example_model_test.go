package local_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

// shout repeats the newest message in capitals.
type shout struct{}

func (shout) Facts() model.Facts { return model.Facts{Name: "shout", Limit: 8000, NoSummaries: true} }

func (shout) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		newest := r.Items[len(r.Items)-1]
		for word := range strings.FieldsSeq(newest.Parts.Text()) {
			if err := ctx.Err(); err != nil {
				yield(model.Delta{}, scrollback.Wrap(scrollback.Canceled, "shout", err))
				return
			}
			if !yield(model.Delta{Text: strings.ToUpper(word) + " "}, nil) {
				return
			}
		}
		yield(model.Delta{Finish: scrollback.FinishStop}, nil)
	}
}

// Models of your own are named in Options, and need two methods.
func ExampleOptions_models() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "scrollback")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	sb, err := local.Open(ctx, dir, &local.Options{Model: "shout", Models: map[string]model.Model{"shout": shout{}}})
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	c, _, err := sb.Create(ctx, scrollback.Conversation{})
	if err != nil {
		log.Fatal(err)
	}
	ask := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("is anybody there?")}
	reply, err := scrollback.ReplyOf(sb.Turn(ctx, ask))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply)
	// Output: IS ANYBODY THERE?
}
