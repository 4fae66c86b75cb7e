package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/token"
)

// subagentTask is what a model asks for.
type subagentTask struct {
	Task, Title, Model string
	Limit              int
	Roots              *[]string
}

// subagentRun is one call under way.
type subagentRun struct {
	*subagents
	parent   parentTurn
	call     scrollback.ToolCall
	child    scrollback.Conversation
	answer   string // its last answer
	messages int
	tokens   int64 // without those of its own sub-agents
	whole    *scrollback.Artifact
}

// toolError is why there is no result, in words for the model.
type toolError string

func (t toolError) Error() string { return string(t) }

// run starts the sub-agent, waits for it, and keeps what it did. The error says why there is
// no result.
func (j *subagentRun) run(ctx context.Context) error {
	t, err := recall.DecodeArguments[subagentTask](j.call.Arguments)
	if err != nil {
		return err
	}
	if strings.TrimSpace(t.Task) == "" {
		return toolError("the task is empty: say what the sub-agent is to do")
	}
	if j.child, err = j.createConversation(ctx, t); err != nil {
		return err
	}
	ended := j.runTurn(ctx, t.Task)
	if ctx.Err() != nil || j.child.ID == "" {
		return ended
	}
	if err := j.keepTranscript(ctx); err != nil {
		return err
	}
	return ended
}

// createConversation stores the conversation of a sub-agent, within the bounds. The locks are held
// until it is stored, so that the next one counts it.
func (j *subagentRun) createConversation(ctx context.Context, t subagentTask) (scrollback.Conversation, error) {
	c := scrollback.Conversation{
		Project:      j.parent.Project,
		Title:        clip.ClipLine(cmp.Or(strings.TrimSpace(t.Title), t.Task), 80),
		Model:        cmp.Or(t.Model, j.parent.model, j.parent.Conversation.Model),
		Limit:        cmp.Or(t.Limit, int(j.parent.limit), j.parent.Conversation.Limit),
		Policy:       j.parent.Policy,
		Instructions: subagentInstructions,
		Roots:        j.parent.Roots,
		Settings:     j.parent.Settings,
		AgentOf:      &scrollback.AgentRef{ID: j.parent.ID, TurnID: j.parent.turn, CallID: j.call.ID},
	}
	c.Settings.Pinned = false
	c.Settings.Tools = nil
	c.Settings.ArchiveOnCompact = false
	if t.Roots != nil {
		roots, err := workspace.Narrow(j.parent.Roots, *t.Roots)
		if err != nil {
			return c, err
		}
		c.Roots = append([]string{}, roots...)
	}
	top, depth, err := j.findRoot(ctx)
	if err != nil {
		return c, err
	}
	c.Settings.Agents = depth+1 < j.bounds.Depth
	j.tree.mu.Lock()
	defer j.tree.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	switch below, err := j.parent.view.e.store.Agents.ListBelow(ctx, top, true); {
	case err != nil:
		return c, err
	case depth >= j.bounds.Depth:
		return c, toolError("a sub-agent at this depth cannot start others: do the task yourself")
	case j.started >= j.bounds.PerTurn:
		return c, toolError(fmt.Sprintf("at most %d sub-agents can be started in one turn: go on with what you have",
			j.bounds.PerTurn))
	case len(below) >= j.bounds.PerTree:
		return c, toolError(
			fmt.Sprintf("this conversation has %d sub-agents already, and at most %d are kept: go on without",
				len(below), j.bounds.PerTree),
		)
	case j.tree.tokens >= j.bounds.Tokens:
		return c, j.checkTokens()
	}
	made, err := j.parent.view.createSubagent(ctx, c)
	if err != nil {
		return c, err // without the id that it would have got
	}
	j.started++
	return made, nil
}

// checkTokens returns the error once there are no tokens left.
func (j *subagentRun) checkTokens() error {
	return toolError(
		fmt.Sprintf("the sub-agents of this turn have used the %d tokens that they may: go on with what you have",
			j.bounds.Tokens),
	)
}

// findRoot returns the conversation at the top of the parent's tree, and how deep the parent
// stands below it.
func (j *subagentRun) findRoot(ctx context.Context) (scrollback.ConversationID, int, error) {
	c := j.parent.Conversation
	for depth := 0; ; depth++ {
		if c.AgentOf == nil || depth > j.bounds.Depth {
			return c.ID, depth, nil
		}
		of, err := j.parent.view.Get(ctx, c.AgentOf.ID)
		if scrollback.CodeOf(err) == scrollback.NotFound { // purged
			return c.ID, depth + 1, nil
		}
		if err != nil {
			return "", 0, err
		}
		c = of
	}
}

// runTurn runs the turn of a sub-agent to its end. If ctx ends first, or there are no tokens
// left, the turn is stopped and its end awaited.
func (j *subagentRun) runTurn(ctx context.Context, prompt string) error {
	apart := context.WithoutCancel(ctx)
	view := j.parent.view
	turn, events, err := view.Begin(apart, TurnRequest{Conversation: j.child.ID, Message: scrollback.Say(prompt),
		subagents: j.subagents})
	if err != nil {
		if _, err := view.Purge(apart, j.child.ID); err == nil { // or it stays, empty
			j.child = scrollback.Conversation{}
		}
		return err
	}
	// if it fails, the turn has ended or goes on to its own bounds
	stop := func() { _ = view.Turns().Cancel(apart, j.child.ID, turn) }
	defer context.AfterFunc(ctx, stop)()
	spent := false
	var failed error
	done := scrollback.DoneEvent{}
	for n, err := range events {
		if err != nil {
			break
		}
		switch ev := n.Event.(type) {
		case scrollback.UsageEvent:
			left := j.tree.addTokens(ev.TotalTokens-j.tokens, j.bounds.Tokens)
			j.tokens = ev.TotalTokens
			if !left && !spent {
				spent = true
				stop()
			}
		case scrollback.ErrorEvent:
			failed = toolError(ev.Message)
		case scrollback.DoneEvent:
			done = ev
		}
	}
	switch {
	case done.FinishReason == scrollback.FinishMaxSteps:
		return toolError(fmt.Sprintf("it had not answered after %d steps", j.bounds.Steps))
	case done.Status == scrollback.TurnComplete && failed == nil:
		return nil
	case spent:
		return j.checkTokens()
	case done.Status == scrollback.TurnWaiting:
		return toolError("it called a tool of a client, which nobody answers")
	case failed != nil:
		return failed
	case done.FinishReason != "":
		return toolError("its answer was cut off (" + done.FinishReason + ")")
	}
	return toolError("somebody stopped it")
}

// keepTranscript stores what the sub-agent did as one Markdown text, and finds its last answer.
func (j *subagentRun) keepTranscript(ctx context.Context) error {
	var text bytes.Buffer
	heading := fmt.Sprintf("# Sub-agent: %s\n\n- conversation: %s\n- works for: %s\n", clip.ClipLine(j.child.Title, 200),
		j.child.ID, j.parent.ID)
	err := archive.WriteTranscript(&text, heading, func(yield func(scrollback.Message, error) bool) {
		for m, err := range j.parent.view.Recall().AllMessages(ctx, j.child.ID) {
			if err == nil {
				j.messages++
			}
			if m.Role == scrollback.RoleAssistant && m.Parts.Text() != "" {
				j.answer = m.Parts.Text()
			}
			if !yield(m, err) {
				return
			}
		}
	})
	if err != nil || j.messages == 0 {
		return err
	}
	whole, err := j.parent.view.e.intake.StoreArtifact(ctx, &text, "sub-agent: "+clip.ClipLine(j.child.Title, 100))
	if err == nil {
		j.whole = &whole
	}
	return err
}

// makeResult makes what the call returns to the model.
func (j *subagentRun) makeResult(failed error, room recall.Room) callResult {
	r := callResult{subagent: j.child.ID, whole: j.whole, isError: failed != nil}
	text := j.answer
	if failed != nil {
		text = scrollback.PublicMessage(failed)
		if words := toolError(""); errors.As(failed, &words) {
			text = string(words)
		}
		if j.child.ID != "" {
			text = "The sub-agent did not finish: " + text
		}
		if j.answer != "" {
			text += "\n\nIts last words were:\n" + j.answer
		}
	}
	last := ""
	if j.whole != nil {
		last = fmt.Sprintf(
			"\n\n[Sub-agent %s: %d messages, %d tokens. All of its work is %s: read it with context_read, context_tail or context_grep.]",
			j.child.ID,
			j.messages,
			j.tokens,
			scrollback.ArtifactRef(j.whole.ID),
		)
	}
	r.text = shortenResult(text, last, room)
	return r
}

// shortenResult returns a text and its last line, the text cut in its middle until both fit.
func shortenResult(text, last string, room recall.Room) string {
	out := text + last
	for most := len(text); (len(out) > room.Bytes || int64(token.Count(out)) > room.Tokens) && most > 64; {
		most = most * 3 / 4
		out = clip.HeadBytes(text, most*2/3) + "\n[… shortened here …]\n" + clip.TailBytes(text, most/3) + last
	}
	return strings.TrimSpace(out)
}
