//go:build !unix

package numbers

import "os"

// Session is the shell that started this process.
func Session() int { return os.Getppid() }
