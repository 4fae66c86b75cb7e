package anthropic

import "encoding/json"

// request is the body of a request for an answer.
type request struct {
	Model        string        `json:"model"`
	MaxTokens    int64         `json:"max_tokens"`
	Stream       bool          `json:"stream"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	ToolChoice   *choice       `json:"tool_choice,omitempty"`
	Tools        []tool        `json:"tools,omitempty"`
	System       []*block      `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
}

type thinking struct {
	Type         string   `json:"type"` // adaptive, enabled or disabled
	BudgetTokens int64    `json:"budget_tokens,omitempty"`
	Display      string   `json:"display,omitempty"` // summarized or omitted
	BlockBinding *binding `json:"block_binding,omitempty"`
}

// binding says what becomes of thinking when the conversation before it has changed.
type binding struct {
	PrefixMismatchBehavior string `json:"prefix_mismatch_behavior"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

type choice struct {
	Type string `json:"type"`
}

// tool is a tool of ours, or if Type is set one that the server runs itself.
type tool struct {
	Type         string          `json:"type,omitempty"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	MaxUses      int             `json:"max_uses,omitempty"`
	CacheControl *mark           `json:"cache_control,omitempty"`
}

// message is one message; its content is of *block, and of json.RawMessage for what
// goes back as it came.
type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// block is a block of a request, of any type.
type block struct {
	Type string `json:"type"`

	Text string `json:"text,omitempty"`

	Thinking  *string `json:"thinking,omitempty"` // present, if empty, in a block of thinking
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"` // redacted

	Source *source `json:"source,omitempty"`

	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string `json:"tool_use_id,omitempty"`
	Content   string `json:"content,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`

	CacheControl *mark `json:"cache_control,omitempty"`
}

// isThinking reports whether a block is thinking, which is neither changed nor marked.
func (b *block) isThinking() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// mark is where a prompt cache may end.
type mark struct {
	Type string `json:"type"`
}

// payload is what is kept of a block of thinking until it goes back.
type payload struct {
	Signature string `json:"signature,omitempty"`
	Unsigned  bool   `json:"unsigned,omitempty"` // it came without one
	Redacted  string `json:"redacted,omitempty"`
}
