package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/window"
)

func openSQLite(t *testing.T) *driver.Driver {
	t.Helper()
	db, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "s.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Fifty and five hundred folds in a row without a model, and a hundred with one that
// writes summaries: what stands for the folded past stays within its bounds at each step, the
// first fact is still found, and every message is behind the refs, byte for byte.
func TestManyFoldsInARow(t *testing.T) {
	t.Parallel()
	for policy, folds := range map[string]int{compact.Segments: testlength.Choose(25, 90, 500),
		compact.Snapshot: testlength.Choose(25, 55, 100)} {
		t.Run(policy, func(t *testing.T) {
			w := &writer{sum: func(n int, _ model.Request) []model.Delta {
				return []model.Delta{{Text: minutes(fmt.Sprint("goal ", n, strings.Repeat(" of many words", 150)))}}
			}}
			bounded := w.step()
			play := bounded.Reply
			bounded.Reply = func(r model.Request) []model.Delta {
				if len(r.Tools) > 0 {
					checkLayer3(t, r)
				}
				return play(r)
			}
			r := enginetest.New(t, enginetest.Options{Driver: openSQLite(t), Summaries: policy == compact.Snapshot,
				NoFolds: true}, bounded)
			id := r.NewConversation()
			talk(r, id, 1, func(int) string {
				return "The crane's spare key lies under bollard Q-7731, 第三个系缆柱. " + wordy(0)
			})
			made := 0
			for i := 1; made < folds; i++ {
				if i > 3*folds {
					t.Fatalf("only %d folds in %d turns", made, i)
				}
				talk(r, id, 1, func(int) string { return wordy(i) })
				got, err := r.Compact(context.Background(), id, engine.CompactRequest{Force: true})
				if err != nil {
					t.Fatal(err)
				}
				if got.Result == scrollback.ResultCompacted {
					made++
				}
				if got.Result == scrollback.ResultCompacted && (made == 50 || made == folds) {
					checkOriginals(t, r, id)
				}
			}
			_, summaries := w.requests()
			if asked := len(summaries) > 0; asked != (policy == compact.Snapshot) {
				t.Errorf("asked for %d summaries", len(summaries))
			}
			found, err := doctor.Check(t.Context(), r.Store, r.Archive, nil)
			if err != nil || !found.OK {
				t.Errorf("the check finds %+v, %v", found.Problems, err)
			}
		})
	}
}

// checkLayer3 holds what stands for the past in a request against its bounds.
func checkLayer3(t *testing.T, r model.Request) {
	t.Helper()
	const budget = 6000 // of the rig: 8000, less a quarter
	if err := window.Lint(scrollback.Window{Items: r.Items}, scrollback.Dialect{}); err != nil {
		t.Errorf("a request: %v", err)
	}
	var total scrollback.Weight
	for _, it := range r.Items {
		total = total.Add(it.Weight)
		if it.Kind != scrollback.KindFolded {
			continue
		}
		placeholders := 0
		tokens := int64(0)
		for _, h := range it.Holds {
			switch {
			case h.Kind == scrollback.KindSummary && h.Tokens > min(4000, budget*15/100):
				t.Errorf("a summary of %d tokens", h.Tokens)
			case h.Kind == scrollback.KindPlaceholder && h.Tokens > min(400, budget*5/100):
				t.Errorf("a placeholder of %d tokens", h.Tokens)
			}
			if h.Kind == scrollback.KindPlaceholder {
				placeholders += 1
				tokens += h.Tokens
			}
		}
		if placeholders > 8 || tokens > budget/10 {
			t.Errorf("%d placeholders of %d tokens", placeholders, tokens)
		}
		if n := token.Count(it.Parts.Text()); n > budget/4 || int64(n) > it.Weight.Tokens+it.Weight.Tokens/20 {
			t.Errorf("layer 3 has %d tokens, and counts as %d", n, it.Weight.Tokens)
		}
	}
	if total.Tokens > budget {
		t.Errorf("a request of %d tokens", total.Tokens)
	}
}

var aRef = regexp.MustCompile(`history:[0-9a-f-]{36}`)

// checkOriginals follows the refs of the window down to the leaves, and holds what
// they lead to against the log. The first fact is found in all ways.
func checkOriginals(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) {
	t.Helper()
	ctx := context.Background()
	head, err := r.Store.ReadHead(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	log := r.Log(id)
	next := int64(1)
	deepest := 0
	var follow func(ref scrollback.Ref, depth int)
	follow = func(ref scrollback.Ref, depth int) {
		_, seg, _ := ref.Split()
		segs, err := r.Store.ReadSegments(ctx, []scrollback.SegmentID{scrollback.SegmentID(seg)})
		if err != nil {
			t.Fatal(err)
		}
		s := segs[0]
		file := r.ReadAll(id, ref)
		deepest = max(deepest, depth)
		if len(s.Children) > 0 {
			var told []scrollback.Ref // as a reader of the table finds them
			for _, found := range aRef.FindAllString(file, -1)[1:] {
				if !slices.Contains(told, scrollback.Ref(found)) {
					told = append(told, scrollback.Ref(found))
				}
			}
			if len(told) != len(s.Children) {
				t.Fatalf("%s has %d children, its table tells %d", ref, len(s.Children), len(told))
			}
			for _, child := range told {
				follow(child, depth+1)
			}
			return
		}
		if s.FirstSeq != next {
			t.Fatalf("after #%d comes a leaf that begins with #%d", next-1, s.FirstSeq)
		}
		next = s.LastSeq + 1
		run := log[s.FirstSeq-1 : s.LastSeq]
		hash, err := scrollback.HashMessages(run)
		if err != nil || hash != s.Hash {
			t.Fatalf("%s is not of the messages it covers (%v)", ref, err)
		}
		var want bytes.Buffer
		if err := archive.Render(&want, s.Renderer, s, run); err != nil || want.String() != file {
			t.Fatalf("%s reads otherwise than the log (%v)", ref, err)
		}
		for _, m := range run {
			if !strings.Contains(file, m.Parts.Text()) {
				t.Fatalf("#%d is not verbatim in %s", m.Seq, ref)
			}
		}
	}
	for _, s := range head.Branch.View.Segments {
		follow(scrollback.HistoryRef(s.ID), 1)
	}
	if next != head.Branch.View.Boundary+1 || deepest > 5 {
		t.Fatalf("the leaves end at #%d, the fold at #%d; %d steps down", next-1, head.Branch.View.Boundary, deepest)
	}
	enginetest.CheckViews(t, r, id)
	t.Logf("%d messages, %d of them folded; %d placeholders, the deepest leaf %d steps down", len(log), next-1,
		len(head.Branch.View.Segments),
		deepest)

	found, err := r.Grep(ctx, id, scrollback.GrepQuery{Pattern: `Q-\d+`})
	if err != nil || found.Total != 1 || found.Matches[0].Ref == nil || found.Matches[0].Seq != 1 {
		t.Fatalf("grep finds %+v (%v)", found, err)
	}
	if line := strings.Split(r.ReadAll(id, *found.Matches[0].Ref), "\n")[found.Matches[0].Line-1]; !strings.Contains(line,
		"Q-7731") {
		t.Errorf("line %d of %s is %q", found.Matches[0].Line, *found.Matches[0].Ref, line)
	}
	hits, err := r.Search(ctx, scrollback.SearchQuery{Query: "crane spare key", Conversation: id, Limit: 1})
	if err != nil || len(hits.Hits) != 1 || hits.Hits[0].Seq != 1 || hits.Hits[0].Ref == nil ||
		*hits.Hits[0].Ref != *found.Matches[0].Ref {
		t.Errorf("search finds %+v (%v)", hits, err)
	}
	for cursor, listed := "", 0; ; { // and it is on the list
		refs, after, err := r.Refs(ctx, id, scrollback.RefQuery{Kind: scrollback.RefHistory, Limit: 200, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range refs {
			if listed++; e.Ref == *found.Matches[0].Ref {
				return
			}
		}
		if cursor = after; after == "" {
			t.Fatalf("%s is not among the %d refs that are listed", *found.Matches[0].Ref, listed)
		}
	}
}
