package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

// Outcome is how a turn went: its events, and the error it ended with.
type Outcome struct {
	Events []scrollback.Event
	Err    error
}

// Run runs a turn to its end.
func (r *Rig) Run(req engine.TurnRequest) Outcome {
	r.T.Helper()
	var out Outcome
	for ev, err := range r.Turn(context.Background(), req) {
		if err != nil {
			out.Err = err
			break
		}
		out.Events = append(out.Events, ev)
	}
	return out
}

// Ask runs a turn that says a text.
func (r *Rig) Ask(id scrollback.ConversationID, text string) Outcome {
	r.T.Helper()
	return r.Run(engine.TurnRequest{Conversation: id, Message: Say(text)})
}

// Last returns the last event of a type.
func Last[T scrollback.Event](e Outcome) (found T, ok bool) {
	for _, ev := range e.Events {
		if v, is := ev.(T); is {
			found = v
			ok = true
		}
	}
	return found, ok
}

// WantDone wants the turn to have ended in a state, for a reason.
func (e Outcome) WantDone(t *testing.T, want scrollback.TurnState, reason string) {
	t.Helper()
	d, ok := Last[scrollback.DoneEvent](e)
	if e.Err != nil || !ok || d.Status != want || d.FinishReason != reason {
		t.Fatalf("the turn ended %+v (%v), want %s %q; events %+v", d, e.Err, want, reason, e.Events)
	}
}

// UploadImage uploads a small image unlike any other.
func (r *Rig) UploadImage(id scrollback.ConversationID, n int) scrollback.Part {
	r.T.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	img.Set(n%64, n/64, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		r.T.Fatal(err)
	}
	a, err := r.Upload(context.Background(), id, &b, fmt.Sprintf("%d.png", n))
	if err != nil {
		r.T.Fatal(err)
	}
	return scrollback.Image{Artifact: a.ID}
}
