package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/recall"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/workspace"
)

// task is what a model asks for.
type task struct {
	Task, Title, Model string
	Limit              int
	Roots              *[]string
}

// job is one call under way.
type job struct {
	*Crew
	desk  Desk
	by    Employer
	call  scrollback.ToolCall
	child scrollback.Conversation
	said  string // its last answer
	count int    // messages
	used  int64  // tokens, without those of its own sub-agents
	whole *scrollback.Artifact
}

// told is why there is no result, in words for the model.
type told string

func (t told) Error() string { return string(t) }

// do starts the sub-agent, waits for it, and keeps what it did. The error says why there is
// no result.
func (j *job) do(ctx context.Context) error {
	t, err := recall.Arguments[task](j.call.Arguments)
	if err != nil {
		return err
	}
	if strings.TrimSpace(t.Task) == "" {
		return told("the task is empty: say what the sub-agent is to do")
	}
	if j.child, err = j.start(ctx, t); err != nil {
		return err
	}
	ended := j.work(ctx, t.Task)
	if ctx.Err() != nil || j.child.ID == "" {
		return ended
	}
	if err := j.keep(ctx); err != nil {
		return err
	}
	return ended
}

// start stores the conversation of a sub-agent, within the bounds. What is counted stays
// counted until the conversation is there to be counted.
func (j *job) start(ctx context.Context, t task) (scrollback.Conversation, error) {
	c := scrollback.Conversation{Project: j.by.Project, Title: clip.Line(cmp.Or(strings.TrimSpace(t.Title), t.Task), 80),
		Model:  cmp.Or(t.Model, j.by.Model, j.by.Conversation.Model),
		Limit:  cmp.Or(t.Limit, int(j.by.Limit), j.by.Conversation.Limit),
		Policy: j.by.Policy, Instructions: instructions, Roots: j.by.Roots, Settings: j.by.Settings,
		AgentOf: &scrollback.AgentRef{ID: j.by.ID, TurnID: j.by.Turn, CallID: j.call.ID}}
	c.Settings.Pinned = false
	c.Settings.Tools = nil
	c.Settings.ArchiveOnCompact = false
	if t.Roots != nil {
		roots, err := workspace.Narrow(j.by.Roots, *t.Roots)
		if err != nil {
			return c, err
		}
		c.Roots = append([]string{}, roots...)
	}
	top, depth, err := j.top(ctx)
	if err != nil {
		return c, err
	}
	c.Settings.Agents = depth+1 < j.o.Depth
	j.tree.mu.Lock()
	defer j.tree.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	switch below, err := j.desk.Below(ctx, top); {
	case err != nil:
		return c, err
	case depth >= j.o.Depth:
		return c, told("a sub-agent at this depth cannot start others: do the task yourself")
	case j.started >= j.o.PerTurn:
		return c, told(fmt.Sprintf("at most %d sub-agents can be started in one turn: go on with what you have", j.o.PerTurn))
	case len(below) >= j.o.PerTree:
		return c, told(fmt.Sprintf("this conversation has %d sub-agents already, and at most %d are kept: go on without",
			len(below), j.o.PerTree))
	case j.tree.tokens >= j.o.Tokens:
		return c, j.spent()
	}
	made, err := j.desk.Create(ctx, c)
	if err != nil {
		return c, err // without the id that it would have got
	}
	j.started++
	return made, nil
}

func (j *job) spent() error {
	return told(fmt.Sprintf("the sub-agents of this turn have used the %d tokens that they may: go on with what you have",
		j.o.Tokens))
}

// top is the conversation at the top of the employer's tree, and how deep the employer
// stands below it.
func (j *job) top(ctx context.Context) (scrollback.ConversationID, int, error) {
	c := j.by.Conversation
	for depth := 0; ; depth++ {
		if c.AgentOf == nil || depth > j.o.Depth {
			return c.ID, depth, nil
		}
		of, err := j.desk.Get(ctx, c.AgentOf.ID)
		if scrollback.CodeOf(err) == scrollback.NotFound { // purged
			return c.ID, depth + 1, nil
		}
		if err != nil {
			return "", 0, err
		}
		c = of
	}
}

// work runs the turn of a sub-agent to its end. If ctx ends first, or there are no tokens
// left, the turn is stopped and its end awaited.
func (j *job) work(ctx context.Context, prompt string) error {
	apart := context.WithoutCancel(ctx)
	turn, events, err := j.desk.Begin(apart, j.child.ID, prompt, j.Crew)
	if err != nil {
		if j.desk.Discard(apart, j.child.ID) == nil { // or it stays, empty
			j.child = scrollback.Conversation{}
		}
		return err
	}
	// if it fails, the turn has ended or goes on to its own bounds
	stop := func() { _ = j.desk.Stop(apart, j.child.ID, turn) }
	defer context.AfterFunc(ctx, stop)()
	spent := false
	var failed error
	done := scrollback.DoneEvent{}
	for ev := range events {
		switch ev := ev.(type) {
		case scrollback.UsageEvent:
			left := j.tree.use(ev.TotalTokens-j.used, j.o.Tokens)
			j.used = ev.TotalTokens
			if !left && !spent {
				spent = true
				stop()
			}
		case scrollback.ErrorEvent:
			failed = told(ev.Message)
		case scrollback.DoneEvent:
			done = ev
		}
	}
	switch {
	case done.FinishReason == scrollback.FinishMaxSteps:
		return told(fmt.Sprintf("it had not answered after %d steps", j.o.Steps))
	case done.Status == scrollback.TurnComplete && failed == nil:
		return nil
	case spent:
		return j.spent()
	case done.Status == scrollback.TurnWaiting:
		return told("it called a tool of a client, which nobody answers")
	case failed != nil:
		return failed
	case done.FinishReason != "":
		return told("its answer was cut off (" + done.FinishReason + ")")
	}
	return told("somebody stopped it")
}

// keep stores what the sub-agent did as one Markdown text, and finds its last answer.
func (j *job) keep(ctx context.Context) error {
	var text bytes.Buffer
	heading := fmt.Sprintf("# Sub-agent: %s\n\n- conversation: %s\n- works for: %s\n", clip.Line(j.child.Title, 200),
		j.child.ID, j.by.ID)
	err := j.desk.Render(&text, heading, func(yield func(scrollback.Message, error) bool) {
		for m, err := range j.desk.Messages(ctx, j.child.ID) {
			if err == nil {
				j.count++
			}
			if m.Role == scrollback.RoleAssistant && m.Parts.Text() != "" {
				j.said = m.Parts.Text()
			}
			if !yield(m, err) {
				return
			}
		}
	})
	if err != nil || j.count == 0 {
		return err
	}
	whole, err := j.desk.Keep(ctx, &text, "sub-agent: "+clip.Line(j.child.Title, 100))
	if err == nil {
		j.whole = &whole
	}
	return err
}

// result is what the model is told.
func (j *job) result(failed error, room recall.Room) Result {
	r := Result{Conversation: j.child.ID, Whole: j.whole, IsError: failed != nil}
	text := j.said
	if failed != nil {
		text = scrollback.Shown(failed)
		if words := told(""); errors.As(failed, &words) {
			text = string(words)
		}
		if j.child.ID != "" {
			text = "The sub-agent did not finish: " + text
		}
		if j.said != "" {
			text += "\n\nIts last words were:\n" + j.said
		}
	}
	last := ""
	if j.whole != nil {
		last = fmt.Sprintf("\n\n[Sub-agent %s: %d messages, %d tokens. All of its work is %s: read it with context_read, context_tail or context_grep.]",
			j.child.ID, j.count, j.used, scrollback.ArtifactRef(j.whole.ID))
	}
	r.Text = shorten(text, last, room)
	return r
}

// shorten is a text and its last line, the text cut in its middle until both fit.
func shorten(text, last string, room recall.Room) string {
	out := text + last
	for most := len(text); (len(out) > room.Bytes || int64(token.Count(out)) > room.Tokens) && most > 64; {
		most = most * 3 / 4
		out = clip.Bytes(text, most*2/3) + "\n[… shortened here …]\n" + clip.TailBytes(text, most/3) + last
	}
	return strings.TrimSpace(out)
}
