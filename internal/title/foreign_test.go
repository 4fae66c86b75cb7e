package title

import (
	"testing"

	"github.com/scrollback-ai/scrollback/internal/wordtable/wordtabletest"
)

func TestForeignWords(t *testing.T) {
	wordtabletest.Run(t, foreign, map[string]func(string) bool{
		"label":   func(s string) bool { return label().MatchString(s) },
		"refusal": func(s string) bool { return refusal().MatchString(s) },
		"nothing": func(s string) bool { return nothing().MatchString(s) },
	})
}
