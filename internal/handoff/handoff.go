// Package handoff lets another agent go on with a conversation: as a session of the agent's own where its form is
// written here, else by a brief that is its first prompt.
//
// Words it adds: brief (where a conversation stands, in a prompt), session (a file that an agent resumes).
//
// Invariants: a session is a new file, or one that was written before; no file of an agent is changed; a brief is one
// argument, never begins with a dash, and what was said stands in it as data of one line.
//
// It knows where agents keep sessions, their arguments, and names of transcripts. It may not know the store or a
// server.
package handoff

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript/opencode"
	"github.com/scrollback-ai/scrollback/transcript/qwencode"
)

// Session is a session of an agent, and how one goes on with it.
type Session struct {
	Format  string   // in which an export is written
	ID      string   // as the agent calls it
	File    string   // that is written
	Before  []string // a command that takes the file over; nil where the agent finds it by itself
	Command []string // that goes on with the session, in the folder of the work
	List    []string // a command that names the session once it is there; nil where there is none
	Missing string   // what List says, and fails in any case, while the session is not there; empty where it does not fail
}

// Target is what is handed over: a conversation, where it goes on, and when.
type Target struct {
	Conversation scrollback.ConversationID
	Folder       string // absolute
	Data         string // a folder of ours for files that an agent takes over or is named
	At           time.Time
}

// NewSession returns where an agent would have a session of a conversation. It is false for agents whose sessions are
// not written here, and for places that cannot be found.
func NewSession(m agents.Machine, agent string, t Target) (Session, bool) {
	make, ok := sessions[agent]
	if !ok {
		return Session{}, false
	}
	s := make(m, t)
	return s, s.File != ""
}

// Natives lists the agents that go on with sessions that are written here.
func Natives() (out []string) {
	for _, a := range agents.All() {
		if _, ok := sessions[a.Name]; ok {
			out = append(out, a.Name)
		}
	}
	return out
}

// sessions make what a session is, by the agent.
var sessions = map[string]func(m agents.Machine, t Target) Session{
	agents.ClaudeCode: claudeSession,
	agents.Codex:      codexSession,
	agents.GeminiCLI:  geminiSession,
	agents.Pi:         piSession,
	agents.QwenCode:   qwenSession,
	agents.Opencode:   func(m agents.Machine, t Target) Session { return importedSession("opencode", t) },
	agents.Kilo:       func(m agents.Machine, t Target) Session { return importedSession("kilo", t) },
}

// notInName are the characters that Claude Code and its like write as a dash in the name of a project's folder.
var notInName = lazyregexp.New(`[^a-zA-Z0-9]`)

// longestName bounds the names that Claude Code gives to folders of projects as they are.
const longestName = 200

func claudeSession(m agents.Machine, t Target) Session {
	project := notInName().ReplaceAllString(t.Folder, "-")
	if len(project) > longestName {
		return Session{}
	}
	id := string(t.Conversation)
	return Session{Format: agents.ClaudeCode, ID: id,
		File:    m.Join(m.Folder(agents.ClaudeCode), "projects", project, id+".jsonl"),
		Command: []string{"claude", "--resume", id}}
}

// codexSession is found by its id, whatever day its folder says: the same one each time.
func codexSession(m agents.Machine, t Target) Session {
	id := string(t.Conversation)
	in := m.Join(m.Folder(agents.Codex), "sessions")
	s := Session{Format: agents.Codex, ID: id, Command: []string{"codex", "resume", id}}
	there, err := filepath.Glob(filepath.Join(in, "*", "*", "*", "rollout-*-"+id+".jsonl"))
	if err == nil && len(there) > 0 {
		s.File = there[0]
		return s
	}
	s.File = m.Join(in, t.At.Format("2006"), t.At.Format("01"), t.At.Format("02"),
		"rollout-"+t.At.Format("2006-01-02T15-04-05")+"-"+id+".jsonl")
	return s
}

// geminiSession is one of the project's, if Gemini CLI knows the folder; else a file that it is named.
func geminiSession(m agents.Machine, t Target) Session {
	id := string(t.Conversation)
	s := Session{Format: agents.GeminiCLI, ID: id}
	in := m.Folder(agents.GeminiCLI)
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	if text, err := os.ReadFile(m.Join(in, "projects.json")); err == nil {
		_ = json.Unmarshal(text, &known) // what cannot be read knows nothing
	}
	if name := known.Projects[t.Folder]; name != "" && filepath.Base(name) == name {
		s.File = m.Join(in, "tmp", name, "chats", "session-"+id+".jsonl")
		s.Command = []string{"gemini", "--resume", id}
		s.List = []string{"gemini", "--list-sessions"}
		return s
	}
	s.File = m.Join(t.Data, "handoff", "gemini-"+id+".jsonl")
	s.Command = []string{"gemini", "--session-file", s.File}
	return s
}

// notInPiName are the characters that pi writes as a dash in the name of a project's folder.
var notInPiName = strings.NewReplacer("/", "-", `\`, "-", ":", "-")

// piSession is one of the project's. Pi lists sessions on its screen alone, but refuses to make one that it has: here
// as a fork of one that nobody has, so that nothing is made.
func piSession(m agents.Machine, t Target) Session {
	id := string(t.Conversation)
	folder := t.Folder
	if folder != "" && strings.Contains(`/\`, folder[:1]) {
		folder = folder[1:]
	}
	in := m.Join(m.Folder(agents.Pi), "sessions", "--"+notInPiName.Replace(folder)+"--")
	if dir := m.Getenv("PI_CODING_AGENT_SESSION_DIR"); filepath.IsAbs(dir) {
		in = dir
	}
	return Session{Format: agents.Pi, ID: id,
		File:    m.Join(in, "scrollback_"+id+".jsonl"),
		Command: []string{"pi", "--session", id},
		List:    []string{"pi", "--offline", "--fork", "no-such-session", "--session-id", id},
		Missing: "No session found"}
}

// qwenSession is one of the project's.
func qwenSession(m agents.Machine, t Target) Session {
	id := string(t.Conversation)
	if !qwencode.IsSessionID(id) {
		return Session{}
	}
	in := m.Folder(agents.QwenCode)
	if dir := m.Getenv("QWEN_RUNTIME_DIR"); filepath.IsAbs(dir) {
		in = dir
	}
	folder := t.Folder
	if m.System == "windows" {
		folder = strings.ToLower(folder)
	}
	return Session{Format: agents.QwenCode, ID: id,
		File:    m.Join(in, "projects", notInName().ReplaceAllString(folder, "-"), "chats", id+".jsonl"),
		Command: []string{"qwen", "--resume", id},
		List:    []string{"qwen", "sessions", "list", "--json"}}
}

// importedSession is one that a program takes over from a file.
func importedSession(program string, t Target) Session {
	s := Session{Format: opencode.Name, ID: opencode.SessionID(t.Conversation),
		File: filepath.Join(t.Data, "handoff", program+"-"+string(t.Conversation)+".json")}
	s.Before = []string{program, "import", s.File}
	s.Command = []string{program, "--session", s.ID}
	return s
}

// Resume returns how an agent goes on with a session that it has itself.
func Resume(agent, id string) []string {
	r, ok := resumes[agent]
	if !ok || id == "" || id[0] == '-' {
		return nil
	}
	return append(slices.Clone(r), id)
}

// resumes are the commands that go on with a session; its id is behind them.
var resumes = map[string][]string{
	agents.ClaudeCode: {"claude", "--resume"},
	agents.Codex:      {"codex", "resume"},
	agents.GeminiCLI:  {"gemini", "--resume"},
	agents.QwenCode:   {"qwen", "--resume"},
	agents.Opencode:   {"opencode", "--session"},
	agents.Kilo:       {"kilo", "--session"},
	agents.Pi:         {"pi", "--session"},
	agents.CopilotCLI: {"copilot", "--resume"},
}

// briefs are the commands that begin with a prompt, which is behind them.
var briefs = map[string][]string{
	agents.ClaudeCode: {"claude"},
	agents.Codex:      {"codex"},
	agents.GeminiCLI:  {"gemini", "-i"},
	agents.QwenCode:   {"qwen", "-i"},
	agents.CopilotCLI: {"copilot", "-i"},
	agents.Opencode:   {"opencode", "--prompt"},
	agents.Kilo:       {"kilo", "--prompt"},
	agents.Pi:         {"pi"},
	agents.Cline:      {"cline", "-i"},
	agents.Crush:      {"crush", "run"},
	agents.Cursor:     {"cursor-agent"},
}

// BriefCommand returns the command that begins an agent with a brief; nil where it has to be pasted.
func BriefCommand(agent, brief string) []string {
	b, ok := briefs[agent]
	if !ok {
		return nil
	}
	return append(slices.Clone(b), brief)
}

// WorkFolder returns where a conversation was held: as its tool said, or the client that brought it, or the first
// folder that it may read; empty if nothing is known.
func WorkFolder(c *scrollback.Conversation, from *scrollback.Origin) string {
	var meta struct {
		Client struct {
			Folder string `json:"cwd"`
		} `json:"client"`
	}
	_ = json.Unmarshal(c.Meta, &meta) // a meta of another shape says nothing
	folder := meta.Client.Folder
	if from != nil {
		folder = cmp.Or(from.Folder, folder)
	}
	if folder == "" && len(c.Roots) > 0 {
		folder = c.Roots[0]
	}
	if !filepath.IsAbs(folder) {
		return ""
	}
	return folder
}
