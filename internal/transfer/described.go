package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/title"
)

// maxMeta is how much a conversation's meta may have, in bytes; more is left out.
const maxMeta = 60 << 10

// maxTitle is how long a title may be, in characters.
const maxTitle = 400

// describeConversation returns a conversation as its tool describes it.
func describeConversation(s *sessionSource) (c scrollback.Conversation) {
	if s.Entry.Conversation != nil {
		c = *s.Entry.Conversation
	}
	if s.Copy {
		c.Title = title.CopyTitle(title.CopyOf, c.Title)
	}
	if c.Title = clip.ClipLine(c.Title, maxTitle); c.Title != "" {
		c.TitleBy = scrollback.TitleTool
	}
	if len(c.Meta) > maxMeta || jsonFields(c.Meta) == nil {
		c.Meta = nil
	}
	c.Meta = addRepository(c.Meta, s.repository)
	return c
}

// jsonFields returns those of a JSON object; nil for anything else.
func jsonFields(object json.RawMessage) (out map[string]json.RawMessage) {
	if json.Unmarshal(object, &out) != nil {
		return nil
	}
	return out
}

// updateDescription keeps up with what a tool says of a conversation that was here before: its title,
// unless somebody here gave it one, and the tool's own fields of its meta. A source that is
// older than what is here says nothing new, nor does a copy that may be.
func (b *sessionImport) updateDescription(ctx context.Context, c *importing) error {
	s := c.source
	if s == nil || s.was.Conversation != c.ID || unmarkStamp(s.was.Stamp) == b.Stamp || s.Entry.Conversation == nil {
		return nil
	}
	now := describeConversation(s)
	if now.UpdatedAt == 0 && b.at == "" {
		return nil
	}
	if now.UpdatedAt == 0 && !c.goesOn {
		now.UpdatedAt = c.dated // of a copy: when its last message was said
	}
	if now.UpdatedAt != 0 && now.UpdatedAt < c.latest {
		return nil
	}
	same := errors.New("nothing has changed")
	var at int64
	_, err := b.im.store.PatchConversation(ctx, c.ID, 0, func(was *scrollback.Conversation) error {
		name := was.Title
		meta := was.Meta
		if at = was.UpdatedAt; now.Title != "" && (was.TitleBy != scrollback.TitleGiven || was.Title == "") {
			name = now.Title
		} else if s.Copy && was.TitleBy != scrollback.TitleGiven { // that it is one is news, perhaps
			name = title.CopyTitle(title.CopyOf, was.Title)
		}
		if theirs := jsonFields(now.Meta); theirs != nil {
			meta = mergeMeta(was.Meta, theirs)
		}
		if name == was.Title && bytes.Equal(meta, was.Meta) {
			return same
		}
		if name != was.Title {
			was.Title = name
			was.TitleBy = scrollback.TitleTool
		}
		was.Meta = meta
		return nil
	})
	if err != nil {
		if errors.Is(err, same) {
			return nil
		}
		return err
	}
	return b.im.store.Origins.BackdateConversation(ctx, c.ID, c.Total, at) // it says nothing newer
}

// mergeMeta returns meta with some fields replaced; as it was, if nothing of it changes or it would
// be too large.
func mergeMeta(meta json.RawMessage, some map[string]json.RawMessage) json.RawMessage {
	all := jsonFields(meta)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	was := maps.Clone(all)
	maps.Copy(all, some)
	if maps.EqualFunc(all, was, func(a, b json.RawMessage) bool { return bytes.Equal(compactJSON(a), compactJSON(b)) }) {
		return meta
	}
	out, err := json.Marshal(all)
	if err != nil || len(out) > maxMeta {
		return meta
	}
	return out
}

// compactJSON is JSON without space.
func compactJSON(raw json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
