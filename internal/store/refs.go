package store

import (
	"context"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// PutArtifact records an artifact and, with a conversation, that it mentions it.
func (p Refs) PutArtifact(ctx context.Context, a scrollback.Artifact, by scrollback.ConversationID) error {
	return p.s.d.Log.PutArtifact(ctx, a, by)
}

// List lists what a conversation and its ancestors mention.
func (p Refs) List(ctx context.Context, id scrollback.ConversationID,
	q scrollback.RefQuery) ([]scrollback.RefEntry, string, error) {
	if q.Kind != "" && q.Kind != scrollback.RefHistory && q.Kind != scrollback.RefArtifact {
		return nil, "", scrollback.ParamErrorf("store.Refs.List", "kind", i18n.RefKindIsOneOf)
	}
	before, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	ids, err := p.s.ListLineage(ctx, id)
	if err != nil {
		return nil, "", err
	}
	limit, err := pageSize(q.Limit)
	if err != nil {
		return nil, "", err
	}
	items, err := p.s.d.Log.ListRefs(ctx,
		driver.RefQuery{Conversations: ids, Kind: q.Kind, Before: before, Limit: limit + 1})
	if err != nil || len(items) <= limit {
		return items, "", err
	}
	last := items[limit-1]
	return items[:limit], encodeCursor(driver.ListKey{At: last.CreatedAt, ID: string(last.Ref)}), nil
}

// FindSources returns the newest versions of what a conversation's messages refer to, by name:
// of each its own, or else that of the nearest ancestor that has one. A version may be of a
// message that is not on the current path.
func (p Refs) FindSources(ctx context.Context, h Head, names []string) (map[string]Source, error) {
	out := map[string]Source{}
	if len(names) == 0 {
		return out, nil
	}
	found, err := p.s.d.Log.FindSources(ctx, append([]scrollback.ConversationID{h.ID}, h.Ancestors...), names)
	for _, s := range found {
		out[s.Name] = s
	}
	return out, err
}

// WalkOwn walks the refs of a kind that one conversation mentions, and none of its
// ancestors; newest first.
func (p Refs) WalkOwn(ctx context.Context, id scrollback.ConversationID,
	kind string) iter.Seq2[scrollback.RefEntry, error] {
	return p.Walk(ctx, []scrollback.ConversationID{id}, kind, nil)
}

// Walk walks the refs of a kind that some conversations mention, newest first: all of
// them, or those that follow one. An artifact comes once for each of them that mentions it.
func (p Refs) Walk(ctx context.Context, ids []scrollback.ConversationID, kind string,
	after *scrollback.RefEntry) iter.Seq2[scrollback.RefEntry, error] {
	q := driver.RefQuery{Conversations: ids, Kind: kind, Limit: scrollback.ListMax}
	if after != nil {
		q.Before = &driver.ListKey{At: after.CreatedAt, ID: string(after.Ref)}
	}
	return walkPages(func() ([]scrollback.RefEntry, bool, error) {
		page, err := p.s.d.Log.ListRefs(ctx, q)
		if n := len(page); n > 0 {
			q.Before = &driver.ListKey{At: page[n-1].CreatedAt, ID: string(page[n-1].Ref)}
		}
		return page, len(page) == q.Limit, err
	})
}

// Get resolves a ref through a conversation that mentions it, or whose ancestor does;
// through any other it does not exist. The last [RefEnd] characters of an id, or more of
// them, stand for it unless another id of its kind ends alike, which is invalid. Other
// errors name the ref that was probably meant.
func (p Refs) Get(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref) (scrollback.RefEntry, error) {
	ids, err := p.s.ListLineage(ctx, id)
	if err != nil {
		return scrollback.RefEntry{}, err
	}
	return p.GetIn(ctx, ids, ref)
}

// GetIn is [Refs.Get] for conversations whose lineage is known.
func (p Refs) GetIn(ctx context.Context, ids []scrollback.ConversationID,
	ref scrollback.Ref) (scrollback.RefEntry, error) {
	const op = "store.Refs.Get"
	kind, name, err := ref.Split()
	if err != nil {
		return scrollback.RefEntry{}, scrollback.ParamErrorf(op, "ref", "%w%s", err, p.suggestRef(ctx, ids, ref))
	}
	found, err := p.findRef(ctx, driver.RefQuery{Conversations: ids, Ref: ref, Limit: 1})
	if err == nil && len(found) == 0 && RefEnd <= len(name) && len(name) < refWhole {
		found, err = p.findEnding(ctx, ids, kind, name)
	}
	if err != nil {
		return scrollback.RefEntry{}, err
	}
	if len(found) == 0 {
		return scrollback.RefEntry{}, scrollback.Errorf(scrollback.NotFound, op, i18n.ConversationMentionsNo, ref,
			p.suggestRef(ctx, ids, ref))
	}
	return found[0], nil
}

// findRef lists the mentions of a ref, or of the one for which that was given up.
func (p Refs) findRef(ctx context.Context, q driver.RefQuery) ([]scrollback.RefEntry, error) {
	found, err := p.s.d.Log.ListRefs(ctx, q)
	if err != nil || len(found) > 0 {
		return found, err
	}
	if q.Ref, err = p.s.Aliases.refNow(ctx, q.Ref); err != nil || q.Ref == "" {
		return nil, err
	}
	return p.s.d.Log.ListRefs(ctx, q)
}

// RefEnd is how many characters at the end of an id are enough to name it, and refWhole
// how many every whole id has at least.
const (
	RefEnd   = 6
	refWhole = 36
)

// findEnding finds the ref whose id ends with some characters; newest mention first.
func (p Refs) findEnding(ctx context.Context, ids []scrollback.ConversationID,
	kind, end string) (found []scrollback.RefEntry, err error) {
	for e, err := range p.Walk(ctx, ids, kind, nil) {
		switch {
		case err != nil:
			return nil, err
		case !strings.HasSuffix(string(e.Ref), end):
		case len(found) > 0 && found[0].Ref != e.Ref:
			return nil, scrollback.ParamErrorf("store.Refs.Get", "ref", i18n.RefIsAmbiguous, kind, end, found[0].Ref,
				e.Ref)
		default:
			found = append(found, e)
		}
	}
	return found, nil
}

// FindOwner returns a conversation through which a ref resolves, for the operator, who may
// read all of them. Its errors may name refs of any of them.
func (p Refs) FindOwner(ctx context.Context, ref scrollback.Ref) (scrollback.ConversationID, error) {
	const op = "store.Refs.Owner"
	if _, _, err := ref.Split(); err != nil {
		return "", scrollback.ParamErrorf(op, "ref", "%w%s", err, p.suggestRef(ctx, p.listOwners(ctx), ref))
	}
	found, err := p.findRef(ctx, driver.RefQuery{Ref: ref, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", scrollback.Errorf(scrollback.NotFound, op, i18n.NoConversationMentionsRef, ref,
			p.suggestRef(ctx, p.listOwners(ctx), ref))
	}
	return found[0].Conversation, nil
}

// mentionsMax bounds how many conversations are searched for a ref.
const mentionsMax = 100

// ListMentions returns the conversations of some projects, or of all for nil, that mention a
// ref, at most limit of them, newest first.
func (p Refs) ListMentions(ctx context.Context, ref scrollback.Ref,
	projects []string) (ids []scrollback.ConversationID, err error) {
	found, err := p.findRef(ctx, driver.RefQuery{Ref: ref, Projects: projects, Limit: mentionsMax})
	for _, r := range found {
		ids = append(ids, r.Conversation)
	}
	return ids, err
}

// Bounds of looking for a ref similar to one that does not exist.
const (
	nearScan   = 1000 // refs looked at, newest first
	nearOwners = 200  // conversations whose refs are looked at when none is named
	nearEdits  = 4    // characters that may be wrong, missing or too many
	nearPrefix = 8    // characters of an id that stand for it
)

// suggestRef returns the end of an error about a ref that does not exist: it names the most similar
// of those that the conversations mention, or is empty if none is a near miss.
func (p Refs) suggestRef(ctx context.Context, ids []scrollback.ConversationID, ref scrollback.Ref) string {
	known, err := p.s.d.Log.ListRefs(ctx, driver.RefQuery{Conversations: ids, Limit: nearScan})
	if err != nil {
		return "" // the error being reported matters more
	}
	if found := findNearest(string(ref), known); found != "" {
		return "; the nearest is " + string(found)
	}
	return ""
}

// listOwners returns the newest conversations.
func (p Refs) listOwners(ctx context.Context) (ids []scrollback.ConversationID) {
	found, _, err := p.s.ListConversations(ctx, scrollback.ListQuery{Limit: nearOwners})
	if err != nil {
		return nil
	}
	for i := range found {
		ids = append(ids, found[i].ID)
	}
	return ids
}

// findNearest returns the known ref whose id is most similar to what was given, with or without a
// kind, the newest of equals; empty if all differ too much.
func findNearest(given string, known []scrollback.RefEntry) scrollback.Ref {
	given = strings.ToLower(strings.Trim(given, " \t\n\"'`<>()[]."))
	if _, id, ok := strings.Cut(given, ":"); ok {
		given = strings.TrimSpace(id)
	}
	if len(given) < nearPrefix || len(given) > 100 {
		return ""
	}
	best := scrollback.Ref("")
	edits := nearEdits + 1
	for i := range known {
		_, id, err := known[i].Ref.Split()
		if err != nil {
			continue
		}
		d := editsBetween(given, id)
		if strings.HasPrefix(id, given) {
			d = min(d, 1)
		}
		if d < edits {
			best = known[i].Ref
			edits = d
		}
	}
	return best
}

// editsBetween is how many bytes have to be inserted, deleted or changed to turn a into
// b; any number above nearEdits only means too many.
func editsBetween(a, b string) int {
	if len(a)-len(b) > nearEdits || len(b)-len(a) > nearEdits {
		return nearEdits + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		least := i + 1
		row[0] = i + 1
		for j := range len(b) {
			d := left
			if a[i] != b[j] {
				d = 1 + min(left, row[j], row[j+1])
			}
			left = row[j+1]
			row[j+1] = d
			least = min(least, d)
		}
		if least > nearEdits {
			return nearEdits + 1
		}
	}
	return row[len(b)]
}
