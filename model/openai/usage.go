package openai

import (
	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/wire"
)

// usageOf reads what a completion used. Servers agree neither where cached tokens
// are told nor whether reasoning is counted as output.
func usageOf(u wire.Usage) *scrollback.Usage {
	out := &scrollback.Usage{InputTokens: int64(u.PromptTokens), OutputTokens: int64(u.CompletionTokens), TotalTokens: int64(u.TotalTokens)}
	if u.CompletionTokensDetails != nil {
		out.ReasoningTokens = int64(u.CompletionTokensDetails.ReasoningTokens)
	} else if u.ReasoningTokens != nil {
		out.ReasoningTokens = int64(*u.ReasoningTokens)
	}
	if d := u.PromptTokensDetails; d != nil {
		out.CachedTokens, out.CacheWriteTokens = int64(d.CachedTokens), int64(max(d.CacheWriteTokens, d.CacheCreationInputTokens))
	}
	for _, n := range []*wire.Number{u.PromptCacheHitTokens, u.CachedTokens} {
		if n != nil && out.CachedTokens == 0 {
			out.CachedTokens = int64(*n)
		}
	}
	apart := out.ReasoningTokens > 0 && out.TotalTokens > 0 && float64(out.InputTokens)+float64(out.OutputTokens)+float64(out.ReasoningTokens) == float64(out.TotalTokens)
	if apart || out.ReasoningTokens > out.OutputTokens && out.ReasoningTokens < 1<<40 {
		out.OutputTokens += out.ReasoningTokens
	}
	if out.CachedTokens > out.InputTokens && out.InputTokens >= 0 && out.CachedTokens < 1<<40 {
		out.InputTokens += out.CachedTokens // the input is what was not cached
	}
	if sum := float64(out.InputTokens) + float64(out.OutputTokens); sum > float64(out.TotalTokens) && sum < 1<<60 && out.TotalTokens >= 0 {
		out.TotalTokens = out.InputTokens + out.OutputTokens
	}
	if u.Cost != nil {
		out.Cost, out.Currency = float64(*u.Cost), "USD"
	}
	return out
}
