//go:build unix

package numbers

import (
	"os"

	"golang.org/x/sys/unix"
)

// TerminalSession returns the session of the terminal that this process belongs to.
func TerminalSession() int {
	if id, err := unix.Getsid(0); err == nil && id > 0 {
		return id
	}
	return os.Getppid()
}
