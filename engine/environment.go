package engine

import (
	"context"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/workspace"
)

// environmentShare is the share of the budget that the environment may take.
const environmentShare = 0.10

// Grant adds a folder to those that conversations may be given: the operator's
// word, never a request's. It answers the folder as it is kept.
func (e *Engine) Grant(folder string) (string, error) {
	roots, err := workspace.Grant([]string{folder})
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.granted, roots[0]) {
		e.granted = append(slices.Clone(e.granted), roots[0])
	}
	return roots[0], nil
}

// narrow checks roots that a request names against the granted ones.
func (e *Engine) narrow(roots []string) ([]string, error) {
	e.mu.Lock()
	granted := e.granted
	e.mu.Unlock()
	if len(roots) == 0 {
		return []string{}, nil
	}
	return workspace.Narrow(granted, roots)
}

// narrowed is narrow for a conversation that has roots already: those were checked
// when they came, and are again whenever they are read.
func (e *Engine) narrowed(was, want []string) ([]string, error) {
	out := []string{}
	for _, root := range want {
		if !slices.Contains(was, root) {
			checked, err := e.narrow([]string{root})
			if err != nil {
				return nil, err
			}
			root = checked[0]
		}
		if !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	return out, nil
}

// environment is what a conversation is to be told of where it works, and a message
// that tells what has changed since it was told last. Nil is nothing to tell.
func (e *Engine) environment(ctx context.Context, c scrollback.Conversation, sh resolved) (*scrollback.Environment, []store.Incoming, error) {
	if e.o.Place == nil {
		return c.Environment, nil, nil
	}
	p := *e.o.Place
	p.Now = time.UnixMilli(e.store.Now()).In(p.Now.Location())
	p.MaxTokens, p.Count = int(environmentShare*float64(sh.budget.Tokens)), token.Count
	p.Roots = nil
	for _, root := range c.Roots {
		// What was granted once may not be now, or be gone.
		if now, err := e.narrow([]string{root}); err == nil {
			p.Roots = append(p.Roots, now...)
		} else {
			e.o.Log.Warn("a root of a conversation cannot be used", "conversation", c.ID, "error", err)
		}
	}
	if c.Environment != nil && workspace.Glance(p).Equal(c.Environment.Told) {
		return c.Environment, nil, nil
	}
	seen, err := workspace.Look(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range seen.Notes {
		e.o.Log.Info("the environment of a conversation is not whole", "conversation", c.ID, "note", note)
	}
	if c.Environment == nil {
		return &scrollback.Environment{Text: seen.Text(), First: seen.State, Told: seen.State}, nil, nil
	}
	env := *c.Environment
	env.Told = seen.State
	text := seen.Change(c.Environment.First, c.Environment.Told)
	if text == "" {
		return c.Environment, nil, nil
	}
	return &env, []store.Incoming{{Message: scrollback.Message{Role: scrollback.RoleSystem, Name: scrollback.EnvironmentName,
		Parts: scrollback.Parts{scrollback.Text{Text: text}}}}}, nil
}

// tell keeps what a conversation was told: its first environment, or that a change
// stands before the message. It runs inside Begin.
func tell(c *scrollback.Conversation, env *scrollback.Environment, changed bool) {
	switch {
	case env == nil:
	case c.Environment == nil:
		c.Environment = env
	case changed:
		told := *c.Environment
		told.Told, told.Changed = env.Told, true
		c.Environment = &told
	}
}

// forgetChanges makes the next turn tell anew how the environment differs from the
// first: a path that was left may have been where it was told, and the one that is
// gone over to may end with a change that is not so any more.
func forgetChanges(c *scrollback.Conversation) {
	if c.Environment == nil || !c.Environment.Changed && c.Environment.Told.Equal(c.Environment.First) {
		return
	}
	env := *c.Environment
	env.Told, env.Changed = scrollback.EnvironmentState{}, true
	c.Environment = &env
}
