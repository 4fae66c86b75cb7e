package cursor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// known says which versions the table is known of.
const known = "Cursor 0.45 to 2"

// The keys of composers and of bubbles, and what comes behind all of them.
const (
	composerKey    = "composerData:"
	composerKeyEnd = "composerData;"
	bubbleKey      = "bubbleId:"
	bubbleKeyEnd   = "bubbleId;"
)

// databaseSessions lists the conversations of a database. A change in place shows in the time of the composer, or in
// the lengths of its bubbles.
func databaseSessions(ctx context.Context, p transcript.Place, name string) (out []transcript.Session, err error) {
	err = foreign.ReadDatabase(ctx, filepath.Join(p.Path, filepath.FromSlash(name)), func(db *foreign.DB) error {
		out = nil
		if err := db.RequireTable(known, "cursorDiskKV", "key", "value"); err != nil {
			return err
		}
		type counts struct{ n, bytes int64 }
		bubbles := map[string]counts{}
		for r, err := range db.QueryRows("SELECT substr(key, 10, instr(substr(key, 10), ':') - 1) AS id, count(*) AS n, "+
			"sum(octet_length(value)) AS bytes FROM cursorDiskKV WHERE key > ? AND key < ? GROUP BY id", bubbleKey,
			bubbleKeyEnd) {
			if err != nil {
				return err
			}
			bubbles[r.Text("id")] = counts{r.Int("n"), max(r.Int("bytes"), 0)}
		}
		began := map[string]int64{}
		for r, err := range db.QueryRows("SELECT substr(key, 14) AS id, octet_length(value) AS bytes, "+
			"CASE WHEN json_valid(CAST(value AS TEXT)) THEN json_extract(CAST(value AS TEXT), '$.createdAt') END AS began, "+
			"CASE WHEN json_valid(CAST(value AS TEXT)) THEN json_extract(CAST(value AS TEXT), '$.lastUpdatedAt') END AS newest "+
			"FROM cursorDiskKV WHERE key > ? AND key < ? ORDER BY key", composerKey, composerKeyEnd) {
			if err != nil {
				return err
			}
			s := transcript.Session{ID: r.Text("id"), Name: name}
			b := bubbles[s.ID]
			s.Bytes = max(r.Int("bytes"), 0) + b.bytes
			began[s.ID] = transcript.ParseMillis(r.Int("began"))
			s.Changed = max(transcript.ParseMillis(r.Int("newest")), began[s.ID])
			s.Stamp = fmt.Sprintf("%d,%d,%d,%d", r.Int("bytes"), s.Changed, b.n, b.bytes)
			if s.ID != "" {
				out = append(out, s)
			}
		}
		slices.SortStableFunc(out, func(a, b transcript.Session) int { return cmp.Compare(began[a.ID], began[b.ID]) })
		return nil
	})
	return out, err
}

// composersOf returns the conversations that the editor's database on this machine has; none if it cannot be read.
func composersOf(ctx context.Context, home string) map[string]bool {
	out := map[string]bool{}
	for _, folder := range []string{".config", "Library/Application Support", "AppData/Roaming"} {
		dir := path.Join(home, folder, "Cursor/User/globalStorage")
		if _, err := fs.Stat(foreign.FolderBeside(filepath.FromSlash(dir)), databaseFile); err != nil {
			continue
		}
		_ = foreign.ReadDatabase(ctx, filepath.FromSlash(path.Join(dir, databaseFile)), func(db *foreign.DB) error {
			for r, err := range db.QueryRows("SELECT substr(key, 14) AS id FROM cursorDiskKV WHERE key > ? AND key < ?",
				composerKey, composerKeyEnd) {
				if err != nil {
					return err
				}
				out[r.Text("id")] = true
			}
			return nil
		}) // then the transcripts are all there is
	}
	return out
}

// composer is a conversation.
type composer struct {
	id      string
	Name    string            `json:"name"`
	Status  string            `json:"status"`
	Created float64           `json:"createdAt"`
	Newest  float64           `json:"lastUpdatedAt"`
	Headers []header          `json:"fullConversationHeadersOnly"`
	Inline  []json.RawMessage `json:"conversation"` // of older versions
	Model   struct {
		Name string `json:"modelName"`
	} `json:"modelConfig"`
	Workspace struct {
		URI struct {
			Path string `json:"fsPath"`
		} `json:"uri"`
	} `json:"workspaceIdentifier"`

	bubbles []bubble
	lost    int
}

type header struct {
	ID string `json:"bubbleId"`
}

// bubble is a piece of a conversation.
type bubble struct {
	ID       string `json:"bubbleId"`
	Type     int    `json:"type"` // 1 for a person's
	Text     string `json:"text"`
	Created  string `json:"createdAt"`
	Thinking struct {
		Text string `json:"text"`
	} `json:"thinking"`
	Tool *struct {
		ID     string          `json:"toolCallId"`
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"rawArgs"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Status string          `json:"status"`
	} `json:"toolFormerData"`
	Tokens struct {
		Input  sessionlog.Count `json:"inputTokens"`
		Output sessionlog.Count `json:"outputTokens"`
	} `json:"tokenCount"`
	Model struct {
		Name string `json:"modelName"`
	} `json:"modelInfo"`
	Folders []string `json:"workspaceUris"`
	Images  []struct {
		Data string `json:"data"`
	} `json:"images"`
}

// maxBubbles bounds those of a conversation.
const maxBubbles = 100_000

// readComposer reads a conversation.
func readComposer(ctx context.Context, p transcript.Place, s transcript.Session) (c *composer, err error) {
	err = foreign.ReadDatabase(ctx, filepath.Join(p.Path, filepath.FromSlash(s.Name)), func(db *foreign.DB) error {
		c = &composer{id: s.ID}
		if err := db.RequireTable(known, "cursorDiskKV", "key", "value"); err != nil {
			return err
		}
		there := false
		for r, err := range db.QueryRows("SELECT value FROM cursorDiskKV WHERE key = ?", composerKey+s.ID) {
			if err != nil {
				return err
			}
			there = true
			_ = exported.DecodeJSON([]byte(r.Text("value")), c) // what is of another type is not there
		}
		if !there {
			return fmt.Errorf("session %s is no longer there: %w", s.ID, fs.ErrNotExist)
		}
		found := map[string]bubble{}
		prefix := bubbleKey + s.ID + ":"
		for r, err := range db.QueryRows("SELECT key, value FROM cursorDiskKV WHERE key > ? AND key < ?", prefix,
			bubbleKey+s.ID+";") {
			if err != nil {
				return err
			}
			var b bubble
			if exported.DecodeJSON([]byte(r.Text("value")), &b) == nil {
				found[strings.TrimPrefix(r.Text("key"), prefix)] = b
			}
		}
		c.orderBubbles(found)
		return nil
	})
	return c, err
}

// orderBubbles puts the bubbles in the order of the composer.
func (c *composer) orderBubbles(found map[string]bubble) {
	for i, h := range c.Headers[:min(len(c.Headers), maxBubbles)] {
		b, ok := found[h.ID]
		if !ok {
			c.lost++
			continue
		}
		b.ID = cmp.Or(h.ID, fmt.Sprintf("bubble-%d", i))
		c.bubbles = append(c.bubbles, b)
	}
	if len(c.Headers) > 0 {
		return
	}
	for i, raw := range c.Inline[:min(len(c.Inline), maxBubbles)] {
		var b bubble
		if exported.DecodeJSON(raw, &b) == nil {
			b.ID = cmp.Or(b.ID, fmt.Sprintf("bubble-%d", i))
			c.bubbles = append(c.bubbles, b)
		}
	}
}

// talk makes the conversation.
func (c *composer) talk(live bool) *sessionlog.Talk {
	t := &sessionlog.Talk{ID: c.id, Folder: strings.ToValidUTF8(c.Workspace.URI.Path, "�")}
	asked := ""
	model := c.Model.Name
	last := ""
	for i := range c.bubbles {
		b := &c.bubbles[i]
		if t.Folder == "" && len(b.Folders) > 0 {
			t.Folder = folderOf(b.Folders[0])
		}
		if live && (i == len(c.bubbles)-1 && b.Type != 1 && c.Status != "completed" || b.isOpen()) {
			t.Held = true // it may still be written, and what follows comes behind it
			break
		}
		n := tree.Node{ID: b.ID, Parent: last}
		n.Entries = b.entries(t, model)
		last = b.ID
		t.Nodes = append(t.Nodes, n)
		if b.Type == 1 {
			asked = cmp.Or(asked, b.Text)
		}
	}
	for range c.lost {
		t.CountLeft("bubble that is gone")
	}
	t.About = scrollback.Conversation{Title: sessionlog.FirstLine(cmp.Or(c.Name, asked)), Model: model,
		CreatedAt: exported.SecondsToMillis(c.Created), UpdatedAt: exported.SecondsToMillis(c.Newest)}
	return t
}

// isOpen reports whether a bubble is a call that may still get its result.
func (b *bubble) isOpen() bool {
	if b.Tool == nil {
		return false
	}
	switch b.Tool.Status {
	case "completed", "error", "cancelled", "rejected":
		return false
	}
	return true
}

// entries makes the messages of a bubble: of a call and its result two.
func (b *bubble) entries(t *sessionlog.Talk, model string) []transcript.Entry {
	p := &exported.Pieces{ID: b.ID, Role: scrollback.RoleAssistant, At: exported.ParseMoment(b.Created)}
	if b.Type == 1 {
		p.Role = scrollback.RoleUser
	}
	p.AddReasoning(b.Thinking.Text)
	p.AddText(b.Text)
	for _, image := range b.Images {
		if image.Data == "" || !sessionlog.AddBytes(p.OwnEntry(), "", image.Data) {
			t.CountLeft("image without bytes")
		}
	}
	if tool := b.Tool; tool != nil && b.Type != 1 {
		args := tool.Args
		if len(args) == 0 {
			args = tool.Params
		}
		id := cmp.Or(tool.ID, b.ID+"#call")
		p.AddCall(id, tool.Name, exported.CallArguments(args, "input"))
		if text := resultText(tool.Result); text != "" || tool.Status == "completed" || tool.Status == "error" {
			p.AnswerNewest(text, tool.Status == "error")
		}
	}
	if len(p.Entries) == 0 || len(p.Entries[0].Message.Parts) == 0 {
		t.CountLeft("empty")
		return nil
	}
	if p.Role == scrollback.RoleAssistant {
		p.FinishMessage(cmp.Or(b.Model.Name, model), "", nil)
		p.Entries[0].Message.Usage = sessionlog.Tokens{Input: b.Tokens.Input, Output: b.Tokens.Output}.Usage()
	}
	return p.Entries
}

// resultText returns what a tool returned: a text, or JSON.
func resultText(raw json.RawMessage) string {
	var text string
	if exported.DecodeField(raw, &text) || len(raw) == 0 {
		return text
	}
	return string(exported.CompactJSON(raw))
}

// folderOf returns the folder of an address of one; empty if it is not of this machine.
func folderOf(address string) string {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "file" {
		return ""
	}
	folder := at.Path
	if len(folder) > 2 && folder[2] == ':' {
		folder = folder[1:] // a drive
	}
	return strings.ToValidUTF8(filepath.FromSlash(folder), "�")
}
