package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

const op = "install"

// maxFile bounds a file of settings, in bytes.
const maxFile = 16 << 20

// content is a file as it was read; text is nil where there is none.
type content struct {
	text []byte
	real string // behind links: what is written
	mode fs.FileMode
}

// there reports whether there is a file.
func (c content) there() bool { return c.text != nil }

// hash returns the hash of the file; empty where there is none.
func (c content) hash() string {
	if !c.there() {
		return ""
	}
	return hashOf(c.text)
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// readContent reads a file of settings through links. A link that leads to nothing is a file that is not there yet.
func readContent(path string) (c content, err error) {
	if c.real, err = followLinks(path); err != nil {
		return c, explain(path, err)
	}
	// What is no file is not opened: a pipe that nobody writes into would hold the program up.
	if info, err := os.Stat(c.real); err == nil && !info.Mode().IsRegular() {
		return c, scrollback.Errorf(scrollback.Refused, op, i18n.InstallNoFile, path)
	}
	f, err := os.Open(c.real)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, explain(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, explain(path, err)
	}
	if !info.Mode().IsRegular() {
		return c, scrollback.Errorf(scrollback.Refused, op, i18n.InstallNoFile, path)
	}
	c.mode = info.Mode().Perm()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return c, explain(path, err)
	case len(text) > maxFile:
		return c, scrollback.Errorf(scrollback.Refused, op, i18n.InstallTooLarge, path)
	}
	if c.text = text; text == nil {
		c.text = []byte{}
	}
	return c, nil
}

// maxLinks bounds how many links are followed to a file.
const maxLinks = 40

// followLinks returns what a name leads to, also if nothing is there.
func followLinks(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil { // it is not a link, or not there
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("too many links")
}

// explain names a file and what is wrong with it, without its name a second time.
func explain(path string, err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		err = failed.Err
	}
	return scrollback.Errorf(scrollback.Refused, op, i18n.InstallFileFault, path, err)
}

// changedMeanwhile says that a file is not what it was when it was read.
func changedMeanwhile(path string) error {
	return scrollback.Errorf(scrollback.Conflict, op, i18n.InstallChangedMeanwhile, path)
}

// waiting is the name of what is written before it takes the place of a file.
func waiting(real string) string {
	return filepath.Join(filepath.Dir(real), "."+filepath.Base(real)+".scrollback-new")
}

// write puts a text in the place of a file as it was read: whole, or not at all. It keeps the mode. The folder must be
// there.
func (c content) write(path string, text []byte) error {
	if c.there() && c.mode&0o200 == 0 {
		return scrollback.Errorf(scrollback.Refused, op, i18n.InstallReadOnly, path)
	}
	temporary := waiting(c.real)
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a run that was killed
		return explain(path, err)
	}
	mode := c.mode
	if !c.there() {
		mode = 0o600
	}
	if err := writeSynced(temporary, text, mode); err != nil {
		_ = os.Remove(temporary) // the first error counts
		return explain(path, err)
	}
	now, err := readContent(path)
	if err == nil && (now.there() != c.there() || !bytes.Equal(now.text, c.text)) {
		err = changedMeanwhile(path)
	}
	if err != nil {
		_ = os.Remove(temporary) // the first error counts
		return err
	}
	err = keepOwner(c.real, temporary)
	if err == nil {
		err = os.Rename(temporary, c.real)
	}
	if err != nil {
		_ = os.Remove(temporary)
		return explain(path, err)
	}
	return nil
}

// writeSynced writes a new file, and waits until it is on the disk.
func writeSynced(name string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// remove deletes a file as it was read. Of a link the link stays.
func (c content) remove(path string) error {
	now, err := readContent(path)
	switch {
	case err != nil:
		return err
	case !now.there():
		return nil
	case !bytes.Equal(now.text, c.text):
		return changedMeanwhile(path)
	}
	if err := os.Remove(c.real); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(path, err)
	}
	return nil
}

// missingFolders returns which folders of a path are not there, the outermost first.
func missingFolders(path string) (out []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return out
		}
		out = append([]string{dir}, out...)
	}
}
