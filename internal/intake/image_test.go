package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// Forty images, one a message, five a message, or all at once where twenty is the most and
// the others are left out, as is said: no request has more than its budget, and the
// conversation goes on.
func TestFortyImages(t *testing.T) {
	for _, each := range []int{1, 5, 20, 40} {
		t.Run(fmt.Sprint(each, " at once"), func(t *testing.T) {
			j := &enginetest.Judge{T: t, Budget: window.NewBudget(60_000, 2000), Say: func(int,
				model.Request) []model.Delta {
				return []model.Delta{{Text: "seen"}}
			}}
			r := enginetest.New(t, enginetest.Options{Limit: 60_000}, j.Step())
			id := r.NewConversation()
			for n := 0; n < 40; n += each {
				parts := enginetest.Say(fmt.Sprint("look at these, from ", n))
				for k := range each {
					parts = append(parts, r.UploadImage(id, n+k))
				}
				e := r.Run(engine.TurnRequest{Conversation: id, Message: parts})
				d, ok := enginetest.Last[scrollback.DoneEvent](e)
				if e.Err != nil || !ok || d.Status != scrollback.TurnComplete {
					t.Fatalf("from %d: %+v, %v", n, d, e.Err)
				}
				meta, _ := enginetest.Last[scrollback.MetaEvent](e)
				if each > 20 && (len(meta.References) != 1 || !strings.Contains(meta.References[0].Note, "at most 20 images")) ||
					each <= 20 && len(meta.References) > 0 {
					t.Errorf("what is left out of %d: %+v", each, meta.References)
				}
			}
			seen := 0
			for _, m := range r.Log(id) {
				for _, p := range m.Parts {
					if _, ok := p.(scrollback.Image); ok {
						seen++
					}
				}
			}
			if want := min(each, 20) * (40 / each); seen != want {
				t.Errorf("%d images are in the log", seen)
			}
			enginetest.RunFourTurns(t, r, id)
			if !slices.ContainsFunc(r.Log(id), func(m scrollback.Message) bool {
				return strings.HasPrefix(m.Parts.Text(), "And then")
			}) {
				t.Error("nothing was said after them")
			}
		})
	}
}
