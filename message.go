package scrollback

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Identifiers. Those we make are UUIDv7; an ArtifactID is the SHA-256 of the
// bytes in hex.
type (
	ConversationID string
	BranchID       string
	MessageID      string
	TurnID         string
	SegmentID      string
	ArtifactID     string
)

// ParseConversationID checks the full id of a conversation that came from outside:
// what cannot be undone is never done by a prefix.
func ParseConversationID(s string) (ConversationID, error) {
	id := strings.ToLower(strings.TrimSpace(s))
	if len(id) != len("00000000-0000-7000-8000-000000000000") {
		return "", ParamErrorf("scrollback", "conversation", i18n.NotAWholeID, s)
	}
	return ConversationID(id), nil
}

// Role is the speaker of a message.
type Role string

// The roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// ParseRole checks a role that came from outside.
func ParseRole(s string) (Role, error) {
	switch r := Role(s); r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return r, nil
	}
	return "", fmt.Errorf("unknown role %q (system, user, assistant or tool)", s)
}

// Status is how a message ended.
type Status string

// The statuses of a stored message.
const (
	StatusComplete    Status = "complete"
	StatusInterrupted Status = "interrupted"
	StatusFailed      Status = "failed"
)

// Known reports whether it is one of those.
func (s Status) Known() bool {
	return s == StatusComplete || s == StatusInterrupted || s == StatusFailed
}

// Message is one entry of the log: complete when inserted, and never changed.
//
// Seq counts 1, 2, 3 … along the path of its branch. Tokens is the o200k count
// at write time; CreatedAt is Unix ms.
type Message struct {
	ID             MessageID       `json:"id"`
	ConversationID ConversationID  `json:"conversation_id"`
	Branch         BranchID        `json:"branch"`
	Seq            int64           `json:"seq"`
	TurnID         TurnID          `json:"turn_id"`
	Role           Role            `json:"role"`
	Name           string          `json:"name,omitempty"`
	Parts          Parts           `json:"parts"`
	Model          string          `json:"model,omitempty"`
	Usage          *Usage          `json:"usage,omitempty"`
	Tokens         int             `json:"tokens"`
	Status         Status          `json:"status"`
	CreatedAt      int64           `json:"created_at"`
	Meta           json.RawMessage `json:"meta,omitempty"`

	// Weight is the message's own load on a window, and Sum that of all messages
	// from seq 1 to this one along its path, so that the weight of any run is a
	// subtraction. Both stay inside the store.
	Weight Weight `json:"-"`
	Sum    Weight `json:"-"`
}

// Weight is a load on a window, by the three budgets it counts against.
type Weight struct {
	Tokens int64 `json:"tokens"`
	Bytes  int64 `json:"bytes"`
	Images int64 `json:"images"`
}

// Add returns w + o.
func (w Weight) Add(o Weight) Weight {
	return Weight{w.Tokens + o.Tokens, w.Bytes + o.Bytes, w.Images + o.Images}
}

// Sub returns w − o.
func (w Weight) Sub(o Weight) Weight {
	return Weight{w.Tokens - o.Tokens, w.Bytes - o.Bytes, w.Images - o.Images}
}

// canonicalMessage is the part of a message that its segment's hash covers. The field
// order is the definition; it must never change.
type canonicalMessage struct {
	ID        MessageID       `json:"id"`
	Seq       int64           `json:"seq"`
	TurnID    TurnID          `json:"turn_id,omitempty"`
	Role      Role            `json:"role"`
	Name      string          `json:"name,omitempty"`
	Parts     Parts           `json:"parts"`
	Model     string          `json:"model,omitempty"`
	Status    Status          `json:"status"`
	CreatedAt int64           `json:"created_at"`
	Meta      json.RawMessage `json:"meta,omitempty"`
}

// HashMessages returns the SHA-256, in hex, of the canonical JSON of ms, one object per
// line: the hash of the segment that covers them.
func HashMessages(ms []Message) (string, error) {
	h := sha256.New()
	for i := range ms {
		m := &ms[i]
		b, err := marshalPlain(canonicalMessage{m.ID, m.Seq, m.TurnID, m.Role, m.Name, m.Parts,
			m.Model, m.Status, m.CreatedAt, m.Meta})
		if err != nil {
			return "", err
		}
		h.Write(b)
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
