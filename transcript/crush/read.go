package crush

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// messageRow is a message of the database.
type messageRow struct {
	id, role, model, provider string
	summary                   bool
	created                   int64
	parts                     []part
	bad                       string
}

// part is a piece of a message; the kinds share the names of their fields.
type part struct {
	Type string
	Data partData
}

type partData struct {
	Text       string `json:"text"`
	Thinking   string `json:"thinking"`
	ID         string `json:"id"`
	Name       string `json:"name"`
	Input      string `json:"input"`
	ToolCallID string `json:"tool_call_id"`
	Content    string `json:"content"`
	Data       string `json:"data"`
	Mime       string `json:"mime_type"`
	MIMEType   string
	Path       string
	URL        string `json:"url"`
	IsError    bool   `json:"is_error"`
	Reason     string `json:"reason"`
	Message    string `json:"message"`
	Details    string `json:"details"`
}

// readParts reads the parts of a row. One of another shape than is known is a part of its kind
// with nothing in it.
func (r *messageRow) readParts(parts string) {
	var all []struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(parts), &all); err != nil {
		r.bad = strings.ToValidUTF8(fmt.Sprintf("message %s: %v", r.id, err), "\uFFFD")
	}
	for _, p := range all {
		one := part{Type: p.Type}
		if len(p.Data) > 0 && json.Unmarshal(p.Data, &one.Data) != nil {
			one = part{Type: "unknown " + p.Type}
		}
		r.parts = append(r.parts, one)
	}
}

// finishPart returns how a row ended, or nil.
func (r *messageRow) finishPart() *partData {
	for i := range r.parts {
		if r.parts[i].Type == "finish" {
			return &r.parts[i].Data
		}
	}
	return nil
}

// conversation is a session with its rows.
type conversation struct {
	*sessionHead
	rows []*messageRow
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		all, err := loadSessions(ctx, p, s)
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("session %s is no longer there: %w", s.ID, fs.ErrNotExist)
		}
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		w := &entryWriter{yield: yield, live: p.IsLive(s), folder: workFolder(p, s.Name, all)}
		w.writeAll(all)
	}
}

// loadSessions reads a session and what it started.
func loadSessions(ctx context.Context, p transcript.Place, s transcript.Session) (out []*conversation, err error) {
	if p.Path == "" {
		return nil, nil
	}
	if _, err := fs.Stat(p.FS, s.Name); err != nil {
		return nil, err
	}
	err = foreign.ReadDatabase(ctx, filepath.Join(p.Path, filepath.FromSlash(s.Name)), func(db *foreign.DB) error {
		out = nil
		if err := checkTables(db); err != nil {
			return err
		}
		f, err := readForest(db)
		if err != nil {
			return err
		}
		for _, id := range f.sessionFamily(s.ID) {
			c := &conversation{sessionHead: f.all[id]}
			for r, err := range db.QueryRows("SELECT id, role, parts, created_at, "+db.ColumnOr("messages", "model", "NULL")+
				", "+
				db.ColumnOr("messages", "provider", "NULL")+", "+db.ColumnOr("messages", "is_summary_message", "0")+
				" FROM messages WHERE session_id = ? ORDER BY created_at, rowid", id) {
				if err != nil {
					return err
				}
				one := &messageRow{id: r.Text("id"), role: r.Text("role"), model: r.Text("model"), provider: r.Text("provider"),
					summary: r.Int("is_summary_message") != 0, created: transcript.ParseMillis(r.Int("created_at"))}
				one.readParts(r.Text("parts"))
				c.rows = append(c.rows, one)
			}
			out = append(out, c)
		}
		return nil
	})
	return out, err
}

// mark is the folder that the tool appends to what a command printed.
var mark = lazyregexp.New(`\s*<cwd>([^<]*)</cwd>\s*$`)

// workFolder returns the one that was worked in: what holds the tool's folder, what the tool has noted of it, or
// what the first command says.
func workFolder(p transcript.Place, name string, all []*conversation) string {
	home := filepath.Dir(filepath.Join(p.Path, filepath.FromSlash(name)))
	if filepath.Base(home) == ".crush" {
		return filepath.Dir(home)
	}
	noted := listProjects(p.FS, path.Join(path.Dir(name), "projects.json"))
	for _, one := range noted {
		if filepath.Clean(filepath.FromSlash(one.DataDir)) == home {
			return one.Path
		}
	}
	for _, c := range all {
		for _, r := range c.rows {
			for _, q := range r.parts {
				if at := mark().FindStringSubmatch(q.Data.Content); q.Type == "tool_result" && at != nil {
					return at[1]
				}
			}
		}
	}
	return ""
}

// entryWriter makes entries of conversations.
type entryWriter struct {
	yield  func(transcript.Entry, error) bool
	gone   bool
	live   bool
	folder string
}

func (w *entryWriter) emitEntry(e transcript.Entry) {
	if !w.gone && !w.yield(e, nil) {
		w.gone = true
	}
}

// separator stands in the id of a sub-agent's session, between the message and the call that
// started it.
const separator = "$$"

// writeAll tells a conversation and then its sub-agents; one whose call is held back waits.
func (w *entryWriter) writeAll(all []*conversation) {
	told := map[string]map[string]bool{} // of each conversation its messages
	for i, c := range all {
		if w.gone {
			return
		}
		var of *transcript.AgentOf
		if i > 0 {
			message, call, _ := strings.Cut(c.id, separator)
			if up := told[c.parent]; up == nil || call != "" && !up[message] && w.live {
				continue
			}
			of = &transcript.AgentOf{Source: c.parent, CallID: call}
		}
		kept := w.keptRows(c.rows)
		told[c.id] = map[string]bool{}
		for _, r := range kept {
			told[c.id][r.id] = true
		}
		w.writeConversation(c, kept, of)
	}
}

// keptRows returns the rows without those at the end that are still being written.
func (w *entryWriter) keptRows(rows []*messageRow) []*messageRow {
	n := len(rows)
	for w.live && n > 0 && rows[n-1].role == "assistant" && rows[n-1].finishPart() == nil {
		n--
	}
	return rows[:n]
}

func (w *entryWriter) writeConversation(c *conversation, kept []*messageRow, of *transcript.AgentOf) {
	out := &scrollback.Conversation{Title: c.title, CreatedAt: c.created, UpdatedAt: c.updated}
	meta := struct {
		Folder   string `json:"cwd,omitempty"`
		Provider string `json:"provider,omitempty"`
	}{Folder: w.folder}
	for _, r := range kept {
		if r.model != "" {
			out.Model = r.model
		}
		if r.provider != "" && !r.summary { // a summary has another thing there
			meta.Provider = r.provider
		}
	}
	out.Meta = transcript.MarshalObject(map[string]any{metaKey: meta})
	w.emitEntry(transcript.Entry{Source: c.id, Conversation: out, Agent: of,
		Origin: &scrollback.Origin{ID: c.id, Folder: w.folder}})
	t := &messageBuilder{left: map[string]int{}, names: map[string]string{}}
	for _, r := range kept {
		if r.bad != "" {
			w.emitEntry(transcript.Entry{Source: c.id, Bad: &transcript.Bad{Reason: r.bad}})
			continue
		}
		if e := t.makeEntry(r); len(e.Message.Parts) > 0 {
			e.Source = c.id
			w.emitEntry(e)
		}
	}
	w.emitEntry(transcript.Entry{Source: c.id, End: &transcript.End{Held: len(kept) < len(c.rows), Left: t.left}})
}
