// Package vscodechat reads the conversations of the chat in Visual Studio Code (GitHub Copilot Chat), which keeps
// a file a session in the storage of each workspace: a document, or in newer versions the log of what changed in
// it. Chats that were exported are read too.
//
// Words it adds: request (a prompt with all that answers it), round (one call of a model within a request), state
// (the document that a log has come to).
//
// Invariants: what a log took back is an earlier branch; an answer is held back, while its session is live, until
// it has its result.
//
// It may not know the store, the network or the file system.
package vscodechat

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/editors"
	"github.com/scrollback-ai/scrollback/transcript/sessionlog"
)

// Name is the tool's name, and metaKey that of its fields in meta.
const (
	Name    = "vscode"
	metaKey = "vscode_chat"
)

// Tool is the tool. The zero value is ready.
type Tool struct{}

// Name implements [transcript.Tool].
func (Tool) Name() string { return Name }

// Homes implements [transcript.Tool].
func (Tool) Homes(m transcript.Machine) (out []string) {
	for _, user := range editors.UserFolders(m) {
		out = append(out, path.Join(user, "workspaceStorage"), path.Join(user, "globalStorage", windowSessions))
	}
	return out
}

// The folders of sessions: a workspace's, and of windows without one.
const (
	workspaceSessions = "chatSessions"
	windowSessions    = "emptyWindowChatSessions"
)

// Sniff implements [transcript.Tool].
func (Tool) Sniff(name string, head []byte) bool {
	seen := transcript.ItemHeadFields(head)
	switch path.Ext(name) {
	case ".json":
		return (seen["requests"] || seen["initialLocation"]) && (seen["requesterUsername"] || seen["responderUsername"])
	case ".jsonl":
		first, err := transcript.NewRecords(strings.NewReader(string(head))).Next()
		var l change
		if err != nil || !seen["kind"] {
			return false
		}
		if first.JSON == nil { // the state is longer than what is looked at
			return strings.Contains(string(head), `"sessionId"`) && seen["kind"]
		}
		_ = json.Unmarshal(first.JSON, &l) // what is of another type is not there
		return l.Kind == stateWritten && strings.Contains(string(l.Value), `"requests"`)
	}
	return false
}

var format = sessionlog.Format{
	Sniff: Tool{}.Sniff,
	Named: func(name string) bool {
		folder := path.Base(path.Dir(name))
		kept := folder == workspaceSessions || folder == windowSessions || !strings.Contains(name, "/")
		return kept && (path.Ext(name) == ".json" || path.Ext(name) == ".jsonl")
	},
	Identify: func(name string, _ []byte) string {
		return strings.TrimSuffix(path.Base(name), path.Ext(name))
	},
	Beside: func(_ transcript.Place, name string) []string { return []string{workspaceFile(name)} },
	Document: func(name string) int {
		if path.Ext(name) == ".json" {
			return 2 // a request of the list of the object
		}
		return 0
	},
	Depth: 2,
	Talks: readTalks,
}

// workspaceFile returns the file that says which folder a session's workspace is.
func workspaceFile(name string) string { return path.Join(path.Dir(path.Dir(name)), "workspace.json") }

// Sessions implements [transcript.Tool]. A session that an editor keeps in both forms is read from the log.
func (Tool) Sessions(ctx context.Context, p transcript.Place) iter.Seq2[transcript.Session, error] {
	return func(yield func(transcript.Session, error) bool) {
		var all []transcript.Session
		logged := map[string]bool{}
		var failed error
		for s, err := range format.Sessions(ctx, p) {
			if err != nil {
				failed = err
				break
			}
			all = append(all, s)
			logged[s.Name] = true
		}
		for _, s := range all {
			if path.Ext(s.Name) == ".json" && logged[s.Name+"l"] {
				continue
			}
			if !yield(s, nil) {
				return
			}
		}
		if failed != nil {
			yield(transcript.Session{}, failed)
		}
	}
}

// Read implements [transcript.Tool].
func (Tool) Read(ctx context.Context, p transcript.Place, s transcript.Session) iter.Seq2[transcript.Entry, error] {
	return format.Read(ctx, p, s)
}

// workFolder returns the folder of a session's workspace, as far as it is one of this machine.
func workFolder(f *sessionlog.File) string {
	var w struct {
		Folder string `json:"folder"`
	}
	if json.Unmarshal(f.ReadBeside(workspaceFile(f.Name)), &w) != nil {
		return ""
	}
	at, err := url.Parse(w.Folder)
	if err != nil || at.Scheme != "file" {
		return ""
	}
	folder := at.Path
	if len(folder) > 2 && folder[0] == '/' && folder[2] == ':' {
		folder = folder[1:] // a drive
	}
	return strings.ToValidUTF8(filepath.FromSlash(folder), "�")
}
