package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// maxParallelAgents is how many sub-agents of one step work at the same time.
const maxParallelAgents = 4

// AgentOptions say whether sub-agents may be started, and bound them. Zero numbers are the
// defaults.
type AgentOptions struct {
	Allowed bool
	Depth   int   // sub-agents of sub-agents: 1 allows none; 2
	PerTurn int   // that one turn starts; 8
	PerTree int   // that are kept of one conversation, with theirs; 32
	Steps   int   // calls of its model in one turn of a sub-agent; 20
	Tokens  int64 // of all sub-agents of one turn, with theirs; 200,000
}

// Complete fills in the defaults.
func (o AgentOptions) Complete() AgentOptions {
	o.Depth = cmp.Or(max(o.Depth, 0), 2)
	o.PerTurn = cmp.Or(max(o.PerTurn, 0), 8)
	o.PerTree = cmp.Or(max(o.PerTree, 0), 32)
	o.Steps = cmp.Or(max(o.Steps, 0), 20)
	o.Tokens = cmp.Or(max(o.Tokens, 0), 200_000)
	return o
}

// Check returns an error if a number is out of bounds.
func (o AgentOptions) Check() error {
	for name, v := range map[string]struct{ n, most int64 }{"depth": {int64(o.Depth), 8},
		"per_turn": {int64(o.PerTurn), 100}, "per_tree": {int64(o.PerTree), 1000},
		"steps": {int64(o.Steps), 100}, "tokens": {o.Tokens, 1 << 40}} {
		if v.n < 0 || v.n > v.most {
			return scrollback.ParamErrorf(
				"agent",
				"agents",
				i18n.AgentsSettingOutOfRange,
				name,
				v.most,
			)
		}
	}
	return nil
}

// subagentInstructions are those of a sub-agent.
const subagentInstructions = "You are a sub-agent. Another assistant gave you the task in the first message, and nobody else reads along or can answer a question: " +
	"work alone until it is done. Your last message is the result that the other assistant gets; make it complete and short. " +
	"If you cannot do a part of the task, say which and why."

// subagents counts the sub-agents of one turn: conversations that work on one task each, beside
// the one that they work for, and return one result to it.
//
// A sub-agent gets at most the folders of the conversation that it works for, its project, and
// none of its messages; how deep, how many and how much is bounded; when the turn that started it
// ends early, its own turn is stopped first. Whatever becomes of it is a result of the call, so
// that the turn goes on.
type subagents struct {
	bounds AgentOptions
	tree   *subagentTree

	mu      sync.Mutex
	started int
}

// subagentTree counts what the sub-agents of a turn, and theirs, have used together.
type subagentTree struct {
	mu     sync.Mutex
	tokens int64
}

// newSubagents returns the sub-agents of a turn, none so far. Those of a sub-agent share the tokens
// of the turn that began it all.
func newSubagents(o AgentOptions, of *subagents) *subagents {
	if of != nil {
		return &subagents{bounds: of.bounds, tree: of.tree}
	}
	return &subagents{bounds: o, tree: &subagentTree{}}
}

// addTokens adds to the tokens that were used, and reports whether there are any left.
func (t *subagentTree) addTokens(tokens, most int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens += tokens
	return t.tokens < most
}

// parentTurn is the conversation and the turn that a sub-agent is to work for, as its caller sees
// it. model and limit are those that its request asked for in place of its own, if it did.
type parentTurn struct {
	scrollback.Conversation
	view  *View
	turn  scrollback.TurnID
	model string
	limit int64
}

// callResult is what a call returns. whole is the sub-agent's work, if there is any.
type callResult struct {
	text     string
	isError  bool
	whole    *scrollback.Artifact
	subagent scrollback.ConversationID
}

// createSubagent stores the conversation of a sub-agent, without the folders that were granted to
// its parent and no longer are.
func (v *View) createSubagent(ctx context.Context, c scrollback.Conversation) (scrollback.Conversation, error) {
	c.Roots = slices.DeleteFunc(slices.Clone(c.Roots), func(root string) bool {
		_, err := v.e.grants.NarrowRoots([]string{root})
		return err != nil
	})
	if err := admitConversation(ctx, v, &c); err != nil {
		return c, err
	}
	made, _, err := v.e.store.CreateConversation(ctx, c)
	return made, err
}

// run runs a call to its end, and returns what it returns to the model. It fails only when ctx
// has ended.
func (c *subagents) run(ctx context.Context, by parentTurn, call scrollback.ToolCall,
	room recall.Room) (callResult, error) {
	j := &subagentRun{subagents: c, parent: by, call: call}
	err := j.run(ctx)
	if ctx.Err() != nil {
		return callResult{subagent: j.child.ID}, context.Cause(ctx)
	}
	return j.makeResult(err, room), nil
}
