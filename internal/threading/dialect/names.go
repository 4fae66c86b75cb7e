package dialect

import (
	"regexp"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// ConversationHeader names a conversation whatever the client calls it.
const ConversationHeader = "x-scrollback-conversation"

// sessionHeaders name a conversation, the surest first.
var sessionHeaders = []string{"x-session-id", "x-session-affinity", "x-opencode-session", "session-id", "session_id"}

var sessionInUser = lazyregexp.New(`session_([0-9a-f-]{36})`)

// readNames reads what the client calls the conversation, its parent, and what it says that the request is for. Our own
// header goes first, then Codex' thread, Claude Code's session and agent, the headers of others, and last what names a
// cache rather than a conversation.
func readNames(r *threading.Request, header Header, fields map[string]any) {
	codex := readCodex(header, fields)
	r.Declared = codex.declared
	session := header("x-claude-code-session-id")
	if session == "" {
		session = sessionOfUser(text(field(fields, "metadata", "user_id")))
	}
	if class := header("x-claude-code-request-class"); class != "" {
		r.Declared = "claude:" + class
	} else if compaction := header("x-claude-code-compaction"); compaction != "" && compaction != "false" {
		r.Declared = "claude:compaction"
	}
	r.Source = readSource(header, codex.thread, session)
	switch {
	case header(ConversationHeader) != "":
		r.Name = threading.ExplicitName(header(ConversationHeader))
		r.Explicit = true
	case codex.thread != "":
		r.Name = "codex:" + codex.thread
		if codex.parent != "" && codex.parent != codex.thread {
			r.Parent = "codex:" + codex.parent
		}
	case session != "":
		r.Name = "claude:" + session
		if agent := header("x-claude-code-agent-id"); agent != "" {
			r.Parent = r.Name
			r.Name += "/" + agent
			if above := header("x-claude-code-parent-agent-id"); above != "" {
				r.Parent += "/" + above
			}
		}
	default:
		readSession(r, header)
		if key := text(fields["prompt_cache_key"]); r.Name == "" && key != "" {
			r.Name = "cache:" + key
			r.Weak = true
		}
	}
}

// sessionTools are the tools that name their session in a header, by what they call themselves.
var sessionTools = map[string]string{"opencode": "opencode", "kilo": "kilo", "kilo-code": "kilo", "pi": "pi"}

// readSource returns what the client's file of the conversation is known by: Codex' thread, Claude Code's session, with
// the file of an agent below it, or the session of a tool that calls itself by its name.
func readSource(header Header, thread, session string) threading.Source {
	switch {
	case thread != "":
		return threading.Source{Tool: "codex", ID: thread}
	case session != "":
		if agent := header("x-claude-code-agent-id"); agent != "" {
			session += "/agent-" + agent
		}
		return threading.Source{Tool: "claude-code", ID: session}
	}
	name, _, _ := strings.Cut(header("user-agent"), "/")
	tool := sessionTools[strings.ToLower(name)]
	if tool == "" {
		return threading.Source{}
	}
	for _, name := range sessionHeaders {
		if id := header(name); id != "" {
			return threading.Source{Tool: tool, ID: id}
		}
	}
	return threading.Source{}
}

func readSession(r *threading.Request, header Header) {
	for _, name := range sessionHeaders {
		if id := header(name); id != "" {
			r.Name = "session:" + id
			if parent := header("x-parent-session-id"); parent != "" && parent != id {
				r.Parent = "session:" + parent
			}
			return
		}
	}
}

// codexNames are what Codex says of a request.
type codexNames struct {
	thread   string
	parent   string
	declared string
}

// readCodex reads Codex' names. Those in the body go first, for the headers of a WebSocket are those of its beginning.
func readCodex(header Header, fields map[string]any) codexNames {
	own := object(fields["client_metadata"])
	turn, err := readObject([]byte(text(own["x-codex-turn-metadata"])))
	if err != nil && own["thread_id"] == nil {
		if turn, err = readObject([]byte(header("x-codex-turn-metadata"))); err != nil {
			turn = nil
		}
	}
	out := codexNames{thread: text(turn["thread_id"]), parent: text(turn["parent_thread_id"])}
	if kind := text(turn["request_kind"]); kind != "" {
		out.declared = "codex:" + kind
	}
	if out.thread == "" {
		out.thread = text(firstOf(own["thread_id"], header("thread-id")))
	}
	if out.parent == "" {
		out.parent = header("x-codex-parent-thread-id")
	}
	return out
}

// sessionOfUser returns the session in the user that Claude Code sends: JSON, or words with underscores.
func sessionOfUser(user string) string {
	if o, err := readObject([]byte(user)); err == nil {
		return text(o["session_id"])
	}
	return second(sessionInUser(), user)
}

// second returns what the first group of a pattern matches, or "".
func second(pattern *regexp.Regexp, s string) string {
	if m := pattern.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}
