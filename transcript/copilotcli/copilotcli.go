// Package copilotcli reads the sessions of GitHub Copilot CLI, which keeps a folder a session with
// a log of its events.
//
// Words it adds: event (a line of the log), request (a call of a tool within an answer).
//
// Invariants: events are in order, but for those behind a rewind; what a call used is told by the
// record that names the call of the model, and counted once; a sub-agent's answers are a
// conversation of their own below the call that started it; the summary of a compaction is a
// message of its own behind what it stands for.
//
// It may not know the store, the network or the file system.
package copilotcli

import (
	"context"
	"encoding/json"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "copilot-cli"
	metaKey = "copilot_cli"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool].
func (Tool) Homes(m transcript.Machine) []string {
	out := []string{filepath.Join(m.Home, ".copilot", "session-state")}
	if dir := m.Getenv("COPILOT_HOME"); filepath.IsAbs(dir) {
		out = append(out, filepath.Join(dir, "session-state"))
	}
	return out
}

// Sniff implements [transcript.Tool]: a log begins with the session.
func (Tool) Sniff(name string, head []byte) bool {
	e := firstEvent(head)
	return strings.HasSuffix(name, ".jsonl") && e.Type == "session.start" && e.Data.Session != ""
}

func firstEvent(head []byte) (e event) {
	if first, err := transcript.NewRecords(strings.NewReader(string(head))).Next(); err == nil {
		_ = json.Unmarshal(first.JSON, &e) // what is of another type is not there
	}
	return e
}

var format = sessionlog.Format{
	Sniff: Tool{}.Sniff,
	Named: func(name string) bool { return path.Ext(name) == ".jsonl" }, // older ones have the session's name
	Identify: func(_ string, head []byte) string {
		return firstEvent(head).Data.Session
	},
	Beside: func(_ transcript.Place, name string) []string { return []string{titleFile(name)} },
	Talks:  readTalks,
}

// titleFile returns the file beside a log that has the session's title.
func titleFile(name string) string { return path.Join(path.Dir(name), "workspace.yaml") }

// Sessions implements [transcript.Tool].
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return format.Sessions(ctx, p)
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}
