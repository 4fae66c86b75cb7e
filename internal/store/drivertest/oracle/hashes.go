package oracle

import (
	"context"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// VerifyHashes implements [driver.Admin]. What is in memory is what was stored there.
func (db admin) VerifyHashes(ctx context.Context, _ driver.MessageQuery) (driver.HashComparison, error) {
	end, err := db.beginRead(ctx, "oracle.VerifyHashes")
	defer end()
	return driver.HashComparison{}, err
}

// FillHashes implements [driver.Admin].
func (db admin) FillHashes(ctx context.Context, _ int) (driver.FillResult, error) {
	end, err := db.beginRead(ctx, "oracle.FillHashes")
	defer end()
	return driver.FillResult{Done: err == nil}, err
}

// RefillHashes implements [driver.Admin].
func (db admin) RefillHashes(ctx context.Context) error {
	end, err := db.beginWrite(ctx, "oracle.RefillHashes")
	defer end()
	return err
}
