package notebook

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errCrash = errors.New("the power is gone")

// crashing is a disk that fails after a number of steps: each byte that is written is one, and
// each other thing that is done. Nothing happens on it afterwards.
type crashing struct {
	left int
}

func (c *crashing) step() error {
	if c.left <= 0 {
		return errCrash
	}
	c.left--
	return nil
}

func (c *crashing) Create(dir, pattern string) (temporary, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, pattern)
	return &crashingFile{f, c}, err
}

func (c *crashing) Rename(from, to string) error {
	if err := c.step(); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func (c *crashing) Remove(name string) error {
	if err := c.step(); err != nil {
		return err
	}
	return os.Remove(name)
}

func (c *crashing) Sync(string) error { return c.step() }

type crashingFile struct {
	*os.File
	disk *crashing
}

func (f *crashingFile) Write(b []byte) (int, error) {
	for i := range b {
		if err := f.disk.step(); err != nil {
			return i, err
		}
		if _, err := f.File.Write(b[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}

func (f *crashingFile) Chmod(mode fs.FileMode) error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f *crashingFile) Sync() error { return f.disk.step() }

func (f *crashingFile) Close() error { return errors.Join(f.disk.step(), f.File.Close()) }

// A crash at every byte and every call of a write leaves the old file or the new one.
func TestCrashAtEveryByte(t *testing.T) {
	was := []byte(strings.Repeat("old ", 40))
	now := []byte(strings.Repeat("new and longer ", 40))
	path := filepath.Join(t.TempDir(), "a.ipynb")
	for steps, done := 0, false; !done; steps++ {
		if err := os.WriteFile(path, was, 0o600); err != nil {
			t.Fatal(err)
		}
		d := &crashing{left: steps}
		err := replaceFile(d, path, 0o640, now, nil)
		got, readErr := os.ReadFile(path)
		switch {
		case readErr != nil:
			t.Fatal(readErr)
		case bytes.Equal(got, now):
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("after %d steps the new file has %v (%v)", steps, info.Mode(), err)
			}
		case !bytes.Equal(got, was):
			t.Fatalf("after %d steps the file is %q", steps, got)
		case err == nil:
			t.Fatalf("after %d steps the write succeeded, and the file is the old one", steps)
		}
		done = err == nil
		if done && steps < len(now)+5 {
			t.Errorf("a write of %d bytes took %d steps", len(now), steps)
		}
	}
}

// A notebook that cannot be written is not made.
func TestFailedNewLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := createOn(&crashing{}, filepath.Join(dir, "a.ipynb"), ""); err == nil {
		t.Fatal("it was made")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}

// A notebook may have a name as long as names can be.
func TestLongName(t *testing.T) {
	f, err := New(filepath.Join(t.TempDir(), strings.Repeat("潮", 83)+".ipynb"), "")
	if err == nil {
		err = f.Writable()
	}
	if err != nil {
		t.Error(err)
	}
}

// What cannot be put in its place leaves nothing behind.
func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.ipynb")
	if err := os.Mkdir(path, 0o700); err != nil { // no file can be renamed to a folder
		t.Fatal(err)
	}
	if err := replaceFile(osDisk{}, path, 0o600, []byte("x"), nil); err == nil {
		t.Fatal("a folder was replaced")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left %v (%v)", left, err)
	}
}
