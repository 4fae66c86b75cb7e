// Package cherrystudio reads the backup of Cherry Studio: a zip, the folder that was unpacked from it, or its
// data.json.
//
// Words it adds: topic (what Cherry Studio calls a conversation), block (a piece of a message, which is kept apart).
//
// Invariants: messages are in the order of their topic; of several answers to one question the one that was chosen, or
// the last, is on the path, and the others are branches; settings, where keys lie, are only read for names of topics.
//
// It may not know the store, the network or the file system.
package cherrystudio

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "cherry-studio"
	metaKey = "cherry_studio"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: a backup may lie anywhere, and what the program itself keeps is in a database of
// its browser.
func (Tool) Homes(transcript.Machine) []string { return nil }

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	seen := transcript.HeadFields(head)
	return path.Ext(name) == ".json" && seen["localStorage"] && (seen["indexedDB"] || seen["time"] && seen["version"])
}

var format = sessionlog.Format{
	Sniff:    Tool{}.Sniff,
	Named:    func(name string) bool { return path.Ext(name) == ".json" },
	Document: func(string) int { return 5 },
	Talks:    readTalks,
}

// Sessions implements [transcript.Tool]: each backup is one.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// backup is the document, as far as it is read.
type backup struct {
	Local struct {
		Settings string `json:"persist:cherry-studio"`
	} `json:"localStorage"`
	Indexed struct {
		Topics []json.RawMessage `json:"topics"`
		Blocks []json.RawMessage `json:"message_blocks"`
	} `json:"indexedDB"`
}

type topic struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Created  string            `json:"createdAt"`
	Messages []json.RawMessage `json:"messages"`
}

type message struct {
	ID      string              `json:"id"`
	Role    string              `json:"role"`
	Asked   string              `json:"askId"` // the question that is answered
	Chosen  bool                `json:"foldSelected"`
	Created string              `json:"createdAt"`
	Status  string              `json:"status"`
	ModelID string              `json:"modelId"`
	Model   struct{ ID string } `json:"model"`
	Content json.RawMessage     `json:"content"` // of older versions, which have no blocks
	Blocks  []string            `json:"blocks"`
	Usage   struct {
		Prompt sessionlog.Count `json:"prompt_tokens"`
		Answer sessionlog.Count `json:"completion_tokens"`
		Total  sessionlog.Count `json:"total_tokens"`
	} `json:"usage"`
}

type block struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	ToolID    string          `json:"toolId"`
	Tool      string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`
	URL       string          `json:"url"`
	File      struct {
		Name string `json:"origin_name"`
	} `json:"file"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Metadata struct {
		Raw struct {
			Arguments json.RawMessage `json:"arguments"`
			Response  json.RawMessage `json:"response"`
			Status    string          `json:"status"`
			Tool      struct {
				Name string `json:"name"`
			} `json:"tool"`
		} `json:"rawMcpToolResponse"`
	} `json:"metadata"`
}

// readTopics returns what the settings say of topics, by their ids: their names, and when they were made.
func readTopics(settings string) map[string]topic {
	var slices struct {
		Assistants string `json:"assistants"` // JSON in JSON
	}
	var all struct {
		Assistants []struct {
			Topics []topic `json:"topics"`
		} `json:"assistants"`
	}
	_ = json.Unmarshal([]byte(settings), &slices) // what is of another shape names nothing
	_ = json.Unmarshal([]byte(slices.Assistants), &all)
	out := map[string]topic{}
	for _, a := range all.Assistants {
		for _, t := range a.Topics {
			out[t.ID] = t
		}
	}
	return out
}

// readTalks makes the conversations of a backup.
func readTalks(f *sessionlog.File) (out []*sessionlog.Talk) {
	for _, rec := range f.Records {
		var b backup
		_ = json.Unmarshal(rec.JSON, &b) // what is of another type is not there
		named := readTopics(b.Local.Settings)
		blocks := map[string]*block{}
		for _, raw := range b.Indexed.Blocks {
			one := &block{}
			_ = json.Unmarshal(raw, one)
			blocks[one.ID] = one
		}
		for _, raw := range b.Indexed.Topics {
			var t topic
			_ = json.Unmarshal(raw, &t)
			if t.ID == "" {
				continue
			}
			about := named[t.ID]
			t.Name = cmp.Or(about.Name, t.Name)
			t.Created = cmp.Or(about.Created, t.Created)
			out = append(out, readTopic(&t, blocks))
		}
	}
	return out
}

// talkReader is a topic while it is read.
type talkReader struct {
	*sessionlog.Talk
	blocks  map[string]*block
	last    string            // the node that the next message follows
	below   map[string]string // of a question: what its answers follow
	chosen  map[string]bool   // questions of which the answer on the path is known
	results []transcript.Entry
}

func readTopic(t *topic, blocks map[string]*block) *sessionlog.Talk {
	r := &talkReader{Talk: &sessionlog.Talk{ID: sessionlog.CleanWord(t.ID)}, blocks: blocks, below: map[string]string{},
		chosen: map[string]bool{}}
	r.About.CreatedAt = exported.ParseMoment(t.Created)
	asked := ""
	seen := map[string]bool{}
	for i, raw := range t.Messages {
		var m message
		_ = json.Unmarshal(raw, &m) // what is of another type is not there
		if m.ID == "" || seen[m.ID] {
			m.ID = fmt.Sprintf("message-%d", i+1)
		}
		seen[m.ID] = true
		r.addMessage(&m)
		if n := len(r.Nodes); m.Role == "user" && asked == "" && n > 0 && len(r.Nodes[n-1].Entries) > 0 {
			asked = r.Nodes[n-1].Entries[0].Message.Parts.Text()
		}
	}
	r.Leaf = r.last
	r.About.Title = sessionlog.FirstLine(cmp.Or(t.Name, asked))
	return r.Talk
}

// addMessage adds a message, with the results of its calls behind it.
func (r *talkReader) addMessage(m *message) {
	e := transcript.Entry{Message: scrollback.Message{ID: scrollback.MessageID(m.ID), Role: scrollback.RoleUser,
		CreatedAt: exported.ParseMoment(m.Created)}}
	parent := r.last
	switch m.Role {
	case "user":
	case "assistant":
		e.Message.Role = scrollback.RoleAssistant
		e.Message.Model = cmp.Or(m.Model.ID, m.ModelID)
		r.About.Model = cmp.Or(r.About.Model, e.Message.Model)
		if before, again := r.below[m.Asked]; again && m.Asked != "" {
			parent = before
		} else {
			r.below[m.Asked] = parent
		}
	default:
		r.CountLeft("message of role " + cmp.Or(m.Role, "none"))
		return
	}
	r.results = nil
	var text string
	if exported.DecodeField(m.Content, &text) {
		sessionlog.AddText(&e, text)
	}
	for _, id := range m.Blocks {
		if b := r.blocks[id]; b != nil {
			r.addBlock(&e, b)
		} else {
			r.CountLeft("block that is not there")
		}
	}
	if !sessionlog.Says(e) {
		r.CountLeft("empty message")
		return
	}
	if m.Role == "assistant" {
		e.Message.Usage = sessionlog.Tokens{Input: m.Usage.Prompt, Output: m.Usage.Answer, Total: m.Usage.Total}.Usage()
		switch m.Status {
		case "paused":
			e.Message.Status = scrollback.StatusInterrupted
		case "error":
			e.Message.Status = scrollback.StatusFailed
		}
	}
	at := r.addNode(m.ID, parent, e)
	for i, result := range r.results {
		result.Message.CreatedAt = e.Message.CreatedAt
		at = r.addNode(fmt.Sprintf("%s#result%d", m.ID, i+1), at, result)
	}
	if m.Asked == "" || m.Role == "user" || !r.chosen[m.Asked] {
		r.last = at
	}
	r.chosen[m.Asked] = r.chosen[m.Asked] || m.Chosen
}

func (r *talkReader) addNode(id, parent string, e transcript.Entry) string {
	e.Message.ID = scrollback.MessageID(id)
	r.Nodes = append(r.Nodes, tree.Node{ID: id, Parent: parent, Entries: []transcript.Entry{e}})
	r.About.CreatedAt = cmp.Or(r.About.CreatedAt, e.Message.CreatedAt)
	r.About.UpdatedAt = max(r.About.UpdatedAt, e.Message.CreatedAt)
	return id
}

// addBlock adds what a block says.
func (r *talkReader) addBlock(e *transcript.Entry, b *block) {
	var text string
	_ = json.Unmarshal(b.Content, &text) // of tools it may be an object
	switch b.Type {
	case "main_text", "code":
		sessionlog.AddText(e, text)
	case "thinking":
		sessionlog.AddReasoning(e, text)
	case "tool":
		raw := b.Metadata.Raw
		id := cmp.Or(b.ToolID, b.ID)
		name := cmp.Or(b.Tool, raw.Tool.Name)
		args := b.Arguments
		if len(args) == 0 {
			args = raw.Arguments
		}
		sessionlog.AddCall(e, id, b.ID, name, args)
		said := b.Content
		if len(said) == 0 {
			said = raw.Response
		}
		if len(said) == 0 {
			return
		}
		if text == "" {
			text = string(exported.CompactJSON(said))
		}
		result := transcript.Entry{Message: scrollback.Message{Role: scrollback.RoleTool}}
		sessionlog.AddResult(&result, id, b.ID, name, text, raw.Status == "error")
		r.results = append(r.results, result)
	case "image":
		if !strings.HasPrefix(b.URL, "data:") || !sessionlog.AddBytes(e, b.File.Name, b.URL) {
			r.CountLeft("image in another file")
		}
	case "file":
		sessionlog.AddText(e, "["+cmp.Or(b.File.Name, "file")+"]")
	case "error":
		sessionlog.AddText(e, b.Error.Message)
	default:
		r.CountLeft("block of type " + cmp.Or(b.Type, "none"))
	}
}
