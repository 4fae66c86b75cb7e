package sight

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/setting"
	"github.com/scrollback-ai/scrollback/token"
)

// Receipts adds to receipts what was traded for what.
func (x *Sight) Receipts(ctx context.Context, rs []scrollback.Receipt, sh *setting.Resolved) ([]scrollback.Receipt, error) {
	out := append([]scrollback.Receipt{}, rs...)
	for i := range out {
		r := &out[i]
		made, err := x.store.Segments(ctx, r.Segments)
		if scrollback.CodeOf(err) == scrollback.NotFound {
			continue // of what is inherited, some may be gone
		}
		if err != nil {
			return nil, err
		}
		compact.Trade(r, made, token.Count, sh.ModelTokens)
	}
	return out, nil
}

// Returned completes the receipt of an undoing, or of doing it again, by the manifests
// before and after it.
func (x *Sight) Returned(r scrollback.Receipt, before, after scrollback.Manifest) scrollback.Receipt {
	r.TokensBefore, r.TokensAfter, r.CreatedAt = before.Tokens, after.Tokens, x.store.Now()
	if r.Segments == nil {
		r.Segments, r.Refs = []scrollback.SegmentID{}, []scrollback.Ref{}
	}
	return r
}
