package merge_test

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
)

// counted counts what a store is asked.
type counted struct {
	*mergetest.Memory
	ranges, listed int
}

func (c *counted) Ranges(ctx context.Context, id scrollback.ConversationID, of []merge.Range) ([]merge.Range, error) {
	c.ranges += len(of)
	return c.Memory.Ranges(ctx, id, of)
}

func (c *counted) Messages(ctx context.Context, id scrollback.ConversationID,
	of []merge.Range) ([]scrollback.MessageID, error) {
	out, err := c.Memory.Messages(ctx, id, of)
	c.listed += len(out)
	return out, err
}
