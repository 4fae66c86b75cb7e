package archive_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
)

func keys(t *testing.T, b blob.Bucket) []string {
	t.Helper()
	var out []string
	for o, err := range b.List(t.Context(), "") {
		must(t, err)
		out = append(out, o.Key)
	}
	return out
}

func TestArtifactIsKeptOnce(t *testing.T) {
	dir := t.TempDir()
	b, err := blob.OpenFolder(dir)
	must(t, err)
	defer b.Close()
	a := archive.New(&book{}, b, nil)
	for _, content := range []string{"", "small", strings.Repeat("big ", 1<<20)} {
		sum := sha256.Sum256([]byte(content))
		want := hex.EncodeToString(sum[:])
		id, size, err := a.PutArtifact(t.Context(), strings.NewReader(content), int64(len(content)))
		must(t, err)
		if string(id) != want || size != int64(len(content)) {
			t.Fatalf("id %s, size %d", id, size)
		}
		path := filepath.Join(dir, "artifacts", want[:2], want)
		old, err := os.Stat(path)
		must(t, err)
		_, _, err = a.PutArtifact(t.Context(), strings.NewReader(content), 1<<30)
		must(t, err)
		now, err := os.Stat(path)
		must(t, err)
		if !os.SameFile(old, now) {
			t.Error("the same bytes were written again")
		}
		r, n, err := a.OpenArtifact(t.Context(), id)
		must(t, err)
		_, err = r.Seek(n/2, io.SeekStart)
		must(t, err)
		rest, err := io.ReadAll(r)
		must(t, err)
		must(t, r.Close())
		if n != size || string(rest) != content[n/2:] {
			t.Errorf("read back %d bytes", len(rest))
		}
	}
	if got := keys(t, b); len(got) != 3 {
		t.Errorf("kept %v", got)
	}
}

func TestATornArtifactIsHealed(t *testing.T) {
	b := bucket(t)
	a := archive.New(&book{}, b, nil)
	id := idOf(put(t, a, "whole", ""))
	must(t, blob.WriteAll(t.Context(), b, "artifacts/"+string(id[:2])+"/"+string(id), []byte("wh")))
	e := put(t, a, "whole", "")
	p, err := a.Read(t.Context(), e, 0, 0)
	must(t, err)
	if p.Content != "whole" {
		t.Errorf("%q", p.Content)
	}
}

// A damaged object of the right length is replaced too, however new it is.
func TestADamagedArtifactIsHealed(t *testing.T) {
	b := bucket(t)
	a := archive.New(&book{}, b, nil)
	id := idOf(put(t, a, "whole", ""))
	must(t, blob.WriteAll(t.Context(), b, "artifacts/"+string(id[:2])+"/"+string(id), []byte("wholf")))
	if _, _, err := a.OpenArtifact(t.Context(), id); err == nil {
		t.Fatal("the damage is not noticed")
	}
	p, err := a.Read(t.Context(), put(t, a, "whole", ""), 0, 0)
	must(t, err)
	if p.Content != "whole" {
		t.Errorf("%q", p.Content)
	}
}

func TestArtifactCap(t *testing.T) {
	b := bucket(t)
	a := archive.New(&book{}, b, nil)
	for _, n := range []int{5, 3 << 20} {
		_, _, err := a.PutArtifact(t.Context(), strings.NewReader(strings.Repeat("x", n)), int64(n-1))
		wantCode(t, err, scrollback.Invalid)
		if !errors.Is(err, scrollback.ErrTooLarge) {
			t.Errorf("%v", err)
		}
	}
	_, _, err := a.PutArtifact(t.Context(), iotest.ErrReader(errors.New("cut off")), 10)
	wantCode(t, err, scrollback.Invalid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = a.PutArtifact(ctx, strings.NewReader("x"), 10)
	wantCode(t, err, scrollback.Canceled)
	if got := keys(t, b); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
}

func TestArtifactIDsNeverBecomePaths(t *testing.T) {
	a := archive.New(&book{}, bucket(t), nil)
	for _, id := range []scrollback.ArtifactID{"", "ab", "../../etc/passwd",
		scrollback.ArtifactID(strings.ToUpper(string(sha))), sha + "0"} {
		_, _, err := a.OpenArtifact(t.Context(), id)
		wantCode(t, err, scrollback.Invalid)
		_, err = a.DeleteArtifact(t.Context(), id)
		wantCode(t, err, scrollback.Invalid)
	}
	_, _, err := a.OpenArtifact(t.Context(), sha)
	wantCode(t, err, scrollback.NotFound)
}

func TestDeleteArtifact(t *testing.T) {
	b := bucket(t)
	id := idOf(put(t, archive.New(&book{}, b, nil), "x", ""))
	if gone, err := archive.New(&book{}, b, nil).DeleteArtifact(t.Context(), id); gone || err != nil {
		t.Errorf("bytes that were just put: gone %v, %v", gone, err)
	}
	a := archive.New(&book{}, b, &archive.Options{Grace: -1})
	for range 2 {
		if gone, err := a.DeleteArtifact(t.Context(), id); !gone || err != nil {
			t.Errorf("gone %v, %v", gone, err)
		}
	}
	if got := keys(t, b); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
}

// rows reads n bytes of numbered lines of 64 bytes that are never in memory together;
// every hundred thousandth says needle.
type rows struct {
	at, n int64
	line  [64]byte
}

func (r *rows) Read(p []byte) (int, error) {
	filled := 0
	for filled < len(p) && r.at < r.n {
		width := int64(len(r.line))
		no := r.at / width
		line := append(r.line[:0], "                                                               \n"...)
		if no%100_000 == 7 {
			copy(line, "needle")
		} else {
			strconv.AppendInt(line[:0], no, 10)
		}
		k := copy(p[filled:], line[r.at%width:min(width, r.at%width+r.n-r.at)])
		filled += k
		r.at += int64(k)
	}
	if filled == 0 {
		return 0, io.EOF
	}
	return filled, nil
}

// What an artifact of a hundred megabytes costs in memory, put, read, its end read,
// and grepped, is a few buffers.
func TestABigArtifactIsStreamed(t *testing.T) {
	const size = 100 << 20
	b, err := blob.OpenFolder(t.TempDir())
	must(t, err)
	defer b.Close()
	a := archive.New(&book{}, b, &archive.Options{GrepTime: time.Minute})
	var e scrollback.RefEntry
	for _, step := range []struct {
		name string
		most uint64
		do   func()
	}{
		{"put", 16 << 20, func() {
			id, n, err := a.PutArtifact(t.Context(), &rows{n: size}, size)
			must(t, err)
			if n != size {
				t.Fatalf("%d bytes were kept", n)
			}
			e = scrollback.RefEntry{Ref: scrollback.ArtifactRef(id), Kind: scrollback.RefArtifact, MediaType: "text/plain",
				Bytes: n}
		}},
		{"put again", 16 << 20, func() {
			_, _, err := a.PutArtifact(t.Context(), &rows{n: size}, size)
			must(t, err)
		}},
		{"fetch", 4 << 20, func() {
			r, n, err := a.OpenArtifact(t.Context(), idOf(e))
			must(t, err)
			defer r.Close()
			sum := sha256.New()
			copied, err := io.Copy(sum, r)
			if err != nil || copied != n || hex.EncodeToString(sum.Sum(nil)) != string(idOf(e)) {
				t.Fatalf("%d of %d bytes, %v", copied, n, err)
			}
		}},
		{"a page in the middle", 1 << 20, func() {
			p, err := a.Read(t.Context(), e, size/2, 0)
			must(t, err)
			if !strings.HasPrefix(p.Content, fmt.Sprint(size/2/64)) {
				t.Fatalf("%.80q", p.Content)
			}
		}},
		{"tail", 1 << 20, func() {
			tail, err := a.Tail(t.Context(), e, 1)
			must(t, err)
			if strings.TrimSpace(tail.Content) != fmt.Sprint(size/64-1) {
				t.Fatalf("%q", tail.Content)
			}
		}},
		{"grep", 4 << 20, func() {
			r, err := a.Grep(t.Context(), archive.Scope{Artifact: all},
				scrollback.GrepQuery{Ref: e.Ref, Pattern: "needle", MaxResults: 3,
					ContextLines: 1})
			must(t, err)
			if r.Total != 17 || r.Partial || r.Matches[2].Line != 200_008 {
				t.Fatalf("%d lines, partial %v, %+v", r.Total, r.Partial, r.Matches)
			}
		}},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		step.do()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > step.most {
			t.Errorf("%s allocates %d bytes, at most %d are expected", step.name, got, step.most)
		} else {
			t.Logf("%s allocates %d bytes", step.name, got)
		}
	}
	if got := keys(t, b); len(got) != 1 {
		t.Errorf("kept %v", got)
	}
}

// Bytes that were changed behind our back are not served, whichever way they are
// asked for, also after they were read before; those that are as they were, are.
func TestChangedArtifactIsNotServed(t *testing.T) {
	dir := t.TempDir()
	bucket, err := blob.OpenFolder(dir)
	must(t, err)
	t.Cleanup(func() { bucket.Close() })
	a := archive.New(&book{}, bucket, nil)
	ctx := t.Context()
	id, _, err := a.PutArtifact(ctx, strings.NewReader(strings.Repeat("as it was\n", 1000)), 1<<20)
	must(t, err)
	path := filepath.Join(dir, "artifacts", string(id[:2]), string(id))
	written := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, written, written))
	entry := scrollback.RefEntry{Ref: scrollback.ArtifactRef(id), MediaType: "text/plain"}
	read := func() []error {
		_, whole := func() (int64, error) {
			r, n, err := a.OpenArtifact(ctx, id)
			if err == nil {
				r.Close()
			}
			return n, err
		}()
		_, page := a.Read(ctx, entry, 0, 0)
		_, tail := a.Tail(ctx, entry, 2)
		return []error{whole, page, tail}
	}
	for i, err := range append(read(), read()...) {
		if err != nil {
			t.Fatalf("read %d: %v", i, err)
		}
	}
	b, err := os.ReadFile(path)
	must(t, err)
	b[5] ^= 1
	must(t, os.WriteFile(path, b, 0o600))
	for i, err := range append(read(), read()...) {
		if scrollback.CodeOf(err) != scrollback.Internal {
			t.Errorf("read %d of changed bytes: %v", i, err)
		}
	}
	b[5] ^= 1
	must(t, os.WriteFile(path, b, 0o600))
	for i, err := range read() {
		if err != nil {
			t.Errorf("read %d of the bytes put back: %v", i, err)
		}
	}
}

// A server whose own clock is ahead does not remove what another one has just put: the time
// that they agree on counts.
func TestDeleteGoesByTheSharedClock(t *testing.T) {
	b := bucket(t)
	ahead := time.Duration(0)
	a := archive.New(&book{}, b, &archive.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
	id := idOf(put(t, a, "put a moment ago", ""))
	for _, c := range []struct {
		ahead time.Duration
		gone  bool
	}{{-time.Hour, false}, {0, false}, {time.Hour, true}} {
		ahead = c.ahead
		if gone, err := a.DeleteArtifact(t.Context(), id); err != nil || gone != c.gone {
			t.Errorf("at %s it is gone: %v, %v", c.ahead, gone, err)
		}
	}
}
