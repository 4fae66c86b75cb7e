package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// arrival is a conversation, or a part of one, that another side hands over: its messages each behind the one before
// it, without their content.
type arrival struct {
	record  merge.Conversation
	content func(context.Context, scrollback.MessageID) (scrollback.Message, error)
	bytes   func(context.Context, merge.Mention) error // brings those of an artifact; nil where they are here before
}

// seen reports whether people see the conversation there: else only what others inherit is left of it.
func (a *arrival) seen() bool { return a.record.CreatedAt != 0 }

// updatedAt is when something was said there last, in Unix ms.
func (a *arrival) updatedAt() int64 {
	at := a.record.CreatedAt
	for _, m := range a.record.Messages {
		at = max(at, m.CreatedAt)
	}
	return at
}

// newArrival makes an arrival of all that a side holds of a conversation.
func (s Side) newArrival(c *heldConversation) *arrival {
	return &arrival{record: c.record, content: func(ctx context.Context, id scrollback.MessageID) (scrollback.Message,
		error) {
		at := c.places[id]
		ms, err := s.Store.ReadMessages(ctx, at.branch, at.seq, at.seq)
		if err != nil {
			return scrollback.Message{}, err
		}
		return ms[0], nil
	}}
}

// openArrival makes an arrival of records that came from elsewhere. Messages that do not say what their records say of
// them are left out and named.
func openArrival(c merge.Conversation) (*arrival, []merge.Refused) {
	var refused []merge.Refused
	contents := make(map[scrollback.MessageID]scrollback.Message, len(c.Messages))
	messages := make([]merge.Message, 0, len(c.Messages))
	for _, m := range c.Messages {
		content, err := openContent(&m)
		if err != nil {
			refused = append(refused, merge.Refused{Conversation: c.ID, Record: "message " + string(m.ID)})
			continue
		}
		contents[m.ID] = content
		messages = append(messages, m)
	}
	c.Messages = messages
	return &arrival{record: c, content: func(_ context.Context, id scrollback.MessageID) (scrollback.Message, error) {
		return contents[id], nil
	}}, refused
}

// openContent takes what a message says out of its record, which is then as one of an inventory.
func openContent(m *merge.Message) (scrollback.Message, error) {
	var content scrollback.Message
	d := json.NewDecoder(bytes.NewReader(m.Content))
	if err := d.Decode(&content); err != nil {
		return content, err
	}
	content.ID = m.ID
	m.Content = nil
	m.CreatedAt = content.CreatedAt
	m.Artifacts = slices.Collect(content.Parts.Artifacts())
	hash, err := hashContent(content)
	if err == nil && hash != m.Hash {
		err = errContent
	}
	return content, err
}

// packContent puts what a message says into its record. What is the store's own is left out.
func packContent(m *merge.Message, content scrollback.Message) error {
	content.ConversationID = ""
	content.Branch = ""
	content.Seq = 0
	text, err := json.Marshal(content)
	m.Content = text
	return err
}

// fieldOf returns the value of a field, or the empty one.
func fieldOf[T any](fields map[string]merge.Field, name string) (value T) {
	if f, ok := fields[name]; ok {
		_ = json.Unmarshal(f.Value, &value) // one that cannot be read counts as none
	}
	return value
}

// ProjectOf returns the project that a conversation is in, as its fields say.
func ProjectOf(c *merge.Conversation) string { return fieldOf[string](c.Fields, stamp.FieldProject) }
