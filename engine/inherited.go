package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

// Bounds of what a new conversation begins with of others. A new one must not wait for a big project.
const (
	inheritedShare   = 0.05 // of the budget
	inheritedTokens  = 2000
	inheritedScanned = 500 // messages of each conversation that are not compacted yet
)

// keepsForProject reports whether a conversation begins with what was said in others of its project.
func (e *Engine) keepsForProject(c scrollback.Conversation, of scrollback.Project) bool {
	configured, ok := e.o.Keep[c.Project]
	if !ok {
		configured = e.o.Keep[""]
	}
	return cmp.Or(c.Settings.Keep, of.Settings.Keep, configured) == scrollback.ScopeProject
}

// inherit returns what a new conversation begins with: the traits and instructions that its caller said in others
// of its project and that stand, each with the ref of its message; empty where that is not wanted, or nothing
// stands. To-dos stay where they are. What finds no room is the oldest.
func (k Kept) inherit(ctx context.Context, c scrollback.Conversation, settings *request.Settings) (string, error) {
	if !k.v.e.keepsForProject(c, settings.Project) || c.Parent != nil {
		return "", nil
	}
	entries, err := k.listSaid(ctx, c)
	if err != nil || len(entries) == 0 {
		return "", err
	}
	left := min(inheritedTokens, int64(inheritedShare*float64(settings.Budget.Tokens)))
	return writeInherited(entries, left), nil
}

// listSaid lists the traits and instructions that stand in other conversations of the project of c and that the
// caller said, the newest first.
func (k Kept) listSaid(ctx context.Context, c scrollback.Conversation) ([]scrollback.Kept, error) {
	others, _, err := k.v.List(ctx, scrollback.ListQuery{Project: c.Project, Limit: keptConversations})
	if err != nil {
		return nil, err
	}
	var all []scrollback.Kept
	for _, o := range slices.Backward(others) { // the oldest first, for what has the same time
		if o.ID == c.ID || o.AgentOf != nil { // a sub-agent's prompt was written by a model
			continue
		}
		h, err := k.v.door.openHead(ctx, o.ID, scrollback.AccessRead)
		if scrollback.CodeOf(err) == scrollback.NotFound { // removed since it was listed
			continue
		}
		if err != nil {
			return nil, err
		}
		some, err := k.v.e.store.Kept.ListScanning(ctx, h, h.Branch, h.Branch.HeadSeq, inheritedScanned)
		if err != nil {
			return nil, err
		}
		for _, e := range kept.Arrange(some, false) {
			if e.Kind != scrollback.KeptTodo && e.SaidBy == k.v.door.caller.Key {
				all = append(all, e)
			}
		}
	}
	return settleAcross(all), nil
}

// settleAcross returns the entries that no later one takes back or repeats, the newest first. What was said in
// several conversations is one talk in the order of its time.
func settleAcross(all []scrollback.Kept) []scrollback.Kept {
	slices.SortStableFunc(all, func(a, b scrollback.Kept) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	rows := slices.Clone(all)
	at := map[scrollback.KeptID]int{}
	for i := range rows {
		rows[i].Seq = int64(i + 1)
		at[rows[i].ID] = i
	}
	var out []scrollback.Kept
	for _, e := range kept.Arrange(kept.Settle(rows), false) {
		out = append(out, all[at[e.ID]])
	}
	slices.SortFunc(out, func(a, b scrollback.Kept) int { return cmp.Compare(at[b.ID], at[a.ID]) })
	return out
}

// writeInherited writes entries, the newest first, in at most so many tokens. Each kind has half of the room, and
// what the other does not need. They are shown oldest first, so that the newest stands last.
func writeInherited(entries []scrollback.Kept, room int64) string {
	var said strings.Builder
	for _, e := range entries {
		said.WriteString(e.Text + "\n")
	}
	w := window.FindWords(summary.DetectLanguage([]scrollback.Message{{Role: scrollback.RoleUser,
		Parts: scrollback.Parts{scrollback.Text{Text: said.String()}}}}))
	head := fmt.Sprintf(w.Elsewhere, scrollback.RecallPrefix+"read")
	frame := func(body string) string {
		return "<" + marks.KeptSentences + ">\n" + head + "\n" + body + "</" + marks.KeptSentences + ">"
	}
	room -= int64(token.Count(frame(w.Traits + "\n" + w.Instructions + "\n")))
	kinds := []scrollback.KeptKind{scrollback.KeptTrait, scrollback.KeptInstruction}
	lines := map[scrollback.KeptKind][]string{}
	weights := map[scrollback.KeptKind]int64{}
	for _, e := range entries {
		line := fmt.Sprintf("- %s (%s)\n", marks.EscapeLine(e.Text), scrollback.MessageRef(e.Conversation, e.Seq))
		lines[e.Kind] = append(lines[e.Kind], line)
		weights[e.Kind] += int64(token.Count(line))
	}
	var body strings.Builder
	for i, kind := range kinds {
		of := max(room/2, room-weights[kinds[1-i]])
		var taken []string
		for _, line := range lines[kind] {
			if of -= int64(token.Count(line)); of < 0 {
				break
			}
			taken = append(taken, line)
		}
		if len(taken) == 0 {
			continue
		}
		slices.Reverse(taken)
		body.WriteString(map[scrollback.KeptKind]string{scrollback.KeptTrait: w.Traits,
			scrollback.KeptInstruction: w.Instructions}[kind] + "\n" + strings.Join(taken, ""))
	}
	if body.Len() == 0 {
		return ""
	}
	return frame(body.String())
}
