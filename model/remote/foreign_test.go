package remote

import (
	"testing"

	"github.com/scrollback-ai/scrollback/internal/wordtable/wordtabletest"
)

func TestForeignWords(t *testing.T) {
	wordtabletest.Run(t, foreign, map[string]func(string) bool{
		"excess": func(s string) bool { return foreignExcess().MatchString(s) },
		"input":  func(s string) bool { return foreignInput().MatchString(s) },
		"other":  func(s string) bool { return foreignOthers().MatchString(s) },
	})
}
