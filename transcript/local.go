package transcript

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// localMeta are the fields of a tool's meta that hold a path: they mean something on the machine that it was on, and
// nothing elsewhere. A reader that keeps a path puts it under one of these.
var localMeta = map[string]bool{"cwd": true, "working_dir": true, "directory": true, "parent_session": true}

// IsLocalMeta reports whether a field of the meta of a conversation or a message, however deep in it, is about this
// machine alone.
func IsLocalMeta(key string) bool { return localMeta[key] }

// WithoutLocalMeta returns meta as it is on every machine: without its local fields. Meta that has none stays as it
// stands.
func WithoutLocalMeta(meta json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(meta, &fields) != nil {
		return meta
	}
	changed := false
	for key, was := range fields {
		if IsLocalMeta(key) {
			delete(fields, key)
			changed = true
			continue
		}
		if now := WithoutLocalMeta(was); len(now) != len(was) {
			fields[key] = now
			changed = true
		}
	}
	if !changed {
		return meta
	}
	out, err := plainjson.Marshal(fields)
	if err != nil {
		return meta
	}
	return out
}
