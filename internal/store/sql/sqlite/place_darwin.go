package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// machineID returns the id of this installation of the system.
func machineID() string {
	id, err := unix.Sysctl("kern.uuid")
	if err != nil {
		return ""
	}
	return id
}

// fileIdentity returns what stays of a file as long as it is the same one: its number, and when it was made.
func fileIdentity(path string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return "", err
	}
	return fmt.Sprint(s.Ino, " ", s.Btim.Sec, " ", s.Btim.Nsec), nil
}
