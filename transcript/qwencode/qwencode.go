// Package qwencode reads the conversations of Qwen Code, which keeps a file a session.
//
// Words it adds: record (a line of a session; what is not talk is one too, and a link of the chain).
//
// Invariants: records are a tree by their parents, in which the newest is where the session stands;
// a fork has the ids of what it copied; the summary of a compression is a message of its own behind
// what it stands for; what the program says in a person's place is left out.
//
// It may not know the store, the network or the file system.
package qwencode

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "qwen-code"
	metaKey = "qwen_code"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool]: the projects, and where versions before them kept sessions.
func (Tool) Homes(m transcript.Machine) []string {
	homes := []string{filepath.Join(m.Home, ".qwen")}
	for _, variable := range []string{"QWEN_HOME", "QWEN_RUNTIME_DIR"} {
		if dir := m.Getenv(variable); filepath.IsAbs(dir) && !slices.Contains(homes, dir) {
			homes = append(homes, dir)
		}
	}
	var out []string
	for _, home := range homes {
		out = append(out, filepath.Join(home, "projects"), filepath.Join(home, "tmp"))
	}
	return out
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	first, ok := firstRecord(head)
	return strings.HasSuffix(name, ".jsonl") && ok && first.ID != "" && first.Session != "" &&
		(first.Message.Parts != nil || first.Type == "system" && first.Subtype != "" && first.Payload != nil)
}

func firstRecord(head []byte) (r record, ok bool) {
	first, err := transcript.NewRecords(strings.NewReader(string(head))).Next()
	if err != nil {
		return r, false
	}
	_ = json.Unmarshal(first.JSON, &r) // what is of another type is not there
	return r, first.Reason == ""
}

var format = sessionlog.Format{
	Sniff: Tool{}.Sniff,
	Named: func(name string) bool {
		return path.Ext(name) == ".jsonl" && strings.Contains("/"+path.Dir(name)+"/", "/chats/") ||
			!strings.Contains(name, "/") && path.Ext(name) == ".jsonl"
	},
	Identify: func(_ string, head []byte) string {
		first, _ := firstRecord(head)
		return first.Session
	},
	Beside: agentFiles,
	Talks:  readTalks,
}

// maxAgents bounds the sub-agents of a session.
const maxAgents = 1000

// agentFiles lists the files of a session's sub-agents.
func agentFiles(p transcript.Place, name string) (out []string) {
	if path.Base(path.Dir(name)) != "chats" {
		return nil // a file by itself
	}
	folder := path.Join(path.Dir(path.Dir(name)), "subagents", strings.TrimSuffix(path.Base(name), ".jsonl"))
	list, err := fs.ReadDir(p.FS, folder)
	if err != nil {
		return nil
	}
	for _, e := range list {
		if path.Ext(e.Name()) == ".jsonl" && e.Type().IsRegular() && len(out) < maxAgents {
			out = append(out, path.Join(folder, e.Name()))
		}
	}
	return out
}

// Sessions implements [transcript.Tool].
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// record is a line of a session.
type record struct {
	ID         string          `json:"uuid"`
	Parent     *string         `json:"parentUuid"`
	Session    string          `json:"sessionId"`
	Timestamp  string          `json:"timestamp"`
	Type       string          `json:"type"`
	Subtype    string          `json:"subtype"`
	Provenance string          `json:"provenance"`
	Folder     string          `json:"cwd"`
	GitBranch  string          `json:"gitBranch"`
	Model      string          `json:"model"`
	Message    content         `json:"message"`
	Usage      usage           `json:"usageMetadata"`
	Payload    json.RawMessage `json:"systemPayload"`
	Result     struct {
		Status string `json:"status"`
	} `json:"toolCallResult"`
	Own *sessionlog.Own `json:"scrollback"` // beside one that was written here
}

type content struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

// part is a piece of what is said.
type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	Inline *struct {
		Data string `json:"data"`
		Name string `json:"displayName"`
	} `json:"inlineData"`
}

type usage struct {
	Prompt   sessionlog.Count `json:"promptTokenCount"`
	Answer   sessionlog.Count `json:"candidatesTokenCount"`
	Thoughts sessionlog.Count `json:"thoughtsTokenCount"`
	Cached   sessionlog.Count `json:"cachedContentTokenCount"`
	Total    sessionlog.Count `json:"totalTokenCount"`
}

// tokens returns what was used. Some servers count thoughts in the answer and some beside it.
func (u usage) tokens() sessionlog.Tokens {
	out := u.Answer
	if u.Total >= u.Prompt+u.Answer+u.Thoughts {
		out += u.Thoughts
	}
	return sessionlog.Tokens{Input: u.Prompt, Cached: u.Cached, Output: out, Reasoning: u.Thoughts, Total: u.Total}
}

// talkReader is a session while it is read.
type talkReader struct {
	*sessionlog.Talk
	asked, named, from string
	calls              map[string]bool // of tools, by id
	joins              bool            // what is marked as a part of the last message is
}

// readTalks makes the conversation of a session, and those of its sub-agents.
func readTalks(f *sessionlog.File) []*sessionlog.Talk {
	own := readTalk(f.ID, f.Records)
	out := []*sessionlog.Talk{own.Talk}
	for _, name := range agentFiles(f.Place, f.Name) {
		id := strings.ToValidUTF8(strings.TrimSuffix(path.Base(name), ".jsonl"), "�")
		var about struct {
			Call string `json:"toolUseId"`
		}
		_ = json.Unmarshal(f.ReadBeside(strings.TrimSuffix(name, ".jsonl")+".meta.json"), &about) // or nothing says it
		if f.Live && about.Call != "" && !own.calls[about.Call] {
			own.Held = true // what started it is still to be written
			continue
		}
		agent := readTalk(f.ID+"/"+id, f.ReadRecords(name))
		agent.Agent = &transcript.AgentOf{Source: f.ID, CallID: about.Call}
		agent.Folder = cmp.Or(agent.Folder, own.Folder)
		out = append(out, agent.Talk)
	}
	return out
}

func readTalk(id string, records []sessionlog.Record) *talkReader {
	r := &talkReader{Talk: &sessionlog.Talk{ID: id}, calls: map[string]bool{}}
	for i, rec := range records {
		var one record
		_ = json.Unmarshal(rec.JSON, &one) // what is of another type is not there
		if one.ID == "" {
			one.ID = fmt.Sprintf("line-%d", i)
		}
		r.addRecord(rec.Line, &one)
	}
	r.About.Title = sessionlog.FirstLine(cmp.Or(r.named, r.asked))
	r.About.Meta = exported.KeepMeta(metaKey, struct {
		Parent string `json:"parent_session,omitempty"`
	}{r.from})
	return r
}

func (r *talkReader) addRecord(number int, one *record) {
	n := tree.Node{ID: one.ID}
	if one.Parent != nil {
		n.Parent = *one.Parent
	}
	r.Folder = cmp.Or(one.Folder, r.Folder)
	r.GitBranch = cmp.Or(one.GitBranch, r.GitBranch)
	e := transcript.Entry{Line: number, Message: scrollback.Message{ID: scrollback.MessageID(one.ID),
		CreatedAt: exported.ParseMoment(one.Timestamp)}}
	r.fillEntry(&e, one)
	switch own := one.Own; {
	case own == nil:
		r.joins = true
	case !own.Part:
		r.joins = !own.Restore(&e)
	case r.joins:
		r.JoinLast(e)
		fallthrough
	default:
		e.Message.Parts = nil
	}
	if sessionlog.Says(e) {
		n.Entries = []transcript.Entry{e}
		r.About.CreatedAt = cmp.Or(r.About.CreatedAt, e.Message.CreatedAt)
		r.About.UpdatedAt = max(r.About.UpdatedAt, e.Message.CreatedAt)
	}
	r.Nodes = append(r.Nodes, n)
}

// fillEntry says what a record says, or counts it.
func (r *talkReader) fillEntry(e *transcript.Entry, one *record) {
	switch one.Type {
	case "user":
		if one.Subtype != "" && one.Subtype != "mid_turn_user_message" || one.Provenance != "" &&
			!strings.Contains(one.Provenance, "user") {
			r.CountLeft(cmp.Or(one.Subtype, one.Provenance))
			return
		}
		e.Message.Role = scrollback.RoleUser
		r.addParts(e, one)
		r.asked = cmp.Or(r.asked, e.Message.Parts.Text())
	case "assistant":
		e.Message.Role = scrollback.RoleAssistant
		e.Message.Model = one.Model
		r.About.Model = cmp.Or(one.Model, r.About.Model)
		if r.addParts(e, one); sessionlog.Says(*e) {
			e.Message.Usage = one.Usage.tokens().Usage()
		}
	case "tool_result":
		e.Message.Role = scrollback.RoleTool
		r.addParts(e, one)
	case "system":
		r.fillSystem(e, one)
	default:
		r.CountLeft(cmp.Or(one.Type, "no type"))
	}
}

// fillSystem takes what the program notes.
func (r *talkReader) fillSystem(e *transcript.Entry, one *record) {
	var p struct {
		Title   string    `json:"customTitle"`
		Parent  string    `json:"parentSessionId"`
		History []content `json:"compressedHistory"`
	}
	_ = json.Unmarshal(one.Payload, &p) // what is of another type is not there
	switch one.Subtype {
	case "custom_title":
		r.named = p.Title
	case "parent_session":
		r.from = p.Parent
	case "chat_compression":
		for _, c := range p.History {
			if c.Role == "user" && len(e.Message.Parts) == 0 { // the summary stands first
				e.Message.Role = scrollback.RoleUser
				r.addParts(e, &record{ID: one.ID, Message: content{Role: c.Role, Parts: c.Parts}})
			}
		}
		e.Message.Meta = exported.KeepMeta(metaKey, map[string]bool{"compaction": true})
	default:
		r.CountLeft(cmp.Or(one.Subtype, "system"))
	}
}

// addParts adds what is said.
func (r *talkReader) addParts(e *transcript.Entry, one *record) {
	for i, raw := range one.Message.Parts {
		var p part
		_ = json.Unmarshal(raw, &p) // what is of another type is not there
		id := fmt.Sprintf("%s#%d", one.ID, i)
		switch {
		case p.Call != nil:
			r.calls[p.Call.ID] = true
			sessionlog.AddCall(e, p.Call.ID, id, p.Call.Name, p.Call.Args)
		case p.Response != nil:
			text, failed := resultText(p.Response.Response)
			sessionlog.AddResult(e, p.Response.ID, id, p.Response.Name, text, failed || one.Result.Status == "error")
		case p.Inline != nil:
			if !sessionlog.AddBytes(e, p.Inline.Name, p.Inline.Data) {
				r.CountLeft("attachment without bytes")
			}
		case p.Thought:
			sessionlog.AddReasoning(e, p.Text)
		case p.Text != "":
			sessionlog.AddText(e, p.Text)
		default:
			r.CountLeft("part")
		}
	}
}

// resultText returns what a call returned, and whether it failed.
func resultText(raw json.RawMessage) (text string, failed bool) {
	var said struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	_ = json.Unmarshal(raw, &said) // what is of another type is not there
	switch {
	case said.Output != nil:
		return *said.Output, false
	case said.Error != nil:
		return *said.Error, true
	}
	return string(exported.CompactJSON(raw)), false
}
