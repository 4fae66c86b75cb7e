package main

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// What a build between releases is called says which commit it is of.
func TestVersion(t *testing.T) {
	t.Parallel()
	for built, want := range map[string]string{
		"": "v" + number, "(devel)": "v" + number, "v7.8.9": "v7.8.9", "v7.8.9+dirty": "v7.8.9+dirty",
		"v0.0.0-20260105100000-0123456789ab":          "v" + number + "+0123456789ab",
		"v7.8.10-0.20260105100000-0123456789ab":       "v" + number + "+0123456789ab",
		"v0.0.0-20260105100000-0123456789ab+dirty":    "v" + number + "+0123456789ab.dirty",
		"v7.8.9-rc.1.0.20260105100000-0123456789ab":   "v" + number + "+0123456789ab",
		"v7.8.10-0.20260105100000-0123456789ab+dirty": "v" + number + "+0123456789ab.dirty",
	} {
		if got := versionOf(built); got != want {
			t.Errorf("a build of %q is called %s, want %s", built, got, want)
		}
	}
}

// The client that npm packs has the version of the program.
func TestVersionIsThatOfTheClient(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../clients/typescript/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var client struct{ Version string }
	if err := json.Unmarshal(text, &client); err != nil || client.Version != number {
		t.Errorf("clients/typescript/package.json has version %q (%v), the program %s", client.Version, err, number)
	}
}

// The program and the list of changes speak of the same release.
func TestVersionIsInTheChangelog(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`).FindSubmatch(text)
	if newest == nil || string(newest[1]) != number {
		t.Errorf("the newest release in CHANGELOG.md is %s, the program's %s", newest, number)
	}
}
