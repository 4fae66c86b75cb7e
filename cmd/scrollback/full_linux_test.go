package main

import (
	"os"
	"syscall"
	"testing"
)

// fullDisk returns a file system of 8 MB, and skips where none may be mounted.
func fullDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		if os.Getenv("SCROLLBACK_REQUIRE_SERVICES") != "" && os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skip("no file system may be mounted:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}
