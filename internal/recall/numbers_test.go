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

// numbered returns a conversation of which the oldest messages are compacted and the newest are not, and the
// last that is.
func numbered(t *testing.T) (*enginetest.Rig, scrollback.ConversationID, int64) {
	t.Helper()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	id := r.NewConversation()
	for i := range 10 {
		r.Ask(id, fmt.Sprintf("gauge %d 水位 reads ", i)+strings.Repeat("a level in metres. ", 12))
		if i == 7 {
			_, err := r.Compact(context.Background(), id, engine.CompactRequest{Clear: true})
			must(t, err)
		}
	}
	list, err := r.Recall().Segments(context.Background(), id)
	must(t, err)
	if len(list.Segments) == 0 {
		t.Fatal("nothing is compacted")
	}
	last := list.Segments[len(list.Segments)-1].LastSeq
	if last < 2 || last >= list.HeadSeq {
		t.Fatalf("#1 to #%d of %d are compacted", last, list.HeadSeq)
	}
	return r, id, last
}

// readAll reads all of a ref in pages of a few bytes.
func readAll(t *testing.T, of *recall.Reader, id scrollback.ConversationID, ref scrollback.Ref, limit int) string {
	t.Helper()
	var whole strings.Builder
	for page := (scrollback.Page{}); !page.Done; {
		var err error
		page, err = of.Read(context.Background(), id, ref, page.NextOffset, limit)
		must(t, err)
		whole.WriteString(page.Content)
		if page.Done && (page.Bytes != int64(whole.Len()) || page.NextOffset != page.Bytes) {
			t.Fatalf("%s: pages of %d bytes join to %d, not %d", ref, limit, whole.Len(), page.Bytes)
		}
	}
	return whole.String()
}

// A message reads the same by its number whether it is compacted or not, as the file of its segment shows it,
// and its pages join.
func TestNumbersReadMessages(t *testing.T) {
	r, id, folded := numbered(t)
	ctx := context.Background()
	of := r.Recall()
	list, err := of.Segments(ctx, id)
	must(t, err)
	var files strings.Builder
	for _, s := range list.Segments {
		files.WriteString(readAll(t, of, id, s.Ref, 64<<10))
	}
	for seq := int64(1); seq <= list.HeadSeq; seq++ {
		ref := scrollback.Ref(fmt.Sprint(seq))
		got := readAll(t, of, id, ref, 64<<10)
		if small := readAll(t, of, id, "#"+ref, 7); small != got {
			t.Errorf("#%d in small pages is %q", seq, small)
		}
		if !strings.HasPrefix(got, fmt.Sprintf("## #%d ", seq)) || strings.Count(got, "\n## #") != 0 {
			t.Errorf("#%d reads %q", seq, got)
		}
		if strings.Contains(files.String(), "\n"+got) != (seq <= folded) {
			t.Errorf("#%d reads otherwise than in the file of its segment: %q", seq, got)
		}
		m := r.Log(id)[seq-1]
		if !strings.Contains(got, m.Parts.Text()) {
			t.Errorf("#%d lacks what was said: %q", seq, got)
		}
	}
	span := scrollback.Ref(fmt.Sprintf("#%d-#%d", folded-1, folded+2))
	got := readAll(t, of, id, span, 100)
	for seq := folded - 1; seq <= folded+2; seq++ {
		if !strings.Contains("\n"+got, "\n"+readAll(t, of, id, scrollback.Ref(fmt.Sprint(seq)), 0)) {
			t.Errorf("%s lacks #%d: %q", span, seq, got)
		}
	}
	for _, spelt := range []string{"%d-%d", "#%d–#%d", " %d - %d ", "Messages #%d–#%d", "%d..%d", "#%d-%d"} {
		ref := scrollback.Ref(fmt.Sprintf(spelt, folded-1, folded+2))
		page, err := of.Read(ctx, id, ref, 0, 0)
		if err != nil || page.Content != got || page.Ref != span {
			t.Errorf("%q reads as %+v, %v", ref, page, err)
		}
	}
	tail, err := of.Tail(ctx, id, span, 2)
	if err != nil || tail.Ref != span || !strings.HasSuffix(got, tail.Content) || strings.Count(tail.Content, "\n") != 2 {
		t.Errorf("the tail of %s is %+v, %v", span, tail, err)
	}
	found, err := of.Grep(ctx, id, scrollback.GrepQuery{Ref: span, Pattern: "gauge [0-9] 水位"})
	must(t, err)
	for _, m := range found.Matches {
		if m.Seq < folded-1 || m.Seq > folded+2 || m.Ref != nil {
			t.Errorf("a grep of %s finds %+v", span, m)
		}
	}
	if len(found.Matches) != 2 || found.Total != 2 {
		t.Errorf("a grep of %s finds %d of %d", span, len(found.Matches), found.Total)
	}
}

// Numbers mean the path that is current: those of a fork are its own, and one that was taken back is not
// there, which the error says, with those that are.
func TestNumbersMeanThePath(t *testing.T) {
	r, id, _ := numbered(t)
	ctx := context.Background()
	of := r.Recall()
	seq := int64(18)
	fork, err := r.Branches().Fork(ctx, id, engine.Point{Seq: &seq}, "")
	must(t, err)
	r.Ask(fork.ID, "the fork goes on")
	if got := readAll(t, of, fork.ID, "19", 0); !strings.Contains(got, "the fork goes on") {
		t.Errorf("#19 of the fork reads %q", got)
	}
	if got, own := readAll(t, of, fork.ID, "3-18", 0), readAll(t, of, id, "3-18", 0); got != own {
		t.Errorf("a fork reads what it inherits as %q", got)
	}
	if got := readAll(t, of, id, "19", 0); strings.Contains(got, "the fork goes on") {
		t.Errorf("#19 of the other conversation reads %q", got)
	}
	left, err := r.Get(ctx, id)
	must(t, err)
	_, err = r.Branches().Rewind(ctx, id, engine.Point{Seq: &seq})
	must(t, err)
	_, err = of.Read(ctx, id, "#19", 0, 0)
	enginetest.WantCode(t, err, scrollback.NotFound, "message #19 was taken back by a rewind and is on branch "+
		string(left.Branch)+": the conversation as it is now has the messages #1 to #18")
	_, err = of.Read(ctx, id, "17-30", 0, 0)
	enginetest.WantCode(t, err, scrollback.NotFound,
		"there is no message #30: this conversation has the messages #1 to #18")
	r.Ask(id, "another question")
	if got := readAll(t, of, id, "19", 0); !strings.Contains(got, "another question") {
		t.Errorf("#19 after a rewind reads %q", got)
	}
	for _, bad := range []scrollback.Ref{"#", "0", "#abc", "5-", "-5", "9-5", "1e3", "3,4", "99999999999999999999",
		"latest"} {
		_, err := of.Read(ctx, id, bad, 0, 0)
		enginetest.WantCode(t, err, scrollback.Invalid,
			fmt.Sprintf("%q is not a ref (history:<id>, artifact:<id>), and names no messages (392, 392-410): "+
				"this conversation has #1 to #20", bad))
	}
	_, err = of.Leaves(ctx, id, "3")
	enginetest.WantCode(t, err, scrollback.Invalid, "only compacted messages have leaves")
	empty := r.NewConversation()
	_, err = of.Read(ctx, empty, "1", 0, 0)
	enginetest.WantCode(t, err, scrollback.NotFound, "this conversation has no messages")
}

// The refs of a conversation are told apart by what was said first in each.
func TestHintsTellSegmentsApart(t *testing.T) {
	r, id, _ := compacted(t)
	refs, _, err := r.Recall().Refs(context.Background(), id, scrollback.RefQuery{Kind: scrollback.RefHistory})
	must(t, err)
	seen := map[string]scrollback.Ref{}
	for _, e := range refs {
		if was, twice := seen[e.Hint]; twice || e.Hint == "" || strings.HasPrefix(e.Hint, "- #") {
			t.Errorf("%s and %s are both %q", was, e.Ref, e.Hint)
		}
		seen[e.Hint] = e.Ref
	}
	if len(refs) < 10 {
		t.Fatalf("%d refs", len(refs))
	}
}
