package same

import (
	"testing"

	"github.com/scrollback-ai/scrollback/internal/wordtable/wordtabletest"
)

func TestForeignWords(t *testing.T) {
	wordtabletest.Run(t, foreign, map[string]func(string) bool{"turn": HasTurn})
}
