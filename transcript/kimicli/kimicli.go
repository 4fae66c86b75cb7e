// Package kimicli reads the conversations of Kimi CLI, which keeps a folder a session: a log of what was shown
// (wire.jsonl), and what its model was sent last (context.jsonl).
//
// Words it adds: step (one call of a model, with the tools that it called).
//
// Invariants: the log is read where there is one, since it keeps what a compaction or a step back takes out of the
// context; a step is held back, while its session is live, until something follows it.
//
// It may not know the store, the network or the file system.
package kimicli

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // the tool names folders by it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
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
const Name = "kimi-cli"

// The files of a session.
const (
	wireFile    = "wire.jsonl"
	contextFile = "context.jsonl"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool].
func (Tool) Homes(m transcript.Machine) []string {
	share := filepath.Join(m.Home, ".kimi")
	if dir := m.Getenv("KIMI_SHARE_DIR"); filepath.IsAbs(dir) {
		share = dir
	}
	return []string{share}
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	if path.Ext(name) != ".jsonl" {
		return false
	}
	in := transcript.NewRecords(strings.NewReader(string(head)))
	for range 20 {
		r, err := in.Next()
		if err != nil {
			return false
		}
		var l struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Type    string          `json:"type"`
			Message wireMessage     `json:"message"`
		}
		_ = json.Unmarshal(r.JSON, &l) // what is of another type is not there
		switch {
		case l.Role == "_checkpoint" || l.Role == "_usage":
			return true
		case l.Message.Type == "TurnBegin":
			return true
		case l.Role == "" && l.Type != "metadata" && l.Message.Type == "":
			return false
		}
	}
	return false
}

var format = sessionlog.Format{
	Sniff: Tool{}.Sniff,
	Named: func(name string) bool {
		base := path.Base(name)
		return base == wireFile || base == contextFile
	},
	Identify: func(name string, _ []byte) string {
		if folder := path.Base(path.Dir(name)); folder != "." {
			return folder
		}
		return ""
	},
	Depth: 4,
	Talks: readTalks,
}

// Sessions implements [transcript.Tool]. The context of a session that has a log is not read.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		for s, err := range format.Sessions(ctx, p) {
			if err == nil && s.Name != p.Name && path.Base(s.Name) == contextFile && hasLog(p, path.Dir(s.Name)) {
				continue
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// hasLog reports whether a session's folder has a log.
func hasLog(p transcript.Place, folder string) bool {
	info, err := fs.Stat(p.FS, path.Join(folder, wireFile))
	return err == nil && info.Mode().IsRegular()
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// workFolder returns the folder that was worked in: of those that the tool has noted the one by whose name, hashed,
// the folder of its sessions is called.
func workFolder(f *sessionlog.File) string {
	parts := strings.Split(f.Name, "/")
	if len(parts) < 3 {
		return ""
	}
	hash := parts[len(parts)-3]
	above := path.Join(parts[:len(parts)-3]...)
	for _, at := range []string{path.Join(path.Dir(above), "kimi.json"), path.Join(above, "kimi.json")} {
		if !fs.ValidPath(at) {
			continue
		}
		var noted struct {
			Folders []struct {
				Path string `json:"path"`
			} `json:"work_dirs"`
		}
		_ = json.Unmarshal(f.ReadBeside(at), &noted) // nothing is noted
		for _, w := range noted.Folders {
			sum := md5.Sum([]byte(w.Path)) //nolint:gosec // see above
			if hex.EncodeToString(sum[:]) == hash {
				return w.Path
			}
		}
	}
	return ""
}

// wireMessage is what a line of the log says.
type wireMessage struct {
	Type    string  `json:"type"`
	Payload payload `json:"payload"`
}

type payload struct {
	Input  json.RawMessage `json:"user_input"`
	Type   string          `json:"type"` // of a piece of what is said
	Text   string          `json:"text"`
	Think  string          `json:"think"`
	ID     string          `json:"id"` // of a call
	Call   call            `json:"function"`
	Answer string          `json:"tool_call_id"` // of a result: the call's
	Return returned        `json:"return_value"`
	Usage  struct {
		Other  sessionlog.Count `json:"input_other"`
		Output sessionlog.Count `json:"output"`
		Read   sessionlog.Count `json:"input_cache_read"`
		Write  sessionlog.Count `json:"input_cache_creation"`
	} `json:"token_usage"`
}

type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type returned struct {
	IsError bool            `json:"is_error"`
	Output  json.RawMessage `json:"output"`
	Message string          `json:"message"`
}

// talkReader is a session while it is read.
type talkReader struct {
	*sessionlog.Talk
	asked, last string
	step        *transcript.Entry
}

func readTalks(f *sessionlog.File) []*sessionlog.Talk {
	r := &talkReader{Talk: &sessionlog.Talk{ID: f.ID}}
	for i, rec := range f.Records {
		var l struct {
			Timestamp float64     `json:"timestamp"`
			Message   wireMessage `json:"message"`
		}
		_ = json.Unmarshal(rec.JSON, &l) // what is of another type is not there
		id := fmt.Sprintf("line-%d", i+1)
		if l.Message.Type == "" {
			r.readContext(rec, id)
			continue
		}
		r.readWire(&l.Message, rec.Line, id, exported.SecondsToMillis(l.Timestamp))
	}
	if r.step != nil && f.Live {
		r.Held = true
	} else {
		r.endStep()
	}
	r.About.Title = sessionlog.FirstLine(r.asked)
	r.Folder = workFolder(f)
	return []*sessionlog.Talk{r.Talk}
}

func newEntry(role scrollback.Role, line int, id string, at int64) transcript.Entry {
	m := scrollback.Message{ID: scrollback.MessageID(id), Role: role, CreatedAt: at}
	return transcript.Entry{Line: line, Message: m}
}

// addEntry adds a message behind the last, if it says something.
func (r *talkReader) addEntry(e transcript.Entry) {
	if !sessionlog.Says(e) {
		return
	}
	id := string(e.Message.ID)
	r.Nodes = append(r.Nodes, tree.Node{ID: id, Parent: r.last, Entries: []transcript.Entry{e}})
	r.last = id
	r.About.CreatedAt = cmp.Or(r.About.CreatedAt, e.Message.CreatedAt)
	r.About.UpdatedAt = max(r.About.UpdatedAt, e.Message.CreatedAt)
}

// endStep adds what a model said since the last result or prompt.
func (r *talkReader) endStep() {
	if r.step != nil {
		r.addEntry(*r.step)
	}
	r.step = nil
}

// readWire reads a line of the log.
func (r *talkReader) readWire(m *wireMessage, line int, id string, at int64) {
	p := &m.Payload
	said := func() *transcript.Entry {
		if r.step == nil {
			e := newEntry(scrollback.RoleAssistant, line, id, at)
			r.step = &e
		}
		return r.step
	}
	switch m.Type {
	case "TurnBegin", "SteerInput":
		r.endStep()
		e := newEntry(scrollback.RoleUser, line, id, at)
		r.addPieces(&e, p.Input)
		r.asked = cmp.Or(r.asked, e.Message.Parts.Text())
		r.addEntry(e)
	case "ContentPart":
		if p.Type == "think" {
			sessionlog.AddReasoning(said(), p.Think)
		} else {
			sessionlog.AddText(said(), p.Text)
		}
	case "ToolCall":
		sessionlog.AddCall(said(), p.ID, id+"#call", p.Call.Name, p.Call.Arguments)
	case "ToolResult":
		r.endStep()
		e := newEntry(scrollback.RoleTool, line, id, at)
		text := transcript.Entry{}
		r.addPieces(&text, p.Return.Output)
		sessionlog.AddResult(&e, p.Answer, id+"#call", "", cmp.Or(text.Message.Parts.Text(), p.Return.Message),
			p.Return.IsError)
		r.addEntry(e)
	case "StatusUpdate":
		u := p.Usage
		if r.step != nil && r.step.Message.Usage == nil {
			r.step.Message.Usage = sessionlog.Tokens{Input: u.Other + u.Read + u.Write, Cached: u.Read, CacheWrite: u.Write,
				Output: u.Output}.Usage()
		}
	case "StepInterrupted":
		if r.step != nil {
			r.step.Message.Status = scrollback.StatusInterrupted
		}
		r.endStep()
	case "StepBegin", "TurnEnd":
		r.endStep()
	default:
		r.CountLeft(m.Type)
	}
}

// readContext reads a line of the context: a message as an API of chats has it.
func (r *talkReader) readContext(rec sessionlog.Record, id string) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Answer  string          `json:"tool_call_id"`
		Calls   []struct {
			ID   string `json:"id"`
			Call call   `json:"function"`
		} `json:"tool_calls"`
	}
	_ = json.Unmarshal(rec.JSON, &m) // what is of another type is not there
	e := newEntry(scrollback.RoleAssistant, rec.Line, id, 0)
	switch m.Role {
	case "user":
		e.Message.Role = scrollback.RoleUser
		r.addPieces(&e, m.Content)
		r.asked = cmp.Or(r.asked, e.Message.Parts.Text())
	case "assistant":
		r.addPieces(&e, m.Content)
		for i, c := range m.Calls {
			sessionlog.AddCall(&e, c.ID, fmt.Sprintf("%s#%d", id, i), c.Call.Name, c.Call.Arguments)
		}
	case "tool":
		e.Message.Role = scrollback.RoleTool
		text := transcript.Entry{}
		r.addPieces(&text, m.Content)
		sessionlog.AddResult(&e, m.Answer, id+"#call", "", text.Message.Parts.Text(), false)
	default:
		r.CountLeft(cmp.Or(strings.TrimPrefix(m.Role, "_"), "no role"))
		return
	}
	r.addEntry(e)
}

// addPieces adds what is said: a text, or a list of pieces.
func (r *talkReader) addPieces(e *transcript.Entry, raw json.RawMessage) {
	var text string
	if exported.DecodeField(raw, &text) {
		sessionlog.AddText(e, text)
		return
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // none if it is no list
	for _, raw := range list {
		var p struct {
			Type  string `json:"type"`
			Text  string `json:"text"`
			Think string `json:"think"`
			Image struct {
				URL string `json:"url"`
			} `json:"image_url"`
		}
		_ = json.Unmarshal(raw, &p) // what is of another type is not there
		switch p.Type {
		case "text":
			sessionlog.AddText(e, p.Text)
		case "think":
			sessionlog.AddReasoning(e, p.Think)
		case "image_url":
			if !sessionlog.AddBytes(e, "", p.Image.URL) {
				r.CountLeft("image without bytes")
			}
		default:
			r.CountLeft("piece of type " + cmp.Or(p.Type, "none"))
		}
	}
}
