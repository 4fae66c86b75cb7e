package oracle

import (
	"context"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// VerifyHashes implements [driver.Admin]. What is in memory is what was stored there.
func (db admin) VerifyHashes(ctx context.Context, _ driver.MessageQuery) (driver.Verified, error) {
	end, err := db.read(ctx, "oracle.Verify")
	defer end()
	return driver.Verified{}, err
}

// FillHashes implements [driver.Admin].
func (db admin) FillHashes(ctx context.Context, _ int) (driver.Filled, error) {
	end, err := db.read(ctx, "oracle.Fill")
	defer end()
	return driver.Filled{Done: err == nil}, err
}

// RefillHashes implements [driver.Admin].
func (db admin) RefillHashes(ctx context.Context) error {
	end, err := db.write(ctx, "oracle.Refill")
	defer end()
	return err
}
