package anthropic

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// List implements model.Lister: what the server says about the model, zeros where it
// says nothing.
func (m *Model) List(ctx context.Context) (limit, maxOutput int64, err error) {
	var info struct {
		MaxInput  usageCount `json:"max_input_tokens"`
		MaxOutput usageCount `json:"max_tokens"`
	}
	read := func(a *remote.Answer) error {
		raw, err := a.ReadWhole()
		if err != nil {
			return err
		}
		if json.Unmarshal(raw, &info) != nil {
			return a.UnreadableError(raw)
		}
		return a.EmitDelta(model.Delta{Finish: scrollback.FinishStop})
	}
	plan := func(scrollback.Learned) (remote.Exchange, error) {
		return remote.Exchange{URL: m.base + "/v1/models/" + url.PathEscape(m.id), Header: m.head, Read: read}, nil
	}
	for _, err := range m.client.Stream(ctx, model.Request{}, plan) {
		if err != nil {
			return 0, 0, err
		}
	}
	return info.MaxInput.n, info.MaxOutput.n, nil
}
