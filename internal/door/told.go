package door

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

// TellRequest adds items to a conversation that clients call by an id, or changes what it carries.
type TellRequest struct {
	Project string
	ID      string // as the client has it: a prefix, and the id that a new one gets, without dashes
	// Items are a list, as JSON of the dialect of responses; nil adds nothing.
	Items []byte
	// Metadata takes the place of what the conversation had; nil leaves that.
	Metadata json.RawMessage
}

// Tell does as a request says, without asking a model, and returns the messages that it added.
func (d *Door) Tell(ctx context.Context, v *engine.View, r TellRequest) ([]scrollback.Message, error) {
	var messages []engine.ExchangeMessage
	if r.Items != nil {
		asked, err := dialect.Read(threading.Responses, func(string) string { return "" },
			splice.Form{}.SetField([]byte("{}"), 0, "input", r.Items))
		if err != nil {
			return nil, scrollback.ParamErrorf("door", "items", "%s", err)
		}
		if messages = messagesOf(asked); len(messages) == 0 {
			return nil, scrollback.ParamErrorf("door", "items", i18n.NothingToAnswer)
		}
	}
	of, err := d.FindConversation(ctx, v, r.Project, r.ID)
	if err != nil {
		return nil, err
	}
	told := engine.TellRequest{Project: r.Project, Of: of, Name: threading.ConversationName(r.ID), Messages: messages}
	if of == "" {
		told.ID = conversationIn(r.ID)
		if told.Meta, err = withMetadata(nil, r.Metadata); err != nil {
			return nil, err
		}
		_, stored, err := v.Tell(ctx, told)
		return stored, err
	}
	if r.Metadata != nil {
		_, err := v.Patch(ctx, of, 0, func(c *scrollback.Conversation) error {
			meta, err := withMetadata(c.Meta, r.Metadata)
			c.Meta = meta
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if messages == nil {
		return nil, nil
	}
	_, stored, err := v.Tell(ctx, told)
	return stored, err
}

// MetadataOf returns what a conversation carries that clients call by an id; nil for nothing.
func (d *Door) MetadataOf(ctx context.Context, v *engine.View, project, id string) (json.RawMessage, error) {
	of, err := d.FindConversation(ctx, v, project, id)
	if of == "" || err != nil {
		return nil, err
	}
	c, err := v.Get(ctx, of)
	if err != nil {
		return nil, err
	}
	return splice.GetField(c.Meta, metadataField), nil
}

// metadataField is where the meta of a conversation has what its client wants it to carry.
const metadataField = "metadata"

// withMetadata returns the meta of a conversation with what its client wants it to carry; nil changes nothing.
func withMetadata(meta, metadata json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(meta, &fields) // no object is none
	if metadata == nil {
		return meta, nil
	}
	fields[metadataField] = metadata
	return json.Marshal(fields)
}

// conversationIn returns the id in what clients call a conversation: prefix_ and 32 digits.
func conversationIn(id string) scrollback.ConversationID {
	_, hex, _ := strings.Cut(id, "_")
	if len(hex) != 32 {
		return ""
	}
	return scrollback.ConversationID(strings.Join([]string{hex[:8], hex[8:12], hex[12:16], hex[16:20], hex[20:]}, "-"))
}

// messagesOf returns the messages of a client's list.
func messagesOf(asked *threading.Request) []engine.ExchangeMessage {
	var out []placedMessage
	for _, it := range asked.Items {
		if it.Kind == threading.Thinking {
			continue
		}
		role := scrollback.Role(it.Role)
		if n := len(out); n == 0 || out[n-1].in != it.Message || out[n-1].Role != role {
			out = append(out, placedMessage{engine.ExchangeMessage{Message: scrollback.Message{Role: role}}, it.Message})
		}
		one := &out[len(out)-1]
		part, bytes := readItem(it)
		if bytes != nil {
			if one.Attached == nil {
				one.Attached = map[int][]byte{}
			}
			one.Attached[len(one.Parts)] = bytes
		}
		one.Parts = append(one.Parts, part)
	}
	all := make([]engine.ExchangeMessage, len(out))
	for i, p := range out {
		all[i] = p.ExchangeMessage
	}
	return slices.Clip(all)
}
