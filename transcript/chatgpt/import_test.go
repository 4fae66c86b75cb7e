package chatgpt_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Exports that were made one after the other extend a conversation; an edit in between
// becomes its current branch, who goes back to an earlier one is followed, and an export that is
// brought again changes nothing.
func TestImportOfLaterExports(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Say("x"))
	first := [][3]string{{"u1", "", "one"}, {"a1", "u1", "two"}, {"u2", "a1", "three"}}
	grown := append(first, [3]string{"a2", "u2", "four"})
	edited := append(grown[:4:4], [3]string{"u3", "a1", "THREE"}, [3]string{"a3", "u3", "five"})
	for i, c := range []struct {
		place    fs.FS
		messages int64
		path     string
	}{
		{exported("u2", first...), 3, "one two three"},
		{exported("a2", grown...), 1, "one two three four"},
		{exported("a2", grown...), 0, "one two three four"},
		{exported("a3", edited...), 2, "one two THREE five"},
		{exported("a3", edited...), 0, "one two THREE five"},
		{exported("a2", edited...), 0, "one two three four"},
	} {
		text, err := fs.ReadFile(c.place, "conversations.json")
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.ImportText(string(text))
		if err != nil || len(out.Conversations) != 1 || out.Conversations[0].Messages != c.messages {
			t.Fatalf("import %d: %+v, %v", i, out, err)
		}
		var said []string
		for _, m := range r.Log(out.Conversations[0].ID) {
			said = append(said, m.Parts.Text())
		}
		if got := strings.Join(said, " "); got != c.path {
			t.Errorf("import %d: the path is %s, want %s", i, got, c.path)
		}
	}
}
