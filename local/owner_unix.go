//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// isOwnFile reports whether a file belongs to the user who runs the program.
func isOwnFile(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// checkWritable returns an error if a file or a folder may only be read.
func checkWritable(path string) error {
	const toWrite = 2
	return syscall.Access(path, toWrite)
}

// isDiskFull reports whether an error is about a disk without room.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
