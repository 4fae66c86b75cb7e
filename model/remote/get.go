package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

const (
	getTime  = 5 * time.Second // a list must not hold up the first turn for long
	getBytes = 8 << 20
)

// GetJSON asks once for a JSON value, such as a list of models, and reads it into v.
func (c *Client) GetJSON(parent context.Context, url string, v any) error {
	return c.AskJSON(parent, Exchange{URL: url}, v)
}

// AskJSON makes an exchange once, whose answer is one JSON value, and reads it into v.
func (c *Client) AskJSON(parent context.Context, x Exchange, v any) error {
	ctx, cancel := context.WithTimeout(parent, getTime)
	defer cancel()
	resp, err := c.sendRequest(ctx, &x)
	if err != nil {
		return c.classifyFault(parent, ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.readRefusal(resp, resp.Body, x)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, getBytes))
	if err != nil {
		return c.classifyFault(parent, ctx, err)
	}
	if json.Unmarshal(raw, v) != nil {
		return c.newUnreadableError(resp.Header, raw)
	}
	return nil
}
