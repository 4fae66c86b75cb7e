package scrollback_test

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// Any text is a ref that comes back as it was and whose id is safe as a file name,
// or an error that says so on one short line.
func FuzzRef(f *testing.F) {
	for _, s := range []string{"", ":", "history:ab-1", "artifact:" + strings.Repeat("0", 64), "history:..",
		"history:\x00", "artifact:é",
		"history:ab/cd", strings.Repeat("x", 500)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		kind, id, err := scrollback.Ref(s).Split()
		if err != nil {
			if kind != "" || id != "" || len(err.Error()) > 1000 || strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("%q: %q, %q, %v", s, kind, id, err)
			}
			return
		}
		if kind+":"+id != s || strings.Trim(id, "0123456789abcdef-") != "" || id == "" || len(id) > 64 {
			t.Fatalf("%q splits into %q and %q", s, kind, id)
		}
	})
}
