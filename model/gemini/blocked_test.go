package gemini_test

import (
	"errors"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A prompt that is blocked is refused again when it is sent again: it is sent once, and a
// person is told that other words may go.
func TestBlockedPrompt(t *testing.T) {
	var bodies []string
	m := served(t, answers(&bodies, `data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`+"\n\n"), flash, nil)
	_, err := modeltest.Read(m.Stream(t.Context(), modeltest.PlainRequest()))
	f := scrollback.FailureOf(err)
	if !errors.Is(err, scrollback.ErrPermanent) || f.Code != scrollback.Refused || f.Advice != scrollback.AdviceRephrase ||
		len(bodies) != 1 {
		t.Errorf("%v, %+v after %d", err, f, len(bodies))
	}
}
