package wire

import "encoding/json"

// ResponsesRequest is the body of POST /responses.
type ResponsesRequest struct {
	Model string `json:"model"`
	// InputMessage, FunctionCallItem, FunctionOutput, or an item as it came
	Input           []json.RawMessage   `json:"input"`
	Tools           []ResponsesTool     `json:"tools,omitempty"`
	ToolChoice      string              `json:"tool_choice,omitempty"` // auto, none or required
	MaxOutputTokens int64               `json:"max_output_tokens,omitempty"`
	Reasoning       *ResponsesReasoning `json:"reasoning,omitempty"`
	Include         []string            `json:"include,omitempty"`
	PromptCacheKey  string              `json:"prompt_cache_key,omitempty"`
	Store           bool                `json:"store"`
	Stream          bool                `json:"stream"`
}

// ResponsesTool defines a function, or names a tool that the server runs itself, of which
// only Type is set.
type ResponsesTool struct {
	Type        string          `json:"type"` // function, or web_search
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      *bool           `json:"strict,omitempty"` // of a function
}

// ResponsesReasoning is how much to think, and how much of it is told.
type ResponsesReasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"` // auto, concise or detailed
}

// InputMessage is what somebody said.
type InputMessage struct {
	Type    string         `json:"type"` // message
	Role    string         `json:"role"` // system, developer, user or assistant
	Content []InputContent `json:"content"`
	Phase   string         `json:"phase,omitempty"` // of an answer: commentary or final_answer, as it came
}

// InputContent is a text or an image of a message.
type InputContent struct {
	Type     string `json:"type"` // input_text, output_text or input_image
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// FunctionCallItem is a call. CallID is what its output answers, ID what identifies
// the item itself.
type FunctionCallItem struct {
	Type      string `json:"type"` // function_call
	ID        string `json:"id,omitempty"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// FunctionOutput answers a call.
type FunctionOutput struct {
	Type   string `json:"type"` // function_call_output
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// ResponsesEvent is one event of a stream; which fields are set depends on Type.
type ResponsesEvent struct {
	Type         string           `json:"type"`
	Delta        string           `json:"delta,omitempty"`
	Text         string           `json:"text,omitempty"`      // whole, at its end
	Refusal      string           `json:"refusal,omitempty"`   // likewise
	Arguments    Inner            `json:"arguments,omitempty"` // likewise, of a call
	Name         string           `json:"name,omitempty"`      // with them
	OutputIndex  Number           `json:"output_index,omitempty"`
	SummaryIndex Number           `json:"summary_index,omitempty"`
	ItemID       string           `json:"item_id,omitempty"`
	Item         json.RawMessage  `json:"item,omitempty"`
	Annotation   *Annotation      `json:"annotation,omitempty"`
	Response     *ResponsesAnswer `json:"response,omitempty"`
	Error        json.RawMessage  `json:"error,omitempty"`
}

// ResponsesAnswer is a response, whole or as far as it is.
type ResponsesAnswer struct {
	ID                string             `json:"id"`
	Status            string             `json:"status"` // completed, incomplete, failed, in_progress or cancelled
	Output            []json.RawMessage  `json:"output,omitempty"`
	Usage             *ResponsesUsage    `json:"usage,omitempty"`
	IncompleteDetails *IncompleteDetails `json:"incomplete_details,omitempty"`
	Error             json.RawMessage    `json:"error,omitempty"`
}

// IncompleteDetails says why an answer is not whole.
type IncompleteDetails struct {
	Reason string `json:"reason"`
}

// OutputItem is what an answer is made of: a message, reasoning, or a call.
type OutputItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id,omitempty"`
	Status    string          `json:"status,omitempty"` // completed, incomplete or in_progress
	CallID    string          `json:"call_id,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments Inner           `json:"arguments,omitempty"`
	Input     string          `json:"input,omitempty"` // of a custom_tool_call
	Phase     string          `json:"phase,omitempty"`
	Content   []OutputContent `json:"content,omitempty"`
	Summary   []OutputContent `json:"summary,omitempty"`
	Encrypted string          `json:"encrypted_content,omitempty"`
	Action    *SearchAction   `json:"action,omitempty"` // of a web_search_call
}

// SearchAction is what the server did on the web: search, open_page or find_in_page.
type SearchAction struct {
	Type    string   `json:"type"`
	Query   string   `json:"query,omitempty"`
	Queries []string `json:"queries,omitempty"`
}

// OutputContent is a text of an item: output_text, refusal, summary_text or
// reasoning_text.
type OutputContent struct {
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`
	Refusal string `json:"refusal,omitempty"`

	Annotations []Annotation `json:"annotations,omitempty"`
}

// ResponsesUsage counts tokens.
type ResponsesUsage struct {
	InputTokens         Number             `json:"input_tokens"`
	InputTokensDetails  *PromptDetails     `json:"input_tokens_details,omitempty"`
	OutputTokens        Number             `json:"output_tokens"`
	OutputTokensDetails *CompletionDetails `json:"output_tokens_details,omitempty"`
	TotalTokens         Number             `json:"total_tokens"`
}
