package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

func appendOne(t *testing.T, db *testDB, id scrollback.ConversationID, n int) {
	t.Helper()
	m := scrollback.Message{ID: scrollback.MessageID(fmt.Sprintf("%s-%d", id, n)), Role: scrollback.RoleUser,
		Status: scrollback.StatusComplete,
		Parts:  scrollback.Parts{scrollback.Text{Text: fmt.Sprintf("word%d number common", n%50)}}}
	_, err := db.Log.AppendEntries(context.Background(), driver.Append{Conversation: id, Now: int64(n), IfHead: -1,
		Entries: []driver.Entry{{Message: m}}})
	if err != nil {
		t.Fatal(err)
	}
}

func runTurn(t *testing.T, db *testDB, id scrollback.ConversationID) {
	t.Helper()
	_, _, err := db.Log.CreateConversation(context.Background(), scrollback.Conversation{ID: id, Project: "default"},
		scrollback.Branch{ID: scrollback.BranchID("b-" + id), Conversation: id})
	if err != nil {
		t.Fatal(err)
	}
}

// countMatches counts the messages with a word.
func countMatches(t *testing.T, db *testDB, word string) (n int) {
	t.Helper()
	all, err := db.Index.ReadUnindexed(context.Background(), driver.UnindexedQuery{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if text, ok := m.Parts[0].(scrollback.Text); ok && strings.Contains(text.Text, word) {
			n++
		}
	}
	return n
}

// However many small commits there are, and whether or not the writer ever rests, the index
// stays in few segments, the log in bounds, and all is found.
func TestUpkeepBounds(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	runTurn(t, db, "c")
	const commits = 500
	most := 0
	for n := range commits {
		appendOne(t, db, "c", n)
		mustCatchUp(t, db)
		if err := maintainAll(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if n%10 == 0 {
			segments, _ := countRows(t, db)
			most = max(most, segments)
		}
	}
	if most < 8 || most > 32 {
		t.Errorf("the index was in up to %d segments", most)
	}
	if n := len(findTexts(t, db, "word7")); n != commits/50 {
		t.Errorf("%d messages found, want %d", n, commits/50)
	}
	if st, err := os.Stat(path + "-wal"); err != nil || st.Size() > 2*copyAfterPages*1100 {
		t.Errorf("the log has %v, %v", st, err)
	}
}
