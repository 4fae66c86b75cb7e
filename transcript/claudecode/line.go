package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// line is a line of a file, as far as it is understood.
type line struct {
	Type              string
	Subtype           string
	UUID              string
	ParentUUID        string
	LogicalParentUUID string
	LeafUUID          string
	Timestamp         string
	SessionID         string
	CWD               string
	GitBranch         string
	Version           string
	Entrypoint        string
	RequestID         string
	AgentID           string
	Summary           string
	CustomTitle       string
	AITitle           string
	IsSidechain       bool
	IsMeta            bool
	IsCompactSummary  bool
	IsAPIErrorMessage bool `json:"isApiErrorMessage"`
	Message           apiMessage
	Attachment        struct {
		Type        string
		Prompt      body
		CommandMode string
	}
	CompactMetadata struct {
		Trigger          string
		PreservedSegment struct{ TailUUID string }
	}
	ToolUseResult agentMark
	Scrollback    *keptMessage // of a line that we wrote

	n  int   // its number in the file, from 1
	at int64 // Unix ms, or 0

	// What is made of it when it is read.
	pieces  []messagePiece
	kind    kind
	event   string // what it is beside a message: command, bash, bash_output, memory
	queued  bool   // it was typed while the model worked
	results int    // how many of its pieces are results
}

// apiMessage is what a model or a user said, in the API's form.
type apiMessage struct {
	ID         string
	Model      string
	Content    body
	StopReason string `json:"stop_reason"`
	Usage      usage
}

// usage is what a model call consumed, in the API's form.
type usage struct {
	Input  count `json:"input_tokens"`
	Write  count `json:"cache_creation_input_tokens"`
	Read   count `json:"cache_read_input_tokens"`
	Output count `json:"output_tokens"`
}

// count is a number of tokens; anything else counts as 0.
type count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(b []byte) error {
	var n int64
	if json.Unmarshal(b, &n) == nil && n >= 0 && n <= scrollback.MaxCallTokens {
		*c = count(n)
	}
	return nil
}

func (u usage) totalTokens() int64 { return int64(u.Input + u.Write + u.Read + u.Output) }

// body is JSON that is read later: a text, or a list of blocks.
type body []byte

// UnmarshalJSON implements json.Unmarshaler. The bytes are only lent.
func (b *body) UnmarshalJSON(raw []byte) error {
	*b = raw
	return nil
}

// agentMark is the sub-agent that a result names. The rest of what stands there repeats
// the result, and is not kept.
type agentMark struct{ AgentID string }

// UnmarshalJSON implements json.Unmarshaler.
func (a *agentMark) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("{")) && bytes.Contains(raw, []byte(`"agentId"`)) {
		var fields struct{ AgentID string }
		if json.Unmarshal(raw, &fields) == nil {
			a.AgentID = fields.AgentID
		}
	}
	return nil
}

// kind is what a line is to the conversation.
type kind int

const (
	aside   kind = iota // nothing, or something only the tool needs
	prompt              // what a user said
	result              // results of calls
	answer              // a block of an answer
	notice              // what the tool put in an answer's place
	stopped             // the mark of an answer that was interrupted
	summary             // what stands for what was compacted
	limit               // a boundary
)

// isTalk reports whether a line is a message or a piece of one.
func (l *line) isTalk() bool {
	return l.kind == prompt || l.kind == result || l.kind == answer || l.kind == summary
}

var errTorn = errors.New("the last line is not complete")

// lineScanner reads the lines of a file.
type lineScanner struct {
	in *transcript.Records
	n  int
}

func newScanner(r io.Reader) *lineScanner { return &lineScanner{in: transcript.NewRecords(r)} }

// nextLine returns the next record, parsed; nil with a reason for what is damaged. The last of all is an
// error that ends the file. A line's bodies are valid until next is called again.
func (s *lineScanner) nextLine() (*line, error, error) {
	rec, err := s.in.Next()
	if err != nil {
		return nil, nil, err
	}
	s.n = rec.Line
	switch {
	case rec.Torn:
		return nil, errTorn, nil
	case rec.JSON == nil:
		return nil, errors.New(rec.Reason), nil
	}
	l, bad := parseLine(rec.JSON)
	if bad == nil {
		l.n = s.n
	}
	return l, bad, nil
}

// parseLine reads a line that is valid JSON. Fields of a type that is not expected count as missing.
func parseLine(raw []byte) (*line, error) {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	l, err := decodeLine(raw)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && l.Type != "":
	case errors.As(err, &wrong):
		return nil, errors.New("it is not an object with a type")
	case err != nil:
		return nil, errors.New("malformed JSON: " + err.Error())
	case l.Type == "":
		return nil, errors.New("it has no type")
	}
	l.at = transcript.ParseTime(l.Timestamp)
	return l, nil
}

// isNode reports whether a line is one of the tree; later versions may have other types of them.
func (l *line) isNode() bool { return l.UUID != "" }

// boundaryTarget returns the node that a boundary continues: what was kept of the past, or else the
// last node of it.
func (l *line) boundaryTarget() string {
	if tail := l.CompactMetadata.PreservedSegment.TailUUID; tail != "" {
		return tail
	}
	return l.LogicalParentUUID
}

// kindName returns what a line is called that is left out.
func (l *line) kindName() string {
	name := strings.ReplaceAll(l.Type, "-", "_")
	if len(name) > 40 || strings.ContainsFunc(name,
		func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return "other"
	}
	return name
}
