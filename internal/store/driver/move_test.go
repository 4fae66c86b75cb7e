package driver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

func TestMergeAncestors(t *testing.T) {
	for _, c := range [][3]string{
		{"", "", ""},
		{"", "b a", "b a"},
		{"b a", "", "b a"},
		{"a", "b a", "b a"},
		{"c a", "c b a", "c b a"},
		{"c b", "b a", "c b a"},
		{"c b a", "b", "c b a"},
		{"b a", "a b", "b a"},
	} {
		got := driver.MergeAncestors(chain(c[0]), chain(c[1]))
		if !slices.Equal(got, chain(c[2])) {
			t.Errorf("%q and %q are %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// chain is a list of conversations from their ids, which stand between spaces.
func chain(ids string) (out []scrollback.ConversationID) {
	for _, id := range strings.Fields(ids) {
		out = append(out, scrollback.ConversationID(id))
	}
	return out
}
