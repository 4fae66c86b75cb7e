package scrollback

import (
	"crypto/sha256"
	"encoding/hex"
)

// KeptKind says what a sentence is that stays in every request.
type KeptKind string

// The kinds of kept sentences, in the order in which a request shows them.
const (
	KeptTodo        KeptKind = "todo"        // left to do, until the talk or a person says that it is done
	KeptTrait       KeptKind = "trait"       // what is so about the person: preferences, aversions, conditions, habits, choices
	KeptInstruction KeptKind = "instruction" // how to answer and work from now on
)

// KeptState says whether a kept sentence is still carried.
type KeptState string

// The states of kept sentences. Only what is open is carried.
const (
	KeptOpen      KeptState = "open"
	KeptDone      KeptState = "done"      // a to-do, by the talk or by a person
	KeptWithdrawn KeptState = "withdrawn" // taken back by a later sentence
	KeptDropped   KeptState = "dropped"   // taken out by a person
)

// KeptBy says who found that a sentence is to be kept.
type KeptBy string

// Who keeps sentences.
const (
	KeptByRule   KeptBy = "rule"
	KeptByPerson KeptBy = "person"
)

// KeptID names a kept sentence. It follows from the message, the kind and the text, so that the
// same sentence has the same id wherever its message is.
type KeptID string

// NewKeptID returns the id of a sentence of a message.
func NewKeptID(of MessageID, kind KeptKind, text string) KeptID {
	sum := sha256.Sum256([]byte(string(of) + "\n" + string(kind) + "\n" + text))
	return KeptID("k_" + hex.EncodeToString(sum[:8]))
}

// Kept is a sentence of a message that is carried word for word through every compaction while it
// is open.
//
// It is stored as rows that are only ever added. A rule's row comes with its message. What
// a person does is a row of its own (Change is its id): a copy of the sentence in its new state,
// which counts in Conversation and, if it is older than they are, in forks of it.
type Kept struct {
	ID           KeptID         `json:"id"`
	Kind         KeptKind       `json:"kind"`
	Text         string         `json:"text"` // one line, at most 600 bytes
	Message      MessageID      `json:"message_id"`
	Branch       BranchID       `json:"-"` // the message's
	Seq          int64          `json:"seq"`
	Role         Role           `json:"role"` // who said it; only to-dos are the assistant's
	Conversation ConversationID `json:"conversation_id"`
	By           KeptBy         `json:"by"`
	SaidBy       KeyID          `json:"said_by,omitempty"` // of the message's writer; empty for the operator and for imports
	State        KeptState      `json:"state"`
	CreatedAt    int64          `json:"created_at"` // Unix ms; of a rule's row, the message's
	Change       string         `json:"-"`          // empty for a rule's row
}

// MaxKeptText bounds a kept sentence, in bytes.
const MaxKeptText = 600
