package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
)

// bench is a store on one database, with a clock that ticks at every look and ids
// that count.
type bench struct {
	*store.Store
	t   *testing.T
	d   *driver.Driver
	ids int
	now int64

	artifacts sync.Map // their texts, by id
	taken     map[scrollback.ConversationID][]store.Snapshot
}

// newBench makes a bench whose store leaves its index behind, so that what a test finds does
// not depend on when.
func newBench(t *testing.T, d *driver.Driver) *bench {
	b := &bench{t: t, d: d, now: 1_700_000_000_000}
	var err error
	b.Store, err = store.New(d, runes, &store.Options{
		Now:   func() time.Time { b.now += 1000; return time.UnixMilli(b.now) },
		NewID: b.id,
		Image: func(w, h int, _ string) int { return w * h },
		Text: func(_ context.Context, id scrollback.ArtifactID, most int64) (string, error) {
			text, _ := b.artifacts.LoadOrStore(id, "")
			return text.(string)[:min(len(text.(string)), int(most))], nil
		},
		ReadOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// runes counts a token a character.
func runes(s string) int { return len([]rune(s)) }

func (b *bench) id() string { b.ids++; return fmt.Sprintf("%08x-0000-7000-8000-000000000000", b.ids) }

// What a message weighs is stored for ever: there is no store without a counter.
func TestNewRefuses(t *testing.T) {
	d := oracle.New()
	for name, err := range map[string]error{
		"no driver":  second(store.New(nil, runes, nil)),
		"no counter": second(store.New(d, nil, nil)),
	} {
		if scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := store.New(d, runes, nil); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

// each runs a test on every database.
func each(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Run("memory", func(t *testing.T) { test(t, newBench(t, oracle.New())) })
	t.Run("sqlite", func(t *testing.T) { test(t, newBench(t, openSQLite(t))) })
}

func openSQLite(t *testing.T) *driver.Driver {
	t.Helper()
	d, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b *bench) create(edit ...func(*scrollback.Conversation)) scrollback.Conversation {
	b.t.Helper()
	var c scrollback.Conversation
	for _, e := range edit {
		e(&c)
	}
	c, created, err := b.CreateConversation(b.t.Context(), c)
	if err != nil || !created {
		b.t.Fatalf("created %v, %v", created, err)
	}
	return c
}

// say appends messages, user and assistant in turn.
func (b *bench) say(id scrollback.ConversationID, texts ...string) []scrollback.Message {
	b.t.Helper()
	in := make([]store.IncomingMessage, len(texts))
	for i, text := range texts {
		role := scrollback.RoleUser
		if i%2 == 1 {
			role = scrollback.RoleAssistant
		}
		in[i].Message = scrollback.Message{Role: role, Parts: scrollback.Parts{scrollback.Text{Text: text}}}
	}
	f, err := b.AppendMessages(b.t.Context(), b.head(id), in)
	return must(b.t, f.Messages, err)
}

// numbered is n texts that name their numbers.
func numbered(name string, from, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(name, " ", from+i)
	}
	return out
}

// fork makes a conversation that goes on from another's current branch.
func (b *bench) fork(of scrollback.ConversationID, at int64) scrollback.Conversation {
	b.t.Helper()
	h, err := b.ReadHead(b.t.Context(), of)
	if err != nil {
		b.t.Fatal(err)
	}
	c, err := b.Branches.Fork(b.t.Context(), h, h.Branch, at, scrollback.Conversation{})
	return must(b.t, c, err)
}

func (b *bench) head(id scrollback.ConversationID) store.Head {
	b.t.Helper()
	h, err := b.ReadHead(b.t.Context(), id)
	return must(b.t, h, err)
}

func texts(ms []scrollback.Message) []string {
	out := []string{}
	for i := range ms {
		out = append(out, fmt.Sprintf("#%d %s", ms[i].Seq, ms[i].Parts.Text()))
	}
	return out
}

func wantCode(t *testing.T, err error, code scrollback.Code, text string) {
	t.Helper()
	if scrollback.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("error %v (%s), want %s: %s", err, scrollback.CodeOf(err), code, text)
	}
}

// family is a conversation of 10 messages, a fork of it at 6 with 4 of its own,
// and a fork of that at 8 with 3 of its own.
func family(b *bench) (parent, child, grandchild scrollback.Conversation, want []string) {
	parent = b.create()
	b.say(parent.ID, numbered("parent", 1, 10)...)
	child = b.fork(parent.ID, 6)
	b.say(child.ID, numbered("child", 7, 4)...)
	grandchild = b.fork(child.ID, 8)
	b.say(grandchild.ID, numbered("grandchild", 9, 3)...)
	for seq := 1; seq <= 11; seq++ {
		name := "parent"
		if seq > 8 {
			name = "grandchild"
		} else if seq > 6 {
			name = "child"
		}
		want = append(want, fmt.Sprintf("#%d %s %d", seq, name, seq))
	}
	return parent, child, grandchild, want
}

func TestPath(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		_, _, g, want := family(b)
		h := b.head(g.ID)
		if h.Branch.HeadSeq != 11 || h.Messages != 11 || h.Branch.Sum.Tokens == 0 {
			t.Fatalf("head %+v", h)
		}
		for from := int64(-1); from <= 13; from++ {
			for to := int64(-1); to <= 13; to++ {
				var got []scrollback.Message
				for m, err := range b.WalkMessages(t.Context(), h.Branch.ID, from, to) {
					if to > 11 {
						if err != nil {
							wantCode(t, err, scrollback.Internal, "has no message")
							break
						}
						continue
					}
					got = append(got, must(t, m, err))
				}
				if to > 11 {
					continue
				}
				var part []string
				if lo, hi := max(from, 1), min(to, 11); lo <= hi {
					part = want[lo-1 : hi]
				}
				if !slices.Equal(texts(got), part) {
					t.Fatalf("%d..%d: %v, want %v", from, to, texts(got), part)
				}
			}
		}
		var all []scrollback.Message
		var sum scrollback.Weight
		for m, err := range b.WalkConversation(t.Context(), g.ID) {
			all = append(all, must(t, m, err))
			if sum = sum.Add(m.Weight); m.Sum != sum {
				t.Errorf("#%d sums up to %+v, want %+v", m.Seq, m.Sum, sum)
			}
		}
		if !slices.Equal(texts(all), want) || h.Branch.Sum != sum {
			t.Errorf("all is %v", texts(all))
		}
		for range b.WalkConversation(t.Context(), g.ID) {
			break // a reader may stop
		}
		for seq := int64(-1); seq <= 13; seq++ {
			m, err := b.ReadMessageAt(t.Context(), h.Branch, seq)
			if seq < 1 || seq > 11 {
				wantCode(t, err, scrollback.NotFound, "no message")
			} else if err != nil || m.Seq != seq || m.Parts.Text() != strings.SplitN(want[seq-1], " ", 2)[1] {
				t.Errorf("at %d: %+v, %v", seq, m, err)
			}
		}
		ids := must2(b.ListLineage(t.Context(), g.ID))(t)
		if len(ids) != 3 || ids[0] != g.ID {
			t.Errorf("lineage %v", ids)
		}
		for _, err := range b.WalkConversation(t.Context(), "unknown") {
			wantCode(t, err, scrollback.NotFound, "")
		}
		_, err := b.ReadMessages(t.Context(), h.Branch.ID, 9, 12) // 12 is not there
		wantCode(t, err, scrollback.Internal, "has no message 12")
	})
}

// must2 lets a call with two results be checked in place.
func must2[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T { t.Helper(); return must(t, v, err) }
}

// Pages of any size join to the whole, in both directions and across branches.
func TestPage(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		parent, _, g, want := family(b)
		for limit := 1; limit <= 12; limit++ {
			var back []string
			for before := int64(0); ; {
				ms, next, err := b.ReadPage(t.Context(), g.ID, scrollback.PageQuery{Before: before, Limit: limit})
				back = append(texts(must(t, ms, err)), back...)
				if next == 0 {
					break
				}
				if len(ms) != limit || next != ms[0].Seq {
					t.Fatalf("before %d: %d messages, next %d", before, len(ms), next)
				}
				before = next
			}
			if !slices.Equal(back, want) {
				t.Errorf("backwards by %d: %v", limit, back)
			}
			forth := want[:0:0]
			for after := int64(0); ; {
				ms, next, err := b.ReadPage(t.Context(), g.ID, scrollback.PageQuery{After: &after, Limit: limit})
				forth = append(forth, texts(must(t, ms, err))...)
				if next == 0 {
					break
				}
				if len(ms) != limit || next != ms[len(ms)-1].Seq {
					t.Fatalf("after %d: %d messages, next %d", after, len(ms), next)
				}
				after = next
			}
			if !slices.Equal(forth, want) {
				t.Errorf("forwards by %d: %v", limit, forth)
			}
		}
		for _, limit := range []int{-3, 201, 10_000} {
			if _, _, err := b.ReadPage(t.Context(), g.ID,
				scrollback.PageQuery{Limit: limit}); scrollback.CodeOf(err) != scrollback.Invalid {
				t.Errorf("a page of %d: %v", limit, err)
			}
		}
		for q, n := range map[scrollback.PageQuery]int{{}: 11, {After: new(int64(11))}: 0, {After: new(int64(99))}: 0,
			{Before: 1}:  0,
			{Before: 99}: 11, {After: new(int64(2)), Before: 5}: 2, {After: new(int64(5)), Before: 3}: 0} {
			if ms, next, err := b.ReadPage(t.Context(), g.ID, q); err != nil || len(ms) != n || next != 0 {
				t.Errorf("%+v: %d messages, next %d, %v", q, len(ms), next, err)
			}
		}
		h := b.head(g.ID)
		if ms, _, err := b.ReadPage(t.Context(), g.ID, scrollback.PageQuery{Branch: h.Branch.ID}); err != nil ||
			len(ms) != 11 {
			t.Errorf("by branch: %d, %v", len(ms), err)
		}
		_, _, err := b.ReadPage(t.Context(), g.ID, scrollback.PageQuery{Branch: b.head(parent.ID).Branch.ID})
		wantCode(t, err, scrollback.NotFound, "no branch")
		_, _, err = b.ReadPage(t.Context(), "unknown", scrollback.PageQuery{})
		wantCode(t, err, scrollback.NotFound, "")
	})
}

// A walk of more than one read is as whole as a short one.
func TestLongWalk(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		b.say(c.ID, numbered("message", 1, 600)...)
		seq := int64(0)
		for m, err := range b.WalkConversation(t.Context(), c.ID) {
			if seq++; err != nil || m.Seq != seq {
				t.Fatalf("#%d after #%d, %v", m.Seq, seq-1, err)
			}
		}
		if seq != 600 {
			t.Fatalf("%d messages", seq)
		}
	})
}
