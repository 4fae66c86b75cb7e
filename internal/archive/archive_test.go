package archive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
)

const (
	conv   = scrollback.ConversationID("01920000-0000-7000-8000-00000000000a")
	branch = scrollback.BranchID("01920000-0000-7000-8000-00000000000b")
	start  = int64(1_767_225_600_000) // 2026-01-01T00:00:00Z
)

// book is a log in memory.
type book struct {
	segs  map[scrollback.SegmentID]scrollback.Segment
	ms    []scrollback.Message
	asked int  // times the messages were read
	still bool // does not count, so that many may read
	wait  func(context.Context)
}

func (b *book) ReadSegments(_ context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	var out []scrollback.Segment
	for _, id := range ids {
		s, ok := b.segs[id]
		if !ok {
			return nil, scrollback.Errorf(scrollback.NotFound, "book", "no segment %s", id)
		}
		out = append(out, s)
	}
	return out, nil
}

func (b *book) ReadMessages(ctx context.Context, id scrollback.BranchID, from, to int64) ([]scrollback.Message, error) {
	if !b.still {
		b.asked++
	}
	if b.wait != nil {
		b.wait(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if id != branch || from < 1 || to > int64(len(b.ms)) {
		return nil, nil
	}
	return b.ms[from-1 : to], nil
}

// SiftMessages counts as reading only what is wanted, as Messages does.
func (b *book) SiftMessages(ctx context.Context, id scrollback.BranchID, from, to int64,
	wanted func([]byte) bool) iter.Seq2[scrollback.Message, error] {
	return func(yield func(scrollback.Message, error) bool) {
		ms, err := b.ReadMessages(ctx, id, from, to)
		for _, m := range ms {
			if wanted != nil {
				parts, err := m.Parts.MarshalJSON()
				if err != nil || !wanted(parts) {
					continue
				}
			}
			if !yield(m, nil) {
				return
			}
		}
		if err != nil {
			yield(scrollback.Message{}, err)
		}
	}
}

// say appends a message made of parts; role follows from the first.
func (b *book) say(parts ...scrollback.Part) *scrollback.Message {
	role := scrollback.RoleUser
	switch parts[0].(type) {
	case scrollback.ToolResult:
		role = scrollback.RoleTool
	case scrollback.ToolCall, scrollback.Reasoning:
		role = scrollback.RoleAssistant
	}
	n := int64(len(b.ms) + 1)
	b.ms = append(b.ms, scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(n)), ConversationID: conv, Branch: branch,
		Seq: n, Role: role, Parts: parts, Status: scrollback.StatusComplete, CreatedAt: start + n*60_000})
	return &b.ms[n-1]
}

// fold makes a leaf of the messages from a to z and answers its ref.
func (b *book) fold(t testing.TB, id string, a, z int64) scrollback.RefEntry {
	t.Helper()
	seg := scrollback.Segment{ID: scrollback.SegmentID(id), Conversation: conv, Branch: branch, FirstSeq: a, LastSeq: z,
		Messages: int(z - a + 1), From: b.ms[a-1].CreatedAt, To: b.ms[z-1].CreatedAt,
		Summary:  "\nabout " + id + " | more\nrest",
		Renderer: archive.Renderer, CreatedAt: start + z*60_000}
	var err error
	seg.Bytes, seg.SHA256, err = archive.MeasureLeaf(seg, b.ms[a-1:z])
	must(t, err)
	return b.keep(seg)
}

// roll makes a roll-up of segments.
func (b *book) roll(t testing.TB, id string, level int, ids ...scrollback.SegmentID) scrollback.RefEntry {
	t.Helper()
	children, err := b.ReadSegments(t.Context(), ids)
	must(t, err)
	first := children[0]
	last := children[len(children)-1]
	seg := scrollback.Segment{ID: scrollback.SegmentID(id), Conversation: conv, Branch: branch, FirstSeq: first.FirstSeq,
		LastSeq: last.LastSeq, From: first.From, To: last.To, Children: ids, Level: level, Renderer: archive.Renderer,
		CreatedAt: last.CreatedAt}
	for _, c := range children {
		seg.Messages += c.Messages
	}
	seg.Bytes, seg.SHA256, err = archive.MeasureTable(seg, children)
	must(t, err)
	return b.keep(seg)
}

func (b *book) keep(seg scrollback.Segment) scrollback.RefEntry {
	if b.segs == nil {
		b.segs = map[scrollback.SegmentID]scrollback.Segment{}
	}
	b.segs[seg.ID] = seg
	return scrollback.RefEntry{Ref: scrollback.HistoryRef(seg.ID), Kind: scrollback.RefHistory,
		Conversation: seg.Conversation,
		Bytes:        seg.Bytes, SHA256: seg.SHA256, MediaType: "text/markdown"}
}

// file returns the Markdown of a segment.
func (b *book) file(t testing.TB, id scrollback.SegmentID) string {
	t.Helper()
	var buf bytes.Buffer
	must(t, archive.New(b, bucket(t), nil).WriteSegment(t.Context(), &buf, id))
	return buf.String()
}

func bucket(t testing.TB) blob.Bucket {
	b := blob.NewMemory()
	t.Cleanup(func() { b.Close() })
	return b
}

// put keeps content as an artifact and answers its ref.
func put(t testing.TB, a *archive.Archive, content, mediaType string) scrollback.RefEntry {
	t.Helper()
	id, size, err := a.PutArtifact(t.Context(), strings.NewReader(content), 1<<30)
	must(t, err)
	return scrollback.RefEntry{Ref: scrollback.ArtifactRef(id), Kind: scrollback.RefArtifact, Conversation: conv,
		Bytes:  size,
		SHA256: string(id), MediaType: mediaType}
}

func idOf(e scrollback.RefEntry) scrollback.ArtifactID {
	_, id, _ := e.Ref.Split()
	return scrollback.ArtifactID(id)
}

// all lets a scope read every artifact.
func all(_ context.Context, id scrollback.ArtifactID) (scrollback.Artifact, bool, error) {
	return scrollback.Artifact{ID: id, MediaType: "text/plain"}, true, nil
}

func text(s string) scrollback.Text { return scrollback.Text{Text: s} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code scrollback.Code, words ...string) {
	t.Helper()
	if scrollback.CodeOf(err) != code {
		t.Fatalf("code %q (%v), want %q", scrollback.CodeOf(err), err, code)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}
