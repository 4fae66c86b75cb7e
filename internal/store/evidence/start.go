package evidence

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Kinds of what is told at a start.
const (
	KindTodo = "todo"
	KindKept = "kept"
)

// Bounds of what is told at a start.
const (
	newestTalks = 3
	firstPage   = 8  // conversations that are listed at first
	newestPage  = 60 // and then
	newestPages = 10
	endMessages = 24 // of a conversation, in which its last words are looked for
	keptRows    = 400
	keptJudged  = 8   // of them, the newest
	keptReach   = 200 // messages that are looked through for what takes them back
	leastAnswer = 30  // characters of an answer that says something by itself
	keptShown   = 2   // of to-dos, and of what is kept
)

// Stand returns where work stood in a place: the last request and its answer, open to-dos, what is kept, and the last
// answers of the newest conversations, best first. Nothing, unless something was said there since a time, in Unix ms.
func (s *Store) Stand(ctx context.Context, p Place, of Session, since int64) ([]Found, error) {
	may, err := s.newAdmission(ctx, p, of)
	if err != nil {
		return nil, err
	}
	var last, todos, lines, answers []Found
	talks := 0
	err = s.eachNewest(ctx, p, since, func(c scrollback.Conversation) (more bool, err error) {
		tool, ok, err := may.admit(ctx, c)
		if err != nil || !ok {
			return true, err
		}
		h, err := s.d.Log.ReadHead(ctx, c.ID)
		if err != nil {
			return false, err
		}
		end, err := s.readEnd(ctx, h, tool)
		if err != nil || len(end) == 0 {
			return true, err
		}
		if talks++; talks == 1 {
			if end[len(end)-1].At < since {
				return false, nil
			}
			last = end
		} else if answer := end[len(end)-1]; answer.saysSomething() {
			answers = append(answers, answer)
		}
		open, err := s.listKept(ctx, h, tool)
		for _, k := range open {
			if k.Kind == KindTodo {
				todos = append(todos, k)
			} else {
				lines = append(lines, k)
			}
		}
		return talks < newestTalks, err
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(last) // the answer tells more than what it answers
	return distinctFound(last, todos[:min(len(todos), keptShown)], lines[:min(len(lines), keptShown)], answers), nil
}

// eachNewest calls fn for the conversations of a place, without sub-agents, that changed last, until it returns false
// or they are older than a time. It looks at no more than a bound, at a few first: most often they are among those.
func (s *Store) eachNewest(ctx context.Context, p Place, since int64,
	fn func(c scrollback.Conversation) (more bool, err error)) error {
	in := driver.FolderQuery{Folders: p.Folders}
	q := driver.ListQuery{Limit: firstPage}
	for range newestPages {
		page, err := s.d.Log.ListConversations(ctx, q)
		if err != nil || len(page) == 0 {
			return err
		}
		q.Limit = newestPage
		ids := make([]scrollback.ConversationID, len(page))
		for i, c := range page {
			ids[i] = c.ID
		}
		origins, err := s.d.Log.ListOrigins(ctx, driver.OriginQuery{Conversations: ids})
		if err != nil {
			return err
		}
		here := map[scrollback.ConversationID]bool{}
		for _, o := range origins {
			here[o.Conversation] = here[o.Conversation] || in.HasFolder(o.Folder)
		}
		for _, c := range page {
			if c.UpdatedAt < since {
				return nil
			}
			if !here[c.ID] && !slices.ContainsFunc(c.Roots, in.HasFolder) {
				continue
			}
			if more, err := fn(c); err != nil || !more {
				return err
			}
		}
		end := page[len(page)-1]
		q.Before = &driver.ListKey{At: end.UpdatedAt, ID: string(end.ID)}
	}
	return nil
}

// saysSomething reports whether it is an answer that says something by itself.
func (f Found) saysSomething() bool {
	return f.Role == scrollback.RoleAssistant && utf8.RuneCountInString(f.Text) >= leastAnswer
}

// HandBack returns what a session said that its own summary may have lost: open to-dos, what is kept and what was
// pinned. What said has already is left out.
func (s *Store) HandBack(ctx context.Context, of Session, said string) ([]Found, error) {
	if of.ID == "" {
		return nil, nil
	}
	all, err := s.d.Log.ListOrigins(ctx, driver.OriginQuery{Tool: of.Tool, ID: of.ID})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	h, err := s.d.Log.ReadHead(ctx, all[len(all)-1].Conversation)
	if err != nil {
		return nil, err
	}
	var pinned []Found
	for _, seq := range h.PinnedSeqs {
		ms, err := s.d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: h.Branch.ID, From: seq, To: seq})
		if err != nil {
			return nil, err
		}
		for _, m := range ms {
			if spoken(m) {
				pinned = append(pinned, foundOf(m, of.Tool, KindKept))
			}
		}
	}
	open, err := s.listKept(ctx, h, of.Tool)
	if err != nil {
		return nil, err
	}
	out := distinctFound(pinned, open)
	return slices.DeleteFunc(out, func(f Found) bool {
		return strings.Contains(strings.Join(strings.Fields(said), " "), strings.Join(strings.Fields(f.Text), " "))
	}), nil
}

// readEnd returns the last request of a conversation, and its answer if it has one.
func (s *Store) readEnd(ctx context.Context, h driver.Head, tool string) ([]Found, error) {
	ms, err := s.d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: h.Branch.ID,
		From: max(1, h.Branch.HeadSeq-endMessages+1), To: h.Branch.HeadSeq})
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, m := range slices.Backward(ms) {
		if !spoken(m) {
			continue
		}
		switch m.Role {
		case scrollback.RoleAssistant:
			if len(out) == 0 {
				out = append(out, foundOf(m, tool, ""))
			}
		case scrollback.RoleUser:
			out = append(out, foundOf(m, tool, ""))
			slices.Reverse(out)
			return out, nil
		case scrollback.RoleSystem, scrollback.RoleTool:
		}
	}
	return out, nil
}

// listKept lists what stands of the kept sentences of a conversation, newest first, to-dos before others. To judge as a
// request does what takes a sentence back needs the grammars of all languages, which take longer to read than a hook
// has: here a sentence no longer stands once somebody came back to what it is about.
func (s *Store) listKept(ctx context.Context, h driver.Head, tool string) ([]Found, error) {
	rows, err := s.d.Log.ReadKept(ctx, driver.KeptQuery{Branch: h.Branch.ID, To: h.Branch.HeadSeq, Limit: keptRows,
		Conversations: append([]scrollback.ConversationID{h.ID}, h.Ancestors...)})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	stated := map[scrollback.KeptID]scrollback.KeptState{} // by people
	byRule := rows[:0:0]
	for _, k := range rows {
		if k.Change != "" {
			stated[k.ID] = k.State
		}
		if k.Change == "" || k.State == scrollback.KeptOpen {
			byRule = append(byRule, k)
		}
	}
	byRule = byRule[max(0, len(byRule)-keptJudged):]
	ms, err := s.d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: h.Branch.ID,
		From: max(byRuleFrom(byRule), h.Branch.HeadSeq-keptReach), To: h.Branch.HeadSeq})
	if err != nil {
		return nil, err
	}
	var todos, others []Found
	seen := map[scrollback.KeptID]bool{}
	again := findSpokenOfAgain(byRule, ms)
	for i, k := range slices.Backward(byRule) {
		state, said := stated[k.ID]
		if seen[k.ID] || said && state != scrollback.KeptOpen || k.Kind == kept.End || k.Seq <= h.Branch.HeadSeq-keptReach ||
			!said && again[i] {
			continue
		}
		seen[k.ID] = true
		f := Found{Conversation: h.ID, Seq: k.Seq, At: k.CreatedAt, Tool: tool, Role: k.Role, Text: k.Text, Kind: KindKept}
		if k.Kind == scrollback.KeptTodo {
			f.Kind = KindTodo
			todos = append(todos, f)
		} else {
			others = append(others, f)
		}
	}
	return append(todos, others...), nil
}

func byRuleFrom(rows []scrollback.Kept) int64 {
	from := int64(1)
	for i, k := range rows {
		if i == 0 || k.Seq < from {
			from = k.Seq
		}
	}
	return from
}

// sentence is a kept one that may have been taken back.
type sentence struct {
	scrollback.Kept
	least int // so many of its words must come again in one message
	gone  bool
}

// mayTakeBack reports whether a message may come back to what a sentence is about: who answers only repeats it.
func (s *sentence) mayTakeBack(m scrollback.Message) bool {
	return m.Seq > s.Seq && (m.Role == scrollback.RoleUser ||
		m.Role == scrollback.RoleAssistant && s.Kind == scrollback.KeptTodo && m.Seq != s.Seq+1)
}

// findSpokenOfAgain returns the sentences, by their place among them, to which somebody came back. Each message is cut
// into words once, however many sentences there are.
func findSpokenOfAgain(rows []scrollback.Kept, ms []scrollback.Message) []bool {
	all := make([]sentence, len(rows))
	about := map[string][]int{} // words, and the sentences that have them
	for i, k := range rows {
		all[i] = sentence{Kept: k, least: 2}
		q := terms.ParseQuery(k.Text)
		words := map[string]bool{}
		for _, w := range q.Any[:q.Words] {
			if !words[w] {
				words[w] = true
				about[w] = append(about[w], i)
			}
		}
		if len(words) < 4 {
			all[i].least = 1
		}
	}
	for _, m := range ms {
		waiting := 0
		open := make([]bool, len(all))
		for i := range all {
			if open[i] = !all[i].gone && all[i].mayTakeBack(m); open[i] {
				waiting++
			}
		}
		if waiting == 0 {
			continue
		}
		again := map[string]bool{}
		counts := make([]int, len(all))
		terms.EachTerm(clipText(m.Parts.Text()), func(t string) bool {
			in := about[t]
			if len(in) == 0 || again[t] {
				return true
			}
			again[t] = true
			for _, i := range in {
				if counts[i]++; open[i] && counts[i] == all[i].least {
					all[i].gone = true
					waiting--
				}
			}
			return waiting > 0
		})
	}
	out := make([]bool, len(all))
	for i, s := range all {
		out[i] = s.gone
	}
	return out
}

// clipText returns the beginning of a text that is looked through.
func clipText(s string) string {
	if len(s) <= textBytes {
		return s
	}
	return strings.ToValidUTF8(s[:textBytes], "")
}

// spoken reports whether a message is a person's or a model's words, and not this program's.
func spoken(m scrollback.Message) bool {
	return (m.Role == scrollback.RoleUser || m.Role == scrollback.RoleAssistant) && spokenText(m) != ""
}

func foundOf(m scrollback.Message, tool, kind string) Found {
	return Found{Conversation: m.ConversationID, Seq: m.Seq, At: m.CreatedAt, Tool: tool, Role: m.Role,
		Text: spokenText(m), Kind: kind}
}

// distinctFound joins lists; what says the same as an earlier one is left out.
func distinctFound(lists ...[]Found) (out []Found) {
	seen := map[string]bool{}
	for _, list := range lists {
		for _, f := range list {
			if key := strings.Join(strings.Fields(f.Text), " "); !seen[key] {
				seen[key] = true
				out = append(out, f)
			}
		}
	}
	return out
}
