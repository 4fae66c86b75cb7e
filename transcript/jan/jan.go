// Package jan reads the conversations of Jan, which keeps a folder a thread.
//
// Words it adds: thread (what Jan calls a conversation).
//
// Invariants: messages are in the order of their file.
//
// It may not know the store, the network or the file system.
package jan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name.
const Name = "jan"

// The files of a thread.
const (
	messagesFile = "messages.jsonl"
	threadFile   = "thread.json"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool].
func (Tool) Homes(m transcript.Machine) []string {
	data := filepath.Join(m.Home, ".local", "share")
	switch m.System {
	case "darwin":
		data = filepath.Join(m.Home, "Library", "Application Support")
	case "windows":
		if data = m.Getenv("APPDATA"); data == "" {
			data = filepath.Join(m.Home, "AppData", "Roaming")
		}
	default:
		if dir := m.Getenv("XDG_DATA_HOME"); dir != "" {
			data = dir
		}
	}
	return []string{filepath.Join(data, "Jan", "data", "threads"), filepath.Join(m.Home, "jan", "threads")}
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	seen := transcript.HeadFields(head)
	return path.Ext(name) == ".jsonl" && seen["thread_id"] && seen["role"] && seen["object"]
}

var format = sessionlog.Format{
	Sniff: Tool{}.Sniff,
	Named: func(name string) bool { return path.Base(name) == messagesFile },
	Identify: func(_ string, head []byte) string {
		var m message
		if first, err := transcript.NewRecords(bytes.NewReader(head)).Next(); err == nil {
			_ = json.Unmarshal(first.JSON, &m) // what is of another type is not there
		}
		return m.Thread
	},
	Beside: func(_ transcript.Place, name string) []string { return []string{path.Join(path.Dir(name), threadFile)} },
	Depth:  3,
	Talks:  readTalks,
}

// Sessions implements [transcript.Tool].
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// message is a line of a thread.
type message struct {
	ID      string  `json:"id"`
	Thread  string  `json:"thread_id"`
	Role    string  `json:"role"`
	Created float64 `json:"created_at"`
	Status  string  `json:"status"`
	Content []struct {
		Type string `json:"type"`
		Text struct {
			Value string `json:"value"`
		} `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	} `json:"content"`
}

func readTalks(f *sessionlog.File) []*sessionlog.Talk {
	t := &sessionlog.Talk{ID: f.ID}
	var about struct {
		Title      string `json:"title"`
		Assistants []struct {
			Model struct {
				ID string `json:"id"`
			} `json:"model"`
		} `json:"assistants"`
	}
	_ = json.Unmarshal(f.ReadBeside(path.Join(path.Dir(f.Name), threadFile)), &about) // or nothing says it
	if len(about.Assistants) > 0 {
		t.About.Model = about.Assistants[0].Model.ID
	}
	asked := ""
	last := ""
	for i, rec := range f.Records {
		var m message
		_ = json.Unmarshal(rec.JSON, &m) // what is of another type is not there
		id := cmp.Or(m.ID, fmt.Sprintf("line-%d", i+1))
		e := transcript.Entry{Line: rec.Line, Message: scrollback.Message{ID: scrollback.MessageID(id),
			Role: scrollback.RoleUser, CreatedAt: exported.SecondsToMillis(m.Created)}}
		switch m.Role {
		case "user":
		case "assistant":
			e.Message.Role = scrollback.RoleAssistant
		default:
			t.CountLeft("message of role " + cmp.Or(m.Role, "none"))
			continue
		}
		for _, c := range m.Content {
			switch {
			case c.Type == "reasoning":
				sessionlog.AddReasoning(&e, c.Text.Value)
			case c.Image.URL != "":
				if !sessionlog.AddBytes(&e, "", c.Image.URL) {
					t.CountLeft("image without bytes")
				}
			default:
				sessionlog.AddText(&e, c.Text.Value)
			}
		}
		n := tree.Node{ID: id, Parent: last}
		if sessionlog.Says(e) {
			n.Entries = []transcript.Entry{e}
			t.About.CreatedAt = cmp.Or(t.About.CreatedAt, e.Message.CreatedAt)
			t.About.UpdatedAt = max(t.About.UpdatedAt, e.Message.CreatedAt)
		}
		if m.Role == "user" {
			asked = cmp.Or(asked, e.Message.Parts.Text())
		}
		last = id
		t.Nodes = append(t.Nodes, n)
	}
	t.About.Title = sessionlog.FirstLine(cmp.Or(about.Title, asked))
	return []*sessionlog.Talk{t}
}
