package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/terminal/columns"
	"github.com/scrollback-ai/scrollback/terminal/words"
)

// Conversations writes a list, with the numbers by which a person may name them, and below
// each the sub-agents that work for it.
func Conversations(w io.Writer, items, agents []scrollback.Conversation) error {
	rows := [][]string{{"N", "ID", "CHANGED", "MESSAGES", "PROJECT", "TITLE"}}
	row := func(n, indent string, it scrollback.Conversation) {
		rows = append(rows, []string{n, string(it.ID), columns.When(it.UpdatedAt), columns.Thousands(it.Messages), columns.Clip(it.Project, 20), indent + columns.Clip(it.Title, 60)})
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
	return columns.Table(w, rows, 0, 3)
}

// Branches lists branches; the current one has a mark.
func Branches(w io.Writer, items []scrollback.BranchEntry) error {
	rows := [][]string{{"", "N", "BRANCH", "FROM", "TO", "MESSAGES", "CHANGED"}}
	for i, b := range items {
		mark := ""
		if b.Current {
			mark = "*"
		}
		rows = append(rows, []string{mark, fmt.Sprint(i + 1), string(b.ID), fmt.Sprintf("#%d", b.AtSeq), fmt.Sprintf("#%d", b.HeadSeq), columns.Thousands(b.Messages), columns.When(b.UpdatedAt)})
	}
	return columns.Table(w, rows, 1, 3, 4, 5)
}

// Message writes a stored message with all its parts.
func Message(w io.Writer, m scrollback.Message) error {
	status := ""
	if m.Status != scrollback.StatusComplete {
		status = " · " + string(m.Status)
	}
	fmt.Fprintf(w, "#%d %s · %s%s\n", m.Seq, m.Role, columns.When(m.CreatedAt), status)
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			fmt.Fprintln(w, columns.Plain(p.Text))
		case scrollback.Reasoning:
			fmt.Fprintf(w, "(reasoning) %s\n", columns.Clip(p.Text, 200))
		case scrollback.ToolCall:
			fmt.Fprintf(w, "→ %s %s\n", columns.Plain(p.Name), columns.Plain(string(p.Arguments)))
		case scrollback.ToolResult:
			fmt.Fprintf(w, "← %s %s\n", columns.Plain(p.Name), columns.Clip(p.Text, 200))
			if p.Artifact != "" {
				fmt.Fprintf(w, "  whole: %s\n", scrollback.ArtifactRef(p.Artifact))
			}
		case scrollback.Image:
			fmt.Fprintf(w, "[image %s %s]\n", columns.Plain(p.Name), columns.Plain(p.Where()))
		case scrollback.File:
			fmt.Fprintf(w, "[file %s %s]\n", columns.Plain(p.Name), scrollback.ArtifactRef(p.Artifact))
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
		rows = append(rows, []string{string(r.Ref), span, columns.Thousands(r.Bytes), columns.When(r.CreatedAt), columns.Clip(r.Hint, 60)})
	}
	return columns.Table(w, rows, 2)
}

// Grep writes matching lines and how many there are.
func Grep(w io.Writer, found scrollback.GrepResult) error {
	for _, m := range found.Matches {
		where := fmt.Sprintf("#%d", m.Seq)
		if m.Ref != nil {
			where = fmt.Sprintf("#%d %s:%d", m.Seq, *m.Ref, m.Line)
		}
		for _, l := range m.Before {
			fmt.Fprintf(w, "    %s\n", columns.Plain(l))
		}
		fmt.Fprintf(w, "%s  %s\n", where, columns.Plain(strings.TrimSpace(m.Content)))
		for _, l := range m.After {
			fmt.Fprintf(w, "    %s\n", columns.Plain(l))
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
	_, err := fmt.Fprintf(w, "%s %s%s\n", columns.Thousands(found.Total), matches, partial)
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
		fmt.Fprintf(w, "%s #%d %s · %s%s\n", h.ConversationID, h.Seq, h.Role, columns.When(h.CreatedAt), where)
		for _, m := range h.Before {
			fmt.Fprintf(w, "    #%d %s\n", m.Seq, columns.Clip(m.Parts.Text(), 100))
		}
		fmt.Fprintf(w, "  %s\n", columns.Clip(h.Snippet, 240))
		for _, m := range h.After {
			fmt.Fprintf(w, "    #%d %s\n", m.Seq, columns.Clip(m.Parts.Text(), 100))
		}
	}
	return nil
}

// Unanswered writes a turn without a stored answer, as [Message] writes messages.
// again is what to type to have it answered again.
func Unanswered(w io.Writer, t words.Texts, e scrollback.TurnEntry, again string) error {
	state := cmp.Or(t.Trouble.States[e.State], string(e.State))
	fmt.Fprintf(w, "– %s · %s · %s\n", scrollback.RoleAssistant, columns.When(cmp.Or(e.EndedAt, e.StartedAt)), state)
	if e.Reasoning != "" {
		fmt.Fprintf(w, "(reasoning) %s\n", columns.Clip(e.Reasoning, 200))
	}
	if e.Content != "" {
		fmt.Fprintln(w, columns.Plain(e.Content))
	}
	for _, c := range e.ToolCalls {
		fmt.Fprintf(w, "→ %s %s\n", columns.Plain(c.Name), columns.Plain(string(c.Arguments)))
	}
	for _, line := range t.TroubleOf(e, again) {
		fmt.Fprintf(w, "! %s\n", line)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// Page writes a page of messages with the turns between them.
func Page(w io.Writer, t words.Texts, p scrollback.MessagePage, again string) error {
	for _, m := range p.Messages {
		if err := Message(w, m); err != nil {
			return err
		}
		for _, e := range p.After(m.Seq) {
			if err := Unanswered(w, t, e, again); err != nil {
				return err
			}
		}
	}
	return nil
}
