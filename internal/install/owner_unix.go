//go:build unix

package install

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner of another, if that is there and somebody else's.
func keepOwner(of, name string) error {
	info, err := os.Stat(of)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	own, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(own.Uid) == os.Geteuid() {
		return nil
	}
	return os.Chown(name, int(own.Uid), int(own.Gid))
}

// isForeign reports whether a folder is somebody else's.
func isForeign(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	own, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(own.Uid) != os.Geteuid()
}
