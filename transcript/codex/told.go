package codex

import (
	"cmp"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// describeConversation returns what the thread's heads say about the whole.
func (t *threadBuilder) describeConversation() (*scrollback.Conversation, *scrollback.Origin) {
	h := t.head
	meta := map[string]any{}
	for key, value := range map[string]string{
		"cwd": cmp.Or(h.Cwd, t.folder), "version": h.Version, "originator": h.Originator, "provider": h.Provider,
		"forked_from": h.ForkedFrom, "parent": h.parentThread(), "agent_nickname": h.Nickname, "agent_role": h.Role,
		"missing_base": t.missing,
	} {
		if value != "" {
			meta[key] = value
		}
	}
	o := &scrollback.Origin{ID: t.thread, Folder: cmp.Or(h.Cwd, t.folder), Root: t.talk.rootOf()}
	if h.Git != nil {
		o.GitBranch = h.Git.Branch
		if h.Git.Branch != "" {
			meta["git_branch"] = h.Git.Branch
		}
		if h.Git.Commit != "" {
			meta["git_commit"] = h.Git.Commit
		}
	}
	if len(h.Source) > 0 && json.Valid(h.Source) {
		meta["source"] = h.Source
	}
	name := t.title
	if t.copied != nil {
		meta["copy_of"] = t.copied
		name = cmp.Or(name, t.copied.title)
	}
	name, _ = userRequest(name) // one that was made of a prompt has what the editor put before it
	c := &scrollback.Conversation{Title: name, Model: t.model, CreatedAt: t.first.startTime()}
	c.UpdatedAt = max(c.CreatedAt, t.updated)
	if len(meta) > 0 {
		c.Meta = transcript.MarshalObject(map[string]any{Name: meta})
	}
	return c, o
}

// yieldThread yields what a thread says.
func (r *sessionReader) yieldThread(t *threadBuilder) {
	source := t.thread
	c, o := t.describeConversation()
	first := transcript.Entry{Source: source, Conversation: c, Origin: o, Copy: t.copied != nil}
	if parent := t.head.parentThread(); parent != "" && r.near.above[t.thread] == parent {
		first.Agent = &transcript.AgentOf{Source: parent, CallID: r.started[t.thread]}
	}
	r.emitEntry(first)
	if r.live && t.talk.isCopy() { // a fork that is being written, perhaps
		t.talk = branchTree{cur: -1}
		t.held = true
	}
	for e := range t.talk.listEntries(source) {
		if r.emitEntry(e); r.gone {
			return
		}
	}
	left := t.left
	if len(left) == 0 {
		left = nil
	}
	r.emitEntry(transcript.Entry{Source: source, End: &transcript.End{Held: t.held, Left: left}})
}
