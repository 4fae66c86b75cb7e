package access

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// coversKey reports whether everything that a key lets one see is also the caller's: an admin of
// some projects rules over the keys of these, and knows of no others.
func coversKey(c scrollback.Caller, k scrollback.Key) bool {
	if c.AllProjects {
		return true
	}
	for _, p := range k.Projects {
		if !c.SeesProject(p) {
			return false
		}
	}
	return len(k.Projects) > 0
}

// requireAdmin returns the caller of a context, who must be an admin on a server that has keys.
func (g *Gate) requireAdmin(ctx context.Context) (scrollback.Caller, error) {
	c := CallerOf(ctx)
	if !c.HasAccess(scrollback.AccessAdmin) {
		return c, c.AccessError("access.Keys", scrollback.AccessAdmin)
	}
	if g.o.Keys == nil {
		return c, scrollback.Errorf(scrollback.Unavailable, "access.Keys", i18n.ServerKeepsNoKeys)
	}
	return c, nil
}

// ListKeys lists the keys that reach no further than the caller, an admin: oldest first, those that
// have ended too.
func (g *Gate) ListKeys(ctx context.Context) ([]scrollback.Key, error) {
	c, err := g.requireAdmin(ctx)
	if err != nil {
		return nil, err
	}
	all, err := g.o.Keys.List(ctx)
	out := []scrollback.Key{}
	for _, k := range all {
		if coversKey(c, k) {
			out = append(out, k)
		}
	}
	return out, err
}

// AddKey makes a key that reaches no further than the caller, and returns it with its secret. That
// of an admin of some projects ends no later than the admin's own.
func (g *Gate) AddKey(ctx context.Context, k scrollback.Key) (scrollback.Key, string, error) {
	c, err := g.requireAdmin(ctx)
	if err != nil {
		return scrollback.Key{}, "", err
	}
	for _, p := range k.Projects {
		if !c.SeesProject(p) {
			return scrollback.Key{}, "", scrollback.Errorf(scrollback.NotFound, "access.AddKey", i18n.NoProject, p)
		}
	}
	if !coversKey(c, k) {
		return scrollback.Key{}, "", scrollback.Errorf(scrollback.Refused, "access.AddKey",
			i18n.NeedsAccessToAllProjects)
	}
	if until := visitOf(ctx).until; until > 0 && !c.AllProjects {
		switch {
		case k.ExpiresAt == 0:
			k.ExpiresAt = until
		case k.ExpiresAt > until:
			return scrollback.Key{}, "", scrollback.Errorf(scrollback.Refused, "access.AddKey",
				i18n.KeyOutlastsItsMaker)
		}
	}
	return g.o.Keys.Add(ctx, k)
}

// RevokeKey ends a key by its id. One that reaches further than the caller does not exist for it.
func (g *Gate) RevokeKey(ctx context.Context, id scrollback.KeyID) (scrollback.Key, error) {
	c := CallerOf(ctx)
	if g.o.Keys != nil {
		k, err := g.o.Keys.FindNamed(ctx, string(id))
		if err == nil && (k.ID != id || !coversKey(c, k)) {
			err = scrollback.Errorf(scrollback.NotFound, "access.RevokeKey", i18n.NoSuchKey)
		}
		if err != nil {
			return scrollback.Key{}, err
		}
	}
	if _, err := g.requireAdmin(ctx); err != nil {
		return scrollback.Key{}, err
	}
	return g.o.Keys.Revoke(ctx, string(id))
}
