package sessionlog

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Own is what stands beside a record that was written here, in a field that its program reads over: what the record
// does not say of a message as it is, or that it says more of the message before it.
type Own struct {
	Role    scrollback.Role   `json:"role,omitempty"`
	Name    string            `json:"name,omitempty"`
	Model   string            `json:"model,omitempty"`
	Status  scrollback.Status `json:"status,omitempty"`
	Content json.RawMessage   `json:"content,omitempty"` // parts with the bytes of attachments; absent: as read
	Part    bool              `json:"part,omitempty"`    // of the message before it
}

// NewOwn returns what has to stand beside the records of a message that read as got; nil if they say it as it is.
func NewOwn(want, got transcript.Entry) (*Own, error) {
	m := want.Message
	status := m.Status
	if status == scrollback.StatusComplete {
		status = ""
	}
	wanted, err := transcript.HashLikeness(want)
	if err != nil {
		return nil, err
	}
	if readsAs(got, wanted) && got.Message.Status == status {
		return nil, nil
	}
	own := &Own{Role: m.Role, Name: m.Name, Model: m.Model, Status: status}
	if own.Restore(&got); readsAs(got, wanted) {
		return own, nil
	}
	bare := want
	bare.Message.Parts = transcript.WithoutStoreFields(m.Parts)
	own.Content, err = transcript.EncodeParts(bare)
	return own, err
}

// readsAs reports whether an entry says what has a likeness.
func readsAs(e transcript.Entry, likeness string) bool {
	h, err := transcript.HashLikeness(e)
	return err == nil && h == likeness
}

// Restore makes an entry, as it was read, the message that was written. It reports whether its parts are all of it:
// then records that are marked as a part of it add nothing.
func (o *Own) Restore(e *transcript.Entry) (whole bool) {
	switch o.Role {
	case scrollback.RoleUser, scrollback.RoleAssistant, scrollback.RoleTool, scrollback.RoleSystem:
	default:
		return false // none of ours
	}
	var parts scrollback.Parts
	if len(o.Content) > 0 {
		if json.Unmarshal(o.Content, &parts) != nil {
			return false
		}
		data, err := transcript.DecodeAttached(o.Content, parts)
		if err != nil {
			return false
		}
		e.Message.Parts = parts
		e.Bytes = data
	}
	e.Message.Role = o.Role
	e.Message.Name = o.Name
	e.Message.Model = o.Model
	e.Message.Status = o.Status
	return len(o.Content) > 0
}

// JoinLast adds what an entry says to the last message.
func (t *Talk) JoinLast(e transcript.Entry) {
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		if said := t.Nodes[i].Entries; len(said) > 0 {
			AddParts(&said[0], e)
			return
		}
	}
}

// AddParts adds what another record says of a message.
func AddParts(e *transcript.Entry, more transcript.Entry) {
	for i, p := range more.Message.Parts {
		if b := more.Bytes[i]; b != nil {
			if e.Bytes == nil {
				e.Bytes = map[int][]byte{}
			}
			e.Bytes[len(e.Message.Parts)] = b
		}
		e.Message.Parts = append(e.Message.Parts, p)
	}
}

// IDs are the ids of the records of a conversation that is written.
type IDs struct {
	Conversation scrollback.ConversationID
	used         map[string]bool
}

// uuidShape is an id that records may have as it is.
var uuidShape = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Take returns the id for a record: the wanted one, or else one that is made of it.
func (ids *IDs) Take(id string) string {
	for n := 0; !uuidShape().MatchString(id) || ids.used[id]; n++ {
		sum := sha256.Sum256(fmt.Append(nil, ids.Conversation, "\x00", id, "\x00", n))
		id = uuid.NewSHA1(uuid.NameSpaceOID, sum[:]).String()
	}
	if ids.used == nil {
		ids.used = map[string]bool{}
	}
	ids.used[id] = true
	return id
}
