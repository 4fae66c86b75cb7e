package archive

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
)

// one is a log of one folded message and a roll-up of it.
type one struct {
	segs map[scrollback.SegmentID]scrollback.Segment
	ms   []scrollback.Message
}

func (o *one) ReadSegments(_ context.Context, ids []scrollback.SegmentID) (out []scrollback.Segment, err error) {
	for _, id := range ids {
		out = append(out, o.segs[id])
	}
	return out, nil
}

func (o *one) ReadMessages(context.Context, scrollback.BranchID, int64, int64) ([]scrollback.Message, error) {
	return o.ms, nil
}

func (o *one) SiftMessages(context.Context, scrollback.BranchID, int64, int64,
	func([]byte) bool) iter.Seq2[scrollback.Message, error] {
	panic("nothing is searched for here")
}

// louder stands for a renderer of later: it writes everything in capitals.
func louder(s *renderedSheet) *renderedSheet {
	s.text = []byte(strings.ToUpper(string(s.text)))
	return s
}

// A file that was evicted is made again by the renderer whose number its segment
// has, byte for byte, though files are made otherwise by now; a number that nobody
// knows is an error that names it.
func TestTheNumberChoosesTheRenderer(t *testing.T) {
	o := &one{segs: map[scrollback.SegmentID]scrollback.Segment{},
		ms: []scrollback.Message{{ConversationID: "c", Branch: "b", Seq: 1, Role: scrollback.RoleUser,
			Status: scrollback.StatusComplete, Parts: scrollback.Parts{scrollback.Text{Text: "the key is under the mat 钥匙"}}}}}
	known := renderers{1: allRenderers[1], 2: {
		leaf:  func(s scrollback.Segment, ms []scrollback.Message) *renderedSheet { return louder(leaf1(s, ms)) },
		table: func(s scrollback.Segment, cs []scrollback.Segment) *renderedSheet { return louder(table1(s, cs)) },
	}}
	for number, id := range map[int]scrollback.SegmentID{1: "01", 2: "02"} { // as folds by each of the two left them
		leaf := scrollback.Segment{ID: id, Conversation: "c", Branch: "b", FirstSeq: 1, LastSeq: 1, Messages: 1,
			Renderer:  number,
			CreatedAt: int64(number)}
		s, err := known.renderLeaf(number, leaf, o.ms)
		if err != nil {
			t.Fatal(err)
		}
		leaf.Bytes = int64(len(s.text))
		leaf.SHA256 = hashBytes(s.text)
		top := scrollback.Segment{ID: id + "a", Conversation: "c", Branch: "b", FirstSeq: 1, LastSeq: 1,
			Children: []scrollback.SegmentID{id},
			Renderer: number, CreatedAt: int64(number) + 10}
		if s, err = known.renderTable(number, top, []scrollback.Segment{leaf}); err != nil {
			t.Fatal(err)
		}
		top.Bytes = int64(len(s.text))
		top.SHA256 = hashBytes(s.text)
		o.segs[leaf.ID] = leaf
		o.segs[top.ID] = top
	}
	bucket := blob.NewMemory()
	defer bucket.Close()
	dir := t.TempDir()
	a := New(o, bucket, &Options{Dir: dir})
	a.renderers = known
	for id, want := range map[scrollback.SegmentID]string{"01": "under the mat", "02": "UNDER THE MAT",
		"01a": "history:01",
		"02a": "HISTORY:02"} {
		seg := o.segs[id]
		e := scrollback.RefEntry{Ref: scrollback.HistoryRef(id), Kind: scrollback.RefHistory}
		for range 2 { // the first time, and after it was evicted
			p, err := a.Read(t.Context(), e, 0, scrollback.ReadMax)
			if err != nil || !strings.Contains(p.Content, want) || hashBytes([]byte(p.Content)) != seg.SHA256 {
				t.Fatalf("%s by renderer %d: %v\n%s", id, seg.Renderer, err, p.Content)
			}
			if err := os.RemoveAll(filepath.Join(dir, "c")); err != nil {
				t.Fatal(err)
			}
		}
		a.renderers = renderers{2: known[2]} // the old one was taken away
		_, err := a.Read(t.Context(), e, 0, 0)
		if gone := seg.Renderer == 1; gone != (err != nil) || gone && (scrollback.CodeOf(err) != scrollback.Internal ||
			!strings.Contains(err.Error(), "no renderer 1")) {
			t.Errorf("%s without renderer 1: %v", id, err)
		}
		a.renderers = known
		if err := os.RemoveAll(filepath.Join(dir, "c")); err != nil {
			t.Fatal(err)
		}
	}
}
