package openai

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice"
)

// conversation is a conversation that requests can name.
type conversation struct {
	ID        string          `json:"id"`
	Object    string          `json:"object"`
	CreatedAt int64           `json:"created_at"`
	Metadata  json.RawMessage `json:"metadata"`
}

const conversationBegins = "conv_"

// Bounds of what a request brings for a conversation.
const (
	maxItemsAdded    = 20
	maxMetadata      = 16  // pairs
	maxMetadataKey   = 64  // characters
	maxMetadataValue = 512 // characters
)

// createConversation gives out the name of a conversation. It is stored once there is something to store: items,
// metadata, or the first request that names it.
func (f responsesFace) createConversation(w http.ResponseWriter, r *http.Request) {
	body, err := f.o.ReadBody(r)
	if err != nil {
		refuse(w, err)
		return
	}
	id := conversationBegins + strings.ReplaceAll(f.o.View(r).NewExchangeID(), "-", "")
	tell := door.TellRequest{ID: id}
	if tell.Metadata, err = readMetadata(body); err != nil {
		refuse(w, err)
		return
	}
	if splice.ListValues(splice.GetField(body, "items")) != nil {
		if tell.Items, err = readItems(body); err != nil {
			refuse(w, err)
			return
		}
	}
	if tell.Items != nil || len(splice.ListMembers(tell.Metadata)) > 0 {
		if _, err := f.o.Door.Tell(r.Context(), f.o.View(r), tell); err != nil {
			refuse(w, err)
			return
		}
	}
	writeObject(w, describeConversation(id, tell.Metadata))
}

// readMetadata returns the metadata of a body: an object of texts; nil if it is not there, and an empty one for null.
func readMetadata(body []byte) (json.RawMessage, error) {
	value := splice.GetField(body, "metadata")
	if value == nil || string(value) == "null" {
		if value != nil {
			value = []byte("{}")
		}
		return value, nil
	}
	var pairs map[string]string
	bad := json.Unmarshal(value, &pairs) != nil || len(pairs) > maxMetadata
	for k, v := range pairs {
		bad = bad || utf8.RuneCountInString(k) > maxMetadataKey || utf8.RuneCountInString(v) > maxMetadataValue
	}
	if bad {
		return nil, scrollback.ParamErrorf("openai", "metadata", i18n.MetadataInvalid, maxMetadata, maxMetadataKey,
			maxMetadataValue)
	}
	return slices.Clone(value), nil
}

// readItems returns the items of a body: some, and not too many.
func readItems(body []byte) ([]byte, error) {
	value := splice.GetField(body, "items")
	if n := len(splice.ListValues(value)); n == 0 || n > maxItemsAdded {
		return nil, scrollback.ParamErrorf("openai", "items", i18n.ItemsAreSome, maxItemsAdded)
	}
	return slices.Clone(value), nil
}

// describeConversation returns a conversation by its name, which says when it was given out.
func describeConversation(id string, metadata json.RawMessage) conversation {
	var at int64
	for _, c := range strings.TrimPrefix(id, conversationBegins)[:12] {
		at = at<<4 | int64(strings.IndexRune("0123456789abcdef", c))
	}
	if metadata == nil {
		metadata = json.RawMessage("{}")
	}
	return conversation{ID: id, Object: "conversation", CreatedAt: at / 1000, Metadata: metadata}
}

// isConversation reports whether a name is one that was given out.
func isConversation(id string) bool {
	hex, ours := strings.CutPrefix(id, conversationBegins)
	return ours && len(hex) == 32 && strings.Trim(hex, "0123456789abcdef") == ""
}

// findConversation returns the name of the conversation of a request; it writes an error if there is none.
func (f responsesFace) findConversation(w http.ResponseWriter, r *http.Request) (id string, ok bool) {
	id = r.PathValue("id")
	if !isConversation(id) {
		refuse(w, scrollback.Errorf(scrollback.NotFound, "openai", i18n.NoConversationNamed, id))
		return "", false
	}
	return id, true
}

// getConversation returns a conversation.
func (f responsesFace) getConversation(w http.ResponseWriter, r *http.Request) {
	id, ok := f.findConversation(w, r)
	if !ok {
		return
	}
	metadata, err := f.o.Door.MetadataOf(r.Context(), f.o.View(r), "", id)
	if err != nil {
		refuse(w, err)
		return
	}
	writeObject(w, describeConversation(id, metadata))
}

// updateConversation gives a conversation other metadata.
func (f responsesFace) updateConversation(w http.ResponseWriter, r *http.Request) {
	id, ok := f.findConversation(w, r)
	if !ok {
		return
	}
	body, err := f.o.ReadBody(r)
	if err != nil {
		refuse(w, err)
		return
	}
	metadata, err := readMetadata(body)
	if err == nil && metadata == nil {
		err = scrollback.ParamErrorf("openai", "metadata", i18n.FieldIsMissing, "metadata")
	}
	if err == nil {
		_, err = f.o.Door.Tell(r.Context(), f.o.View(r), door.TellRequest{ID: id, Metadata: metadata})
	}
	if err != nil {
		refuse(w, err)
		return
	}
	writeObject(w, describeConversation(id, metadata))
}

// listConversation lists what was said in a conversation, newest first unless asked otherwise.
func (f responsesFace) listConversation(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	v := f.o.View(r)
	of, err := f.o.Door.FindConversation(r.Context(), v, "", id)
	list := &itemList{Object: "list", Data: []any{}}
	switch {
	case err != nil:
	case of != "":
		list, err = listItems(r.Context(), v, itemQuery{of: of, skip: func(scrollback.Message) bool { return false }}, r)
	case !isConversation(id):
		err = scrollback.Errorf(scrollback.NotFound, "openai", i18n.NoConversationNamed, id)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	writeObject(w, list)
}

// addItems adds items to a conversation, without asking a model, and returns them as they are listed.
func (f responsesFace) addItems(w http.ResponseWriter, r *http.Request) {
	id, ok := f.findConversation(w, r)
	if !ok {
		return
	}
	body, err := f.o.ReadBody(r)
	var items []byte
	if err == nil {
		items, err = readItems(body)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	added, err := f.o.Door.Tell(r.Context(), f.o.View(r), door.TellRequest{ID: id, Items: items})
	if err != nil {
		refuse(w, err)
		return
	}
	var tools []scrollback.Tool
	if len(added) > 0 {
		if tools, err = readTools(r.Context(), f.o.View(r), added[0].ConversationID); err != nil {
			refuse(w, err)
			return
		}
	}
	list := &itemList{Object: "list", Data: []any{}}
	for _, m := range added {
		for _, it := range itemsOf(m, tools) {
			if list.First == "" {
				list.First = it.ID
			}
			list.Last = it.ID
			list.Data = append(list.Data, it)
		}
	}
	writeObject(w, list)
}
