package notebook

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// disk is where files are replaced: the system's, or in tests one that fails.
type disk interface {
	// Create makes a new file in a folder, by a pattern as [os.CreateTemp] has it.
	Create(dir, pattern string) (temporary, error)
	Rename(from, to string) error
	Remove(name string) error
	Sync(dir string) error // of the names in a folder
}

// temporary is a file that is not at its place yet.
type temporary interface {
	io.WriteCloser
	Name() string
	Chmod(mode fs.FileMode) error
	Sync() error
}

// replaceFile writes a file beside another and puts it in its place, so that a reader, also after
// a crash, finds one of the two. Before the last step it asks may, whose error it returns.
func replaceFile(d disk, name string, mode fs.FileMode, b []byte, may func() error) error {
	f, err := d.Create(filepath.Dir(name), tempPattern(name))
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && may != nil {
		err = may()
	}
	if err == nil {
		err = d.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, d.Remove(f.Name()))
	}
	return d.Sync(filepath.Dir(name))
}

// tempPattern returns that of the file beside another, whose name may be as long as names can be.
func tempPattern(name string) string {
	base := filepath.Base(name)
	return "." + strings.ToValidUTF8(base[:min(len(base), 200)], "") + ".*.tmp"
}

// probeReplace makes sure that a file can be replaced.
func probeReplace(d disk, name string) error {
	f, err := d.Create(filepath.Dir(name), tempPattern(name))
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), d.Remove(f.Name()))
}

// osDisk is the system's disk.
type osDisk struct{}

// Create implements [disk].
func (osDisk) Create(dir, pattern string) (temporary, error) { return os.CreateTemp(dir, pattern) }

// Rename implements [disk].
func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements [disk].
func (osDisk) Remove(name string) error { return os.Remove(name) }

// Sync implements [disk].
func (osDisk) Sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every system can
	return d.Close()
}
