package exchange_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/local"
)

// wantSummaries wants what a machine knows of its conversations to be what they come to.
func (m *machine) wantSummaries() []merge.Summary {
	m.t.Helper()
	want, err := m.side().WorkOutSummaries(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	got, err := m.side().Summaries(m.t.Context())
	if err != nil || !slices.Equal(got, want) {
		m.t.Fatalf("%s: %v\n%v\ninstead of\n%v", m.name, err, got, want)
	}
	return want
}

// countDigests counts the digests that a store has rows of, that up to which all are there included.
func countDigests(t *testing.T, dir string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "scrollback.db"))
	if err != nil {
		t.Fatal(err)
	}
	err = db.QueryRow(`SELECT count(*) FROM digests`).Scan(&n)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSummariesReadOnly: a store that may only be read works out what it does not know, and remembers nothing of it.
func TestSummariesReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := openMachine(t, "m", dir)
	one := m.create()
	two := m.create()
	m.say(one, "one")
	m.say(two, "two")
	m.wantSummaries()
	m.say(two, "more")
	want, err := m.side().WorkOutSummaries(t.Context())
	if err := errors.Join(err, m.Close()); err != nil {
		t.Fatal(err)
	}
	n := countDigests(t, dir)
	sb, err := local.Open(t.Context(), dir, &local.Options{Mode: local.ReadOnly, Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	reader := &machine{t, "reader", sb}
	for range 2 {
		if got := reader.wantSummaries(); !slices.Equal(got, want) {
			t.Errorf("%v instead of %v", got, want)
		}
	}
	if err := sb.Close(); err != nil {
		t.Fatal(err)
	}
	if now := countDigests(t, dir); n != 3 || now != n {
		t.Errorf("%d digests, then %d", n, now)
	}
}

// TestSummariesOfOlderStore: what an older program has written is read once, all of it.
func TestSummariesOfOlderStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := openMachine(t, "m", dir)
	m.say(m.create(), "one")
	gone := m.create()
	m.say(gone, "two")
	if _, err := m.Purge(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	want := m.wantSummaries()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "scrollback.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`DROP TABLE digests`, `DROP TABLE met`, `ALTER TABLE changes DROP COLUMN k`,
		`DELETE FROM goose_db_version WHERE version_id >= 34`} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	m = openMachine(t, "m", dir)
	old, err := m.side().Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := m.side().Changed(t.Context(), old); err != nil || !changed.Everything {
		t.Errorf("since a change without a mark: %+v, %v", changed, err)
	}
	if got := m.wantSummaries(); !slices.Equal(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
	m.say(want[0].ID, "on")
	m.wantSummaries()
	if now, err := m.side().Mark(t.Context()); err != nil || now == old {
		t.Errorf("the mark stays %q, %v", now, err)
	}
}

// TestMarksOfCopies: a copy has the marks of what it is a copy of, until both go on with the same number of changes.
func TestMarksOfCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := openMachine(t, "a", dir)
	id := a.create()
	a.say(id, "one")
	copied := filepath.Join(t.TempDir(), "scrollback.db")
	if err := a.Store.Audit.CopyDatabase(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	b := openMachine(t, "b", filepath.Dir(copied))
	mark := func(m *machine) string {
		t.Helper()
		mark, err := m.side().Mark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return mark
	}
	common := mark(a)
	if got := mark(b); got != common {
		t.Errorf("%q of the copy, %q of the store", got, common)
	}
	for _, m := range []*machine{a, b} {
		m.say(id, "on of "+m.name)
		if changed, err := m.side().Changed(t.Context(), common); err != nil || changed.Everything ||
			!slices.Contains(changed.Conversations, id) {
			t.Errorf("%s: %+v, %v", m.name, changed, err)
		}
	}
	if changed, err := b.side().Changed(t.Context(), mark(a)); err != nil || !changed.Everything {
		t.Errorf("of the other's mark: %+v, %v", changed, err)
	}
}

// TestTakeAgain: of a store that was met only what it has written since is looked at.
func TestTakeAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := openMachine(t, "a", t.TempDir())
	b := openMachine(t, "b", t.TempDir())
	one := a.create()
	a.say(one, "one")
	a.say(a.create(), "two")
	met := func() []string {
		t.Helper()
		all, err := b.Store.Move.ListMet(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	look := exchange.Request{Terms: merge.Terms{Look: true}}
	if _, err := exchange.Take(ctx, a.side(), b.side(), look); err != nil || len(met()) > 0 {
		t.Errorf("to look is not to meet: %v, %v", met(), err)
	}
	b.takeFrom(a)
	mark, err := a.side().Mark(ctx)
	if err != nil || !slices.Equal(met(), []string{mark}) {
		t.Errorf("%v instead of %q, %v", met(), mark, err)
	}
	a.say(one, "more")
	if got := b.takeFrom(a); got.Conversations != 1 || got.Messages != 2 {
		t.Errorf("%+v", got)
	}
	wantEqual(t, a, b)
	b.say(one, "of b") // a is to have it, and b nothing of a
	if got := b.takeFrom(a); got.Conversations != 0 {
		t.Errorf("%+v", got)
	}
	if len(met()) != 1 {
		t.Errorf("%v", met())
	}
	a.takeFrom(b)
	b.takeFrom(a)
	wantEqual(t, a, b)
	if b.said(one) != "one more of b" {
		t.Errorf("%q", b.said(one))
	}
}

// TestTakeForkOfPurged: what a fork needs of a conversation that was purged here comes with it, although nothing was
// written to that since the stores met.
func TestTakeForkOfPurged(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := openMachine(t, "a", t.TempDir())
	b := openMachine(t, "b", t.TempDir())
	id := a.create()
	a.say(id, "one")
	a.say(id, "two")
	b.takeFrom(a)
	if _, err := b.Purge(ctx, id); err != nil {
		t.Fatal(err)
	}
	f, err := a.Branches().Fork(ctx, id, engine.Point{Seq: new(int64(2))}, "")
	if err != nil {
		t.Fatal(err)
	}
	a.say(f.ID, "of the fork")
	if got := b.takeFrom(a); len(got.Waiting) > 0 {
		t.Errorf("%+v", got)
	}
	if got := b.said(f.ID); got != "one of the fork" {
		t.Errorf("the fork says %q", got)
	}
	a.takeFrom(b)
	wantEqual(t, a, b)
}
