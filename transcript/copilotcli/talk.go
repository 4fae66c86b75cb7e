package copilotcli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// event is a line of a log.
type event struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Agent     string `json:"agentId"` // of a sub-agent; the session's own have none
	Data      data   `json:"data"`
}

// data is what an event says, by its type.
type data struct {
	Session string `json:"sessionId"` // of session.start
	Version string `json:"copilotVersion"`
	Context struct {
		Folder string `json:"cwd"`
		Branch string `json:"branch"`
	} `json:"context"`
	Selected string `json:"selectedModel"`
	NewModel string `json:"newModel"`
	Title    string `json:"title"`

	Content     json.RawMessage   `json:"content"` // of a message
	Source      string            `json:"source"`
	Attachments []json.RawMessage `json:"attachments"`
	Model       string            `json:"model"`
	Reasoning   string            `json:"reasoningText"`
	Requests    []struct {
		ID        string          `json:"toolCallId"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolRequests"`
	ModelCall string `json:"apiCallId"`
	Usage     struct {
		ModelCall  string           `json:"apiCallId"`
		Input      sessionlog.Count `json:"inputTokens"`
		Output     sessionlog.Count `json:"outputTokens"`
		CacheRead  sessionlog.Count `json:"cacheReadTokens"`
		CacheWrite sessionlog.Count `json:"cacheWriteTokens"`
		Reasoning  sessionlog.Count `json:"reasoningTokens"`
	} `json:"usage"`

	Call    string `json:"toolCallId"` // of a tool or a sub-agent
	Success *bool  `json:"success"`
	Result  struct {
		Content json.RawMessage `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`

	Summary string `json:"summaryContent"` // of a compaction
	UpTo    string `json:"upToEventId"`    // of a rewind
}

// talkReader is a conversation while it is read.
type talkReader struct {
	*sessionlog.Talk
	last    string // the id of the last node
	above   map[string]string
	asked   string
	version string
	used    map[string]*scrollback.Usage // by the call of a model
}

func newTalk(id string) *talkReader {
	return &talkReader{Talk: &sessionlog.Talk{ID: id}, above: map[string]string{}, used: map[string]*scrollback.Usage{}}
}

// maxAgents bounds the sub-agents of a session.
const maxAgents = 1000

// readTalks makes the conversations of a log: the session's own, and those of sub-agents.
func readTalks(f *sessionlog.File) []*sessionlog.Talk {
	own := newTalk(f.ID)
	agents := map[string]*talkReader{}
	out := []*sessionlog.Talk{own.Talk}
	readers := []*talkReader{own}
	for i, rec := range f.Records {
		var e event
		_ = json.Unmarshal(rec.JSON, &e) // what is of another type is not there
		if e.ID == "" {
			e.ID = fmt.Sprintf("line-%d", i)
		}
		r := own
		if e.Agent != "" {
			if r = agents[e.Agent]; r == nil && len(agents) < maxAgents {
				r = newTalk(f.ID + "/" + sessionlog.CleanWord(e.Agent))
				r.Agent = &transcript.AgentOf{Source: f.ID}
				agents[e.Agent] = r
				out = append(out, r.Talk)
				readers = append(readers, r)
			}
		}
		if r != nil {
			r.addEvent(rec.Line, &e)
		}
	}
	own.About.Title = sessionlog.FirstLine(cmp.Or(readTitle(f.ReadBeside(titleFile(f.Name))), own.About.Title))
	for _, r := range readers {
		r.About.Title = cmp.Or(r.About.Title, sessionlog.FirstLine(r.asked))
		r.Folder = cmp.Or(r.Folder, own.Folder)
		r.About.Meta = exported.KeepMeta(metaKey, struct {
			Version string `json:"version,omitempty"`
		}{r.version})
	}
	return out
}

// readTitle returns the title that the file beside a log has.
func readTitle(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "name:"); ok {
			name = strings.TrimSpace(name)
			var quoted string
			if json.Unmarshal([]byte(name), &quoted) == nil {
				return quoted
			}
			return strings.ToValidUTF8(strings.Trim(name, "'"), "�")
		}
	}
	return ""
}

// addEvent adds an event to the path, with the message that it is.
func (r *talkReader) addEvent(line int, e *event) {
	if e.Type == "session.snapshot_rewind" {
		if up, known := r.above[e.Data.UpTo]; known {
			r.last = up
		}
		return
	}
	m := transcript.Entry{Line: line, Message: scrollback.Message{ID: scrollback.MessageID(e.ID),
		CreatedAt: exported.ParseMoment(e.Timestamp)}}
	r.fillEntry(&m, e)
	n := tree.Node{ID: e.ID, Parent: r.last}
	if sessionlog.Says(m) {
		n.Entries = []transcript.Entry{m}
		r.About.CreatedAt = cmp.Or(r.About.CreatedAt, m.Message.CreatedAt)
		r.About.UpdatedAt = max(r.About.UpdatedAt, m.Message.CreatedAt)
	}
	if _, again := r.above[e.ID]; again {
		return // a copy of what was read
	}
	r.above[e.ID] = r.last
	r.last = e.ID
	r.Nodes = append(r.Nodes, n)
}

// fillEntry says what an event says, or counts it.
func (r *talkReader) fillEntry(m *transcript.Entry, e *event) {
	d := &e.Data
	switch e.Type {
	case "session.start", "session.resume", "session.context_changed", "session.model_change", "session.title_changed":
		r.Folder = cmp.Or(d.Context.Folder, r.Folder)
		r.GitBranch = cmp.Or(d.Context.Branch, r.GitBranch)
		r.About.Model = cmp.Or(d.NewModel, d.Selected, r.About.Model)
		r.About.Title = cmp.Or(d.Title, r.About.Title)
		r.version = cmp.Or(d.Version, r.version)
	case "subagent.started":
		if r.Talk.Agent != nil {
			r.Talk.Agent.CallID = strings.ToValidUTF8(d.Call, "�")
		}
	case "session.usage_record":
		u := d.Usage
		r.used[u.ModelCall] = sessionlog.Tokens{Input: u.Input, Cached: u.CacheRead, CacheWrite: u.CacheWrite,
			Output: u.Output, Reasoning: u.Reasoning}.Usage()
	case "user.message":
		r.fillPrompt(m, d)
	case "assistant.message":
		r.fillAnswer(m, d)
	case "tool.execution_complete":
		m.Message.Role = scrollback.RoleTool
		text := textOf(d.Result.Content)
		sessionlog.AddResult(m, d.Call, e.ID+"#call", "", cmp.Or(text, d.Error.Message), d.Success != nil && !*d.Success)
	case "session.compaction_complete":
		if d.Summary != "" {
			m.Message.Role = scrollback.RoleUser
			m.Message.Meta = exported.KeepMeta(metaKey, map[string]bool{"compaction": true})
			sessionlog.AddText(m, d.Summary)
		}
	case "assistant.turn_start", "assistant.turn_end", "tool.execution_start", "session.shutdown":
	default:
		kind, _, _ := strings.Cut(e.Type, ".")
		if kind != "model" { // calls for summaries, once more
			kind = e.Type
		}
		r.CountLeft(cmp.Or(kind, "no type"))
	}
}

// fillPrompt says what a person said, or what a sub-agent was asked.
func (r *talkReader) fillPrompt(m *transcript.Entry, d *data) {
	if d.Source != "" && d.Source != "user" && r.Talk.Agent == nil {
		r.CountLeft("injected")
		return
	}
	m.Message.Role = scrollback.RoleUser
	sessionlog.AddText(m, textOf(d.Content))
	for _, raw := range d.Attachments {
		var a struct {
			Name string `json:"displayName"`
			Path string `json:"path"`
			Data string `json:"data"`
		}
		_ = json.Unmarshal(raw, &a) // what is of another type is not there
		if a.Data == "" || !sessionlog.AddBytes(m, a.Name, a.Data) {
			exported.MentionMissing(m, "file", cmp.Or(a.Path, a.Name), "not kept by the tool")
		}
	}
	r.asked = cmp.Or(r.asked, m.Message.Parts.Text())
}

// fillAnswer says what a model said.
func (r *talkReader) fillAnswer(m *transcript.Entry, d *data) {
	m.Message.Role = scrollback.RoleAssistant
	m.Message.Model = d.Model
	r.About.Model = cmp.Or(d.Model, r.About.Model)
	sessionlog.AddReasoning(m, d.Reasoning)
	sessionlog.AddText(m, textOf(d.Content))
	for i, q := range d.Requests {
		sessionlog.AddCall(m, q.ID, fmt.Sprintf("%s#%d", m.Message.ID, i), q.Name, q.Arguments)
	}
	if sessionlog.Says(*m) && d.ModelCall != "" {
		m.Message.Usage = r.used[d.ModelCall]
		delete(r.used, d.ModelCall)
	}
}

// textOf returns a text; what is none is JSON.
func textOf(raw json.RawMessage) string {
	var text string
	if exported.DecodeField(raw, &text) || len(raw) == 0 {
		return text
	}
	return string(exported.CompactJSON(raw))
}
