package store

import (
	"context"

	"github.com/scrollback-ai/scrollback/internal/threading"
)

type Threads struct{ *threading.Memory }

func (t Threads) Write(ctx context.Context, rows threading.Rows) error { return t.Memory.Write(rows) }
