package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob/fileblob"

	"github.com/scrollback-ai/scrollback/internal/blob"
)

// buckets returns the kinds there are here.
func buckets(t *testing.T) map[string]blob.Bucket {
	t.Helper()
	folder, err := blob.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return map[string]blob.Bucket{"memory": blob.NewMemory(), "folder": folder}
}

// keysOf lists a bucket.
func keysOf(t *testing.T, b blob.Bucket, prefix string) []string {
	t.Helper()
	var out []string
	for o, err := range b.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o.Key)
	}
	return out
}

// filesOf returns the files below a folder.
func filesOf(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBuckets(t *testing.T) {
	for name, b := range buckets(t) {
		t.Run(name, func(t *testing.T) {
			for _, key := range []string{"a/b", "a-b", "a.b", "a/b-c", "ab/c", "a/c/d", "b"} {
				if err := blob.WriteAll(t.Context(), b, key, []byte("of "+key)); err != nil {
					t.Fatal(err)
				}
			}
			if err := blob.WriteAll(t.Context(), b, "b", []byte("again")); err != nil {
				t.Fatal(err)
			}
			all := []string{"a-b", "a.b", "a/b", "a/b-c", "a/c/d", "ab/c", "b"}
			for prefix, want := range map[string][]string{"": all, "a": all[:6], "a/": all[2:5], "a/b": all[2:4],
				"a/c": all[4:5], "a/c/": all[4:5], "nothing/": nil, "a/nothing": nil} {
				if got := keysOf(t, b, prefix); !slices.Equal(got, want) {
					t.Errorf("%q lists %q, want %q", prefix, got, want)
				}
			}
			if got, err := blob.ReadAll(t.Context(), b, "b"); string(got) != "again" || err != nil {
				t.Errorf("b is %q %v", got, err)
			}
			at, err := b.Attributes(t.Context(), "b")
			if err != nil || at.Size != 5 || at.ModTime.IsZero() {
				t.Errorf("b has %+v %v", at, err)
			}
			r, err := b.Open(t.Context(), "a/b-c")
			if err != nil || r.Size() != int64(len("of a/b-c")) {
				t.Fatal(r, err)
			}
			if _, err := r.Seek(3, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if string(got) != "a/b-c" || err != nil || r.Close() != nil {
				t.Errorf("after a seek: %q %v", got, err)
			}
			for _, span := range []struct {
				from, length int64
				want         string
			}{{0, 2, "ag"}, {2, 100, "ain"}, {5, 1, ""}, {50, 1, ""}} {
				r, err := b.OpenRange(t.Context(), "b", span.from, span.length)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(r)
				if string(got) != span.want || err != nil || r.Close() != nil {
					t.Errorf("%+v: %q %v", span, got, err)
				}
			}
			if err := b.Delete(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			if has, err := blob.Exists(t.Context(), b, "b"); has || err != nil {
				t.Errorf("b is there: %v", err)
			}
			if has, err := blob.Exists(t.Context(), b, "a/b"); !has || err != nil {
				t.Errorf("a/b is not there: %v", err)
			}
		})
	}
}

// What is not there is ErrMissing, whatever is asked of it, and so is a folder of keys.
func TestMissing(t *testing.T) {
	for name, b := range buckets(t) {
		if err := blob.WriteAll(t.Context(), b, "a/b", nil); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"x", "x/y", "a"} {
			_, opened := b.Open(t.Context(), key)
			_, ranged := b.OpenRange(t.Context(), key, 0, 1)
			_, looked := b.Attributes(t.Context(), key)
			for i, err := range []error{opened, ranged, looked, b.Delete(t.Context(), "x/y")} {
				if !errors.Is(err, blob.ErrMissing) {
					t.Errorf("%s: %s, call %d: %v", name, key, i, err)
				}
			}
		}
	}
}

// A write that fails, or is stopped, leaves what was there and nothing beside it.
func TestWriteWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	folder, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]blob.Bucket{"memory": blob.NewMemory(), "folder": folder} {
		if err := blob.WriteAll(t.Context(), b, "a/b", []byte("before")); err != nil {
			t.Fatal(err)
		}
		broken := io.MultiReader(strings.NewReader("half"), &failing{})
		if err := b.Write(t.Context(), "a/b", broken, ""); !errors.Is(err, errCut) {
			t.Errorf("%s: a reader that fails: %v", name, err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := b.Write(stopped, "a/b", strings.NewReader("late"), ""); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a write that is stopped: %v", name, err)
		}
		if got, err := blob.ReadAll(t.Context(), b, "a/b"); string(got) != "before" || err != nil {
			t.Errorf("%s: left is %q %v", name, got, err)
		}
		if got := keysOf(t, b, ""); len(got) != 1 {
			t.Errorf("%s: left are %q", name, got)
		}
	}
	if got := filesOf(t, dir); len(got) != 1 {
		t.Errorf("files are left: %q", got)
	}
}

var errCut = errors.New("cut")

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errCut }

// The files are those of the library that wrote them before, in both directions, with the same names.
func TestFolderLayout(t *testing.T) {
	keys := []string{"artifacts/ab/abcdef", "archives/019a-1/0001700000000000-0a1b2c3d.json.note", ".scrollback/probe-1", "a b/水",
		"a//b", "a/../b", "..c/d", "tail/", "__0x2f__", "x__0x41__y", "tab\tbed", "plain__0xzz__", "under__score"}
	theirs := t.TempDir()
	old, err := fileblob.OpenBucket(theirs, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite,
		DirFileMode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	ours := t.TempDir()
	b, err := blob.OpenFolder(ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := old.WriteAll(t.Context(), key, []byte(key), nil); err != nil {
			t.Fatal(err)
		}
		if err := blob.WriteAll(t.Context(), b, key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := filesOf(t, ours), filesOf(t, theirs); !slices.Equal(got, want) {
		t.Fatalf("the files are\n%q, want\n%q", got, want)
	}
	read, err := blob.OpenFolder(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := keysOf(t, read, ""), slices.Sorted(slices.Values(keys)); !slices.Equal(got, want) {
		t.Errorf("a folder of before lists\n%q, want\n%q", got, want)
	}
	for _, key := range keys {
		if got, err := blob.ReadAll(t.Context(), read, key); !bytes.Equal(got, []byte(key)) || err != nil {
			t.Errorf("%q: %q %v", key, got, err)
		}
	}
	for _, path := range []string{"artifacts", "artifacts/ab"} {
		info, err := os.Stat(filepath.Join(ours, path))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}

// No key leads out of the folder, nor does a link in it; the notes of another program are no objects.
func TestFolderKeepsInside(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here")
	}
	b, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"..", "../x", "", "link/secret"} {
		if got, err := blob.ReadAll(t.Context(), b, key); err == nil {
			t.Errorf("%q reads %q", key, got)
		}
		if key == "../x" {
			continue // it is a name like others, by its escape
		}
		if err := blob.WriteAll(t.Context(), b, key, []byte("y")); err == nil {
			t.Errorf("%q was written", key)
		}
	}
	if got := filesOf(t, outside); len(got) != 1 {
		t.Errorf("outside are %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.attrs"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := blob.WriteAll(t.Context(), b, "a", []byte("y")); err != nil {
		t.Fatal(err)
	}
	if got := keysOf(t, b, "a"); len(got) != 1 {
		t.Errorf("the note is an object: %q", got)
	}
	if err := b.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.attrs")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the note is left: %v", err)
	}
}

// A folder that is put in the place of another while the program runs is the one that counts.
func TestFolderReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "objects")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if got := keysOf(t, b, ""); len(got) != 0 {
		t.Errorf("no folder lists %q", got)
	}
	if err := blob.WriteAll(t.Context(), b, "a/b", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := filesOf(t, dir); !slices.Equal(got, []string{"a/b"}) {
		t.Errorf("written was %q", got)
	}
}
