//go:build unix

package vault

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
)

func openFolder(t *testing.T, dir string, patience time.Duration) Objects {
	t.Helper()
	o, err := NewFolder(dir, patience)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// filesIn returns what is in the files below a folder, by key.
func filesIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The objects of a folder and of a bucket behave alike.
func TestObjects(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Objects{"folder": openFolder(t, t.TempDir(), 0),
		"bucket": NewBucket(blob.NewMemory(), nil)} {
		ctx := t.Context()
		for _, key := range []string{"top", "m/w/a", "m/w/b", "d/x/c"} {
			if err := o.Put(ctx, key, []byte("text of "+key)); err != nil {
				t.Fatal(err)
			}
			if err := o.Put(ctx, key, []byte("text of "+key)); err != nil {
				t.Errorf("%s: the same again: %v", name, err)
			}
		}
		if err := o.Delete(ctx, "m/w/b"); err != nil {
			t.Error(err)
		}
		if err := o.Delete(ctx, "m/w/b"); err != nil {
			t.Errorf("%s: removed again: %v", name, err)
		}
		got, err := list(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, each := range got {
			keys = append(keys, each.Key)
			if each.Size != int64(len("text of "+each.Key)) {
				t.Errorf("%s: %+v", name, each)
			}
		}
		slices.Sort(keys)
		if !slices.Equal(keys, []string{"d/x/c", "m/w/a", "top"}) {
			t.Errorf("%s: %q", name, keys)
		}
		if text, err := o.Read(ctx, "m/w/a", 100); string(text) != "text of m/w/a" || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if _, err := o.Read(ctx, "m/w/a", 3); !errors.Is(err, errTooLong) {
			t.Errorf("%s: too long: %v", name, err)
		}
		for _, key := range []string{"m/w/b", "m/w", "none/x"} {
			if _, err := o.Read(ctx, key, 3); err == nil {
				t.Errorf("%s: %s can be read", name, key)
			}
		}
		if _, err := o.Read(ctx, "m/w/b", 3); !errors.Is(err, blob.ErrMissing) {
			t.Errorf("%s: missing: %v", name, err)
		}
	}
}

// A file that is there is never written over, and nothing half written has a name of ours.
func TestFolderWritesOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := openFolder(t, dir, 0)
	if err := o.Put(t.Context(), "m/w/a", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := o.Put(t.Context(), "m/w/a", []byte("two")); err == nil {
		t.Error("it is written over")
	}
	if got := filesIn(t, dir); len(got) != 1 || string(got["m/w/a"]) != "one" {
		t.Errorf("%q", got)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := o.Put(t.Context(), "m/w/b", nil); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("the disk is gone: %v", err)
	}
	if _, err := list(t.Context(), o); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("the disk is gone: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made again")
	}
}

// Machines meet in a folder; a half-written file of ours goes, those of others are left alone.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ms []*machine
	phrase := ""
	for i, name := range []string{"a", "b", "c"} {
		m := newMachine(t, name, openFolder(t, dir, 0))
		m.strict = true
		ms = append(ms, m)
		if i == 0 {
			phrase = m.init()
		} else {
			m.join(phrase)
		}
	}
	for range 3 {
		for _, m := range ms {
			m.look()
			m.read()
			m.publish(m.batches(10, 90_000)...)
		}
	}
	for range 2 {
		for _, m := range ms {
			m.look()
			m.read()
			m.publish()
		}
	}
	for _, m := range ms {
		m.mustHold(true, ms...)
	}
	before := filesIn(t, dir)
	own := "d/" + ms[0].v.writer.id + "/.part-abc"
	other := "d/" + ms[1].v.writer.id + "/.part-abc"
	for _, key := range []string{own, other} {
		if err := os.WriteFile(filepath.Join(dir, key), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if news := ms[0].look(); !slices.Contains(news.Ignored, own) || !slices.Contains(news.Ignored, other) {
		t.Errorf("%+v", news)
	}
	ms[0].publish()
	after := filesIn(t, dir)
	before[other] = []byte("half")
	if !maps.EqualFunc(before, after, func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}

// A file whose reading never ends is not here yet, and holds up nothing else; nor does one that may not be read.
func TestFolderHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	patience := 300 * time.Millisecond
	a := newMachine(t, "a", openFolder(t, dir, patience))
	phrase := a.init()
	b := newMachine(t, "b", openFolder(t, dir, patience))
	b.join(phrase)
	a.look()
	a.publish(a.batches(10)...)
	a.publish(a.batches(10)...)
	a.publish(a.batches(10)...)
	hung := filepath.Join(dir, filepath.FromSlash(dataKey(a.v.writer.id, a.v.ownHead.Runs[1].Objects[0].Name)))
	right, err := os.ReadFile(hung)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(hung); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(hung, 0o600); err != nil {
		t.Fatal(err)
	}
	b.look()
	got := b.read()
	want := []string{a.made[0], a.made[2]}
	if news := b.v.News(); !slices.Equal(got, want) || news.ToCome != 1 || len(news.Refused) > 0 {
		t.Errorf("%.40q, %+v", got, news)
	}
	release, err := os.OpenFile(hung, os.O_RDWR|syscall.O_NONBLOCK, 0) // lets go of whoever still waits
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(release.Close(), os.Remove(hung), os.WriteFile(hung, right, 0o600)); err != nil {
		t.Fatal(err)
	}
	b.look()
	if got := b.read(); !slices.Equal(got, []string{a.made[1]}) {
		t.Errorf("it came: %.40q", got)
	}
}

// A folder of a writer that may not be read ends a look, since what is in it is not known; one of somebody else's, such
// as the lost+found of a disk, does not.
func TestFolderClosed(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		f := closedFolder("lost+found", fs.ErrPermission)
		ours := closedFolder("m/x", fs.ErrPermission)
		if f != nil || ours == nil {
			t.Errorf("%v, %v", f, ours)
		}
		return
	}
	dir := t.TempDir()
	a := newMachine(t, "a", openFolder(t, dir, 0))
	a.init()
	if err := os.Mkdir(filepath.Join(dir, "lost+found"), 0); err != nil {
		t.Fatal(err)
	}
	a.look()
	closed := filepath.Join(dir, "m", a.v.writer.id)
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(closed, 0o700) }() // so that it can be removed
	if _, err := a.v.Look(t.Context()); scrollback.CodeOf(err) != scrollback.Unavailable ||
		!strings.Contains(err.Error(), "listed") {
		t.Errorf("%v", err)
	}
}
