package cursor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// line is one of a transcript.
type line struct {
	Role    string `json:"role"`
	Message struct {
		Content []json.RawMessage `json:"content"`
	} `json:"message"`
	UUID *string `json:"uuid"` // of other tools' lines
	Type *string `json:"type"` // the same
}

// block is a piece of what is said.
type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func isTranscript(head []byte) bool {
	first, err := transcript.NewRecords(strings.NewReader(string(head))).Next()
	var l line
	if err != nil || json.Unmarshal(first.JSON, &l) != nil {
		return false
	}
	return (l.Role == "user" || l.Role == "assistant") && l.Message.Content != nil && l.UUID == nil && l.Type == nil
}

// readTranscript makes the conversation of a transcript. It knows neither times nor ids nor results.
func readTranscript(f *sessionlog.File) []*sessionlog.Talk {
	t := &sessionlog.Talk{ID: f.ID}
	asked := ""
	last := ""
	for i, rec := range f.Records {
		var l line
		_ = json.Unmarshal(rec.JSON, &l) // what is of another type is not there
		id := fmt.Sprintf("line-%d", i+1)
		e := transcript.Entry{Line: rec.Line, Message: scrollback.Message{ID: scrollback.MessageID(id)}}
		switch l.Role {
		case "user":
			e.Message.Role = scrollback.RoleUser
		case "assistant":
			e.Message.Role = scrollback.RoleAssistant
		default:
			t.CountLeft("line of role " + cmp.Or(l.Role, "none"))
			continue
		}
		for k, raw := range l.Message.Content {
			var b block
			_ = json.Unmarshal(raw, &b) // what is of another type is not there
			switch {
			case b.Type == "text":
				sessionlog.AddText(&e, withoutMarks(b.Text))
			case b.Type == "tool_use" && l.Role == "assistant":
				sessionlog.AddCall(&e, "", fmt.Sprintf("%s#%d", id, k), b.Name, b.Input)
			default:
				t.CountLeft("block of type " + cmp.Or(b.Type, "none"))
			}
		}
		n := tree.Node{ID: id, Parent: last}
		if sessionlog.Says(e) {
			n.Entries = []transcript.Entry{e}
		}
		if l.Role == "user" {
			asked = cmp.Or(asked, e.Message.Parts.Text())
		}
		last = id
		t.Nodes = append(t.Nodes, n)
	}
	t.About = scrollback.Conversation{Title: sessionlog.FirstLine(asked), CreatedAt: f.Changed, UpdatedAt: f.Changed,
		Meta: exported.KeepMeta(metaKey, map[string]bool{"transcript": true})}
	return []*sessionlog.Talk{t}
}

// withoutMarks returns what a person said without the marks around it.
func withoutMarks(text string) string {
	_, rest, found := strings.Cut(text, "<user_query>")
	if !found {
		return strings.TrimSpace(text)
	}
	said, _, _ := strings.Cut(rest, "</user_query>")
	return strings.TrimSpace(said)
}
