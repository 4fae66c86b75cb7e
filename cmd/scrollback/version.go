package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// release is the version of a release, which the linker sets. Nothing else here depends on when or
// where the program was built, so that the same source makes the same bytes.
var release string

// programVersion returns that of the release, or else the module's own, as the build knows it.
func programVersion() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// versionLine returns the version as a person reads it.
func versionLine() string {
	return fmt.Sprintf("scrollback %s (%s, %s/%s)", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// manualDate returns the date of the manual page: epoch, the value of SOURCE_DATE_EPOCH, which builds
// that can be repeated set; without one, today.
func manualDate(epoch string) string {
	at := time.Now()
	if s, err := strconv.ParseInt(epoch, 10, 64); err == nil {
		at = time.Unix(s, 0).UTC()
	}
	return at.Format(time.DateOnly)
}
