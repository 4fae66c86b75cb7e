package opencode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// storedSession is a session as the tool keeps it.
type storedSession struct {
	sessionInfo
	messages []*message // in order, removed ones too
	bad      []string   // what could not be read
}

// sessionInfo describes a session, in the form of files and exports.
type sessionInfo struct {
	ID        string `json:"id"`
	ParentID  string `json:"parentID"` // of a sub-agent
	ProjectID string `json:"projectID"`
	Directory string `json:"directory"`
	Title     string `json:"title"`
	Version   string `json:"version"`
	Slug      string `json:"slug"`
	Agent     string `json:"agent"`
	Model     struct {
		ID       string `json:"id"`
		Provider string `json:"providerID"`
	} `json:"model"`
	Time struct {
		Created  millis `json:"created"`
		Updated  millis `json:"updated"`
		Archived millis `json:"archived"`
	} `json:"time"`
	Revert *struct {
		MessageID string `json:"messageID"`
		PartID    string `json:"partID"`
	} `json:"revert"`

	forkOf string
}

// message is a user's message, or what one model call brought.
type message struct {
	ID       string `json:"id"`
	Role     string `json:"role"`
	Mode     string `json:"mode"`
	Agent    string `json:"agent"`
	ModelID  string `json:"modelID"`
	Provider string `json:"providerID"`
	Path     struct {
		Cwd string `json:"cwd"`
	} `json:"path"`
	Cost   float64 `json:"cost"`
	Tokens struct {
		Input     float64 `json:"input"`
		Output    float64 `json:"output"`
		Reasoning float64 `json:"reasoning"`
		Cache     struct {
			Read  float64 `json:"read"`
			Write float64 `json:"write"`
		} `json:"cache"`
	} `json:"tokens"`
	Finish  string          `json:"finish"`
	Error   *messageError   `json:"error"`
	Summary json.RawMessage `json:"summary"` // true of a compaction's; an object of a user's, which is another thing
	Time    struct {
		Created   millis `json:"created"`
		Completed millis `json:"completed"`
	} `json:"time"`

	parts   []part
	begun   int64 // its first number in the event log, or 0
	removed int64 // the number of its removal, or 0
}

// messageError is why an answer ended.
type messageError struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
	} `json:"data"`
}

// isFinished reports whether nothing of a message is still to come.
func (m *message) isFinished() bool {
	return m.Role != "assistant" || m.Time.Completed > 0 || m.Finish != "" || m.Error != nil
}

func (m *message) isSummary() bool {
	return m.Role == "assistant" && string(bytes.TrimSpace(m.Summary)) == "true"
}

// part is a piece of a message.
type part struct {
	ID        string    `json:"id"`
	MessageID string    `json:"messageID"`
	Type      string    `json:"type"`
	Text      string    `json:"text"`
	Synthetic bool      `json:"synthetic"`
	Ignored   bool      `json:"ignored"`
	Mime      string    `json:"mime"`
	URL       string    `json:"url"`
	Filename  string    `json:"filename"`
	Prompt    string    `json:"prompt"`
	Tool      string    `json:"tool"`
	CallID    string    `json:"callID"`
	State     callState `json:"state"`
	Metadata  metadata  `json:"metadata"`
}

// callState is how a tool call stands.
type callState struct {
	Status      string          `json:"status"` // pending, running, completed or error
	Input       json.RawMessage `json:"input"`
	Output      string          `json:"output"`
	Error       string          `json:"error"`
	Metadata    metadata        `json:"metadata"`
	Attachments []part          `json:"attachments"`
	Time        struct {
		Start millis `json:"start"`
		End   millis `json:"end"`
	} `json:"time"`
}

// metadata is what a tool adds; other tools have other things under the same names.
type metadata struct {
	SessionID  string  // of the sub-agent
	Exit       float64 // of a command
	OutputPath string  // of the whole output
	Own        *own    // beside what was written here
}

// own is what stands beside a part that was written here, for the message that it begins.
type own struct {
	sessionlog.Own
	Message int   `json:"message,omitempty"` // of results: which of the messages that answer the same calls
	At      int64 `json:"at,omitempty"`      // of a message that the tool has no place for, in Unix ms
	Said    int64 `json:"said,omitempty"`    // in Unix ms, where it was before the messages before it: the tool sorts by time
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *metadata) UnmarshalJSON(b []byte) error {
	var fields struct {
		SessionID  json.RawMessage `json:"sessionId"`
		Exit       json.RawMessage `json:"exit"`
		OutputPath json.RawMessage `json:"outputPath"`
		Own        json.RawMessage `json:"scrollback"`
	}
	*m = metadata{}
	if json.Unmarshal(b, &fields) != nil {
		return nil // not what is known
	}
	// What has another type is not what is known either.
	_ = json.Unmarshal(fields.SessionID, &m.SessionID)
	_ = json.Unmarshal(fields.Exit, &m.Exit)
	_ = json.Unmarshal(fields.OutputPath, &m.OutputPath)
	if o := (own{}); len(fields.Own) > 0 && json.Unmarshal(fields.Own, &o) == nil {
		m.Own = &o
	}
	return nil
}

// millis is a time in Unix ms; 0 for what is none.
type millis int64

// UnmarshalJSON implements [json.Unmarshaler].
func (m *millis) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if *m = 0; err == nil && f > 0 && f <= transcript.Latest && !math.IsNaN(f) {
		*m = millis(f)
	}
	return nil
}

// toMillis returns a time of a database.
func toMillis(n int64) millis {
	if n < 0 || n > transcript.Latest {
		return 0
	}
	return millis(n)
}

// rawJSON is JSON that is read later.
type rawJSON = json.RawMessage

// decodeJSON reads JSON of the tool; what says which, for the error.
func decodeJSON(what string, raw []byte, into any) error {
	if !utf8.Valid(raw) {
		return fmt.Errorf("%s: not UTF-8", what)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// noteBad notes what could not be read.
func (s *storedSession) noteBad(err error) {
	if len(s.bad) < 1000 {
		s.bad = append(s.bad, strings.ToValidUTF8(err.Error(), "\uFFFD"))
	}
}

// addMessage takes a message.
func (s *storedSession) addMessage(id string, raw []byte) *message {
	m := &message{}
	if err := decodeJSON("message "+id, raw, m); err != nil {
		s.noteBad(err)
		return nil
	}
	if m.ID = id; m.Role != "user" && m.Role != "assistant" {
		s.noteBad(fmt.Errorf("message %s: the role %q", id, m.Role))
		return nil
	}
	s.messages = append(s.messages, m)
	return m
}

// readPart reads a part.
func (s *storedSession) readPart(id string, raw []byte) (part, bool) {
	var p part
	if err := decodeJSON("part "+id, raw, &p); err != nil {
		s.noteBad(err)
		return p, false
	}
	p.ID = id
	return p, true
}

// sortMessages puts messages and parts in their order.
func (s *storedSession) sortMessages() {
	sortBy(s.messages, func(m *message) (int64, string) { return int64(m.Time.Created), m.ID })
	for _, m := range s.messages {
		sortBy(m.parts, func(p part) (int64, string) { return 0, p.ID })
	}
}
