package opencode

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
)

// entryWriter makes entries of stored sessions.
type entryWriter struct {
	yield func(transcript.Entry, error) bool
	gone  bool
	live  bool
	key   string                            // of the tool's fields in meta
	side  func(noted string) (string, bool) // the whole of an output
}

func (w *entryWriter) emitEntry(e transcript.Entry) {
	if !w.gone && !w.yield(e, nil) {
		w.gone = true
	}
}

// agentCalls are the calls that started sub-agents, by what they are.
type agentCalls map[string]string

// writeAll tells a conversation and then its sub-agents. Those whose call is held back wait.
func (w *entryWriter) writeAll(all []*storedSession) {
	started := agentCalls{}
	waits := false
	told := map[string]bool{}
	for i, s := range all {
		if w.gone {
			return
		}
		kept, held := s.completeMessages(w.live)
		waits = waits || held
		_, known := started[s.ID]
		if i > 0 && (!told[s.ParentID] || waits && !known) {
			continue
		}
		told[s.ID] = true
		for _, m := range kept {
			for _, p := range m.parts {
				if id := p.State.Metadata.SessionID; p.Type == "tool" && id != "" {
					started[id] = p.callKey()
				}
			}
		}
		var of *transcript.AgentOf
		if i > 0 {
			of = &transcript.AgentOf{Source: sourceOf(s.ParentID), CallID: started[s.ID]}
		}
		w.writeSession(s, kept, held, of)
	}
}

// completeMessages returns the messages that are complete, as far as the session's end can tell: while it is
// live, an answer that is not finished waits, and so does a question that nothing follows.
func (s *storedSession) completeMessages(live bool) (kept []*message, held bool) {
	kept = s.messages
	if !live {
		return kept, false
	}
	answered := false
	for i, m := range slices.Backward(s.messages) {
		switch {
		case m.removed > 0, m.Role == "user" && answered, m.isFinished() && m.Role != "user":
			return kept, held
		}
		answered = answered || m.Role != "user"
		kept = s.messages[:i]
		held = true
	}
	return kept, held
}

// writeSession tells one conversation.
func (w *entryWriter) writeSession(s *storedSession, kept []*message, held bool, of *transcript.AgentOf) {
	c := &scrollback.Conversation{Title: s.Title, Model: s.Model.ID, CreatedAt: int64(s.Time.Created),
		UpdatedAt: int64(s.Time.Updated)}
	c.Meta = transcript.MarshalObject(map[string]any{w.key: struct {
		Folder   string `json:"directory,omitempty"`
		Version  string `json:"version,omitempty"`
		Slug     string `json:"slug,omitempty"`
		Project  string `json:"project_id,omitempty"`
		Agent    string `json:"agent,omitempty"`
		Provider string `json:"provider,omitempty"`
		Archived millis `json:"archived,omitempty"`
		ForkOf   string `json:"fork_of,omitempty"`
	}{s.Directory, s.Version, s.Slug, s.ProjectID, s.Agent, s.Model.Provider, s.Time.Archived, s.forkOf}})
	for _, m := range kept {
		if m.ModelID != "" && s.Model.ID == "" {
			c.Model = m.ModelID
		}
	}
	w.emitEntry(transcript.Entry{Source: sourceOf(s.ID), Conversation: c, Agent: of,
		Origin: &scrollback.Origin{ID: s.ID, Folder: s.Directory}})
	for _, reason := range s.bad {
		w.emitEntry(transcript.Entry{Source: sourceOf(s.ID), Bad: &transcript.Bad{Reason: reason}})
	}
	left := map[string]int{}
	nodes := make([]tree.Node, 0, len(kept))
	for _, m := range kept {
		t := &messageBuilder{m: m, key: w.key, side: w.side, left: left, folder: s.Directory}
		nodes = append(nodes, tree.Node{ID: m.ID, Parent: findParent(m, nodes, kept), Entries: t.makeEntries()})
	}
	for e := range tree.WalkEntries(sourceOf(s.ID), nodes, s.findLeaf(kept)) {
		if w.emitEntry(e); w.gone {
			return
		}
	}
	w.emitEntry(transcript.Entry{Source: sourceOf(s.ID), End: &transcript.End{Held: held, Left: left}})
}

// findParent returns the message that came before m when it was said: the nearest earlier one
// that was not removed by then. Nodes are those before it.
func findParent(m *message, nodes []tree.Node, kept []*message) string {
	for i := range slices.Backward(nodes) {
		if before := kept[i]; before.removed == 0 || m.begun > 0 && m.begun < before.removed {
			return before.ID
		}
	}
	return ""
}

// findLeaf returns where the current path ends: before the message that the session went back to, or
// at the last one that is there. Empty is the last of all.
func (s *storedSession) findLeaf(kept []*message) string {
	end := ""
	for _, m := range kept {
		if s.Revert != nil && s.Revert.MessageID == m.ID {
			if s.Revert.PartID != "" {
				return m.ID // only its later parts were taken back
			}
			return end
		}
		if m.removed == 0 {
			end = m.ID
		}
	}
	return end
}

// callKey returns how a tool part's call is known.
func (p *part) callKey() string { return cmp.Or(p.CallID, p.ID, "call") }
