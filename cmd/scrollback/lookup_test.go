package main

import (
	"strings"
	"testing"
)

// What looks something up collects no garbage for a while; what imports or goes on does.
func TestLookups(t *testing.T) {
	for text, want := range map[string]bool{"list": true, "search words": true, "hook SessionStart --agent x": true,
		"hook": true, "hook import": false, "hook import --agent x": false, "serve": false, "import x": false, "": false} {
		if got := isLookup(strings.Fields(text)); got != want {
			t.Errorf("%q is a lookup: %v", text, got)
		}
	}
}
