// Package wire holds OpenAI's JSON as types, that of chat completions and that of
// responses: for the client that speaks to servers of that kind, and for a server
// that speaks as one.
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
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
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

	PromptCacheKey string `json:"prompt_cache_key,omitempty"`

	// How much to think, in the dialects of different servers.
	ReasoningEffort  string         `json:"reasoning_effort,omitempty"`
	Reasoning        *ReasoningWish `json:"reasoning,omitempty"`
	Thinking         *ThinkingWish  `json:"thinking,omitempty"`
	EnableThinking   *bool          `json:"enable_thinking,omitempty"`
	ThinkingBudget   int64          `json:"thinking_budget,omitempty"`
	PreserveThinking bool           `json:"preserve_thinking,omitempty"` // reasoning that is sent back is read
}

// ReasoningWish is how much to think, as OpenRouter takes it.
type ReasoningWish struct {
	Effort    string `json:"effort,omitempty"`
	MaxTokens int64  `json:"max_tokens,omitempty"`
	Enabled   *bool  `json:"enabled,omitempty"`
}

// ThinkingWish turns thinking on or off, as DeepSeek, Ark and Moonshot take it.
type ThinkingWish struct {
	Type string `json:"type,omitempty"` // enabled or disabled
	Keep string `json:"keep,omitempty"` // all: reasoning that is sent back is read
}

// StreamOptions asks for usage at the end of a stream.
type StreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Message is one entry of a request, or the answer of a response that is not
// streamed. Reasoning has one of two names, or comes as a list of details.
type Message struct {
	Role             string            `json:"role"`
	Content          Content           `json:"content"`
	Name             string            `json:"name,omitempty"`
	Reasoning        *string           `json:"reasoning,omitempty"`
	ReasoningContent *string           `json:"reasoning_content,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	Refusal          *string           `json:"refusal,omitempty"`
	ToolCalls        []ToolCall        `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
	FunctionCall     *FunctionCall     `json:"function_call,omitempty"` // the one call of older servers
	Annotations      []Annotation      `json:"annotations,omitempty"`   // pages that an answer cites

	Beside Beside `json:"-"`
}

// Content is a text, a list of parts, or null. One text part alone is written as
// a plain text, which every server understands.
type Content []ContentPart

// ContentPart is a text or an image. Thinking is how some servers stream
// reasoning inside content.
type ContentPart struct {
	Type     string    `json:"type"` // text, image_url or thinking
	Text     string    `json:"text,omitempty"`
	ImageURL *ImageURL `json:"image_url,omitempty"`
	Thinking Thoughts  `json:"thinking,omitempty"`

	CacheControl *CacheControl `json:"cache_control,omitempty"`

	Beside Beside `json:"-"` // of a thought
}

// CacheControl marks where a prompt may be cached up to, as OpenRouter passes it on
// to Anthropic.
type CacheControl struct {
	Type string `json:"type"` // ephemeral
}

// NoText returns the content "", for servers that refuse null.
func NoText() Content { return Content{{Type: "text"}} }

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
	case len(c) == 1 && c[0].Type == "text" && c[0].CacheControl == nil:
		return marshalPlain(c[0].Text)
	}
	return marshalPlain([]ContentPart(c))
}

// marshalPlain returns v as JSON in which < is <.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
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
	if json.Unmarshal(b, &parts) == nil {
		*c = parts
		return nil
	}
	var part ContentPart
	if err := json.Unmarshal(b, &part); err != nil {
		return fmt.Errorf("content is neither a text nor a list of parts")
	}
	*c = Content{part}
	return nil
}

// Text joins the text parts.
func (c Content) Text() string {
	var b strings.Builder
	for _, p := range c {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Thought joins what is reasoning in the content.
func (c Content) Thought() string {
	var b strings.Builder
	for _, p := range c {
		b.WriteString(Content(p.Thinking).Text())
	}
	return b.String()
}

// Thoughts are the texts in a part of type thinking: always written as a list.
type Thoughts Content

// MarshalJSON writes the list.
func (t Thoughts) MarshalJSON() ([]byte, error) { return marshalPlain([]ContentPart(t)) }

// UnmarshalJSON reads every form of content.
func (t *Thoughts) UnmarshalJSON(b []byte) error { return (*Content)(t).UnmarshalJSON(b) }

// Tool defines a function.
type Tool struct {
	Type     string   `json:"type"` // function, or a tool that the server runs itself
	Function Function `json:"function,omitzero"`
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
	Index    *Number      `json:"index,omitempty"`
	ID       Word         `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function FunctionCall `json:"function"`

	// What servers put beside a call and want back with it, such as Gemini's signature of
	// the thought behind it: Google's own server in the first, gateways in the second.
	ExtraContent           json.RawMessage `json:"extra_content,omitempty"`
	ProviderSpecificFields json.RawMessage `json:"provider_specific_fields,omitempty"`

	Beside Beside `json:"-"`
}

// FunctionCall names the function and holds its arguments, or a piece of them.
type FunctionCall struct {
	Name      string `json:"name,omitempty"`
	Arguments Inner  `json:"arguments"`

	Beside Beside `json:"-"`
}

// Response is the answer to a request that was not streamed.
type Response struct {
	ID      Word     `json:"id"`
	Model   string   `json:"model"`
	Choices []Choice `json:"choices"`
	Usage   *Usage   `json:"usage,omitempty"`
}

// Choice is one answer of a response.
type Choice struct {
	Index        Number          `json:"index"`
	Message      Message         `json:"message"`
	Text         string          `json:"text,omitempty"` // of older servers, in place of the message
	FinishReason *string         `json:"finish_reason"`
	Usage        *Usage          `json:"usage,omitempty"`
	Error        json.RawMessage `json:"error,omitempty"`
}

// Chunk is one event of a stream. Usage may be null in all but the last. Error is
// whatever a server that fails in mid-stream writes there.
type Chunk struct {
	ID      Word            `json:"id"`
	Object  string          `json:"object,omitempty"`
	Created Number          `json:"created,omitempty"`
	Model   string          `json:"model,omitempty"`
	Choices []ChunkChoice   `json:"choices"`
	Usage   *Usage          `json:"usage,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// ChunkChoice is a piece of an answer. Some servers send a whole Message instead
// of a Delta, or count what was used here.
type ChunkChoice struct {
	Index        Number          `json:"index"`
	Delta        Delta           `json:"delta"`
	Message      *Message        `json:"message,omitempty"`
	Text         string          `json:"text,omitempty"` // of older servers, in place of the delta
	FinishReason *string         `json:"finish_reason"`
	Usage        *Usage          `json:"usage,omitempty"`
	Error        json.RawMessage `json:"error,omitempty"`
}

// Delta is what a chunk adds.
type Delta struct {
	Role             string            `json:"role,omitempty"`
	Content          Content           `json:"content,omitempty"`
	Reasoning        *string           `json:"reasoning,omitempty"`
	ReasoningContent *string           `json:"reasoning_content,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	Refusal          *string           `json:"refusal,omitempty"`
	ToolCalls        []ToolCall        `json:"tool_calls,omitempty"`
	FunctionCall     *FunctionCall     `json:"function_call,omitempty"` // the one call of older servers
	Annotations      []Annotation      `json:"annotations,omitempty"`   // pages that are cited

	Beside Beside `json:"-"`
}

// ErrorBody is the body of a failed request.
type ErrorBody struct {
	Error Error `json:"error"`
}

// Error is why a request failed.
type Error struct {
	Message string  `json:"message"`
	Type    string  `json:"type,omitempty"`
	Param   *string `json:"param,omitempty"`
	Code    Word    `json:"code,omitempty"`
}
