package threading

import (
	"context"
	"time"
)

const (
	repeatWindow = time.Minute
	maxCalls     = 8  // equal requests in the window that are calls of a model
	maxReplays   = 30 // equal requests that are answered at all
)

// findSame decides what is done when the same request comes again, and reports whether that is all: it joins while the
// first one runs; where nobody knows whether a finished answer reached its client it is sent once more; and a client
// that asks the same over and over is answered without a call, then not at all. A retry and a request for another
// answer are left to the history.
func (s *search) findSame(ctx context.Context, out *Match, now time.Time) (bool, error) {
	if s.request.Body == (Hash{}) {
		return false, nil
	}
	rows, asked, err := s.Index.Same(ctx, s.scope, out.row.Body, now.Add(-repeatWindow), maxReplays)
	if err != nil {
		return false, err
	}
	var running, finished *RequestRow
	for i := range rows {
		if !rows[i].At.Before(now.Add(-repeatWindow)) {
			asked++
		}
		if running == nil && rows[i].State == Running {
			running = &rows[i]
		}
		if finished == nil && rows[i].State == Finished {
			finished = &rows[i]
		}
	}
	switch {
	case asked >= maxReplays, asked >= maxCalls && running == nil && finished == nil:
		out.Purpose = Refuse
		out.RetryAfter = repeatWindow
	case running != nil:
		out.Purpose = Join
		out.Earlier = running
	case finished != nil && (asked >= maxCalls || finished == &rows[0] && !finished.Delivered):
		out.Purpose = Replay
		out.Earlier = finished
	default:
		return false, nil
	}
	if out.Earlier != nil {
		out.Thread = out.Earlier.Thread
		out.Base = out.Earlier.End
	}
	out.New = nil
	return true, nil
}
