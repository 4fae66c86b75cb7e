package remote

import (
	"context"
	"encoding/json"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// RequestJSON makes an exchange whose answer is one JSON value, and reads it into v. It is tried again as an
// answer is, within a time.
func (c *Client) RequestJSON(ctx context.Context, x Exchange, most time.Duration, v any) error {
	x.Read = func(a *Answer) error {
		raw, err := a.ReadWhole()
		if err != nil {
			return err
		}
		if json.Unmarshal(raw, v) != nil {
			return a.UnreadableError(raw)
		}
		return a.EmitDelta(model.Delta{Finish: scrollback.FinishStop})
	}
	var err error
	r := model.Request{Bounds: model.Bounds{Duration: most}}
	for _, err = range c.Stream(ctx, r, func(scrollback.Learned) (Exchange, error) { return x, nil }) {
	}
	return err
}
