package claudecode

import (
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// subagent is a sub-agent.
type subagent struct {
	name        string // of its file, or empty
	kind        string
	description string
	call        string // that started it
	depth       int
	of          *transcript.AgentOf
}

// maxMeta bounds what is said about a sub-agent beside its file.
const maxMeta = 64 << 10

// listAgents returns the sub-agents of the session that have files of their own, those that
// were started by others behind them.
func (r *sessionReading) listAgents(beside string) (out []*subagent) {
	for _, name := range agentsBelow(r.files, path.Join(beside, "subagents")) {
		if path.Ext(name) == ".jsonl" {
			out = append(out, r.describeAgent(name))
		}
	}
	folder := path.Dir(r.file)
	list, err := fs.ReadDir(r.files, folder)
	if err != nil {
		return out
	}
	for _, d := range list { // where earlier versions put them
		if !agentFile(d.Name()) || !d.Type().IsRegular() {
			continue
		}
		name := path.Join(folder, d.Name())
		if first, ok := probeFile(r.files, name); ok && first.SessionID == r.session {
			out = append(out, r.describeAgent(name))
		}
	}
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(a *subagent) bool {
		again := seen[path.Base(a.name)]
		seen[path.Base(a.name)] = true
		return again
	})
	slices.SortStableFunc(out, func(a, b *subagent) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.name, b.name))
	})
	return out
}

// describeAgent returns what is known of the sub-agent of a file.
func (r *sessionReading) describeAgent(name string) *subagent {
	a := &subagent{name: name, depth: 1}
	var meta struct {
		AgentType, Description, ToolUseID string
		SpawnDepth                        int
	}
	if f, err := r.files.Open(strings.TrimSuffix(name, ".jsonl") + ".meta.json"); err == nil {
		defer func() { _ = f.Close() }() // it was only read
		// One that cannot be read says nothing.
		raw, _ := io.ReadAll(io.LimitReader(f, maxMeta))
		_ = json.Unmarshal([]byte(strings.ToValidUTF8(string(raw), "\uFFFD")), &meta)
	}
	a.kind = meta.AgentType
	a.description = meta.Description
	a.call = meta.ToolUseID
	a.depth = max(meta.SpawnDepth, 1)
	if a.call == "" {
		a.call = r.agents[strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "agent-"), ".jsonl")]
	}
	return a
}

// linkParent says where a sub-agent was started: where its call was made, if that is known.
func (t *conversationReading) linkParent(session string) {
	source := t.calls[t.agent.call]
	if source == t.source || !t.told[source] {
		source = session
	}
	t.agent.of = &transcript.AgentOf{Source: source, CallID: t.agent.call}
}

// splitAgents takes the conversations of sub-agents out of a session that has them in its own
// file: each a chain that hangs on nothing. A file with nothing else is a sub-agent's.
func (t *conversationReading) splitAgents() (out []*conversationReading) {
	main := slices.ContainsFunc(t.lines, func(l *line) bool { return !l.IsSidechain })
	if !main {
		return nil
	}
	by := make(map[string]*line, len(t.lines))
	for _, l := range t.lines {
		by[l.UUID] = l
	}
	at := map[string]*conversationReading{} // by any node
	var own []*line
	asked := t.agentRequests()
	before := 0 // how many nodes of the session's own stand before the one that the file names
	for i, l := range t.lines {
		if !l.IsSidechain {
			if own = append(own, l); i < t.lastAt {
				before++
			}
			continue
		}
		var way []string
		top := l
		for at[top.UUID] == nil && len(way) < len(t.lines) {
			up := by[top.ParentUUID]
			if up == nil || !up.IsSidechain || up == top {
				break
			}
			way = append(way, top.UUID)
			top = up
		}
		sub := at[top.UUID]
		if sub == nil {
			sub = t.inlineAgent(top, asked)
			out = append(out, sub)
			at[top.UUID] = sub
		}
		for _, id := range way {
			at[id] = sub
		}
		sub.lines = append(sub.lines, l)
	}
	t.lines = own
	t.lastAt = before
	return out
}

// agentRequest is a call that may have started a sub-agent.
type agentRequest struct {
	id, prompt, kind, description string
	line                          int
	taken                         bool
}

// agentRequests returns the calls in a session that may have started sub-agents.
func (t *conversationReading) agentRequests() (out []*agentRequest) {
	for _, l := range t.lines {
		for _, p := range l.pieces {
			c, ok := p.part.(scrollback.ToolCall)
			if !ok || c.Name != "Task" && c.Name != "Agent" {
				continue
			}
			var input struct {
				Prompt      string
				Description string
				Kind        string `json:"subagent_type"`
			}
			// Input of another shape says nothing.
			_ = json.Unmarshal(c.Arguments, &input)
			out = append(out, &agentRequest{id: c.ID, prompt: input.Prompt, kind: input.Kind, description: input.Description,
				line: l.n})
		}
	}
	return out
}

// inlineAgent returns the conversation of a sub-agent that begins with a node of the session's file.
func (t *conversationReading) inlineAgent(first *line, asked []*agentRequest) *conversationReading {
	a := &subagent{}
	said := ""
	for _, p := range first.pieces {
		if text, ok := p.part.(scrollback.Text); ok {
			said += text.Text
		}
	}
	var from *agentRequest
	for _, r := range asked {
		if !r.taken && r.line < first.n && (from == nil || from.prompt != said || r.prompt == said) {
			if from == nil || r.prompt == said && from.prompt != said {
				from = r
			}
		}
	}
	a.of = &transcript.AgentOf{Source: t.source}
	if from != nil {
		from.taken = true
		a.kind = from.kind
		a.description = from.description
		a.call = from.id
		a.of.CallID = from.id
	}
	sub := &conversationReading{sessionReading: t.sessionReading, source: t.source + "/" + first.UUID, name: t.name,
		beside: t.beside, agent: a,
		left: map[string]int{}, ids: t.ids}
	return sub
}
