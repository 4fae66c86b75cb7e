package codex

import (
	"encoding/json"
	"io"

	"github.com/scrollback-ai/scrollback/transcript"
)

// threadHead is what a rollout says about its thread.
type threadHead struct {
	ID         string `json:"id"`
	SessionID  string `json:"session_id"` // of a sub-agent its parent's
	ForkedFrom string `json:"forked_from_id"`
	ParentID   string `json:"parent_thread_id"`
	Timestamp  string `json:"timestamp"`
	Cwd        string `json:"cwd"`
	Originator string `json:"originator"`
	Version    string `json:"cli_version"`
	Provider   string `json:"model_provider"`
	Nickname   string `json:"agent_nickname"`
	Role       string `json:"agent_role"`

	Source json.RawMessage `json:"source"`
	Git    *struct {
		Commit string `json:"commit_hash"`
		Branch string `json:"branch"`
	} `json:"git"`
	Base *rolloutBase `json:"history_base"`

	tagged bool // its line has a type, as all but the oldest have
}

// rolloutBase is where a rollout goes on from: the lines of a file before an ordinal. A file has the
// id of its thread, or, after a revert, that at the end of its name.
type rolloutBase struct {
	ID  string `json:"thread_id"`
	End int64  `json:"end_ordinal_exclusive"`
}

// parentThread returns the thread that started this one as a sub-agent, or empty.
func (h threadHead) parentThread() string {
	var source struct {
		Subagent struct {
			Spawn struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	}
	// A source of another shape, such as a word, names no parent.
	_ = json.Unmarshal(h.Source, &source)
	for _, id := range []string{h.ParentID, source.Subagent.Spawn.Parent, h.SessionID} {
		if id != "" && id != h.ID {
			return id
		}
	}
	return ""
}

// startTime returns when the thread, or this file of it, was begun, in Unix ms.
func (h threadHead) startTime() int64 { return transcript.ParseTime(h.Timestamp) }

// parseHead reads the whole of what a rollout says about its thread. What has another type
// than it should counts as missing.
func parseHead(raw json.RawMessage) threadHead {
	var h threadHead
	if json.Unmarshal(raw, &h) == nil {
		return h
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return threadHead{}
	}
	h = threadHead{}
	for _, key := range []string{"id", "session_id", "forked_from_id", "parent_thread_id", "timestamp", "cwd",
		"originator",
		"cli_version", "model_provider", "agent_nickname", "agent_role", "source", "git", "history_base"} {
		one := h
		if fields[key] != nil && json.Unmarshal(transcript.MarshalObject(map[string]json.RawMessage{key: fields[key]}),
			&one) == nil {
			h = one
		}
	}
	return h
}

// readHead reads as little of a rollout as says whose it is: not the instructions, nor what
// comes after them.
func readHead(r io.Reader) (h threadHead, ok bool) {
	dec := json.NewDecoder(io.LimitReader(r, maxHead))
	fields := map[string]json.RawMessage{}
	tagged := false
	whole := eachField(dec, func(key string) bool {
		if key == "payload" {
			tagged = true
			return eachField(dec, func(key string) bool { return takeValue(dec, key, fields) })
		}
		return takeValue(dec, key, fields)
	})
	if tagged && string(fields["type"]) != `"session_meta"` || !whole && len(fields) == 0 {
		return threadHead{}, false
	}
	h = parseHead(transcript.MarshalObject(fields))
	h.tagged = tagged
	return h, h.ID != "" && h.Timestamp != ""
}

// maxHead bounds the line of a head, of which the instructions are read only where they are in the way.
const maxHead = 1 << 20

// eachField reads an object, a key at a time, until a reader of its values has had enough.
func eachField(dec *json.Decoder, value func(key string) bool) bool {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for dec.More() {
		t, err := dec.Token()
		key, isKey := t.(string)
		if err != nil || !isKey || !value(key) {
			return false
		}
	}
	_, err := dec.Token()
	return err == nil
}

// takeValue reads one value of a head. It ends at the instructions.
func takeValue(dec *json.Decoder, key string, fields map[string]json.RawMessage) bool {
	if key == "base_instructions" {
		return false
	}
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return false
	}
	if key != "instructions" { // of older ones, in which what says who started it comes after
		fields[key] = raw
	}
	return true
}
