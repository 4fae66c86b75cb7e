package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// Listing is how a list of conversations is written.
type Listing struct {
	Short map[scrollback.ConversationID]string // their ids, where short ones are shown; nil for whole ones
	Width int                                  // of a row, in columns; 0: titles are cut as they always are
	Zone  *time.Location                       // of the times; nil for that of the machine
	Texts words.Texts
}

// WriteConversations writes a list, with the numbers by which a person may name them, and below
// each the sub-agents that work for it.
func (l Listing) WriteConversations(w io.Writer, items, agents []scrollback.Conversation) error {
	rows := [][]string{l.Texts.Head(i18n.ColumnN, i18n.ColumnID, i18n.ColumnChanged, i18n.ColumnMessages,
		i18n.ColumnProject, i18n.ColumnTitle)}
	row := func(n, indent string, it scrollback.Conversation) {
		id := string(it.ID)
		project := 20
		if short, ok := l.Short[it.ID]; ok {
			id = short
			project = 12
		}
		rows = append(rows, []string{n, id, columns.FormatTime(it.UpdatedAt, l.Zone), columns.FormatThousands(it.Messages),
			columns.ClipText(it.Project, project), indent + columns.ClipText(it.Title, 60)})
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
	l.fitTitles(rows)
	return columns.WriteTable(w, rows, 0, 3)
}

// leastTitle is the least of a title that is shown, in columns.
const leastTitle = 10

// fitTitles gives the titles the room that the other columns leave.
func (l Listing) fitTitles(rows [][]string) {
	if l.Width == 0 {
		return
	}
	last := len(rows[0]) - 1
	room := l.Width
	for i := range last {
		widest := 0
		for _, row := range rows {
			widest = max(widest, columns.TextWidth(row[i]))
		}
		room -= widest + 2
	}
	for _, row := range rows[1:] {
		row[last] = columns.CutRow(row[last], max(room, leastTitle))
	}
}

// WriteBranches lists branches, with times in a zone; the current one has a mark.
func WriteBranches(w io.Writer, t words.Texts, items []scrollback.BranchEntry, zone *time.Location) error {
	return columns.WriteTable(w, branchRows(t, items, zone), 1, 3, 4, 5)
}

// numberedBranches lists branches where their numbers are enough to name them, and their ids would
// not fit beside the rest.
func numberedBranches(w io.Writer, t words.Texts, items []scrollback.BranchEntry, zone *time.Location) error {
	rows := branchRows(t, items, zone)
	for i, row := range rows {
		rows[i] = append(row[:2:2], row[3:]...)
	}
	return columns.WriteTable(w, rows, 1, 2, 3, 4)
}

func branchRows(t words.Texts, items []scrollback.BranchEntry, zone *time.Location) [][]string {
	rows := [][]string{t.Head("", i18n.ColumnN, i18n.ColumnBranch, i18n.ColumnFrom, i18n.ColumnTo, i18n.ColumnMessages,
		i18n.ColumnChanged)}
	for i, b := range items {
		mark := ""
		if b.Current {
			mark = "*"
		}
		rows = append(rows, []string{mark, fmt.Sprint(i + 1), string(b.ID), fmt.Sprintf("#%d", b.AtSeq),
			fmt.Sprintf("#%d", b.HeadSeq), columns.FormatThousands(b.Messages), columns.FormatTime(b.UpdatedAt, zone)})
	}
	return rows
}

// WriteRefs lists what a conversation mentions, with times in a zone.
func WriteRefs(w io.Writer, t words.Texts, refs []scrollback.RefEntry, zone *time.Location) error {
	if len(refs) == 0 {
		_, err := fmt.Fprintln(w, t.Say(i18n.ChatNoRefs))
		return err
	}
	var rows [][]string
	for _, r := range refs {
		span := ""
		if r.LastSeq > 0 {
			span = fmt.Sprintf("#%d–#%d", r.FirstSeq, r.LastSeq)
		}
		said := columns.FormatTime(cmp.Or(r.From, r.CreatedAt), zone)
		rows = append(rows, []string{string(r.Ref), span, columns.FormatThousands(r.Bytes), said,
			columns.ClipText(r.Hint, 60)})
	}
	return columns.WriteTable(w, rows, 2)
}

// WriteMatches writes matching lines and how many there are.
func WriteMatches(w io.Writer, t words.Texts, found scrollback.GrepResult) error {
	for _, m := range found.Matches {
		where := fmt.Sprintf("#%d", m.Seq)
		if m.Ref != nil {
			where = fmt.Sprintf("#%d %s:%d", m.Seq, *m.Ref, m.Line)
		}
		for _, l := range m.Before {
			fmt.Fprintf(w, "    %s\n", columns.StripControls(l))
		}
		fmt.Fprintf(w, "%s  %s\n", where, columns.StripControls(strings.TrimSpace(m.Content)))
		for _, l := range m.After {
			fmt.Fprintf(w, "    %s\n", columns.StripControls(l))
		}
	}
	partial := ""
	switch {
	case len(found.Unread) > 1:
		partial = t.Say(i18n.ChatMoreUnread, found.Unread[0])
	case len(found.Unread) > 0:
		partial = t.Say(i18n.ChatUnread, found.Unread[0])
	case found.Partial:
		partial = t.Say(i18n.ChatCutShort)
	}
	matches := i18n.ChatMatches
	if found.Total == 1 {
		matches = i18n.ChatMatch
	}
	_, err := fmt.Fprintln(w, t.Say(matches, columns.FormatThousands(found.Total))+partial)
	return err
}

// whereFrom says with which tool something was said, and on which git branch.
func whereFrom(o *scrollback.Origin) string {
	switch {
	case o == nil:
		return ""
	case o.GitBranch == "":
		return " · " + columns.ClipText(o.Tool, 40)
	}
	return " · " + columns.ClipText(o.Tool, 40) + " (" + columns.ClipText(o.GitBranch, 60) + ")"
}

// WriteHits writes what a search found, best first, and behind it how much of the log is in the
// index of search, if that is not all. Times are in a zone.
func WriteHits(w io.Writer, t words.Texts, found scrollback.SearchResult, zone *time.Location) error {
	if found.Indexed != nil {
		defer fmt.Fprintln(w, t.Say(i18n.ChatBehind, 100**found.Indexed))
	}
	if len(found.Hits) == 0 {
		_, err := fmt.Fprintln(w, t.Say(i18n.ChatNoHits))
		return err
	}
	for _, h := range found.Hits {
		where := ""
		if h.Ref != nil {
			where = "  " + string(*h.Ref)
		}
		if !h.OnPath {
			where = t.Say(i18n.ChatAbandoned)
		}
		fmt.Fprintf(w, "%s #%d %s · %s%s%s\n", h.ConversationID, h.Seq, t.Named("role", string(h.Role)),
			columns.FormatTime(h.CreatedAt, zone), whereFrom(h.Origin), where)
		for _, m := range h.Before {
			fmt.Fprintf(w, "    #%d %s\n", m.Seq, columns.ClipText(m.Parts.Text(), 100))
		}
		fmt.Fprintf(w, "  %s\n", columns.ClipText(h.Snippet, 240))
		for _, m := range h.After {
			fmt.Fprintf(w, "    #%d %s\n", m.Seq, columns.ClipText(m.Parts.Text(), 100))
		}
	}
	return nil
}
