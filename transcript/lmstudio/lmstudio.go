// Package lmstudio reads the conversations of LM Studio, which keeps a document a conversation.
//
// Words it adds: version (one of several messages in the same place, of which one is selected).
//
// Invariants: the versions that are not selected are earlier branches; an answer is held back, while its conversation
// is live, until something follows it.
//
// It may not know the store, the network or the file system.
package lmstudio

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name.
const Name = "lm-studio"

// suffix ends the names of the files.
const suffix = ".conversation.json"

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool].
func (Tool) Homes(m transcript.Machine) []string {
	return []string{filepath.Join(m.Home, ".lmstudio", "conversations"),
		filepath.Join(m.Home, ".cache", "lm-studio", "conversations")}
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	return path.Ext(name) == ".json" && transcript.HeadFields(head)["messages"] &&
		strings.Contains(string(head), `"versions"`) && strings.Contains(string(head), `"currentlySelected"`)
}

var format = sessionlog.Format{
	Sniff: func(name string, head []byte) bool {
		return strings.HasSuffix(name, suffix) || Tool{}.Sniff(name, head)
	},
	Named:    func(name string) bool { return strings.HasSuffix(name, suffix) },
	Identify: func(name string, _ []byte) string { return strings.TrimSuffix(path.Base(name), suffix) },
	Document: func(string) int { return 2 }, // a message of the list of the object
	Talks:    readTalks,
}

// Sessions implements [transcript.Tool].
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// conversation is a document.
type conversation struct {
	Name     string            `json:"name"`
	Created  float64           `json:"createdAt"`
	Newest   float64           `json:"assistantLastMessagedAt"`
	Messages []json.RawMessage `json:"messages"`
	Model    struct {
		ID string `json:"identifier"`
	} `json:"lastUsedModel"`
}

type message struct {
	Versions []json.RawMessage `json:"versions"`
	Selected int               `json:"currentlySelected"`
}

type version struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
	Steps   []step  `json:"steps"`
	Sender  struct {
		Model string `json:"senderName"`
	} `json:"senderInfo"`
}

// step is a piece of an answer.
type step struct {
	Type    string  `json:"type"`
	Content []block `json:"content"`
	Style   struct {
		Type string `json:"type"`
	} `json:"style"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Call      json.RawMessage `json:"callId"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"parameters"`
	Answers   json.RawMessage `json:"toolCallId"`
	Result    string          `json:"content"`
}

func readTalks(f *sessionlog.File) []*sessionlog.Talk {
	t := &sessionlog.Talk{ID: f.ID}
	if len(f.Records) == 0 {
		return nil
	}
	var c conversation
	if exported.DecodeJSON(f.Records[0].JSON, &c) != nil {
		return nil
	}
	created := exported.SecondsToMillis(c.Created)
	t.About = scrollback.Conversation{Model: c.Model.ID, CreatedAt: created,
		UpdatedAt: max(created, exported.SecondsToMillis(c.Newest))}
	asked := ""
	last := ""
	for i, raw := range c.Messages {
		var m message
		_ = exported.DecodeJSON(raw, &m) // what is of another type is not there
		if len(m.Versions) == 0 {
			t.CountLeft("message without versions")
			continue
		}
		selected := min(max(m.Selected, 0), len(m.Versions)-1)
		next := ""
		for k, raw := range m.Versions {
			var v version
			_ = exported.DecodeJSON(raw, &v) // what is of another type is not there
			id := fmt.Sprintf("%d.%d", i, k)
			if f.Live && i == len(c.Messages)-1 && v.Role != "user" {
				t.Held = true // it may still be written
				continue
			}
			n := tree.Node{ID: id, Parent: last, Entries: v.entries(t, id, f.Records[0].Line)}
			if k == selected {
				next = id
				if v.Role == "user" && len(n.Entries) > 0 {
					asked = cmp.Or(asked, n.Entries[0].Message.Parts.Text())
				}
			}
			t.Nodes = append(t.Nodes, n)
		}
		last = cmp.Or(next, last)
	}
	t.Leaf = last
	t.About.Title = sessionlog.FirstLine(cmp.Or(c.Name, asked))
	return []*sessionlog.Talk{t}
}

// entries makes the messages of a version: an answer with results in it is several.
func (v *version) entries(t *sessionlog.Talk, id string, line int) []transcript.Entry {
	p := &exported.Pieces{ID: id, Role: scrollback.RoleAssistant}
	switch v.Role {
	case "user":
		p.Role = scrollback.RoleUser
	case "assistant":
	default:
		t.CountLeft("message of role " + cmp.Or(v.Role, "none"))
		return nil
	}
	addBlocks(t, p, v.Content, false)
	for _, s := range v.Steps {
		if s.Type == "contentBlock" {
			addBlocks(t, p, s.Content, s.Style.Type == "thinking")
		} else {
			t.CountLeft("step of type " + cmp.Or(s.Type, "none"))
		}
	}
	if p.Role == scrollback.RoleAssistant {
		p.FinishMessage(v.Sender.Model, "", nil)
		t.About.Model = cmp.Or(v.Sender.Model, t.About.Model)
	}
	for i := range p.Entries {
		p.Entries[i].Line = line
	}
	return p.Entries
}

// addBlocks adds what is said, thought, called and returned.
func addBlocks(t *sessionlog.Talk, p *exported.Pieces, list []block, thought bool) {
	for _, b := range list {
		switch {
		case b.Type == "text" && thought:
			p.AddReasoning(b.Text)
		case b.Type == "text":
			p.AddText(b.Text)
		case b.Type == "toolCallRequest":
			p.AddCall(string(exported.CompactJSON(b.Call)), b.Name, exported.CallArguments(b.Arguments, "input"))
		case b.Type == "toolCallResult":
			p.AddResult(string(exported.CompactJSON(b.Answers)), "", b.Result, false)
		default:
			t.CountLeft("block of type " + cmp.Or(b.Type, "none"))
		}
	}
}
