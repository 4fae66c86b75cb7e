//go:build !unix

package local

import "io/fs"

// isOwnFile reports whether a file belongs to the user who runs the program; where that is not
// kept in a file's mode, nothing is changed.
func isOwnFile(fs.FileInfo) bool { return false }

// checkWritable returns an error if a file or a folder may only be read; where that cannot be
// asked, trying shows it.
func checkWritable(string) error { return nil }

// isDiskFull reports whether an error is about a disk without room.
func isDiskFull(error) bool { return false }
