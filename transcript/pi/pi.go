// Package pi reads the conversations of pi, and of OpenClaw, which keeps them as pi does.
//
// Words it adds: entry (a line of a session: a message, or what happened to the session; newer versions of
// OpenClaw keep them as rows of a database).
//
// Invariants: entries are a tree by their parents, in which the newest is where the session
// stands; files of the first version have no parents, and are in order; a compaction and the
// summary of a branch are messages of their own behind what they stand for; what a person ran by
// hand is a message of theirs.
//
// It may not know the store, the network or the file system.
package pi

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// The names of the tools.
const (
	Name         = "pi"
	OpenClawName = "openclaw"
)

// Tool is pi, or OpenClaw. The zero value is pi.
type Tool struct{ claw bool }

// OpenClaw returns the tool that reads the conversations of OpenClaw.
func OpenClaw() Tool { return Tool{claw: true} }

// Name implements [transcript.Tool].
func (t Tool) Name() string {
	if t.claw {
		return OpenClawName
	}
	return Name
}

// Homes implements [transcript.Tool].
func (t Tool) Homes(m transcript.Machine) []string {
	if t.claw {
		out := []string{filepath.Join(m.Home, ".openclaw", "agents"), filepath.Join(m.Home, ".clawdbot", "agents")}
		if dir := m.Getenv("OPENCLAW_STATE_DIR"); filepath.IsAbs(dir) {
			out = append(out, filepath.Join(dir, "agents"))
		}
		return out
	}
	agent := filepath.Join(m.Home, ".pi", "agent")
	if dir := m.Getenv("PI_CODING_AGENT_DIR"); filepath.IsAbs(dir) {
		agent = dir
	}
	out := []string{filepath.Join(agent, "sessions")}
	if dir := m.Getenv("PI_CODING_AGENT_SESSION_DIR"); filepath.IsAbs(dir) {
		out = append(out, dir)
	}
	return out
}

// isSession reports whether a file begins as a session does.
func isSession(head []byte) bool {
	h := readHeader(head)
	return h.Type == "session" && h.ID != "" && h.Payload == nil
}

// header is the first line of a session.
type header struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Folder    string          `json:"cwd"`
	Parent    string          `json:"parentSession"`
	Provider  string          `json:"provider"` // of the first version
	Model     string          `json:"modelId"`
	Payload   json.RawMessage `json:"payload"` // of other tools' lines
}

func readHeader(head []byte) (h header) {
	r, err := transcript.NewRecords(strings.NewReader(string(head))).Next()
	if err == nil {
		_ = json.Unmarshal(r.JSON, &h) // what is of another type is not there
	}
	return h
}

// Sniff implements [transcript.Tool]. OpenClaw's files begin as pi's do, so that only one of
// both knows them.
func (t Tool) Sniff(name string, head []byte) bool {
	if t.claw {
		return path.Base(name) == clawDatabase && bytes.HasPrefix(head, []byte("SQLite format 3\x00"))
	}
	return strings.HasSuffix(name, ".jsonl") && isSession(head)
}

// format is how the files of both are read.
func (t Tool) format() sessionlog.Format {
	return sessionlog.Format{
		Sniff: func(_ string, head []byte) bool { return isSession(head) },
		Named: func(name string) bool {
			return path.Ext(name) == ".jsonl" && (!t.claw || path.Base(path.Dir(name)) == "sessions")
		},
		Identify: func(_ string, head []byte) string { return readHeader(head).ID },
		Talks:    t.readTalks,
	}
}

// Sessions implements [transcript.Tool]. What OpenClaw has in a database is not read from its older files.
func (t Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	if !t.claw {
		return t.format().Sessions(ctx, p)
	}
	return func(yield func(transcript.Session, error) bool) {
		seen := map[string]bool{}
		names, err := listDatabases(p)
		for _, name := range names {
			var all []transcript.Session
			if all, err = databaseSessions(ctx, p, name); err != nil {
				break
			}
			for _, s := range all {
				seen[s.ID] = true
				if !yield(s, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(transcript.Session{}, err)
			return
		}
		if isDatabase(p.Name) {
			return
		}
		for s, err := range t.format().Sessions(ctx, p) {
			if err == nil && seen[s.ID] {
				continue
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// Read implements [transcript.Tool].
func (t Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	if !t.claw || !isDatabase(s.Name) {
		return t.format().Read(ctx, p, s)
	}
	return func(yield func(transcript.Entry, error) bool) {
		records, leaf, err := readEvents(ctx, p, s)
		if err != nil {
			yield(transcript.Entry{}, err)
			return
		}
		talks := t.readTalks(&sessionlog.File{Place: p, Name: s.Name, ID: s.ID, Records: records})
		talks[0].Leaf = leaf
		sessionlog.YieldTalks(ctx, talks, yield)
	}
}
