package engine

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/intake"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// View is the engine as one caller may use it: what is not the caller's is not_found,
// and what the caller's access does not allow is refused. It is cheap to make, and safe
// for concurrent use.
type View struct {
	e    *Engine
	door access
}

// As returns the engine for a caller: the only way to reach a conversation.
func (e *Engine) As(c scrollback.Caller) *View { return &View{e, access{e.store, c}} }

// Caller returns the caller of the view.
func (v *View) Caller() scrollback.Caller { return v.door.caller }

// Recall returns a reader of what was said in conversations: messages, refs, search.
func (v *View) Recall() *recall.Reader {
	return recall.New(v.e.store, v.e.archive, readAccess{v.door, v.e})
}

// Limits returns the bounds of one message; their Check reports what is wrong with one.
func (v *View) Limits() intake.MessageLimits { return v.e.intake.Limits }

// Upload stores an attachment for a conversation, whose messages may then name it.
func (v *View) Upload(ctx context.Context, id scrollback.ConversationID, r io.Reader,
	name string) (scrollback.Artifact, error) {
	head, err := v.door.openHead(ctx, id, scrollback.AccessWrite)
	if err != nil {
		return scrollback.Artifact{}, err
	}
	a, err := v.e.intake.StoreArtifact(ctx, r, name)
	if err != nil {
		return a, err
	}
	return a, v.e.store.Refs.PutArtifact(ctx, a, head.ID)
}

// Usage returns what the models' calls have cost.
func (v *View) Usage(ctx context.Context, q scrollback.UsageQuery) ([]scrollback.UsageSum, error) {
	var err error
	if q.Projects, err = v.door.limitProjects("", q.Projects); err != nil {
		return nil, err
	}
	if q.Conversation != "" {
		head, err := v.door.openHead(ctx, q.Conversation, scrollback.AccessRead)
		if err != nil {
			return nil, err
		}
		q.Conversation = head.ID
	}
	return v.e.store.Books.SumUsage(ctx, q)
}

// resolveProject returns where a conversation that the caller makes goes: the project it names, or
// the caller's first.
func (d access) resolveProject(name string) (string, error) {
	if name == "" && !d.caller.AllProjects && len(d.caller.Projects) > 0 {
		name = d.caller.Projects[0]
	}
	name = cmp.Or(name, scrollback.DefaultProject)
	if !d.caller.SeesProject(name) {
		return "", scrollback.Errorf(scrollback.NotFound, "engine", i18n.NoProject, name)
	}
	return name, nil
}

// access lets a caller reach its own conversations.
type access struct {
	store  *store.Store
	caller scrollback.Caller
}

// openHead returns a conversation with its current branch, if the caller has the access that is
// needed. It is the one place that reads it.
func (d access) openHead(ctx context.Context, id scrollback.ConversationID,
	need scrollback.Access) (store.Head, error) {
	h, err := d.store.ReadHead(ctx, id)
	if err != nil {
		return h, err
	}
	if !d.caller.SeesProject(h.Project) {
		return store.Head{}, scrollback.Errorf(scrollback.NotFound, "engine", i18n.NoConversation, id)
	}
	if err := d.requireAccess(need); err != nil {
		return store.Head{}, err
	}
	return h, nil
}

// checkAccess is head for callees that read the conversation themselves: for a caller who sees
// everything nothing is read, and an id that does not exist is left to the callee.
func (d access) checkAccess(ctx context.Context, id scrollback.ConversationID, need scrollback.Access) error {
	if d.caller.AllProjects {
		return d.requireAccess(need)
	}
	_, err := d.openHead(ctx, id, need)
	return err
}

// requireAccess returns nil if the caller has the access that is needed.
func (d access) requireAccess(need scrollback.Access) error {
	if d.caller.HasAccess(need) {
		return nil
	}
	return d.caller.AccessError("engine", need)
}

// limitProjects limits what a caller searches through: to the project that is named, if any,
// to those in within, unless nil, and to the caller's own. Nil means no limit.
func (d access) limitProjects(name string, within []string) ([]string, error) {
	if err := d.requireAccess(scrollback.AccessRead); err != nil {
		return nil, err
	}
	switch {
	case d.caller.AllProjects:
		return within, nil
	case name != "" && !d.caller.SeesProject(name):
		return nil, scrollback.Errorf(scrollback.NotFound, "engine", i18n.NoProject, name)
	}
	own := append([]string{}, d.caller.Projects...)
	if name != "" {
		own = []string{name}
	}
	if within != nil {
		own = slices.DeleteFunc(own, func(p string) bool { return !slices.Contains(within, p) })
	}
	return own, nil
}

// readAccess is a door for reading, as [recall.Reader] needs it.
type readAccess struct {
	access
	e *Engine
}

var _ recall.Access = readAccess{}

// Head implements [recall.Access].
func (r readAccess) Head(ctx context.Context, id scrollback.ConversationID) (store.Head, error) {
	return r.openHead(ctx, id, scrollback.AccessRead)
}

// Allow implements [recall.Access].
func (r readAccess) Allow(ctx context.Context, id scrollback.ConversationID) error {
	return r.checkAccess(ctx, id, scrollback.AccessRead)
}

// Projects implements [recall.Access].
func (r readAccess) Projects(name string, within []string) ([]string, error) {
	return r.limitProjects(name, within)
}

// PassLimits gives a key that the caller, an admin of some projects, has just made the limits of
// the caller's own key, on which it draws: it may do no more than the key that made it, and both
// together no more than that.
func (v *View) PassLimits(ctx context.Context, made scrollback.KeyID) (scrollback.KeyLimits, error) {
	if err := v.door.requireAccess(scrollback.AccessAdmin); err != nil {
		return scrollback.KeyLimits{}, err
	}
	if v.door.caller.AllProjects || v.door.caller.Key == "" {
		return scrollback.KeyLimits{}, nil
	}
	own, err := v.e.store.Books.ReadKeyLimits(ctx, v.door.caller.Key)
	if err != nil {
		return own, err
	}
	own.Maker = v.door.caller.Key
	return own, v.e.store.Books.SetKeyLimits(ctx, made, own)
}

// Admin holds what only a caller with admin access may do. It concerns the whole engine,
// not single conversations.
type Admin struct{ e *Engine }

// Admin returns what needs admin access to all projects; refused to others.
func (v *View) Admin() (*Admin, error) {
	if err := v.door.requireAccess(scrollback.AccessAdmin); err != nil {
		return nil, err
	}
	if !v.door.caller.AllProjects {
		return nil, scrollback.Errorf(scrollback.Refused, "engine", i18n.NeedsAccessToAllProjects)
	}
	return &Admin{v.e}, nil
}

// Grant adds a folder to those that conversations may be given, and returns it as it is
// stored.
func (a *Admin) Grant(folder string) (string, error) { return a.e.grants.GrantFolder(folder) }

// ForgetModel lets what a model's server has taught be learned again: its window, the
// parameters that it refused, and how strict its template is.
func (a *Admin) ForgetModel(ctx context.Context, name string) error {
	if _, err := a.e.resolver.FindModel(name); scrollback.CodeOf(err) == scrollback.Invalid {
		return err
	}
	return a.e.resolver.ForgetModel(ctx, name)
}

// KeyLimits returns the limits that were set for a key; the zero value for none.
func (a *Admin) KeyLimits(ctx context.Context, id scrollback.KeyID) (scrollback.KeyLimits, error) {
	return a.e.store.Books.ReadKeyLimits(ctx, id)
}

// SetKeyLimits replaces them; the zero value leaves the key to the configuration.
func (a *Admin) SetKeyLimits(ctx context.Context, id scrollback.KeyID, l scrollback.KeyLimits) error {
	return a.e.store.Books.SetKeyLimits(ctx, id, l)
}

// PurgeTrash purges what has been in the trash for longer than age, in ms, and returns
// the number of conversations, without the sub-agents that go with them. One that somebody takes out meanwhile, or in
// which a turn still runs, stays. While another server does it, nothing is done here.
func (a *Admin) PurgeTrash(ctx context.Context, age int64) (int, error) {
	claim, err := a.e.store.Claims.ClaimWork(ctx, "", "trash")
	if err != nil || claim == nil {
		return 0, err
	}
	defer claim.Release()
	purged := 0
	trashedBy := a.e.store.Now() - age
	q := scrollback.ListQuery{Trash: true, Limit: scrollback.ListMax}
	for {
		page, next, err := a.e.store.ListConversations(ctx, q)
		if err != nil {
			return purged, err
		}
		for _, c := range page {
			if c.DeletedAt > trashedBy {
				continue
			}
			with, err := a.e.store.Agents.IsTrashedWithParent(ctx, c)
			if with {
				continue
			}
			if err == nil {
				_, err = a.e.purgeConversation(ctx, c.ID, trashedBy)
			}
			switch scrollback.CodeOf(err) {
			case "":
				purged++
			case scrollback.NotFound, scrollback.Conflict:
			default:
				return purged, err
			}
		}
		if next == "" {
			return purged, nil
		}
		q.Cursor = next
	}
}
