package codex

import (
	"cmp"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// conversation is what the thread's heads say about the whole.
func (t *teller) conversation() (*scrollback.Conversation, *scrollback.Origin) {
	h := t.head
	meta := map[string]any{}
	for key, value := range map[string]string{
		"cwd": cmp.Or(h.Cwd, t.folder), "version": h.Version, "originator": h.Originator, "provider": h.Provider,
		"forked_from": h.ForkedFrom, "parent": h.parent(), "agent_nickname": h.Nickname, "agent_role": h.Role,
		"missing_base": t.missing,
	} {
		if value != "" {
			meta[key] = value
		}
	}
	o := &scrollback.Origin{ID: t.thread, Folder: cmp.Or(h.Cwd, t.folder), Root: t.talk.root()}
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
	name, _ = requested(name) // one that was made of a prompt has what the editor put before it
	c := &scrollback.Conversation{Title: name, Model: t.model, CreatedAt: t.first.time()}
	c.UpdatedAt = max(c.CreatedAt, t.updated)
	if len(meta) > 0 {
		c.Meta = transcript.Object(map[string]any{Name: meta})
	}
	return c, o
}

// tell yields what a thread says.
func (r *reader) tell(t *teller) {
	source := t.thread
	c, o := t.conversation()
	first := transcript.Entry{Source: source, Conversation: c, Origin: o, Copy: t.copied != nil}
	if parent := t.head.parent(); parent != "" && r.near.above[t.thread] == parent {
		first.Agent = &transcript.AgentOf{Source: parent, CallID: r.started[t.thread]}
	}
	r.emit(first)
	if r.live && t.talk.copy() { // a fork that is being written, perhaps
		t.talk = branches{cur: -1}
		t.held = true
	}
	for e := range t.talk.entries(source) {
		if r.emit(e); r.gone {
			return
		}
	}
	left := t.left
	if len(left) == 0 {
		left = nil
	}
	r.emit(transcript.Entry{Source: source, End: &transcript.End{Held: t.held, Left: left}})
}
