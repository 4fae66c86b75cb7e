package model

import (
	"cmp"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Bounds limit one reply. A server that goes beyond them is stopped,
// and what it said so far is kept.
type Bounds struct {
	Chars          int           // of text; 0 means 500,000
	ReasoningChars int           // of reasoning; 0 means 200,000
	ArgumentBytes  int           // of all calls' arguments together; 0 means 1 MiB
	OpaqueBytes    int           // of payloads that are kept for the provider; 0 means 4 MiB
	Calls          int           // 0 means 128
	FrameBytes     int           // of one frame of a stream; 0 means 8 MiB
	Duration       time.Duration // of the whole reply; 0 means an hour
}

// WithDefaults returns b with the defaults in place of zeros.
func (b Bounds) WithDefaults() Bounds {
	return Bounds{
		Chars: cmp.Or(b.Chars, 500_000), ReasoningChars: cmp.Or(b.ReasoningChars, 200_000),
		ArgumentBytes: cmp.Or(b.ArgumentBytes, 1<<20),
		OpaqueBytes:   cmp.Or(b.OpaqueBytes, 4<<20), Calls: cmp.Or(b.Calls, 128), FrameBytes: cmp.Or(b.FrameBytes, 8<<20),
		Duration: cmp.Or(b.Duration, time.Hour),
	}
}

// NewBoundError returns the error of a reply that went beyond a bound; what names the bound with
// its figure.
func NewBoundError(what string) error {
	return scrollback.Errorf(scrollback.Unavailable, "model", i18n.ModelAnswerStopped,
		what).WithReason(scrollback.ErrReplyBound)
}
