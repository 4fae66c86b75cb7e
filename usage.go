package scrollback

// Usage is what one model call, or several added up, consumed. Tokens are the
// provider's own count unless Estimated.
type Usage struct {
	InputTokens      int64   `json:"input_tokens"`
	CachedTokens     int64   `json:"cached_tokens"`
	CacheWriteTokens int64   `json:"cache_write_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	ReasoningTokens  int64   `json:"reasoning_tokens"`
	TotalTokens      int64   `json:"total_tokens"`
	Cost             float64 `json:"cost"`
	Currency         string  `json:"currency"`
	Estimated        bool    `json:"estimated"`
}

// Add is u + o; the sum is estimated when either is.
func (u Usage) Add(o Usage) Usage {
	u.InputTokens += o.InputTokens
	u.CachedTokens += o.CachedTokens
	u.CacheWriteTokens += o.CacheWriteTokens
	u.OutputTokens += o.OutputTokens
	u.ReasoningTokens += o.ReasoningTokens
	u.TotalTokens += o.TotalTokens
	u.Cost += o.Cost
	u.Estimated = u.Estimated || o.Estimated
	if u.Currency == "" {
		u.Currency = o.Currency
	}
	return u
}

// UsageRecord is the usage of one model call, as the books keep it. At is Unix
// ms; Purpose is "turn", "summary" or "title".
type UsageRecord struct {
	Usage
	Conversation ConversationID `json:"conversation_id"`
	TurnID       TurnID         `json:"turn_id,omitempty"`
	Model        string         `json:"model"`
	Purpose      string         `json:"purpose"`
	RequestID    string         `json:"request_id,omitempty"`
	// WindowTokens is what the request weighed in o200k tokens, for the books to
	// learn from; 0 where it tells nothing.
	WindowTokens int64 `json:"-"`
	At           int64 `json:"at"`
}
