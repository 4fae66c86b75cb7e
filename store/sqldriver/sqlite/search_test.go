package sqlite

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
	if _, err := db.Log.Append(t.Context(), driver.Append{Conversation: "c", IfHead: -1, Entries: in}); err != nil {
		t.Fatal(err)
	}
	find := func(m driver.Match, projects []string) []scrollback.MessageID {
		t.Helper()
		r, err := db.Find.Search(t.Context(), driver.SearchQuery{Match: m, Projects: projects, Limit: limit})
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
	for _, limit := range []int{1000, flood + 4, 10_000} {
		r, err := db.Find.Search(t.Context(), driver.SearchQuery{Match: driver.Match{Any: []string{"word"}}, Limit: limit})
		if want := min(limit, flood+4); err != nil || len(r.Found) != want || r.Truncated != (limit < flood+4) {
			t.Errorf("of at most %d: %d found, truncated %v, %v", limit, len(r.Found), r.Truncated, err)
		}
	}
	for _, projects := range [][]string{nil, {"default"}} {
		for _, m := range []driver.Match{{Any: []string{"word"}}, {Must: [][]string{{"word"}}}} {
			got := find(m, projects)
			if !slices.Contains(got, best) || slices.Contains(got, dense) {
				t.Errorf("%+v finds %v, want %s and not %s", m, got, best, dense)
			}
		}
		if got := find(driver.Match{Any: []string{"word", "second"}}, projects); !slices.Contains(got, both) {
			t.Errorf("what holds both, %s, is not in %v", both, got)
		}
		if got := find(driver.Match{Any: []string{"word", "rare"}}, projects); !slices.Contains(got, rare) {
			t.Errorf("what holds the rare one, %s, is not in %v", rare, got)
		}
	}
}

// Where a query has rarer words, only the newest messages that hold a common one
// alone are looked at; within a conversation that is enough to find them all.
func TestSearchOfCommonWords(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	say := func(id scrollback.ConversationID, terms ...string) {
		converse(t, db, id)
		var in []driver.Entry
		for i, text := range terms {
			in = append(in, driver.Entry{Terms: text, Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(id, i)),
				Role:   scrollback.RoleUser,
				Status: scrollback.StatusComplete, Parts: scrollback.Parts{scrollback.Text{Text: text}}}})
		}
		if _, err := db.Log.Append(t.Context(), driver.Append{Conversation: id, IfHead: -1, Entries: in}); err != nil {
			t.Fatal(err)
		}
	}
	say("small", "common and more of it", "rare thing", "nothing", "common")
	say("flood", slices.Repeat([]string{"common"}, driver.HoldingMax)...)
	for _, c := range []struct {
		in        []scrollback.ConversationID
		want      []scrollback.MessageID
		found     int
		truncated bool
	}{
		{nil, []scrollback.MessageID{"small1", "flood19999"}, 50, true},
		{[]scrollback.ConversationID{"small"}, []scrollback.MessageID{"small0", "small1", "small3"}, 3, false},
	} {
		r, err := db.Find.Search(t.Context(), driver.SearchQuery{Match: driver.Match{Any: []string{"common", "rare"}}, Conversations: c.in,
			Limit: 50})
		if err != nil || len(r.Found) != c.found || r.Truncated != c.truncated || r.Holding[0] != driver.HoldingMax {
			t.Fatalf("in %v: %d found, truncated %v, holding %v, %v", c.in, len(r.Found), r.Truncated, r.Holding, err)
		}
		for _, id := range c.want {
			if !slices.ContainsFunc(r.Found, func(m scrollback.Message) bool { return m.ID == id }) {
				t.Errorf("in %v: %s is not found", c.in, id)
			}
		}
	}
}
