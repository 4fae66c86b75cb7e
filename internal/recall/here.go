package recall

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// ScopeFolder, beside the scopes of a conversation, is the ground's folders alone.
const ScopeFolder = "folder"

// WorkPlace is where an asker works: Folders are absolute. Scope is how far it may look:
// [ScopeFolder], the projects of the conversations that were worked on there
// ([scrollback.ScopeProject]), or everywhere.
type WorkPlace struct {
	Folders []string
	Scope   string
}

// LocalConversation is a conversation that was worked on in the ground's folders. At is when the newest
// message of its current branch was said, in Unix ms.
type LocalConversation struct {
	ID scrollback.ConversationID
	At int64
}

// absolute finds the beginning of an absolute path, on whichever system.
var absolute = lazyregexp.New(`^(?:/|\\\\|[A-Za-z]:[/\\])`)

// NormalizeFolder returns a folder in the form in which folders are compared. One that is not absolute
// is invalid.
func NormalizeFolder(name string) (string, error) {
	if !absolute().MatchString(name) {
		return "", scrollback.ParamErrorf("recall", "folder", i18n.FolderMustBeAbsolute, name)
	}
	if strings.HasPrefix(name, "/") {
		name = path.Clean(name)
	}
	return strings.TrimRight(name, `/\`), nil
}

// normalizeFolders returns several of them, each once.
func normalizeFolders(names []string) (out []string, err error) {
	for _, n := range names {
		if n, err = NormalizeFolder(n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// WithPlace returns a reader for an asker on a ground: its searches put first what was said in
// conversations that were worked on there, and what is out of its scope does not exist.
func (r *Reader) WithPlace(ctx context.Context, g WorkPlace) (*Reader, error) {
	var err error
	if g.Folders, err = normalizeFolders(g.Folders); err != nil {
		return nil, err
	}
	on := &Reader{store: r.store, archive: r.archive, access: r.access, ground: g, within: g.Folders}
	switch g.Scope {
	case "", scrollback.ScopeAll:
		return on, nil
	case scrollback.ScopeProject, ScopeFolder:
	default:
		return nil, scrollback.ParamErrorf("recall.WithPlace", "scope", i18n.ScopeIsOneOf, g.Scope)
	}
	there, err := workedBranches(ctx, on)
	if err != nil {
		return nil, err
	}
	b := boundedAccess{access: r.access, projects: []string{}, ids: map[scrollback.ConversationID]bool{},
		whole: g.Scope == scrollback.ScopeProject}
	for _, w := range there {
		b.ids[w.Conversation] = true
		b.projects = append(b.projects, w.Project)
	}
	slices.Sort(b.projects)
	b.projects = slices.Compact(b.projects)
	on.access = b
	return on, nil
}

// WithFolders returns a reader for an asker that works in other folders than its ground says. It
// sees no more for that.
func (r *Reader) WithFolders(names []string) (*Reader, error) {
	names, err := normalizeFolders(names)
	named := *r
	named.ground.Folders = searchableFolders(r, names)
	return &named, err
}

// searchableFolders returns the folders in which the reader may look.
func searchableFolders(r *Reader, names []string) []string {
	if r.ground.Scope != ScopeFolder {
		return names
	}
	return slices.DeleteFunc(names, func(f string) bool { return !store.FolderQuery{Folders: r.within}.HasFolder(f) })
}

// placeSearch returns a search that begins on the ground, or in folders that it names itself, and
// stays on the ground if its scope does.
func placeSearch(r *Reader, q scrollback.SearchQuery) (scrollback.SearchQuery, error) {
	named, err := normalizeFolders(q.Folders)
	q.InFolders = q.InFolders || r.ground.Scope == ScopeFolder
	if q.Folders = searchableFolders(r, named); len(named) == 0 {
		q.Folders = r.ground.Folders
	}
	return q, err
}

// workedBranches returns the branches of what was worked on in the ground's folders.
func workedBranches(ctx context.Context, r *Reader) ([]store.WorkedBranch, error) {
	if len(r.ground.Folders) == 0 {
		return nil, nil
	}
	projects, err := r.access.Projects("", nil)
	if err != nil {
		return nil, err
	}
	return r.store.Origins.FindWorkedBranches(ctx, store.FolderQuery{Folders: r.ground.Folders, Projects: projects})
}

// LocalConversations lists the conversations that were worked on in the ground's folders, without
// sub-agents: first that in which something was said last.
func (r *Reader) LocalConversations(ctx context.Context) ([]LocalConversation, error) {
	there, err := workedBranches(ctx, r)
	var out []LocalConversation
	for _, w := range there {
		if w.Current && !w.Agent {
			out = append(out, LocalConversation{w.Conversation, w.At})
		}
	}
	slices.SortFunc(out, func(a, b LocalConversation) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID))
	})
	return out, err
}

// Conversation returns a conversation that the caller may read; not_found for others.
func (r *Reader) Conversation(ctx context.Context, id scrollback.ConversationID) (scrollback.Conversation, error) {
	h, err := r.access.Head(ctx, id)
	return h.Conversation, err
}

// SeenProjects limits a list to what the caller may see: to the project that is named, if any.
// Nil means no limit.
func (r *Reader) SeenProjects(name string) ([]string, error) { return r.access.Projects(name, nil) }

// Origins returns where conversations of the caller come from, by conversation; those that were
// not imported have none.
func (r *Reader) Origins(ctx context.Context,
	ids []scrollback.ConversationID) (map[scrollback.ConversationID]scrollback.Origin, error) {
	for _, id := range ids {
		if err := r.access.Allow(ctx, id); err != nil {
			return nil, err
		}
	}
	return findOrigins(ctx, r, ids)
}

// copiesMost is how many copies of a conversation are looked at.
const copiesMost = 50

// findOrigins returns where conversations come from, as far as readers may know it: not where a tool
// keeps them on the machine that brought them. Of several copies one counts that has messages
// of its own.
func findOrigins(ctx context.Context, r *Reader,
	ids []scrollback.ConversationID) (map[scrollback.ConversationID]scrollback.Origin, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	all, err := r.store.Origins.List(ctx, store.OriginQuery{Conversations: ids, Trash: true, Limit: copiesMost * len(ids)})
	out := map[scrollback.ConversationID]scrollback.Origin{}
	shared := map[scrollback.ConversationID]bool{}
	for _, o := range all {
		if o.Tool == scrollback.OriginRepository {
			continue
		}
		if _, known := out[o.Conversation]; !known || shared[o.Conversation] && !o.Shared {
			shared[o.Conversation] = o.Shared
			out[o.Conversation] = scrollback.Origin{Tool: o.Tool, ID: o.ID, Conversation: o.Conversation, Folder: o.Folder,
				GitBranch:  o.GitBranch,
				ImportedAt: o.ImportedAt}
		}
	}
	return out, err
}

// addOrigins says of hits where their conversations come from.
func addOrigins(ctx context.Context, r *Reader, found scrollback.SearchResult) (scrollback.SearchResult, error) {
	var ids []scrollback.ConversationID
	for _, h := range found.Hits {
		ids = append(ids, h.ConversationID)
	}
	from, err := findOrigins(ctx, r, ids)
	for i, h := range found.Hits {
		if o, ok := from[h.ConversationID]; ok {
			found.Hits[i].Origin = &o
		}
	}
	return found, err
}
