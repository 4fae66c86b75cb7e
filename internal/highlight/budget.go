package highlight

import "time"

// Time that highlighting may take.
const (
	TextTime = 300 * time.Millisecond // of one text, all its pieces of code together
	PageTime = time.Second            // of all texts that are shown at once
)

// Budget is time that several pieces of code share. It is for one goroutine.
type Budget struct {
	left    time.Duration
	of      *Budget
	starved bool
}

// NewBudget makes a budget.
func NewBudget(left time.Duration) *Budget { return &Budget{left: left} }

// Part makes a budget that spends this one's time too. A part of nil stands alone.
func (b *Budget) Part(left time.Duration) *Budget { return &Budget{left: left, of: b} }

// Starved reports whether code was left as it was because others had spent the time: another time
// it might be split further.
func (b *Budget) Starved() bool { return b.starved }

// Split splits code within what is left; see the function of that name.
func (b *Budget) Split(code, language string) []Token {
	within := b.left
	if b.of != nil {
		within = min(within, b.of.left)
	}
	began := time.Now()
	tokens, complete := Split(code, language, within)
	took := time.Since(began)
	if !complete && within < b.left {
		b.starved = true
	}
	b.left -= took
	if b.of != nil {
		b.of.left -= took
	}
	return tokens
}
