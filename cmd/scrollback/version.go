package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// number is the release that this source is of, or was made from: the newest section of CHANGELOG.
const number = "0.1.0"

// release is the version of a release, which the linker sets. Nothing else here depends on when or
// where the program was built, so that the same source makes the same bytes.
var release string

// pseudo is the version that the go command gives a commit that has no tag: the commit, and whether
// files were changed since.
var pseudo = lazyregexp.New(`\d{14}-([0-9a-f]{12})(?:\+(dirty))?$`)

// programVersion returns that of the release, or else the number with the commit, as the build knows it.
func programVersion() string {
	if release != "" {
		return release
	}
	built := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		built = info.Main.Version
	}
	return versionOf(built)
}

// versionOf returns the version of a program whose main module is at a version: that of a tag is its
// own; a commit stands behind the number; one that is not known is left out.
func versionOf(built string) string {
	if commit := pseudo().FindStringSubmatch(built); commit != nil {
		if commit[2] != "" {
			return "v" + number + "+" + commit[1] + "." + commit[2]
		}
		return "v" + number + "+" + commit[1]
	}
	if built == "" || built == "(devel)" {
		return "v" + number
	}
	return built
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
