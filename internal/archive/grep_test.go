package archive_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
)

func segment(ids ...scrollback.SegmentID) archive.Scope {
	s := archive.Scope{Artifact: all}
	for _, id := range ids {
		s.Stretches = append(s.Stretches, archive.Stretch{Segment: id})
	}
	return s
}

// live returns the messages from a to z that are not folded.
func live(a, z int64) archive.Stretch { return archive.Stretch{Branch: branch, From: a, To: z} }

// show writes matches as "where:line content", one a line.
func show(r scrollback.GrepResult) string {
	var out strings.Builder
	for _, m := range r.Matches {
		where := "live"
		if m.Ref != nil {
			where, _, _ = m.Ref.Split()
		}
		fmt.Fprintf(&out, "%s #%d:%d %s\n", where, m.Seq, m.Line, m.Content)
	}
	return out.String()
}

func TestGrepContract(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	e := put(t, a, sample, "text/plain")
	for _, c := range []struct {
		name  string
		q     scrollback.GrepQuery
		total int64
		want  string
	}{
		{"either case by default", scrollback.GrepQuery{Pattern: "error"}, 2,
			"artifact #0:2 ERROR one\nartifact #0:4 error two\n"},
		{"one case on demand", scrollback.GrepQuery{Pattern: "error", CaseSensitive: true}, 1, "artifact #0:4 error two\n"},
		{"nothing", scrollback.GrepQuery{Pattern: "zzz"}, 0, ""},
		{"the total is true", scrollback.GrepQuery{Pattern: "e", MaxResults: 2}, 5,
			"artifact #0:1 line1\nartifact #0:2 ERROR one\n"},
		{"anchors are those of a line", scrollback.GrepQuery{Pattern: `\Aline\d\z`}, 3,
			"artifact #0:1 line1\nartifact #0:3 line3\nartifact #0:5 line5\n"},
		{"no match crosses lines", scrollback.GrepQuery{Pattern: `(?s)line1.ERROR|one\sline|\n`}, 0, ""},
		{"no line after the final newline", scrollback.GrepQuery{Pattern: "^$"}, 0, ""},
	} {
		c.q.Ref = e.Ref
		r, err := a.Grep(t.Context(), archive.Scope{Artifact: all}, c.q)
		must(t, err)
		if r.Total != c.total || show(r) != c.want || r.Partial {
			t.Errorf("%s: %d\n%s", c.name, r.Total, show(r))
		}
	}
	r, err := a.Grep(t.Context(), archive.Scope{Artifact: all},
		scrollback.GrepQuery{Ref: e.Ref, Pattern: "two", ContextLines: 1})
	must(t, err)
	if m := r.Matches[0]; !reflect.DeepEqual(m.Before, []string{"line3"}) ||
		!reflect.DeepEqual(m.After, []string{"line5"}) {
		t.Errorf("%+v", m)
	}
	r, err = a.Grep(t.Context(), archive.Scope{}, scrollback.GrepQuery{Pattern: "x"})
	must(t, err)
	if got := toJSON(t, r); got != `{"total":0,"matches":[]}` {
		t.Error(got)
	}
}

func TestGrepRefuses(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	png := put(t, a, "\x89PNG", "image/png")
	txt := put(t, a, "text", "text/plain")
	for _, c := range []struct {
		q     scrollback.GrepQuery
		words []string
	}{
		{scrollback.GrepQuery{Pattern: "a(b"}, []string{"missing closing )", "a(b"}},
		{scrollback.GrepQuery{Pattern: "a)|(b"}, []string{"unexpected )"}},
		{scrollback.GrepQuery{Pattern: ""}, []string{"empty"}},
		{scrollback.GrepQuery{Pattern: strings.Repeat("中", 1001)}, []string{"1001", "1000"}},
		{scrollback.GrepQuery{Pattern: "(" + strings.Repeat(`a{0,30}b{0,30}`, 20) + "){1,15}"}, []string{"too big"}},
		{scrollback.GrepQuery{Pattern: "x", MaxResults: 201}, []string{"200"}},
		{scrollback.GrepQuery{Pattern: "x", MaxResults: -1}, []string{"200"}},
		{scrollback.GrepQuery{Pattern: "x", ContextLines: 21}, []string{"20"}},
		{scrollback.GrepQuery{Pattern: "x", Ref: "nonsense"}, []string{"not a ref"}},
		{scrollback.GrepQuery{Pattern: "x", Ref: png.Ref}, []string{"4 bytes"}},
	} {
		_, err := a.Grep(t.Context(), archive.Scope{Artifact: all}, c.q)
		wantCode(t, err, scrollback.Invalid, c.words...)
	}
	for _, ref := range []scrollback.Ref{"history:0a", scrollback.ArtifactRef(sha)} {
		_, err := a.Grep(t.Context(), archive.Scope{Artifact: all}, scrollback.GrepQuery{Pattern: "x", Ref: ref})
		wantCode(t, err, scrollback.NotFound)
	}
	_, err := a.Grep(t.Context(), archive.Scope{}, scrollback.GrepQuery{Pattern: "x", Ref: txt.Ref})
	wantCode(t, err, scrollback.NotFound)
	_, err = a.Grep(t.Context(), archive.Scope{}, scrollback.GrepQuery{Pattern: strings.Repeat("中", 1000)})
	must(t, err)
}

// deep returns a log of seven messages with a needle in each, two levels of roll-ups
// over the first six, and an artifact behind a result in the middle.
func deep(t *testing.T, a func(*book) *archive.Archive) (*book, *archive.Archive, scrollback.RefEntry) {
	b := &book{}
	arc := a(b)
	art := put(t, arc, "log\nneedle in the artifact\nend\n", "text/plain")
	b.say(text("needle 1"))
	b.say(scrollback.ToolCall{ID: "c", Name: "make", Arguments: json.RawMessage(`"needle 2"`)})
	b.say(scrollback.ToolResult{CallID: "c", Name: "make", Text: "head needle tail", Artifact: idOf(art)})
	b.say(text("first\nneedle 4"), scrollback.ToolResult{Name: "context_grep", Text: "needle recalled", Recall: true})
	b.say(scrollback.ToolResult{CallID: "d", Name: "again", Text: "needle", Artifact: idOf(art)})
	b.say(scrollback.Reasoning{Text: "needle 6"})
	b.say(text("text\nneedle 7"), scrollback.ToolResult{Name: "f", Text: "needle 7b"},
		scrollback.ToolResult{Text: "needle", Recall: true},
		scrollback.ToolResult{Name: "g", Text: "needle", Artifact: idOf(art)})
	for i := range int64(3) {
		b.fold(t, fmt.Sprintf("0%d", i), 2*i+1, 2*i+2)
	}
	b.roll(t, "aa", 1, "00", "01")
	b.roll(t, "bb", 1, "02")
	b.roll(t, "cc", 2, "aa", "bb")
	return b, arc, art
}

func TestGrepGoesThroughRollUpsAndArtifacts(t *testing.T) {
	dir := t.TempDir()
	b, a, art := deep(t, func(b *book) *archive.Archive { return archive.New(b, bucket(t), &archive.Options{Dir: dir}) })
	scope := segment("cc")
	scope.Stretches = append(scope.Stretches, live(7, 7))
	const folded = "history #1:10 needle 1\nhistory #2:17 \"needle 2\"\nartifact #3:2 needle in the artifact\nhistory #4:17 needle " +
		"4\nhistory #6:19 needle 6\n"
	const live = "live #7:2 needle 7\nlive #7:3 needle 7b\n"
	check := func(name string, q scrollback.GrepQuery, want string) {
		t.Helper()
		q.Pattern = "NEEDLE"
		r, err := a.Grep(t.Context(), scope, q)
		must(t, err)
		if got := show(r); got != want || int(r.Total) != strings.Count(want, "\n") || r.Partial {
			t.Errorf("%s: total %d\n%swant\n%s", name, r.Total, got, want)
		}
	}
	for range 2 { // without and with files
		check("conversation", scrollback.GrepQuery{}, folded+live)
		check("roll-up", scrollback.GrepQuery{Ref: "history:cc"}, folded)
		check("leaf", scrollback.GrepQuery{Ref: "history:01"},
			"artifact #3:2 needle in the artifact\nhistory #4:17 needle 4\n")
		check("artifact", scrollback.GrepQuery{Ref: art.Ref}, "artifact #0:2 needle in the artifact\n")
		for _, id := range []scrollback.SegmentID{"00", "01", "02", "aa", "cc"} {
			must(t, a.RenderAhead(t.Context(), id))
		}
	}
	r, err := a.Grep(t.Context(), scope, scrollback.GrepQuery{Pattern: "needle 4"})
	must(t, err)
	if m := r.Matches[0]; *m.Ref != "history:01" {
		t.Errorf("the line is said to stand in %s", *m.Ref)
	} else if line := strings.Split(b.file(t, "01"), "\n")[m.Line-1]; line != m.Content {
		t.Errorf("line %d of the file is %q", m.Line, line)
	}
}

func TestQuietFilesSpareTheLog(t *testing.T) {
	b := &book{}
	b.say(text("nothing here"))
	b.fold(t, "0a", 1, 1)
	a := archive.New(b, bucket(t), &archive.Options{Dir: t.TempDir()})
	must(t, a.RenderAhead(t.Context(), "0a"))
	b.asked = 0
	r, err := a.Grep(t.Context(), segment("0a"), scrollback.GrepQuery{Pattern: "needle"})
	if err != nil || r.Total != 0 || b.asked != 0 {
		t.Errorf("%v, total %d, asked %d times", err, r.Total, b.asked)
	}
	must(t, a.ForgetRendered(conv)) // where nothing may match, no file is made
	b.asked = 0
	if r, err := a.Grep(t.Context(), segment("0a"), scrollback.GrepQuery{Pattern: "needle"}); err != nil || r.Total != 0 ||
		b.asked != 1 {
		t.Errorf("%v, total %d, asked %d times, want 1", err, r.Total, b.asked)
	}
	for _, asked := range []int{1, 0} { // a pattern that every message may match makes it
		b.asked = 0
		r, err := a.Grep(t.Context(), segment("0a"), scrollback.GrepQuery{Pattern: "[qz]{3}"})
		if err != nil || r.Total != 0 || b.asked != asked {
			t.Errorf("%v, total %d, asked %d times, want %d", err, r.Total, b.asked, asked)
		}
	}
}

func TestWhatMayNotBeReadIsNotGrepped(t *testing.T) {
	_, a, _ := deep(t, func(b *book) *archive.Archive { return archive.New(b, bucket(t), nil) })
	for _, deny := range []func(context.Context, scrollback.ArtifactID) (scrollback.Artifact, bool, error){nil,
		func(context.Context, scrollback.ArtifactID) (scrollback.Artifact, bool, error) {
			return scrollback.Artifact{}, false, nil
		}} {
		scope := archive.Scope{Artifact: deny, Stretches: []archive.Stretch{{Segment: "01"}, live(7, 7)}}
		r, err := a.Grep(t.Context(), scope, scrollback.GrepQuery{Pattern: "needle"})
		must(t, err)
		if want := "history #4:17 needle 4\nlive #7:2 needle 7\nlive #7:3 needle 7b\nlive #7:4 needle\n"; show(r) != want {
			t.Errorf("%s", show(r))
		}
	}
}

func TestALostArtifactMakesAGrepPartial(t *testing.T) {
	for name, spoil := range map[string]func(blob.Bucket, *archive.Archive, scrollback.ArtifactID) error{
		"gone": func(_ blob.Bucket, a *archive.Archive, id scrollback.ArtifactID) error {
			_, err := a.DeleteArtifact(t.Context(), id)
			return err
		},
		"damaged": func(b blob.Bucket, _ *archive.Archive, id scrollback.ArtifactID) error {
			return blob.WriteAll(t.Context(), b, "artifacts/"+string(id[:2])+"/"+string(id), []byte("needle? no"))
		},
	} {
		kept := bucket(t)
		_, a, art := deep(t, func(b *book) *archive.Archive { return archive.New(b, kept, &archive.Options{Grace: -1}) })
		must(t, spoil(kept, a, idOf(art)))
		r, err := a.Grep(t.Context(), segment("01"), scrollback.GrepQuery{Pattern: "needle"})
		must(t, err)
		if !r.Partial || r.Total != 1 || !slices.Equal(r.Unread, []scrollback.Ref{art.Ref}) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// cutting is a bucket of one object, whose connection is cut in the middle of each read but the
// first, which checks the bytes.
type cutting struct {
	blob.Bucket
	content string
	reads   int
	with    error
}

func (c *cutting) Attributes(context.Context, string) (blob.Attributes, error) {
	return blob.Attributes{Size: int64(len(c.content))}, nil
}

func (c *cutting) OpenRange(ctx context.Context, key string, _, _ int64) (io.ReadCloser, error) {
	return c.Open(ctx, key)
}

func (c *cutting) Open(context.Context, string) (blob.Reader, error) {
	if c.reads++; c.reads == 1 {
		return &cut{strings.NewReader(c.content), len(c.content), len(c.content), nil}, nil
	}
	return &cut{strings.NewReader(c.content), len(c.content), len(c.content) / 2, c.with}, nil
}

func (c *cutting) Close() error { return nil }

// cut reads a number of bytes, and then its connection is cut.
type cut struct {
	r          *strings.Reader
	size, left int
	with       error
}

func (c *cut) Read(p []byte) (int, error) {
	if c.left <= 0 && c.r.Len() > 0 {
		return 0, c.with
	}
	n, err := c.r.Read(p[:min(len(p), max(c.left, 1))])
	c.left -= n
	return n, err
}

func (c *cut) Close() error { return nil }

func (c *cut) Seek(offset int64, whence int) (int64, error) { return c.r.Seek(offset, whence) }

func (c *cut) Size() int64 { return int64(c.size) }

func (c *cut) MediaType() string { return "text/plain" }

// A connection that is cut while an object is read does not count as the end of the object.
func TestACutConnectionMakesAGrepPartial(t *testing.T) {
	content := strings.Repeat("a needle in the hay\n", 5000)
	sum := sha256.Sum256([]byte(content))
	ref := scrollback.ArtifactRef(scrollback.ArtifactID(hex.EncodeToString(sum[:])))
	for _, with := range []error{io.ErrUnexpectedEOF, fmt.Errorf("the connection was closed: %w", io.EOF)} {
		kept := &cutting{content: content, with: with}
		defer kept.Close()
		a := archive.New(&book{}, kept, nil)
		r, err := a.Grep(t.Context(), archive.Scope{Artifact: all}, scrollback.GrepQuery{Ref: ref, Pattern: "needle"})
		must(t, err)
		if r.Total >= 5000 || !r.Partial || !slices.Equal(r.Unread, []scrollback.Ref{ref}) {
			t.Errorf("%v: total %d, partial %v, unread %v", with, r.Total, r.Partial, r.Unread)
		}
	}
}

func TestABinaryArtifactIsPassedOver(t *testing.T) {
	b := &book{}
	a := archive.New(b, bucket(t), nil)
	bin := put(t, a, "\xff\xfe needle", "application/octet-stream")
	b.say(scrollback.File{Artifact: idOf(bin), MediaType: "application/octet-stream"})
	r, err := a.Grep(t.Context(), archive.Scope{Artifact: all, Stretches: []archive.Stretch{live(1, int64(len(b.ms)))}},
		scrollback.GrepQuery{Pattern: "needle"})
	if err != nil || r.Total != 0 || r.Partial {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestEndlessNestingIsAnError(t *testing.T) {
	b := everything()
	b.fold(t, "0a", 1, 4)
	seg := b.segs["0a"]
	seg.Children = []scrollback.SegmentID{"0a"}
	b.segs["0a"] = seg
	_, err := archive.New(b, bucket(t), nil).Grep(t.Context(), segment("0a"), scrollback.GrepQuery{Pattern: "x"})
	wantCode(t, err, scrollback.Internal, "nested")
}

func TestGrepEndsInTimeOrWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := everything()
		b.fold(t, "0a", 1, 2)
		b.fold(t, "0b", 3, 4)
		mem := blob.NewMemory()
		defer mem.Close()
		a := archive.New(b, mem, nil)
		b.wait = func(ctx context.Context) {
			if b.asked == 3 { // the first file: what may match of it, and all of it
				<-ctx.Done()
			}
		}
		began := time.Now()
		r, err := a.Grep(t.Context(), segment("0a", "0b"), scrollback.GrepQuery{Pattern: "look"})
		must(t, err)
		if took := time.Since(began); !r.Partial || r.Total != 1 || took != 10*time.Second {
			t.Errorf("%+v after %v", r, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b.asked = 0
		_, err = a.Grep(ctx, segment("0a", "0b"), scrollback.GrepQuery{Pattern: "look"})
		wantCode(t, err, scrollback.Canceled)
	})
}
