package doctor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/store"
)

// Bounds of a repair. What is beyond them is left for the next.
const (
	maxWork   = 100_000 // things of one kind that one check finds to do
	maxRounds = 20      // checks that a repair makes
	sweepStep = 256     // rows that one transaction removes
)

// work is what a repair has to try. Things are only named here: what they need is
// decided when their turn comes.
type work struct {
	whole     bool          // the file itself is damaged: nothing is written to it
	lost      []*store.Mend // rows that are missing or cannot be read
	misplaced []scrollback.BranchID
	heads     []scrollback.ConversationID
	views     []scrollback.BranchID
	index     bool // search does not find what it should
	forget    bool // search has words of what was purged
	hashes    bool // messages have no hash yet
	artifacts []mention
	strays    []store.Stray
	leases    []scrollback.TurnID
	usage     []store.MendUsage
	purges    []scrollback.ConversationID
	unwanted  []scrollback.ArtifactID // that nothing mentions, with or without a row
}

// mention is an artifact as a message names it.
type mention struct {
	scrollback.Artifact
	by scrollback.ConversationID
}

// add adds one more thing to do, unless it was added last.
func add[T comparable](list *[]T, v T) {
	if n := len(*list); n < maxWork && (n == 0 || (*list)[n-1] != v) {
		*list = append(*list, v)
	}
}

// named is what a message says about an artifact.
func named(m scrollback.Message, id scrollback.ArtifactID) mention {
	out := mention{scrollback.Artifact{ID: id, MediaType: "text/plain", CreatedAt: m.CreatedAt}, m.ConversationID}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Image:
			if p.Artifact == id {
				out.MediaType = p.MediaType
				out.Name = p.Name
			}
		case scrollback.File:
			if p.Artifact == id {
				out.MediaType = p.MediaType
				out.Name = p.Name
			}
		case scrollback.ToolResult:
			if p.Artifact == id {
				out.Name = "output of " + cmp.Or(p.Name, "a tool")
			}
		case scrollback.Text, scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	return out
}

// rows counts the work that need not wait until everything else is well.
func (w *work) rows() int {
	n := len(w.lost) + len(w.misplaced) + len(w.heads) + len(w.views) + len(w.artifacts) + len(w.strays) + len(w.leases) +
		len(w.usage)
	if w.index || w.forget {
		n++
	}
	if w.hashes {
		n++
	}
	return n
}

// clearable reports whether there is something to remove once all is well.
func (w *work) clearable() bool { return len(w.purges)+len(w.unwanted) > 0 }

// Repairable reports whether there is something that a repair may fix. If the file
// itself is damaged there is not: writing to it could make it worse.
func (c *Checkup) Repairable() bool {
	return !c.work.whole && c.work.rows() > 0 || c.OK && c.work.clearable()
}

// Repair fixes what the check found lists, and checks again until nothing more can be
// fixed. Problems that are gone then are repaired; the rest stay. Each fix is one
// transaction: a repair can be interrupted at any moment and run again.
//
// While anything is wrong, no purge is finished and no bytes are removed: what seems
// to belong to nothing may belong to what is lost.
func Repair(ctx context.Context, s *store.Store, a *archive.Archive, found Checkup,
	progress Progress) (Checkup, error) {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	r := repair{store: s, archive: a, progress: progress}
	now := found
	stuck := false
	cleared := false
	for range maxRounds {
		w := now.work
		switch {
		case w.rows() > 0 && !w.whole && !stuck:
			r.rows(ctx, w)
		case w.clearable() && now.OK && !cleared:
			r.clear(ctx, w)
			cleared = true
		default:
			return now.after(found), nil
		}
		if r.err != nil {
			return Checkup{}, r.err
		}
		next, err := Check(ctx, s, a, progress)
		if err != nil {
			return Checkup{}, err
		}
		stuck = slices.Equal(now.Problems, next.Problems) && slices.Equal(now.Notes, next.Notes) && now.More == next.More
		now = next
	}
	return now.after(found), nil
}

// after is a checkup with what was found before and is gone now.
func (c Checkup) after(found Checkup) Checkup {
	c.Problems = repaired(found.Problems, c.Problems)
	c.Notes = repaired(found.Notes, c.Notes)
	return c
}

// repaired lists what was found and what is left of it; what is gone comes first.
func repaired(found, left []Problem) []Problem {
	type key struct{ kind, where string }
	still := map[key]bool{}
	for _, p := range left {
		still[key{p.Kind, p.Where}] = true
	}
	out := []Problem{}
	for _, p := range found {
		if !still[key{p.Kind, p.Where}] {
			p.Repaired = true
			out = append(out, p)
		}
	}
	return append(out, left...)
}

// repair is a repair under way.
type repair struct {
	store   *store.Store
	archive *archive.Archive

	progress Progress
	tended   bool
	err      error // ends it
}

// try keeps an error that is not about the thing to be fixed; any other error leaves a
// problem that stays.
func (r *repair) try(err error) {
	switch scrollback.CodeOf(err) {
	case "", scrollback.NotFound, scrollback.Conflict, scrollback.Invalid, scrollback.Internal:
	default:
		r.err = cmp.Or(r.err, err)
	}
}

// each tries fn for all of list, until one ends it.
func each[T any](r *repair, list []T, fn func(T) error) {
	for _, v := range list {
		if r.err != nil {
			return
		}
		r.try(fn(v))
	}
}

// rows fixes rows: first those on which others depend, and those that hold what was
// said before those whose fix removes rows.
func (r *repair) rows(ctx context.Context, w work) {
	each(r, w.lost, func(m *store.Mend) error { return r.store.Audit.Mend(ctx, *m) })
	each(r, w.misplaced, func(id scrollback.BranchID) error {
		return r.store.Audit.Mend(ctx, store.Mend{Recover: &store.Recover{Branch: id}})
	})
	each(r, w.heads, func(id scrollback.ConversationID) error { return r.store.Audit.Mend(ctx, store.Mend{Heads: id}) })
	each(r, w.views, func(id scrollback.BranchID) error { return r.store.Audit.MendView(ctx, id) })
	each(r, w.leases, func(id scrollback.TurnID) error { return r.store.Audit.Mend(ctx, store.Mend{Lease: id}) })
	each(r, w.artifacts, func(m mention) error { return r.restore(ctx, m) })
	each(r, w.strays, func(s store.Stray) error {
		if s.Artifact == "" || s.Conversation == "" {
			return nil
		}
		return r.restore(ctx, mention{scrollback.Artifact{ID: s.Artifact, CreatedAt: r.store.Now()}, s.Conversation})
	})
	each(r, slices.Collect(slices.Chunk(w.strays, sweepStep)), func(some []store.Stray) error {
		return r.store.Audit.Mend(ctx, store.Mend{Sweep: some})
	})
	inOrder := slices.SortedFunc(slices.Values(w.usage), func(a, b store.MendUsage) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model))
	})
	each(r, slices.Compact(inOrder), func(u store.MendUsage) error {
		return r.store.Audit.Mend(ctx, store.Mend{Usage: &u})
	})
	if w.hashes && r.err == nil {
		_, err := r.store.Hashes.Refill(ctx, func(made int64) { r.progress("hashes", made, 0) })
		r.try(err)
	}
	switch {
	case r.err != nil:
	case w.index: // of the rows as they are by now
		r.try(r.store.Audit.Reindex(ctx, func(done, total int64) { r.progress("index", done, total) }))
	case w.forget && !r.tended:
		r.tended = true
		r.try(r.store.Audit.Tend(ctx))
	case w.forget: // they are of nothing that was purged
		r.try(r.store.Audit.Reindex(ctx, func(done, total int64) { r.progress("index", done, total) }))
	}
}

// clear finishes purges and removes what nothing mentions.
func (r *repair) clear(ctx context.Context, w work) {
	unwanted := slices.Clone(w.unwanted)
	each(r, w.purges, func(id scrollback.ConversationID) error {
		p, err := r.store.Purge(ctx, id, 0)
		unwanted = append(unwanted, p.Loose...)
		if err != nil {
			return err
		}
		return r.archive.Forget(id)
	})
	each(r, unwanted, func(id scrollback.ArtifactID) error {
		err := r.store.Audit.Mend(ctx, store.Mend{Sweep: []store.Stray{{Artifact: id}}})
		if err != nil {
			return err
		}
		_, err = r.archive.DeleteArtifact(ctx, id)
		return err
	})
}

// restore records an artifact and its mention again if its bytes are there and
// correct.
func (r *repair) restore(ctx context.Context, m mention) error {
	f, _, err := r.archive.OpenUnchecked(ctx, m.ID)
	if err != nil {
		return ctx.Err() // the check reports it
	}
	defer f.Close()
	var head strings.Builder
	sum := sha256.New()
	m.Size, err = io.Copy(sum, io.TeeReader(io.LimitReader(f, 512), &head))
	if err == nil {
		var rest int64
		rest, err = io.Copy(sum, f)
		m.Size += rest
	}
	if err != nil || hex.EncodeToString(sum.Sum(nil)) != string(m.ID) {
		return ctx.Err()
	}
	if m.MediaType == "" { // it is no longer known
		m.MediaType = "application/octet-stream"
		if begins := head.String(); utf8.ValidString(clip(begins)) && !strings.Contains(begins, "\x00") {
			m.MediaType = "text/plain"
		}
	}
	return r.store.Refs.PutArtifact(ctx, m.Artifact, m.by)
}

// clip is s without the character that its end cuts in two.
func clip(s string) string {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if last := s[len(s)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRuneInString(last) {
				return s[:len(s)-n]
			}
			break
		}
	}
	return s
}
