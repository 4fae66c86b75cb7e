package merge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

func sorted(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// Paths are written as words here: "abx" leads over "ab" and "a".
func TestStand(t *testing.T) {
	follows := func(end, of scrollback.MessageID) bool { return strings.HasPrefix(string(end), string(of)) }
	for name, test := range map[string]struct {
		here merge.Place
		ends string // with their times
		want scrollback.MessageID
	}{
		"goes on":               {merge.Place{Known: true, At: "ab"}, "abc1", "abc"},
		"to the newest":         {merge.Place{Known: true, At: "ab"}, "abc1 abd3 abe2", "abd"},
		"not to another branch": {merge.Place{Known: true, At: "ab"}, "abc1 ax3", "abc"},
		"own message":           {merge.Place{Known: true, At: "abo"}, "abc1", "abo"},
		"rewound":               {merge.Place{Known: true, At: "a", Rewound: true}, "abc1", "a"},
		"never had it":          {merge.Place{}, "abc1 ax3", "ax"},
		"had it empty":          {merge.Place{Known: true}, "abc1", "abc"},
		"equal times":           {merge.Place{}, "a1 b1", "b"},
		"nothing arrives":       {merge.Place{Known: true, At: "a"}, "", "a"},
	} {
		var ends []merge.End
		for _, word := range strings.Fields(test.ends) {
			n := len(word) - 1
			ends = append(ends, merge.End{ID: scrollback.MessageID(word[:n]), CreatedAt: int64(word[n])})
		}
		if got := merge.Stand(test.here, ends, follows); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
