//go:build !linux

package main

import "testing"

// fullDisk skips: a small file system is mounted on Linux only.
func fullDisk(t *testing.T) string {
	t.Skip("a small file system is mounted on Linux only")
	return ""
}
