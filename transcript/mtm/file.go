package mtm

import (
	"encoding/json"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/cell"
)

var fields = cell.Fields{Title: "name", Agents: "sub_agents_list"}

// Tie implements transcript.Notebook.
func (n *notebook) Tie() transcript.Tie {
	return fields.ReadTie(splice.GetField(n.file.Shell, "metadata"))
}

// SetTie implements transcript.Notebook.
func (n *notebook) SetTie(t transcript.Tie) error {
	return fields.SetTie(n.file, t)
}

// metadata is what a file says of itself.
type metadata struct {
	UUID         string   `json:"uuid"`
	Name         string   `json:"name"`
	CreatedAt    string   `json:"created_at,omitempty"`
	Parent       *string  `json:"parent_agent_id"`
	AllowedURIs  []string `json:"allowed_uris"`
	Model        string   `json:"model,omitempty"`
	ContextItems []any    `json:"contextItems"`
	Agents       []string `json:"sub_agents_list,omitempty"`
	Ours         any      `json:"scrollback,omitempty"`
}

// New returns a notebook without cells.
func New(t transcript.Tie) transcript.Notebook { return newEmpty(t, scrollback.Conversation{}) }

func newEmpty(t transcript.Tie, c scrollback.Conversation) *notebook {
	m := metadata{UUID: t.ID, Name: t.Title, AllowedURIs: append([]string{}, t.Roots...), Model: t.Model,
		ContextItems: []any{},
		Agents:       t.Agents, Ours: cell.NewOurs(t, true, c.Meta)}
	if t.AgentOf != "" {
		m.Parent = &t.AgentOf
	}
	if c.CreatedAt > 0 && splice.GetField(splice.GetField(c.Meta, Name), "created_at") == nil {
		m.CreatedAt = time.UnixMilli(c.CreatedAt).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	form := splice.Form{Indent: "  ", Newline: "\n"}
	meta, err := form.MarshalAt(m, 1)
	if err != nil {
		panic(err) // it is made of texts and of JSON that was stored
	}
	meta = cell.RestoreMeta(form, meta, splice.GetField(c.Meta, Name))
	raw := slices.Concat([]byte("{\n  \"metadata\": "), meta, []byte(",\n  \"context\": []\n}"))
	n, err := openNotebook(raw)
	if err != nil {
		panic(err) // it is made of texts and of JSON that was stored
	}
	return n
}

// Format is the format. The zero value is ready.
type Format struct{}

// Name implements transcript.Importer.
func (Format) Name() string { return Name }

// Sniff implements transcript.Importer: an object with metadata and a context.
func (Format) Sniff(head []byte) bool {
	seen := transcript.HeadFields(head)
	return seen["context"] && !seen["cells"] && !seen["messages"] && (len(seen) == 1 || seen["metadata"])
}

// Read implements transcript.Importer.
func (Format) Read(r io.Reader) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		b, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		n, err := openNotebook(b)
		if err != nil {
			yield(cell.BrokenFile(err), nil)
			return
		}
		t := n.Tie()
		in := cell.NewReading(t, Name, n.file.Line, yield)
		for _, g := range n.groups {
			in.BeginItem(g.head)
			if g.role == "" {
				in.EmitBad("this is not a message")
			} else {
				s := g.readMessages()
				in.EmitCell(s.cell, s.own, s.talk.All, s.bad)
			}
			for _, it := range g.run {
				in.PassItem(it)
			}
		}
	}
}

// Write implements transcript.Exporter.
func (Format) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	t := cell.ConversationTie(c)
	var id string
	if c.Parent == nil && json.Unmarshal(splice.GetField(splice.GetField(c.Meta, Name), "uuid"), &id) == nil && id != "" {
		t.ID = id // a fork is another notebook than the one that was imported
	}
	n := newEmpty(t, c)
	return cell.Export(w, n.file, entries, func(g cell.Group) ([]splice.Item, error) {
		if err := n.appendGroup(g, false); err != nil {
			return nil, err
		}
		last := n.groups[len(n.groups)-1]
		// what is written is not needed any more
		n.groups = []*messageGroup{{role: last.role}}
		n.cells = nil
		return append([]splice.Item{last.head}, last.run...), nil
	})
}
