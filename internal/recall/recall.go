// Package recall reads what was said in a conversation: it lists and resolves refs,
// reads, tails and greps the originals behind them, searches messages by words,
// and runs the recall tools that a model calls.
//
// Words it adds: reader (recall for one caller), room (how big a result for a
// model may be), ground (where an asker works).
//
// Invariants: it only reads; a conversation or ref that is not the caller's is
// not_found; a tool's result is JSON that fits its room, and what did not fit is
// one call away; a model reaches no further than its conversation's recall_scope,
// and never further than its caller.
//
// It knows the store and the archive, but no models, windows or wire formats.
package recall

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Access decides what a caller may read.
type Access interface {
	// Head returns a conversation and its current branch; not_found if the caller may not
	// read it.
	Head(ctx context.Context, id scrollback.ConversationID) (store.Head, error)

	// Allow returns nil if the caller may read a conversation. It may leave an id that
	// does not exist for its reader.
	Allow(ctx context.Context, id scrollback.ConversationID) error

	// Projects limits what the caller searches through: to the project that is named, if
	// any, to those in within, unless nil, and to the caller's own. Nil means no limit.
	Projects(name string, within []string) ([]string, error)

	// Question returns what looks at the vectors of messages for a search; nil where words alone are searched.
	Question(q scrollback.SearchQuery) store.Question
}

// Reader reads for one caller. It is safe for concurrent use.
type Reader struct {
	store   *store.Store
	archive *archive.Archive
	access  Access
	ground  WorkPlace
	within  []string // the folders of its scope, if that is those
}

// New makes a reader for a door's caller.
func New(s *store.Store, a *archive.Archive, d Access) *Reader {
	return &Reader{store: s, archive: a, access: d}
}

// Refs lists what a conversation mentions, newest first, and returns the next cursor.
func (r *Reader) Refs(ctx context.Context, id scrollback.ConversationID,
	q scrollback.RefQuery) ([]scrollback.RefEntry, string, error) {
	if err := r.access.Allow(ctx, id); err != nil {
		return nil, "", err
	}
	items, next, err := r.store.Refs.List(ctx, id, q)
	if err != nil || items == nil {
		return []scrollback.RefEntry{}, next, err
	}
	return items, next, r.describeHistory(ctx, items)
}

// hintRunes bounds the hint of a segment.
const hintRunes = 200

// describeHistory gives the segments among some refs a hint each that tells them apart: what is stored with
// them is the beginning of a summary, which each hands on to the next.
func (r *Reader) describeHistory(ctx context.Context, refs []scrollback.RefEntry) error {
	var ids []scrollback.SegmentID
	var at []int
	for i, e := range refs {
		if kind, id, err := e.Ref.Split(); err == nil && kind == scrollback.RefHistory {
			ids = append(ids, scrollback.SegmentID(id))
			at = append(at, i)
		}
	}
	segs, err := r.store.ReadSegments(ctx, ids)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for i, s := range segs {
		refs[at[i]].Hint = clip.ClipLine(listSegment(s).firstUnused(used), hintRunes)
	}
	return nil
}

// Owner returns the conversation through which the caller may read a ref: the newest one
// that mentions it.
func (r *Reader) Owner(ctx context.Context, ref scrollback.Ref) (scrollback.ConversationID, error) {
	within, err := r.access.Projects("", nil)
	if err != nil {
		return "", err
	}
	if within == nil {
		return r.store.Refs.FindOwner(ctx, ref)
	}
	ids, err := r.store.Refs.ListMentions(ctx, ref, within)
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		switch _, err := r.access.Head(ctx, id); {
		case err == nil:
			return id, nil
		case scrollback.CodeOf(err) != scrollback.NotFound:
			return "", err
		}
	}
	return "", scrollback.Errorf(scrollback.NotFound, "recall.Owner", i18n.NoConversationMentionsName, ref)
}

// resolveRef finds what a ref points at through a conversation that mentions it.
func (r *Reader) resolveRef(ctx context.Context, id scrollback.ConversationID,
	ref scrollback.Ref) (scrollback.RefEntry, error) {
	if err := r.access.Allow(ctx, id); err != nil {
		return scrollback.RefEntry{}, err
	}
	return r.store.Refs.Get(ctx, id, ref)
}

// Read returns a page of what a ref points at, or of the messages that its numbers name on the conversation's
// path: at most limit bytes from offset; limit 0 means [scrollback.ReadDefault].
func (r *Reader) Read(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref, offset int64,
	limit int) (scrollback.Page, error) {
	if ref.IsNumbers() {
		named, err := r.resolveNumbers(ctx, id, ref)
		if err != nil {
			return scrollback.Page{}, err
		}
		return r.archive.ReadNumbered(ctx, named, offset, limit)
	}
	entry, err := r.resolveRef(ctx, id, ref)
	if err != nil {
		return scrollback.Page{}, err
	}
	return r.archive.Read(ctx, entry, offset, limit)
}

// Tail returns the last lines of what a ref points at, or of numbered messages; 0 means
// [scrollback.TailDefault].
func (r *Reader) Tail(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref,
	lines int) (scrollback.Tail, error) {
	if ref.IsNumbers() {
		named, err := r.resolveNumbers(ctx, id, ref)
		if err != nil {
			return scrollback.Tail{}, err
		}
		return r.archive.TailNumbered(ctx, named, lines)
	}
	entry, err := r.resolveRef(ctx, id, ref)
	if err != nil {
		return scrollback.Tail{}, err
	}
	return r.archive.Tail(ctx, entry, lines)
}

// Grep finds matching lines behind a ref, in the messages that its numbers name, or in the whole
// conversation.
func (r *Reader) Grep(ctx context.Context, id scrollback.ConversationID,
	q scrollback.GrepQuery) (scrollback.GrepResult, error) {
	head, err := r.access.Head(ctx, id)
	if err != nil {
		return scrollback.GrepResult{}, err
	}
	lineage := append([]scrollback.ConversationID{id}, head.Ancestors...)
	scope := archive.Scope{Artifact: func(ctx context.Context,
		art scrollback.ArtifactID) (scrollback.Artifact, bool, error) {
		entry, err := r.store.Refs.GetIn(ctx, lineage, scrollback.ArtifactRef(art))
		if scrollback.CodeOf(err) == scrollback.NotFound {
			return scrollback.Artifact{}, false, nil
		}
		return scrollback.Artifact{ID: art, MediaType: entry.MediaType, Name: entry.Hint, Size: entry.Bytes}, err == nil, err
	}}
	if q.Ref.IsNumbers() {
		named, err := r.numbersOn(ctx, head, q.Ref)
		if err != nil {
			return scrollback.GrepResult{}, err
		}
		q.Ref = ""
		scope.Stretches = []archive.Stretch{{Branch: named.Branch, From: named.First, To: named.Last}}
		return r.archive.Grep(ctx, scope, q)
	}
	if q.Ref != "" {
		entry, err := r.store.Refs.GetIn(ctx, lineage, q.Ref)
		if err != nil {
			return scrollback.GrepResult{}, err
		}
		q.Ref = entry.Ref
		return r.archive.Grep(ctx, scope, q)
	}
	for _, s := range head.Branch.View.Segments {
		scope.Stretches = append(scope.Stretches, archive.Stretch{Segment: s.ID})
	}
	scope.Stretches = append(scope.Stretches,
		archive.Stretch{Branch: head.Branch.ID, From: head.Branch.View.Boundary + 1, To: head.Branch.HeadSeq})
	return r.archive.Grep(ctx, scope, q)
}

// Search finds messages by words: in one conversation and its ancestors, in a
// project, or everywhere that the caller may look. Which sub-agents are searched is not the
// caller's to say: Agents counts as empty.
func (r *Reader) Search(ctx context.Context, q scrollback.SearchQuery) (scrollback.SearchResult, error) {
	q.Agents = nil
	return r.searchMessages(ctx, q)
}

func (r *Reader) searchMessages(ctx context.Context, q scrollback.SearchQuery) (scrollback.SearchResult, error) {
	const op = "recall.Search"
	switch {
	case q.Limit < 0 || q.Limit > scrollback.SearchMaxHTTP:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "limit", i18n.LimitOutOfRange,
			scrollback.SearchMaxHTTP)
	case q.Around < 0 || q.Around > scrollback.AroundMax:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "around", i18n.AroundOutOfRange, scrollback.AroundMax)
	case q.Order != "" && q.Order != scrollback.OrderRelevance && q.Order != scrollback.OrderTime:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "order", i18n.OrderIsOneOf,
			scrollback.OrderRelevance, scrollback.OrderTime)
	case q.Offset < 0 || q.Offset > scrollback.SearchDepth*2:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "offset", i18n.OffsetOutOfRange,
			scrollback.SearchDepth*2)
	case q.From < 0 || q.To < 0 || q.To != 0 && q.To < q.From:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "from", i18n.FromMustBeBeforeTo)
	case len(q.Query) > 4*scrollback.PatternMax:
		return scrollback.SearchResult{}, scrollback.ParamErrorf(op, "query", i18n.QueryTooLong,
			4*scrollback.PatternMax)
	}
	if q.Role != "" {
		if _, err := scrollback.ParseRole(string(q.Role)); err != nil {
			return scrollback.SearchResult{}, &scrollback.Error{Code: scrollback.Invalid, Op: op, Param: "role", Err: err}
		}
	}
	if q.Conversation != "" {
		// Unlike Allow, this fails if the id does not exist.
		if _, err := r.access.Head(ctx, q.Conversation); err != nil {
			return scrollback.SearchResult{}, err
		}
		return searchStore(ctx, r, q)
	}
	var err error
	if q, err = placeSearch(r, q); err != nil || q.InFolders && len(q.Folders) == 0 {
		return scrollback.SearchResult{Hits: []scrollback.Hit{}}, err
	}
	if q.Projects, err = r.access.Projects(q.Project, q.Projects); err != nil {
		return scrollback.SearchResult{}, err
	}
	return searchStore(ctx, r, q)
}

func searchStore(ctx context.Context, r *Reader, q scrollback.SearchQuery) (scrollback.SearchResult, error) {
	found, err := r.store.SearchByMeaning(ctx, q, r.access.Question(q))
	if err != nil {
		return found, err
	}
	return addOrigins(ctx, r, found)
}

// Artifact opens the bytes of an artifact for a conversation that mentions it.
func (r *Reader) Artifact(ctx context.Context, id scrollback.ConversationID,
	art scrollback.ArtifactID) (scrollback.Artifact, io.ReadSeekCloser, error) {
	entry, err := r.resolveRef(ctx, id, scrollback.ArtifactRef(art))
	if err != nil {
		return scrollback.Artifact{}, nil, err
	}
	art = scrollback.ArtifactID(entry.SHA256) // it may have been named by its end
	f, size, err := r.archive.OpenArtifact(ctx, art)
	return scrollback.Artifact{ID: art, MediaType: entry.MediaType, Name: entry.Hint, Size: size,
		CreatedAt: entry.CreatedAt}, f, err
}

// SignedFor is how long a URL of [Reader.SignedArtifact] is good.
const SignedFor = 5 * time.Minute

// SignedArtifact is Artifact for those who fetch the bytes from the bucket itself: it
// returns a URL that is good for [SignedFor], or an empty one where artifacts are fetched
// from here. how is its Content-Disposition.
func (r *Reader) SignedArtifact(ctx context.Context, id scrollback.ConversationID, art scrollback.ArtifactID,
	how func(scrollback.Artifact) string) (string, error) {
	if !archive.CanSign(r.archive) {
		return "", r.access.Allow(ctx, id)
	}
	entry, err := r.resolveRef(ctx, id, scrollback.ArtifactRef(art))
	if err != nil {
		return "", err
	}
	of := scrollback.Artifact{ID: scrollback.ArtifactID(entry.SHA256), MediaType: entry.MediaType, Name: entry.Hint}
	return archive.SignArtifact(ctx, r.archive, of.ID,
		archive.Download{MediaType: of.MediaType, Disposition: how(of), Cache: "private, max-age=31536000, immutable",
			For: SignedFor})
}

// Messages returns a page of a path and the seq to go on from, or 0.
func (r *Reader) Messages(ctx context.Context, id scrollback.ConversationID,
	q scrollback.PageQuery) ([]scrollback.Message, int64, error) {
	if err := r.access.Allow(ctx, id); err != nil {
		return nil, 0, err
	}
	ms, next, err := r.store.ReadPage(ctx, id, q)
	if ms == nil {
		ms = []scrollback.Message{}
	}
	return ms, next, err
}

// AllMessages reads every message on a conversation's path.
func (r *Reader) AllMessages(ctx context.Context, id scrollback.ConversationID) iter.Seq2[scrollback.Message, error] {
	return func(yield func(scrollback.Message, error) bool) {
		if err := r.access.Allow(ctx, id); err != nil {
			yield(scrollback.Message{}, err)
			return
		}
		r.store.WalkConversation(ctx, id)(yield)
	}
}

// PinnedMessages returns the messages that are pinned, oldest first.
func (r *Reader) PinnedMessages(ctx context.Context, id scrollback.ConversationID) ([]scrollback.Message, error) {
	head, err := r.access.Head(ctx, id)
	out := []scrollback.Message{}
	for _, seq := range head.PinnedSeqs {
		m, err := r.store.ReadMessageAt(ctx, head.Branch, seq)
		if err != nil {
			return out, err
		}
		out = append(out, m)
	}
	return out, err
}
