package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
)

// windowLister asks a server how long a model's windows are.
type windowLister func(ctx context.Context, m *Model) (limit, maxOutput int64, err error)

// listedModel is a model whose server tells how long its windows are.
type listedModel struct{ *Model }

var (
	_ model.Lister  = (*listedModel)(nil)
	_ model.Offerer = (*listedModel)(nil)
)

// List implements model.Lister.
func (l *listedModel) List(ctx context.Context) (limit, maxOutput int64, err error) {
	return l.d.list(ctx, l.Model)
}

// OfferedModels implements model.Offerer: what the server's list has, but for models that only
// embed texts.
func (l *listedModel) OfferedModels(ctx context.Context) ([]string, error) {
	var list struct {
		Data []listEntry `json:"data"`
	}
	if err := l.client.GetJSON(ctx, l.at.BaseURL+"/models", &list); err != nil {
		return nil, err
	}
	var names []string
	for _, e := range list.Data {
		if e.ID != "" && !strings.Contains(strings.ToLower(e.ID), "embed") {
			names = append(names, l.at.Options.Provider+"/"+e.ID)
		}
	}
	return names, nil
}

// listEntry is a model in a server's list, with the names that servers give to the
// window they serve.
type listEntry struct {
	ID            string          `json:"id"`
	MaxModelLen   wire.Number     `json:"max_model_len"`  // vLLM
	ContextLength wire.Number     `json:"context_length"` // OpenRouter, Moonshot
	Loaded        wire.Number     `json:"loaded_context_length"`
	ContextWindow json.RawMessage `json:"context_window"` // Poe: a number, or an object with context_length
	TopProvider   struct {
		ContextLength       wire.Number `json:"context_length"`
		MaxCompletionTokens wire.Number `json:"max_completion_tokens"`
	} `json:"top_provider"`
}

// windowSize returns how long the window is that is served, 0 where the list does not say.
func (e listEntry) windowSize() int64 {
	var inner struct {
		ContextLength wire.Number `json:"context_length"`
	}
	_ = json.Unmarshal(e.ContextWindow, &inner) // it is a number instead
	var n wire.Number
	_ = json.Unmarshal(e.ContextWindow, &n) // or nothing
	limit := cmp.Or(e.MaxModelLen, e.Loaded, e.ContextLength, inner.ContextLength, n)
	if top := e.TopProvider.ContextLength; top > 0 && (limit == 0 || top < limit) {
		limit = top // one endpoint may hold less
	}
	return windowTokens(limit)
}

// windowTokens returns a number of tokens, 0 for an impossible one.
func windowTokens(n wire.Number) int64 {
	if n < 0 || n > 1<<31 {
		return 0
	}
	return int64(n)
}

// findEntry reads a list and picks the model's entry; the only one of a server that
// serves one model under whatever name.
func (m *Model) findEntry(ctx context.Context, url string) (listEntry, error) {
	var list struct {
		Data []listEntry `json:"data"`
	}
	if err := m.client.GetJSON(ctx, url, &list); err != nil {
		return listEntry{}, err
	}
	for _, e := range list.Data {
		if strings.EqualFold(e.ID, m.at.Model) {
			return e, nil
		}
	}
	if len(list.Data) == 1 && m.at.Options.Provider != "openrouter" {
		return list.Data[0], nil
	}
	return listEntry{}, nil
}

// baseURL returns the address without the version at its end.
func (m *Model) baseURL() string { return strings.TrimSuffix(m.at.BaseURL, "/v1") }

// listPlain reads the list that most servers have.
func listPlain(ctx context.Context, m *Model) (int64, int64, error) {
	e, err := m.findEntry(ctx, m.at.BaseURL+"/models")
	return e.windowSize(), windowTokens(e.TopProvider.MaxCompletionTokens), err
}

// listLMStudio asks for the window that a model was loaded with; what it was
// trained for is not what is served.
func listLMStudio(ctx context.Context, m *Model) (int64, int64, error) {
	e, err := m.findEntry(ctx, m.baseURL()+"/api/v0/models")
	return windowTokens(e.Loaded), 0, err
}

// listLlamaCPP asks for the window of a slot: that of the list is what the model
// was trained for.
func listLlamaCPP(ctx context.Context, m *Model) (int64, int64, error) {
	var props struct {
		Settings struct {
			NCtx wire.Number `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	query := ""
	if m.at.Model != "" {
		query = "?model=" + url.QueryEscape(m.at.Model)
	}
	err := m.client.GetJSON(ctx, m.baseURL()+"/props"+query, &props)
	if err == nil && windowTokens(props.Settings.NCtx) > 0 {
		return windowTokens(props.Settings.NCtx), 0, nil
	}
	var slots []struct {
		NCtx wire.Number `json:"n_ctx"`
	}
	if slotsErr := m.client.GetJSON(ctx, m.baseURL()+"/slots", &slots); slotsErr != nil || len(slots) == 0 {
		return 0, 0, cmp.Or(err, slotsErr)
	}
	return windowTokens(slots[0].NCtx), 0, nil
}
