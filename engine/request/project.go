package request

import (
	"context"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
)

// chooseForProject returns choose with what is stored of the conversation's project.
func (rs *Resolver) chooseForProject(ctx context.Context, c scrollback.Conversation, over Overrides) (Settings, error) {
	of, err := rs.FindProject(ctx, c.Project)
	if err != nil {
		return Settings{}, err
	}
	return rs.chooseModel(c, of, over)
}

// FindProject returns what is stored of a project; nothing for the empty name.
func (rs *Resolver) FindProject(ctx context.Context, name string) (scrollback.Project, error) {
	if name == "" {
		return scrollback.Project{}, nil
	}
	return rs.store.Projects.Get(ctx, name)
}

// Instructions returns those of a conversation of the project: the project's, then its own.
func (s *Settings) Instructions(c scrollback.Conversation) string {
	if s.Project.Instructions == "" || c.Instructions == "" {
		return s.Project.Instructions + c.Instructions
	}
	return s.Project.Instructions + "\n\n" + c.Instructions
}

// Inherited returns what a request of a conversation takes from its project; nil for nothing.
func (s *Settings) Inherited(c scrollback.Conversation) []scrollback.Inherited {
	out := scrollback.Inherited{From: "project " + c.Project, Tokens: s.ModelTokens(s.inherited)}
	of := s.Project.Settings
	over := s.Overrides
	inherits := func(name string, theirs bool) {
		if theirs {
			out.Settings = append(out.Settings, name)
		}
	}
	inherits("model", s.Project.Model != "" && c.Model == "" && over.Model == "")
	inherits("policy", s.Project.Policy != "" && c.Policy == "" && over.Policy == "")
	inherits("limit", s.LimitFrom == scrollback.LimitProject)
	for _, name := range slices.Sorted(maps.Keys(of.Compaction)) {
		_, own := c.Settings.Compaction[name]
		_, asked := over.Compaction[name]
		inherits("compaction."+name, !own && !asked)
	}
	inherits("recall_scope", of.RecallScope != "" && c.Settings.RecallScope == "")
	inherits("keep", of.Keep != "" && c.Settings.Keep == "")
	if over.Thinking.Or(c.Settings.ModelThinking()) == (scrollback.Thinking{}) {
		inherits("reasoning_effort", of.ReasoningEffort != "")
		inherits("thinking", of.Thinking != nil)
		inherits("thinking_budget", of.ThinkingBudget != 0)
	}
	if out.Tokens == 0 && len(out.Settings) == 0 {
		return nil
	}
	return []scrollback.Inherited{out}
}

// CheckProject returns an error if the model, policy, limit or settings of a project cannot
// be used, whatever policy a conversation of it names.
func (rs *Resolver) CheckProject(p scrollback.Project) error {
	for _, policy := range append([]string{""}, compact.Names()...) {
		if err := rs.CheckConversation(scrollback.Conversation{Project: p.Name, Policy: policy}, p); err != nil {
			return err
		}
	}
	return nil
}
