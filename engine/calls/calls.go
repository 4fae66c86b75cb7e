// Package calls runs the calls of a model's step that are answered inside its turn: look-ups
// one after the other, sub-agents at the same time. The calls of a client's own tools stay
// open for the client.
//
// It stores nothing, and knows neither the conversation nor its window.
package calls

import (
	"context"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/agent"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/recall"
)

// Step says how the calls of one step are run.
type Step struct {
	Clients []scrollback.Tool // the client's
	Late    bool              // there were enough steps: nothing is looked up or started any more
	Room    recall.Room       // of each result

	LookUp func(ctx context.Context, c scrollback.ToolCall, room recall.Room) (string, error)
	// nil where no sub-agent may be started
	Agent func(ctx context.Context, c scrollback.ToolCall, room recall.Room) (agent.Result, error)
}

// Answers are the results of a step's calls, in their order, and what goes with them.
type Answers struct {
	Results  scrollback.Parts
	Agents   map[string]scrollback.ConversationID // sub-agents, by the id of the call
	Mentions []scrollback.Artifact
	Open     []scrollback.ToolCall // for the client
}

// Run runs calls. It returns when all have ended, or early, with what there is, when ctx ends.
func (s Step) Run(ctx context.Context, all []scrollback.ToolCall) Answers {
	out := Answers{Agents: map[string]scrollback.ConversationID{}}
	clients := map[string]bool{}
	for _, t := range s.Clients {
		clients[t.Name] = true
	}
	var ours []scrollback.ToolCall
	for _, c := range all {
		if clients[c.Name] {
			out.Open = append(out.Open, c)
		} else {
			ours = append(ours, c)
		}
	}
	results := make([]agent.Result, len(ours))
	began := make([]bool, len(ours))
	var working sync.WaitGroup
	free := make(chan struct{}, agent.Parallel)
	for i, c := range ours {
		if began[i] = c.Name == agent.Name && s.Agent != nil && !s.Late; began[i] {
			working.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				results[i] = s.start(ctx, c)
			})
		}
	}
	for i, c := range ours {
		if !began[i] {
			results[i] = s.answer(ctx, c)
		}
	}
	working.Wait()
	for i, c := range ours {
		r := scrollback.ToolResult{CallID: c.ID, Name: c.Name, Recall: recall.IsTool(c.Name), Text: results[i].Text,
			IsError: results[i].IsError}
		if results[i].Conversation != "" {
			out.Agents[c.ID] = results[i].Conversation
		}
		if whole := results[i].Whole; whole != nil {
			r.Artifact = whole.ID
			out.Mentions = append(out.Mentions, *whole)
		}
		out.Results = append(out.Results, r)
	}
	return out
}

// start runs a sub-agent.
func (s Step) start(ctx context.Context, c scrollback.ToolCall) agent.Result {
	if ctx.Err() != nil {
		return agent.Result{}
	}
	within, done := watch.Tool(ctx, c)
	r, err := s.Agent(within, c, s.Room)
	done(err)
	return r
}

// answer looks something up, or says why that cannot be.
func (s Step) answer(ctx context.Context, c scrollback.ToolCall) agent.Result {
	switch {
	case s.Late && (recall.IsTool(c.Name) || c.Name == agent.Name && s.Agent != nil):
		return agent.Result{Text: "No more look-ups in this turn: answer now with what you have.", IsError: true}
	case c.Name == model.Unnamed:
		return agent.Result{Text: "The call names no tool, so nothing was called: make it again with the tool's name.",
			IsError: true}
	case !recall.IsTool(c.Name):
		return agent.Result{Text: "There is no tool named " + c.Name + ".", IsError: true}
	}
	within, done := watch.Tool(ctx, c)
	text, err := s.LookUp(within, c, s.Room)
	done(err)
	if err != nil {
		return agent.Result{Text: scrollback.Shown(err), IsError: true}
	}
	return agent.Result{Text: text}
}
