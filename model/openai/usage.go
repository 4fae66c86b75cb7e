package openai

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/wire"
)

// readUsage reads what a completion used. Servers disagree on where they report cached
// tokens, and on whether reasoning counts as output.
func readUsage(u wire.Usage) *scrollback.Usage {
	odd := false
	tokens := func(n wire.Number) int64 { // within what is possible
		out := min(max(int64(n), 0), scrollback.MaxCallTokens)
		odd = odd || out != int64(n)
		return out
	}
	out := &scrollback.Usage{InputTokens: tokens(u.PromptTokens), OutputTokens: tokens(u.CompletionTokens),
		TotalTokens: tokens(u.TotalTokens)}
	if u.CompletionTokensDetails != nil {
		out.ReasoningTokens = tokens(u.CompletionTokensDetails.ReasoningTokens)
	} else if u.ReasoningTokens != nil {
		out.ReasoningTokens = tokens(*u.ReasoningTokens)
	}
	if d := u.PromptTokensDetails; d != nil {
		out.CachedTokens = tokens(d.CachedTokens)
		out.CacheWriteTokens = tokens(max(d.CacheWriteTokens, d.CacheCreationInputTokens))
	}
	for _, n := range []*wire.Number{u.PromptCacheHitTokens, u.CachedTokens} {
		if n != nil && out.CachedTokens == 0 {
			out.CachedTokens = tokens(*n)
		}
	}
	apart := out.ReasoningTokens > 0 && out.InputTokens+out.OutputTokens+out.ReasoningTokens == out.TotalTokens
	if apart || out.ReasoningTokens > out.OutputTokens {
		out.OutputTokens += out.ReasoningTokens
	}
	if out.CachedTokens > out.InputTokens {
		out.InputTokens += out.CachedTokens // the input is what was not cached
	}
	out.TotalTokens = max(out.TotalTokens, out.InputTokens+out.OutputTokens)
	if u.Cost != nil {
		out.Cost = float64(*u.Cost)
		out.Currency = "USD"
		if d := u.CostDetails; u.IsBYOK && d != nil { // what the server takes is its fee only
			out.Cost += float64(d.UpstreamInferenceCost)
		}
	}
	if odd {
		*out = out.Doubted()
	}
	return out
}
