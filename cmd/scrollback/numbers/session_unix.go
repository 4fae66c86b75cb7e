//go:build unix

package numbers

import (
	"os"

	"golang.org/x/sys/unix"
)

// Session is the session of the terminal that this process belongs to.
func Session() int {
	if id, err := unix.Getsid(0); err == nil && id > 0 {
		return id
	}
	return os.Getppid()
}
