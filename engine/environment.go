package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/internal/intake"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/token"
)

// environmentShare is the share of the budget that the environment may take.
const environmentShare = 0.10

// buildEnvironment describes to a conversation's model where it works, with what its caller said in other
// conversations if it is a new one, and a message about what has changed since it was last told, on the day that it
// is in a zone. Nil means that there is nothing to tell.
func (v *View) buildEnvironment(ctx context.Context, c scrollback.Conversation, settings request.Settings,
	zone *time.Location) (*scrollback.Environment, []store.IncomingMessage, error) {
	env, change, err := v.e.describePlace(ctx, c, settings, zone)
	if err != nil || c.Environment != nil || c.Messages > 0 {
		return env, change, err
	}
	kept, err := v.Kept().inherit(ctx, c, &settings)
	if err != nil || kept == "" {
		return env, change, err
	}
	if env == nil {
		env = &scrollback.Environment{}
	}
	env.Kept = kept
	return env, change, nil
}

func (e *Engine) describePlace(ctx context.Context, c scrollback.Conversation, settings request.Settings,
	zone *time.Location) (*scrollback.Environment, []store.IncomingMessage, error) {
	if e.o.Place == nil {
		return c.Environment, nil, nil
	}
	p := *e.o.Place
	p.Now = time.UnixMilli(e.store.Now()).In(cmp.Or(zone, p.Now.Location()))
	p.MaxTokens = int(environmentShare * float64(settings.Budget.Tokens))
	p.Count = token.Count
	p.Roots = e.usableRoots(c)
	if c.Environment != nil && workspace.ReadState(p).Equal(c.Environment.Told) {
		return c.Environment, nil, nil
	}
	seen, err := workspace.ReadPlace(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range seen.Notes {
		e.o.Log.Info("the environment of a conversation is incomplete", "conversation", c.ID, "note", note)
	}
	if c.Environment == nil {
		return &scrollback.Environment{Text: seen.FullText(), First: seen.State, Told: seen.State}, nil, nil
	}
	env := *c.Environment
	env.Told = seen.State
	text := seen.ChangeText(c.Environment.First, c.Environment.Told)
	if text == "" {
		return c.Environment, nil, nil
	}
	return &env, []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleSystem,
		Name:  scrollback.EnvironmentName,
		Parts: scrollback.Parts{scrollback.Text{Text: text}}}}}, nil
}

// FilesMax bounds what [View.Files] lists.
const FilesMax = 200

// Files lists at most limit paths (0 means 50, at most [FilesMax]) in the folders of a
// conversation that continue prefix, as a reference in a message names them.
func (v *View) Files(ctx context.Context, id scrollback.ConversationID, prefix string,
	limit int) ([]workspace.Completion, error) {
	h, err := v.door.openHead(ctx, id, scrollback.AccessRead)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = 50
	}
	return workspace.Complete(ctx, v.e.usableRoots(h.Conversation), prefix, min(limit, FilesMax))
}

// keepEnvironment records what a conversation was told: its first environment, or that a change
// precedes the message. It runs inside Begin.
func keepEnvironment(c *scrollback.Conversation, env *scrollback.Environment, changed bool) {
	switch {
	case env == nil:
	case c.Environment == nil:
		c.Environment = env
	case changed:
		kept := *c.Environment
		kept.Told = env.Told
		kept.Changed = true
		c.Environment = &kept
	}
}

// usableRoots returns the folders that a conversation may use now: what was granted once may no
// longer be, or may be gone.
func (e *Engine) usableRoots(c scrollback.Conversation) (out []string) {
	for _, root := range c.Roots {
		if now, err := e.grants.NarrowRoots([]string{root}); err == nil {
			out = append(out, now...)
		} else {
			e.o.Log.Info("a root of a conversation cannot be used", "conversation", c.ID, "error", err)
		}
	}
	return out
}

// buildPrompt returns what a request says, for its marks to be followed as its caller.
func (a *incomingTurn) buildPrompt() intake.Prompt {
	budget := float64(a.settings.Budget.Tokens)
	left := int64(recallsShare * budget)
	return intake.Prompt{Head: a.head, Parts: a.request.Message, Plain: a.request.PlainMarks,
		Roots: func() []string { return a.v.e.usableRoots(a.head.Conversation) },
		Call: func(ctx context.Context, tool string, args json.RawMessage) (string, error) {
			room := recall.Room{Bytes: recall.RoomMax.Bytes, Tokens: min(left, int64(recallShare*budget))}
			text, err := a.v.Recall().RunTool(ctx, a.head.ID, tool, args, room)
			if err != nil {
				return "", errors.New(scrollback.PublicMessage(err))
			}
			left -= int64(token.Count(text))
			return text, nil
		}}
}
