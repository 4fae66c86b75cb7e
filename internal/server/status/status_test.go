package status_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/server/status"
)

// The one table: the numbers of the contract.
func TestOf(t *testing.T) {
	for code, want := range map[scrollback.Code]int{
		scrollback.Invalid: 400, scrollback.Refused: 403, scrollback.NotFound: 404, scrollback.Conflict: 409,
		scrollback.OverBudget:  422,
		scrollback.RateLimited: 429, scrollback.Canceled: 499, scrollback.Internal: 500, scrollback.Unavailable: 503,
	} {
		if got := status.FromError(scrollback.Errorf(code, "op", "text")); got != want {
			t.Errorf("%s has status %d, want %d", code, got, want)
		}
	}
	for _, fine := range []struct {
		code scrollback.Code
		why  error
		want int
	}{
		{scrollback.Invalid, scrollback.ErrTooLarge, 413},
		{scrollback.Conflict, scrollback.ErrPrecondition, 412},
		{scrollback.Conflict, scrollback.ErrLostLease, 409},
		{scrollback.Refused, scrollback.ErrNoKey, 401},
		{scrollback.Unavailable, scrollback.ErrUpstream, 502},
		{scrollback.Unavailable, scrollback.ErrReplyBound, 502},
		{scrollback.Unavailable, scrollback.ErrClosing, 503},
	} {
		wrapped := scrollback.Errorf(fine.code, "op", "text: %w", fine.why)
		because := scrollback.Errorf(fine.code, "op", "text").WithReason(fine.why)
		for _, err := range []error{wrapped, because} {
			if got := status.FromError(fmt.Errorf("around: %w", err)); got != fine.want {
				t.Errorf("%v has status %d, want %d", fine.why, got, fine.want)
			}
		}
	}
	if got := status.FromError(errors.Join(io.EOF)); got != 500 {
		t.Errorf("an unknown error has status %d", got)
	}
}
