package request

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/token"
)

// AddTrades adds to receipts what was traded for what.
func (x *Previewer) AddTrades(ctx context.Context, rs []scrollback.Receipt,
	settings *Settings) ([]scrollback.Receipt, error) {
	out := append([]scrollback.Receipt{}, rs...)
	for i := range out {
		if err := x.addTrade(ctx, &out[i], settings.ModelTokens); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x *Previewer) addTrade(ctx context.Context, r *scrollback.Receipt, modelTokens func(int64) int64) error {
	made, err := x.store.ReadSegments(ctx, r.Segments)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return nil // of what is inherited, some may be gone
	}
	if err == nil {
		compact.AddTrade(r, made, token.Count, modelTokens)
	}
	return err
}
