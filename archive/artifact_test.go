package archive_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
)

func keys(t *testing.T, b *blob.Bucket) []string {
	t.Helper()
	var out []string
	for it := b.List(nil); ; {
		o, err := it.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out
		}
		must(t, err)
		out = append(out, o.Key)
	}
}

func TestArtifactIsKeptOnce(t *testing.T) {
	dir := t.TempDir()
	b, err := fileblob.OpenBucket(dir, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
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
	must(t, b.WriteAll(t.Context(), "artifacts/"+string(id[:2])+"/"+string(id), []byte("wh"), nil))
	e := put(t, a, "whole", "")
	p, err := a.Read(t.Context(), e, 0, 0)
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
	for _, id := range []scrollback.ArtifactID{"", "ab", "../../etc/passwd", scrollback.ArtifactID(strings.ToUpper(string(sha))), sha + "0"} {
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
