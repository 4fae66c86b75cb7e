// Package grok reads the export of Grok: a zip, the folder that was unpacked from it, or its
// prod-grok-backend.json.
//
// Words it adds: response (what the export calls a message, a person's too).
//
// Invariants: responses are a tree by their parents, or in order where the file knows none; the current path ends
// with the newest.
//
// It may not know the store or the network.
package grok

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name.
const Name = "grok"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: an export may lie anywhere.
func (Tool) Homes(transcript.Machine) []string { return nil }

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	text := string(head)
	begins := strings.TrimLeft(strings.TrimPrefix(text, "\uFEFF"), " \t\r\n")
	return strings.HasSuffix(name, ".json") && strings.HasPrefix(begins, "{") &&
		strings.Contains(text, `"conversations"`) && strings.Contains(text, `"responses"`) && strings.Contains(text, `"conversation"`)
}

var format = exported.Format{Field: "conversations", Depth: 3, Sniff: Tool{}.Sniff, Named: isBackend, Talk: readTalk}

// isBackend reports whether a file is called as the one with conversations is.
func isBackend(base string) bool {
	return strings.HasPrefix(base, "prod-grok-backend") && strings.HasSuffix(base, ".json")
}

// Sessions implements [transcript.Tool]: each file is one.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// item is one of the list of conversations.
type item struct {
	Conversation struct {
		ID       string          `json:"id"`
		Title    string          `json:"title"`
		Created  json.RawMessage `json:"create_time"`
		Modified json.RawMessage `json:"modify_time"`
		Starred  bool            `json:"starred"`
	} `json:"conversation"`
	Responses []json.RawMessage `json:"responses"`
}

type response struct {
	ID          string            `json:"_id"`
	Message     string            `json:"message"`
	Sender      string            `json:"sender"`
	Created     json.RawMessage   `json:"create_time"`
	Model       string            `json:"model"`
	Parent      *string           `json:"parent_response_id"`
	Thinking    string            `json:"thinking_trace"`
	Attachments []json.RawMessage `json:"file_attachments"`
	Partial     bool              `json:"partial"`
}

// readMoment returns a time: a text, a number of ms, or either as MongoDB exports it.
func readMoment(raw json.RawMessage) int64 {
	var text string
	if exported.DecodeField(raw, &text) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return transcript.ParseMillis(n)
		}
		return exported.ParseMoment(text)
	}
	var n float64
	if exported.DecodeField(raw, &n) {
		return exported.SecondsToMillis(n)
	}
	var d struct {
		Date   json.RawMessage `json:"$date"`
		Number json.RawMessage `json:"$numberLong"`
	}
	_ = exported.DecodeJSON(raw, &d) // what is of another type is not there
	switch {
	case d.Date != nil && len(d.Date) < len(raw):
		return readMoment(d.Date)
	case d.Number != nil && len(d.Number) < len(raw):
		return readMoment(d.Number)
	}
	return 0
}

// readTalk implements exported.Format.
func readTalk(_ *exported.Assets, raw json.RawMessage) (*exported.Talk, error) {
	var it item
	if err := exported.DecodeJSON(raw, &it); err != nil {
		return nil, err
	}
	c := it.Conversation
	if c.ID == "" && len(it.Responses) == 0 {
		return nil, exported.ErrOther
	}
	t := &exported.Talk{ID: c.ID}
	t.About = scrollback.Conversation{Title: c.Title, CreatedAt: readMoment(c.Created), UpdatedAt: readMoment(c.Modified)}
	t.About.Meta = exported.KeepMeta(Name, struct {
		Starred bool `json:"starred,omitempty"`
	}{c.Starred})
	linked := false
	last := ""
	for i, raw := range it.Responses {
		var w struct {
			Response response `json:"response"`
		}
		if exported.DecodeJSON(raw, &w) != nil {
			t.CountLeft("response of another shape")
			continue
		}
		r := &w.Response
		id := cmp.Or(r.ID, fmt.Sprintf("response-%d", i))
		n := tree.Node{ID: id, Entries: readResponse(t, id, r)}
		switch {
		case r.Parent != nil && *r.Parent != "":
			n.Parent = *r.Parent
			linked = true
		case !linked && last != "" && r.Parent == nil:
			n.Parent = last
		}
		t.Nodes = append(t.Nodes, n)
		last = id
	}
	if t.ID == "" && len(t.Nodes) > 0 {
		t.ID = t.Nodes[0].ID
	}
	t.Leaf = exported.NewestLeaf(t.Nodes)
	return t, nil
}

// readResponse makes the messages of a response.
func readResponse(t *exported.Talk, id string, r *response) []transcript.Entry {
	p := &exported.Pieces{ID: id, Role: scrollback.RoleAssistant, At: readMoment(r.Created)}
	if r.Sender == "human" || r.Sender == "user" {
		p.Role = scrollback.RoleUser
	}
	p.AddReasoning(r.Thinking)
	p.AddText(r.Message)
	for range r.Attachments {
		exported.MentionMissing(p.OwnEntry(), "file", "", exported.NotThere)
	}
	if p.Role == scrollback.RoleAssistant {
		status := scrollback.Status("")
		if r.Partial {
			status = scrollback.StatusInterrupted
		}
		p.FinishMessage(r.Model, status, nil)
		t.About.Model = cmp.Or(r.Model, t.About.Model)
	}
	if len(p.Entries) == 0 {
		t.CountLeft("empty")
	}
	return p.Entries
}
