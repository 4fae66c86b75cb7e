package archive_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
)

func files(t *testing.T, dir string) []string {
	t.Helper()
	got, err := filepath.Glob(filepath.Join(dir, string(conv), "history", "archive", "*"))
	must(t, err)
	return got
}

func TestFileIsMadeWhenFirstReadAndAgain(t *testing.T) {
	b := everything()
	e := b.fold(t, "0a", 1, 4)
	dir := t.TempDir()
	a := archive.New(b, bucket(t), &archive.Options{Dir: dir})
	if got := files(t, dir); len(got) != 0 {
		t.Fatalf("made too early: %v", got)
	}
	read := func() string {
		p, err := a.Read(t.Context(), e, 0, scrollback.ReadMax)
		must(t, err)
		return p.Content
	}
	first := read()
	path := filepath.Join(dir, string(conv), "history", "archive", fmt.Sprintf("%d-1-4.md", b.segs["0a"].CreatedAt))
	got, err := os.ReadFile(path)
	must(t, err)
	if string(got) != first {
		t.Error("file and content differ")
	}
	info, _ := os.Stat(path)
	folder, _ := os.Stat(filepath.Dir(path))
	if info.Mode().Perm() != 0o600 || folder.Mode().Perm() != 0o700 {
		t.Errorf("modes %v, %v", info.Mode(), folder.Mode())
	}
	asked := b.asked
	if read() != first || b.asked != asked {
		t.Error("the cached file was not used")
	}
	for _, spoil := range []func() error{
		func() error { return os.Remove(path) },
		func() error { return os.Truncate(path, 10) },
		func() error { return os.WriteFile(path, bytes.Repeat([]byte("x"), len(first)), 0o600) }, // another segment's
	} {
		must(t, spoil())
		if read() != first {
			t.Error("made again, it differs")
		}
		got, err = os.ReadFile(path)
		if err != nil || string(got) != first {
			t.Error("the file was not made again")
		}
	}
}

// A file that was found sound once is not served after it was changed, not even by
// one letter of its middle.
func TestAChangedFileIsNotServed(t *testing.T) {
	b := everything()
	e := b.fold(t, "0a", 1, 4)
	dir := t.TempDir()
	a := archive.New(b, bucket(t), &archive.Options{Dir: dir})
	want := b.file(t, "0a")
	for n := range 3 {
		must(t, a.RenderAhead(t.Context(), "0a"))
		path := files(t, dir)[0]
		long := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(path, long, long))
		p, err := a.Read(t.Context(), e, 0, scrollback.ReadMax) // now it is known to be sound
		must(t, err)
		if p.Content != want {
			t.Fatal("not the file")
		}
		spoilt := bytes.Replace([]byte(want), []byte("rotation"), []byte("rotatioM"), 1)
		if n == 1 {
			must(t, os.Remove(path)) // another file of that name
		}
		must(t, os.WriteFile(path, spoilt, 0o600))
		b.asked = 0
		p, err = a.Read(t.Context(), e, 0, scrollback.ReadMax)
		must(t, err)
		if p.Content != want || b.asked != 1 {
			t.Errorf("served what was changed on disk; the log was asked %d times", b.asked)
		}
		r, err := a.Grep(t.Context(), segment("0a"), scrollback.GrepQuery{Pattern: "rotatioM", CaseSensitive: true})
		if err != nil || r.Total != 0 {
			t.Errorf("what was changed on disk is found: %+v, %v", r, err)
		}
	}
}

func TestLeastRecentlyUsedGoes(t *testing.T) {
	b := &book{}
	for range 4 {
		b.say(text(strings.Repeat("x", 1000)))
	}
	dir := t.TempDir()
	var refs []scrollback.RefEntry
	for i := range int64(4) {
		refs = append(refs, b.fold(t, fmt.Sprintf("0%d", i), i+1, i+1))
	}
	a := archive.New(b, bucket(t), &archive.Options{Dir: dir, CacheBytes: 3 * refs[0].Bytes})
	home := filepath.Join(dir, string(conv), "history", "archive")
	age := func(name string, hours time.Duration) {
		at := time.Now().Add(-hours * time.Hour)
		must(t, os.Chtimes(filepath.Join(home, name), at, at))
	}
	name := func(i int) string {
		return fmt.Sprintf("%d-%d-%d.md", b.segs[scrollback.SegmentID(fmt.Sprintf("0%d", i))].CreatedAt, i+1, i+1)
	}
	for i := range 3 {
		must(t, a.RenderAhead(t.Context(), scrollback.SegmentID(fmt.Sprintf("0%d", i))))
		age(name(i), time.Duration(24-i)) // the first is the oldest
	}
	must(t, os.WriteFile(filepath.Join(home, ".leftover"), nil, 0o600))
	age(".leftover", 24)
	_, err := a.Read(t.Context(), refs[0], 0, 1) // used: now the second is
	must(t, err)
	_, err = a.Read(t.Context(), refs[3], 0, 1)
	must(t, err)
	left := strings.Join(files(t, dir), " ")
	for i, want := range []bool{true, false, true, true} {
		if strings.Contains(left, fmt.Sprintf("-%d-%d.md", i+1, i+1)) != want {
			t.Errorf("segment %d kept: %v; left %s", i, !want, left)
		}
	}
	if strings.Contains(left, "leftover") {
		t.Error("what a crash left behind is still there")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	b := everything()
	one := b.fold(t, "0a", 1, 2)
	two := b.fold(t, "0b", 3, 4)
	a := archive.New(b, bucket(t), &archive.Options{CacheBytes: one.Bytes + two.Bytes - 1})
	for _, step := range []struct {
		ref   scrollback.RefEntry
		asked int
	}{{one, 1}, {one, 0}, {two, 1}, {two, 0}, {one, 1}} {
		b.asked = 0
		_, err := a.Read(t.Context(), step.ref, 0, 0)
		must(t, err)
		if b.asked != step.asked {
			t.Errorf("%s asked the log %d times, want %d", step.ref.Ref, b.asked, step.asked)
		}
	}
}

func TestAnUnwritableFolderOnlyCostsTime(t *testing.T) {
	b := everything()
	e := b.fold(t, "0a", 1, 4)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	a := archive.New(b, bucket(t), &archive.Options{Dir: file})
	p, err := a.Read(t.Context(), e, 0, scrollback.ReadMax)
	must(t, err)
	if p.Content != b.file(t, "0a") {
		t.Error("not the file")
	}
}

func TestTamperedLogIsInternal(t *testing.T) {
	b := everything()
	e := b.fold(t, "0a", 1, 4)
	b.ms[0].Parts = scrollback.Parts{text("rewritten")}
	dir := t.TempDir()
	a := archive.New(b, bucket(t), &archive.Options{Dir: dir})
	_, err := a.Read(t.Context(), e, 0, 0)
	wantCode(t, err, scrollback.Internal)
	_, err = a.Tail(t.Context(), e, 0)
	wantCode(t, err, scrollback.Internal)
	wantCode(t, a.WriteSegment(t.Context(), io.Discard, "0a"), scrollback.Internal)
	_, err = a.Grep(t.Context(), archive.Scope{}, scrollback.GrepQuery{Ref: e.Ref, Pattern: "x"})
	wantCode(t, err, scrollback.Internal)
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
}

func TestConversationIDsNeverBecomePaths(t *testing.T) {
	b := everything()
	b.fold(t, "0a", 1, 4)
	dir := t.TempDir()
	a := archive.New(b, bucket(t), &archive.Options{Dir: filepath.Join(dir, "context")})
	for _, id := range []scrollback.ConversationID{"", ".", "..", "../x", "a/b", "/etc", `a\b`, "a\x00", "ü"} {
		seg := b.segs["0a"]
		seg.Conversation = id
		b.segs["0a"] = seg
		wantCode(t, a.RenderAhead(t.Context(), "0a"), scrollback.Invalid)
		wantCode(t, a.ForgetRendered(id), scrollback.Invalid)
	}
	if got, _ := os.ReadDir(dir); len(got) != 0 {
		t.Errorf("made %v", got)
	}
}

func TestForget(t *testing.T) {
	b := everything()
	b.fold(t, "0a", 1, 4)
	for _, dir := range []string{"", t.TempDir()} {
		a := archive.New(b, bucket(t), &archive.Options{Dir: dir})
		must(t, a.RenderAhead(t.Context(), "0a"))
		must(t, a.ForgetRendered(conv))
		b.asked = 0
		must(t, a.RenderAhead(t.Context(), "0a"))
		if b.asked != 1 {
			t.Error("not forgotten")
		}
	}
}

// What is kept here of a conversation goes when somebody else has purged it, and no sooner.
func TestForgetGone(t *testing.T) {
	b := everything()
	b.fold(t, "0a", 1, 4)
	for _, dir := range []string{"", t.TempDir()} {
		a := archive.New(b, bucket(t), &archive.Options{Dir: dir})
		must(t, a.RenderAhead(t.Context(), "0a"))
		for _, gone := range []bool{false, true} {
			var asked []scrollback.ConversationID
			must(t, archive.ForgetPurged(a, func(id scrollback.ConversationID) bool { asked = append(asked, id); return gone }))
			b.asked = 0
			must(t, a.RenderAhead(t.Context(), "0a"))
			if made := b.asked == 1; made != gone || len(asked) != 1 || asked[0] != conv {
				t.Errorf("in %q, gone %v: made again %v; asked about %v", dir, gone, made, asked)
			}
		}
	}
}

func TestManyReadersOverASmallCache(t *testing.T) {
	b := &book{}
	var refs []scrollback.RefEntry
	for i := range int64(6) {
		b.say(text(strings.Repeat("x", 1000)))
		refs = append(refs, b.fold(t, fmt.Sprintf("0%d", i), i+1, i+1))
	}
	b.still = true
	dir := t.TempDir()
	for _, o := range []*archive.Options{{CacheBytes: 2 * refs[0].Bytes}, {CacheBytes: 2 * refs[0].Bytes, Dir: dir}} {
		// as two processes
		one := archive.New(b, bucket(t), o)
		two := archive.New(b, bucket(t), o)
		var group sync.WaitGroup
		for n := range 8 {
			group.Go(func() {
				for i := range 24 {
					a := []*archive.Archive{one, two}[n%2]
					p, err := a.Read(t.Context(), refs[(i+n)%6], 0, scrollback.ReadMax)
					if err != nil || int64(len(p.Content)) != refs[(i+n)%6].Bytes {
						t.Errorf("%d bytes, %v", len(p.Content), err)
					}
				}
			})
		}
		group.Wait()
	}
	if got := files(t, dir); len(got) > 3 {
		t.Errorf("%d files are left, room is for 2 and one more", len(got))
	}
}
