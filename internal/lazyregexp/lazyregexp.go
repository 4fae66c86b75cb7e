// Package lazyregexp compiles a regular expression when it is first used. The program has some
// hundreds of them, and compiling those at its start cost every command more than its own work.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled pattern, always the same. It panics when it is
// called if the pattern is malformed; a test of internal/fence compiles the pattern of every New.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
