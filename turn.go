package scrollback

import (
	"encoding/json"
	"fmt"
	"slices"
)

// TurnState is how far a turn has come.
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

// NeedsEntry reports whether a turn that has ended may need an entry of its own, because
// no message shows why it failed, or that it was stopped.
func (t Turn) NeedsEntry() bool {
	switch t.State {
	case TurnFailed, TurnOverBudget, TurnInterrupted:
		return true
	case TurnOpen:
		return false
	case TurnWaiting, TurnComplete:
	}
	return t.FinishReason == FinishMaxSteps || t.FinishReason == FinishLength
}

// TurnEntry is a turn as a page of messages shows it, if no stored answer tells how it
// went: it runs, was cut off, failed, or stopped at a bound. It stands after message
// AfterSeq. Content, Reasoning and ToolCalls are what it wrote and has not stored.
// Retry says that a turn without a message answers again.
type TurnEntry struct {
	TurnID       TurnID     `json:"turn_id"`
	AfterSeq     int64      `json:"after_seq"`
	State        TurnState  `json:"state"` // TurnOpen while it runs
	Content      string     `json:"content,omitempty"`
	Reasoning    string     `json:"reasoning,omitempty"`
	ToolCalls    []ToolCall `json:"tool_calls,omitempty"`
	Model        string     `json:"model,omitempty"`
	MessageID    MessageID  `json:"message_id,omitempty"` // the last assistant message it stored
	FinishReason string     `json:"finish_reason,omitempty"`
	Error        *Failure   `json:"error,omitempty"`
	Retry        bool       `json:"retry,omitempty"`
	StartedAt    int64      `json:"started_at"`
	EndedAt      int64      `json:"ended_at,omitempty"`
}

// Entry returns the turn as a page shows it.
func (t Turn) Entry() TurnEntry {
	return TurnEntry{TurnID: t.ID, AfterSeq: t.LastSeq, State: t.State, Content: t.Draft.Content,
		Reasoning: t.Draft.Reasoning,
		ToolCalls: t.Draft.ToolCalls, Model: t.Draft.Model, MessageID: t.Reply, FinishReason: t.FinishReason,
		Error:     t.Failure,
		StartedAt: t.StartedAt, EndedAt: t.EndedAt}
}

// MessagePage is a page of messages by seq, with the seq from which the next one continues
// in the same direction (nil at the end) and the turns between them that have no stored
// answer, in order. Running is the turn that runs now, to attach to, on this page or not.
// Meta is what is known of the turns that the messages belong to, where anything is. Without
// is what requests of the branch leave out, on this page or not; see [View].
type MessagePage struct {
	Messages []Message           `json:"messages"`
	Next     *int64              `json:"next"`
	Turns    []TurnEntry         `json:"turns"`
	Running  *TurnID             `json:"running,omitempty"`
	Meta     map[TurnID]TurnMeta `json:"meta,omitempty"`
	Without  []int64             `json:"without,omitempty"`
}

// TurnsAfter returns the turns of the page that stand after message seq.
func (p MessagePage) TurnsAfter(seq int64) []TurnEntry {
	var out []TurnEntry
	for _, t := range p.Turns {
		if t.AfterSeq == seq {
			out = append(out, t)
		}
	}
	return out
}

// Turn leads from a user message to its answer. Seq is the head when it
// began: its user message, if it came with one. LastSeq is the last message that it
// stored, or Seq. Its Owner may write to it until LeaseUntil (Unix ms, the store's clock).
type Turn struct {
	ID           TurnID         `json:"id"`
	Conversation ConversationID `json:"conversation_id"`
	Branch       BranchID       `json:"branch"`
	Seq          int64          `json:"seq"`
	LastSeq      int64          `json:"last_seq"`
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
	Meta         *TurnMeta      `json:"meta,omitempty"` // nil for nothing
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

// IsEmpty reports whether nothing has been written yet.
func (d Draft) IsEmpty() bool {
	return d.Content == "" && d.Reasoning == "" && len(d.ToolCalls) == 0
}

// Parts returns the draft as message content.
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

// SentRequest is the account of one request to a model as it is stored: from which messages,
// segments and texts it was laid out, and what it came to, in the model's own tokens. It
// holds no text: that of the log is in the log, and Instructions and Tools are hashes of
// texts that are kept once for all turns. Hash is of what was sent, so that it can be told
// whether it was laid out again exactly.
type SentRequest struct {
	Step int   `json:"-"` // from 1
	At   int64 `json:"at"`

	Model      string    `json:"model"`
	Policy     string    `json:"policy"`
	Limit      int64     `json:"limit"`
	LimitFrom  LimitFrom `json:"from"`
	Budget     int64     `json:"budget"`
	CompactsAt int64     `json:"compacts_at,omitempty"`
	Tokens     int64     `json:"tokens"`
	Bytes      int64     `json:"bytes"`
	Images     int64     `json:"images,omitempty"`
	Reused     int64     `json:"reused,omitempty"`
	Runs       []SentRun `json:"runs"`

	Dialect      string       `json:"dialect"`
	ImageURLs    bool         `json:"urls,omitempty"`
	Factor       float64      `json:"factor"` // the model's tokens per token of ours
	Instructions string       `json:"instr,omitempty"`
	Tools        string       `json:"tools,omitempty"`
	Environment  string       `json:"env,omitempty"` // hash of the conversation's own
	Segments     []SegmentID  `json:"segs,omitempty"`
	Summary      *ViewSummary `json:"sum,omitempty"`
	Carried      []int64      `json:"carried,omitempty"`
	Pinned       []int64      `json:"pins,omitempty"`
	Without      []int64      `json:"without,omitempty"` // see [View]
	Language     string       `json:"lang,omitempty"`    // the same
	Kept         []string     `json:"kept,omitempty"`    // the changes of [Kept] that counted
	PinnedTokens int64        `json:"pinned,omitempty"`  // the most that pins could weigh
	NotCompacted *SeqRange    `json:"waits,omitempty"`   // what was only named
	First        int64        `json:"first,omitempty"`   // of the messages that were live
	Last         int64        `json:"last,omitempty"`
	Prompt       int64        `json:"prompt,omitempty"`    // where the prompt began
	FoldedAt     int64        `json:"folded_at,omitempty"` // the newest message at the last fold, if reasoning went for it
	Again        []int        `json:"again,omitempty"`     // which parts of what was out of sight were repeated
	Web          *SentSearch  `json:"web,omitempty"`
	Hash         string       `json:"hash"`
	Forwarded    bool         `json:"forwarded,omitempty"` // as its client wrote it
}

// SentSearch is what of a search in the turn's meta was quoted: results, characters of each.
type SentSearch struct {
	Query   string `json:"q"`
	Results int    `json:"n"`
	Chars   int    `json:"chars"`
}

// SentRun is a run of items of one kind in a layer. Placeholders stand in their segments' order.
type SentRun struct {
	Kind         ItemKind
	Layer        Layer
	Seq, LastSeq int64
	Tokens       int64
}

// MarshalJSON writes a run as a list, since there are some in every step of every turn.
func (r SentRun) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{r.Kind, slices.Index(Layers(), r.Layer), r.Seq, r.LastSeq, r.Tokens})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *SentRun) UnmarshalJSON(b []byte) error {
	var layer int
	into := []any{&r.Kind, &layer, &r.Seq, &r.LastSeq, &r.Tokens}
	if err := json.Unmarshal(b, &into); err != nil {
		return err
	}
	if len(into) != 5 || layer < 0 || layer >= len(Layers()) {
		return fmt.Errorf("a run of items has no layer %d", layer)
	}
	r.Layer = Layers()[layer]
	return nil
}

// TurnMeta is what is known about a turn that none of its messages says: how long its
// model thought, in ms, and what was searched for on the web. No window shows it.
type TurnMeta struct {
	ThinkingMS int64    `json:"thinking_ms,omitempty"`
	Searches   []Search `json:"search,omitempty"`
}

// Search is a search of the web: what was asked for, and the pages that were found, best
// first. Error says in words for people why there are none.
type Search struct {
	Query   string   `json:"query"`
	Results []Source `json:"results"`
	Error   string   `json:"error,omitempty"`
}

// Source is a page of the web. Text is an excerpt of it, or empty.
type Source struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Text  string `json:"text"`
}

// AddSearch adds a search, in place of one with the same query.
func (m *TurnMeta) AddSearch(s Search) {
	for i := range m.Searches {
		if m.Searches[i].Query == s.Query {
			m.Searches[i] = s
			return
		}
	}
	m.Searches = append(m.Searches, s)
}

// Idempotency names a request so that sending it twice does it once. Hash is of
// the request's body.
type Idempotency struct {
	Key  string
	Hash string
}
