package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Conversations writes a list, with the numbers by which a person may name them, and below
// each the sub-agents that work for it.
func Conversations(w io.Writer, items, agents []scrollback.Conversation) error {
	rows := [][]string{{"N", "ID", "CHANGED", "MESSAGES", "PROJECT", "TITLE"}}
	row := func(n, indent string, it scrollback.Conversation) {
		rows = append(rows, []string{n, string(it.ID), When(it.UpdatedAt), Thousands(it.Messages), Clip(it.Project, 20), indent + Clip(it.Title, 60)})
	}
	shown := map[scrollback.ConversationID]bool{} // a circle would never end
	var below func(id scrollback.ConversationID, indent string)
	below = func(id scrollback.ConversationID, indent string) {
		for _, it := range agents {
			if it.AgentOf != nil && it.AgentOf.ID == id && !shown[it.ID] {
				shown[it.ID] = true
				row("", indent+"└ ", it)
				below(it.ID, indent+"  ")
			}
		}
	}
	for i, it := range items {
		row(fmt.Sprint(i+1), "", it)
		below(it.ID, "")
	}
	return Table(w, rows, 0, 3)
}

// Branches lists branches; the current one has a mark.
func Branches(w io.Writer, items []scrollback.BranchEntry) error {
	rows := [][]string{{"", "N", "BRANCH", "FROM", "TO", "MESSAGES", "CHANGED"}}
	for i, b := range items {
		mark := ""
		if b.Current {
			mark = "*"
		}
		rows = append(rows, []string{mark, fmt.Sprint(i + 1), string(b.ID), fmt.Sprintf("#%d", b.AtSeq), fmt.Sprintf("#%d", b.HeadSeq), Thousands(b.Messages), When(b.UpdatedAt)})
	}
	return Table(w, rows, 1, 3, 4, 5)
}

// Message writes a stored message with all its parts.
func Message(w io.Writer, m scrollback.Message) error {
	status := ""
	if m.Status != scrollback.StatusComplete {
		status = " · " + string(m.Status)
	}
	fmt.Fprintf(w, "#%d %s · %s%s\n", m.Seq, m.Role, When(m.CreatedAt), status)
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			fmt.Fprintln(w, Plain(p.Text))
		case scrollback.Reasoning:
			fmt.Fprintf(w, "(reasoning) %s\n", Clip(p.Text, 200))
		case scrollback.ToolCall:
			fmt.Fprintf(w, "→ %s %s\n", Plain(p.Name), Plain(string(p.Arguments)))
		case scrollback.ToolResult:
			fmt.Fprintf(w, "← %s %s\n", Plain(p.Name), Clip(p.Text, 200))
			if p.Artifact != "" {
				fmt.Fprintf(w, "  whole: %s\n", scrollback.ArtifactRef(p.Artifact))
			}
		case scrollback.Image:
			fmt.Fprintf(w, "[image %s %s]\n", Plain(p.Name), scrollback.ArtifactRef(p.Artifact))
		case scrollback.File:
			fmt.Fprintf(w, "[file %s %s]\n", Plain(p.Name), scrollback.ArtifactRef(p.Artifact))
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// Refs lists what a conversation mentions.
func Refs(w io.Writer, refs []scrollback.RefEntry) error {
	if len(refs) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is compacted or attached.")
		return err
	}
	var rows [][]string
	for _, r := range refs {
		span := ""
		if r.LastSeq > 0 {
			span = fmt.Sprintf("#%d–#%d", r.FirstSeq, r.LastSeq)
		}
		rows = append(rows, []string{string(r.Ref), span, Thousands(r.Bytes), When(r.CreatedAt), Clip(r.Hint, 60)})
	}
	return Table(w, rows, 2)
}

// Grep writes matching lines and how many there are.
func Grep(w io.Writer, found scrollback.GrepResult) error {
	for _, m := range found.Matches {
		where := fmt.Sprintf("#%d", m.Seq)
		if m.Ref != nil {
			where = fmt.Sprintf("#%d %s:%d", m.Seq, *m.Ref, m.Line)
		}
		for _, l := range m.Before {
			fmt.Fprintf(w, "    %s\n", Plain(l))
		}
		fmt.Fprintf(w, "%s  %s\n", where, Plain(strings.TrimSpace(m.Content)))
		for _, l := range m.After {
			fmt.Fprintf(w, "    %s\n", Plain(l))
		}
	}
	partial := ""
	switch {
	case len(found.Unread) > 0:
		partial = "; could not be read: " + string(found.Unread[0])
		if len(found.Unread) > 1 {
			partial += " and others"
		}
	case found.Partial:
		partial = "; the search ran out of time, so there may be more"
	}
	matches := "matches"
	if found.Total == 1 {
		matches = "match"
	}
	_, err := fmt.Fprintf(w, "%s %s%s\n", Thousands(found.Total), matches, partial)
	return err
}

// Hits writes what a search found, best first.
func Hits(w io.Writer, found scrollback.SearchResult) error {
	if len(found.Hits) == 0 {
		_, err := fmt.Fprintln(w, "Nothing found.")
		return err
	}
	for _, h := range found.Hits {
		where := ""
		if h.Ref != nil {
			where = "  " + string(*h.Ref)
		}
		fmt.Fprintf(w, "%s #%d %s · %s%s\n", h.ConversationID, h.Seq, h.Role, When(h.CreatedAt), where)
		for _, m := range h.Before {
			fmt.Fprintf(w, "    #%d %s\n", m.Seq, Clip(m.Parts.Text(), 100))
		}
		fmt.Fprintf(w, "  %s\n", Clip(h.Snippet, 240))
		for _, m := range h.After {
			fmt.Fprintf(w, "    #%d %s\n", m.Seq, Clip(m.Parts.Text(), 100))
		}
	}
	return nil
}
