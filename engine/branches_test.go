package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/filltest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// view returns the view of a conversation's current branch.
func view(r *enginetest.Rig, id scrollback.ConversationID) scrollback.View {
	r.T.Helper()
	h, err := r.Store.ReadHead(context.Background(), id)
	if err != nil {
		r.T.Fatal(err)
	}
	return h.Branch.View
}

// leaf returns the fold of a view that holds a seq: its first and last seq.
func leaf(r *enginetest.Rig, v scrollback.View, seq int64) (first, last int64) {
	r.T.Helper()
	var ids []scrollback.SegmentID
	for _, item := range v.Segments {
		if item.FirstSeq <= seq && seq <= item.LastSeq {
			ids = []scrollback.SegmentID{item.ID}
		}
	}
	for len(ids) > 0 {
		segs, err := r.Store.ReadSegments(context.Background(), ids)
		if err != nil {
			r.T.Fatal(err)
		}
		i := slices.IndexFunc(segs, func(g scrollback.Segment) bool { return g.FirstSeq <= seq && seq <= g.LastSeq })
		if i >= 0 && len(segs[i].Children) == 0 {
			return segs[i].FirstSeq, segs[i].LastSeq
		}
		ids = nil
		if i >= 0 {
			ids = segs[i].Children
		}
	}
	r.T.Fatalf("#%d is in no leaf", seq)
	return 0, 0
}

// A rewind or a fork to anywhere in a conversation that was folded many times over
// unfolds the leaf that it falls into, and that only: what is before it stays
// folded, the window is the path, and the next request fits.
func TestRewindAcrossFolds(t *testing.T) {
	testlength.SkipShort(t)
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 4000},
		modeltest.Step{Reply: func(model.Request) []model.Delta {
			return []model.Delta{{Text: strings.Repeat("an answer of some length ", 12)}}
		}})
	id := r.NewConversation()
	for i := range 260 {
		r.Ask(id, wordy(i)).WantDone(t, scrollback.TurnComplete, "stop")
	}
	whole := view(r, id)
	c, err := r.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	home := c.Branch
	deep := 0
	for _, s := range whole.Segments {
		deep = max(deep, s.Level)
	}
	if refs, _, err := r.Refs(ctx, id, scrollback.RefQuery{Limit: scrollback.ListMax}); err != nil || deep < 1 ||
		len(refs) < 20 {
		t.Fatalf("%d folds, %d levels, %v", len(refs), deep, err)
	}
	step := testlength.Choose[int64](29, 7, 7)
	for seq := int64(0); seq < c.Messages; seq += step {
		if _, err := r.Branches().Rewind(ctx, id, engine.Point{Branch: home, Seq: &seq}); err != nil {
			t.Fatal(err)
		}
		v := view(r, id)
		switch {
		case seq > whole.Boundary:
			if v.Boundary != whole.Boundary {
				t.Fatalf("at #%d, behind the boundary, the view changed to %+v", seq, v)
			}
		case seq == 0:
			if v.Boundary != 0 {
				t.Fatalf("before the first message the view is %+v", v)
			}
		default:
			first, last := leaf(r, whole, seq)
			want := first - 1
			if seq == last {
				want = last
			}
			if v.Boundary != want {
				t.Fatalf("at #%d in #%d–#%d the boundary is %d, want %d", seq, first, last, v.Boundary, want)
			}
		}
		enginetest.CheckViews(t, r, id)
		f, err := r.Branches().Fork(ctx, id, engine.Point{}, "")
		if err != nil {
			t.Fatal(err)
		}
		enginetest.CheckViews(t, r, f.ID)
		if seq%3 == 0 {
			r.Ask(f.ID, "and on").WantDone(t, scrollback.TurnComplete, "stop")
		}
	}
	if _, err := r.Branches().Rewind(ctx, id, engine.Point{Branch: home}); err != nil {
		t.Fatal(err)
	}
	if v := view(r, id); fmt.Sprint(v) != fmt.Sprint(whole) {
		t.Error("back on its branch the view is another")
	}
	if found, err := doctor.Check(ctx, r.Store, r.Archive, nil); err != nil || !found.OK {
		t.Errorf("the check finds %+v, %v", found.Problems, err)
	}
}

// A summary that speaks of what was rewound is not shown: the one before it is, and
// none where none was.
func TestRewindBehindASummary(t *testing.T) {
	ctx := context.Background()
	w := &writer{sum: func(n int, _ model.Request) []model.Delta {
		return []model.Delta{{Text: minutes(fmt.Sprint("goal ", n))}}
	}}
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Summaries: true}, w.step())
	id := r.NewConversation()
	talk(r, id, 60, wordy)
	conv, err := r.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	home := conv.Branch
	var ends []int64 // where each summary's fold ended
	rs, err := r.Receipts(ctx, id, 50)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(rs) - 1; i >= 0; i-- {
		if rs[i].Result == scrollback.ResultCompacted {
			ends = append(ends, rs[i].LastSeq)
		}
	}
	if len(ends) < 3 {
		t.Fatalf("only %d folds", len(ends))
	}
	for i, end := range ends {
		if _, err := r.Branches().Rewind(ctx, id, engine.Point{Branch: home, Seq: &end}); err != nil {
			t.Fatal(err)
		}
		r.Ask(id, "short")
		chat, _ := w.requests()
		text := folded(chat[len(chat)-1])
		if !strings.Contains(text, fmt.Sprintf("goal %d\n", i+1)) || strings.Count(text, "## Goal") != 1 {
			t.Errorf("behind fold %d of %d the summary is\n%.300s", i+1, len(ends), text)
		}
	}
	one := ends[0] - 1
	if _, err := r.Branches().Rewind(ctx, id, engine.Point{Branch: home, Seq: &one}); err != nil {
		t.Fatal(err)
	}
	if v := view(r, id); v.Summary != nil || v.Boundary != 0 {
		t.Errorf("before the first fold the view is %+v", v)
	}
}

// What a fork inherits folded can be unfolded there, by its segment too; the parent
// keeps its own view.
func TestUncompactInAFork(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Say("fine"))
	id := r.NewConversation()
	for i := range 12 {
		r.Ask(id, wordy(i))
		if i%3 == 2 {
			if _, err := r.Compact(ctx, id, engine.CompactRequest{Clear: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	own := view(r, id)
	f, err := r.Branches().Fork(ctx, id, engine.Point{}, "")
	if err != nil || len(own.Segments) != 4 {
		t.Fatalf("%d segments, %v", len(own.Segments), err)
	}
	receipts := func(want ...string) {
		t.Helper()
		rs, err := r.Receipts(ctx, f.ID, 9)
		var have []string
		for _, x := range rs {
			have = append(have, fmt.Sprintf("%d inherited:%v", x.LastSeq, x.Inherited))
		}
		if err != nil || !slices.Equal(have, want) {
			t.Errorf("receipts of the fork: %v, want %v (%v)", have, want, err)
		}
	}
	receipts("24 inherited:true", "18 inherited:true", "12 inherited:true", "6 inherited:true")
	got, err := r.Uncompact(ctx, f.ID, "")
	receipts("18 inherited:true", "12 inherited:true", "6 inherited:true")
	if v := view(r, f.ID); err != nil || v.Boundary != own.Segments[2].LastSeq || got.FirstSeq != v.Boundary+1 ||
		got.LastSeq != own.Boundary ||
		!got.Undone || got.TokensAfter <= got.TokensBefore {
		t.Fatalf("unfolded %+v to %+v, %v", got, v, err)
	}
	if _, err := r.Compact(ctx, f.ID, engine.CompactRequest{Clear: true}); err != nil { // a fold of its own comes first
		t.Fatal(err)
	}
	receipts("24 inherited:false", "18 inherited:true", "12 inherited:true", "6 inherited:true")
	if one, err := r.Receipts(ctx, f.ID, 2); err != nil || len(one) != 2 || one[0].Inherited || !one[1].Inherited {
		t.Errorf("two of them: %+v, %v", one, err)
	}
	if rs, err := r.Receipts(ctx, id, 9); err != nil || len(rs) != 4 || rs[0].Inherited {
		t.Errorf("receipts of the parent: %+v, %v", rs, err)
	}
	got, err = r.Uncompact(ctx, f.ID, own.Segments[1].ID)
	if v := view(r, f.ID); err != nil || v.Boundary != own.Segments[0].LastSeq || got.FirstSeq != v.Boundary+1 ||
		got.LastSeq != 24 {
		t.Fatalf("unfolded %+v to %+v, %v", got, v, err)
	}
	enginetest.CheckViews(t, r, f.ID)
	_, err = r.Uncompact(ctx, f.ID, own.Segments[1].ID)
	enginetest.WantCode(t, err, scrollback.NotFound, "not compacted")
	if v := view(r, id); fmt.Sprint(v) != fmt.Sprint(own) {
		t.Error("the parent's view changed")
	}
}

// The trash is emptied only of what has been there for long enough.
func TestPurgeTrash(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("fine"))
	day := 24 * time.Hour.Milliseconds()
	var ids []scrollback.ConversationID
	for range 3 {
		id := r.NewConversation()
		r.Ask(id, "hello")
		ids = append(ids, id)
	}
	for _, id := range ids[:2] {
		if _, err := r.Trash(ctx, id); err != nil {
			t.Fatal(err)
		}
		r.Clock.Add(20 * day)
	}
	if n, err := admin(r).PurgeTrash(ctx, 30*day); err != nil || n != 1 {
		t.Fatalf("purged %d, %v", n, err)
	}
	_, err := r.Get(ctx, ids[0])
	enginetest.WantCode(t, err, scrollback.NotFound, "")
	for _, id := range ids[1:] {
		if _, err := r.Get(ctx, id); err != nil {
			t.Error(err)
		}
	}
}

// A fork has every field of its parent but those below, also one that is new.
func TestForkCarries(t *testing.T) {
	const decided = "the store decides it for each conversation"
	const own = "it is of the parent alone"
	c := filltest.Filled[scrollback.Conversation](&filltest.Filler{})
	c.Environment.Changed = true
	c.Environment.Told = scrollback.EnvironmentState{} // as RepeatEnvironment leaves it
	fork := engine.ForkOf(c)
	for _, wrong := range filltest.Carried(c.Settings, fork.Settings, map[string]string{"Pinned": own}) {
		t.Error("Settings: " + wrong)
	}
	c.Settings.Pinned = false
	for _, wrong := range filltest.Carried(c, fork, map[string]string{
		"ID": decided, "Version": decided, "Branch": decided, "Messages": decided, "CreatedAt": decided,
		"UpdatedAt": decided, "Parent": decided, "PinnedSeqs": decided, "Ancestors": decided,
		"Title": "Fork makes another", "TitleBy": "the title is a copy's", "AgentOf": own, "DeletedAt": own,
		"PurgedAt": own,
	}) {
		t.Error(wrong)
	}
}
