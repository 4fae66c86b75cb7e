package claudecode

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Format writes sessions. The zero value is ready.
type Format struct{}

// Name implements transcript.Exporter.
func (Format) Name() string { return Name }

// written is the version of the tool whose sessions ours are written as.
const written = "2.1.197"

// Write implements transcript.Exporter: a session of JSON lines, whose id is the
// conversation's. The tool looks for it by the name ID.jsonl in its folder of the project.
func (Format) Write(w io.Writer, c scrollback.Conversation, entries iter.Seq2[transcript.Entry, error]) error {
	out := &sessionWriter{w: bufio.NewWriterSize(w, 64<<10), c: c, names: map[string]string{}, ids: map[string]string{},
		open: map[string]bool{}, used: map[string]bool{}}
	out.cwd, out.branch = workPlace(c)
	for e, err := range entries {
		if err != nil {
			return err
		}
		if err := out.writeMessage(e); err != nil {
			return err
		}
	}
	if err := out.writeEnd(); err != nil {
		return err
	}
	return out.w.Flush()
}

// workPlace returns where a conversation worked: as the tool said it, or in its first folder.
func workPlace(c scrollback.Conversation) (cwd, branch string) {
	var meta struct {
		Kept struct {
			CWD       string
			GitBranch string `json:"git_branch"`
		} `json:"claude_code"`
	}
	// A meta of another shape says nothing.
	_ = json.Unmarshal(c.Meta, &meta)
	if meta.Kept.CWD == "" && len(c.Roots) > 0 {
		meta.Kept.CWD = c.Roots[0]
	}
	if meta.Kept.CWD == "" {
		meta.Kept.CWD = "/"
	}
	return meta.Kept.CWD, meta.Kept.GitBranch
}

// sessionWriter is a session while it is written.
type sessionWriter struct {
	w           *bufio.Writer
	c           scrollback.Conversation
	cwd, branch string

	last   string            // the node that the next one hangs on
	prompt string            // what was asked last
	names  map[string]string // of called tools, by the id of ours
	ids    map[string]string // of calls in the file, by the id of ours
	open   map[string]bool   // calls of the newest answer without a result, by the id of ours
	used   map[string]bool   // ids in the file, of calls and nodes
}

// lineRow is a line of the file. The order of the fields is that of the tool.
type lineRow struct {
	ParentUUID        *string      `json:"parentUuid"`
	LogicalParentUUID string       `json:"logicalParentUuid,omitempty"`
	IsSidechain       bool         `json:"isSidechain"`
	Type              string       `json:"type"`
	Subtype           string       `json:"subtype,omitempty"`
	Message           *message     `json:"message,omitempty"`
	Content           *string      `json:"content,omitempty"` // of a line of the system
	Level             string       `json:"level,omitempty"`
	IsMeta            *bool        `json:"isMeta,omitempty"`
	Transcript        bool         `json:"isVisibleInTranscriptOnly,omitempty"`
	Summary           bool         `json:"isCompactSummary,omitempty"`
	Compact           any          `json:"compactMetadata,omitempty"`
	Source            string       `json:"sourceToolAssistantUUID,omitempty"`
	UUID              string       `json:"uuid"`
	Timestamp         string       `json:"timestamp"`
	UserType          string       `json:"userType"`
	Entrypoint        string       `json:"entrypoint"`
	CWD               string       `json:"cwd"`
	SessionID         string       `json:"sessionId"`
	Version           string       `json:"version"`
	GitBranch         string       `json:"gitBranch,omitempty"`
	Kept              *keptMessage `json:"scrollback,omitempty"`

	mark bool // it says something about the message, and nothing of it
}

// message is what an answer, or a user, says in a line.
type message struct {
	ID         string     `json:"id,omitempty"`
	Type       string     `json:"type,omitempty"`
	Role       string     `json:"role"`
	Model      string     `json:"model,omitempty"`
	Content    any        `json:"content"`
	StopReason *string    `json:"stop_reason,omitempty"`
	StopAt     *string    `json:"stop_sequence,omitempty"`
	Usage      *callUsage `json:"usage,omitempty"`
}

// callUsage is what a model call consumed.
type callUsage struct {
	Input  int64 `json:"input_tokens"`
	Write  int64 `json:"cache_creation_input_tokens"`
	Read   int64 `json:"cache_read_input_tokens"`
	Output int64 `json:"output_tokens"`
}

// newRow returns a new line that hangs on the last one.
func (w *sessionWriter) newRow(kind, uuid string, at int64) lineRow {
	r := lineRow{Type: kind, UUID: uuid, Timestamp: time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z"),
		UserType: "external", Entrypoint: "cli", CWD: w.cwd, SessionID: string(w.c.ID), Version: written, GitBranch: w.branch}
	if w.last != "" {
		last := w.last
		r.ParentUUID = &last
	}
	w.last = uuid
	return r
}

func (w *sessionWriter) writeLine(v any) error {
	_, err := w.w.Write(append(encodePlain(v), '\n'))
	return err
}

// uuidShape is what the tool takes for the id of a node.
var uuidShape = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// lineUUID returns the id of the n-th line of a message: the message's own, or one made of it.
func (w *sessionWriter) lineUUID(m scrollback.Message, n int) string {
	id := string(m.ID)
	for ; n > 0 || !uuidShape().MatchString(id) || w.used[id]; n-- {
		h := hashTexts(string(w.c.ID), id, strconv.Itoa(n))
		id = h[:8] + "-" + h[8:12] + "-8" + h[12:15] + "-8" + h[15:18] + "-" + h[18:30]
	}
	w.used[id] = true
	return id
}

// hashTexts returns a hash of texts, in hex.
func hashTexts(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// writeMessage writes a message as one or several lines. What they cannot say stands on the
// first of them as well, for us.
func (w *sessionWriter) writeMessage(e transcript.Entry) error {
	rows, err := w.messageRows(e)
	if err != nil || len(rows) == 0 {
		return err
	}
	if !w.readsAs(rows, e) {
		content, err := transcript.EncodeParts(
			transcript.Entry{Message: scrollback.Message{Parts: bareParts(e.Message.Parts)},
				Bytes: e.Bytes})
		if err != nil {
			return err
		}
		m := e.Message
		first := true
		for i := range rows {
			switch {
			case rows[i].mark:
			case first:
				first = false
				rows[i].Kept = &keptMessage{Role: m.Role, Name: m.Name, Model: m.Model, Content: content}
				if m.Status != scrollback.StatusComplete {
					rows[i].Kept.Status = m.Status
				}
			default:
				rows[i].Kept = &keptMessage{}
			}
		}
	}
	for _, r := range rows {
		if err := w.writeLine(r); err != nil {
			return err
		}
	}
	return nil
}

// boundary is the subtype of the line before a summary.
const boundary = "compact_boundary"

// writeEnd writes what the session is called, and where it stands.
func (w *sessionWriter) writeEnd() error {
	if w.c.Title != "" {
		if err := w.writeLine(struct {
			Type      string `json:"type"`
			Title     string `json:"customTitle"`
			SessionID string `json:"sessionId"`
		}{"custom-title", w.c.Title, string(w.c.ID)}); err != nil {
			return err
		}
	}
	if w.last == "" {
		return nil
	}
	return w.writeLine(struct {
		Type      string `json:"type"`
		Prompt    string `json:"lastPrompt,omitempty"`
		Leaf      string `json:"leafUuid"`
		SessionID string `json:"sessionId"`
	}{"last-prompt", w.prompt, w.last, string(w.c.ID)})
}

// readsAs reports whether lines read as a message.
func (w *sessionWriter) readsAs(rows []lineRow, e transcript.Entry) bool {
	t := &conversationReading{sessionReading: &sessionReading{calls: map[string]string{}, agents: map[string]string{}},
		left: map[string]int{},
		ids:  map[string]bool{}}
	for _, r := range rows {
		l, err := parseLine(encodePlain(r))
		if err != nil {
			return false
		}
		t.takeLine(l)
	}
	th := linkNodes(t.lines)
	d := &messageMaker{of: t, th: th, lines: t.lines, kept: make([]bool, len(t.lines))}
	var got []transcript.Entry
	for _, n := range d.makeNodes() {
		got = append(got, n.Entries...)
	}
	if len(got) != 1 {
		return false
	}
	a := got[0]
	b := e
	for i, p := range a.Message.Parts {
		if r, ok := p.(scrollback.ToolResult); ok {
			r.Name = w.names[r.CallID]
			a.Message.Parts[i] = r
		}
	}
	return saysSame(a, b)
}

// saysSame reports whether two messages say the same.
func saysSame(a, b transcript.Entry) bool {
	status := func(s scrollback.Status) scrollback.Status {
		return scrollback.Status(strings.TrimSuffix(string(s), string(scrollback.StatusComplete)))
	}
	m := a.Message
	n := b.Message
	if m.Role != n.Role || m.Name != n.Name || m.Model != n.Model || m.CreatedAt != n.CreatedAt ||
		status(m.Status) != status(n.Status) {
		return false
	}
	x, errX := transcript.EncodeParts(transcript.Entry{Message: scrollback.Message{Parts: bareParts(m.Parts)},
		Bytes: a.Bytes})
	y, errY := transcript.EncodeParts(transcript.Entry{Message: scrollback.Message{Parts: bareParts(n.Parts)},
		Bytes: b.Bytes})
	return errX == nil && errY == nil && string(x) == string(y)
}

// bareParts returns parts without what only their own store knows about them.
func bareParts(ps scrollback.Parts) scrollback.Parts {
	list := make(scrollback.Parts, len(ps))
	for i, p := range ps {
		switch p := p.(type) {
		case scrollback.Image:
			p.Artifact = ""
			p.Width = 0
			p.Height = 0
			p.Size = 0
			list[i] = p
		case scrollback.File:
			p.Artifact = ""
			p.Size = 0
			list[i] = p
		case scrollback.ToolCall:
			p.Arguments = compactJSON(p.Arguments)
			list[i] = p
		case scrollback.Text, scrollback.ToolResult, scrollback.Reasoning:
			list[i] = p
		}
	}
	return list
}
