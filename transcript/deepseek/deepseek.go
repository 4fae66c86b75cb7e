// Package deepseek reads the export of DeepSeek's chat: a zip, the folder that was unpacked from it, or its
// conversations.json.
//
// Words it adds: fragment (a piece of a message: what was asked, thought, found or answered).
//
// Invariants: messages are a tree by their parents and children; the current path ends with the node that the file
// names, else with the newest.
//
// It may not know the store or the network.
package deepseek

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name.
const Name = "deepseek"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: an export may lie anywhere.
func (Tool) Homes(transcript.Machine) []string { return nil }

// Sniff implements [transcript.Tool]. ChatGPT's export has a mapping too, and says when with numbers.
func (Tool) Sniff(_ string, head []byte) bool {
	seen := transcript.ItemHeadFields(head)
	return seen["mapping"] && (seen["inserted_at"] || strings.Contains(string(head), `"fragments"`) ||
		strings.Contains(string(head), `"deepseek-`) && !strings.Contains(string(head), `"content_type"`))
}

var format = exported.Format{Depth: 3, Sniff: Tool{}.Sniff, Named: isConversations, Talk: readTalk}

func isConversations(base string) bool {
	return strings.HasPrefix(base, "conversations") && strings.HasSuffix(base, ".json")
}

// Sessions implements [transcript.Tool]: each file is one.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// conversation is an item of a file.
type conversation struct {
	ID       string                     `json:"id"`
	Other    string                     `json:"conversation_id"`
	Title    string                     `json:"title"`
	Inserted string                     `json:"inserted_at"`
	Created  string                     `json:"create_time"`
	Updated  string                     `json:"updated_at"`
	Newest   string                     `json:"update_time"`
	Current  string                     `json:"current_node"`
	Mapping  map[string]json.RawMessage `json:"mapping"`
}

type node struct {
	Parent   string   `json:"parent"`
	Children []string `json:"children"`
	Message  *message `json:"message"`
}

type message struct {
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Model     string     `json:"model"`
	Inserted  string     `json:"inserted_at"`
	Created   string     `json:"create_time"`
	Content   string     `json:"content"`
	Fragments []fragment `json:"fragments"`
	Files     []struct {
		Name string `json:"file_name"`
	} `json:"files"`
}

type fragment struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// readTalk implements exported.Format.
func readTalk(_ *exported.Assets, raw json.RawMessage) (*exported.Talk, error) {
	var c conversation
	if err := exported.DecodeJSON(raw, &c); err != nil {
		return nil, err
	}
	t := &exported.Talk{ID: cmp.Or(c.ID, c.Other), Leaf: c.Current}
	if t.ID == "" && len(c.Mapping) == 0 {
		return nil, exported.ErrOther
	}
	t.ID = cmp.Or(t.ID, exported.HashValues(c.Title, c.Inserted, c.Created))
	t.About = scrollback.Conversation{Title: c.Title,
		CreatedAt: exported.ParseMoment(cmp.Or(c.Inserted, c.Created)),
		UpdatedAt: exported.ParseMoment(cmp.Or(c.Updated, c.Newest))}
	var all []exported.Linked
	for _, id := range slices.Sorted(maps.Keys(c.Mapping)) {
		var n node
		_ = exported.DecodeJSON(c.Mapping[id], &n) // what is of another type is not there
		l := exported.Linked{Node: tree.Node{ID: id, Parent: n.Parent}, Children: n.Children}
		if n.Message != nil {
			l.Entries, l.At = readMessage(t, id, n.Message)
		}
		all = append(all, l)
	}
	t.Nodes = exported.OrderNodes(all)
	if c.Mapping[t.Leaf] == nil {
		t.Leaf = exported.NewestLeaf(t.Nodes)
	}
	return t, nil
}

// readMessage makes the message of a node.
func readMessage(t *exported.Talk, id string, m *message) ([]transcript.Entry, int64) {
	at := exported.ParseMoment(cmp.Or(m.Inserted, m.Created))
	p := &exported.Pieces{ID: id, Role: scrollback.RoleAssistant, At: at}
	if m.Author.Role == "user" || slices.ContainsFunc(m.Fragments, func(f fragment) bool { return f.Type == "REQUEST" }) {
		p.Role = scrollback.RoleUser
	}
	p.AddText(m.Content)
	for _, f := range m.Fragments {
		switch f.Type {
		case "THINK":
			p.AddReasoning(f.Content)
		case "REQUEST", "RESPONSE":
			p.AddText(f.Content)
		default:
			t.CountLeft("fragment of type " + strings.ToValidUTF8(cmp.Or(f.Type[:min(len(f.Type), 40)], "none"), ""))
		}
	}
	for _, f := range m.Files {
		exported.MentionMissing(p.OwnEntry(), "file", f.Name, exported.NotThere)
	}
	if p.Role == scrollback.RoleAssistant {
		p.FinishMessage(m.Model, "", nil)
		t.About.Model = cmp.Or(m.Model, t.About.Model)
	}
	return p.Entries, at
}
