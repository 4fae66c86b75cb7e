package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// machineID returns the id of this installation of the system.
func machineID() string { return readFirst("/etc/machine-id", "/var/lib/dbus/machine-id") }

// fileIdentity returns what stays of a file as long as it is the same one: its number, and when it was made.
func fileIdentity(path string) (string, error) {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &s); err != nil {
		return "", err
	}
	return fmt.Sprint(s.Ino, " ", s.Btime.Sec, " ", s.Btime.Nsec), nil
}
