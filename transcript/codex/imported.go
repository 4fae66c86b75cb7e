package codex

import (
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/foreign"
)

// ledgerFile lists the threads that the tool made of other tools' sessions.
const ledgerFile = "external_agent_session_imports.json"

// maxLedger bounds what is read of it, in bytes.
const maxLedger = 64 << 20

// copiedThread is what a thread was made of.
type copiedThread struct {
	Tool    string `json:"tool,omitempty"`
	Session string `json:"session,omitempty"`
	Path    string `json:"path,omitempty"`
	At      int64  `json:"at,omitempty"` // Unix ms
	title   string
}

// readCopies returns the threads of a place that the tool made of other tools' sessions, by thread.
// What cannot be read says nothing; of a file with a torn end the records before it count.
func readCopies(fsys fs.FS) map[string]copiedThread {
	out := map[string]copiedThread{}
	in, err := fsys.Open(ledgerFile)
	if err != nil {
		return out
	}
	defer func() { _ = in.Close() }() // it was only read
	dec := json.NewDecoder(io.LimitReader(in, maxLedger))
	eachRecord(dec, func(raw json.RawMessage) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return
		}
		text := func(key string) (s string) {
			_ = json.Unmarshal(fields[key], &s) // another type says nothing
			return s
		}
		thread := strings.ToLower(text("imported_thread_id"))
		if thread == "" || len(out) >= maxFiles {
			return
		}
		c := copiedThread{Path: text("source_path"), At: readTime(fields["imported_at"]), title: text("title")}
		name := strings.ReplaceAll(c.Path, `\`, "/")
		if c.Session = strings.TrimSuffix(path.Base(name), path.Ext(name)); c.Path == "" {
			c.Session = ""
		}
		if strings.Contains(name, "/.claude") || strings.Contains(name, "/projects/") && strings.HasSuffix(name, ".jsonl") {
			c.Tool = "claude-code"
		}
		out[thread] = c
	})
	return out
}

// copiesBeside returns those of a place, which may be a part of the tool's folder: its ledger stands
// beside the folder of the rollouts.
func copiesBeside(p transcript.Place) map[string]copiedThread {
	if p.Name == "." || p.Name == "" {
		if out := readCopies(p.FS); len(out) > 0 {
			return out
		}
	}
	at := p.Path
	for range maxDepth {
		switch filepath.Base(at) {
		case "sessions", "archived_sessions":
			return readCopies(foreign.FolderBeside(filepath.Dir(at)))
		}
		if up := filepath.Dir(at); at != "" && up != at {
			at = up
		}
	}
	return nil
}

// eachRecord visits the records of a ledger, which is an object that has them, or a list of
// them, until it ends or is damaged.
func eachRecord(dec *json.Decoder, visit func(json.RawMessage)) {
	t, err := dec.Token()
	for err == nil && t == json.Delim('{') { // into the object, as far as its records
		var key json.Token
		if key, err = dec.Token(); err != nil || key == json.Delim('}') {
			return
		}
		if key == "records" {
			t, err = dec.Token()
			break
		}
		var other json.RawMessage
		err = dec.Decode(&other)
	}
	if err != nil || t != json.Delim('[') {
		return
	}
	for dec.More() {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return
		}
		visit(raw)
	}
}

// readTime returns a time in seconds, milliseconds or as text, in Unix ms; 0 for anything else.
func readTime(raw json.RawMessage) int64 {
	var n float64
	if json.Unmarshal(raw, &n) == nil && n > 0 && n < 1e15 {
		if n < 1e11 {
			n *= 1000
		}
		return int64(n)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return 0
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0
	}
	return at.UnixMilli()
}
