package wire

import "encoding/json"

// Usage counts tokens. Cached tokens come in one of three dialects.
type Usage struct {
	PromptTokens            Number             `json:"prompt_tokens"`
	CompletionTokens        Number             `json:"completion_tokens"`
	TotalTokens             Number             `json:"total_tokens"`
	PromptTokensDetails     *PromptDetails     `json:"prompt_tokens_details,omitempty"`
	CompletionTokensDetails *CompletionDetails `json:"completion_tokens_details,omitempty"`
	PromptCacheHitTokens    *Number            `json:"prompt_cache_hit_tokens,omitempty"`
	CachedTokens            *Number            `json:"cached_tokens,omitempty"`
	ReasoningTokens         *Number            `json:"reasoning_tokens,omitempty"`
	Cost                    *Real              `json:"cost,omitempty"` // in credits of the server
	CostDetails             *CostDetails       `json:"cost_details,omitempty"`
	// the model was asked with the customer's own key
	IsBYOK bool `json:"is_byok,omitempty"`
}

// UnmarshalJSON never fails: what cannot be read counts nothing.
func (u *Usage) UnmarshalJSON(b []byte) error {
	type plain Usage
	_ = json.Unmarshal(b, (*plain)(u)) // the fields that can be read are
	return nil
}

// CostDetails says what a server paid, or with the customer's own key the customer.
type CostDetails struct {
	UpstreamInferenceCost Real `json:"upstream_inference_cost"`
}

// PromptDetails says how much of a prompt was read from a cache, and written to one.
type PromptDetails struct {
	CachedTokens             Number `json:"cached_tokens"`
	CacheWriteTokens         Number `json:"cache_write_tokens,omitempty"`
	CacheCreationInputTokens Number `json:"cache_creation_input_tokens,omitempty"`
}

// CompletionDetails says how much of an answer was reasoning.
type CompletionDetails struct {
	ReasoningTokens Number `json:"reasoning_tokens"`
}
