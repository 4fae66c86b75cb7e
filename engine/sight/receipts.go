package sight

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/setting"
	"github.com/scrollback-ai/scrollback/token"
)

// Receipts adds to receipts what was traded for what.
func (x *Sight) Receipts(ctx context.Context, rs []scrollback.Receipt,
	sh *setting.Resolved) ([]scrollback.Receipt, error) {
	out := append([]scrollback.Receipt{}, rs...)
	for i := range out {
		if err := x.trade(ctx, &out[i], sh.ModelTokens); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x *Sight) trade(ctx context.Context, r *scrollback.Receipt, modelTokens func(int64) int64) error {
	made, err := x.store.Segments(ctx, r.Segments)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return nil // of what is inherited, some may be gone
	}
	if err == nil {
		compact.Trade(r, made, token.Count, modelTokens)
	}
	return err
}
