// Package agent lets the model of a conversation start sub-agents: conversations that work
// on one task each, beside the one that they work for, and return one result to it.
//
// Words it adds: sub-agent (such a conversation), crew (the sub-agents of one turn), tree (a
// conversation that is nobody's sub-agent, with its sub-agents and theirs).
//
// Invariants: a sub-agent gets at most the folders of the conversation that it works for,
// its project, and none of its messages; how deep, how many and how much is bounded; when the
// turn that started it ends early, its own turn is stopped first. Whatever becomes of it is a
// result of the call, so that the turn goes on.
//
// It reaches conversations only by what a [Desk] does for it. It may not know the store's
// driver, a window, or a provider.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/recall"
)

// Name is that of the tool.
const Name = "agent"

// Parallel is how many sub-agents of one step work at the same time.
const Parallel = 4

// Options say whether sub-agents may be started, and bound them. Zero numbers are the
// defaults.
type Options struct {
	Allowed bool
	Depth   int   // sub-agents of sub-agents: 1 allows none; 2
	PerTurn int   // that one turn starts; 8
	PerTree int   // that are kept of one conversation, with theirs; 32
	Steps   int   // calls of its model in one turn of a sub-agent; 20
	Tokens  int64 // of all sub-agents of one turn, with theirs; 200,000
}

// Complete fills in the defaults.
func (o Options) Complete() Options {
	o.Depth = cmp.Or(max(o.Depth, 0), 2)
	o.PerTurn = cmp.Or(max(o.PerTurn, 0), 8)
	o.PerTree = cmp.Or(max(o.PerTree, 0), 32)
	o.Steps = cmp.Or(max(o.Steps, 0), 20)
	o.Tokens = cmp.Or(max(o.Tokens, 0), 200_000)
	return o
}

// Check returns an error if a number is out of bounds.
func (o Options) Check() error {
	for name, v := range map[string]struct{ n, most int64 }{"depth": {int64(o.Depth), 8},
		"per_turn": {int64(o.PerTurn), 100}, "per_tree": {int64(o.PerTree), 1000},
		"steps": {int64(o.Steps), 100}, "tokens": {o.Tokens, 1 << 40}} {
		if v.n < 0 || v.n > v.most {
			return scrollback.ParamErrorf("agent", "agents", "agents.%s is a number from 0, for its default, to %d", name,
				v.most)
		}
	}
	return nil
}

// Tool defines the tool for a model. Its bytes never change within a version.
func Tool() scrollback.Tool {
	return scrollback.Tool{
		Name: Name,
		Description: "Start a sub-agent: it works on one task in a conversation of its own, beside this one, and its last answer is the result. " +
			"It sees nothing of this conversation. Several calls at once work in parallel. Its whole work stays readable by the ref in the result.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"task":{"type":"string","description":"all it needs to know: what to do, what is known already, what to return"},` +
			`"title":{"type":"string","description":"a few words"},` +
			`"model":{"type":"string","description":"default: that of this conversation"},` +
			`"limit":{"type":"integer","minimum":2000,"description":"its window in tokens"},` +
			`"roots":{"type":"array","items":{"type":"string"},"description":"folders it may work in, out of those of this conversation; default: all of them"}},` +
			`"required":["task"]}`),
	}
}

// Ours reports whether a call by this name starts a sub-agent, and is not one of a tool that
// the client of the conversation brings.
func Ours(c scrollback.Conversation, name string) bool {
	if name != Name {
		return false
	}
	for _, t := range c.Settings.Tools {
		if t.Name == Name {
			return false
		}
	}
	return true
}

// Offered reports whether the model of a conversation is offered the tool, where sub-agents
// are allowed.
func Offered(c scrollback.Conversation) bool { return c.Settings.Agents && Ours(c, Name) }

// instructions are those of a sub-agent.
const instructions = "You are a sub-agent. Another assistant gave you the task in the first message, and nobody else reads along or can answer a question: " +
	"work alone until it is done. Your last message is the result that the other assistant gets; make it complete and short. " +
	"If you cannot do a part of the task, say which and why."

// Desk is what an engine does for its sub-agents, on behalf of whoever runs the turn.
type Desk struct {
	Get func(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error)
	// its sub-agents and theirs
	Below  func(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Conversation, error)
	Create func(ctx context.Context, c scrollback.Conversation) (scrollback.Conversation, error)
	Begin  func(ctx context.Context, id scrollback.ConversationID, task string,
		crew *Crew) (scrollback.TurnID, iter.Seq[scrollback.Event], error)
	Discard  func(ctx context.Context, id scrollback.ConversationID) error // of one that has said nothing
	Stop     func(ctx context.Context, id scrollback.ConversationID, turn scrollback.TurnID) error
	Messages func(ctx context.Context, id scrollback.ConversationID) iter.Seq2[scrollback.Message, error]
	Render   func(w io.Writer, heading string, ms iter.Seq2[scrollback.Message, error]) error
	Keep     func(ctx context.Context, r io.Reader, name string) (scrollback.Artifact, error)
}

// Crew counts the sub-agents of one turn.
type Crew struct {
	o    Options
	tree *tree

	mu      sync.Mutex
	started int
}

// tree counts what the sub-agents of a turn and theirs have used together.
type tree struct {
	mu     sync.Mutex
	tokens int64
}

// NewCrew is the crew of a turn. Sub-agents of a sub-agent share the tokens of the turn that
// began it all.
func NewCrew(o Options, of *Crew) *Crew {
	if of != nil {
		return &Crew{o: of.o, tree: of.tree}
	}
	return &Crew{o: o, tree: &tree{}}
}

// use adds to the tokens that were used, and reports whether there are any left.
func (t *tree) use(tokens, most int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens += tokens
	return t.tokens < most
}

// Employer is the conversation and the turn that a sub-agent is to work for. Model and Limit
// are those that its request asked for in place of its own, if it did.
type Employer struct {
	scrollback.Conversation
	Turn  scrollback.TurnID
	Model string
	Limit int64
}

// Result is what a call returns. Whole is the sub-agent's work, if there is any.
type Result struct {
	Text         string
	IsError      bool
	Whole        *scrollback.Artifact
	Conversation scrollback.ConversationID
}

// Run runs a call to its end, and returns what it returns to the model. The error is that of
// a ctx that has ended.
func (c *Crew) Run(ctx context.Context, d Desk, by Employer, call scrollback.ToolCall,
	room recall.Room) (Result, error) {
	j := &job{Crew: c, desk: d, by: by, call: call}
	err := j.do(ctx)
	if ctx.Err() != nil {
		return Result{Conversation: j.child.ID}, context.Cause(ctx)
	}
	return j.result(err, room), nil
}
