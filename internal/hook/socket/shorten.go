package socket

import (
	"os"
	"path/filepath"
)

// maxPath is how long the path of a socket may be, in bytes, on every system: macOS takes 103, Linux 107.
const maxPath = 103

// shorten returns a path by which the system reaches a socket: its own, unless that is too long. Then it leads through
// a link in a folder for temporary files, which remove takes away.
func shorten(path string) (short string, remove func(), err error) {
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	at, err := os.MkdirTemp("", "sb")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(at) } // it is empty but for a link
	link := filepath.Join(at, "d")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		remove()
		return "", nil, err
	}
	return filepath.Join(link, filepath.Base(path)), remove, nil
}
