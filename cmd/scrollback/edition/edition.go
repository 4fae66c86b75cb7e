// Package edition is which build of the program this is.
//
// Invariant: nothing in it depends on when or where the program was built, so that the same
// source makes the same bytes.
package edition

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// release is the version of a release, which the linker sets.
var release string

// Version is that of the release, or else the module's own, as the build knows it.
func Version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// Line is the version as a person reads it.
func Line() string {
	return fmt.Sprintf("scrollback %s (%s, %s/%s)", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// PageDate is the date of the manual page: epoch, the value of SOURCE_DATE_EPOCH, which builds
// that can be repeated set; without one, today.
func PageDate(epoch string) string {
	at := time.Now()
	if s, err := strconv.ParseInt(epoch, 10, 64); err == nil {
		at = time.Unix(s, 0).UTC()
	}
	return at.Format(time.DateOnly)
}
