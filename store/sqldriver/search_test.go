package sqldriver

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Of a flood of matches for one word only the newest are scored; what holds more
// of the words, or a rarer one, is found behind the flood all the same.
func TestSearchBehindAFlood(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	converse(t, db, "c")
	const flood, limit = 1500, 20
	in := []driver.Entry{}
	add := func(terms string) scrollback.MessageID {
		id := scrollback.MessageID(fmt.Sprint("m", len(in)))
		in = append(in, driver.Entry{Terms: terms, Message: scrollback.Message{ID: id, Role: scrollback.RoleUser,
			Status: scrollback.StatusComplete, Parts: scrollback.Parts{scrollback.Text{Text: terms}}}})
		return id
	}
	both, rare, dense := add("word second"), add("rare other"), add("word word word")
	for range flood {
		add("word and more that dilutes it")
	}
	best := add("word")
	add("word and more that dilutes it")
	if _, err := db.Append(t.Context(), driver.Append{Conversation: "c", IfHead: -1, Entries: in}); err != nil {
		t.Fatal(err)
	}
	find := func(m driver.Match, project string) []scrollback.MessageID {
		t.Helper()
		r, err := db.Search(t.Context(), driver.SearchQuery{Match: m, Project: project, Limit: limit})
		if err != nil || !r.Truncated || len(r.Found) != limit {
			t.Fatalf("%+v: %d found, truncated %v, %v", m, len(r.Found), r.Truncated, err)
		}
		if len(m.Any) > 0 && r.Holding[0] != flood+4 {
			t.Errorf("%+v: %d hold the first word, want %d", m, r.Holding[0], flood+4)
		}
		var ids []scrollback.MessageID
		for _, f := range r.Found {
			ids = append(ids, f.ID)
		}
		return ids
	}
	for _, project := range []string{"", "default"} {
		for _, m := range []driver.Match{{Any: []string{"word"}}, {Must: [][]string{{"word"}}}} {
			got := find(m, project)
			if !slices.Contains(got, best) || slices.Contains(got, dense) {
				t.Errorf("%+v finds %v, want %s and not %s", m, got, best, dense)
			}
		}
		if got := find(driver.Match{Any: []string{"word", "second"}}, project); !slices.Contains(got, both) {
			t.Errorf("what holds both, %s, is not in %v", both, got)
		}
		if got := find(driver.Match{Any: []string{"word", "rare"}}, project); !slices.Contains(got, rare) {
			t.Errorf("what holds the rare one, %s, is not in %v", rare, got)
		}
	}
}
