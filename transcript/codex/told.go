package codex

import (
	"cmp"
	"encoding/json"
	"iter"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/tree"
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
	o := &scrollback.Origin{ID: t.thread, Folder: cmp.Or(h.Cwd, t.folder), Root: t.root()}
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
	c := &scrollback.Conversation{Title: t.title, Model: t.model, CreatedAt: t.first.time()}
	c.UpdatedAt = max(c.CreatedAt, t.updated)
	if len(meta) > 0 {
		c.Meta = object(map[string]any{Name: meta})
	}
	return c, o
}

// root is the first message on the first path.
func (t *teller) root() string {
	for _, n := range t.nodes {
		if !n.dropped && n.parent < 0 {
			return string(n.entry.Message.ID)
		}
	}
	return ""
}

// entries are the messages in the order of a file: what was taken back first, the current
// path last. Branches that only another thread has are told there.
func (t *teller) entries(source string) iter.Seq[transcript.Entry] {
	keep := make([]bool, len(t.nodes))
	mark := func(i int) {
		for ; i >= 0 && !keep[i]; i = t.nodes[i].parent {
			keep[i] = true
		}
	}
	for i, n := range t.nodes {
		if !n.shared {
			mark(i)
		}
	}
	for _, end := range t.ends {
		mark(end)
	}
	var nodes []tree.Node
	for i, n := range t.nodes {
		if !keep[i] || n.dropped {
			continue
		}
		e := n.entry
		if n.meta != nil {
			e.Message.Meta = object(map[string]any{Name: n.meta})
		}
		out := tree.Node{ID: strconv.Itoa(i), Entries: []transcript.Entry{e}}
		if n.parent >= 0 {
			out.Parent = strconv.Itoa(n.parent)
		}
		nodes = append(nodes, out)
	}
	end := t.cur
	return func(yield func(transcript.Entry) bool) {
		for e := range tree.Entries(source, nodes, strconv.Itoa(end)) {
			if !yield(e) {
				return
			}
		}
		if none := 0; end < 0 && len(nodes) > 0 { // all was taken back
			yield(transcript.Entry{Source: source, Rewind: &none})
		}
	}
}
