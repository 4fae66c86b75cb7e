package recall

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/internal/store/search"
	"github.com/scrollback-ai/scrollback/token"
)

// Room bounds the result of a recall tool, in bytes of JSON and in o200k tokens.
type Room struct {
	Bytes  int
	Tokens int64
}

// RoomMax is the room of a result outside a turn, and in bytes inside one.
var RoomMax = Room{Bytes: 16 << 10, Tokens: 16 << 10}

// IsTool reports whether a name is that of a recall tool.
func IsTool(name string) bool { return toolRunners[name] != nil }

// RunTool runs a recall tool with a model's arguments and returns its result as JSON.
// Without a conversation context_search looks everywhere.
func (r *Reader) RunTool(ctx context.Context, id scrollback.ConversationID, tool string, args json.RawMessage,
	room Room) (string, error) {
	run := toolRunners[tool]
	if run == nil {
		return "", scrollback.Errorf(scrollback.NotFound, "recall.RunTool", i18n.NoToolNamed, tool)
	}
	return run(ctx, toolCall{r, id, args, room})
}

// toolCall is one call of a tool.
type toolCall struct {
	*Reader
	conversation scrollback.ConversationID
	arguments    json.RawMessage
	room         Room
}

// toolRunners is the table of what a model may call.
var toolRunners = map[string]func(context.Context, toolCall) (string, error){
	"context_list":   runList,
	"context_read":   runRead,
	"context_tail":   runTail,
	"context_grep":   runGrep,
	"context_kept":   runKept,
	"context_search": runSearch,
}

// DecodeArguments reads a model's arguments; an unknown field is invalid, like one of another
// type.
func DecodeArguments[T any](raw json.RawMessage) (T, error) {
	var args T
	raw, err := repairArguments(raw, reflect.TypeFor[T]())
	if err != nil {
		return args, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&args); err != nil {
		why := strings.TrimPrefix(err.Error(), "json: ")
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) { // its text names our types
			why = fmt.Sprintf("%s cannot be a %s", cmp.Or(strings.ToLower(kind.Field), "this"), kind.Value)
		}
		return args, scrollback.ParamErrorf("recall", "arguments", i18n.ArgumentsOfWrongShape, why)
	}
	return args, nil
}

// FitRoom returns the JSON of a result, made smaller until it fits its room: make is called
// with 0, 1, 2 … for smaller and smaller ones, and says when it cannot go on. What does
// not fit even then is over_budget.
func FitRoom(room Room, make func(try int) (any, bool)) (string, error) {
	for try := 0; ; try++ {
		v, more := make(try)
		b, err := plainjson.Marshal(v) // a model reads it as it stands
		if err != nil {
			return "", scrollback.Wrap(scrollback.Internal, "recall", err)
		}
		b = marks.EscapeJSON(b)
		fits := int64(len(b)) <= room.Tokens || int64(token.Count(string(b))) <= room.Tokens // a token has at least a byte
		if len(b) <= room.Bytes && fits {
			return string(b), nil
		}
		if !more {
			return "", scrollback.Errorf(scrollback.OverBudget, "recall",
				i18n.ShortestAnswerTooLong, len(b),
				room.Bytes, room.Tokens)
		}
	}
}

// halve returns n, n/2, n/4 … and whether there is a smaller one.
func halve(n, try int) (int, bool) {
	n >>= try
	return max(n, 1), n > 1
}

func runRead(ctx context.Context, c toolCall) (string, error) {
	type args struct {
		Ref    scrollback.Ref
		Offset int64
		Limit  int
	}
	a, err := DecodeArguments[args](c.arguments)
	if err != nil {
		return "", err
	}
	var first scrollback.Page
	err = c.throughOthers(ctx, a.Ref, func(through scrollback.ConversationID, ref scrollback.Ref) (err error) {
		first, err = c.Read(ctx, through, ref, a.Offset, a.Limit)
		return err
	})
	if err != nil {
		return "", err
	}
	return FitRoom(c.room, func(try int) (any, bool) {
		n, more := halve(len(first.Content), try)
		page := first
		if page.Content = clip.HeadBytes(first.Content, max(n, utf8.UTFMax)); len(page.Content) < len(first.Content) {
			page.NextOffset = first.Offset + int64(len(page.Content))
			page.Done = false
		}
		return page, more
	})
}

func runTail(ctx context.Context, c toolCall) (string, error) {
	type args struct {
		Ref   scrollback.Ref
		Lines int
	}
	a, err := DecodeArguments[args](c.arguments)
	if err != nil {
		return "", err
	}
	var tail scrollback.Tail
	err = c.throughOthers(ctx, a.Ref, func(through scrollback.ConversationID, ref scrollback.Ref) (err error) {
		tail, err = c.Tail(ctx, through, ref, a.Lines)
		return err
	})
	if err != nil {
		return "", err
	}
	return FitRoom(c.room, func(try int) (any, bool) {
		n, more := halve(len(tail.Content), try)
		cut := tail
		cut.Content = strings.ToValidUTF8(tail.Content[len(tail.Content)-min(n, len(tail.Content)):], "")
		if nl := strings.IndexByte(cut.Content, '\n'); try > 0 && nl >= 0 && nl+1 < len(cut.Content) {
			cut.Content = cut.Content[nl+1:]
		}
		if try > 0 {
			cut.Lines = strings.Count(strings.TrimSuffix(cut.Content, "\n"), "\n") + 1
		}
		return cut, more
	})
}

func runGrep(ctx context.Context, c toolCall) (string, error) {
	q, err := DecodeArguments[scrollback.GrepQuery](c.arguments)
	if err != nil {
		return "", err
	}
	var found scrollback.GrepResult
	look := func(through scrollback.ConversationID, ref scrollback.Ref) (err error) {
		in := q
		in.Ref = ref
		found, err = c.Grep(ctx, through, in)
		return err
	}
	if q.Ref == "" {
		err = look(c.conversation, "")
	} else {
		err = c.throughOthers(ctx, q.Ref, look)
	}
	if err != nil {
		return "", err
	}
	const lineRunes = 200
	return FitRoom(c.room, func(try int) (any, bool) {
		n, more := halve(len(found.Matches), max(0, try-2))
		cut := found
		cut.Matches = slices.Clone(found.Matches[:min(n, len(found.Matches))])
		for i := range cut.Matches {
			m := &cut.Matches[i]
			m.Leaf = nil  // the ref names it
			if try >= 1 { // the lines around can be requested again
				m.Before = nil
				m.After = nil
			}
			if try >= 2 {
				m.Content = clip.ClipLine(m.Content, lineRunes)
			}
		}
		return cut, try < 2 || more
	})
}

// briefHit is a hit as a model gets it: what it can use, in few tokens. Other hits of
// the same result are not repeated as neighbours.
type briefHit struct {
	Conversation scrollback.ConversationID `json:"conversation_id,omitempty"` // if it is not the one searched
	briefMessage
	Tool      string `json:"tool,omitempty"` // where the conversation was imported from, if it is not the one searched
	Folder    string `json:"folder,omitempty"`
	GitBranch string `json:"git_branch,omitempty"`
	// Abandoned is the branch of a message that is not on its conversation's current path.
	Abandoned scrollback.BranchID `json:"abandoned_branch,omitempty"`

	Ref    *scrollback.Ref `json:"ref,omitempty"`
	Before []briefMessage  `json:"before,omitempty"`
	After  []briefMessage  `json:"after,omitempty"`
}

// briefMessage is a message in few tokens. Date is the day in UTC.
type briefMessage struct {
	Seq     int64           `json:"seq"`
	Role    scrollback.Role `json:"role"`
	Date    string          `json:"date,omitempty"`
	Content string          `json:"content"`
}

// searchTokens is what the hits of a search that names no limit may take beyond
// [scrollback.SearchDefault] of them: short ones go on until then.
const searchTokens = 2000

func runSearch(ctx context.Context, c toolCall) (string, error) {
	type args struct {
		Query  string
		Limit  int
		Scope  string
		Role   scrollback.Role
		Around *int
		Order  string
	}
	a, err := DecodeArguments[args](c.arguments)
	if err != nil {
		return "", err
	}
	if a.Limit < 0 || a.Limit > scrollback.SearchMax {
		return "", scrollback.ParamErrorf("recall", "limit", i18n.LimitOutOfRange, scrollback.SearchMax)
	}
	q, err := c.limitSearch(ctx, a.Scope)
	if err != nil {
		return "", err
	}
	around := scrollback.AroundDefault
	if a.Around != nil {
		around = *a.Around
	}
	q.Query = a.Query
	q.Role = a.Role
	q.Limit = a.Limit
	q.Around = around
	q.Order = a.Order
	q.Passage = search.PassageLength(q)
	open := a.Limit == 0 && a.Order != scrollback.OrderTime
	if open {
		q.Limit = scrollback.SearchMaxHTTP // short ones may go on for longer than a limit lets them
	}
	if q.Except, err = c.askingMessages(ctx); err != nil {
		return "", err
	}
	found, err := c.searchMessages(ctx, q)
	if err != nil {
		return "", err
	}
	type answer struct {
		Hits      []briefHit `json:"hits"`
		Truncated bool       `json:"truncated,omitempty"`
		Note      string     `json:"note,omitempty"`
	}
	sure := len(found.Hits)
	if open {
		sure = min(sure, scrollback.SearchDefault)
	}
	all := shortenHits(found.Hits, c.conversation, q.Passage/2, sure)
	if open {
		all = all[:defaultHits(all)]
	}
	n := len(all)
	characters := q.Passage
	return FitRoom(c.room, func(try int) (any, bool) {
		switch {
		case try > 1 && n > 1:
			n -= max(1, n/5)
		case try > 1: // the best hit is worth more than none
			characters /= 2
		}
		out := answer{Truncated: found.Truncated, Note: indexWarning(found),
			Hits: append([]briefHit{}, all[:max(n, min(1, len(all)))]...)}
		for i := range out.Hits {
			if try >= 1 { // neighbours can be requested again
				out.Hits[i].Before = nil
				out.Hits[i].After = nil
			}
			if characters < q.Passage {
				out.Hits[i].Content = search.ShortenAround(out.Hits[i].Content, q.Query, characters)
			}
		}
		return out, try < 1 || n > 1 || n == 1 && characters > fewestCharacters
	})
}

// fewestCharacters is how short the only hit of a search may become where there is little room.
const fewestCharacters = 80

// indexWarning says to a model that the index of search is not complete.
func indexWarning(found scrollback.SearchResult) string {
	switch {
	case found.Indexed == nil:
		return ""
	case found.Truncated:
		return fmt.Sprintf("The search index is being made: it has %.0f%% of the messages. Of the others the newest were searched; search again later for the rest.", 100**found.Indexed)
	}
	return fmt.Sprintf("The search index is being made: it has %.0f%% of the messages. The others were searched too.",
		100**found.Indexed)
}

// defaultHits returns how many hits a search returns that names no limit.
func defaultHits(all []briefHit) int {
	left := searchTokens
	for i := range all {
		b, err := plainjson.Marshal(all[i])
		if left -= token.Count(string(b)); err != nil || left < 0 && i >= scrollback.SearchDefault {
			return i
		}
	}
	return len(all)
}

// limitSearch limits a search to a scope, as far as the conversation's setting lets its
// model reach; empty means the conversation itself.
func (c toolCall) limitSearch(ctx context.Context, scope string) (scrollback.SearchQuery, error) {
	const op = "recall"
	if scope == "" || scope == scrollback.ScopeConversation {
		agents, err := c.listAgents(ctx)
		return scrollback.SearchQuery{Conversation: c.conversation, Agents: agents}, err
	}
	own, err := c.access.Head(ctx, c.conversation)
	if err != nil {
		return scrollback.SearchQuery{}, err
	}
	may, err := c.searchReach(ctx, own.Conversation)
	if err != nil {
		return scrollback.SearchQuery{}, err
	}
	switch {
	case scope != scrollback.ScopeProject && scope != scrollback.ScopeAll:
		return scrollback.SearchQuery{}, scrollback.ParamErrorf(op, "scope",
			i18n.RecallScopeIsOneOf, scope)
	case scope == scrollback.ScopeProject && (may == scrollback.ScopeProject || may == scrollback.ScopeAll):
		return scrollback.SearchQuery{Project: own.Project}, nil
	case may == scrollback.ScopeAll:
		return scrollback.SearchQuery{}, nil
	case may == scrollback.ScopeProject:
		return scrollback.SearchQuery{}, scrollback.Errorf(scrollback.Refused, op,
			i18n.MaySearchOnlyItsProject)
	}
	return scrollback.SearchQuery{}, scrollback.Errorf(scrollback.Refused, op, i18n.MaySearchOnlyItself)
}

// listAgents returns the conversations that work for this one, and theirs: what they said and made
// counts as its own.
func (c toolCall) listAgents(ctx context.Context) ([]scrollback.ConversationID, error) {
	if c.conversation == "" {
		return nil, nil
	}
	all, err := c.store.Agents.ListBelow(ctx, c.conversation, false)
	var out []scrollback.ConversationID
	for _, a := range all {
		switch allowed := c.access.Allow(ctx, a.ID); {
		case allowed == nil:
			out = append(out, a.ID)
		case scrollback.CodeOf(allowed) != scrollback.NotFound: // gone, or another's by now
			return nil, allowed
		}
	}
	return out, err
}

// searchReach returns how far a conversation lets its model look: its own setting, else that of its
// project.
func (c toolCall) searchReach(ctx context.Context, own scrollback.Conversation) (string, error) {
	if own.Settings.RecallScope != "" {
		return own.Settings.RecallScope, nil
	}
	of, err := c.store.Projects.Get(ctx, own.Project)
	return of.Settings.RecallScope, err
}

// askedBack is how many messages back the question of a turn is looked for.
const askedBack = 1000

// askingMessages returns what a running turn of the conversation is about: its question, and what its
// model said when it looked things up. To find these would tell it what it knows.
func (c toolCall) askingMessages(ctx context.Context) ([]scrollback.MessageID, error) {
	if c.conversation == "" {
		return nil, nil
	}
	turn, err := c.store.Turns.GetLast(ctx, c.conversation)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return nil, nil
	}
	if err != nil || turn.State != scrollback.TurnOpen || c.store.Turns.IsExpired(turn) {
		return nil, err
	}
	head, err := c.access.Head(ctx, c.conversation)
	var out []scrollback.MessageID
	for to := head.Branch.HeadSeq; err == nil && to > max(0, head.Branch.HeadSeq-askedBack); to -= scrollback.ListDefault {
		var ms []scrollback.Message
		ms, err = c.store.ReadMessages(ctx, head.Branch.ID, max(1, to-scrollback.ListDefault+1), to)
		for _, m := range slices.Backward(ms) {
			if m.Role == scrollback.RoleUser {
				return append(out, m.ID), nil
			}
			if slices.ContainsFunc(m.Parts.Calls(), scrollback.ToolCall.IsRecall) {
				out = append(out, m.ID)
			}
		}
	}
	return out, err
}

// throughOthers does something with a ref: through the conversation that it names, if it names one, as far as
// the conversation's setting lets its model reach or it was told of the message, and else as throughAgents does.
func (c toolCall) throughOthers(ctx context.Context, ref scrollback.Ref,
	do func(through scrollback.ConversationID, ref scrollback.Ref) error) error {
	id, numbers, ok := ref.Elsewhere()
	if !ok {
		return c.throughAgents(ctx, ref, func(through scrollback.ConversationID) error { return do(through, ref) })
	}
	if id != c.conversation {
		if err := c.allowOther(ctx, id, ref); err != nil {
			return err
		}
	}
	return do(id, numbers)
}

// allowOther reports as an error that a model may not read the messages of another conversation that a ref names.
func (c toolCall) allowOther(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref) error {
	own, err := c.access.Head(ctx, c.conversation)
	if err != nil {
		return err
	}
	may, err := c.searchReach(ctx, own.Conversation)
	if err != nil {
		return err
	}
	agents, err := c.listAgents(ctx)
	if err != nil {
		return err
	}
	other, err := c.access.Head(ctx, id)
	switch {
	case err != nil:
		return err
	case other.DeletedAt != 0:
		return scrollback.Errorf(scrollback.NotFound, "recall", i18n.NoConversation, id)
	case slices.Contains(agents, id), may == scrollback.ScopeAll,
		may == scrollback.ScopeProject && other.Project == own.Project,
		own.Environment != nil && strings.Contains(own.Environment.Kept, "("+string(ref)+")\n"):
		return nil
	case may == scrollback.ScopeProject:
		return scrollback.Errorf(scrollback.Refused, "recall", i18n.MaySearchOnlyItsProject)
	}
	return scrollback.Errorf(scrollback.Refused, "recall", i18n.MaySearchOnlyItself)
}

// throughAgents does something with a ref through the conversation that is asked, or if that
// does not mention it, through one that does: a sub-agent of it, or another as far as the
// conversation's setting lets its model reach. The error is that of the first.
func (c toolCall) throughAgents(ctx context.Context, ref scrollback.Ref,
	do func(through scrollback.ConversationID) error) error {
	first := do(c.conversation)
	if scrollback.CodeOf(first) != scrollback.NotFound || ref.IsNumbers() {
		return first
	}
	own, err := c.access.Head(ctx, c.conversation)
	if err != nil {
		return err
	}
	within := []string{own.Project}
	may, err := c.searchReach(ctx, own.Conversation)
	if err != nil {
		return err
	}
	agents, err := c.listAgents(ctx)
	if err != nil {
		return err
	}
	further := may == scrollback.ScopeProject || may == scrollback.ScopeAll
	switch {
	case may == scrollback.ScopeAll:
		if within, err = c.access.Projects("", nil); err != nil {
			return err
		}
	case !further && len(agents) == 0:
		return first
	}
	others, err := c.store.Refs.ListMentions(ctx, ref, within)
	if err != nil {
		return err
	}
	for _, id := range others {
		if !further && !slices.Contains(agents, id) {
			continue
		}
		switch o, err := c.access.Head(ctx, id); {
		case scrollback.CodeOf(err) == scrollback.NotFound:
		case err != nil:
			return err
		case o.DeletedAt == 0:
			return do(id)
		}
	}
	return first
}

// shortenHits shortens hits, of which the first sure ones stay in the list. Each message appears once: as
// a hit if it is one of these, else beside the first hit that it is next to, where it is read sooner.
func shortenHits(hits []scrollback.Hit, searched scrollback.ConversationID, nearRunes, sure int) []briefHit {
	seen := map[scrollback.MessageID]bool{}
	for i, h := range hits {
		// What is further down may not get there; a long one says more there than as a neighbour.
		seen[h.MessageID] = i < sure || utf8.RuneCountInString(h.Content) > nearRunes
	}
	near := func(ms []scrollback.Message) []briefMessage {
		var out []briefMessage
		for _, m := range ms {
			text := clip.ClipLine(strings.TrimSpace(search.IndexedText(m.Parts)), nearRunes)
			if !seen[m.ID] && text != "" {
				seen[m.ID] = true
				out = append(out, briefMessage{Seq: m.Seq, Role: m.Role, Content: text})
			}
		}
		return out
	}
	var out []briefHit
	for i, h := range hits {
		if i >= sure && seen[h.MessageID] && utf8.RuneCountInString(h.Content) <= nearRunes {
			continue // it stands beside one of the best
		}
		b := briefHit{Ref: h.Ref, Before: near(h.Before), After: near(h.After), Abandoned: h.Branch,
			briefMessage: briefMessage{h.Seq, h.Role, time.UnixMilli(h.CreatedAt).UTC().Format(time.DateOnly), h.Content}}
		if h.ConversationID != searched {
			b.Conversation = h.ConversationID
			if o := h.Origin; o != nil {
				b.Tool = o.Tool
				b.Folder = o.Folder
				b.GitBranch = o.GitBranch
			}
		}
		out = append(out, b)
	}
	return out
}
