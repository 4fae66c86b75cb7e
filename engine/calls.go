package engine

import (
	"context"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/model"
)

// callRunner runs the calls of a model's step that are answered inside its turn: look-ups one
// after the other, sub-agents at the same time. The calls of a client's own tools stay open for
// the client.
type callRunner struct {
	turn         *liveTurn
	conversation scrollback.Conversation
	late         bool        // there were enough steps: nothing is looked up or started any more
	room         recall.Room // of each result
	startsAgents bool
	forwarded    bool // the request went on as it stood: each call is the client's, known here or not
}

// callAnswers are the results of a step's calls, in their order, and what goes with them.
type callAnswers struct {
	results   scrollback.Parts
	subagents map[string]scrollback.ConversationID // sub-agents, by the id of the call
	mentions  []scrollback.Artifact
	open      []scrollback.ToolCall // for the client
}

// run runs calls. It returns when all have ended, or early, with what there is, when ctx ends.
func (s callRunner) run(ctx context.Context, all []scrollback.ToolCall) callAnswers {
	out := callAnswers{subagents: map[string]scrollback.ConversationID{}}
	clients := map[string]bool{}
	for _, t := range s.conversation.Settings.Tools {
		clients[t.Name] = true
	}
	var ours []scrollback.ToolCall
	for _, c := range all {
		if clients[c.Name] || s.forwarded {
			out.open = append(out.open, c)
		} else {
			ours = append(ours, c)
		}
	}
	results := make([]callResult, len(ours))
	began := make([]bool, len(ours))
	var working sync.WaitGroup
	free := make(chan struct{}, maxParallelAgents)
	for i, c := range ours {
		if began[i] = c.Name == request.AgentToolName && s.startsAgents && !s.late; began[i] {
			working.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				results[i] = s.startSubagent(ctx, c)
			})
		}
	}
	for i, c := range ours {
		if !began[i] {
			results[i] = s.answerCall(ctx, c)
		}
	}
	working.Wait()
	for i, c := range ours {
		r := scrollback.ToolResult{CallID: c.ID, Name: c.Name, Recall: recall.IsTool(c.Name), Text: results[i].text,
			IsError: results[i].isError}
		if results[i].subagent != "" {
			out.subagents[c.ID] = results[i].subagent
		}
		if whole := results[i].whole; whole != nil {
			r.Artifact = whole.ID
			out.mentions = append(out.mentions, *whole)
		}
		out.results = append(out.results, r)
	}
	return out
}

// startSubagent runs a sub-agent.
func (s callRunner) startSubagent(ctx context.Context, c scrollback.ToolCall) callResult {
	if ctx.Err() != nil {
		return callResult{}
	}
	within, done := watch.BeginTool(ctx, c)
	lt := s.turn
	by := parentTurn{Conversation: s.conversation, view: lt.view, turn: lt.turn.ID, model: lt.settings.Overrides.Model,
		limit: lt.settings.Overrides.Limit}
	r, err := lt.subagents.run(within, by, c, s.room)
	done(err)
	return r
}

// answerCall looks something up, or says why that cannot be.
func (s callRunner) answerCall(ctx context.Context, c scrollback.ToolCall) callResult {
	switch {
	case s.late && (recall.IsTool(c.Name) || c.Name == request.AgentToolName && s.startsAgents):
		return callResult{text: "No more look-ups in this turn: answer now with what you have.", isError: true}
	case c.Name == model.Unnamed:
		return callResult{text: "The call names no tool, so nothing was called: make it again with the tool's name.",
			isError: true}
	case !recall.IsTool(c.Name):
		return callResult{text: "There is no tool named " + c.Name + ".", isError: true}
	}
	within, done := watch.BeginTool(ctx, c)
	text, err := s.turn.view.Recall().RunTool(within, s.conversation.ID, c.Name, c.Arguments, s.room)
	done(err)
	if err != nil {
		return callResult{text: scrollback.PublicMessage(err), isError: true}
	}
	return callResult{text: text}
}
