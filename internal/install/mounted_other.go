//go:build !linux

package install

// isMounted reports nothing: what a folder is mounted from is only asked on Linux.
func isMounted(string) bool { return false }
