package crush

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// row is a message of the database.
type row struct {
	id, role, model, provider string
	summary                   bool
	created                   int64
	parts                     []part
	bad                       string
}

// part is a piece of a message; the kinds share the names of their fields.
type part struct {
	Type string
	Data data
}

type data struct {
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

// read reads the parts of a row. One of another shape than is known is a part of its kind
// with nothing in it.
func (r *row) read(parts string) {
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

// finish is how a row ended, or nil.
func (r *row) finish() *data {
	for i := range r.parts {
		if r.parts[i].Type == "finish" {
			return &r.parts[i].Data
		}
	}
	return nil
}

// conversation is a session with its rows.
type conversation struct {
	*head
	rows []*row
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		all, err := load(ctx, p, s)
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("session %s is no longer there: %w", s.ID, fs.ErrNotExist)
		}
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		w := &writer{yield: yield, live: p.Live(s), folder: folder(p, s.Name, all)}
		w.write(all)
	}
}

// load reads a session and what it started.
func load(ctx context.Context, p transcript.Place, s transcript.Session) (out []*conversation, err error) {
	if p.Path == "" {
		return nil, nil
	}
	if _, err := fs.Stat(p.FS, s.Name); err != nil {
		return nil, err
	}
	err = foreign.Read(ctx, filepath.Join(p.Path, filepath.FromSlash(s.Name)), func(db *foreign.DB) error {
		out = nil
		if err := need(db); err != nil {
			return err
		}
		f, err := gather(db)
		if err != nil || !slices.Contains(f.roots, s.ID) {
			return err
		}
		for _, id := range f.family(s.ID) {
			c := &conversation{head: f.all[id]}
			for r, err := range db.Rows("SELECT id, role, parts, created_at, "+db.Or("messages", "model", "NULL")+", "+
				db.Or("messages", "provider", "NULL")+", "+db.Or("messages", "is_summary_message", "0")+
				" FROM messages WHERE session_id = ? ORDER BY created_at, rowid", id) {
				if err != nil {
					return err
				}
				one := &row{id: r.Text("id"), role: r.Text("role"), model: r.Text("model"), provider: r.Text("provider"),
					summary: r.Int("is_summary_message") != 0, created: millis(r.Int("created_at"))}
				one.read(r.Text("parts"))
				c.rows = append(c.rows, one)
			}
			out = append(out, c)
		}
		return nil
	})
	return out, err
}

// mark is the folder that the tool appends to what a command printed.
var mark = regexp.MustCompile(`\s*<cwd>([^<]*)</cwd>\s*$`)

// folder is where was worked: what holds the tool's folder, what the tool has noted of it, or
// what the first command says.
func folder(p transcript.Place, name string, all []*conversation) string {
	home := filepath.Dir(filepath.Join(p.Path, filepath.FromSlash(name)))
	if filepath.Base(home) == ".crush" {
		return filepath.Dir(home)
	}
	noted := projects(p.FS, path.Join(path.Dir(name), "projects.json"))
	for _, one := range noted {
		if filepath.Clean(filepath.FromSlash(one.DataDir)) == home {
			return one.Path
		}
	}
	for _, c := range all {
		for _, r := range c.rows {
			for _, q := range r.parts {
				if at := mark.FindStringSubmatch(q.Data.Content); q.Type == "tool_result" && at != nil {
					return at[1]
				}
			}
		}
	}
	return ""
}

// writer makes entries of conversations.
type writer struct {
	yield  func(transcript.Entry, error) bool
	gone   bool
	live   bool
	folder string
}

func (w *writer) emit(e transcript.Entry) {
	if !w.gone && !w.yield(e, nil) {
		w.gone = true
	}
}

// separator stands in the id of a sub-agent's session, between the message and the call that
// started it.
const separator = "$$"

// write tells a conversation and then its sub-agents; one whose call is held back waits.
func (w *writer) write(all []*conversation) {
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
		kept := w.kept(c.rows)
		told[c.id] = map[string]bool{}
		for _, r := range kept {
			told[c.id][r.id] = true
		}
		w.conversation(c, kept, of)
	}
}

// kept are the rows without those at the end that are still being written.
func (w *writer) kept(rows []*row) []*row {
	n := len(rows)
	for w.live && n > 0 && rows[n-1].role == "assistant" && rows[n-1].finish() == nil {
		n--
	}
	return rows[:n]
}

func (w *writer) conversation(c *conversation, kept []*row, of *transcript.AgentOf) {
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
	out.Meta = object(map[string]any{metaKey: meta})
	w.emit(transcript.Entry{Source: c.id, Conversation: out, Agent: of, Origin: &scrollback.Origin{ID: c.id, Folder: w.folder}})
	left, names := map[string]int{}, map[string]string{}
	for _, r := range kept {
		if r.bad != "" {
			w.emit(transcript.Entry{Source: c.id, Bad: &transcript.Bad{Reason: r.bad}})
			continue
		}
		if e := r.entry(left, names); len(e.Message.Parts) > 0 {
			e.Source = c.id
			w.emit(e)
		}
	}
	w.emit(transcript.Entry{Source: c.id, End: &transcript.End{Held: len(kept) < len(c.rows), Left: left}})
}

// entry is the message of a row, without parts if it has none. Names are the calls so far.
func (r *row) entry(left map[string]int, names map[string]string) (e transcript.Entry) {
	role, err := scrollback.ParseRole(r.role)
	if err != nil || role == scrollback.RoleSystem {
		left["message of role "+cmp.Or(strings.ToValidUTF8(r.role, "\uFFFD"), "none")]++
		return e
	}
	e.Message = scrollback.Message{ID: scrollback.MessageID(r.id), Role: role, CreatedAt: r.created, Status: scrollback.StatusComplete}
	for i, p := range r.parts {
		r.part(&e, p.Type, &p.Data, fmt.Sprintf("%s#%d", r.id, i), left, names)
	}
	if len(e.Message.Parts) == 0 {
		if f := r.finish(); f != nil && f.Reason == "error" {
			left["error without an answer"]++
		} else {
			left["empty message"]++
		}
		return e
	}
	if role == scrollback.RoleAssistant {
		e.Message.Model = r.model
		e.Message.Status, e.Message.Meta = r.ending()
	}
	return e
}

// part adds a piece of a message; id is for a call that has none.
func (r *row) part(e *transcript.Entry, kind string, d *data, id string, left map[string]int, names map[string]string) {
	add := func(p scrollback.Part) { e.Message.Parts = append(e.Message.Parts, p) }
	switch kind {
	case "text":
		if d.Text != "" {
			add(scrollback.Text{Text: d.Text})
		}
	case "reasoning":
		if d.Thinking != "" {
			add(scrollback.Reasoning{Text: d.Thinking})
		}
	case "tool_call":
		call := scrollback.ToolCall{ID: cmp.Or(d.ID, id), Name: cmp.Or(d.Name, "unknown"), Arguments: arguments(d.Input)}
		names[call.ID] = call.Name
		add(call)
	case "tool_result":
		name := cmp.Or(names[d.ToolCallID], d.Name, "unknown")
		text := mark.ReplaceAllString(d.Content, "")
		add(scrollback.ToolResult{CallID: cmp.Or(d.ToolCallID, id), Name: name, Text: text, IsError: d.IsError || name == "bash" && failed(text)})
		if d.Data != "" && !attach(e, d.Data, d.Mime, "") {
			left["attachment that is not base64"]++
		}
	case "binary":
		if !attach(e, d.Data, cmp.Or(d.MIMEType, d.Mime), d.Path) {
			left["attachment that is not base64"]++
		}
	case "image_url":
		switch {
		case strings.HasPrefix(d.URL, "https://"), strings.HasPrefix(d.URL, "http://"):
			add(scrollback.Image{URL: d.URL})
		default:
			left["image address"]++
		}
	case "finish":
	default:
		left[cmp.Or(strings.ToValidUTF8(kind, "\uFFFD"), "part")]++
	}
}

// exited is how the tool says at the end of an output that a command failed.
var exited = regexp.MustCompile(`(?:^|\n)Exit code (\d+)\s*$`)

// failed reports whether a command failed: the tool only says so in its output.
func failed(text string) bool {
	m := exited.FindStringSubmatch(text)
	return m != nil && strings.Trim(m[1], "0") != ""
}

// attach adds bytes as an image or a file.
func attach(e *transcript.Entry, encoded, mime, name string) bool {
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(b) == 0 {
		return false
	}
	if e.Bytes == nil {
		e.Bytes = map[int][]byte{}
	}
	e.Bytes[len(e.Message.Parts)] = b
	mime = cmp.Or(mime, "application/octet-stream")
	if strings.HasPrefix(mime, "image/") && mime != "image/svg+xml" {
		e.Message.Parts = append(e.Message.Parts, scrollback.Image{MediaType: mime, Name: name, Size: int64(len(b))})
	} else {
		e.Message.Parts = append(e.Message.Parts, scrollback.File{MediaType: mime, Name: name, Size: int64(len(b))})
	}
	return true
}

// arguments is the input of a call, which the tool keeps as text.
func arguments(input string) json.RawMessage {
	switch {
	case json.Valid([]byte(input)):
		return json.RawMessage(input)
	case input == "":
		return json.RawMessage("{}")
	}
	return object(map[string]string{"input": input}) // it was cut
}

// ending is how an answer ended.
func (r *row) ending() (scrollback.Status, json.RawMessage) {
	status, f := scrollback.StatusComplete, r.finish()
	kept := struct {
		Compaction  bool   `json:"compaction,omitempty"`
		Interrupted bool   `json:"interrupted,omitempty"`
		Finish      string `json:"finish,omitempty"`
		Error       string `json:"error,omitempty"`
	}{Compaction: r.summary}
	switch {
	case f == nil || f.Reason == "canceled":
		status, kept.Interrupted = scrollback.StatusInterrupted, true
	case f.Reason == "error":
		status = scrollback.StatusFailed
		kept.Error = strings.TrimSuffix(f.Message+": "+f.Details, ": ")
	case f.Reason != "end_turn" && f.Reason != "tool_use" && f.Reason != "stop":
		kept.Finish = f.Reason
	}
	meta := object(map[string]any{metaKey: kept})
	if string(meta) == `{"`+metaKey+`":{}}` {
		meta = nil
	}
	return status, meta
}
