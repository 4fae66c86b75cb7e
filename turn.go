package scrollback

import "encoding/json"

// TurnState says how far a turn has come.
type TurnState string

// The states of a turn. Only an open one holds the conversation.
const (
	TurnOpen        TurnState = "open"
	TurnWaiting     TurnState = "waiting" // for the client's tool results
	TurnComplete    TurnState = "complete"
	TurnInterrupted TurnState = "interrupted"
	TurnFailed      TurnState = "failed"
	TurnOverBudget  TurnState = "over_budget"
)

// Finish reasons of a turn, besides what a model reports.
const (
	FinishStop      = "stop"
	FinishToolCalls = "tool_calls"
	FinishMaxSteps  = "max_steps"
	FinishLength    = "length"
	FinishTruncated = "truncated" // the stream ended without a reason
	FinishBound     = "bound"     // it exceeded a bound and was stopped
)

// Turn leads from a user message to its answer. Seq is the head when it
// began: its user message, if it came with one. Its Owner may write to
// it until LeaseUntil (Unix ms, the store's clock).
type Turn struct {
	ID           TurnID         `json:"id"`
	Conversation ConversationID `json:"conversation_id"`
	Branch       BranchID       `json:"branch"`
	Seq          int64          `json:"seq"`
	UserMessage  MessageID      `json:"user_message_id,omitempty"`
	State        TurnState      `json:"state"`
	Owner        string         `json:"-"`
	LeaseUntil   int64          `json:"-"`
	Cancel       bool           `json:"-"` // somebody asked to stop it
	Draft        Draft          `json:"draft"`
	OpenCalls    []ToolCall     `json:"open_calls,omitempty"`
	Reply        MessageID      `json:"message_id,omitempty"` // the last assistant message it stored
	FinishReason string         `json:"finish_reason,omitempty"`
	Failure      *Failure       `json:"error,omitempty"`
	Idempotency  Idempotency    `json:"-"`
	Window       *WindowMark    `json:"-"`
	StartedAt    int64          `json:"started_at"`
	EndedAt      int64          `json:"ended_at,omitempty"`
}

// Draft is the answer so far, saved once a second while a model writes.
type Draft struct {
	Content   string     `json:"content,omitempty"`
	Reasoning string     `json:"reasoning,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Model     string     `json:"model,omitempty"`
}

// Empty says that nothing has been written yet.
func (d Draft) Empty() bool {
	return d.Content == "" && d.Reasoning == "" && len(d.ToolCalls) == 0
}

// Parts is the draft as message content.
func (d Draft) Parts() Parts {
	var ps Parts
	if d.Reasoning != "" {
		ps = append(ps, Reasoning{Text: d.Reasoning})
	}
	if d.Content != "" {
		ps = append(ps, Text{Text: d.Content})
	}
	for _, c := range d.ToolCalls {
		ps = append(ps, c)
	}
	return ps
}

// Idempotency names a request so that sending it twice does it once. Hash is of
// the request's body.
type Idempotency struct {
	Key  string
	Hash string
}

// Failure is why a turn failed, as its caller may see it.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Tool is a function a model may call. Parameters is a JSON Schema.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}
