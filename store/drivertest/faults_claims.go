package drivertest

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

type faultyClaims struct {
	driver.Claims
	of *Faulty
}

// Claim implements [driver.Claims].
func (f faultyClaims) Claim(ctx context.Context, c driver.Claim) (bool, error) {
	return faulty(f.of, "Claim", func() (bool, error) { return f.Claims.Claim(ctx, c) })
}

// Release implements [driver.Claims].
func (f faultyClaims) Release(ctx context.Context, c driver.Claim) error {
	return alone(f.of, "Release", func() error { return f.Claims.Release(ctx, c) })
}

// TakeOver implements [driver.Turns].
func (f faultyTurns) TakeOver(ctx context.Context, t driver.TakeOver) (scrollback.Turn, error) {
	return faulty(f.of, "TakeOver", func() (scrollback.Turn, error) { return f.Turns.TakeOver(ctx, t) })
}
