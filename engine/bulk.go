package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Bulk reads and writes whole histories for a caller; it exists for package transfer.
type Bulk struct{ v *View }

// Bulk is for whole histories on their way in or out.
func (v *View) Bulk() Bulk { return Bulk{v} }

// Head returns a conversation with its current branch: where to read or write next.
func (b Bulk) Head(ctx context.Context, id scrollback.ConversationID, need scrollback.Access) (store.Head, error) {
	return b.v.door.openHead(ctx, id, need)
}

// IsHidden reports whether a conversation that the caller does not see has an id.
func (b Bulk) IsHidden(ctx context.Context, id scrollback.ConversationID) (bool, error) {
	project, err := b.v.e.store.FindProject(ctx, id)
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return false, nil
	}
	return err == nil && !b.v.door.caller.SeesProject(project), err
}

// ResolveProject returns where a conversation goes that names a project, or none: not_found for one
// that is not the caller's.
func (b Bulk) ResolveProject(name string) (string, error) { return b.v.door.resolveProject(name) }

// makers are the providers that are paid for models of their own, of which tools that know no others name no provider.
var makers = []string{"anthropic", "openai", "gemini", "xai", "deepseek", "moonshot", "dashscope"}

// AddPrice returns the usage of a call that another tool made with what it cost by the catalog, unless it has a
// price or the catalog has none. A model without a provider has the price of its maker.
func (b Bulk) AddPrice(model string, u scrollback.Usage) scrollback.Usage {
	out := b.v.e.resolver.AddPrice(model, u)
	if model == "" || strings.Contains(model, "/") {
		return out
	}
	for _, maker := range makers {
		if out.Currency != "" || out.Cost != 0 {
			break
		}
		out = b.v.e.resolver.AddPrice(maker+"/"+model, u)
	}
	return out
}

// Backlog is a conversation that messages are added to outside any turn.
type Backlog struct {
	Begin     store.Head // as it stood when it was opened
	Summarize bool       // ask models for summaries of what is folded
	Asked     Asked      // what that took so far

	Quota *scrollback.Quota // counts each compaction that asks a model, as [CompactRequest] has it

	e              *Engine
	settings, room request.Settings // room has the calls so far, and is only for admitting, which goes on beside folding
	recalled       bool             // the calls at the end of Begin are in room
}

// Asked is what asking for summaries took: calls of models, the summaries that they
// gave, and what the calls cost. Held counts the compactions for which no model was asked
// because the caller's limits were reached.
type Asked struct {
	Calls     int     `json:"calls"`
	Summaries int     `json:"summaries"`
	Cost      float64 `json:"cost"`
	Held      int     `json:"held,omitempty"`
}

// MaySummarize returns why models may not be asked for summaries of what the caller adds to a
// project: over_budget or rate_limited, or nil. It counts nothing: compactions do.
func (b Bulk) MaySummarize(ctx context.Context, project string, q *scrollback.Quota) error {
	project, err := b.ResolveProject(project)
	if err != nil {
		return err
	}
	_, against, err := b.v.e.gate.checkLimits(ctx, b.v.door.caller.Key, project, q)
	return cmp.Or(err, against)
}

// Backlog prepares to add messages to a conversation of the caller's.
func (b Bulk) Backlog(ctx context.Context, id scrollback.ConversationID) (*Backlog, error) {
	head, err := b.v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return nil, err
	}
	settings, err := b.v.e.resolver.Resolve(ctx, head.Conversation, Overrides{Key: b.v.door.caller.Key})
	if err != nil {
		return nil, err
	}
	return &Backlog{Begin: head, e: b.v.e, settings: settings, room: settings}, nil
}

// Admit prepares a message to be added; see [intake.Intake.Admit].
func (b *Backlog) Admit(ctx context.Context, m scrollback.Message,
	attached map[int][]byte) (store.IncomingMessage, error) {
	if err := b.recallCalls(ctx, m); err != nil {
		return store.IncomingMessage{}, err
	}
	b.room.RememberCalls(m)
	return b.e.intake.Admit(ctx, b.Begin.ID, m, b.room.IntakeRoom(), attached)
}

// recallCalls remembers the calls at the end of the conversation, once, if a result comes whose tool is not known:
// its call may have come with an earlier import.
func (b *Backlog) recallCalls(ctx context.Context, m scrollback.Message) error {
	unknown := slices.ContainsFunc(m.Parts.Results(), func(r scrollback.ToolResult) bool {
		known := func(c scrollback.ToolCall) bool { return c.ID == r.CallID }
		return r.Name == "" && !slices.ContainsFunc(b.room.Calls, known)
	})
	if !unknown || b.recalled {
		return nil
	}
	b.recalled = true
	end := b.Begin.Branch.HeadSeq
	ms, err := b.e.store.ReadMessages(ctx, b.Begin.Branch.ID, max(1, end-scrollback.ListDefault+1), end)
	calls := b.room.Calls
	b.room.Calls = nil
	for _, before := range ms {
		b.room.RememberCalls(before)
	}
	b.room.Calls = append(b.room.Calls, calls...)
	return err
}

// Compact folds what no longer fits, if summaries of it are wanted, and updates head, which must be of this
// conversation. Without summaries nothing is folded before a turn begins in the conversation ([request.CatchUp]): most
// of what is imported is only read and searched.
func (b *Backlog) Compact(ctx context.Context, head *store.Head) error {
	if head.ID != b.Begin.ID {
		return scrollback.Errorf(scrollback.NotFound, "engine.Compact", i18n.NoConversationInBacklog, head.ID)
	}
	settings := b.settings
	if !b.Summarize || b.e.compactor.HasRoom(*head, settings) {
		return nil
	}
	admit := func(ctx context.Context) error {
		err := b.e.gate.admit(ctx, settings.Overrides.Key, head.Project, b.Quota)
		if err != nil {
			b.Asked.Held++
		}
		return err
	}
	_, err := b.e.compactor.Fit(ctx, head, request.FitRequest{Settings: settings, Occasion: scrollback.ReasonImport,
		Admit: admit, Progress: backlogProgress{b}})
	return err
}

// backlogProgress counts what the compactions of a backlog asked models for.
type backlogProgress struct{ b *Backlog }

// Compacting is [request.Progress]'s; nobody waits for a backlog.
func (p backlogProgress) Compacting(scrollback.CompactingEvent) {}

// Compacted is [request.Progress]'s.
func (p backlogProgress) Compacted(r scrollback.Receipt) {
	p.b.Asked.Calls += r.Calls
	p.b.Asked.Cost += r.Cost
	if r.SummaryBy != scrollback.SummaryExtractive {
		p.b.Asked.Summaries++
	}
}
