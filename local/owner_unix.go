//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ours says whether a file belongs to the user who runs the program.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// writable returns an error if a file or a folder may only be read.
func writable(path string) error {
	const toWrite = 2
	return syscall.Access(path, toWrite)
}

// full says whether an error is about a disk without room.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
