package scrollback

import (
	"encoding/json"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Event is one thing that happens while a turn runs. The kinds are the types in
// this file and no others. At counts characters (Unicode code points) before
// the piece, within its step; deltas joined by At equal the stored message.
type Event interface {
	eventType() string
}

// TurnEvent opens a turn.
type TurnEvent struct {
	TurnID        TurnID    `json:"turn_id"`
	UserMessageID MessageID `json:"user_message_id"`
	Seq           int64     `json:"seq"`
}

// DeltaEvent is a piece of the reply.
type DeltaEvent struct {
	Content string `json:"content"`
	At      int    `json:"at"`
}

// ReasoningEvent is a piece of the model's reasoning.
type ReasoningEvent struct {
	Content string `json:"content"`
	At      int    `json:"at"`
}

// ToolCallEvent is a call the model made.
type ToolCallEvent struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// ToolResultEvent is the result of a call that was run inside the turn.
type ToolResultEvent struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Ref    Ref    `json:"ref,omitempty"`
	// Conversation is the sub-agent whose result it is.
	Conversation ConversationID `json:"conversation_id,omitempty"`
}

// MessageEvent reports that a reply or tool message is stored.
type MessageEvent struct {
	MessageID MessageID `json:"message_id"`
	Seq       int64     `json:"seq"`
}

// SearchEvent is a search of the web for this turn. One whose query was shown before
// takes its place.
type SearchEvent struct {
	Search
}

// SnapshotEvent is the step so far, for a reader who attaches late.
type SnapshotEvent struct {
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning"`
	ToolCalls []ToolCall `json:"tool_calls"`
	At        int        `json:"at"`
}

// CompactingEvent says that a request is too big for its budget, both in tokens of the
// model, and waits until the conversation is compacted.
type CompactingEvent struct {
	Tokens int64 `json:"tokens"`
	Budget int64 `json:"budget"`
}

// CompactionEvent reports a compaction.
type CompactionEvent struct {
	Receipt
}

// UsageEvent reports what the turn has consumed so far.
type UsageEvent struct {
	Usage
}

// CreditsEvent is what the turn has cost so far, as the provider itself reports it.
type CreditsEvent struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// MetaEvent carries additional facts about the turn; later ones override per field. ThinkingMS is how
// long the turn's models thought before they spoke. Limit is the window in tokens,
// and LimitFrom how it is known: an assumed one is a guess.
type MetaEvent struct {
	Model      string    `json:"model,omitempty"`
	ThinkingMS int64     `json:"thinking_ms,omitempty"`
	CacheReuse float64   `json:"cache_reuse"`
	Tokens     int64     `json:"tokens"` // of the request
	Budget     int64     `json:"budget"`
	Limit      int64     `json:"limit"`
	LimitFrom  LimitFrom `json:"limit_from"`

	References []Reference `json:"references,omitempty"` // of the prompt
}

// ErrorEvent reports why the turn fails.
type ErrorEvent struct {
	Failure
}

// DoneEvent closes a turn. Status is the turn's state.
type DoneEvent struct {
	TurnID       TurnID    `json:"turn_id"`
	MessageID    MessageID `json:"message_id"`
	Status       TurnState `json:"status"`
	FinishReason string    `json:"finish_reason"`
}

func (TurnEvent) eventType() string       { return "turn" }
func (DeltaEvent) eventType() string      { return "delta" }
func (ReasoningEvent) eventType() string  { return "reasoning" }
func (ToolCallEvent) eventType() string   { return "tool_call" }
func (ToolResultEvent) eventType() string { return "tool_result" }
func (MessageEvent) eventType() string    { return "message" }
func (SearchEvent) eventType() string     { return "search" }
func (SnapshotEvent) eventType() string   { return "snapshot" }
func (CompactingEvent) eventType() string { return "compacting" }
func (CompactionEvent) eventType() string { return "compaction" }
func (UsageEvent) eventType() string      { return "usage" }
func (CreditsEvent) eventType() string    { return "credits" }
func (MetaEvent) eventType() string       { return "meta" }
func (ErrorEvent) eventType() string      { return "error" }
func (DoneEvent) eventType() string       { return "done" }

// ChangeType is the type of a [Change].
type ChangeType string

// The types of a change. ChangeReset says that some changes are not kept any more: a client that
// follows reads again what it shows. ChangeNone only carries a number.
const (
	ChangeNone         ChangeType = ""
	ChangeConversation ChangeType = "conversation"
	ChangeMessage      ChangeType = "message"
	ChangeTurn         ChangeType = "turn"
	ChangeCompaction   ChangeType = "compaction"
	ChangeTrash        ChangeType = "trash"
	ChangeReset        ChangeType = "reset"
)

// Change is one thing that was done to a conversation, as those who follow all of theirs
// see it. N is its place among all changes; of several with one N, More is set in all but
// the last.
type Change struct {
	N            int64          `json:"-"`
	More         bool           `json:"-"`
	Type         ChangeType     `json:"type"`
	Conversation ConversationID `json:"conversation_id,omitempty"`
	Project      string         `json:"project,omitempty"`
	*ChangedHead                // nil if it is gone

	TurnID   TurnID    `json:"turn_id,omitempty"`
	State    TurnState `json:"state,omitempty"`     // of a turn
	FirstSeq int64     `json:"first_seq,omitempty"` // of messages: the new ones; of a compaction: what it covers
	LastSeq  int64     `json:"last_seq,omitempty"`
	Ref      Ref       `json:"ref,omitempty"`    // of a compaction: its newest segment
	Undone   bool      `json:"undone,omitempty"` // the compaction was taken back
	Gone     bool      `json:"gone,omitempty"`   // the conversation was purged, or went where the reader sees nothing
}

// ChangedHead is a conversation as it stands when somebody is told of a change, which may
// be a little later than the change. DeletedAt is 0 out of the trash.
type ChangedHead struct {
	Title     string    `json:"title"`
	Version   int64     `json:"version"`
	Branch    BranchID  `json:"branch"`
	Messages  int64     `json:"messages"`
	UpdatedAt int64     `json:"updated_at"`
	DeletedAt int64     `json:"deleted_at,omitempty"`
	AgentOf   *AgentRef `json:"agent_of,omitempty"`

	In string `json:"-"` // its project
}

// EncodeEvent returns the JSON of an event: its fields and a leading "type". It is well-formed,
// whatever a model wrote.
func EncodeEvent(ev Event) ([]byte, error) {
	b, err := marshalTagged(ev.eventType(), ev)
	return WellFormed(b), err
}

// ReplyOf reads the events of a turn to their end and returns the text of its last
// message. If the turn failed or was interrupted, it returns an error beside the text
// so far. A turn that waits for results of the caller's tools is no error.
func ReplyOf(events iter.Seq2[Event, error]) (string, error) {
	const op = "scrollback.ReplyOf"
	var text strings.Builder
	var failed error
	stored := false // what text holds, so that the next piece begins another message
	for ev, err := range events {
		if err != nil {
			return text.String(), err
		}
		switch ev.(type) {
		case DeltaEvent, ToolCallEvent, SnapshotEvent:
			if stored {
				text.Reset()
			}
			stored = false
		}
		switch ev := ev.(type) {
		case DeltaEvent:
			text.WriteString(ev.Content)
		case SnapshotEvent:
			text.Reset()
			text.WriteString(ev.Content)
		case MessageEvent:
			stored = true
		case ErrorEvent:
			failed = ev.Err(op)
		case DoneEvent:
			switch {
			case failed != nil || ev.Status != TurnInterrupted:
			case ev.FinishReason == FinishTruncated:
				failed = Errorf(Unavailable, op, i18n.ReplyBrokeOff).WithReason(ErrUpstream)
			default:
				failed = Errorf(Canceled, op, i18n.TurnWasInterrupted)
			}
		}
	}
	return text.String(), failed
}
