//go:build !unix

package local

import "io/fs"

// ours says whether a file belongs to the user who runs the program; where that is not
// kept in a file's mode, nothing is changed.
func ours(fs.FileInfo) bool { return false }

// writable returns an error if a file or a folder may only be read; where that cannot be
// asked, trying shows it.
func writable(string) error { return nil }

// full says whether an error is about a disk without room.
func full(error) bool { return false }
