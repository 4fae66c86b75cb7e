package store_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// fold commits segments that end where the new boundary is; roll-ups among them
// name children, and shown says which of all the view has.
func (b *bench) fold(id scrollback.ConversationID, boundary int64, carried []int64, shown []scrollback.Segment,
	made ...scrollback.Segment) {
	b.t.Helper()
	h := b.head(id)
	v := scrollback.View{Boundary: boundary, Carried: carried}
	for m, err := range b.WalkConversation(b.t.Context(), id) {
		if must(b.t, m, err); m.Seq <= boundary && !slices.Contains(carried, m.Seq) {
			v.Sum = v.Sum.Add(m.Weight)
		}
	}
	for _, s := range shown {
		v.Segments = append(v.Segments, scrollback.ViewItem{ID: s.ID, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq,
			Level: s.Level})
	}
	r := scrollback.Receipt{Result: scrollback.ResultCompacted, LastSeq: boundary}
	if err := b.Views.CommitFold(b.t.Context(),
		store.FoldCommit{Conversation: id, Branch: h.Branch.ID, IfViewVersion: h.Branch.ViewVersion, View: v,
			Segments: made, Receipt: r}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) leaf(id scrollback.ConversationID, first, last int64) scrollback.Segment {
	return scrollback.Segment{ID: scrollback.SegmentID(b.id()), Conversation: id, Branch: b.head(id).Branch.ID,
		FirstSeq: first, LastSeq: last,
		Messages: int(last - first + 1), Placeholder: fmt.Sprintf("%d to %d", first, last), Summary: "- line",
		CreatedAt: b.Now()}
}

func (b *bench) rollUp(id scrollback.ConversationID, level int, children ...scrollback.Segment) scrollback.Segment {
	s := b.leaf(id, children[0].FirstSeq, children[len(children)-1].LastSeq)
	s.Level = level
	for _, c := range children {
		s.Children = append(s.Children, c.ID)
	}
	return s
}

// snapshot takes a snapshot, and holds that behind any earlier one of the conversation it is the same.
func (b *bench) snapshot(id scrollback.ConversationID, maxTokens int64) store.Snapshot {
	b.t.Helper()
	h := b.head(id)
	fresh := must2(b.Views.Snapshot(b.t.Context(), h, maxTokens, nil))(b.t)
	for _, last := range b.taken[id] {
		again := must2(b.Views.Snapshot(b.t.Context(), h, maxTokens, &last))(b.t)
		if !reflect.DeepEqual(again, fresh) {
			b.t.Fatalf("behind a snapshot of %d messages: %d segments, %d carried, %d live, more %v;\nby itself %d, %d, %d, %v",
				last.Branch.HeadSeq, len(again.Segments), len(again.Carried), len(again.Live), again.More,
				len(fresh.Segments), len(fresh.Carried), len(fresh.Live), fresh.More)
		}
	}
	if b.taken == nil {
		b.taken = map[scrollback.ConversationID][]store.Snapshot{}
	}
	b.taken[id] = append(b.taken[id], fresh)
	return fresh
}

// A snapshot is what the view shows: its segments, what is carried, and the live
// messages, of a long backlog the oldest piece.
func TestSnapshot(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.create()
		all := b.say(c.ID, numbered("message", 1, 200)...) // 15 tokens each, or one less
		s := b.snapshot(c.ID, 1<<40)
		if len(s.Live) != 200 || s.More || len(s.Segments)+len(s.Carried) != 0 || s.Branch.LiveWeight() != s.Branch.Sum {
			t.Fatalf("unfolded: %d live, more %v", len(s.Live), s.More)
		}
		one := b.leaf(c.ID, 1, 10)
		two := b.leaf(c.ID, 11, 20)
		b.fold(c.ID, 20, []int64{15}, []scrollback.Segment{one, two}, one, two)
		live := all[20:]
		s = b.snapshot(c.ID, 1<<40)
		if len(s.Segments) != 2 || s.Segments[0].ID != one.ID || s.Segments[1].Placeholder != "11 to 20" {
			t.Errorf("segments %+v", s.Segments)
		}
		if !slices.Equal(texts(s.Carried), texts(all[14:15])) || !slices.Equal(texts(s.Live), texts(live)) || s.More {
			t.Errorf("carried %v, %d live from #%d", texts(s.Carried), len(s.Live), s.Live[0].Seq)
		}
		want := all[14].Weight
		for _, m := range live {
			want = want.Add(m.Weight)
		}
		if s.Branch.LiveWeight() != want {
			t.Errorf("live weight %+v, want %+v", s.Branch.LiveWeight(), want)
		}
		var tokens int64
		for n, m := range live {
			tokens += m.Weight.Tokens
			if n%9 != 0 && n != len(live)-1 {
				continue
			}
			most := max(n+1, 64) // that many come, whatever they weigh
			s := b.snapshot(c.ID, tokens)
			if !slices.Equal(texts(s.Live), texts(live[:most])) || s.More != (most < len(live)) {
				t.Fatalf("of %d tokens: %d live, more %v, want %d", tokens, len(s.Live), s.More, most)
			}
			if s.Branch.LiveWeight() != want {
				t.Fatalf("of %d tokens: weight %+v", tokens, s.Branch.LiveWeight())
			}
		}
	})
}

// A fork sees the carried messages and the live ones of its ancestors' branches.
func TestSnapshotOfAFork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		_, _, g, want := family(b)
		s := b.snapshot(g.ID, 1<<40)
		if !slices.Equal(texts(s.Live), want) || s.Branch.LiveWeight() != s.Branch.Sum {
			t.Errorf("live %v", texts(s.Live))
		}
		leaf := b.leaf(g.ID, 1, 7)
		b.fold(g.ID, 7, []int64{5}, []scrollback.Segment{leaf}, leaf)
		s = b.snapshot(g.ID, 1<<40)
		if !slices.Equal(texts(s.Carried), want[4:5]) || !slices.Equal(texts(s.Live), want[7:]) {
			t.Errorf("carried %v, live %v", texts(s.Carried), texts(s.Live))
		}
		if r, err := b.Views.UndoFolds(t.Context(), g.ID, ""); err != nil || r.LastSeq != 7 {
			t.Errorf("undone %+v, %v", r, err)
		}
		if s = b.snapshot(g.ID, 1<<40); !slices.Equal(texts(s.Live), want) {
			t.Errorf("undone, live is %v", texts(s.Live))
		}
		_, err := b.Views.UndoFolds(t.Context(), g.ID, "")
		wantCode(t, err, scrollback.NotFound, "")
	})
}

// A ref resolves through a conversation that mentions it or descends from one that
// does, and through no other.
func TestRef(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		parent, child, g, _ := family(b)
		stranger := b.create()
		leaf := b.leaf(parent.ID, 1, 4)
		b.fold(parent.ID, 4, nil, []scrollback.Segment{leaf}, leaf)
		a := scrollback.Artifact{ID: "aa11", MediaType: "text/plain", Name: "out.txt", Size: 3, CreatedAt: b.Now()}
		if err := b.Refs.PutArtifact(t.Context(), a, child.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.Refs.PutArtifact(t.Context(), scrollback.Artifact{ID: "bb22", CreatedAt: b.Now()}, ""); err != nil {
			t.Fatal(err)
		}
		history := scrollback.HistoryRef(leaf.ID)
		artifact := scrollback.ArtifactRef(a.ID)
		unmentioned := scrollback.ArtifactRef("bb22")
		for _, c := range []struct {
			through scrollback.ConversationID
			ref     scrollback.Ref
			found   bool
		}{
			{parent.ID, history, true}, {child.ID, history, true}, {g.ID, history, true}, {stranger.ID, history, false},
			{child.ID, artifact, true}, {g.ID, artifact, true}, {parent.ID, artifact, false}, {stranger.ID, artifact, false},
			{parent.ID, unmentioned, false}, {parent.ID, scrollback.HistoryRef("cc33"), false},
			{parent.ID, scrollback.ArtifactRef(scrollback.ArtifactID(leaf.ID)), false},
		} {
			e, err := b.Refs.Get(t.Context(), c.through, c.ref)
			if c.found && (err != nil || e.Ref != c.ref) {
				t.Errorf("%s through %s: %+v, %v", c.ref, c.through, e, err)
			}
			if !c.found {
				wantCode(t, err, scrollback.NotFound, string(c.ref))
			}
		}
		e := must2(b.Refs.Get(t.Context(), g.ID, history))(t)
		if e.Kind != "history" || e.Conversation != parent.ID || e.FirstSeq != 1 || e.LastSeq != 4 || e.Messages != 4 ||
			e.Hint != "- line" {
			t.Errorf("%+v", e)
		}
		for _, bad := range []scrollback.Ref{"", "nonsense", "history:", "artifact:../../x"} {
			_, err := b.Refs.Get(t.Context(), g.ID, bad)
			wantCode(t, err, scrollback.Invalid, "is not a ref")
			_, err = b.Refs.FindOwner(t.Context(), bad)
			wantCode(t, err, scrollback.Invalid, "is not a ref")
		}
		if id, err := b.Refs.FindOwner(t.Context(), history); err != nil || id != parent.ID {
			t.Errorf("owner %s, %v", id, err)
		}
		_, err := b.Refs.FindOwner(t.Context(), unmentioned)
		wantCode(t, err, scrollback.NotFound, "")
		for limit := 1; limit < 4; limit++ {
			var got []scrollback.Ref
			for q := (scrollback.RefQuery{Limit: limit}); ; {
				refs, next, err := b.Refs.List(t.Context(), g.ID, q)
				for _, e := range must(t, refs, err) {
					got = append(got, e.Ref)
				}
				if q.Cursor = next; next == "" {
					break
				}
			}
			if !slices.Equal(got, []scrollback.Ref{artifact, history}) {
				t.Errorf("refs by %d: %v", limit, got)
			}
		}
		if refs, _, err := b.Refs.List(t.Context(), g.ID, scrollback.RefQuery{Kind: "history"}); err != nil ||
			len(refs) != 1 ||
			refs[0].Ref != history {
			t.Errorf("of one kind: %+v, %v", refs, err)
		}
		_, _, err = b.Refs.List(t.Context(), g.ID, scrollback.RefQuery{Kind: "message"})
		wantCode(t, err, scrollback.Invalid, "kind")
	})
}
