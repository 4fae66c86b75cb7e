package kept

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/wordtable/wordtabletest"
)

func TestForeignWords(t *testing.T) {
	wordtabletest.Run(t, foreign, map[string]func(string) bool{
		"todo-cue": func(s string) bool { return IsTodo(scrollback.RoleUser, s) },
		"todo":     func(s string) bool { return IsTodo(scrollback.RoleUser, s) },
		"todo-mark": func(s string) bool {
			_, bare, _ := strings.Cut(strings.ReplaceAll(s, "：", ":"), ":")
			return TodoKey(s) == TodoKey(bare)
		},
	})
}
