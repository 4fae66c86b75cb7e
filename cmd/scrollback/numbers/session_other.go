//go:build !unix

package numbers

import "os"

// TerminalSession returns the shell that started this process.
func TerminalSession() int { return os.Getppid() }
