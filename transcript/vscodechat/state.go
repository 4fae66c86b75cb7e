package vscodechat

import (
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback/transcript/exported"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// The kinds of lines of a log.
const (
	stateWritten = iota
	valueSet
	itemsPushed
	valueDeleted
)

// change is a line of a log.
type change struct {
	Kind  int               `json:"kind"`
	Path  []json.RawMessage `json:"k"`
	Value json.RawMessage   `json:"v"`
	Index *int              `json:"i"` // items from there on were taken back first
}

// sessionState is what a session's file says.
type sessionState struct {
	root  any
	taken []takenBack
	last  int // the line that was read last
}

// takenBack is requests that a log took back, and what stands before them.
type takenBack struct {
	before int
	list   []any
	line   int
}

// readState reads a document, or replays a log.
func readState(records []sessionlog.Record) *sessionState {
	s := &sessionState{}
	for i, r := range records {
		s.last = r.Line
		var c change
		if i == 0 && json.Unmarshal(r.JSON, &c) == nil && c.Value == nil {
			_ = json.Unmarshal(r.JSON, &s.root) // it is valid
			return s
		}
		c = change{}
		if json.Unmarshal(r.JSON, &c) != nil {
			continue
		}
		s.apply(c)
	}
	return s
}

// apply makes a change.
func (s *sessionState) apply(c change) {
	var value any
	_ = json.Unmarshal(c.Value, &value) // what is missing is null
	if c.Kind == stateWritten {
		s.root = value
		return
	}
	if len(c.Path) == 0 {
		return
	}
	parent := s.root
	for _, step := range c.Path[:len(c.Path)-1] {
		parent = child(parent, step)
	}
	last := c.Path[len(c.Path)-1]
	switch c.Kind {
	case valueSet:
		setChild(parent, last, value)
	case itemsPushed:
		was, _ := child(parent, last).([]any)
		if c.Index != nil && *c.Index >= 0 && *c.Index < len(was) {
			if isRequests(c.Path) {
				s.taken = append(s.taken, takenBack{*c.Index, slices.Clone(was[*c.Index:]), s.last})
			}
			was = was[:*c.Index:*c.Index]
		}
		more, _ := value.([]any)
		setChild(parent, last, append(was, more...))
	case valueDeleted:
		if m, ok := parent.(map[string]any); ok {
			var key string
			if exported.DecodeField(last, &key) {
				delete(m, key)
			}
		}
	}
}

// isRequests reports whether a path is that of a session's requests.
func isRequests(path []json.RawMessage) bool {
	var key string
	return len(path) == 1 && exported.DecodeField(path[0], &key) && key == "requests"
}

// child returns what a step leads to; nil if nothing is there.
func child(of any, step json.RawMessage) any {
	switch of := of.(type) {
	case map[string]any:
		var key string
		if exported.DecodeField(step, &key) {
			return of[key]
		}
	case []any:
		if i, ok := itemAt(of, step); ok && i < len(of) {
			return of[i]
		}
	}
	return nil
}

// setChild sets what a step leads to, if there is a place for it.
func setChild(of any, step json.RawMessage, value any) {
	switch of := of.(type) {
	case map[string]any:
		var key string
		if exported.DecodeField(step, &key) {
			of[key] = value
		}
	case []any:
		if i, ok := itemAt(of, step); ok && i < len(of) {
			of[i] = value
		}
	}
}

func itemAt(list []any, step json.RawMessage) (int, bool) {
	var i int
	return i, exported.DecodeField(step, &i) && i >= 0 && i <= len(list)
}
