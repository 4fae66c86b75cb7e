package engine

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Projects are those of one caller.
type Projects struct{ v *View }

// Projects lists projects, and keeps what their conversations inherit.
func (v *View) Projects() Projects { return Projects{v} }

// List lists those of the caller's projects that have conversations or are stored, by
// name, without what is in them.
func (p Projects) List(ctx context.Context) ([]scrollback.Project, error) {
	if err := p.v.door.requireAccess(scrollback.AccessRead); err != nil {
		return nil, err
	}
	all, err := p.v.e.store.Projects.List(ctx)
	out := []scrollback.Project{}
	for _, one := range all {
		if p.v.door.caller.SeesProject(one.Name) {
			out = append(out, one)
		}
	}
	return out, err
}

// Get returns a project with what is stored of it. It is not_found if it is not the
// caller's, or if nothing is stored and no conversation names it.
func (p Projects) Get(ctx context.Context, name string) (scrollback.Project, error) {
	if err := p.checkAccess(name, scrollback.AccessRead); err != nil {
		return scrollback.Project{}, err
	}
	all, err := p.v.e.store.Projects.List(ctx)
	if err != nil {
		return scrollback.Project{}, err
	}
	for _, listed := range all {
		if listed.Name == name {
			out, err := p.v.e.store.Projects.Get(ctx, name)
			out.Conversations = listed.Conversations
			return out, err
		}
	}
	return scrollback.Project{}, scrollback.Errorf(scrollback.NotFound, "engine.Projects", i18n.NoProject, name)
}

// Resolve returns what is stored of the project that a request of the caller is in: the one it names, or the caller's
// own. It is not_found if that is not the caller's.
func (p Projects) Resolve(ctx context.Context, name string) (scrollback.Project, error) {
	if err := p.v.door.requireAccess(scrollback.AccessRead); err != nil {
		return scrollback.Project{}, err
	}
	name, err := p.v.door.resolveProject(name)
	if err != nil {
		return scrollback.Project{}, err
	}
	return p.v.e.store.Projects.Get(ctx, name)
}

// Put applies edit to what is stored of a project, in one transaction; if nothing is, it
// is stored from then on. ifVersion 0 means any version. It holds for the next request of
// each of its conversations. It takes admin access: instructions, models and budgets concern
// everybody in the project.
func (p Projects) Put(ctx context.Context, name string, ifVersion int64,
	edit func(*scrollback.Project) error) (scrollback.Project, error) {
	if err := p.checkAccess(name, scrollback.AccessAdmin); err != nil {
		return scrollback.Project{}, err
	}
	_, err := p.v.e.store.Projects.Put(ctx, name, ifVersion, func(v *scrollback.Project) error {
		if err := edit(v); err != nil {
			return err
		}
		return p.v.e.resolver.CheckProject(*v)
	})
	if err != nil {
		return scrollback.Project{}, err
	}
	return p.Get(ctx, name)
}

// Delete removes what is stored of a project, and touches no conversation: those that name
// it stay in it, and inherit nothing any more. ifVersion 0 means any version. It is
// not_found if nothing is stored, and takes admin access.
func (p Projects) Delete(ctx context.Context, name string, ifVersion int64) error {
	if err := p.checkAccess(name, scrollback.AccessAdmin); err != nil {
		return err
	}
	return p.v.e.store.Projects.Delete(ctx, name, ifVersion)
}

// findSpendLimit returns what a project may use in a day, and where that is set: what is stored of it,
// or else what the configuration says.
func (e *Engine) findSpendLimit(ctx context.Context, name string) (scrollback.SpendLimit, string, error) {
	of, err := e.store.Projects.Get(ctx, name)
	switch {
	case err != nil && scrollback.CodeOf(err) != scrollback.NotFound:
		return scrollback.SpendLimit{}, "", err
	case err == nil && of.Budget != nil:
		b := of.Budget
		return scrollback.SpendLimit{Tokens: b.TokensPerDay, Money: b.MoneyPerDay,
			Currency: b.Currency}, "scrollback projects set " + name, nil
	case e.o.SpendLimits == nil:
		return scrollback.SpendLimit{}, "", nil
	}
	return e.o.SpendLimits(ctx, name)
}

// checkAccess returns nil if a project is the caller's, who has the access that is needed.
func (p Projects) checkAccess(name string, need scrollback.Access) error {
	if !p.v.door.caller.SeesProject(name) {
		return scrollback.Errorf(scrollback.NotFound, "engine.Projects", i18n.NoProject, name)
	}
	return p.v.door.requireAccess(need)
}
