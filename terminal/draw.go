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
			fmt.Fprintf(w, "[image %s %s]\n", Plain(p.Name), Plain(p.Where()))
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

// NotebookTexts are about notebooks that are run. Those with verbs take the arguments that
// their comments name.
type NotebookTexts struct {
	Cell      string            // number, first line
	Elsewhere string            // messages, conversation
	Copy      string            // the notebook that it is a copy of
	Differs   string            // the conversation that the file names
	TakenBack string            // cell
	Lost      string            // conversation
	Beside    string            // file
	Stale     string            // cells
	Beyond    string            // folder, reason
	Reasons   map[string]string // in words of the language; others stay as they are
	NoModel   string            // model
	Running   string
	NotRun    string
	Behind    string // messages
	Away      string
	Made      string // file
}

var englishNotebook = NotebookTexts{
	Cell:      "cell %d · %s",
	Elsewhere: "%d messages that were added to the conversation elsewhere are not in the notebook; they stay on a branch: scrollback branches %s",
	Copy:      "this is a copy of %s: it gets a conversation of its own",
	Differs:   "conversation %s is not what the cells of this notebook say: it gets one of its own",
	TakenBack: "cell %d: what was said before the program ended is now in the file",
	Lost:      "a cell that was being run is no longer in the notebook; what was said to it is in the conversation: scrollback show %s",
	Beside:    "the notebook was changed while the cell ran, so this run is in %s",
	Stale:     "what stands below was run before this cell changed; newly marked stale: %d",
	Beyond:    "the notebook asks for %s: %s",
	NoModel:   "the notebook names the model %s, which is not set up here",
	Running:   "A cell is being run.",
	NotRun:    "Not run yet.",
	Behind:    "%d messages behind the last cell are in the conversation only.",
	Away:      "The conversation is on another branch than the notebook, or its cells have changed since they were run.",
	Made:      "wrote %s",
}

var chineseNotebook = NotebookTexts{
	Cell:      "单元格 %d · %s",
	Elsewhere: "有 %d 条消息是在别处加入对话的，不在笔记本中；它们留在一个分支上：scrollback branches %s",
	Copy:      "这是 %s 的副本，将使用自己的对话",
	Differs:   "对话 %s 与此笔记本的单元格不一致，笔记本将使用自己的对话",
	TakenBack: "单元格 %d：程序结束前说的内容已写入文件",
	Lost:      "正在运行的单元格已不在笔记本中；对它的回答在对话里：scrollback show %s",
	Beside:    "单元格运行时笔记本被修改，因此本次运行写入 %s",
	Stale:     "下面的单元格是在此单元格改变之前运行的；新标记为过期：%d",
	Beyond:    "笔记本要求使用 %s：%s",
	NoModel:   "笔记本指定的模型 %s 在此处未配置",
	Running:   "有单元格正在运行。",
	NotRun:    "尚未运行。",
	Behind:    "最后一个单元格之后有 %d 条消息只在对话中。",
	Away:      "对话不在笔记本所在的分支上，或单元格在运行后被修改过。",
	Made:      "已写入 %s",
	Reasons: map[string]string{"it is not a folder of this machine": "它不是本机的文件夹", "there is no such folder": "没有这个文件夹",
		"it is outside the folders that were granted": "它在已授权的文件夹之外", "only what was granted in it can be used": "只能使用其中已授权的部分"},
}
