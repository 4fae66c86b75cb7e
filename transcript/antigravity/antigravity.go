// Package antigravity reads what Antigravity, its IDE and its command line write down as plain text of a conversation.
//
// Words it adds: step (a line: what was asked, answered, or done by a tool).
//
// Invariants: steps are in the order of their file; a step of a tool is the result of the oldest call that has none;
// a conversation is known by the name of its folder. The databases and encrypted files beside are never opened.
//
// It may not know the store, the network or the file system.
package antigravity

import (
	"cmp"
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
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// Name is the tool's name.
const Name = "antigravity"

// The files of a conversation. Newer versions write one in which nothing is cut as well.
const (
	cutFile   = "transcript.jsonl"
	wholeFile = "transcript_full.jsonl"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool].
func (Tool) Homes(m transcript.Machine) []string {
	var out []string
	for _, program := range []string{"antigravity", "antigravity-cli", "antigravity-ide"} {
		out = append(out, filepath.Join(m.Home, ".gemini", program, "brain"))
	}
	return out
}

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	seen := transcript.HeadFields(head)
	return path.Ext(name) == ".jsonl" && seen["step_index"] && seen["source"] && seen["type"]
}

var format = sessionlog.Format{
	Sniff: Tool{}.Sniff,
	Named: func(name string) bool { return path.Base(name) == cutFile || path.Base(name) == wholeFile },
	Talks: readTalks,
}

// conversationOf returns the name of a conversation's folder: brain/ID/.system_generated/logs/transcript.jsonl.
func conversationOf(p transcript.Place, name string) string {
	folder := path.Dir(name)
	if !path.IsAbs(folder) && p.Path != "" {
		folder = path.Join(filepath.ToSlash(p.Path), folder)
	}
	folder = strings.TrimSuffix(folder, "/.system_generated/logs")
	if base := path.Base(folder); base != "." && base != "/" {
		return sessionlog.CleanWord(base)
	}
	return ""
}

// Sessions implements [transcript.Tool]. A conversation that is there whole is not read from where it is cut.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		for s, err := range format.Sessions(ctx, p) {
			if err == nil && path.Base(s.Name) == cutFile && s.Name != p.Name {
				if _, err := fs.Stat(p.FS, path.Join(path.Dir(s.Name), wholeFile)); err == nil {
					continue
				}
			}
			s.ID = cmp.Or(conversationOf(p, s.Name), s.ID)
			if !yield(s, err) {
				return
			}
		}
	}
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// step is a line of a conversation.
type step struct {
	Index    *int64          `json:"step_index"`
	Source   string          `json:"source"`
	Type     string          `json:"type"`
	Status   string          `json:"status"`
	Created  string          `json:"created_at"`
	Content  json.RawMessage `json:"content"`
	Thinking string          `json:"thinking"`
	Calls    []struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"tool_calls"`
}

// text returns what a step says: a text, or what else stands there as it is.
func (s *step) text() string {
	var text string
	if exported.DecodeField(s.Content, &text) || len(s.Content) == 0 || string(s.Content) == "null" {
		return text
	}
	return string(exported.CompactJSON(s.Content))
}

// request is what a person wrote, among what the program says of the editor.
var request = lazyregexp.New(`(?s)<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>`)

// talkReader is a conversation while it is read.
type talkReader struct {
	*sessionlog.Talk
	last  string     // the id of the last node
	open  []openCall // that have no result, the oldest first
	seen  map[string]bool
	asked string
}

type openCall struct{ id, name string }

func readTalks(f *sessionlog.File) []*sessionlog.Talk {
	r := &talkReader{Talk: &sessionlog.Talk{ID: f.ID}, seen: map[string]bool{}}
	for _, rec := range f.Records {
		var s step
		_ = json.Unmarshal(rec.JSON, &s) // what is of another type is not there
		r.addStep(rec.Line, &s)
	}
	r.Held = f.Live && len(r.open) > 0
	r.About.Title = sessionlog.FirstLine(r.asked)
	return []*sessionlog.Talk{r.Talk}
}

// addStep adds what a step says, or counts it.
func (r *talkReader) addStep(number int, s *step) {
	id := fmt.Sprintf("line-%d", number)
	if s.Index != nil {
		id = fmt.Sprintf("%d", *s.Index)
	}
	if r.seen[id] {
		id = fmt.Sprintf("%s/%d", id, number)
	}
	r.seen[id] = true
	e := transcript.Entry{Line: number, Message: scrollback.Message{ID: scrollback.MessageID(id),
		Role: scrollback.RoleAssistant, CreatedAt: exported.ParseMoment(s.Created)}}
	switch {
	case s.Type == "USER_INPUT":
		e.Message.Role = scrollback.RoleUser
		text := s.text()
		if m := request().FindStringSubmatch(text); m != nil {
			text = m[1]
		}
		sessionlog.AddText(&e, text)
		r.asked = cmp.Or(r.asked, text)
		r.open = nil
	case s.Type == "PLANNER_RESPONSE":
		sessionlog.AddReasoning(&e, s.Thinking)
		sessionlog.AddText(&e, s.text())
		r.open = nil
		for i, c := range s.Calls {
			call := openCall{fmt.Sprintf("%s#%d", id, i), cmp.Or(c.Name, "tool")}
			sessionlog.AddCall(&e, call.id, call.id, call.name, c.Args)
			r.open = append(r.open, call)
		}
	case s.Source == "MODEL" && s.Type != "":
		r.addResult(&e, id, s)
	default:
		r.CountLeft(strings.ToLower(cmp.Or(s.Type, "no type")))
	}
	r.addNode(id, e)
}

// addResult makes a step of a tool the result of a call, or of one of its own if nothing was called.
func (r *talkReader) addResult(e *transcript.Entry, id string, s *step) {
	call := openCall{id + "#call", strings.ToLower(s.Type)}
	if len(r.open) > 0 {
		call = r.open[0]
		r.open = r.open[1:]
	} else {
		made := *e
		sessionlog.AddCall(&made, call.id, call.id, call.name, nil)
		made.Message.ID = scrollback.MessageID(call.id)
		r.addNode(call.id, made)
	}
	e.Message.Role = scrollback.RoleTool
	sessionlog.AddResult(e, call.id, call.id, call.name, s.text(), strings.Contains(s.Status, "ERROR"))
}

func (r *talkReader) addNode(id string, e transcript.Entry) {
	n := tree.Node{ID: id, Parent: r.last}
	if sessionlog.Says(e) {
		n.Entries = []transcript.Entry{e}
		r.About.CreatedAt = cmp.Or(r.About.CreatedAt, e.Message.CreatedAt)
		r.About.UpdatedAt = max(r.About.UpdatedAt, e.Message.CreatedAt)
	}
	r.last = id
	r.Nodes = append(r.Nodes, n)
}
