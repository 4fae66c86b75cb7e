package archive_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
)

const sample = "line1\nERROR one\nline3\nerror two\nline5\n"

func TestReadPages(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	for _, c := range []struct {
		name, content string
		offset        int64
		limit         int
		want          string
		at, next      int64
		done          bool
	}{
		{"a whole file by default", sample, 0, 0, sample, 0, 38, true},
		{"at the end", sample, 38, 0, "", 38, 38, true},
		{"a character is not cut", "中文日志", 0, 4, "中", 0, 3, false},
		{"a small limit gives one character", "中文日志", 0, 1, "中", 0, 3, false},
		{"an offset within a character moves on", "中文日志", 4, 5, "日", 6, 9, false},
		{"within the last character", "中文", 4, 5, "", 6, 6, true},
		{"an empty file", "", 0, 0, "", 0, 0, true},
	} {
		e := put(t, a, c.content, "text/plain")
		p, err := a.Read(t.Context(), e, c.offset, c.limit)
		must(t, err)
		want := scrollback.Page{Ref: e.Ref, Offset: c.at, NextOffset: c.next, Done: c.done, Content: c.want,
			Bytes: int64(len(c.content))}
		if p != want {
			t.Errorf("%s: %+v, want %+v", c.name, p, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	e := put(t, a, sample, "text/plain")
	_, err := a.Read(t.Context(), e, 39, 0)
	wantCode(t, err, scrollback.Invalid, "38")
	_, err = a.Read(t.Context(), e, -1, 0)
	wantCode(t, err, scrollback.Invalid)
	_, err = a.Read(t.Context(), e, 0, scrollback.ReadMax+1)
	wantCode(t, err, scrollback.Invalid, "65536")
	_, err = a.Read(t.Context(), e, 0, -1)
	wantCode(t, err, scrollback.Invalid)
	for _, ref := range []scrollback.Ref{"", "history", "history:../../etc", "artifact:abc", "other:1"} {
		_, err = a.Read(t.Context(), scrollback.RefEntry{Ref: ref}, 0, 0)
		wantCode(t, err, scrollback.Invalid)
	}
	_, err = a.Read(t.Context(), scrollback.RefEntry{Ref: "history:0a"}, 0, 0)
	wantCode(t, err, scrollback.NotFound)
	_, err = a.Read(t.Context(), scrollback.RefEntry{Ref: scrollback.ArtifactRef(sha)}, 0, 0)
	wantCode(t, err, scrollback.NotFound)
	png := put(t, a, "\x89PNG\r\n\x1a\n and more than a page", "image/png")
	_, err = a.Read(t.Context(), png, 12, 4)
	wantCode(t, err, scrollback.Invalid, "image/png", "29 bytes")
	_, err = a.Tail(t.Context(), png, 1)
	wantCode(t, err, scrollback.Invalid, "image/png")
	late := put(t, a, strings.Repeat("a", 9000)+"\xff", "text/plain")
	_, err = a.Read(t.Context(), late, 8192, 0)
	wantCode(t, err, scrollback.Invalid, "text/plain")
}

var mixed = rapid.StringMatching(`[ab\n中é😀]{0,80}`)

func TestPagesJoin(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	rapid.Check(t, func(r *rapid.T) {
		s := mixed.Draw(r, "content")
		e := put(t, a, s, "text/plain")
		limit := rapid.IntRange(1, 20).Draw(r, "limit")
		from := rapid.IntRange(0, len(s)).Draw(r, "from")
		got := ""
		at := int64(from)
		for n := 0; ; n++ {
			p, err := a.Read(t.Context(), e, at, limit)
			if err != nil || n > len(s) {
				r.Fatal(n, err)
			}
			if !utf8.ValidString(p.Content) || len(p.Content) > max(limit, utf8.UTFMax) ||
				p.NextOffset != p.Offset+int64(len(p.Content)) {
				r.Fatalf("%+v", p)
			}
			if n == 0 {
				for from < len(s) && !utf8.RuneStart(s[from]) {
					from++
				}
				at = int64(from)
			}
			if p.Offset != at {
				r.Fatalf("page at %d, want %d", p.Offset, at)
			}
			got += p.Content
			at = p.NextOffset
			if p.Done {
				break
			}
		}
		if got != s[from:] {
			r.Fatalf("%q joined, want %q", got, s[from:])
		}
	})
}

// A Chinese document, read from every offset by every limit up to its length, once
// as an artifact and once behind a segment: pages join to the exact bytes.
func TestEveryOffsetAndLimit(t *testing.T) {
	const document = "长城始建于战国。\n“港口的钥匙”在第三个系缆柱下；编号：7077。\n𠮷野家 & café ☂️\r\n没有换行的最后一行"
	b := &book{}
	b.say(text(document))
	folded := b.fold(t, "0a", 1, 1)
	a := archive.New(b, bucket(t), nil)
	for _, c := range []struct {
		e       scrollback.RefEntry
		content string
	}{{put(t, a, document, "text/plain"), document}, {folded, b.file(t, "0a")}} {
		for from := range len(c.content) + 1 {
			start := from // an offset within a character moves on to the next
			for start < len(c.content) && !utf8.RuneStart(c.content[start]) {
				start++
			}
			for limit := 1; limit <= len(c.content)+1; limit++ {
				got := ""
				at := int64(from)
				for n := 0; ; n++ {
					p, err := a.Read(t.Context(), c.e, at, limit)
					if err != nil || n > len(c.content) || p.Bytes != int64(len(c.content)) {
						t.Fatalf("offset %d, limit %d, page %d: %+v, %v", from, limit, n, p, err)
					}
					if !utf8.ValidString(p.Content) || len(p.Content) > max(limit, utf8.UTFMax) ||
						p.NextOffset != p.Offset+int64(len(p.Content)) ||
						p.Offset != int64(start+len(got)) || p.Content == "" && !p.Done {
						t.Fatalf("offset %d, limit %d, page %d: %+v", from, limit, n, p)
					}
					got += p.Content
					at = p.NextOffset
					if p.Done {
						break
					}
				}
				if got != c.content[start:] {
					t.Fatalf("offset %d, limit %d: %q joined, want %q", from, limit, got, c.content[start:])
				}
			}
		}
		_, err := a.Read(t.Context(), c.e, int64(len(c.content))+1, 1)
		wantCode(t, err, scrollback.Invalid, "past the end")
	}
}

func naiveTail(s string, n int) string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

func TestTailEqualsNaive(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	rapid.Check(t, func(r *rapid.T) {
		s := mixed.Draw(r, "content")
		s = strings.Repeat(s, rapid.SampledFrom([]int{1, 1, 1, 2000}).Draw(r, "times"))
		n := rapid.IntRange(1, 30).Draw(r, "lines")
		got, err := a.Tail(t.Context(), put(t, a, s, ""), n)
		if err != nil || got.Content != naiveTail(s, n) || got.Lines != n {
			r.Fatalf("tail %d of %d bytes: %v, %d bytes, want %d", n, len(s), err, len(got.Content), len(naiveTail(s, n)))
		}
	})
}

func TestTail(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	e := put(t, a, sample, "text/plain")
	got, err := a.Tail(t.Context(), e, 2)
	must(t, err)
	if want := (scrollback.Tail{Ref: e.Ref, Lines: 2, Content: "error two\nline5\n"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	got, err = a.Tail(t.Context(), put(t, a, "", ""), 0)
	must(t, err)
	if got.Lines != 200 || got.Content != "" {
		t.Errorf("tail of an empty file: %+v", got)
	}
	_, err = a.Tail(t.Context(), e, 2001)
	wantCode(t, err, scrollback.Invalid, "2000")
	_, err = a.Tail(t.Context(), e, -1)
	wantCode(t, err, scrollback.Invalid)
}

func TestTailIsBounded(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	long := put(t, a, "x"+strings.Repeat("中", 1<<20), "")
	got, err := a.Tail(t.Context(), long, 1)
	must(t, err)
	if len(got.Content) > 1<<20 || len(got.Content) < 1<<20-4 || !utf8.ValidString(got.Content) || got.Lines != 1 {
		t.Errorf("%d bytes, %d lines", len(got.Content), got.Lines)
	}
	line := strings.Repeat("y", 999) + "\n"
	got, err = a.Tail(t.Context(), put(t, a, strings.Repeat(line, 2000), ""), 2000)
	must(t, err)
	if got.Content != strings.Repeat(line, 1048) || got.Lines != 1048 {
		t.Errorf("%d bytes, %d lines", len(got.Content), got.Lines)
	}
}

func TestReadHistory(t *testing.T) {
	b := everything()
	e := b.fold(t, "0a", 1, 4)
	top := b.roll(t, "0d", 2, b.rolled(t)...)
	for _, dir := range []string{"", t.TempDir()} {
		a := archive.New(b, bucket(t), &archive.Options{Dir: dir})
		got := ""
		for at := int64(0); ; {
			p, err := a.Read(t.Context(), e, at, 100)
			must(t, err)
			got += p.Content
			at = p.NextOffset
			if p.Done {
				break
			}
		}
		if got != b.file(t, "0a") {
			t.Error("pages of a segment do not join to its file")
		}
		p, err := a.Read(t.Context(), top, 0, 0)
		must(t, err)
		if !strings.Contains(p.Content, "history:0c") || p.Content != b.file(t, "0d") {
			t.Errorf("a roll-up reads as %q", p.Content)
		}
		tail, err := a.Tail(t.Context(), e, 1)
		must(t, err)
		if tail.Content != naiveTail(b.file(t, "0a"), 1) {
			t.Errorf("tail %q", tail.Content)
		}
	}
}

// rolled makes a roll-up of the leaf 0a and answers its id.
func (b *book) rolled(t *testing.T) []scrollback.SegmentID {
	b.roll(t, "0c", 1, "0a")
	return []scrollback.SegmentID{"0c"}
}
