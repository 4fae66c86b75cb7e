// Package claudecode reads the sessions of Claude Code where it keeps them, and writes
// sessions that it can continue.
//
// A session is a file of JSON lines. Most lines are nodes of a tree: they name their
// parent. A file may hold them in another order than they were said, may lack parents,
// and never says what is current except in passing; [linkNodes] makes the conversation of it.
//
// Words it adds: node (a line with an id of its own), talk (a node that is a message or
// a piece of one), answer (what a model said in one call: a line for each block of it),
// chain (the results of an answer's calls, in the order of the file), thread (the nodes
// of one conversation: the session's own, or a sub-agent's), boundary (where a session
// was compacted; the summary follows it).
//
// Invariants: an answer is one message with its usage counted once; a result stands
// behind its answer, whatever it hangs on; what was compacted stays where it was, and
// its summary is a message behind it; reading the beginning of a live session never
// says what the whole does not say. A session is held in memory while it is read.
//
// It may not know the store, the network or a file system other than its place.
package claudecode

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback/transcript"
)

// Name is the tool's name, and the format's.
const (
	Name    = "claude-code"
	metaKey = "claude_code"
)

// Tool is Claude Code, or Cowork. The zero value is Claude Code.
type Tool struct{ cowork bool }

// Name implements transcript.Tool.
func (t Tool) Name() string {
	if t.cowork {
		return CoworkName
	}
	return Name
}

// Homes implements transcript.Tool.
func (t Tool) Homes(m transcript.Machine) []string {
	if t.cowork {
		return coworkHomes(m)
	}
	if folder := m.Getenv("CLAUDE_CONFIG_DIR"); folder != "" {
		return []string{joinPath(folder, "projects")}
	}
	if m.Home == "" {
		return nil
	}
	return []string{joinPath(m.Home, ".claude/projects"), joinPath(m.Home, ".config/claude/projects")}
}

// joinPath names a file below a folder of this machine, whichever way its system writes paths.
func joinPath(folder, name string) string {
	if strings.Contains(folder, `\`) && !strings.Contains(folder, "/") {
		return strings.TrimRight(folder, `\`) + `\` + strings.ReplaceAll(name, "/", `\`)
	}
	return strings.TrimRight(folder, "/") + "/" + name
}

// Sniff implements transcript.Tool.
func (t Tool) Sniff(name string, head []byte) bool {
	return !t.cowork && name != typed && isSession(head) && !transcript.IsForeign(head)
}

// typed is the file with what was typed in all sessions: prompts without answers.
const typed = "history.jsonl"

// sniffed is how many lines at the beginning of a file are looked at.
const sniffed = 8

// isSession reports whether a file that begins with head is a session.
func isSession(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\uFEFF"))
	for range sniffed {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole && !json.Valid(line) { // cut, and so it is long: it begins with what it hangs on
			return bytes.HasPrefix(line, []byte(`{"`)) &&
				(bytes.Contains(line, []byte(`"parentUuid":`)) && bytes.Contains(line, []byte(`"isSidechain":`)) ||
					bytes.HasPrefix(line, []byte(`{"type":"queue-operation",`)) ||
					bytes.HasPrefix(line, []byte(`{"type":"file-history-snapshot",`)))
		}
		var l struct {
			Type, UUID, SessionID, LeafUUID string
			Snapshot                        json.RawMessage
		}
		if json.Unmarshal(line, &l) == nil {
			switch {
			case nodes[l.Type] && l.UUID != "" && l.SessionID != "",
				l.Type == "summary" && l.LeafUUID != "",
				l.Type == "file-history-snapshot" && l.Snapshot != nil,
				asides[l.Type] && l.SessionID != "":
				return true
			}
		}
		head = rest
	}
	return false
}

// nodes are the types of lines that make the tree, and asides those of lines beside it.
var (
	nodes  = map[string]bool{"user": true, "assistant": true, "system": true, "attachment": true, "progress": true}
	asides = map[string]bool{"queue-operation": true, "last-prompt": true, "mode": true, "permission-mode": true,
		"custom-title": true,
		"ai-title":     true, "agent-name": true, "agent-setting": true, "pr-link": true, "tag": true, "task-summary": true}
)
