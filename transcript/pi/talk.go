package pi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// line is an entry of a session.
type line struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Parent    *string         `json:"parentId"`
	Timestamp string          `json:"timestamp"`
	Message   message         `json:"message"`
	Summary   string          `json:"summary"`    // of a compaction or a branch
	Name      *string         `json:"name"`       // of the session
	Model     string          `json:"modelId"`    // that was chosen
	Content   json.RawMessage `json:"content"`    // of a message of an extension
	Kind      string          `json:"customType"` // of the same
	Own       *sessionlog.Own `json:"scrollback"` // beside one that was written here
}

// message is one of a session.
type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"` // a text or a list of blocks
	Timestamp  json.RawMessage `json:"timestamp"`
	Provider   string          `json:"provider"`
	Model      string          `json:"model"`
	Usage      usage           `json:"usage"`
	StopReason string          `json:"stopReason"`
	Error      string          `json:"errorMessage"`

	CallID  string `json:"toolCallId"` // of a result
	Tool    string `json:"toolName"`
	IsError bool   `json:"isError"`

	Command   string `json:"command"` // that was run by hand
	Output    string `json:"output"`
	ExitCode  *int   `json:"exitCode"`
	Cancelled bool   `json:"cancelled"`

	Kind    string `json:"customType"`
	Summary string `json:"summary"`
}

// block is a piece of what a message says.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Data      string          `json:"data"`
}

type usage struct {
	Input      sessionlog.Count `json:"input"`
	Output     sessionlog.Count `json:"output"`
	CacheRead  sessionlog.Count `json:"cacheRead"`
	CacheWrite sessionlog.Count `json:"cacheWrite"`
	Reasoning  sessionlog.Count `json:"reasoning"`
	Total      sessionlog.Count `json:"totalTokens"`
	Cost       struct {
		Total sessionlog.Count `json:"total"`
	} `json:"cost"`
}

// talkReader is a session while it is read.
type talkReader struct {
	*sessionlog.Talk
	tool     Tool
	asked    string // the first thing that a person said
	named    string // what they called the session
	provider string
	last     string // the id of the last node
	joins    bool   // what is marked as a part of the last message is
}

// readTalks makes the conversation of a session.
func (t Tool) readTalks(f *sessionlog.File) []*sessionlog.Talk {
	r := &talkReader{Talk: &sessionlog.Talk{ID: f.ID}, tool: t}
	var h header
	for i, rec := range f.Records {
		var l line
		_ = json.Unmarshal(rec.JSON, &l) // what is of another type is not there
		if l.Type == "session" {
			if h.ID == "" {
				_ = json.Unmarshal(rec.JSON, &h)
			}
			continue
		}
		if l.ID == "" {
			l.ID = fmt.Sprintf("line-%d", i)
		}
		r.addNode(rec.Line, &l)
	}
	r.Folder = h.Folder
	r.About.Model = cmp.Or(r.About.Model, h.Model)
	r.About.Title = sessionlog.FirstLine(cmp.Or(r.named, r.asked))
	r.About.CreatedAt = exported.ParseMoment(h.Timestamp)
	r.About.UpdatedAt = max(r.About.UpdatedAt, r.About.CreatedAt)
	from := path.Base(strings.ReplaceAll(h.Parent, `\`, "/"))
	if h.Parent == "" {
		from = ""
	}
	r.About.Meta = exported.KeepMeta(t.Name(), struct {
		Provider string `json:"provider,omitempty"`
		Parent   string `json:"forked_from,omitempty"`
	}{cmp.Or(r.provider, h.Provider), from})
	return []*sessionlog.Talk{r.Talk}
}

// addNode adds an entry to the tree, with the message that it is.
func (r *talkReader) addNode(number int, l *line) {
	n := tree.Node{ID: l.ID, Parent: r.last}
	if l.Parent != nil {
		n.Parent = *l.Parent
	} else if !strings.HasPrefix(l.ID, "line-") {
		n.Parent = "" // a root
	}
	e := transcript.Entry{Line: number}
	e.Message.ID = scrollback.MessageID(l.ID)
	e.Message.CreatedAt = exported.ParseMoment(l.Timestamp)
	if e.Message.CreatedAt == 0 {
		var ms float64
		if exported.DecodeField(l.Message.Timestamp, &ms) {
			e.Message.CreatedAt = exported.SecondsToMillis(ms)
		}
	}
	r.fillEntry(&e, l)
	switch own := l.Own; {
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
		r.About.UpdatedAt = max(r.About.UpdatedAt, e.Message.CreatedAt)
	}
	r.last = n.ID
	r.Nodes = append(r.Nodes, n)
}

// fillEntry says what an entry says, or counts it.
func (r *talkReader) fillEntry(e *transcript.Entry, l *line) {
	switch l.Type {
	case "message":
		r.fillMessage(e, &l.Message)
	case "compaction", "branch_summary":
		r.fillSummary(e, l.Type, l.Summary)
	case "custom_message":
		r.CountLeft("injected")
	case "session_info":
		if l.Name != nil {
			r.named = *l.Name
		}
	case "model_change":
		r.About.Model = cmp.Or(l.Model, r.About.Model)
	default:
		r.CountLeft(cmp.Or(l.Type, "no type"))
	}
}

// fillSummary makes a message of a summary.
func (r *talkReader) fillSummary(e *transcript.Entry, kind, text string) {
	e.Message.Role = scrollback.RoleUser
	sessionlog.AddText(e, text)
	what := "branch_summary"
	if kind == "compaction" || kind == "compactionSummary" {
		what = "compaction"
	}
	e.Message.Meta = exported.KeepMeta(r.tool.Name(), map[string]bool{what: true})
}

// fillMessage says what a message says.
func (r *talkReader) fillMessage(e *transcript.Entry, m *message) {
	switch m.Role {
	case "user":
		e.Message.Role = scrollback.RoleUser
		r.addBlocks(e, m.Content)
		if r.asked == "" {
			r.asked = e.Message.Parts.Text()
		}
	case "assistant":
		r.fillAnswer(e, m)
	case "toolResult":
		e.Message.Role = scrollback.RoleTool
		said := transcript.Entry{}
		r.addBlocks(&said, m.Content)
		sessionlog.AddResult(e, m.CallID, string(e.Message.ID)+"#call", m.Tool, said.Message.Parts.Text(), m.IsError)
		moveAttachments(e, said)
	case "bashExecution":
		e.Message.Role = scrollback.RoleUser
		sessionlog.AddText(e, "!"+m.Command+"\n"+m.Output)
		e.Message.Meta = exported.KeepMeta(r.tool.Name(), struct {
			Event     string `json:"event"`
			ExitCode  *int   `json:"exit_code,omitempty"`
			Cancelled bool   `json:"cancelled,omitempty"`
		}{"bash", m.ExitCode, m.Cancelled})
	case "branchSummary", "compactionSummary":
		r.fillSummary(e, m.Role, m.Summary)
	case "system":
		r.CountLeft("system prompt")
	case "custom", "hookMessage":
		r.CountLeft("injected")
	default:
		r.CountLeft("message of role " + cmp.Or(m.Role, "none"))
	}
}

// fillAnswer says what a model said.
func (r *talkReader) fillAnswer(e *transcript.Entry, m *message) {
	e.Message.Role = scrollback.RoleAssistant
	e.Message.Model = m.Model
	r.About.Model = cmp.Or(m.Model, r.About.Model)
	r.provider = cmp.Or(m.Provider, r.provider)
	r.addBlocks(e, m.Content)
	switch m.StopReason {
	case "aborted":
		e.Message.Status = scrollback.StatusInterrupted
	case "error":
		e.Message.Status = scrollback.StatusFailed
		sessionlog.AddText(e, m.Error)
	}
	if !sessionlog.Says(*e) {
		r.CountLeft("empty answer")
		return
	}
	u := m.Usage
	e.Message.Usage = sessionlog.Tokens{
		Input: u.Input + u.CacheRead + u.CacheWrite, Cached: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output,
		Reasoning: u.Reasoning, Total: u.Total, Cost: u.Cost.Total,
	}.Usage()
}

// addBlocks adds what a message says: a text, or blocks.
func (r *talkReader) addBlocks(e *transcript.Entry, raw json.RawMessage) {
	var text string
	if exported.DecodeField(raw, &text) {
		sessionlog.AddText(e, text)
		return
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // none if it is no list
	for i, raw := range list {
		var b block
		_ = json.Unmarshal(raw, &b) // what is of another type is not there
		switch b.Type {
		case "text":
			sessionlog.AddText(e, b.Text)
		case "thinking":
			if sessionlog.AddReasoning(e, b.Thinking); strings.TrimSpace(b.Thinking) == "" {
				r.CountLeft("reasoning without text")
			}
		case "toolCall":
			sessionlog.AddCall(e, b.ID, fmt.Sprintf("%s#%d", e.Message.ID, i), b.Name, b.Arguments)
		case "image":
			if !sessionlog.AddBytes(e, b.Name, b.Data) {
				r.CountLeft("image without bytes")
			}
		default:
			r.CountLeft("block of type " + cmp.Or(b.Type, "none"))
		}
	}
}

// moveAttachments adds what came with a result.
func moveAttachments(e *transcript.Entry, said transcript.Entry) {
	came := transcript.Entry{Bytes: map[int][]byte{}}
	for i, p := range said.Message.Parts {
		if b := said.Bytes[i]; b != nil {
			came.Bytes[len(came.Message.Parts)] = b
			came.Message.Parts = append(came.Message.Parts, p)
		}
	}
	sessionlog.AddParts(e, came)
}
