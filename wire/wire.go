// Package wire holds OpenAI's chat-completions JSON as types: for the client that
// speaks to servers of that kind, and for a server that speaks as one.
//
// Words it adds: chunk (one event of a streamed completion).
//
// Invariants: a field that a provider may leave out or send as null is a pointer
// or has a zero that means absent; both dialects of reasoning are kept apart; what
// is not known is ignored.
//
// It may not know HTTP, conversations or any other room but the root.
package wire

import (
	"encoding/json"
	"fmt"
)

// ChatRequest is the body of POST /chat/completions.
type ChatRequest struct {
	Model               string         `json:"model"`
	Messages            []Message      `json:"messages"`
	Tools               []Tool         `json:"tools,omitempty"`
	ToolChoice          string         `json:"tool_choice,omitempty"` // auto, none or required
	MaxTokens           int64          `json:"max_tokens,omitempty"`
	MaxCompletionTokens int64          `json:"max_completion_tokens,omitempty"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *StreamOptions `json:"stream_options,omitempty"`

	// How much to think, in the dialects of different servers.
	ReasoningEffort string         `json:"reasoning_effort,omitempty"`
	Reasoning       *ReasoningWish `json:"reasoning,omitempty"`
	Thinking        *ThinkingWish  `json:"thinking,omitempty"`
	EnableThinking  *bool          `json:"enable_thinking,omitempty"`
	ThinkingBudget  int64          `json:"thinking_budget,omitempty"`
}

// ReasoningWish is how much to think, as OpenRouter takes it.
type ReasoningWish struct {
	Effort    string `json:"effort,omitempty"`
	MaxTokens int64  `json:"max_tokens,omitempty"`
	Enabled   *bool  `json:"enabled,omitempty"`
}

// ThinkingWish turns thinking on or off, as DeepSeek and Ark take it.
type ThinkingWish struct {
	Type string `json:"type"` // enabled or disabled
}

// StreamOptions asks for usage at the end of a stream.
type StreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Message is one entry of a request, or the answer of a response that is not
// streamed.
type Message struct {
	Role             string     `json:"role"`
	Content          Content    `json:"content"`
	Name             string     `json:"name,omitempty"`
	ToolCalls        []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID       string     `json:"tool_call_id,omitempty"`
	Reasoning        string     `json:"reasoning,omitempty"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
}

// Content is a text, a list of parts, or null. One text part alone is written as
// a plain text, which every server understands.
type Content []ContentPart

// ContentPart is a text or an image.
type ContentPart struct {
	Type     string    `json:"type"` // text or image_url
	Text     string    `json:"text,omitempty"`
	ImageURL *ImageURL `json:"image_url,omitempty"`
}

// ImageURL is an image by address or as a data: URL.
type ImageURL struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitempty"`
}

// MarshalJSON writes the shortest form.
func (c Content) MarshalJSON() ([]byte, error) {
	switch {
	case len(c) == 0:
		return []byte("null"), nil
	case len(c) == 1 && c[0].Type == "text":
		return json.Marshal(c[0].Text)
	}
	return json.Marshal([]ContentPart(c))
}

// UnmarshalJSON reads every form.
func (c *Content) UnmarshalJSON(b []byte) error {
	*c = nil
	if string(b) == "null" {
		return nil
	}
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = Content{{Type: "text", Text: text}}
		return nil
	}
	var parts []ContentPart
	if err := json.Unmarshal(b, &parts); err != nil {
		return fmt.Errorf("content is neither a text nor a list of parts")
	}
	*c = parts
	return nil
}

// Text joins the text parts.
func (c Content) Text() string {
	out := ""
	for _, p := range c {
		out += p.Text
	}
	return out
}

// Tool defines a function.
type Tool struct {
	Type     string   `json:"type"` // function
	Function Function `json:"function"`
}

// Function is a tool's name and its parameters, a JSON Schema.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// ToolCall is a call, or in a chunk a piece of the call at Index. Arguments is
// JSON as a text.
type ToolCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function FunctionCall `json:"function"`
}

// FunctionCall names the function and holds its arguments, or a piece of them.
type FunctionCall struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// Response is the answer to a request that was not streamed.
type Response struct {
	ID      string   `json:"id"`
	Model   string   `json:"model"`
	Choices []Choice `json:"choices"`
	Usage   *Usage   `json:"usage,omitempty"`
}

// Choice is one answer of a response.
type Choice struct {
	Index        int     `json:"index"`
	Message      Message `json:"message"`
	FinishReason *string `json:"finish_reason"`
}

// Chunk is one event of a stream. Usage may be null in all but the last.
type Chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object,omitempty"`
	Created int64         `json:"created,omitempty"`
	Model   string        `json:"model,omitempty"`
	Choices []ChunkChoice `json:"choices"`
	Usage   *Usage        `json:"usage,omitempty"`
	Error   *Error        `json:"error,omitempty"` // some servers fail in mid-stream with a 200
}

// ChunkChoice is a piece of an answer.
type ChunkChoice struct {
	Index        int     `json:"index"`
	Delta        Delta   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

// Delta is what a chunk adds.
type Delta struct {
	Role             string     `json:"role,omitempty"`
	Content          *string    `json:"content,omitempty"`
	Reasoning        *string    `json:"reasoning,omitempty"`
	ReasoningContent *string    `json:"reasoning_content,omitempty"`
	Refusal          *string    `json:"refusal,omitempty"`
	ToolCalls        []ToolCall `json:"tool_calls,omitempty"`
}

// Usage counts tokens. Cached tokens come in one of two dialects.
type Usage struct {
	PromptTokens            int64              `json:"prompt_tokens"`
	CompletionTokens        int64              `json:"completion_tokens"`
	TotalTokens             int64              `json:"total_tokens"`
	PromptTokensDetails     *PromptDetails     `json:"prompt_tokens_details,omitempty"`
	CompletionTokensDetails *CompletionDetails `json:"completion_tokens_details,omitempty"`
	PromptCacheHitTokens    *int64             `json:"prompt_cache_hit_tokens,omitempty"`
	Cost                    *float64           `json:"cost,omitempty"`
}

// PromptDetails says how much of a prompt was cached.
type PromptDetails struct {
	CachedTokens int64 `json:"cached_tokens"`
}

// CompletionDetails says how much of an answer was reasoning.
type CompletionDetails struct {
	ReasoningTokens int64 `json:"reasoning_tokens"`
}

// ErrorBody is the body of a failed request.
type ErrorBody struct {
	Error Error `json:"error"`
}

// Error is why a request failed. Code is a text or a number, by server.
type Error struct {
	Message string          `json:"message"`
	Type    string          `json:"type,omitempty"`
	Param   *string         `json:"param,omitempty"`
	Code    json.RawMessage `json:"code,omitempty"`
}
