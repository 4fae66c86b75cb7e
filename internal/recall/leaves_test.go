package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/recall"
)

// compacted returns a conversation whose oldest compactions were rolled up.
func compacted(t *testing.T) (*enginetest.Rig, scrollback.ConversationID, recall.SegmentList) {
	t.Helper()
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	id := r.NewConversation()
	for i := range 120 {
		r.Ask(id, fmt.Sprintf("gauge %d reads ", i)+strings.Repeat("a level in metres. ", 12))
		if i%4 == 3 {
			if _, err := r.Compact(ctx, id, engine.CompactRequest{Force: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := r.Recall().Segments(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return r, id, list
}

// What a conversation shows and what that consists of covers every compacted message once,
// at every level; a grep of a roll-up names the leaf of each match.
func TestLeaves(t *testing.T) {
	ctx := context.Background()
	r, id, list := compacted(t)
	head, err := r.Get(ctx, id)
	if err != nil || list.HeadSeq != head.Messages || len(list.Segments) == 0 {
		t.Fatalf("%d segments of %d messages, want %d (%v)", len(list.Segments), list.HeadSeq, head.Messages, err)
	}
	rolled := 0
	leaves := map[scrollback.Ref]recall.Leaf{}
	next := int64(1)
	var open func(all []recall.Leaf)
	open = func(all []recall.Leaf) {
		for _, l := range all {
			if l.Hint == "" || l.Tokens <= l.CardTokens || l.CardTokens == 0 || l.From == 0 || l.To < l.From ||
				strings.HasPrefix(l.Hint, "- #") {
				t.Errorf("a leaf says too little: %+v", l)
			}
			inside, err := r.Recall().Leaves(ctx, id, l.Ref)
			if err != nil || inside.Ref != l.Ref || inside.FirstSeq != l.FirstSeq || inside.LastSeq != l.LastSeq ||
				inside.Messages != l.Messages {
				t.Fatalf("%+v opens as %+v (%v)", l, inside, err)
			}
			if !l.RolledUp {
				if len(inside.Leaves) != 1 || inside.Leaves[0] != l || l.FirstSeq != next ||
					int64(l.Messages) != l.LastSeq-l.FirstSeq+1 {
					t.Fatalf("a leaf after #%d is %+v, and consists of %+v", next-1, l, inside.Leaves)
				}
				leaves[l.Ref] = l
				next = l.LastSeq + 1
				continue
			}
			rolled++
			open(inside.Leaves)
		}
	}
	open(list.Segments)
	if rolled == 0 || len(leaves) < 5 || next != list.Segments[len(list.Segments)-1].LastSeq+1 {
		t.Fatalf("%d roll-ups and %d leaves up to #%d", rolled, len(leaves), next-1)
	}
	for _, l := range list.Segments {
		found, err := r.Recall().Grep(ctx, id, scrollback.GrepQuery{Ref: l.Ref, Pattern: `gauge \d*7 reads`})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found.Matches {
			if l.RolledUp != (m.Leaf != nil) || m.Ref == nil || m.Seq < l.FirstSeq || m.Seq > l.LastSeq {
				t.Fatalf("in %+v there is %+v", l, m)
			}
			if m.Leaf != nil && (m.Seq < leaves[*m.Leaf].FirstSeq || m.Seq > leaves[*m.Leaf].LastSeq) {
				t.Errorf("#%d is not in %+v", m.Seq, leaves[*m.Leaf])
			}
		}
		if l.RolledUp && len(found.Matches) == 0 {
			t.Errorf("nothing was found in %+v", l)
		}
	}
}

// A leaf of an attachment, and what nobody mentions, is an error that says so.
func TestLeavesRefused(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, enginetest.ChattyStep())
	id := r.NewConversation()
	a, err := r.Upload(ctx, id, strings.NewReader("levels"), "levels.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Recall().Leaves(ctx, id, scrollback.ArtifactRef(a.ID))
	enginetest.WantCode(t, err, scrollback.Invalid, "only compacted messages have leaves")
	_, err = r.Recall().Leaves(ctx, id, "history:01a204b3-3d45-7978-b329-c33dad62209f")
	enginetest.WantCode(t, err, scrollback.NotFound, "mentions no history")
	_, err = r.Recall().Shape(ctx, id, scrollback.ShapeMax+1)
	enginetest.WantCode(t, err, scrollback.Invalid, "bins must be 1 to 600")
	list, err := r.Recall().Segments(ctx, id)
	if err != nil || list.Segments == nil || list.PinnedSeqs == nil || list.HeadSeq != 0 {
		t.Errorf("an empty conversation shows %+v (%v)", list, err)
	}
	shape, err := r.Recall().Shape(ctx, id, 0)
	if err != nil || shape.Bins == nil || len(shape.Bins) != 0 {
		t.Errorf("an empty conversation has the shape %+v (%v)", shape, err)
	}
}

// A shape covers the whole path, compacted or not, in as many bins as were asked for.
func TestShape(t *testing.T) {
	ctx := context.Background()
	r, id, list := compacted(t)
	spoken := 0
	for _, m := range r.Log(id) {
		if m.Role == scrollback.RoleUser || m.Role == scrollback.RoleAssistant {
			spoken++
		}
	}
	for bins, want := range map[int]int{0: int(min(list.HeadSeq, scrollback.ShapeDefault)), 7: 7,
		600: int(min(list.HeadSeq, 600))} {
		shape, err := r.Recall().Shape(ctx, id, bins)
		if err != nil || len(shape.Bins) != want || shape.HeadSeq != list.HeadSeq {
			t.Fatalf("%d bins of %d, %v, want %d", len(shape.Bins), shape.HeadSeq, err, want)
		}
		next := int64(1)
		said := 0
		for _, b := range shape.Bins {
			if b.FirstSeq != next || b.LastSeq < b.FirstSeq || b.Bytes == 0 || b.At < shape.From || b.At > shape.To {
				t.Fatalf("after #%d comes %+v", next-1, b)
			}
			next = b.LastSeq + 1
			said = said + b.User + b.Assistant
		}
		if next != list.HeadSeq+1 || said != spoken {
			t.Errorf("the bins end with #%d and count %d of %d messages", next-1, said, spoken)
		}
	}
}
