package compact

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/wordtable/wordtabletest"
)

func TestForeignWords(t *testing.T) {
	wordtabletest.Run(t, foreign, map[string]func(string) bool{
		"todo-cue": func(s string) bool { return todo().FoundIn(s) },
		"todo":     func(s string) bool { return todo().FoundIn(s) },
		"todo-mark": func(s string) bool {
			_, bare, _ := strings.Cut(strings.ReplaceAll(s, "：", ":"), ":")
			return choreCore(s) == choreCore(bare)
		},
	})
}
