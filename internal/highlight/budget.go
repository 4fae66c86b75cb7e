package highlight

import (
	"sync/atomic"
	"time"
)

// Time that highlighting may take.
const (
	TextTime = 300 * time.Millisecond // of one text, all its pieces of code together
	PageTime = time.Second            // of all texts that are shown at once
)

// Budget is time that several pieces of code share.
type Budget struct {
	left    atomic.Int64 // nanoseconds
	of      *Budget
	starved atomic.Bool
}

// NewBudget makes a budget.
func NewBudget(left time.Duration) *Budget { return (*Budget)(nil).NewPart(left) }

// NewPart makes a budget that spends this one's time too. A part of nil stands alone.
func (b *Budget) NewPart(left time.Duration) *Budget {
	part := &Budget{of: b}
	part.left.Store(int64(left))
	return part
}

// IsStarved reports whether code was left as it was because others had spent the time: another time
// it might be split further.
func (b *Budget) IsStarved() bool { return b.starved.Load() }

// SplitCode splits code within what is left; see the function of that name.
func (b *Budget) SplitCode(code, language string) []Token {
	own := time.Duration(b.left.Load())
	within := own
	if b.of != nil {
		within = min(within, time.Duration(b.of.left.Load()))
	}
	began := time.Now()
	tokens, complete := SplitCode(code, language, within)
	took := time.Since(began)
	if !complete && within < own {
		b.starved.Store(true)
	}
	b.left.Add(-int64(took))
	if b.of != nil {
		b.of.left.Add(-int64(took))
	}
	return tokens
}
