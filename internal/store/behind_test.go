package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
)

// What was stored is found at once, also where nobody keeps the index up to date; a result
// says what share of the log the index has, and nothing of that once it has all.
func TestSearchBehindTheIndex(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		for i := range 6 {
			var lines []string
			for j := range 100 {
				lines = append(lines, fmt.Sprintf("filler of line%d", 100*i+j))
			}
			b.say(c.ID, lines...)
		}
		b.say(c.ID, "a needle in them")
		check := func(what string, behind bool) {
			t.Helper()
			for query, want := range map[string]int{"needle": 1, `"needle in them"`: 1, "line7": 1, "line599": 1, "absent": 0} {
				r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: query, Limit: 20}))(t)
				if len(r.Hits) != want || r.Total != want || (r.Indexed != nil) != behind {
					t.Errorf("%s: %s has %d hits of %d, indexed %v", what, query, len(r.Hits), r.Total, r.Indexed)
				}
			}
		}
		check("without an index", true)
		shares := []int64{}
		if err := b.Audit.RebuildIndex(t.Context(), func(done, total int64) {
			shares = append(shares, done)
			check(fmt.Sprintf("%d of %d indexed", done, total), total-done >= 512)
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(shares) || len(shares) < 2 {
			t.Errorf("the progress is %v", shares)
		}
		check("indexed", false)
		left, err := b.Audit.CheckIndex(t.Context(), func(int64, int64) {}, func(m scrollback.Message, detail string) error {
			t.Errorf("#%d: %s", m.Seq, detail)
			return nil
		})
		if left != 0 || err != nil {
			t.Errorf("%d are left over, %v", left, err)
		}
	})
}

// Nothing of what was purged is found, whether it was in the index or behind it; and its words
// leave the index.
func TestSearchAfterAPurge(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		one := b.create()
		two := b.create()
		for range 3 {
			b.say(one.ID, "a wombat", "another wombat")
			b.say(two.ID, "wombat")
			if err := b.Audit.RebuildIndex(t.Context(), func(int64, int64) {}); err != nil {
				t.Fatal(err)
			}
		}
		b.say(one.ID, "a wombat behind")
		if n := len(b.search(scrollback.SearchQuery{Query: "wombat", Limit: 20})); n != 10 {
			t.Fatalf("%d hits", n)
		}
		if _, err := b.PurgeConversation(t.Context(), one.ID, 0); err != nil {
			t.Fatal(err)
		}
		if got := b.search(scrollback.SearchQuery{Query: "wombat another behind", Limit: 20}); len(got) != 3 {
			t.Errorf("after a purge: %q", got)
		}
		if err := b.Audit.MaintainIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		left, err := b.Audit.CheckIndex(t.Context(), func(int64, int64) {}, func(m scrollback.Message, detail string) error {
			return fmt.Errorf("%s: %s", m.ID, detail)
		})
		if left != 0 || err != nil {
			t.Errorf("%d are left over, %v", left, err)
		}
	})
}

// Whichever call of making the index fails, everything is found once, then and later.
func TestReindexFaults(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		var lines []string
		for i := range 70 {
			lines = append(lines, fmt.Sprintf("word line%d", i))
		}
		b.say(c.ID, lines...)
		for _, lost := range []bool{false, true} {
			for i := int64(0); ; i++ {
				f := &drivertest.Faulty{At: i, Lost: lost, Index: true}
				s, err := store.New(f.Wrap(b.d), runes, &store.Options{ReadOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				err = s.Audit.RebuildIndex(context.Background(), func(int64, int64) {})
				if (err == nil) != (f.Calls() <= i) {
					t.Fatalf("call %d of %d fails, and the result is %v", i, f.Calls(), err)
				}
				if n := len(b.search(scrollback.SearchQuery{Query: "word", Limit: 50})); n != 50 {
					t.Fatalf("after a fault of call %d: %d hits", i, n)
				}
				r := must2(b.Search(t.Context(), scrollback.SearchQuery{Query: "line7", Limit: 50}))(t)
				if r.Total != 1 {
					t.Fatalf("after a fault of call %d: %d in all", i, r.Total)
				}
				if err == nil {
					break
				}
			}
		}
	})
}
