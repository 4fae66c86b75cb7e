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
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Bounds of a repair. What is beyond them is left for the next.
const (
	maxWork   = 100_000 // things of one kind that one check finds to do
	maxRounds = 20      // checks that a repair makes
	sweepStep = 256     // rows that one transaction removes
)

// repairWork is what a repair has to try. Things are only named here: what they need is
// decided when their turn comes.
type repairWork struct {
	whole     bool            // the file itself is damaged: nothing is written to it
	lost      []*store.Repair // rows that are missing or cannot be read
	misplaced []scrollback.BranchID
	heads     []scrollback.ConversationID
	views     []scrollback.BranchID
	index     bool // search does not find what it should
	forget    bool // search has words of what was purged
	hashes    bool // messages have no hash yet
	artifacts []artifactMention
	strays    []store.StrayRow
	leases    []scrollback.TurnID
	usage     []store.UsageRepair
	purges    []scrollback.ConversationID
	unwanted  []scrollback.ArtifactID // that nothing mentions, with or without a row
}

// artifactMention is an artifact as a message names it.
type artifactMention struct {
	scrollback.Artifact
	by scrollback.ConversationID
}

// addOnce adds one more thing to do, unless it was added last.
func addOnce[T comparable](list *[]T, v T) {
	if n := len(*list); n < maxWork && (n == 0 || (*list)[n-1] != v) {
		*list = append(*list, v)
	}
}

// mentionIn returns what a message says about an artifact.
func mentionIn(m scrollback.Message, id scrollback.ArtifactID) artifactMention {
	out := artifactMention{scrollback.Artifact{ID: id, MediaType: "text/plain", CreatedAt: m.CreatedAt}, m.ConversationID}
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

// countRows counts the work that need not wait until everything else is well.
func (w *repairWork) countRows() int {
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

// hasClearable reports whether there is something to remove once all is well.
func (w *repairWork) hasClearable() bool { return len(w.purges)+len(w.unwanted) > 0 }

// IsRepairable reports whether there is something that a repair may fix. If the file
// itself is damaged there is not: writing to it could make it worse.
func (c *Checkup) IsRepairable() bool {
	return !c.work.whole && c.work.countRows() > 0 || c.OK && c.work.hasClearable()
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
	r := repairRun{store: s, archive: a, progress: progress}
	now := found
	stuck := false
	cleared := false
	for range maxRounds {
		w := now.work
		switch {
		case w.countRows() > 0 && !w.whole && !stuck:
			r.repairRows(ctx, w)
		case w.hasClearable() && now.OK && !cleared:
			r.clearUnused(ctx, w)
			cleared = true
		default:
			return now.mergeBefore(found), nil
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
	return now.mergeBefore(found), nil
}

// mergeBefore returns a checkup with what was found before and is gone now.
func (c Checkup) mergeBefore(found Checkup) Checkup {
	c.Problems = listRepaired(found.Problems, c.Problems)
	c.Notes = listRepaired(found.Notes, c.Notes)
	return c
}

// listRepaired lists what was found and what is left of it; what is gone comes first.
func listRepaired(found, left []Problem) []Problem {
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

// repairRun is a repair under way.
type repairRun struct {
	store   *store.Store
	archive *archive.Archive

	progress Progress
	tended   bool
	err      error // ends it
}

// keepError keeps an error that is not about the thing to be fixed; any other error leaves a
// problem that stays.
func (r *repairRun) keepError(err error) {
	switch scrollback.CodeOf(err) {
	case "", scrollback.NotFound, scrollback.Conflict, scrollback.Invalid, scrollback.Internal:
	default:
		r.err = cmp.Or(r.err, err)
	}
}

// tryEach tries fn for all of list, until one ends it.
func tryEach[T any](r *repairRun, list []T, fn func(T) error) {
	for _, v := range list {
		if r.err != nil {
			return
		}
		r.keepError(fn(v))
	}
}

// repairRows fixes rows: first those on which others depend, and those that hold what was
// said before those whose fix removes rows.
func (r *repairRun) repairRows(ctx context.Context, w repairWork) {
	tryEach(r, w.lost, func(m *store.Repair) error { return r.store.Audit.Repair(ctx, *m) })
	tryEach(r, w.misplaced, func(id scrollback.BranchID) error {
		return r.store.Audit.Repair(ctx, store.Repair{Recover: &store.LostRow{Branch: id}})
	})
	tryEach(r, w.heads, func(id scrollback.ConversationID) error {
		return r.store.Audit.Repair(ctx,
			store.Repair{Heads: id})
	})
	tryEach(r, w.views, func(id scrollback.BranchID) error { return r.store.Audit.RepairView(ctx, id) })
	tryEach(r, w.leases, func(id scrollback.TurnID) error { return r.store.Audit.Repair(ctx, store.Repair{Lease: id}) })
	tryEach(r, w.artifacts, func(m artifactMention) error { return r.restoreArtifact(ctx, m) })
	tryEach(r, w.strays, func(s store.StrayRow) error {
		if s.Artifact == "" || s.Conversation == "" {
			return nil
		}
		return r.restoreArtifact(ctx, artifactMention{scrollback.Artifact{ID: s.Artifact, CreatedAt: r.store.Now()},
			s.Conversation})
	})
	tryEach(r, slices.Collect(slices.Chunk(w.strays, sweepStep)), func(some []store.StrayRow) error {
		return r.store.Audit.Repair(ctx, store.Repair{Sweep: some})
	})
	inOrder := slices.SortedFunc(slices.Values(w.usage), func(a, b store.UsageRepair) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model))
	})
	tryEach(r, slices.Compact(inOrder), func(u store.UsageRepair) error {
		return r.store.Audit.Repair(ctx, store.Repair{Usage: &u})
	})
	if w.hashes && r.err == nil {
		_, err := r.store.Hashes.Refill(ctx, func(made int64) { r.progress("hashes", made, 0) })
		r.keepError(err)
	}
	switch {
	case r.err != nil:
	case w.index: // of the rows as they are by now
		r.keepError(r.store.Audit.RebuildIndex(ctx, func(done, total int64) { r.progress("index", done, total) }))
	case w.forget && !r.tended:
		r.tended = true
		r.keepError(r.store.Audit.MaintainIndex(ctx))
	case w.forget: // they are of nothing that was purged
		r.keepError(r.store.Audit.RebuildIndex(ctx, func(done, total int64) { r.progress("index", done, total) }))
	}
}

// clearUnused finishes purges and removes what nothing mentions.
func (r *repairRun) clearUnused(ctx context.Context, w repairWork) {
	unwanted := slices.Clone(w.unwanted)
	tryEach(r, w.purges, func(id scrollback.ConversationID) error {
		p, err := r.store.PurgeConversation(ctx, id, 0)
		unwanted = append(unwanted, p.Loose...)
		if err != nil {
			return err
		}
		return r.archive.ForgetRendered(id)
	})
	tryEach(r, unwanted, func(id scrollback.ArtifactID) error {
		err := r.store.Audit.Repair(ctx, store.Repair{Sweep: []store.StrayRow{{Artifact: id}}})
		if err != nil {
			return err
		}
		_, err = r.archive.DeleteArtifact(ctx, id)
		return err
	})
}

// restoreArtifact records an artifact and its mention again if its bytes are there and
// correct.
func (r *repairRun) restoreArtifact(ctx context.Context, m artifactMention) error {
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
		if begins := head.String(); utf8.ValidString(clipWhole(begins)) && !strings.Contains(begins, "\x00") {
			m.MediaType = "text/plain"
		}
	}
	return r.store.Refs.PutArtifact(ctx, m.Artifact, m.by)
}

// clipWhole returns s without the character that its end cuts in two.
func clipWhole(s string) string {
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
